//! Counters of a flow, from which its metrics are computed.

use core::mem::take;

use weir_cc::LimitingFactor;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{Breaker, PacketMeta, TransferMeta};

use super::bins::{BinCounts, BinGrid, GridPosition};
use super::delays::FlowDelays;
use super::frames::{FrameProgress, FrameTracker};
use super::histogram::Histogram;
use super::limiting_factors::LimitingFactors;
use super::link::ratio;
use super::plan::FlowPlan;
use super::span::{ActiveSpan, Stretches};
use crate::results::stats;
use crate::results::{
    CompletedTransfers, Convergence, FlowKind, FlowMeasures, PerLimitingFactor, Stopped, Tally, Value,
};

/// Number of packets, and their bytes on the wire and of payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacketTotals {
    pub(super) bytes: u64,
    pub(super) payload: u64,
    pub(super) packets: u64,
}

impl PacketTotals {
    #[inline]
    fn add(&mut self, packet: &PacketMeta) {
        self.bytes += u64::from(packet.wire_size);
        self.payload += u64::from(packet.payload);
        self.packets += 1;
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            payload: self.payload + other.payload,
            packets: self.packets + other.packets,
        }
    }

    fn measures(self) -> Tally<Value> {
        Tally {
            bytes: Some(self.bytes as f64),
            payload_bytes: Some(self.payload as f64),
            packets: Some(self.packets as f64),
        }
    }
}

/// Recorder of the events of a flow in one window.
#[derive(Debug)]
pub(super) struct FlowRecorder {
    window: Stretches,
    propagation: TimeDelta,
    /// Data received in the window.
    pub(super) received: PacketTotals,
    /// Data sent in the window and received at any time.
    pub(super) arrived: PacketTotals,
    owd_excess: Histogram,
    queue_wait: Histogram,
    whole_wait: Histogram,
    /// Bytes received, per bin.
    pub(super) receipts: BinCounts,
    /// Payload bytes of frames received, per bin, if recorded.
    pub(super) media_receipts: Option<BinCounts>,
    pub(super) frames: Option<Box<FrameTracker>>,
    /// Data sent in the window.
    pub(super) sent: PacketTotals,
    /// Bytes of data sent, per bin, if recorded.
    pub(super) sends: Option<BinCounts>,
    /// Messages to its coupler that were refused in the window.
    refused_messages: u64,
    /// Data sent in the window and lost at any time.
    pub(super) lost: PacketTotals,
    /// Feedback sent in the window.
    feedback: PacketTotals,
    rtt: Histogram,
    min_rtt: Option<TimeDelta>,
    factors: LimitingFactors,
    /// Decisions of its controller in the window.
    decisions: u64,
    pub(super) completed: Option<Time>,
    /// Time in seconds of the run at which a circuit breaker stopped the flow's media.
    stopped: Stopped<Value>,
    transfers: CountedTransfers,
}

/// Transfers that were completed in the window.
#[derive(Debug, Default)]
struct CountedTransfers {
    durations: Histogram,
    bytes: u64,
    count: u64,
}

impl FlowRecorder {
    /// The recorder of a flow. With frames, its view covers those captured from `viewed_from` on.
    pub(super) fn new(
        plan: &FlowPlan,
        grid: &BinGrid,
        window: &Stretches,
        viewed_from: Option<Time>,
    ) -> Self {
        let active = Stretches::new(ActiveSpan::new(plan.start, plan.stop), &plan.pauses).within(window);
        Self {
            window: window.clone(),
            propagation: plan.propagation,
            received: PacketTotals::default(),
            arrived: PacketTotals::default(),
            owd_excess: Histogram::new(),
            queue_wait: Histogram::new(),
            whole_wait: Histogram::new(),
            receipts: BinCounts::new(grid.len()),
            media_receipts: None,
            frames: viewed_from
                .map(|from| Box::new(FrameTracker::new(window.clone(), grid, plan.pauses.clone(), from))),
            sent: PacketTotals::default(),
            sends: None,
            refused_messages: 0,
            lost: PacketTotals::default(),
            feedback: PacketTotals::default(),
            rtt: Histogram::new(),
            min_rtt: None,
            factors: LimitingFactors::new(active),
            decisions: 0,
            completed: None,
            stopped: Stopped::default(),
            transfers: CountedTransfers::default(),
        }
    }

    /// The recorder with counts of the bytes sent per bin.
    pub(super) fn with_sends(self, grid: &BinGrid) -> Self {
        Self { sends: Some(BinCounts::new(grid.len())), ..self }
    }

    /// The recorder with counts of the received frame payload per bin.
    pub(super) fn with_media_receipts(self, grid: &BinGrid) -> Self {
        Self { media_receipts: Some(BinCounts::new(grid.len())), ..self }
    }

    /// Number of messages to the coupler that were refused.
    pub(super) fn refused_messages(&self) -> u64 {
        self.refused_messages
    }

    /// Counts a refused message to the coupler.
    pub(super) fn on_refused_message(&mut self, in_window: bool) {
        self.refused_messages += u64::from(in_window);
    }

    /// Counts a decision of the controller.
    pub(super) fn on_decision(&mut self, in_window: bool) {
        self.decisions += u64::from(in_window);
    }

    /// Counts a packet that is sent.
    #[inline]
    pub(super) fn sent(&mut self, at: GridPosition, packet: &PacketMeta) {
        if at.in_window {
            let counted = if packet.control { &mut self.feedback } else { &mut self.sent };
            counted.add(packet);
        }
        if let Some(sends) = self.sends.as_mut().filter(|_| !packet.control) {
            sends.add(at.bin, packet.wire_size);
        }
    }

    /// Counts a data packet that arrives with this excess of its one-way delay. Returns its [`FrameProgress`] if it
    /// belongs to a frame.
    #[inline]
    pub(super) fn delivered(
        &mut self,
        now: Time,
        at: GridPosition,
        owd_excess: TimeDelta,
        packet: &PacketMeta,
    ) -> Option<FrameProgress> {
        self.receipts.add(at.bin, packet.wire_size);
        if let Some(receipts) = self.media_receipts.as_mut().filter(|_| packet.frame != PacketMeta::NO_FRAME)
        {
            receipts.add(at.bin, packet.payload);
        }
        if at.in_window {
            self.received.add(packet);
            self.owd_excess.record(owd_excess);
            self.queue_wait.record(packet.wait);
        }
        if self.window.contains(packet.sent_at) {
            self.arrived.add(packet);
        }
        self.frames.as_mut()?.arrived(now, at.bin, packet)
    }

    /// Records the waiting time of an arrived media packet, which was in the sender for `held`.
    #[inline]
    pub(super) fn on_media_wait(&mut self, in_window: bool, held: TimeDelta, packet: &PacketMeta) {
        if in_window {
            self.whole_wait.record(held + packet.wait);
        }
    }

    /// The one-way delay minus the propagation delay.
    #[inline]
    pub(super) fn excess(&self, now: Time, packet: &PacketMeta) -> TimeDelta {
        now - packet.sent_at - self.propagation
    }

    /// Counts a data packet that is lost.
    pub(super) fn dropped(&mut self, packet: &PacketMeta) {
        if self.window.contains(packet.sent_at) {
            self.lost.add(packet);
        }
        if let Some(frames) = &mut self.frames {
            frames.dropped(packet.frame);
        }
    }

    /// Records a measured round-trip time.
    pub(super) fn rtt(&mut self, in_window: bool, rtt: TimeDelta) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        if in_window {
            self.rtt.record(rtt);
        }
    }

    pub(super) fn transferred(&mut self, now: Time, transfer: &TransferMeta) {
        if self.window.contains(now) {
            self.transfers.durations.record(now - transfer.started);
            self.transfers.bytes += transfer.size.bytes();
            self.transfers.count += 1;
        }
    }

    /// Records that a circuit breaker stops the flow's media.
    pub(super) fn stopped(&mut self, now: Time, by: &Breaker) {
        let stopped = match by {
            Breaker::RtcpTimeout { .. } => &mut self.stopped.rtcp_timeout,
            Breaker::MediaTimeout { .. } => &mut self.stopped.media_timeout,
            Breaker::Congestion { .. } => &mut self.stopped.congestion,
        };
        stopped.get_or_insert((now - Time::ZERO).secs_f64());
    }

    pub(super) fn target(&mut self, now: Time, target: &weir_cc::Target) {
        self.factors.target(now, target);
    }

    /// Moves the delays out of the recorder; to be called once, after the run.
    pub(super) fn take_delays(&mut self) -> FlowDelays {
        FlowDelays {
            owd_excess: take(&mut self.owd_excess),
            queue_wait: take(&mut self.queue_wait),
            whole_wait: take(&mut self.whole_wait),
            rtt_excess: take(&mut self.rtt).reduced_by(self.min_rtt.unwrap_or(TimeDelta::ZERO)),
            frame_delay: self.frames.as_mut().map(|frames| take(&mut frames.delays)).unwrap_or_default(),
        }
    }

    /// The time spans in which the flow could send.
    pub(super) fn active(&self, plan: &FlowPlan, end: Time) -> Stretches {
        let stop = plan.stop.min(self.completed.unwrap_or(Time::MAX)).min(end);
        Stretches::new(ActiveSpan::new(plan.start, stop), &plan.pauses)
    }

    /// Adds the time since the last change of the target; to be called after the run.
    pub(super) fn settle(&mut self, active: &Stretches) {
        self.factors.advance(active.end());
    }

    /// The metrics of the flow, after [`Self::settle`]. `active` has the spans in which it could send; `fair_share`
    /// is its mean fair share in bit/s.
    pub(super) fn evaluate(
        &self,
        plan: &FlowPlan,
        grid: &BinGrid,
        active: &Stretches,
        fair_share: Value,
        delays: &FlowDelays,
        convergence: Vec<Convergence<Value>>,
    ) -> FlowMeasures<Value> {
        let active = active.within(&self.window);
        let rate = |bytes: u64| active.seconds().map(|seconds| bytes as f64 * 8.0 / seconds);
        // Packets on their way at the end count neither as arrived nor as lost.
        let bytes_with_fate = self.arrived.bytes + self.lost.bytes;
        let packets_with_fate = self.arrived.packets + self.lost.packets;
        let payload_rate_bps = rate(self.received.payload);
        let frames = self.frames.as_deref();
        let freezes = frames.map(|frames| frames.freezes(active.end()));
        FlowMeasures {
            name: plan.name.clone(),
            kind: plan.kind,
            rate_bps: rate(self.received.bytes),
            payload_rate_bps,
            sent_rate_bps: rate(self.sent.bytes),
            target_rate_bps: self.factors.mean_rate(),
            rate_sd_bps: self.rate_sd(grid, &active),
            fair_share: payload_rate_bps.zip(fair_share).and_then(|(rate, fair)| ratio(rate, fair)),
            loss_ratio: ratio(self.lost.bytes as f64, bytes_with_fate as f64),
            packet_loss_ratio: ratio(self.lost.packets as f64, packets_with_fate as f64),
            sent: self.sent.measures(),
            received: self.received.measures(),
            owd_excess_ms: (&delays.owd_excess).into(),
            queue_wait_ms: (&delays.queue_wait).into(),
            rtt_excess_ms: (&delays.rtt_excess).into(),
            min_rtt_ms: self.min_rtt.map(TimeDelta::millis_f64),
            frame_delay_ms: (&delays.frame_delay).into(),
            frames_sent: frames.map(|frames| frames.sent as f64),
            frames_skipped: frames.map(|frames| frames.skipped as f64),
            key_frames: frames.map(|frames| frames.keys as f64),
            frames_complete: frames.map(|frames| frames.complete as f64),
            frames_lost: frames.map(|frames| frames.lost as f64),
            useful_rate_bps: frames.and_then(|frames| rate(frames.useful_bytes)),
            freezes: freezes.as_ref().map(|freezes| freezes.count as f64),
            freeze_seconds: freezes.as_ref().map(|freezes| freezes.total.secs_f64()),
            longest_freeze_seconds: freezes.map(|freezes| freezes.longest.secs_f64()),
            pictures: frames
                .map(|frames| frames.pictures.measures(grid, &active, frames.sent))
                .unwrap_or_default(),
            time_per_limiting_factor: PerLimitingFactor::from_fn(|factor: LimitingFactor| {
                self.factors.seconds(factor)
            }),
            decisions: (plan.kind == FlowKind::Media).then_some(self.decisions as f64),
            feedback_rate_bps: rate(self.feedback.bytes),
            feedback_packet_rate: active.seconds().map(|seconds| self.feedback.packets as f64 / seconds),
            feedback_share: ratio(self.feedback.bytes as f64, self.sent.bytes as f64),
            completion_seconds: self.completed.map(|at| (at - plan.start).secs_f64()),
            stopped: self.stopped,
            transfers: self.transfers.measures(plan.kind),
            convergence,
            share_sent: None,
            share_received: None,
            share_wanted: None,
            refused_messages: None,
        }
    }

    /// Standard deviation of the received rate over the whole seconds in which the flow was active.
    fn rate_sd(&self, grid: &BinGrid, active: &Stretches) -> Value {
        let rates: Vec<f64> = grid
            .seconds()
            .filter(|(_, second)| active.covers(*second))
            .map(|(bins, _)| self.receipts.sum(bins) as f64 * 8.0)
            .collect();
        stats::sample_sd(&rates)
    }
}

impl CountedTransfers {
    /// The metrics of the transfers of a flow of this kind.
    fn measures(&self, kind: FlowKind) -> CompletedTransfers<Value> {
        let seconds = |ms: f64| ms / 1e3;
        CompletedTransfers {
            completed: matches!(kind, FlowKind::Tcp | FlowKind::Downloads | FlowKind::Web)
                .then_some(self.count as f64),
            mean_bytes: ratio(self.bytes as f64, self.count as f64),
            mean_seconds: self.durations.mean_ms().map(seconds),
            p95_seconds: self.durations.quantile_ms(0.95).map(seconds),
            max_seconds: self.durations.max().map(TimeDelta::secs_f64),
        }
    }
}
