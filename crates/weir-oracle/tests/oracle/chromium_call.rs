//! Simulated calls with the sender `chromium` beside calls of Chromium on the same links.

use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_scenario::shipped;
use weir_study::runs::Task;

use crate::long;

/// Bits of payload received per second, in kbit/s, in a span of a call.
#[derive(Clone, Copy, Debug)]
struct RecordedSpan {
    from: u32,
    to: u32,
    /// Two calls of Chromium without FEC and with the same schedule. The first is in `data/calls`.
    kbps: [f64; 2],
    /// Two calls with FEC, which the simulated ones have not. The first is in `data/calls`.
    with_fec: [f64; 2],
    /// Tolerance, as a share of the mean of `kbps`.
    within: f64,
}

impl RecordedSpan {
    /// Mean of the calls without FEC in kbit/s.
    fn mean(&self) -> f64 {
        f64::midpoint(self.kbps[0], self.kbps[1])
    }
}

/// Mean payload rate of the simulated call in the span, in kbit/s.
fn simulated(name: &str, span: &RecordedSpan, changes: &[String]) -> f64 {
    let text = shipped::find(name).expect("it ships").text;
    let mut all = vec![format!("measure.from={}s", span.from), format!("measure.to={}s", span.to)];
    all.extend_from_slice(changes);
    let scenario = Scenario::parse(name, text, &all).unwrap_or_else(|error| panic!("{error}"));
    let received = |seed| {
        let ran = Task::new(format!("{name} {seed}"), &scenario, RunOptions::new(seed))
            .run(&TraceStore::at(None))
            .unwrap_or_else(|error| panic!("{error}"));
        ran.measured.metrics.flows[0].payload_rate_bps.expect("packets arrived") / 1e3
    };
    let seeds = if long() { 20 } else { 10 };
    (1..=seeds).map(received).sum::<f64>() / seeds as f64
}

/// Checks that simulated calls reach the recorded rates of each span.
fn compare(name: &str, spans: &[RecordedSpan]) {
    for span in spans {
        let ours = simulated(name, span, &[]);
        let deviation = ours / span.mean() - 1.0;
        println!("{name}, {} to {} s: {ours:.0} kbit/s, {:+.1} %", span.from, span.to, 100.0 * deviation);
        assert!(deviation.abs() <= span.within, "{span:?}: {ours:.0} kbit/s");
        let beside = ours / f64::midpoint(span.with_fec[0], span.with_fec[1]) - 1.0;
        assert!(beside.abs() <= 0.15, "{span:?}: {ours:.0} kbit/s");
    }
}

/// Spans of a link with steps.
fn steps() -> [RecordedSpan; 3] {
    [
        RecordedSpan { from: 5, to: 20, kbps: [806.0, 816.0], with_fec: [835.0, 834.0], within: 0.05 },
        RecordedSpan { from: 30, to: 45, kbps: [1679.0, 1813.0], with_fec: [1760.0, 1932.0], within: 0.10 },
        RecordedSpan { from: 50, to: 70, kbps: [406.0, 398.0], with_fec: [345.0, 360.0], within: 0.05 },
    ]
}

/// Spans of a call with CUBIC beside it from 15 to 45 s.
fn beside_cubic() -> [RecordedSpan; 2] {
    [
        RecordedSpan { from: 5, to: 15, kbps: [1977.0, 1958.0], with_fec: [2058.0, 2079.0], within: 0.05 },
        RecordedSpan { from: 20, to: 45, kbps: [415.0, 398.0], with_fec: [339.0, 440.0], within: 0.15 },
    ]
}

#[test]
fn a_simulated_call_is_the_browsers_on_a_link_with_steps() {
    compare("calls/chromium-steps", &steps());
}

#[test]
fn a_simulated_call_is_near_the_browsers_beside_cubic() {
    compare("calls/chromium-beside-cubic", &beside_cubic());
}

#[test]
fn without_the_sender_around_it_a_simulated_call_has_more() {
    let parts = ["headers", "adjuster", "protection", "retransmissions", "queue_limit", "rate_drops"];
    let mut off: Vec<String> = parts.iter().map(|part| format!("flows.video.sender.{part}=false")).collect();
    off.push("flows.video.encoder.scaling=false".to_owned());
    let [rise, cubic] = [steps()[1], beside_cubic()[1]];
    assert!(simulated("calls/chromium-steps", &rise, &off) > 1.12 * rise.mean());
    assert!(simulated("calls/chromium-beside-cubic", &cubic, &off) > 1.5 * cubic.mean());
}

/// The browser's parts are switched off in the same way: one call of it each, with the field trial
/// `WebRTC-VideoRateControl/bitrate_adjuster:false/` or the degradation preference `maintain-resolution`.
#[test]
fn parts_that_are_off_change_a_simulated_call_as_the_browsers() {
    let change = |name: &str, span: &RecordedSpan, part: &str| {
        let off = [format!("flows.video.{part}=false")];
        simulated(name, span, &off) / simulated(name, span, &[]) - 1.0
    };
    let ([first, _, last], [_, cubic]) = (steps(), beside_cubic());
    // The browser: +15 % and +64 %.
    let adjuster = "sender.adjuster";
    assert!((0.04..0.25).contains(&change("calls/chromium-steps", &last, adjuster)));
    assert!((0.20..0.80).contains(&change("calls/chromium-beside-cubic", &cubic, adjuster)));
    // The browser: -8, -15 and -20 %. It leaves out frames of 1280x720, which are too large for the rate.
    let scaling = "encoder.scaling";
    assert!((-0.12..-0.02).contains(&change("calls/chromium-steps", &first, scaling)));
    assert!((-0.55..-0.05).contains(&change("calls/chromium-steps", &last, scaling)));
    assert!((-0.25..0.0).contains(&change("calls/chromium-beside-cubic", &cubic, scaling)));
}
