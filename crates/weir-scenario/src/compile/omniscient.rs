//! Gives omniscient senders their view of the network.

use std::sync::Arc;

use weir_measure::metrics::{MeasurePlan, NetworkObserver};
use weir_units::TimeDelta;
use weir_world::{FlowSpec, Traffic};

use super::topology::{Network, PlannedFlow};
use crate::omniscient::{NAME, Omniscient, Overview};
use crate::registry;
use crate::scenario::{FlowTraffic, Media};
use weir_form::Problem;

/// Gives each omniscient sender among `flows`, which are the network's in its order, its view of the run that `plan` measures.
/// Returns the observer of that run, or `None` where there is no such sender.
pub(super) fn show(
    network: &Network<'_>,
    plan: &MeasurePlan,
    flows: &mut [FlowSpec],
) -> Result<Option<Arc<NetworkObserver>>, Problem> {
    let omniscient = |(index, planned): (usize, &PlannedFlow<'_>)| match &planned.flow.carried {
        FlowTraffic::Media(media) if media.controller == NAME => {
            Some((index, media.clone(), planned.path.clone()))
        }
        _ => None,
    };
    let senders: Vec<(usize, Media, _)> = network.flows.iter().enumerate().filter_map(omniscient).collect();
    if senders.is_empty() {
        return Ok(None);
    }
    let overview = Overview::new(plan);
    for (index, media, path) in senders {
        let refused = |error: registry::RegistryError| {
            Problem::value(&path.with("options"), error.to_string()).help("see the options of `omniscient`")
        };
        let point = registry::omniscient_point(media.options.as_ref().map(|options| &options.0));
        let (point, limits) = (point.map_err(refused)?, media.limits().map_err(|e| refused(e.into()))?);
        let flow = &mut flows[index];
        let back: TimeDelta = flow.reverse.iter().map(|&link| plan.links[link].delay).sum();
        if let Traffic::Media(spec) = &mut flow.traffic {
            spec.sender =
                Some(Box::new(Omniscient::with_view(point, limits, overview.flow_view(index, back))));
        }
    }
    Ok(Some(overview.observer()))
}
