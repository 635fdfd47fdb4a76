//! The omniscient sender's view of the network: its share over time from the plan of the run, and an observer of the run.

use std::sync::Arc;

use weir_measure::metrics::{
    BacklogReader, FairShares, FlowPlan, MeasurePlan, NetworkObserver, max_min_shares_every,
};
use weir_measure::results::FlowKind;
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};

/// The rate of a link that follows a trace is its mean over this time.
const RESOLUTION: TimeDelta = TimeDelta::from_millis(100);

/// The view of a whole run, from which each flow's view is made.
#[derive(Debug)]
pub struct Overview<'p> {
    plan: &'p MeasurePlan,
    shares: Vec<FairShares>,
    /// The shares if no call had a highest rate.
    free: Vec<FairShares>,
    observer: Arc<NetworkObserver>,
}

/// The view of one flow.
#[derive(Debug)]
pub(crate) struct NetworkView {
    pub(super) start: Time,
    /// Pieces of the flow's active time, in order.
    pieces: Vec<ShareInterval>,
    /// Index of the first piece that may still matter.
    next: usize,
    /// The highest rate that the flow can use, on the wire, in bit/s.
    limit: f64,
    /// Flows on its bottleneck with occasional transfers: they have no share, but reduce the others'.
    transfers: Vec<usize>,
    taken: Taken,
    observer: Arc<NetworkObserver>,
    flow: usize,
    backlog: BacklogReader,
    /// Propagation delay of the whole round trip, and of the return path alone.
    round_trip: TimeDelta,
    back: TimeDelta,
}

/// Data that transfers have taken so far.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// End of the counted time.
    since: Time,
    bits: f64,
}

/// The flow's share over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ShareInterval {
    from: Time,
    to: Time,
    bps: f64,
    /// The flow's share if no call had a highest rate.
    free: f64,
    /// Number of flows that share the loss of rate to transfers.
    sharers: f64,
}

/// A share averaged over a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AveragedShare {
    /// Its mean on the wire, in bit/s.
    pub(super) bps: f64,
    /// The rate to aim at, in bit/s.
    pub(super) aim: f64,
    /// Whether that is all that the flow can use.
    pub(super) limited: bool,
}

impl<'p> Overview<'p> {
    /// The view of a network at the start of a run that `plan` measures.
    pub fn new(plan: &'p MeasurePlan) -> Self {
        let shares = max_min_shares_every(plan, RESOLUTION);
        let free = max_min_shares_every(&without_limits(plan), RESOLUTION);
        Self { plan, shares, free, observer: Arc::new(NetworkObserver::new(plan)) }
    }

    /// The observer of the run that the views read.
    pub(crate) fn observer(&self) -> Arc<NetworkObserver> {
        Arc::clone(&self.observer)
    }

    /// The view of `flow`, whose feedback takes the time `back` on the return path.
    pub(crate) fn flow_view(&self, flow: usize, back: TimeDelta) -> NetworkView {
        let flow_plan = &self.plan.flows[flow];
        let pieces = self.shares.iter().zip(&self.free);
        let active = pieces.filter(|(piece, _)| flow_plan.may_send_at(piece.from));
        let piece = |(shares, free): (&FairShares, &FairShares)| ShareInterval {
            from: shares.from,
            to: shares.to,
            bps: shares.bps[flow],
            free: free.bps[flow],
            sharers: self.sharers(flow_plan, shares.from),
        };
        NetworkView {
            start: flow_plan.start,
            pieces: active.map(piece).collect(),
            next: 0,
            limit: flow_plan.max_rate.map_or(f64::INFINITY, DataRate::bps_f64),
            transfers: transfers_beside(self.plan, flow_plan),
            taken: Taken { since: flow_plan.start, bits: 0.0 },
            observer: self.observer(),
            flow,
            backlog: BacklogReader::default(),
            round_trip: flow_plan.propagation + back,
            back,
        }
    }

    fn sharers(&self, flow_plan: &FlowPlan, at: Time) -> f64 {
        let shares = |flow: &&FlowPlan| {
            matches!(flow.kind, FlowKind::Media | FlowKind::Tcp)
                && flow.bottleneck == flow_plan.bottleneck
                && flow.may_send_at(at)
        };
        self.plan.flows.iter().filter(shares).count().max(1) as f64
    }
}

/// The plan of a run in which no call has a highest rate.
fn without_limits(plan: &MeasurePlan) -> MeasurePlan {
    let mut free = plan.clone();
    let calls = free.flows.iter_mut().filter(|flow| flow.kind == FlowKind::Media);
    calls.for_each(|flow| flow.max_rate = None);
    free
}

fn transfers_beside(plan: &MeasurePlan, flow_plan: &FlowPlan) -> Vec<usize> {
    let beside =
        |flow: &FlowPlan| flow.kind == FlowKind::Downloads && flow.bottleneck == flow_plan.bottleneck;
    (0..plan.flows.len()).filter(|&flow| beside(&plan.flows[flow])).collect()
}

impl NetworkView {
    /// The flow's share over `window` as it is known at `now`, and the rate to aim at for a `part` of it. The result is `None`
    /// while no share is known. Where the flow's own highest rate limits the share, the part is taken of the share without that
    /// limit, up to that rate.
    pub(crate) fn share(&mut self, now: Time, window: TimeDelta, part: f64) -> Option<AveragedShare> {
        let to = earlier(now, self.back);
        let from = earlier(to, window);
        while self.pieces.get(self.next).is_some_and(|piece| piece.to <= from) {
            self.next += 1;
        }
        let taken = self.taken(to);
        let (mut share, mut aim, mut nanos) = (0.0, 0.0, 0.0);
        for piece in self.pieces[self.next..].iter().take_while(|piece| piece.from < to) {
            let length = piece.to.min(to).nanos().saturating_sub(piece.from.max(from).nanos()) as f64;
            // Transfers have no share in the plan; each sharer of the bottleneck gives up an equal part of their rate.
            let free = (piece.free - taken / piece.sharers).max(0.0);
            let rate = if self.transfers.is_empty() { piece.bps } else { piece.bps.min(free) };
            share += rate * length;
            aim += (part * rate).max((part * free).min(self.limit)) * length;
            nanos += length;
        }
        let (bps, aim) = (share / nanos, aim / nanos);
        (nanos > 0.0).then_some(AveragedShare { bps, aim, limited: aim >= self.limit * (1.0 - 1e-9) })
    }

    /// Mean rate of all transfers, in bit/s, from the flow's start until `to`, as seen at the far end.
    fn taken(&mut self, to: Time) -> f64 {
        let until = earlier(to, self.round_trip - self.back);
        let Taken { since, bits } = &mut self.taken;
        let passed = |&flow: &usize| self.observer.passed(flow, (*since, until));
        *bits += self.transfers.iter().map(passed).sum::<u64>() as f64 * 8.0;
        *since = until.max(*since);
        let seconds = until.nanos().saturating_sub(self.start.nanos()) as f64 / 1e9;
        if seconds > 0.0 { *bits / seconds } else { 0.0 }
    }

    /// Propagation delay of the round trip.
    pub(super) const fn round_trip(&self) -> TimeDelta {
        self.round_trip
    }

    /// The flow's bytes that waited in queues one base round trip before `now`.
    pub(super) fn waiting(&mut self, now: Time) -> u64 {
        self.observer.waiting(self.flow, earlier(now, self.round_trip), &mut self.backlog)
    }
}

fn earlier(at: Time, by: TimeDelta) -> Time {
    Time::from_nanos(at.nanos().saturating_sub(by.nanos().max(0) as u64))
}
