//! Tables 4 and 5 and fig. 11: beside TCP in the same direction.

use crate::experiment::{Experiment, Run, defined, largest, least, mean};
use crate::report::Report;

const VIDEO: &str = "video";

#[test]
fn table_4_one_flow_among_99_of_tcp_gets_at_least_its_share() {
    let mut report = Report::new("table 4: one flow among 99 of TCP");
    let runs = Experiment::run("tcp-99", &["duration=300s"]);
    let mut rate = |label: &str, from: f64, to: f64| {
        let received =
            |run: &Run| mean(&run.between(&run.flow_series(VIDEO).receive_rate_bps, from, to)) / 1e6;
        report.row(label, 2, &runs.each(received))
    };
    let alone = rate("rate from 80 to 100 s, Mbit/s", 80.0, 100.0);
    let contended = rate("rate from 100 to 300 s, Mbit/s", 100.0, 300.0);
    runs.table(&mut report);
    runs.jain(&mut report);
    let before = |run: &Run| run.between(&run.flow_series(VIDEO).loss_ratio, 0.0, 100.0);
    assert!(runs.0.iter().all(|run| largest(&before(run)) == 0.0), "nothing is lost without TCP");
    assert!((1.9..=2.2).contains(&alone), "the encoder's limit");
    assert!(contended < alone);
    assert!((0.6..=2.0).contains(&contended));
}

#[test]
fn table_5_short_tcp_flows_take_capacity_while_they_last() {
    const FLOWS: [&str; 2] = ["video-1", "video-2"];
    let mut report = Report::new("table 5: two flows and short TCP flows");
    let runs = Experiment::run("tcp-short", &[]);
    runs.table(&mut report);
    runs.jain(&mut report);
    let own = runs.each(|run| 100.0 * defined(run.metrics.media.rate_bps) / 2e6);
    report.row("rate of the two over capacity, %", 1, &own);
    let rate = |run: &Run, from: f64, to: f64| {
        let of = |&name: &&str| mean(&run.between(&run.flow_series(name).receive_rate_bps, from, to)) / 1e3;
        FLOWS.iter().map(of).sum::<f64>()
    };
    let delay = |run: &Run, from: f64, to: f64| {
        mean(&run.between(&run.flow_series(FLOWS[0]).owd_excess_mean_ms, from, to))
    };
    // TCP runs from 5 s on for 3 s of every 12 s, ten times.
    let starts = || (0..10).map(|burst| 5.0 + 12.0 * f64::from(burst));
    let over = |value: &dyn Fn(&Run, f64) -> f64| {
        runs.each(|run| mean(&starts().map(|start| value(run, start)).collect::<Vec<_>>()))
    };
    let contended = report.row(
        "both flows in the 3 s of TCP and 2 s after, kbit/s",
        0,
        &over(&|run, start| rate(run, start, start + 5.0)),
    );
    let free = report.row(
        "both flows in the last 4 s without TCP, kbit/s",
        0,
        &over(&|run, start| rate(run, start + 8.0, start + 12.0)),
    );
    let during =
        report.row("queuing delay during TCP, ms", 0, &over(&|run, start| delay(run, start, start + 3.0)));
    let after = report.row(
        "queuing delay in the last 4 s without, ms",
        0,
        &over(&|run, start| delay(run, start + 8.0, start + 12.0)),
    );
    assert!(free > contended);
    assert!(during > after);
}

#[test]
fn fig_11_the_flow_does_not_starve_beside_one_of_tcp() {
    for (title, name) in [
        ("fig. 11a: beside one flow of TCP, static threshold", "tcp-one-static"),
        ("fig. 11b: beside one flow of TCP, adaptive threshold", "tcp-one-adaptive"),
    ] {
        let mut report = Report::new(title);
        let runs = Experiment::run(name, &[]);
        runs.table(&mut report);
        let rates = runs.each(|run| defined(run.flow(VIDEO).rate_bps) / 1e3);
        report.row("rate of the flow from 60 to 150 s, kbit/s", 0, &rates);
        report.row("rate of TCP, kbit/s", 0, &runs.each(|run| defined(run.flow("tcp").rate_bps) / 1e3));
        report.row("over-uses signalled", 0, &runs.each(|run| run.overuses(VIDEO)));
        let queue =
            |from, to| runs.each(|run| mean(&run.between(&run.series.links[0].queue_mean_ms, from, to)));
        report.row("wait in the queue before TCP, 40 to 50 s, ms", 0, &queue(40.0, 50.0));
        report.row("wait in the queue after TCP, 160 to 200 s, ms", 0, &queue(160.0, 200.0));
        let gradient =
            |from, to| runs.each(|run| largest(&run.between(&run.signal(VIDEO, "m").max, from, to)));
        report.row("largest gradient before TCP, 10 to 50 s, ms", 1, &gradient(10.0, 50.0));
        report.row("largest gradient beside TCP, 50 to 150 s, ms", 1, &gradient(50.0, 150.0));
        // A tenth of the fair share of 500 kbit/s.
        assert!(least(&rates) > 50.0);
    }
}
