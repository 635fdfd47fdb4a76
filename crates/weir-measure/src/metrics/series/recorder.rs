//! Recorder of the time series of a run, one block of bins at a time.

use core::mem;
use core::ops::Range;

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage};
use weir_cc::{Controller, LimitingFactor, Target};
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};
use weir_world::{PacketMeta, Side};

use super::columns::{FlowSeries, LinkSeries, Series, SignalSeries};
use super::coupling::{Aggregates, ShareColumns, together};
use super::decisions::{DecisionReason, DecisionRecorder};
use super::recording::{BLOCK_BINS, Recording};
use super::spool::{NewBlockStorage, Spool};
use crate::metrics::bins::{BinCounts, BinGrid};
use crate::metrics::flow::FlowRecorder;
use crate::metrics::link::{LinkRecorder, capacity};
use crate::metrics::plan::{CouplingPlan, FlowPlan, MeasurePlan};
use crate::metrics::span::ActiveSpan;

/// Recorder of a run over time.
#[derive(Debug)]
pub(in crate::metrics) struct SeriesRecorder {
    grid: BinGrid,
    /// The first bin of the present block.
    from: usize,
    flows: Vec<FlowColumns>,
    links: Vec<DelayColumn>,
    wants_signals: bool,
    /// The previous blocks.
    spool: Spool,
    decisions: DecisionRecorder,
}

#[derive(Debug)]
struct FlowColumns {
    sent: BinCounts,
    lost_packets: BinCounts,
    owd_excess: DelayColumn,
    frame_delay: DelayColumn,
    target: TargetColumns,
    sender_signals: Vec<SignalSeries>,
    receiver_signals: Vec<SignalSeries>,
    /// The share, for a flow in a coupling.
    share: Option<ShareColumns>,
}

impl SeriesRecorder {
    pub(in crate::metrics) fn new(plan: &MeasurePlan, grid: &BinGrid, new_storage: NewBlockStorage) -> Self {
        let has_signals =
            |flow: &FlowPlan| !flow.sender_signals.is_empty() || !flow.receiver_signals.is_empty();
        let bins = grid.len().min(BLOCK_BINS);
        let mut flows: Vec<_> =
            plan.flows.iter().map(|flow| FlowColumns::new(flow, bins, plan.end)).collect();
        for &flow in plan.couplings.iter().flat_map(|coupling| &coupling.flows) {
            flows[flow].share = Some(ShareColumns::new(bins));
        }
        Self {
            grid: grid.clone(),
            from: 0,
            flows,
            links: plan.links.iter().map(|_| DelayColumn::new(bins)).collect(),
            wants_signals: plan.flows.iter().any(has_signals),
            spool: Spool::new(new_storage),
            decisions: DecisionRecorder::new(plan.flows.len(), new_storage),
        }
    }

    /// Prepares for an event in `bin`: complete blocks are stored first. `flows` and `links` have the counts so far.
    #[inline]
    pub(in crate::metrics) fn advance(
        &mut self,
        bin: usize,
        plan: &MeasurePlan,
        flows: &[FlowRecorder],
        links: &[LinkRecorder],
    ) {
        while bin >= self.from + BLOCK_BINS && self.from + BLOCK_BINS < self.grid.len() {
            let block = self.take_block(plan, flows, links);
            self.spool.push(block);
        }
    }

    pub(in crate::metrics) fn wants_signals(&self) -> bool {
        self.wants_signals
    }

    pub(in crate::metrics) fn sent(&mut self, bin: usize, flow: usize, packet: &PacketMeta) {
        if let Some(columns) = self.flows.get_mut(flow).filter(|_| !packet.control) {
            columns.sent.add(bin - self.from, packet.wire_size);
        }
    }

    pub(in crate::metrics) fn delivered(
        &mut self,
        bin: usize,
        flow: usize,
        owd_excess: TimeDelta,
        frame_delay: Option<TimeDelta>,
    ) {
        if let Some(columns) = self.flows.get_mut(flow) {
            columns.owd_excess.add(bin - self.from, owd_excess);
            if let Some(delay) = frame_delay {
                columns.frame_delay.add(bin - self.from, delay);
            }
        }
    }

    pub(in crate::metrics) fn dropped(&mut self, bin: usize, flow: usize) {
        if let Some(columns) = self.flows.get_mut(flow) {
            columns.lost_packets.add(bin - self.from, 1);
        }
    }

    pub(in crate::metrics) fn link_exit(&mut self, bin: usize, link: usize, wait: TimeDelta) {
        if let Some(column) = self.links.get_mut(link) {
            column.add(bin - self.from, wait);
        }
    }

    pub(in crate::metrics) fn target(&mut self, now: Time, flow: usize, target: &Target) {
        if let Some(columns) = self.flows.get_mut(flow) {
            columns.target.change(&self.grid, self.from, now, target);
        }
    }

    /// Records a change of a flow's rate from `base` to `rate`; `controller` is in the state after it.
    pub(in crate::metrics) fn decided(
        &mut self,
        now: Time,
        flow: usize,
        rates: (DataRate, DataRate),
        reason: DecisionReason,
        controller: &dyn Controller,
    ) {
        self.decisions.record(now, flow, rates, reason, controller);
    }

    pub(in crate::metrics) fn on_message(&mut self, bin: usize, flow: usize, message: &CouplingMessage) {
        if let Some(share) = self.flows.get_mut(flow).and_then(|columns| columns.share.as_mut()) {
            share.on_message(bin - self.from, message);
        }
    }

    pub(in crate::metrics) fn on_allocation(
        &mut self,
        bin: usize,
        flow: usize,
        order: &CouplerAction,
        aggregate: Option<Aggregate>,
    ) {
        if let Some(share) = self.flows.get_mut(flow).and_then(|columns| columns.share.as_mut()) {
            share.on_allocation(bin - self.from, bin, order, aggregate);
        }
    }

    pub(in crate::metrics) fn signals(&mut self, bin: usize, flow: usize, side: Side, values: &[f64]) {
        let Some(columns) = self.flows.get_mut(flow) else { return };
        let signals = match side {
            Side::Sender => &mut columns.sender_signals,
            Side::Receiver => &mut columns.receiver_signals,
        };
        for (signal, &value) in signals.iter_mut().zip(values) {
            signal.add(bin - self.from, value);
        }
    }

    pub(in crate::metrics) fn finish(
        mut self,
        plan: &MeasurePlan,
        flows: &[FlowRecorder],
        links: &[LinkRecorder],
    ) -> Recording {
        self.advance(self.grid.len(), plan, flows, links);
        let last = self.take_block(plan, flows, links);
        Recording::new(self.spool.finish(last), self.decisions.finish(plan))
    }

    /// The columns of the present block. The next block begins.
    fn take_block(&mut self, plan: &MeasurePlan, flows: &[FlowRecorder], links: &[LinkRecorder]) -> Series {
        let block = self.from..self.grid.len().min(self.from + BLOCK_BINS);
        self.from = block.end;
        let next = (self.grid.len() - block.end).min(BLOCK_BINS);
        let grid = &self.grid;
        let flow_series = self.flows.iter_mut().zip(flows).zip(&plan.flows);
        let (flows, aggregates): (Vec<FlowSeries>, Vec<Option<Aggregates>>) = flow_series
            .map(|((columns, flow), plan)| columns.take(grid, &block, next, &plan.name, &flow.receipts))
            .unzip();
        let link_series = self.links.iter_mut().zip(links).zip(&plan.links);
        let links = link_series.map(|((waits, link), plan)| {
            let waits = mem::replace(waits, DelayColumn::new(next));
            LinkSeries {
                name: plan.name.clone(),
                capacity_bps: rates(grid, &block, |_, span| capacity(plan, span)),
                rate_bps: rates(grid, &block, |bin, _| f64::from(link.exits.get(bin))),
                queue_mean_ms: waits.means(),
                queue_max_ms: waits.maxima(),
            }
        });
        let links = links.collect();
        let coupling = |coupling: &CouplingPlan| {
            let aggregates: Vec<&Aggregates> =
                coupling.flows.iter().filter_map(|&flow| aggregates[flow].as_ref()).collect();
            together(coupling, &flows, &aggregates, block.len())
        };
        Series {
            time_s: block.clone().map(|bin| grid.span(bin).from.secs_f64()).collect(),
            links,
            couplings: plan.couplings.iter().map(coupling).collect(),
            flows,
        }
    }
}

impl FlowColumns {
    /// The columns of a block of `bins` bins.
    fn new(plan: &FlowPlan, bins: usize, end: Time) -> Self {
        let signals = |names: &[String], side| -> Vec<SignalSeries> {
            names.iter().map(|name| SignalSeries::new(name, side, bins)).collect()
        };
        Self {
            sent: BinCounts::new(bins),
            lost_packets: BinCounts::new(bins),
            owd_excess: DelayColumn::new(bins),
            frame_delay: DelayColumn::new(bins),
            target: TargetColumns::new(bins, plan.stop.min(end)),
            sender_signals: signals(&plan.sender_signals, Side::Sender),
            receiver_signals: signals(&plan.receiver_signals, Side::Receiver),
            share: None,
        }
    }

    /// The columns of the bins `block` and, for a coupled flow, the aggregates of its group. The next block has `next`
    /// bins.
    fn take(
        &mut self,
        grid: &BinGrid,
        block: &Range<usize>,
        next: usize,
        name: &str,
        receipts: &BinCounts,
    ) -> (FlowSeries, Option<Aggregates>) {
        let (target_rate_bps, limiting_factor) = self.target.take(grid, block, next);
        let [sent, lost] =
            [&mut self.sent, &mut self.lost_packets].map(|counts| mem::replace(counts, BinCounts::new(next)));
        let [owd_excess, frame_delay] = [&mut self.owd_excess, &mut self.frame_delay]
            .map(|column| mem::replace(column, DelayColumn::new(next)));
        let loss = |bin: usize| {
            let (lost, received) = (lost.get(bin), owd_excess.counts[bin]);
            f64::from(lost) / (f64::from(lost) + f64::from(received))
        };
        let (share, aggregates) = self.share.as_mut().map(|share| share.take(next)).unzip();
        let signals = self.sender_signals.iter_mut().chain(&mut self.receiver_signals);
        let series = FlowSeries {
            name: name.to_owned(),
            send_rate_bps: rates(grid, block, |bin, _| f64::from(sent.get(bin - block.start))),
            receive_rate_bps: rates(grid, block, |bin, _| f64::from(receipts.get(bin))),
            target_rate_bps,
            limiting_factor,
            loss_ratio: (0..block.len()).map(loss).collect(),
            owd_excess_mean_ms: owd_excess.means(),
            owd_excess_max_ms: owd_excess.maxima(),
            frame_delay_max_ms: frame_delay.maxima(),
            signals: signals.map(|signal| signal.take(next)).collect(),
            share,
        };
        (series, aggregates)
    }
}

/// The rate in bit/s in each bin of `block`, from the bytes in it.
fn rates(grid: &BinGrid, block: &Range<usize>, bytes: impl Fn(usize, ActiveSpan) -> f64) -> Vec<f64> {
    block
        .clone()
        .map(|bin| {
            let span = grid.span(bin);
            span.seconds().map_or(f64::NAN, |seconds| bytes(bin, span) * 8.0 / seconds)
        })
        .collect()
}

/// Mean and maximum of a delay in each bin.
#[derive(Debug)]
struct DelayColumn {
    counts: Vec<u32>,
    sums: Vec<i64>,
    maxima: Vec<i64>,
}

impl DelayColumn {
    fn new(bins: usize) -> Self {
        Self { counts: vec![0; bins], sums: vec![0; bins], maxima: vec![0; bins] }
    }

    fn add(&mut self, bin: usize, delay: TimeDelta) {
        if bin >= self.counts.len() {
            return;
        }
        let nanos = delay.nanos();
        let first = self.counts[bin] == 0;
        self.counts[bin] = self.counts[bin].saturating_add(1);
        self.sums[bin] = self.sums[bin].saturating_add(nanos);
        self.maxima[bin] = if first { nanos } else { self.maxima[bin].max(nanos) };
    }

    /// Means in ms; NaN in empty bins.
    fn means(&self) -> Vec<f64> {
        self.sums.iter().zip(&self.counts).map(|(&sum, &count)| sum as f64 / 1e6 / f64::from(count)).collect()
    }

    /// Maxima in ms; NaN in empty bins.
    fn maxima(&self) -> Vec<f64> {
        let value = |(&max, &count): (&i64, &u32)| if count == 0 { f64::NAN } else { max as f64 / 1e6 };
        self.maxima.iter().zip(&self.counts).map(value).collect()
    }
}

impl SignalSeries {
    fn new(name: &str, side: Side, bins: usize) -> Self {
        Self { name: name.to_owned(), side, min: vec![f64::NAN; bins], max: vec![f64::NAN; bins] }
    }

    /// The column. The next block has `bins` bins.
    fn take(&mut self, bins: usize) -> Self {
        let next = Self::new(&self.name, self.side, bins);
        mem::replace(self, next)
    }

    fn add(&mut self, bin: usize, value: f64) {
        if let (Some(min), Some(max)) = (self.min.get_mut(bin), self.max.get_mut(bin)) {
            // `min` and `max` ignore a NaN, so the first value replaces the initial NaN.
            *min = min.min(value);
            *max = max.max(value);
        }
    }
}

/// The target rate and the limiting factor, which hold until they change.
#[derive(Debug)]
struct TargetColumns {
    /// Time from which on the flow has no target.
    stop: Time,
    since: Option<(Time, LimitingFactor, f64)>,
    /// Nanoseconds for which each factor has held in the current bin.
    held: [u64; LimitingFactor::ALL.len()],
    bin: usize,
    /// Integral of the rate over the bin in bit/s · ns, and the time with a rate.
    rate_time: Vec<(f64, u64)>,
    factors: Vec<Option<LimitingFactor>>,
}

impl TargetColumns {
    fn new(bins: usize, stop: Time) -> Self {
        Self {
            stop,
            since: None,
            held: [0; LimitingFactor::ALL.len()],
            bin: 0,
            rate_time: vec![(0.0, 0); bins],
            factors: vec![None; bins],
        }
    }

    /// Takes a change of the target; `first` is the first bin of the block.
    fn change(&mut self, grid: &BinGrid, first: usize, now: Time, target: &Target) {
        self.advance(grid, first, now);
        self.since = Some((now, target.limiting_factor, target.sending_rate.bps_f64()));
    }

    /// Adds the time since the last change to the bins.
    fn advance(&mut self, grid: &BinGrid, first: usize, now: Time) {
        let now = now.min(self.stop);
        let Some((mut from, factor, rate)) = self.since else { return };
        while from < now {
            let bin = grid.bin(from);
            let part = ActiveSpan::new(from, now.min(grid.span(bin).to));
            if bin >= grid.len() || part.nanos() == 0 {
                break;
            }
            self.hold(bin - first, factor, rate, part.nanos());
            from = part.to;
        }
        self.since = Some((from.max(now), factor, rate));
    }

    fn hold(&mut self, bin: usize, factor: LimitingFactor, rate: f64, nanos: u64) {
        if bin != self.bin {
            self.bin = bin;
            self.held = [0; LimitingFactor::ALL.len()];
        }
        self.held[factor as usize] += nanos;
        let (integral, time) = &mut self.rate_time[bin];
        *integral += rate * nanos as f64;
        *time += nanos;
        let longest = self.factors[bin].map_or(0, |longest| self.held[longest as usize]);
        if self.held[factor as usize] > longest {
            self.factors[bin] = Some(factor);
        }
    }

    /// The columns of the bins `block`. The next block has `next` bins.
    fn take(
        &mut self,
        grid: &BinGrid,
        block: &Range<usize>,
        next: usize,
    ) -> (Vec<f64>, Vec<Option<LimitingFactor>>) {
        self.advance(grid, block.start, grid.span(block.end.saturating_sub(1)).to);
        self.bin = 0;
        self.held = [0; LimitingFactor::ALL.len()];
        let factors = mem::replace(&mut self.factors, vec![None; next]);
        let rate_time = mem::replace(&mut self.rate_time, vec![(0.0, 0); next]);
        (rate_time.into_iter().map(|(integral, time)| integral / time as f64).collect(), factors)
    }
}
