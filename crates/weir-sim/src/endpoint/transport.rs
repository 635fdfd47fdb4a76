//! Hosts of a TCP flow: the source, which sends data from its start to its stop, and the sink, which acknowledges.
//!
//! A coupled source exchanges messages with its coupler (draft-welzl-tcp-ccc-00, [`weir_cc::coupled::ctrl`]). It joins
//! the coupling when it is connected, and leaves when no data follows.

use weir_cc::coupled::sbd::SegmentStatistics;
use weir_cc::coupled::{CouplerAction, CouplingMessage, FlowParameters, Join, Windowed};
use weir_cc::window::WindowAlgorithm;
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_units::{DataRate, DataSize};
use weir_world::tcp::{Segment, TcpConfig};
use weir_world::{ConnectionKey, CoupledSpec, Monitor, Side, TransferMeta};

use super::connection::{ReceivingEnd, SendingEnd};
use crate::network::Network;
use crate::packet::{Body, SimPacket};
use crate::tcp::TcpSender;
use weir_world::host::{Clock, Life, Priorities, SignalBuffer};

/// The sending host of a TCP flow with one connection.
#[derive(Debug)]
pub(crate) struct TcpSource {
    life: Life,
    clock: Clock,
    connection: SendingEnd,
    started: bool,
    stopped: bool,
    completed: bool,
    /// Data to send, or `None` for data without end.
    size: Option<DataSize>,
    signals: SignalBuffer,
    /// Weights of the flow in its coupling, while it is coupled.
    coupled: Option<Priorities>,
}

impl TcpSource {
    /// A source of `size` bytes, or of data without end, under the congestion control `algorithm`.
    pub(crate) fn new(
        life: Life,
        clock: Clock,
        algorithm: Box<dyn WindowAlgorithm>,
        config: TcpConfig,
        size: Option<DataSize>,
        coupled: Option<CoupledSpec>,
    ) -> Self {
        let mut sender = TcpSender::new(config, algorithm, size);
        if let Some(coupled) = &coupled {
            sender.couple();
            if let Some(statistics) =
                coupled.statistics.and_then(|config| SegmentStatistics::new(*config).ok())
            {
                sender.measure_delays(statistics);
            }
        }
        let coupled = coupled.map(Priorities::new);
        let connection = SendingEnd { flow: life.flow, config, sender, key: ConnectionKey::default() };
        let signals = SignalBuffer::new(Side::Sender, TcpSender::signals().len());
        Self {
            life,
            clock,
            connection,
            started: false,
            stopped: false,
            completed: false,
            size,
            signals,
            coupled,
        }
    }

    /// Time of the first call of [`Self::wake`].
    pub(crate) fn first_wake(&self) -> Time {
        self.life.start
    }

    /// Starts, stops and serves the timers that are due at `now`. Returns the time of the next call.
    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if !self.started {
            self.started = true;
            self.connection.sender.start(local);
        }
        if now >= self.life.stop && !self.stopped {
            self.stopped = true;
            self.connection.sender.stop(local);
            self.leave_coupling(now, local, network);
        }
        if let Some(coupled) = &mut self.coupled {
            while let Some(priority) = coupled.next_due(now) {
                let parameters = FlowParameters { priority, ..flow_parameters(coupled) };
                self.connection.send_message(
                    now,
                    local,
                    &CouplingMessage::FlowParameters(parameters),
                    network,
                );
            }
        }
        self.connection.on_timer(now, local, network);
        self.drain(now, local, network)
    }

    /// Applies an action of the flow's coupler.
    pub(crate) fn apply<M: Monitor>(&mut self, now: Time, action: &CouplerAction, network: &mut Network<M>) {
        let local = SendTime::from_nanos(self.clock.read(now));
        self.connection.apply(now, local, action, network);
    }

    /// Joins the coupling when the connection is established.
    fn join_coupling<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) {
        let Some(coupled) = &self.coupled else { return };
        let (sender, config) = (&self.connection.sender, &self.connection.config);
        let segment = DataSize::from_bytes(u64::from(config.mss));
        let window = sender.window();
        let rate = sender.last_rtt().filter(|rtt| rtt.nanos() > 0).map_or(DataRate::ZERO, |rtt| {
            DataRate::from_bps_f64(window.cwnd * segment.bits_f64() / rtt.secs_f64())
        });
        let windowed = Windowed { window, segment, base_rtt: sender.last_rtt() };
        let join =
            Join { parameters: flow_parameters(coupled), start: rate, present: rate, window: Some(windowed) };
        self.connection.send_message(now, local, &CouplingMessage::Join(join), network);
    }

    /// Leaves the coupling when no new data follows.
    fn leave_coupling<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) {
        if self.coupled.take().is_some() {
            self.connection.send_message(now, local, &CouplingMessage::Leave, network);
            self.connection.sender.uncouple(local);
        }
    }

    /// Takes an arrived packet. Returns the time of the next call of [`Self::wake`].
    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        let local = SendTime::from_nanos(self.clock.read(now));
        if let Body::Acknowledgement(_, ack) = &packet.body
            && self.connection.on_ack(now, local, ack, network)
        {
            self.join_coupling(now, local, network);
        }
        if !self.completed && self.connection.sender.is_complete() {
            self.completed = true;
            network.monitor.completed(now, self.life.flow);
            let transfer = TransferMeta { started: self.life.start, size: self.size.unwrap_or_default() };
            network.monitor.transferred(now, self.life.flow, &transfer);
            self.leave_coupling(now, local, network);
        }
        self.drain(now, local, network)
    }

    /// Sends all segments that may leave. Returns the time of the next call of [`Self::wake`].
    fn drain<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) -> Time {
        let timer = self.connection.flush(now, local, network);
        let sender = &self.connection.sender;
        self.signals.show(now, self.life.flow, &mut network.monitor, |out| sender.read_signals(out));
        let timer = timer.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now));
        let priority_change = self.coupled.as_ref().map_or(Time::MAX, Priorities::next_change);
        let timer = timer.min(priority_change);
        if self.stopped { timer } else { timer.min(self.life.stop) }
    }
}

/// Parameters of a TCP flow for its coupler; the desired rate is unbounded.
fn flow_parameters(priorities: &Priorities) -> FlowParameters {
    FlowParameters { priority: priorities.present(), desired: None, least: MIN_COUPLED_RATE }
}

/// Least rate of a TCP flow in a coupling, somewhat below two segments in the longest usual round trip.
const MIN_COUPLED_RATE: DataRate = DataRate::from_kbps(10);

/// The receiving host of a TCP flow, which has one connection or several in succession.
#[derive(Debug)]
pub(crate) struct TcpSink {
    clock: Clock,
    connection: ReceivingEnd,
}

impl TcpSink {
    pub(crate) fn new(life: Life, clock: Clock, config: TcpConfig) -> Self {
        Self { clock, connection: ReceivingEnd::new(life.flow, config) }
    }

    /// The sink with acknowledgements that report the delays of all segments.
    pub(crate) fn with_delay_reports(mut self) -> Self {
        self.connection.receiver.report_delays();
        self
    }

    /// Takes an arrived packet. Returns the time of the next call of [`Self::wake`].
    pub(crate) fn deliver<M: Monitor>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        network: &mut Network<M>,
    ) -> Time {
        if let Body::Segment(key, segment) = &packet.body {
            let local = ArrivalTime::from_nanos(self.clock.read(now));
            self.connection.on_segment(local, *key, segment);
        }
        self.wake(now, network)
    }

    /// Whether a segment of the connection `key` has arrived before.
    pub(crate) fn has_received(&self, key: ConnectionKey, segment: &Segment) -> bool {
        self.connection.has_received(key, segment)
    }

    /// Sends the acknowledgements that are due at `now`. Returns the time of the next call.
    pub(crate) fn wake<M: Monitor>(&mut self, now: Time, network: &mut Network<M>) -> Time {
        let local = ArrivalTime::from_nanos(self.clock.read(now));
        let due = self.connection.flush(now, local, network);
        due.map_or(Time::MAX, |due| self.clock.when(due.nanos(), now))
    }
}
