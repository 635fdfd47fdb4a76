//! The recorder of a run, which passes its events to the recorders of all windows and of the time series.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage, Refusal};
use weir_cc::{Controller, Decision, Ecn, Target};
use weir_media::MediaPacket;
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};
use weir_wire::media::MediaHeader;
use weir_world::recorded::{CallMonitor, RecordedCall};
use weir_world::{Breaker, FrameMeta, Loss, Monitor, PacketMeta, Side, TransferMeta};

use super::delays::FlowDelays;
use super::network_observer::NetworkObserver;
use super::plan::{ExtraWindow, MeasurePlan};
use super::series::{DecisionReason, NewBlockStorage, Recording, SeriesRecorder, in_memory};
use super::view::View;
use super::window::{DeliveredPacket, WindowRecorder};
use crate::results::{FlowKind, RunMetrics};

/// Observer that measures a run during the simulation. Its memory does not grow with the number of packets. It
/// allocates nothing per packet once delays and frames in transit have reached their usual range.
#[derive(Debug)]
pub struct Recorder {
    main: WindowRecorder,
    /// The recorders of the plan's further windows, in its order.
    others: Vec<WindowRecorder>,
    series: Option<SeriesRecorder>,
    calls: Option<CallMonitor>,
    network_observer: Option<Arc<NetworkObserver>>,
    /// Whether a recorder besides `main` needs each packet.
    has_others: bool,
    plan: MeasurePlan,
}

/// Results of a [`Recorder`].
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The metrics.
    pub metrics: RunMetrics,
    /// The delays of each flow in full, for distributions.
    pub delays: Vec<FlowDelays>,
    /// The delays within each further window of the plan, by its name.
    pub delays_within: BTreeMap<String, Vec<FlowDelays>>,
    /// The media that reached the viewer of each flow; empty for a flow without frames.
    pub views: Vec<View>,
    /// The time series, if the plan has them.
    pub series: Option<Recording>,
    /// The recorded calls, each with the index of its flow, if the plan asked for them.
    pub calls: Vec<(usize, RecordedCall)>,
    /// Bytes that each flow received, on the wire, in bins of 100 ms of which one begins with the measurement window.
    pub receipts: Vec<Vec<u32>>,
    /// Payload bytes of frames that each media flow received, in the same bins; empty unless the plan asks for them.
    pub media_receipts: Vec<Vec<u32>>,
}

impl Recorder {
    /// A recorder for one run, which keeps its series in memory.
    pub fn new(plan: MeasurePlan) -> Self {
        Self::with_storage(plan, in_memory)
    }

    /// A recorder for one run, with a storage for the earlier blocks of a long one.
    pub fn with_storage(plan: MeasurePlan, new_storage: NewBlockStorage) -> Self {
        let main = WindowRecorder::new(&plan, &[plan.window], false);
        let other = |window: &ExtraWindow| WindowRecorder::new(&plan, &window.spans, window.delays_only);
        Self {
            has_others: plan.series || !plan.windows.is_empty(),
            series: plan.series.then(|| SeriesRecorder::new(&plan, main.grid(), new_storage)),
            calls: plan
                .record
                .then(|| CallMonitor::new(plan.flows.iter().map(|flow| flow.kind == FlowKind::Media))),
            others: plan.windows.iter().map(other).collect(),
            main,
            network_observer: None,
            plan,
        }
    }

    /// The recorder with an observer of the network.
    #[must_use]
    pub fn beside(self, network_observer: Option<Arc<NetworkObserver>>) -> Self {
        Self { has_others: self.has_others || network_observer.is_some(), network_observer, ..self }
    }

    /// The results of the run, after its end.
    pub fn finish(mut self) -> Measured {
        let (mut metrics, delays) = self.main.evaluate(&self.plan);
        let mut delays_within = BTreeMap::new();
        for (recorder, window) in self.others.iter_mut().zip(&self.plan.windows) {
            let delays = if window.delays_only {
                recorder.take_delays()
            } else {
                let (own, delays) = recorder.evaluate(&self.plan);
                metrics.windows.insert(window.name.clone(), own);
                delays
            };
            delays_within.insert(window.name.clone(), delays);
        }
        let finish = |series: SeriesRecorder| series.finish(&self.plan, self.main.flows(), self.main.links());
        let series = self.series.map(finish);
        let calls = self.calls.map_or_else(Vec::new, |calls| calls.finish().collect());
        let views = self.main.take_views();
        let (receipts, media_receipts) = self.main.into_receipts();
        Measured { metrics, delays, delays_within, views, series, calls, receipts, media_receipts }
    }

    /// The recorder of the series, if there is one, and the bin of `now`.
    #[inline]
    fn series_at(&mut self, now: Time) -> Option<(usize, &mut SeriesRecorder)> {
        let series = self.series.as_mut()?;
        let bin = self.main.bin(now);
        series.advance(bin, &self.plan, self.main.flows(), self.main.links());
        Some((bin, series))
    }

    /// Passes a sent packet to all recorders except that of the main window.
    #[inline(never)]
    fn sent_besides(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        self.others.iter_mut().for_each(|window| window.sent(now, flow, packet));
        if let Some(network_observer) = &self.network_observer {
            network_observer.sent(flow, packet);
        }
        if let Some((bin, series)) = self.series_at(now) {
            series.sent(bin, flow, packet);
        }
    }

    /// Passes an arrived packet to all recorders except that of the main window; `delivery` is its record in the main
    /// window.
    #[inline(never)]
    fn delivered_besides(
        &mut self,
        now: Time,
        flow: usize,
        packet: &PacketMeta,
        delivery: Option<DeliveredPacket>,
    ) {
        let held = delivery.as_ref().and_then(|delivery| delivery.held);
        for window in &mut self.others {
            window.delivered(now, flow, packet);
            if let Some(held) = held {
                window.on_media_wait(now, flow, held, packet);
            }
        }
        if let Some(network_observer) = &self.network_observer {
            network_observer.delivered(now, flow, packet);
        }
        if let Some(delivery) = delivery
            && let Some((bin, series)) = self.series_at(now)
        {
            series.delivered(bin, flow, delivery.owd_excess, delivery.frame_delay);
        }
    }

    /// Passes a packet that leaves a link to all recorders except that of the main window.
    #[inline(never)]
    fn exit_besides(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        self.others.iter_mut().for_each(|window| window.link_exit(now, link, wire_size, wait));
        if let Some((bin, series)) = self.series_at(now) {
            series.link_exit(bin, link, wait);
        }
    }

    /// Passes an event to the recorders of all windows.
    #[inline]
    fn each(&mut self, show: impl Fn(&mut WindowRecorder)) {
        show(&mut self.main);
        self.others.iter_mut().for_each(show);
    }
}

impl Monitor for Recorder {
    fn wants_signals(&self) -> bool {
        self.series.as_ref().is_some_and(SeriesRecorder::wants_signals)
    }

    fn wants_rtp(&self) -> bool {
        self.calls.is_some()
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        if let Some(calls) = &mut self.calls {
            calls.rtp_sent(now, flow, packet);
        }
    }

    fn rtp_arrived(&mut self, now: Time, flow: usize, header: &MediaHeader, ecn: Ecn) {
        if let Some(calls) = &mut self.calls {
            calls.rtp_arrived(now, flow, header, ecn);
        }
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        if let Some(calls) = &mut self.calls {
            calls.rtcp_arrived(now, flow, at, bytes);
        }
    }

    fn wants_queues(&self) -> bool {
        self.plan.queues
    }

    fn link_enter(&mut self, now: Time, link: usize, found: u32, taken: bool) {
        self.each(|window| window.link_enter(now, link, found, taken));
    }

    fn coupling_message(
        &mut self,
        now: Time,
        flow: usize,
        message: &CouplingMessage,
        refused: Option<Refusal>,
    ) {
        if refused.is_some() {
            self.each(|window| window.on_refused_message(now, flow));
        }
        if let Some((bin, series)) = self.series_at(now) {
            series.on_message(bin, flow, message);
        }
    }

    fn coupler_action(
        &mut self,
        now: Time,
        flow: usize,
        order: &CouplerAction,
        aggregate: Option<Aggregate>,
    ) {
        if let Some((bin, series)) = self.series_at(now) {
            series.on_allocation(bin, flow, order, aggregate);
        }
    }

    #[inline]
    fn sent(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        self.main.sent(now, flow, packet);
        if self.has_others {
            self.sent_besides(now, flow, packet);
        }
    }

    #[inline]
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        let delivery = self.main.delivered(now, flow, packet);
        if let Some(held) = delivery.as_ref().and_then(|delivery| delivery.held) {
            self.main.on_media_wait(now, flow, held, packet);
        }
        if self.has_others {
            self.delivered_besides(now, flow, packet, delivery);
        }
    }

    fn dropped(&mut self, now: Time, flow: usize, link: usize, packet: &PacketMeta, loss: Loss) {
        self.each(|window| window.dropped(now, flow, link, packet, loss));
        if let Some(network_observer) = &self.network_observer {
            network_observer.dropped(now, flow, packet);
        }
        if !packet.control
            && let Some((bin, series)) = self.series_at(now)
        {
            series.dropped(bin, flow);
        }
    }

    #[inline]
    fn link_exit(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        self.main.link_exit(now, link, wire_size, wait);
        if self.has_others {
            self.exit_besides(now, link, wire_size, wait);
        }
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        self.each(|window| window.frame(now, flow, frame));
        if let Some(calls) = &mut self.calls {
            calls.frame(now, flow, frame);
        }
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        self.each(|window| window.rtt(now, flow, rtt));
        if let Some(calls) = &mut self.calls {
            calls.rtt(now, flow, rtt);
        }
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        self.each(|window| window.target(now, flow, target));
        if let Some(calls) = &mut self.calls {
            calls.target(now, flow, target);
        }
        if let Some((_, series)) = self.series_at(now) {
            series.target(now, flow, target);
        }
    }

    fn decided(&mut self, now: Time, flow: usize, decision: &Decision, controller: &dyn Controller) {
        self.each(|window| window.decided(now, flow));
        if let Some((_, series)) = self.series_at(now) {
            let Decision { base, rate, why, .. } = *decision;
            series.decided(now, flow, (base, rate), DecisionReason::Decision(why), controller);
        }
    }

    fn allocated(&mut self, now: Time, flow: usize, rate: DataRate, controller: &dyn Controller) {
        if let Some((_, series)) = self.series_at(now) {
            series.decided(now, flow, (rate, rate), DecisionReason::Coupling, controller);
        }
    }

    fn stopped(&mut self, now: Time, flow: usize, by: &Breaker) {
        self.each(|window| window.stopped(now, flow, by));
    }

    fn signals(&mut self, now: Time, flow: usize, side: Side, values: &[f64]) {
        if let Some((bin, series)) = self.series_at(now) {
            series.signals(bin, flow, side, values);
        }
    }

    fn completed(&mut self, now: Time, flow: usize) {
        self.each(|window| window.completed(now, flow));
    }

    fn transferred(&mut self, now: Time, flow: usize, transfer: &TransferMeta) {
        self.each(|window| window.transferred(now, flow, transfer));
    }
}
