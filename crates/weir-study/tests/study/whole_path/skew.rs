//! Clocks that drift apart: by 50 ppm for an hour, by 200 ppm for 25 minutes.

use weir_measure::results::RunMetrics;

use super::steps::JUDGED;
use super::two_hours::{SHORT, path};
use super::verdict::{Finding, assert_as_said, judge};
use super::{Runs, long, median_queue, of_every_controller, rate, simulate};

/// Controllers of the short form: of each family one for each place of its computation, and the exceptions.
const SHORT_CONTROLLERS: [&str; 8] =
    ["gcc", "gcc-2016", "scream", "scream-v2", "nada", "nada-at-sender", "nada-dccc", "dccc-at-sender"];

#[test]
fn an_hour_of_clock_skew_changes_little() {
    let seconds = if long() { 3600 } else { SHORT };
    let drifting = |ppm: i32| {
        let mut sets = path(seconds);
        sets.push(format!("flows.video.receiver_clock.drift_ppm={ppm}"));
        sets
    };
    let variants = [path(seconds), drifting(-50), drifting(50)];
    let runs = if long() {
        of_every_controller(&variants)
    } else {
        let runs = simulate(&SHORT_CONTROLLERS, &variants);
        let runs_of =
            |(&controller, runs): (&&'static str, &[RunMetrics])| Runs { controller, metrics: runs.to_vec() };
        SHORT_CONTROLLERS.iter().zip(runs.chunks(variants.len())).map(runs_of).collect()
    };
    let findings = runs.into_iter().map(|runs| {
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
            controller: runs.controller,
            figures: format!("at 0 {}; at -50 {}; at +50 {}", shown[0], shown[1], shown[2]),
            holds: ends.iter().all(same),
        }
    });
    assert_as_said(&judge("clock skew of 50 ppm", findings.collect()));
}

#[test]
fn two_bad_crystals_leave_the_rate_as_it_is() {
    // Drift of 200 ppm is 12 ms a minute: a controller that takes it for a queue shows it after some minutes.
    let seconds = if long() { 25 * 60 } else { 8 * 60 };
    // With a maximum near the link NADA rests at 12 ms of queue, which is the clocks' drift in a minute.
    let drifting = |ppm: i32| {
        let sets = [
            format!("duration={seconds}s"),
            "links.forward.rate=2Mbps".to_owned(),
            "flows.video.rates.max=2.5Mbps".to_owned(),
            "flows.video.encoder.max_rate=2.5Mbps".to_owned(),
            format!("flows.video.receiver_clock.drift_ppm={ppm}"),
            format!("measure.windows={{ last = {{ from = \"{}s\" }} }}", if long() { 900 } else { 300 }),
        ];
        sets.to_vec()
    };
    let runs = simulate(&JUDGED, &[drifting(0), drifting(-200), drifting(200)]);
    let findings = JUDGED.into_iter().zip(runs.chunks(3)).map(|(controller, runs)| {
        let rates: Vec<f64> = runs.iter().map(|run| rate(&run.windows["last"])).collect();
        Finding {
            controller,
            figures: format!(
                "at 0 {:.0} kbit/s; at -200 {:.0}; at +200 {:.0}",
                rates[0] / 1e3,
                rates[1] / 1e3,
                rates[2] / 1e3
            ),
            holds: rates.iter().all(|rate| (rate - rates[0]).abs() <= 0.2 * rates[0]),
        }
    });
    assert_as_said(&judge("clock skew of 200 ppm", findings.collect()));
}
