//! Time series of the rates of a run, for plots.

use weir_measure::metrics::{BINS_PER_SECOND, FairShares, FlowPlan, MeasurePlan, max_min_shares};
use weir_measure::results::FlowKind;
use weir_net::Time;

/// Time series of the rates of a run.
#[derive(Clone, Debug)]
pub struct RateSeries {
    /// Length of the run in seconds.
    pub seconds: f64,
    /// Name, kind, and receive rate on the wire of each flow, in Mbit/s per second of the run.
    pub flows: Vec<(String, FlowKind, Vec<f64>)>,
    /// Max-min shares.
    pub shares: Vec<FairShares>,
}

impl RateSeries {
    /// Time series of a run that was measured by `plan`, with the bytes that each flow received per second.
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

/// Kind of a flow for the plot; a competitor is drawn as background traffic.
fn kind(flow: &FlowPlan) -> FlowKind {
    if flow.competes { FlowKind::Constant } else { flow.kind }
}

/// Bytes that each flow received per second, from its bytes per bin in `receipts`.
pub(super) fn by_second(receipts: &[Vec<u32>]) -> Vec<Vec<u64>> {
    let of_flow = |bins: &Vec<u32>| {
        bins.chunks(BINS_PER_SECOND)
            .map(|second| second.iter().map(|&bytes| u64::from(bytes)).sum())
            .collect()
    };
    receipts.iter().map(of_flow).collect()
}
