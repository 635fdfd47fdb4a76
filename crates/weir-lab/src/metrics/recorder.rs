//! The monitor that measures a run.

use weir_cc::Target;
use weir_net::Time;
use weir_sim::{FrameMeta, Loss, Monitor, PacketMeta, Side, TransferMeta};
use weir_units::TimeDelta;

use super::bins::{Cursor, Grid};
use super::delays::FlowDelays;
use super::evaluate::Evaluation;
use super::flow::FlowRecorder;
use super::link::LinkRecorder;
use super::plan::MeasurePlan;
use super::series::{Series, SeriesRecorder};
use super::span::{Activity, Span};
use crate::results::RunMetrics;

/// Measures a run as it passes by. Its memory does not grow with the number of packets, and it allocates nothing
/// per packet once delays and frames under way have reached their usual range.
#[derive(Debug)]
pub struct Recorder {
    window: Span,
    grid: Grid,
    cursor: Cursor,
    flows: Vec<FlowRecorder>,
    links: Vec<LinkRecorder>,
    series: Option<SeriesRecorder>,
    /// Stretches of the plan's `unsettled` that are over.
    settled: usize,
    plan: MeasurePlan,
}

/// What a [`Recorder`] measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The metrics.
    pub metrics: RunMetrics,
    /// The delays of each flow in full, for distributions.
    pub delays: Vec<FlowDelays>,
    /// The series, if the plan asked for them.
    pub series: Option<Series>,
    /// Bytes that each flow received, on the wire, in bins of 100 ms of which one begins with the measurement window.
    pub receipts: Vec<Vec<u32>>,
}

impl Recorder {
    /// A recorder for one run.
    pub fn new(plan: MeasurePlan) -> Self {
        let window = Span::new(plan.window.0, plan.window.1.min(plan.end));
        let grid = Grid::new(plan.end, window);
        Self {
            window,
            grid,
            cursor: Cursor::new(),
            flows: plan.flows.iter().map(|flow| FlowRecorder::new(flow, &grid, window)).collect(),
            links: plan.links.iter().map(|_| LinkRecorder::new(&grid)).collect(),
            series: plan.series.then(|| SeriesRecorder::new(&plan, grid)),
            settled: 0,
            plan,
        }
    }

    /// What was measured; to be called after the run.
    pub fn finish(mut self) -> Measured {
        let end = self.plan.end;
        let active: Vec<Activity> =
            self.flows.iter().zip(&self.plan.flows).map(|(flow, plan)| flow.active(plan, end)).collect();
        for (flow, active) in self.flows.iter_mut().zip(&active) {
            flow.settle(active);
        }
        let delays: Vec<FlowDelays> = self.flows.iter().map(FlowRecorder::delays).collect();
        let metrics = Evaluation {
            plan: &self.plan,
            window: self.window,
            grid: &self.grid,
            flows: &self.flows,
            links: &self.links,
            active: &active,
            delays: &delays,
        }
        .metrics();
        let series = self.series.map(|series| series.finish(&self.plan, &self.flows, &self.links));
        let receipts = self.flows.into_iter().map(|flow| flow.receipts.into_vec()).collect();
        Measured { metrics, delays, series, receipts }
    }

    /// Whether `now` is outside the unsettled stretches. Time does not go back.
    #[inline]
    fn is_settled(&mut self, now: Time) -> bool {
        while let Some(&(from, to)) = self.plan.unsettled.get(self.settled) {
            if now < to {
                return now < from;
            }
            self.settled += 1;
        }
        !self.plan.unsettled.is_empty()
    }
}

impl Monitor for Recorder {
    fn wants_signals(&self) -> bool {
        self.series.as_ref().is_some_and(SeriesRecorder::wants_signals)
    }

    #[inline]
    fn sent(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        let Some(recorder) = self.flows.get_mut(flow) else { return };
        recorder.sent(now, packet);
        if let Some(series) = &mut self.series {
            series.sent(self.cursor.at(now, &self.grid), flow, packet);
        }
    }

    #[inline]
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        let settled = self.is_settled(now);
        let Some(recorder) = self.flows.get_mut(flow).filter(|_| !packet.control) else { return };
        let bin = self.cursor.at(now, &self.grid);
        let frame_delay = recorder.delivered(now, bin, packet, settled);
        if let Some(series) = &mut self.series {
            series.delivered(bin, flow, recorder.excess(now, packet), frame_delay);
        }
    }

    fn dropped(&mut self, now: Time, flow: usize, link: usize, packet: &PacketMeta, loss: Loss) {
        if let Some(recorder) = self.links.get_mut(link) {
            recorder.dropped(self.window.contains(now), loss);
        }
        let Some(recorder) = self.flows.get_mut(flow).filter(|_| !packet.control) else { return };
        recorder.dropped(packet);
        if let Some(series) = &mut self.series {
            series.dropped(self.cursor.at(now, &self.grid), flow);
        }
    }

    #[inline]
    fn link_exit(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        let Some(recorder) = self.links.get_mut(link) else { return };
        let bin = self.cursor.at(now, &self.grid);
        recorder.exit(bin, self.window.contains(now), wire_size, wait);
        if let Some(series) = &mut self.series {
            series.link_exit(bin, link, wait);
        }
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        if let Some(frames) = self.flows.get_mut(flow).and_then(|recorder| recorder.frames.as_mut()) {
            frames.captured(now, frame);
        }
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.rtt(now, rtt);
        }
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.target(now, target);
        }
        if let Some(series) = &mut self.series {
            series.target(now, flow, target);
        }
    }

    fn signals(&mut self, now: Time, flow: usize, side: Side, values: &[f64]) {
        let bin = self.cursor.at(now, &self.grid);
        if let Some(series) = &mut self.series {
            series.signals(bin, flow, side, values);
        }
    }

    fn completed(&mut self, now: Time, flow: usize) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.completed = Some(now);
        }
    }

    fn transferred(&mut self, now: Time, flow: usize, transfer: &TransferMeta) {
        if let Some(recorder) = self.flows.get_mut(flow) {
            recorder.transferred(now, transfer);
        }
    }
}
