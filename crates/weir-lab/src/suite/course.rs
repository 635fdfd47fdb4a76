//! How the rates of a run went, for plots.

use weir_measure::metrics::{FairShares, FlowPlan, MeasurePlan, PER_SECOND, max_min_shares};
use weir_measure::results::FlowKind;
use weir_net::Time;

/// How the rates of a run went.
#[derive(Clone, Debug)]
pub struct Course {
    /// Length of the run in seconds.
    pub seconds: f64,
    /// Each flow's name, kind, and received rate on the wire in Mbit/s per second of the run.
    pub flows: Vec<(String, FlowKind, Vec<f64>)>,
    /// The shares.
    pub shares: Vec<FairShares>,
}

impl Course {
    /// Of a run that was measured by `plan`, in which each flow received so many bytes per second of it.
    pub(super) fn of(plan: &MeasurePlan, received: &[Vec<u64>]) -> Self {
        let rates = |bytes: &Vec<u64>| bytes.iter().map(|&bytes| bytes as f64 * 8.0 / 1e6).collect();
        let flows = plan.flows.iter().zip(received);
        Self {
            seconds: (plan.end - Time::ZERO).secs_f64(),
            flows: flows.map(|(flow, bytes)| (flow.name.clone(), kind(flow), rates(bytes))).collect(),
            shares: max_min_shares(plan),
        }
    }
}

/// The kind of a flow; a competitor is drawn as what is sent beside the calls.
fn kind(flow: &FlowPlan) -> FlowKind {
    if flow.competes { FlowKind::Constant } else { flow.kind }
}

/// The same of `receipts`, what each flow received in bytes per bin.
pub(super) fn by_second(receipts: &[Vec<u32>]) -> Vec<Vec<u64>> {
    let of_flow = |bins: &Vec<u32>| {
        bins.chunks(PER_SECOND).map(|second| second.iter().map(|&bytes| u64::from(bytes)).sum()).collect()
    };
    receipts.iter().map(of_flow).collect()
}
