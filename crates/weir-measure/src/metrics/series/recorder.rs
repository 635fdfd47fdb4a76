//! Fills the columns of a run.

use weir_cc::coupled::{Aggregate, Order, Word};
use weir_cc::{Cause, Target};
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{PacketMeta, Side};

use super::columns::{FlowSeries, LinkSeries, Series, SignalSeries};
use super::coupling::{Aggregates, ShareColumns, together};
use crate::metrics::bins::{Counts, Grid};
use crate::metrics::flow::FlowRecorder;
use crate::metrics::link::{LinkRecorder, capacity};
use crate::metrics::plan::{CouplingPlan, FlowPlan, MeasurePlan};
use crate::metrics::span::Span;

/// Records a run over time.
#[derive(Debug)]
pub(in crate::metrics) struct SeriesRecorder {
    grid: Grid,
    flows: Vec<FlowColumns>,
    links: Vec<DelayColumn>,
    wants_signals: bool,
}

#[derive(Debug)]
struct FlowColumns {
    sent: Counts,
    lost_packets: Counts,
    owd_excess: DelayColumn,
    frame_delay: DelayColumn,
    target: TargetColumns,
    sender_signals: Vec<SignalSeries>,
    receiver_signals: Vec<SignalSeries>,
    /// Of a flow in a coupling.
    share: Option<ShareColumns>,
}

impl SeriesRecorder {
    pub(in crate::metrics) fn new(plan: &MeasurePlan, grid: &Grid) -> Self {
        let has_signals =
            |flow: &FlowPlan| !flow.sender_signals.is_empty() || !flow.receiver_signals.is_empty();
        let mut flows: Vec<_> =
            plan.flows.iter().map(|flow| FlowColumns::new(flow, grid, plan.end)).collect();
        for &flow in plan.couplings.iter().flat_map(|coupling| &coupling.flows) {
            flows[flow].share = Some(ShareColumns::new(grid.len()));
        }
        Self {
            grid: grid.clone(),
            flows,
            links: plan.links.iter().map(|_| DelayColumn::new(grid.len())).collect(),
            wants_signals: plan.flows.iter().any(has_signals),
        }
    }

    pub(in crate::metrics) fn wants_signals(&self) -> bool {
        self.wants_signals
    }

    pub(in crate::metrics) fn sent(&mut self, bin: usize, flow: usize, packet: &PacketMeta) {
        if let Some(columns) = self.flows.get_mut(flow).filter(|_| !packet.control) {
            columns.sent.add(bin, packet.wire_size);
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
            columns.owd_excess.add(bin, owd_excess);
            if let Some(delay) = frame_delay {
                columns.frame_delay.add(bin, delay);
            }
        }
    }

    pub(in crate::metrics) fn dropped(&mut self, bin: usize, flow: usize) {
        if let Some(columns) = self.flows.get_mut(flow) {
            columns.lost_packets.add(bin, 1);
        }
    }

    pub(in crate::metrics) fn link_exit(&mut self, bin: usize, link: usize, wait: TimeDelta) {
        if let Some(column) = self.links.get_mut(link) {
            column.add(bin, wait);
        }
    }

    pub(in crate::metrics) fn target(&mut self, now: Time, flow: usize, target: &Target) {
        if let Some(columns) = self.flows.get_mut(flow) {
            columns.target.change(&self.grid, now, target);
        }
    }

    pub(in crate::metrics) fn told(&mut self, bin: usize, flow: usize, word: &Word) {
        if let Some(share) = self.flows.get_mut(flow).and_then(|columns| columns.share.as_mut()) {
            share.told(bin, word);
        }
    }

    pub(in crate::metrics) fn ordered(
        &mut self,
        bin: usize,
        flow: usize,
        order: &Order,
        aggregate: Option<Aggregate>,
    ) {
        if let Some(share) = self.flows.get_mut(flow).and_then(|columns| columns.share.as_mut()) {
            share.ordered(bin, order, aggregate);
        }
    }

    pub(in crate::metrics) fn signals(&mut self, bin: usize, flow: usize, side: Side, values: &[f64]) {
        let Some(columns) = self.flows.get_mut(flow) else { return };
        let signals = match side {
            Side::Sender => &mut columns.sender_signals,
            Side::Receiver => &mut columns.receiver_signals,
        };
        for (signal, &value) in signals.iter_mut().zip(values) {
            signal.add(bin, value);
        }
    }

    pub(in crate::metrics) fn finish(
        self,
        plan: &MeasurePlan,
        flows: &[FlowRecorder],
        links: &[LinkRecorder],
    ) -> Series {
        let grid = self.grid;
        let flow_series = self.flows.into_iter().zip(flows).zip(&plan.flows);
        let (flows, aggregates): (Vec<FlowSeries>, Vec<Option<Aggregates>>) = flow_series
            .map(|((columns, flow), plan)| columns.finish(&grid, &plan.name, &flow.receipts))
            .unzip();
        let link_series = self.links.into_iter().zip(links).zip(&plan.links);
        let coupling = |coupling: &CouplingPlan| {
            let own: Vec<&Aggregates> =
                coupling.flows.iter().filter_map(|&flow| aggregates[flow].as_ref()).collect();
            together(coupling, &flows, &own, grid.len())
        };
        Series {
            time_s: (0..grid.len()).map(|bin| grid.span(bin).from.secs_f64()).collect(),
            links: link_series
                .map(|((waits, link), plan)| LinkSeries {
                    name: plan.name.clone(),
                    capacity_bps: rates(&grid, |_, span| capacity(plan, span)),
                    rate_bps: rates(&grid, |bin, _| f64::from(link.exits.get(bin))),
                    queue_mean_ms: waits.means(),
                    queue_max_ms: waits.maxima(),
                })
                .collect(),
            couplings: plan.couplings.iter().map(coupling).collect(),
            flows,
        }
    }
}

impl FlowColumns {
    fn new(plan: &FlowPlan, grid: &Grid, end: Time) -> Self {
        let bins = grid.len();
        let signals = |names: &[String], side| -> Vec<SignalSeries> {
            names.iter().map(|name| SignalSeries::new(name, side, bins)).collect()
        };
        Self {
            sent: Counts::new(bins),
            lost_packets: Counts::new(bins),
            owd_excess: DelayColumn::new(bins),
            frame_delay: DelayColumn::new(bins),
            target: TargetColumns::new(bins, plan.stop.min(end)),
            sender_signals: signals(&plan.sender_signals, Side::Sender),
            receiver_signals: signals(&plan.receiver_signals, Side::Receiver),
            share: None,
        }
    }

    /// The columns, and for a flow in a coupling what its group had.
    fn finish(mut self, grid: &Grid, name: &str, receipts: &Counts) -> (FlowSeries, Option<Aggregates>) {
        self.target.advance(grid, self.target.stop);
        let (target_rate_bps, cause) = self.target.finish();
        let loss = |bin: usize| {
            let (lost, received) = (self.lost_packets.get(bin), self.owd_excess.counts[bin]);
            f64::from(lost) / (f64::from(lost) + f64::from(received))
        };
        let (share, aggregates) = self.share.map(ShareColumns::finish).unzip();
        let mut signals = self.sender_signals;
        signals.append(&mut self.receiver_signals);
        let series = FlowSeries {
            name: name.to_owned(),
            send_rate_bps: rates(grid, |bin, _| f64::from(self.sent.get(bin))),
            receive_rate_bps: rates(grid, |bin, _| f64::from(receipts.get(bin))),
            target_rate_bps,
            cause,
            loss_ratio: (0..grid.len()).map(loss).collect(),
            owd_excess_mean_ms: self.owd_excess.means(),
            owd_excess_max_ms: self.owd_excess.maxima(),
            frame_delay_max_ms: self.frame_delay.maxima(),
            signals,
            share,
        };
        (series, aggregates)
    }
}

/// Bit/s in each bin, from the bytes in it.
fn rates(grid: &Grid, bytes: impl Fn(usize, Span) -> f64) -> Vec<f64> {
    (0..grid.len())
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

    /// Milliseconds; NaN in empty bins.
    fn means(&self) -> Vec<f64> {
        self.sums.iter().zip(&self.counts).map(|(&sum, &count)| sum as f64 / 1e6 / f64::from(count)).collect()
    }

    /// Milliseconds; NaN in empty bins.
    fn maxima(&self) -> Vec<f64> {
        let value = |(&max, &count): (&i64, &u32)| if count == 0 { f64::NAN } else { max as f64 / 1e6 };
        self.maxima.iter().zip(&self.counts).map(value).collect()
    }
}

impl SignalSeries {
    fn new(name: &str, side: Side, bins: usize) -> Self {
        Self { name: name.to_owned(), side, min: vec![f64::NAN; bins], max: vec![f64::NAN; bins] }
    }

    fn add(&mut self, bin: usize, value: f64) {
        if let (Some(min), Some(max)) = (self.min.get_mut(bin), self.max.get_mut(bin)) {
            // A NaN on either side gives the other, so the first value replaces the initial NaN.
            *min = min.min(value);
            *max = max.max(value);
        }
    }
}

/// The target rate and its cause, which hold until they change.
#[derive(Debug)]
struct TargetColumns {
    /// The flow has no target any more.
    stop: Time,
    since: Option<(Time, Cause, f64)>,
    /// Nanoseconds for which each cause has held in the current bin.
    held: [u64; Cause::ALL.len()],
    bin: usize,
    /// Integral of the rate over the bin, in bit/s · ns, and the time it covers.
    rate_time: Vec<(f64, u64)>,
    causes: Vec<Option<Cause>>,
}

impl TargetColumns {
    fn new(bins: usize, stop: Time) -> Self {
        Self {
            stop,
            since: None,
            held: [0; Cause::ALL.len()],
            bin: 0,
            rate_time: vec![(0.0, 0); bins],
            causes: vec![None; bins],
        }
    }

    fn change(&mut self, grid: &Grid, now: Time, target: &Target) {
        self.advance(grid, now);
        self.since = Some((now, target.cause, target.sending_rate.bps_f64()));
    }

    /// Spreads the time since the last change over the bins.
    fn advance(&mut self, grid: &Grid, now: Time) {
        let now = now.min(self.stop);
        let Some((mut from, cause, rate)) = self.since else { return };
        while from < now {
            let bin = grid.bin(from);
            let part = Span::new(from, now.min(grid.span(bin).to));
            if bin >= grid.len() || part.nanos() == 0 {
                break;
            }
            self.hold(bin, cause, rate, part.nanos());
            from = part.to;
        }
        self.since = Some((from.max(now), cause, rate));
    }

    fn hold(&mut self, bin: usize, cause: Cause, rate: f64, nanos: u64) {
        if bin != self.bin {
            self.bin = bin;
            self.held = [0; Cause::ALL.len()];
        }
        self.held[cause as usize] += nanos;
        let (integral, time) = &mut self.rate_time[bin];
        *integral += rate * nanos as f64;
        *time += nanos;
        let longest = self.causes[bin].map_or(0, |longest| self.held[longest as usize]);
        if self.held[cause as usize] > longest {
            self.causes[bin] = Some(cause);
        }
    }

    fn finish(self) -> (Vec<f64>, Vec<Option<Cause>>) {
        let rates = self.rate_time.into_iter().map(|(integral, time)| integral / time as f64).collect();
        (rates, self.causes)
    }
}
