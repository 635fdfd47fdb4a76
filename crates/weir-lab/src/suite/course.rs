//! How the rates of a run went, for plots.

use crate::runs::Ran;
use weir_measure::metrics::{FairShares, PER_SECOND, max_min_shares};
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
    pub(super) fn of(ran: &Ran) -> Self {
        let mbps = |bins: &[u32]| bins.iter().map(|&bytes| f64::from(bytes)).sum::<f64>() * 8.0 / 1e6;
        let rates = |receipts: &Vec<u32>| receipts.chunks(PER_SECOND).map(mbps).collect();
        let flows = ran.plan.flows.iter().zip(&ran.measured.receipts);
        Self {
            seconds: (ran.plan.end - Time::ZERO).secs_f64(),
            flows: flows.map(|(flow, receipts)| (flow.name.clone(), flow.kind, rates(receipts))).collect(),
            shares: max_min_shares(&ran.plan),
        }
    }
}
