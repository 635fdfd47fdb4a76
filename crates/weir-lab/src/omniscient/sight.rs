//! What the omniscient sender sees: its share over time, known from the plan of the run, and what a witness of the run tells.

use std::sync::Arc;

use weir_measure::metrics::{
    Backlog, FairShares, FlowPlan, MeasurePlan, NetworkObserver, max_min_shares_every,
};
use weir_measure::results::FlowKind;
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};

/// A link that follows a trace counts with its mean rate over so long.
const RESOLUTION: TimeDelta = TimeDelta::from_millis(100);

/// What can be seen of a whole run.
#[derive(Debug)]
pub(crate) struct Overview<'p> {
    plan: &'p MeasurePlan,
    shares: Vec<FairShares>,
    /// The same if no call had a highest rate.
    free: Vec<FairShares>,
    witness: Arc<NetworkObserver>,
}

/// What one of its flows can see.
#[derive(Debug)]
pub(crate) struct NetworkView {
    pub(super) start: Time,
    /// While the flow is active, in order.
    pieces: Vec<Piece>,
    /// The first piece that may still matter.
    next: usize,
    /// The highest rate that the flow can use, on the wire, in bit/s.
    limit: f64,
    /// The flows on its bottleneck that fetch something now and then: they have no share, but leave less.
    transfers: Vec<usize>,
    taken: Taken,
    witness: Arc<NetworkObserver>,
    flow: usize,
    backlog: Backlog,
    /// Propagation there and back, and back alone.
    round_trip: TimeDelta,
    back: TimeDelta,
}

/// What transfers have taken so far.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Until when it is counted.
    since: Time,
    bits: f64,
}

/// The flow's share over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    from: Time,
    to: Time,
    bps: f64,
    /// If no call had a highest rate.
    free: f64,
    /// Among how many what transfers take is missed.
    sharers: f64,
}

/// A share as it was over a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    /// Its mean on the wire, in bit/s.
    pub(super) bps: f64,
    /// What to aim at of it.
    pub(super) aim: f64,
    /// Whether that is all that the flow can use.
    pub(super) limited: bool,
}

impl<'p> Overview<'p> {
    pub(crate) fn new(plan: &'p MeasurePlan) -> Self {
        let shares = max_min_shares_every(plan, RESOLUTION);
        let free = max_min_shares_every(&without_limits(plan), RESOLUTION);
        Self { plan, shares, free, witness: Arc::new(NetworkObserver::new(plan)) }
    }

    /// Who has to see the run.
    pub(crate) fn witness(&self) -> Arc<NetworkObserver> {
        Arc::clone(&self.witness)
    }

    /// What `flow` sees whose feedback takes so long on the way back.
    pub(crate) fn sight(&self, flow: usize, back: TimeDelta) -> NetworkView {
        let own = &self.plan.flows[flow];
        let pieces = self.shares.iter().zip(&self.free);
        let active = pieces.filter(|(piece, _)| own.may_send_at(piece.from));
        let piece = |(shares, free): (&FairShares, &FairShares)| Piece {
            from: shares.from,
            to: shares.to,
            bps: shares.bps[flow],
            free: free.bps[flow],
            sharers: self.sharers(own, shares.from),
        };
        NetworkView {
            start: own.start,
            pieces: active.map(piece).collect(),
            next: 0,
            limit: own.max_rate.map_or(f64::INFINITY, DataRate::bps_f64),
            transfers: transfers_beside(self.plan, own),
            taken: Taken { since: own.start, bits: 0.0 },
            witness: self.witness(),
            flow,
            backlog: Backlog::default(),
            round_trip: own.propagation + back,
            back,
        }
    }

    fn sharers(&self, own: &FlowPlan, at: Time) -> f64 {
        let shares = |flow: &&FlowPlan| {
            matches!(flow.kind, FlowKind::Media | FlowKind::Tcp)
                && flow.bottleneck == own.bottleneck
                && flow.may_send_at(at)
        };
        self.plan.flows.iter().filter(shares).count().max(1) as f64
    }
}

/// A run of which no call has a highest rate.
fn without_limits(plan: &MeasurePlan) -> MeasurePlan {
    let mut free = plan.clone();
    let calls = free.flows.iter_mut().filter(|flow| flow.kind == FlowKind::Media);
    calls.for_each(|flow| flow.max_rate = None);
    free
}

fn transfers_beside(plan: &MeasurePlan, own: &FlowPlan) -> Vec<usize> {
    let beside = |flow: &FlowPlan| flow.kind == FlowKind::Downloads && flow.bottleneck == own.bottleneck;
    (0..plan.flows.len()).filter(|&flow| beside(&plan.flows[flow])).collect()
}

impl NetworkView {
    /// The flow's share over `window` as it is known at `now`, and what to aim at if that is to be so large a `part` of it;
    /// `None` while nothing is known of it. Where its own highest rate limits it, the part is that of what it would have
    /// without one, up to that rate.
    pub(super) fn share(&mut self, now: Time, window: TimeDelta, part: f64) -> Option<Seen> {
        let to = earlier(now, self.back);
        let from = earlier(to, window);
        while self.pieces.get(self.next).is_some_and(|piece| piece.to <= from) {
            self.next += 1;
        }
        let taken = self.taken(to);
        let (mut share, mut aim, mut nanos) = (0.0, 0.0, 0.0);
        for piece in self.pieces[self.next..].iter().take_while(|piece| piece.from < to) {
            let length = piece.to.min(to).nanos().saturating_sub(piece.from.max(from).nanos()) as f64;
            let free = (piece.free - taken / piece.sharers).max(0.0);
            let own = if self.transfers.is_empty() { piece.bps } else { piece.bps.min(free) };
            share += own * length;
            aim += (part * own).max((part * free).min(self.limit)) * length;
            nanos += length;
        }
        let (bps, aim) = (share / nanos, aim / nanos);
        (nanos > 0.0).then_some(Seen { bps, aim, limited: aim >= self.limit * (1.0 - 1e-9) })
    }

    /// The rate of all transfers, in bit/s, mean from the flow's start until `to`, as seen at the far end.
    fn taken(&mut self, to: Time) -> f64 {
        let until = earlier(to, self.round_trip - self.back);
        let Taken { since, bits } = &mut self.taken;
        let passed = |&flow: &usize| self.witness.passed(flow, (*since, until));
        *bits += self.transfers.iter().map(passed).sum::<u64>() as f64 * 8.0;
        *since = until.max(*since);
        let seconds = until.nanos().saturating_sub(self.start.nanos()) as f64 / 1e9;
        if seconds > 0.0 { *bits / seconds } else { 0.0 }
    }

    /// Propagation there and back.
    pub(super) const fn round_trip(&self) -> TimeDelta {
        self.round_trip
    }

    /// The flow's bytes that waited in queues one base round trip before `now`.
    pub(super) fn waiting(&mut self, now: Time) -> u64 {
        self.witness.waiting(self.flow, earlier(now, self.round_trip), &mut self.backlog)
    }
}

fn earlier(at: Time, by: TimeDelta) -> Time {
    Time::from_nanos(at.nanos().saturating_sub(by.nanos().max(0) as u64))
}
