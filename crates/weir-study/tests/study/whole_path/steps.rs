//! Steps of the path's delay and of the receiver's clock, without notice to the flows.

use super::verdict::{Finding, assert_as_said, judge};
use super::{rate, simulate};

/// The controllers that an embedder is recommended, and DCCC's other form.
pub(super) const JUDGED: [&str; 6] = ["gcc", "nada", "nada-at-sender", "scream-v2", "dccc", "dccc-at-sender"];

/// Property, and the settings that make the step at 60 s.
const STEPS: [(&str, &[&str]); 6] = [
    ("path 40 ms longer", &["links.forward.changes=[{ at = \"60s\", delay = \"65ms\" }]"]),
    ("path 250 ms longer", &["links.forward.changes=[{ at = \"60s\", delay = \"275ms\" }]"]),
    (
        "path 250 ms shorter",
        &["links.forward.delay=275ms", "links.forward.changes=[{ at = \"60s\", delay = \"25ms\" }]"],
    ),
    ("clock set 40 ms ahead", &["flows.video.receiver_clock.step={ at = \"60s\", by = \"40ms\" }"]),
    ("clock set 250 ms ahead", &["flows.video.receiver_clock.step={ at = \"60s\", by = \"250ms\" }"]),
    ("clock set 250 ms back", &["flows.video.receiver_clock.step={ at = \"60s\", by = \"-250ms\" }"]),
];

#[test]
fn ten_seconds_after_a_step_the_rate_is_back() {
    let measured = [
        "duration=75s",
        "measure.windows={ before = { from = \"50s\", to = \"60s\" }, after = { from = \"70s\" } }",
    ];
    let with = |step: &[&str]| measured.iter().chain(step).map(|&set| set.to_owned()).collect();
    let variants: Vec<Vec<String>> = STEPS.iter().map(|(_, step)| with(step)).collect();
    let runs = simulate(&JUDGED, &variants);
    let mut wrong = Vec::new();
    for (case, (property, _)) in STEPS.iter().enumerate() {
        let finding = |(controller, runs): (&'static str, &[_])| {
            let run: &weir_measure::results::RunMetrics = &runs[case];
            let [before, after] = ["before", "after"].map(|window| rate(&run.windows[window]));
            Finding {
                controller,
                figures: format!("{:.0} -> {:.0} kbit/s", before / 1e3, after / 1e3),
                holds: after >= 0.8 * before,
            }
        };
        let findings = JUDGED.into_iter().zip(runs.chunks(STEPS.len())).map(finding).collect();
        wrong.extend(judge(property, findings));
    }
    assert_as_said(&wrong);
}
