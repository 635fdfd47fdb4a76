//! Two hours alone: neither queue nor rate drifts away from its value in the fifth minute.

use super::verdict::{Finding, assert_as_said, judge};
use super::{CAPACITY, long, median_queue, of_every_controller, rate};

/// Settings of both long runs: 2 s of queue, measured in the fifth minute and in the last two.
pub(super) fn path(seconds: u64) -> Vec<String> {
    vec![
        format!("duration={seconds}s"),
        "links.forward.queue.time=2s".to_owned(),
        "measure.windows={ fifth = { from = \"240s\", to = \"300s\" }, last = {} }".to_owned(),
        format!("measure.windows.last.from={}s", seconds - 120),
    ]
}

/// Duration of the short form: ten minutes after which an old base delay may be forgotten, two for the effect and two to measure.
pub(super) const SHORT: u64 = 14 * 60;

#[test]
fn two_hours_alone_end_as_they_began() {
    let seconds = if long() { 2 * 3600 } else { SHORT };
    let findings = of_every_controller(&[path(seconds)]).into_iter().map(|runs| {
        let [fifth, last] = ["fifth", "last"].map(|window| &runs.metrics[0].windows[window]);
        let (before, after) = (median_queue(fifth), median_queue(last));
        let steady = after <= (1.5 * before).max(before + 10.0);
        let used = rate(last) >= 0.9 * rate(fifth) && rate(last) >= 0.7 * CAPACITY;
        Finding {
            controller: runs.controller,
            figures: format!(
                "median queue {before:.0} -> {after:.0} ms, rate {:.0} -> {:.0} kbit/s",
                rate(fifth) / 1e3,
                rate(last) / 1e3
            ),
            holds: steady && used,
        }
    });
    assert_as_said(&judge("two hours alone", findings.collect()));
}
