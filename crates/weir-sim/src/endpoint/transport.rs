//! Hosts of a TCP flow.

use weir_cc::window::WindowLaw;
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_units::DataSize;
use weir_world::tcp::TcpConfig;
use weir_world::{Monitor, Side, TransferMeta, Way};

use super::connection::{ReceivingEnd, SendingEnd};
use super::{Life, SignalBuffer};
use crate::clock::Clock;
use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::tcp::TcpSender;

#[derive(Debug)]
pub(crate) struct TcpSource {
    life: Life,
    clock: Clock,
    connection: SendingEnd,
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
        let connection = SendingEnd { flow: life.flow, config, sender, way: Way::default() };
        let signals = SignalBuffer::new(Side::Sender, TcpSender::signals().len());
        Self { life, clock, connection, started: false, stopped: false, completed: false, size, signals }
    }

    pub(crate) fn first_wake(&self) -> Time {
        self.life.start
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if !self.started {
            self.started = true;
            self.connection.sender.start(local);
        }
        if now >= self.life.stop && !self.stopped {
            self.stopped = true;
            self.connection.sender.stop(local);
        }
        self.connection.on_timer(local);
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
            self.connection.on_ack(now, local, ack, network);
        }
        if !self.completed && self.connection.sender.is_complete() {
            self.completed = true;
            network.monitor.completed(now, self.life.flow);
            let transfer = TransferMeta { started: self.life.start, size: self.size.unwrap_or_default() };
            network.monitor.transferred(now, self.life.flow, &transfer);
        }
        self.drain(now, local, network)
    }

    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) -> Time {
        let timer = self.connection.flush(now, local, network);
        let sender = &self.connection.sender;
        self.signals.show(now, self.life.flow, network, |out| sender.read_signals(out));
        let timer = timer.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        if self.stopped { timer } else { timer.min(self.life.stop) }
    }
}

/// The receiving host, of a flow of one connection or of several, one after the other.
#[derive(Debug)]
pub(crate) struct TcpSink {
    clock: Clock,
    connection: ReceivingEnd,
}

impl TcpSink {
    pub(crate) fn new(life: Life, clock: Clock, config: TcpConfig) -> Self {
        Self { clock, connection: ReceivingEnd::new(life.flow, config) }
    }

    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if let Body::Segment(way, segment) = &packet.body {
            let local = ArrivalTime::from_nanos(self.clock.read(now));
            self.connection.on_segment(local, *way, segment);
        }
        self.wake(now, network)
    }

    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        let due = self.connection.flush(now, local, network);
        due.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now))
    }
}
