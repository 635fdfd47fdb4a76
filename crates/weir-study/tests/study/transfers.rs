//! TCP transfers of limited size: their durations.

use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_measure::results::{FlowKind, FlowMeasures, RunMetrics, Value};
use weir_measure::simulate;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

use super::whole_path::long;

/// Metrics of `flows` over 10 Mbit/s with a round trip of 100 ms.
fn run(seconds: u32, seed: u64, flows: &str) -> RunMetrics {
    let text = format!(
        "title = \"t\"\nduration = \"{seconds}s\"\n\
         [links.forward]\nfrom = \"left\"\nto = \"right\"\ndelay = \"50ms\"\nrate = \"10Mbps\"\nqueue = {{}}\n\
         [links.backward]\nfrom = \"right\"\nto = \"left\"\ndelay = \"50ms\"\nrate = \"100Mbps\"\n{flows}"
    );
    let scenario = Scenario::parse("test.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = scenario.build(&RunOptions { seed, ..RunOptions::default() }, &TraceStore::at(None)).unwrap();
    simulate(run.spec, Recorder::new(run.plan)).unwrap().finish().metrics
}

fn tcp(words: &str) -> String {
    format!("[flows.short]\nkind = \"tcp\"\nfrom = \"left\"\nto = \"right\"\n{words}\n")
}

fn of_one_flow(seconds: u32, seed: u64, words: &str) -> FlowMeasures<Value> {
    run(seconds, seed, &tcp(words)).flows.remove(0)
}

#[test]
fn every_download_takes_as_long_as_the_same_transfer_alone() {
    let alone = of_one_flow(60, 1, "size = \"300kB\"");
    let once = alone.completion_seconds.expect("completed");
    assert_eq!((alone.transfers.completed, alone.transfers.mean_bytes), (Some(1.0), Some(300e3)));
    assert_eq!((alone.kind, alone.transfers.max_seconds), (FlowKind::Tcp, Some(once)));
    let many =
        of_one_flow(600, 1, "downloads = { size = { min = \"300kB\", max = \"300kB\" }, idle = \"1s\" }");
    let transfers = &many.transfers;
    // A new connection each time: the congestion window starts small again, so that mean and maximum are the same.
    let near = |value: Value| (value.unwrap() - once).abs() < 1e-6;
    assert!(near(transfers.mean_seconds) && near(transfers.max_seconds), "{transfers:?} instead of {once}");
    assert_eq!((many.kind, transfers.mean_bytes), (FlowKind::Downloads, Some(300e3)));
    assert_eq!((many.completion_seconds, many.convergence.len()), (None, 0));
    // One in each 1 s + `once` on average; the standard deviation of the count over 600 s is √600 / (1 + once)^1.5.
    let expected = 600.0 / (1.0 + once);
    let count = transfers.completed.unwrap();
    assert!((count - expected).abs() < 3.0 * 600f64.sqrt(), "{count} instead of {expected}");
    let resent = many.sent.payload_bytes.unwrap() - 300e3 * count;
    assert!((0.0..=300e3).contains(&resent), "{resent} bytes more than the downloads and the last one begun");
}

#[test]
fn a_flow_that_begins_off_waits_first_and_each_seed_draws_anew() {
    let words = |begin: &str| {
        format!(
            "downloads = {{ size = {{ min = \"100kB\", max = \"1MB\" }}, idle = \"10s\", begin = \"{begin}\" }}"
        )
    };
    let on = of_one_flow(3, 1, &words("on"));
    assert_eq!(on.transfers.completed, Some(1.0), "at once");
    let waiting =
        (1..=20).filter(|&seed| of_one_flow(3, seed, &words("off")).sent.packets == Some(0.0)).count();
    // With probability e^(−0.3) = 0.74 the first idle time is longer than the run.
    assert!((9..=19).contains(&waiting), "{waiting} of 20");
    let sizes: Vec<Value> =
        (1..=5).map(|seed| of_one_flow(3, seed, &words("on")).transfers.mean_bytes).collect();
    assert!(sizes.windows(2).all(|pair| pair[0] != pair[1]), "{sizes:?}");
    assert_eq!(sizes[0], of_one_flow(3, 1, &words("on")).transfers.mean_bytes, "same seed, same bytes");
}

#[test]
fn ten_short_flows_over_a_busy_link_all_get_their_files() {
    let words = "count = 10\ndownloads = { size = { min = \"100kB\", max = \"1MB\" }, idle = \"2s\" }";
    let metrics = run(300, 1, &tcp(words));
    assert_eq!(metrics.flows.len(), 10);
    for flow in &metrics.flows {
        let transfers = &flow.transfers;
        assert!(transfers.completed.unwrap() > 20.0, "{}: {transfers:?}", flow.name);
        assert!((300e3..800e3).contains(&transfers.mean_bytes.unwrap()), "{transfers:?}");
        assert!(
            transfers.mean_seconds < transfers.p95_seconds && transfers.p95_seconds < transfers.max_seconds
        );
    }
    assert_eq!(metrics.jain.of_means, None, "downloads are not judged by their fairness");
}

#[test]
fn media_has_no_transfers() {
    let flow = "[flows.cross]\nkind = \"constant\"\nrate = \"1Mbps\"\nfrom = \"left\"\nto = \"right\"\n";
    let transfers = run(5, 1, flow).flows.remove(0).transfers;
    assert_eq!((transfers.completed, transfers.mean_seconds), (None, None));
}

fn web(words: &str) -> String {
    format!("[flows.web]\nkind = \"web\"\nfrom = \"left\"\nto = \"right\"\n{words}\n")
}

/// The load is the offered one, whatever the sizes, the number of requests and the distance of the clients. At full length
/// also with the usual largest size.
#[test]
fn web_like_traffic_offers_the_load_it_is_asked_for() {
    // Cut at the usual 10 MB a response is of 68 kB on average with a standard deviation of 5.4 times that, a session of
    // four requests has a second moment of 9 times its mean squared: over 6000 s of 4 Mbit/s, 10 700 sessions, the
    // standard error is 2.9 %.
    let cases = [
        ("load = \"4Mbps\"\nsizes = { largest = \"1MB\" }", 2000, 4e6, 0.05),
        (
            "load = \"4Mbps\"\nrequests = 1.0\nextra_delay = { max = \"200ms\" }\nsizes = { largest = \"1MB\" }",
            2000,
            4e6,
            0.05,
        ),
        ("load = \"2Mbps\"\nrequests = 10.0\nsizes = { tail = 0.0 }", 2000, 2e6, 0.05),
        ("load = \"4Mbps\"", 6000, 4e6, 0.087),
    ];
    for (words, seconds, load, tolerance) in cases.into_iter().take(if long() { 4 } else { 3 }) {
        let flow = run(seconds, 1, &web(words)).flows.remove(0);
        let offered = flow.sent_rate_bps.unwrap();
        assert!((offered / load - 1.0).abs() < tolerance, "{words}: {offered}");
        assert_eq!((flow.kind, flow.loss_ratio), (FlowKind::Web, Some(0.0)));
        let transfers = flow.transfers;
        let payload = transfers.completed.unwrap() * transfers.mean_bytes.unwrap();
        let sent = flow.sent.payload_bytes.unwrap();
        // Incomplete data at the end is in flight.
        assert!((0.0..0.01).contains(&(1.0 - payload / sent)), "{payload} of {sent}");
    }
}

#[test]
fn clients_that_are_further_away_wait_longer() {
    let words = |extra: &str| format!("load = \"1Mbps\"\nsizes = {{ tail = 0.0, sigma = 0.0 }}\n{extra}");
    let near = run(300, 1, &web(&words(""))).flows.remove(0);
    let far = run(300, 1, &web(&words("extra_delay = { min = \"50ms\", max = \"50ms\" }"))).flows.remove(0);
    // Every response has 11 579 bytes, eight segments: request, SYN and SYN-ACK, data. Two round trips of 100 ms and of
    // 150 ms, and the serialisation of 11 579 + 9 · 52 bytes at 10 Mbit/s.
    let (near, far) = (near.transfers.mean_seconds.unwrap(), far.transfers.mean_seconds.unwrap());
    assert!((near - 0.210).abs() < 0.005, "{near}");
    assert!((far - near - 0.100).abs() < 0.002, "{far} and {near}");
}

#[test]
fn web_like_traffic_is_the_same_for_the_same_seed_and_survives_an_overload() {
    let words = "load = \"20Mbps\"\nextra_delay = { max = \"100ms\" }";
    let [first, again] = [(); 2].map(|()| run(60, 3, &web(words)));
    assert_eq!(first, again);
    assert!(first.links[0].utilisation.bits.unwrap() > 0.8, "{:?}", first.links[0].utilisation);
    assert!(first.flows[0].transfers.completed.unwrap() > 100.0);
}
