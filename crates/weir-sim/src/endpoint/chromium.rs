//! Hosts of a TCP flow by the simplified TCP of the WebRTC project's simulator of 2015 ([`crate::tcp`],
//! `chromium.rs`).

use weir_cc::SendTime;
use weir_net::Time;
use weir_units::DataSize;
use weir_world::tcp::TcpConfig;
use weir_world::{ConnectionKey, Monitor, Side, TransferMeta};

use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::tcp::{ChromiumSender, TcpSender, chromium};
use weir_world::host::{Clock, Life, SignalBuffer, packet_meta};

#[derive(Debug)]
pub(crate) struct ChromiumSource {
    life: Life,
    clock: Clock,
    config: TcpConfig,
    sender: ChromiumSender,
    size: Option<DataSize>,
    completed: bool,
    signals: SignalBuffer,
}

impl ChromiumSource {
    pub(crate) fn new(life: Life, clock: Clock, config: TcpConfig, size: Option<DataSize>) -> Self {
        let signals = SignalBuffer::new(Side::Sender, TcpSender::signals().len());
        Self {
            life,
            clock,
            config,
            sender: ChromiumSender::new(config, size),
            size,
            completed: false,
            signals,
        }
    }

    pub(crate) fn first_wake(&self) -> Time {
        self.life.start
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        self.sender.start();
        if now >= self.life.stop {
            self.sender.stop();
        }
        self.sender.on_timeout(local);
        self.drain(now, local, network)
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if let Body::Acknowledgement(_, ack) = &packet.body {
            let rtt = self.sender.on_ack(local, ack.cumulative, ack.stamps.sent(local));
            network.monitor.rtt(now, self.life.flow, rtt);
        }
        self.drain(now, local, network)
    }

    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) -> Time {
        while let Some(segment) = self.sender.poll_segment(local) {
            let wire_size = self.config.segment_size(&segment).bytes() as u32;
            let meta = packet_meta(now, wire_size, u32::from(segment.payload), false);
            network.send(
                now,
                self.life.flow,
                Side::Sender,
                meta,
                Body::Segment(ConnectionKey::default(), segment),
            );
        }
        if !self.completed && self.sender.is_complete() {
            self.completed = true;
            network.monitor.completed(now, self.life.flow);
            let transfer = TransferMeta { started: self.life.start, size: self.size.unwrap_or_default() };
            network.monitor.transferred(now, self.life.flow, &transfer);
        }
        self.signals.show(now, self.life.flow, &mut network.monitor, |out| self.sender.read_signals(out));
        let timer = self.sender.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        if now >= self.life.stop { timer } else { timer.min(self.life.stop) }
    }
}

#[derive(Debug)]
pub(crate) struct ChromiumSink {
    flow: usize,
    config: TcpConfig,
}

impl ChromiumSink {
    pub(crate) fn new(life: Life, config: TcpConfig) -> Self {
        Self { flow: life.flow, config }
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if let Body::Segment(key, segment) = &packet.body {
            let ack = chromium::acknowledge(segment);
            let wire_size = self.config.acknowledgement_size(&ack).bytes() as u32;
            let meta = packet_meta(now, wire_size, 0, true);
            network.send(now, self.flow, Side::Receiver, meta, Body::Acknowledgement(*key, ack));
        }
        Time::MAX
    }
}
