//! Hosts of a TCP flow.

use weir_cc::window::WindowLaw;
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_units::DataSize;
use weir_world::tcp::TcpConfig;
use weir_world::{Monitor, Side, TransferMeta};

use super::{Life, SignalBuffer};
use crate::clock::Clock;
use crate::network::{Network, meta};
use crate::packet::{Body, SimPacket};
use crate::tcp::{TcpReceiver, TcpSender};

#[derive(Debug)]
pub(crate) struct TcpSource {
    life: Life,
    clock: Clock,
    config: TcpConfig,
    sender: TcpSender,
    started: bool,
    stopped: bool,
    completed: bool,
    size: Option<DataSize>,
    signals: SignalBuffer,
}

impl TcpSource {
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        law: Box<dyn WindowLaw>,
        config: TcpConfig,
        size: Option<DataSize>,
    ) -> Self {
        let sender = TcpSender::new(config, law, size);
        let signals = SignalBuffer::new(Side::Sender, TcpSender::signals().len());
        Self { life, clock, config, sender, started: false, stopped: false, completed: false, size, signals }
    }

    pub(crate) fn first_wake(&self) -> Time {
        self.life.start
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if !self.started {
            self.started = true;
            self.sender.start(local);
        }
        if now >= self.life.stop && !self.stopped {
            self.stopped = true;
            self.sender.stop(local);
        }
        if self.sender.next_timeout().is_some_and(|due| due <= local) {
            self.sender.on_timeout(local);
        }
        self.drain(now, local, network)
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if let Body::Acknowledgement(ack) = &packet.body
            && let Some(rtt) = self.sender.on_ack(local, ack)
        {
            network.monitor.rtt(now, self.life.flow, rtt);
        }
        if !self.completed && self.sender.is_complete() {
            self.completed = true;
            network.monitor.completed(now, self.life.flow);
            let transfer = TransferMeta { started: self.life.start, size: self.size.unwrap_or_default() };
            network.monitor.transferred(now, self.life.flow, &transfer);
        }
        self.drain(now, local, network)
    }

    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) -> Time {
        while let Some(segment) = self.sender.poll_segment(local) {
            let wire_size = self.config.segment_size(&segment).bytes() as u32;
            let meta = meta(now, wire_size, u32::from(segment.payload), segment.syn);
            network.send(now, self.life.flow, Side::Sender, meta, Body::Segment(segment));
        }
        self.signals.show(now, self.life.flow, network, |out| self.sender.read_signals(out));
        let timer = self.sender.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        if self.stopped { timer } else { timer.min(self.life.stop) }
    }
}

#[derive(Debug)]
pub(crate) struct TcpSink {
    life: Life,
    clock: Clock,
    config: TcpConfig,
    receiver: TcpReceiver,
}

impl TcpSink {
    pub(crate) fn new(life: Life, clock: Clock, config: TcpConfig) -> Self {
        Self { life, clock, config, receiver: TcpReceiver::new(config) }
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if let Body::Segment(segment) = &packet.body {
            let local = ArrivalTime::from_nanos(self.clock.read(now));
            self.receiver.on_segment(local, segment);
        }
        self.wake(now, network)
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        while let Some(ack) = self.receiver.poll_ack(local) {
            let wire_size = self.config.acknowledgement_size(&ack).bytes() as u32;
            let body = Body::Acknowledgement(ack);
            network.send(now, self.life.flow, Side::Receiver, meta(now, wire_size, 0, true), body);
        }
        self.receiver.next_timeout().map_or(Time::MAX, |due| self.clock.when(due.nanos(), now))
    }
}
