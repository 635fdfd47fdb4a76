//! Reports lost on the return path are no sign of lost packets.

use super::verdict::{Finding, assert_as_said, judge};
use super::{CAPACITY, of_every_controller, rate, set};

#[test]
fn lost_reports_are_not_lost_packets() {
    let losing = |share: f64| set(&["measure={ from = \"60s\" }", &format!("links.back.loss={share}")]);
    let findings = of_every_controller(&[0.0, 0.02, 0.1].map(losing)).into_iter().map(|runs| {
        let rates: Vec<f64> = runs.metrics.iter().map(rate).collect();
        let near = |&lossy: &f64| (lossy - rates[0]).abs() <= 0.25 * rates[0] && lossy >= 0.6 * CAPACITY;
        let kbps: Vec<String> = rates.iter().map(|rate| format!("{:.0}", rate / 1e3)).collect();
        Finding {
            controller: runs.controller,
            figures: format!("{} kbit/s without loss, {} at 2 %, {} at 10 %", kbps[0], kbps[1], kbps[2]),
            holds: rates[1..].iter().all(near),
        }
    });
    assert_as_said(&judge("lost reports", findings.collect()));
}
