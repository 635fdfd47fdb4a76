//! Hosts of a media flow: they drive the two ends that weir-media offers.

use weir_cc::{ArrivalTime, Controller, Receiver, SendTime};
use weir_media::{MediaConfig, MediaPacket, MediaReceiver, MediaSender, SenderSeeds, Session};
use weir_net::Time;
use weir_world::{FrameMeta, Monitor, PacketMeta, Side};

use super::pauses::{Pauses, Turn};
use super::{Life, SignalBuffer};
use crate::clock::Clock;
use crate::network::{Network, UDP_OVERHEAD, meta};
use crate::packet::{Body, SimPacket};

/// RTP source identifiers of the two ends of flow `flow`.
const fn ssrc(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + 1 + side as u32
}

#[derive(Debug)]
pub(crate) struct MediaSource {
    life: Life,
    clock: Clock,
    /// A session of one flow.
    session: Session,
    ecn: weir_cc::Ecn,
    started: bool,
    pauses: Pauses,
    signals: SignalBuffer,
}

impl MediaSource {
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        controller: Box<dyn Controller>,
        config: MediaConfig,
        seeds: SenderSeeds,
        pauses: Vec<(Time, Time)>,
    ) -> Self {
        let signals = SignalBuffer::new(Side::Sender, controller.signals().len());
        let sender = MediaSender::new(controller, config, ssrc(life.flow, Side::Sender), seeds);
        let session = Session::new(vec![sender]);
        Self { life, clock, session, ecn: config.ecn, started: false, pauses: Pauses::new(pauses), signals }
    }

    pub(crate) fn first_wake(&self) -> Time {
        self.life.start
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        if now >= self.life.stop {
            self.session.stop();
            return Time::MAX;
        }
        let local = SendTime::from_nanos(self.clock.read(now));
        if !self.started {
            self.started = true;
            self.session.start(local);
        }
        let mut decided = false;
        while let Some(turn) = self.pauses.turn(now) {
            match turn {
                Turn::Pause => self.session.pause(local),
                Turn::Resume => self.session.resume(local),
            }
            decided = true;
        }
        self.session.on_timeout(local, |_, _| decided = true);
        self.drain(now, local, decided, network)
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let Body::Rtcp { slot } = packet.body else { return self.next_wake(now) };
        let local = SendTime::from_nanos(self.clock.read(now));
        let (flow, monitor) = (self.life.flow, &mut network.monitor);
        self.session.on_rtcp(local, network.rtcp.bytes(slot), |_, rtt| monitor.rtt(now, flow, rtt));
        network.rtcp.release(slot);
        self.drain(now, local, true, network)
    }

    /// Lets everything out that is due, and tells the monitor what changed.
    fn drain<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        heard: bool,
        network: &mut Network<M>,
    ) -> Time {
        let flow = self.life.flow;
        while let Some((_, frame)) = self.session.poll_frame(local) {
            let meta = FrameMeta {
                number: frame.number,
                packets: frame.packets,
                bytes: frame.size.bytes() as u32,
                key: frame.key,
            };
            network.monitor.frame(now, flow, &meta);
        }
        while let Some((_, packet)) = self.session.poll_packet(local) {
            self.send(now, &packet, network);
        }
        while let Some((slot, len)) = network.rtcp.store(|out| self.session.poll_rtcp(local, out)) {
            network.send(
                now,
                flow,
                Side::Sender,
                meta(now, len as u32 + UDP_OVERHEAD, 0, true),
                Body::Rtcp { slot },
            );
        }
        for (_, sender) in self.session.take_target_changes() {
            network.monitor.target(now, flow, sender.target());
        }
        if heard && let [sender] = self.session.flows() {
            self.signals.show(now, flow, network, |out| sender.controller().read_signals(out));
        }
        self.next_wake(now)
    }

    fn send<M: Monitor>(&self, now: Time, packet: &MediaPacket, network: &mut Network<M>) {
        let payload = u32::from(packet.payload);
        let wire_size = payload + packet.header.wire_len() as u32 + UDP_OVERHEAD;
        let meta = match packet.frame {
            Some(frame) => PacketMeta { frame, ..meta(now, wire_size, payload, false) },
            None if packet.audio => meta(now, wire_size, payload, false),
            None => meta(now, wire_size, 0, false),
        };
        let body = Body::Media { header: packet.header, payload: packet.payload, ecn: self.ecn };
        network.send(now, self.life.flow, Side::Sender, meta, body);
    }

    fn next_wake(&self, now: Time) -> Time {
        if now >= self.life.stop {
            return Time::MAX;
        }
        let due = self.session.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        due.min(self.life.stop).min(self.pauses.next_edge())
    }
}

#[derive(Debug)]
pub(crate) struct MediaSink {
    life: Life,
    clock: Clock,
    receiver: MediaReceiver,
    signals: SignalBuffer,
}

impl MediaSink {
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        receiver: Box<dyn Receiver>,
        config: MediaConfig,
        rtcp: u64,
    ) -> Self {
        let signals = SignalBuffer::new(Side::Receiver, receiver.signals().len());
        let (own, source) = (ssrc(life.flow, Side::Receiver), ssrc(life.flow, Side::Sender));
        Self { life, clock, receiver: MediaReceiver::new(receiver, config, own, source, rtcp), signals }
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        match packet.body {
            Body::Media { header, payload, ecn } => self.receiver.on_packet(local, &header, payload, ecn),
            Body::Rtcp { slot } => {
                self.receiver.on_rtcp(local, network.rtcp.bytes(slot));
                network.rtcp.release(slot);
            }
            _ => {}
        }
        self.signals.show(now, self.life.flow, network, |out| self.receiver.receiver().read_signals(out));
        self.wake(now, network)
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        if now >= self.life.stop {
            return Time::MAX;
        }
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        while let Some((slot, len)) = network.rtcp.store(|out| self.receiver.poll_rtcp(local, out)) {
            let meta = meta(now, len as u32 + UDP_OVERHEAD, 0, true);
            network.send(now, self.life.flow, Side::Receiver, meta, Body::Rtcp { slot });
        }
        self.receiver.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now))
    }
}
