//! A monitor that captures packets beside another one.

use std::io::{self, Write};

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage, Refusal};
use weir_cc::{Controller, Decision, Ecn, Target};
use weir_media::MediaPacket;
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};
use weir_wire::media::MediaHeader;
use weir_world::{Breaker, FrameMeta, Loss, Monitor, PacketMeta, Side, TransferMeta, WirePacket};

use super::PacketCapture;

/// `M`, and a capture of packets.
#[derive(Debug)]
pub struct Captured<M, W> {
    monitor: M,
    capture: PacketCapture<W>,
}

impl<M: Monitor, W: Write> Captured<M, W> {
    /// A monitor together with a capture.
    pub fn new(monitor: M, capture: PacketCapture<W>) -> Self {
        Self { monitor, capture }
    }

    /// The wrapped monitor, and the output of the capture.
    ///
    /// # Errors
    /// The first error of the capture.
    pub fn finish(self) -> io::Result<(M, W)> {
        Ok((self.monitor, self.capture.finish()?))
    }
}

impl<M: Monitor, W: Write> Monitor for Captured<M, W> {
    fn wants_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, now: Time, link: usize, packet: &WirePacket<'_>) {
        self.capture.packet(now, link, packet);
        self.monitor.packet(now, link, packet);
    }

    fn wants_rtp(&self) -> bool {
        self.monitor.wants_rtp()
    }

    fn rtp_sent(&mut self, now: Time, flow: usize, packet: &MediaPacket) {
        self.monitor.rtp_sent(now, flow, packet);
    }

    fn rtp_arrived(&mut self, now: Time, flow: usize, header: &MediaHeader, ecn: Ecn) {
        self.monitor.rtp_arrived(now, flow, header, ecn);
    }

    fn rtcp_arrived(&mut self, now: Time, flow: usize, at: Side, bytes: &[u8]) {
        self.monitor.rtcp_arrived(now, flow, at, bytes);
    }

    fn wants_signals(&self) -> bool {
        self.monitor.wants_signals()
    }

    fn wants_queues(&self) -> bool {
        self.monitor.wants_queues()
    }

    fn link_enter(&mut self, now: Time, link: usize, found: u32, taken: bool) {
        self.monitor.link_enter(now, link, found, taken);
    }

    fn sent(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        self.monitor.sent(now, flow, packet);
    }

    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        self.monitor.delivered(now, flow, packet);
    }

    fn dropped(&mut self, now: Time, flow: usize, link: usize, packet: &PacketMeta, loss: Loss) {
        self.monitor.dropped(now, flow, link, packet, loss);
    }

    fn link_exit(&mut self, now: Time, link: usize, wire_size: u32, wait: TimeDelta) {
        self.monitor.link_exit(now, link, wire_size, wait);
    }

    fn frame(&mut self, now: Time, flow: usize, frame: &FrameMeta) {
        self.monitor.frame(now, flow, frame);
    }

    fn rtt(&mut self, now: Time, flow: usize, rtt: TimeDelta) {
        self.monitor.rtt(now, flow, rtt);
    }

    fn target(&mut self, now: Time, flow: usize, target: &Target) {
        self.monitor.target(now, flow, target);
    }

    fn stopped(&mut self, now: Time, flow: usize, by: &Breaker) {
        self.monitor.stopped(now, flow, by);
    }

    fn decided(&mut self, now: Time, flow: usize, decision: &Decision, controller: &dyn Controller) {
        self.monitor.decided(now, flow, decision, controller);
    }

    fn allocated(&mut self, now: Time, flow: usize, rate: DataRate, controller: &dyn Controller) {
        self.monitor.allocated(now, flow, rate, controller);
    }

    fn signals(&mut self, now: Time, flow: usize, side: Side, values: &[f64]) {
        self.monitor.signals(now, flow, side, values);
    }

    fn coupling_message(&mut self, now: Time, flow: usize, word: &CouplingMessage, refused: Option<Refusal>) {
        self.monitor.coupling_message(now, flow, word, refused);
    }

    fn coupler_action(
        &mut self,
        now: Time,
        flow: usize,
        order: &CouplerAction,
        aggregate: Option<Aggregate>,
    ) {
        self.monitor.coupler_action(now, flow, order, aggregate);
    }

    fn completed(&mut self, now: Time, flow: usize) {
        self.monitor.completed(now, flow);
    }

    fn transferred(&mut self, now: Time, flow: usize, transfer: &TransferMeta) {
        self.monitor.transferred(now, flow, transfer);
    }
}
