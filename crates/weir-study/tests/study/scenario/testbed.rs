//! The settings of a testbed of real machines, as scenarios make them (gcc-2016, fig. 12).

use weir_import::traces::TraceStore;
use weir_measure::metrics::Measured;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_study::runs::Task;

const ONE_LINK: &str = r#"
[links.path]
from = "left"
to = "right"
rate = "1Mbps"
delay = "25ms"
queue = { time = "300ms" }
"#;
const TWO_NODES: &str = r#"
[links.path]
from = "left"
to = "node-2"
rate = "1Mbps"
queue = { time = "300ms" }

[links.emulator]
from = "node-2"
to = "right"
rate = "100Gbps"
delay = "25ms"
queue = {}
"#;

/// Constant traffic of 1250 bytes a packet at `rate` over `links` for ten seconds.
fn run(links: &str, rate: &str) -> Measured {
    let text = format!(
        "title = \"x\"\nduration = \"10s\"\n{links}\n[flows.cross]\nkind = \"constant\"\n\
         from = \"left\"\nto = \"right\"\nrate = \"{rate}\"\npacket_size = \"1250B\"\n"
    );
    let scenario = Scenario::parse("testbed.toml", &text, &[]).unwrap_or_else(|error| panic!("{error:#?}"));
    let options = RunOptions { seed: 1, series: true, ..RunOptions::default() };
    let task = Task::new("testbed".to_owned(), &scenario, options);
    task.run(&TraceStore::at(None)).unwrap_or_else(|error| panic!("{error}")).measured
}

#[test]
fn rate_on_one_node_and_delay_on_the_next_are_as_on_one_link() {
    for rate in ["800kbps", "1200kbps"] {
        let (one, two) = (run(ONE_LINK, rate), run(TWO_NODES, rate));
        let (one, two) = (&one.metrics.flows[0], &two.metrics.flows[0]);
        assert_eq!(one.sent.packets, two.sent.packets);
        assert_eq!(one.packet_loss_ratio, two.packet_loss_ratio, "at {rate}");
        // The second node's own serialisation: 10 kbit at 100 Gbit/s are 0.1 µs.
        for (one, two) in
            [(one.owd_excess_ms.mean, two.owd_excess_ms.mean), (one.owd_excess_ms.max, two.owd_excess_ms.max)]
        {
            assert!((one.unwrap() - two.unwrap()).abs() < 0.001, "{one:?} {two:?} at {rate}");
        }
    }
    // Without a queue a packet has its own 10 ms of the 1 Mbit/s beside the propagation.
    let alone = run(TWO_NODES, "800kbps");
    assert!((alone.metrics.flows[0].owd_excess_ms.max.unwrap() - 10.0).abs() < 0.01);
}

#[test]
fn the_queue_holds_its_time_at_whatever_the_capacity_is() {
    // 37.5 kB at 1 Mbit/s, 18.75 kB at 0.5: 300 ms either way, of which a packet takes 10 and 20 for itself.
    let steps = r#"steps = [{ at = "0s", rate = "1Mbps" }, { at = "5s", rate = "500kbps" }]"#;
    let recorded = run(&ONE_LINK.replace(r#"rate = "1Mbps""#, steps), "1500kbps");
    let series = recorded.series.expect("a series was asked for").whole().unwrap();
    let longest = |from: usize, to: usize| {
        series.links[0].queue_max_ms[from..to].iter().copied().filter(|ms| ms.is_finite()).fold(0.0, f64::max)
    };
    // Steps are of 100 ms; from 6 s on all packets in the queue came at the lower rate.
    for (from, to) in [(10, 50), (60, 100)] {
        assert!((270.0..=300.0).contains(&longest(from, to)), "{} ms", longest(from, to));
    }
}
