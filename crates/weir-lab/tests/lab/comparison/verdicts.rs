//! The sentence to repeat says what the runs allow, no more.

use weir_lab::build::TraceUse;
use weir_lab::comparison::Comparison;
use weir_lab::comparison::demo;
use weir_lab::results::{FlowKind, RunMetrics, Summary};

use super::hand_made::{call, calls, comparison, empty_run};

// Differences 100, 120 and 80: mean 100, s = √((0 + 400 + 400) / 2) = 20, half width 4.3027 · 20 / √3 = 49.68. The
// means are 600 and 500.
const AHEAD: [f64; 3] = [500.0, 620.0, 680.0];
const BEHIND: [f64; 3] = [400.0, 500.0, 600.0];

#[test]
fn a_lead_beyond_its_interval_is_a_verdict() {
    let comparison = calls(&[("nada", &BEHIND), ("gcc-2016", &AHEAD)]);
    assert_eq!(
        demo::verdict(&comparison),
        "gcc-2016 would serve this call best: 600 kbit/s of video within 150 ms over 3 stretches of the \
         drive, 100 ± 50 kbit/s (95 % interval) more than nada."
    );
    assert_eq!(
        comparison.verdict(),
        "gcc-2016 delivered most video in time: 600 kbit/s of video within 150 ms over 3 runs, \
         100 ± 50 kbit/s (95 % interval) more than nada."
    );
}

#[test]
fn a_lead_within_its_interval_is_none() {
    // Differences 100, −80 and 40: mean 20, s = √((80² + 100² + 20²) / 2) = 91.65, half width 227.68.
    let comparison = calls(&[("gcc-2016", &[500.0, 420.0, 640.0]), ("nada", &BEHIND)]);
    assert_eq!(
        demo::verdict(&comparison),
        "gcc-2016 and nada serve this call alike: 520 kbit/s of video within 150 ms by gcc-2016 over \
         3 stretches of the drive, and its lead of 20 ± 228 kbit/s (95 % interval) includes zero."
    );
    assert!(
        comparison.verdict().starts_with("gcc-2016 and nada deliver alike: "),
        "{}",
        comparison.verdict()
    );
}

#[test]
fn equal_controllers_are_alike() {
    let comparison = calls(&[("a", &BEHIND), ("b", &BEHIND)]);
    assert!(demo::verdict(&comparison).contains("its lead of 0 ± 0 kbit/s (95 % interval) includes zero"));
}

#[test]
fn one_run_decides_nothing() {
    let comparison = calls(&[("a", &[600.0]), ("b", &[100.0])]);
    assert_eq!(
        demo::verdict(&comparison),
        "a delivered 600 kbit/s of video within 150 ms in one stretch of the drive, which says nothing \
         about its difference to b."
    );
    assert!(comparison.verdict().contains("in one run, which says nothing"), "{}", comparison.verdict());
}

#[test]
fn of_three_controllers_the_first_two_are_told() {
    let comparison = calls(&[("slow", &[10.0, 11.0, 12.0]), ("nada", &BEHIND), ("gcc-2016", &AHEAD)]);
    assert!(demo::verdict(&comparison).contains("100 ± 50 kbit/s (95 % interval) more than nada."));
    assert!(!demo::verdict(&comparison).contains("slow"));
}

/// A call at this rate, queuing delay and loss.
fn measured(kbps: f64, delay_ms: f64, loss: f64) -> RunMetrics {
    let mut run = call(0.0);
    run.media.rate_bps = Some(kbps * 1e3);
    run.media.owd_excess_ms.p95 = Some(delay_ms);
    run.media.loss_ratio = Some(loss);
    run
}

#[test]
fn a_single_controller_is_told_in_numbers() {
    // Rates 900, 1000 and 1100: s = 100, half width 248.4; delays 20, 30, 40: 24.8; losses 1, 2 and 3 %: 2.48.
    let runs = vec![measured(900.0, 20.0, 0.01), measured(1000.0, 30.0, 0.02), measured(1100.0, 40.0, 0.03)];
    let one = comparison(&[("nada", runs[1..2].to_vec())]);
    assert_eq!(
        one.verdict(),
        "nada carried 1000 kbit/s at a queuing delay of 30 ms (95th percentile) and a loss of 2.00 % in one run."
    );
    assert_eq!(
        comparison(&[("nada", runs)]).verdict(),
        "nada carried 1000 ± 248 kbit/s at a queuing delay of 30 ± 25 ms (95th percentile) and a loss of \
         2.00 ± 2.48 % over 3 runs (mean ± 95 % interval)."
    );
    assert_eq!(calls(&[("nada", &[0.0])]).verdict(), "nada delivered nothing in one run.");
}

#[test]
fn without_media_the_bottleneck_is_told() {
    let mut run = empty_run(&[("bulk", FlowKind::Tcp)]);
    run.links[0].utilisation.time_mean = Some(0.987);
    run.links[0].loss_ratio = Some(0.012_34);
    assert_eq!(
        comparison(&[("none", vec![run])]).verdict(),
        "The link `forward` was used to 98.7 % and lost 1.23 % of its packets in one run."
    );
    let mut idle = empty_run(&[("bulk", FlowKind::Tcp)]);
    idle.links.clear();
    assert_eq!(comparison(&[("none", vec![idle])]).verdict(), "No packet came to a bottleneck.");
}

#[test]
fn nothing_compared_is_said_so() {
    let summary = Summary { scenario: String::new(), runs: 0, seeds: Vec::new(), controllers: Vec::new() };
    let nothing = Comparison { summary, controllers: Vec::new(), traces: Vec::new() };
    assert_eq!(nothing.verdict(), "Nothing was compared.");
    assert_eq!(demo::verdict(&nothing), "Nothing was compared.");
}

#[test]
fn a_trace_that_another_stood_in_for_is_told_once() {
    let using = |link: &str, wanted: &str, used: &str| TraceUse {
        link: link.to_owned(),
        wanted: wanted.to_owned(),
        used: used.to_owned(),
    };
    let mut comparison = calls(&[("a", &[1.0])]);
    comparison.traces = vec![
        using("one", "train", "synthetic-lte"),
        using("two", "train", "synthetic-lte"),
        using("three", "car", "car"),
    ];
    let notes = comparison.stand_ins();
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("The trace `train` was not found; `synthetic-lte` stood in for it."),
        "{notes:?}"
    );
    assert_eq!(comparison.titled("A ride"), "A ride (on the stand-in `synthetic-lte`)");
    let verdict = comparison.verdict();
    assert!(
        verdict.starts_with("On the stand-in `synthetic-lte`, not on the recorded link: a "),
        "{verdict}"
    );
    comparison.traces = vec![using("three", "car", "car")];
    assert_eq!(comparison.titled("A ride"), "A ride");
    assert!(comparison.verdict().starts_with("a "), "{}", comparison.verdict());
}

#[test]
fn a_yardstick_serves_nobody() {
    let comparison = calls(&[("gcc", &[100.0, 101.0]), ("nada", &[50.0, 51.0]), ("fixed", &[900.0, 901.0])]);
    let sentence = demo::verdict(&comparison);
    assert!(
        sentence.starts_with("gcc would serve this call best") && !sentence.contains("fixed"),
        "{sentence}"
    );
}
