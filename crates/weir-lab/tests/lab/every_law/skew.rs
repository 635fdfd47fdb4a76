//! Clocks that drift apart by 50 ppm for an hour.

use super::two_hours::{SHORT, path};
use super::verdict::{Finding, assert_as_said, judge};
use super::{long, median_queue, of_every_law, rate};

#[test]
fn an_hour_of_clock_skew_changes_little() {
    let seconds = if long() { 3600 } else { SHORT };
    let drifting = |ppm: i32| {
        let mut sets = path(seconds);
        sets.push(format!("flows.video.receiver_clock.drift_ppm={ppm}"));
        sets
    };
    let findings = of_every_law(&[path(seconds), drifting(-50), drifting(50)]).into_iter().map(|runs| {
        let ends: Vec<(f64, f64)> = runs
            .metrics
            .iter()
            .map(|run| &run.windows["last"])
            .map(|last| (rate(last), median_queue(last)))
            .collect();
        let (straight, queue) = ends[0];
        let same = |&(rate, wait): &(f64, f64)| {
            (rate - straight).abs() <= 0.2 * straight && wait <= (1.5 * queue).max(queue + 20.0)
        };
        let shown: Vec<String> =
            ends.iter().map(|(rate, wait)| format!("{:.0} kbit/s, {wait:.0} ms", rate / 1e3)).collect();
        Finding {
            law: runs.law,
            figures: format!("at 0 {}; at -50 {}; at +50 {}", shown[0], shown[1], shown[2]),
            holds: ends.iter().all(same),
        }
    });
    assert_as_said(&judge("clock skew of 50 ppm", findings.collect()));
}
