//! The same controller with its observer at either end, over the wire formats with their resolutions.

use weir_import::traces::TraceStore;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::{ComparisonRequest, ControllerRuns};

/// Frames are not synchronous with NADA's ten reports a second. At 30 frames a second every third frame would meet the same phase
/// of the rate's swing between reports, one phase here and another there. The mean target would then differ by 5 % at the same
/// arrival rate.
const ONE_MEGABIT: &str = r#"title = "A call over 1 Mbit/s"
duration = "120s"
[links.forward]
from = "here"
to = "there"
delay = "25ms"
rate = "1Mbps"
queue = { time = "300ms" }
[links.back]
from = "there"
to = "here"
delay = "25ms"
rate = "10Mbps"
[flows.video]
kind = "media"
from = "here"
to = "there"
controller = "nada"
encoder = { preset = "papers", frame_rate = 29, min_rate = "50kbps", max_rate = "2500kbps" }
rates = { min = "50kbps", start = "300kbps", max = "2500kbps" }
"#;

/// The mean target rate of the second half in kbit/s.
fn settled_kbps(controller: &ControllerRuns) -> f64 {
    let series = controller.sample.series.clone().unwrap().whole().unwrap();
    let targets = &series.flows[0].target_rate_bps;
    let half = &targets[targets.len() / 2..];
    half.iter().sum::<f64>() / half.len() as f64 / 1e3
}

#[test]
fn a_controller_settles_at_the_same_rate_with_its_observer_at_either_end() {
    for controller in ["nada", "dccc"] {
        let controllers = format!("controllers=['{controller}', '{controller}-at-sender']");
        let scenario = Scenario::parse("call.toml", ONE_MEGABIT, &[controllers]).unwrap();
        let request = ComparisonRequest { scenario: &scenario, seeds: &[1], jobs: 1, series: true };
        let comparison = request.run(&TraceStore::at(None), &|| {}).unwrap();
        let rates: Vec<f64> = comparison.controllers.iter().map(settled_kbps).collect();
        assert!((rates[1] / rates[0] - 1.0).abs() <= 0.03, "{controller}: {rates:?} kbit/s");
        assert!(rates[0] > 800.0, "{controller}: {rates:?} kbit/s");
    }
}
