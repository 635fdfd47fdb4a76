//! Measurements of all flows and links within one window of a run.

use weir_cc::Target;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{Breaker, FrameMeta, Loss, PacketMeta, TransferMeta};

use super::bins::{BinCounts, BinGrid, Cursor, GridPosition};
use super::delays::FlowDelays;
use super::evaluate::Evaluation;
use super::flow::FlowRecorder;
use super::link::LinkRecorder;
use super::plan::{FlowPlan, LinkPlan, MeasurePlan};
use super::span::{ActiveSpan, Stretches};
use super::view::View;
use crate::results::{FlowKind, RunMetrics};

/// Recorder of all flows and links for one window.
#[derive(Debug)]
pub(super) struct WindowRecorder {
    window: Stretches,
    grid: BinGrid,
    cursor: Cursor,
    flows: Vec<FlowRecorder>,
    links: Vec<LinkRecorder>,
}

/// The least time between overflows of a link whose queue is recorded: the longest round-trip propagation delay over
/// the link.
fn watched(plan: &MeasurePlan, index: usize, link: &LinkPlan) -> Option<TimeDelta> {
    let over = plan.flows.iter().filter(|flow| flow.route.contains(&index));
    let round_trip = over.map(|flow| flow.propagation + flow.propagation).max().unwrap_or(TimeDelta::ZERO);
    (plan.queues && link.bottleneck).then_some(round_trip)
}

/// A data packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveredPacket {
    /// The one-way delay minus the propagation delay.
    pub(super) owd_excess: TimeDelta,
    /// Delay of the frame that it completes, if it does.
    pub(super) frame_delay: Option<TimeDelta>,
    /// Waiting time in the sender, for a packet of a frame.
    pub(super) held: Option<TimeDelta>,
}

impl WindowRecorder {
    /// The recorder of a window of these spans, with all metrics or only with the delays of packets.
    pub(super) fn new(plan: &MeasurePlan, spans: &[(Time, Time)], delays_only: bool) -> Self {
        let window = Stretches::of(spans.iter().map(|&(from, to)| ActiveSpan::new(from, to.min(plan.end))));
        let from = window.start();
        let grid = BinGrid::new(plan.end, from, window.clone());
        let with_sends = !plan.couplings.is_empty() && !delays_only;
        let with_media = plan.media_receipts && !delays_only;
        let viewed_from = plan.viewed_from;
        let flow = |plan: &FlowPlan| {
            let with_frames = plan.kind == FlowKind::Media && !delays_only;
            let recorder = FlowRecorder::new(plan, &grid, &window, with_frames.then_some(viewed_from));
            let recorder = if with_sends { recorder.with_sends(&grid) } else { recorder };
            if with_media && with_frames { recorder.with_media_receipts(&grid) } else { recorder }
        };
        let links = plan.links.iter().enumerate().filter(|_| !delays_only);
        Self {
            cursor: Cursor::new(),
            flows: plan.flows.iter().map(flow).collect(),
            links: links.map(|(index, link)| LinkRecorder::new(&grid, watched(plan, index, link))).collect(),
            window,
            grid,
        }
    }

    pub(super) fn grid(&self) -> &BinGrid {
        &self.grid
    }

    pub(super) fn flows(&self) -> &[FlowRecorder] {
        &self.flows
    }

    pub(super) fn links(&self) -> &[LinkRecorder] {
        &self.links
    }

    /// Index of the bin that contains `now`.
    #[inline]
    pub(super) fn bin(&mut self, now: Time) -> usize {
        self.at(now).bin
    }

    #[inline]
    fn at(&mut self, now: Time) -> GridPosition {
        self.cursor.at(now, &self.grid)
    }

    #[inline]
    pub(super) fn sent(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        let at = self.at(now);
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.sent(at, packet);
        }
    }

    /// Records a packet that arrives. Returns `None` unless it carries data of a known flow.
    #[inline]
    pub(super) fn delivered(
        &mut self,
        now: Time,
        flow: usize,
        packet: &PacketMeta,
    ) -> Option<DeliveredPacket> {
        let at = self.at(now);
        let recorder = self.flows.get_mut(flow).filter(|_| !packet.control)?;
        let owd_excess = recorder.excess(now, packet);
        let arrived = recorder.delivered(now, at, owd_excess, packet);
        Some(DeliveredPacket {
            owd_excess,
            frame_delay: arrived.and_then(|arrived| arrived.delay),
            held: arrived.map(|arrived| packet.sent_at - arrived.captured),
        })
    }

    /// Records that the media packet that has just arrived was in the sender for `held`.
    #[inline]
    pub(super) fn on_media_wait(&mut self, now: Time, flow: usize, held: TimeDelta, packet: &PacketMeta) {
        let at = self.at(now);
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.on_media_wait(at.in_window, held, packet);
        }
    }

    pub(super) fn dropped(&mut self, now: Time, flow: usize, link: usize, packet: &PacketMeta, loss: Loss) {
        let at = self.at(now);
        if let Some(recorder) = self.links.get_mut(link) {
            recorder.dropped(at.in_window, loss);
        }
        if let Some(recorder) = self.flows.get_mut(flow).filter(|_| !packet.control) {
            recorder.dropped(packet);
        }
    }

    pub(super) fn link_enter(&mut self, now: Time, link: usize, found: u32, taken: bool) {
        let at = self.at(now);
        if let Some(queue) = self.links.get_mut(link).and_then(|link| link.queue.as_mut()) {
            queue.enter(now, at.in_window, found, taken);
        }
    }

    pub(super) fn on_refused_message(&mut self, now: Time, flow: usize) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.on_refused_message(self.window.contains(now));
        }
    }

    #[inline]
    pub(super) fn link_exit(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        let at = self.at(now);
        if let Some(recorder) = self.links.get_mut(link) {
            recorder.exit(at, wire_size, wait);
        }
    }

    pub(super) fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        if let Some(frames) = self.flows.get_mut(flow).and_then(|recorder| recorder.frames.as_mut()) {
            frames.captured(now, frame);
        }
    }

    pub(super) fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        let at = self.at(now);
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.rtt(at.in_window, rtt);
        }
    }

    pub(super) fn target(&mut self, now: Time, flow: usize, target: &Target) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.target(now, target);
        }
    }

    pub(super) fn decided(&mut self, now: Time, flow: usize) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.on_decision(self.window.contains(now));
        }
    }

    pub(super) fn stopped(&mut self, now: Time, flow: usize, by: &Breaker) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.stopped(now, by);
        }
    }

    pub(super) fn completed(&mut self, now: Time, flow: usize) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.completed = Some(now);
        }
    }

    pub(super) fn transferred(&mut self, now: Time, flow: usize, transfer: &TransferMeta) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.transferred(now, transfer);
        }
    }

    /// Moves the delays of each flow out of the recorder; to be called once, after the run.
    pub(super) fn take_delays(&mut self) -> Vec<FlowDelays> {
        self.flows.iter_mut().map(FlowRecorder::take_delays).collect()
    }

    /// The metrics and the delays of each flow; to be called once, after the run.
    pub(super) fn evaluate(&mut self, plan: &MeasurePlan) -> (RunMetrics, Vec<FlowDelays>) {
        let active: Vec<Stretches> =
            self.flows.iter().zip(&plan.flows).map(|(flow, own)| flow.active(own, plan.end)).collect();
        for (flow, active) in self.flows.iter_mut().zip(&active) {
            flow.settle(active);
        }
        let delays = self.take_delays();
        let evaluation = Evaluation {
            plan,
            window: &self.window,
            grid: &self.grid,
            flows: &self.flows,
            links: &self.links,
            active: &active,
            delays: &delays,
        };
        (evaluation.metrics(), delays)
    }

    /// The media that reached the viewer of each flow; empty for a flow without frames.
    pub(super) fn take_views(&mut self) -> Vec<View> {
        let view = |flow: &mut FlowRecorder| {
            flow.frames.as_mut().map(|frames| core::mem::take(&mut frames.view)).unwrap_or_default()
        };
        self.flows.iter_mut().map(view).collect()
    }

    /// Bytes that each flow received per bin on the wire, and the payload of frames if recorded.
    pub(super) fn into_receipts(self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let receipts = |flow: FlowRecorder| {
            let media = flow.media_receipts.map(BinCounts::into_vec).unwrap_or_default();
            (flow.receipts.into_vec(), media)
        };
        self.flows.into_iter().map(receipts).unzip()
    }
}
