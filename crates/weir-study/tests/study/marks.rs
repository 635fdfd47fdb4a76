//! ECN marks reach every controller that is declared to respond to them.

use weir_import::traces::TraceStore;
use weir_scenario::registry::{MarkResponse, Registry};
use weir_scenario::scenario::Scenario;
use weir_study::comparison::ComparisonRequest;

const CODEL: &str = r#"title = "A call over 2 Mbit/s behind CoDel"
duration = "30s"
measure = { from = "10s", to = "30s" }
[links.forward]
from = "here"
to = "there"
delay = "25ms"
rate = "2Mbps"
queue = { packets = 500, discipline = "codel" }
[links.back]
from = "there"
to = "here"
delay = "25ms"
rate = "10Mbps"
[flows.video]
kind = "media"
from = "here"
to = "there"
controller = "rap"
encoder = { preset = "papers", min_rate = "50kbps", max_rate = "5Mbps" }
rates = { min = "50kbps", start = "300kbps", max = "5Mbps" }
ecn = "by-controller"
"#;

#[test]
fn a_flow_that_reacts_to_marks_keeps_codels_queue_short_without_loss() {
    let hearing = |name: &&str| Registry::standard().mark_response(name) == MarkResponse::Classic;
    for controller in Registry::standard().controller_names().filter(hearing) {
        let scenario =
            Scenario::parse("codel.toml", CODEL, &[format!("flows.video.controller={controller}")]).unwrap();
        let request = ComparisonRequest { scenario: &scenario, seeds: &[1], jobs: 1, series: false };
        let comparison = request.run(&TraceStore::at(None), &|| {}).unwrap();
        let run = &comparison.controllers[0].runs[0];
        let (loss, queue) = (run.flows[0].loss_ratio, run.links[0].queue_ms.p50);
        assert!(
            loss == Some(0.0) && queue.is_some_and(|ms| ms < 30.0),
            "{controller}: {loss:?} lost, {queue:?} ms"
        );
    }
}
