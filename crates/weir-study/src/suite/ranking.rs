//! Ranking of the controllers in a case, by the results at the viewers.

use super::results::{ControllerResult, Viewed};
use weir_measure::results::Value;
use weir_measure::results::ranking::{RankedController, Ranking};
use weir_scenario::registry;

/// Ranking of `controllers` without the reference senders, or `None` of fewer than two.
pub(super) fn ranking(controllers: &[ControllerResult]) -> Option<Ranking> {
    let compared = controllers.iter().filter(|controller| !registry::is_reference(&controller.controller));
    let candidates: Vec<RankedController> = compared.map(candidate).collect();
    (candidates.len() > 1).then(|| Ranking::of(&candidates))
}

fn candidate(controller_result: &ControllerResult) -> RankedController {
    let values_of = |value: &dyn Fn(&Viewed) -> Value| controller_result.viewed.iter().map(value).collect();
    RankedController {
        name: controller_result.name.clone(),
        useful_rate_kbps: values_of(&|run| run.useful_bps.map(|bps| bps / 1e3)),
        frame_delay_ms: values_of(&|run| run.frame_delay_ms),
        freezes: values_of(&|run| run.freezes),
        neighbour_rate_kbps: values_of(&|run| run.neighbour_bps.map(|bps| bps / 1e3)),
    }
}
