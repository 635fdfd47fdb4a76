//! The two ends of a TCP connection, between a host and the network.

use core::cmp::Ordering;

use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_world::tcp::{Acknowledgement, Segment, TcpConfig};
use weir_world::{Monitor, Side, Way};

use crate::network::Network;
use crate::packet::{Body, meta};
use crate::tcp::{TcpReceiver, TcpSender};

/// The end that sends data.
#[derive(Debug)]
pub(crate) struct SendingEnd {
    pub(crate) flow: usize,
    pub(crate) config: TcpConfig,
    pub(crate) sender: TcpSender,
    pub(crate) way: Way,
}

impl SendingEnd {
    /// Takes an acknowledgement. Returns whether it completes the handshake of a coupled sender.
    pub(crate) fn on_ack<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        ack: &Acknowledgement,
        network: &mut Network<M>,
    ) -> bool {
        let heard = self.sender.on_ack_coupled(local, ack);
        if let Some(rtt) = heard.rtt {
            network.monitor.rtt(now, self.flow, rtt);
        }
        for word in [&heard.loss, &heard.news].into_iter().flatten() {
            self.say(now, local, word, network);
        }
        if let Some(statistics) = self.sender.poll_statistics() {
            self.say(now, local, &CouplingMessage::Statistics(statistics), network);
        }
        heard.connected
    }

    /// Serves the retransmission timer if it is due.
    pub(crate) fn on_timer<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) {
        if self.sender.next_timeout().is_some_and(|due| due <= local)
            && let Some(word) = self.sender.on_timeout_coupled(local)
        {
            self.say(now, local, &word, network);
        }
    }

    /// Applies an action of the coupler.
    pub(crate) fn apply<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        order: &CouplerAction,
        network: &mut Network<M>,
    ) {
        if let Some(word) = self.sender.apply(local, order) {
            self.say(now, local, &word, network);
        }
    }

    /// Sends a message to the coupler, and applies the actions that it answers with at once.
    pub(crate) fn say<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        word: &CouplingMessage,
        network: &mut Network<M>,
    ) {
        let mut next = self.hear_out(now, local, word, network);
        while let Some(word) = next {
            next = self.hear_out(now, local, &word, network);
        }
    }

    /// Sends a message to the coupler and applies all actions of its answer; returns the message that follows from
    /// those. A window is reduced once at most.
    fn hear_out<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        word: &CouplingMessage,
        network: &mut Network<M>,
    ) -> Option<CouplingMessage> {
        network.tell(now, self.flow, word);
        let mut next = None;
        while let Some(order) = network.answer(now, self.flow) {
            if let Some(word) = self.sender.apply(local, &order) {
                next = Some(word);
            }
        }
        next
    }

    /// Sends all segments that may leave, and returns the time of the next timer.
    pub(crate) fn flush<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        network: &mut Network<M>,
    ) -> Option<SendTime> {
        while let Some(segment) = self.sender.poll_segment(local) {
            let wire_size = self.config.segment_size(&segment).bytes() as u32;
            let meta = meta(now, wire_size, u32::from(segment.payload), segment.syn);
            network.send(now, self.flow, Side::Sender, meta, Body::Segment(self.way, segment));
        }
        self.sender.next_timeout()
    }
}

/// The end that acknowledges.
#[derive(Debug)]
pub(crate) struct ReceivingEnd {
    pub(crate) flow: usize,
    pub(crate) config: TcpConfig,
    pub(crate) receiver: TcpReceiver,
    pub(crate) way: Way,
}

impl ReceivingEnd {
    pub(crate) fn new(flow: usize, config: TcpConfig) -> Self {
        Self { flow, config, receiver: TcpReceiver::new(config), way: Way::default() }
    }

    /// Takes a segment. The first segment of a later connection ends the one before; segments of earlier connections
    /// are ignored.
    pub(crate) fn on_segment(&mut self, local: ArrivalTime, way: Way, segment: &Segment) {
        if way.connection > self.way.connection {
            self.way = way;
            self.receiver.reset();
        }
        if way == self.way {
            self.receiver.on_segment(local, segment);
        }
    }

    /// Whether a segment of the connection `way` has arrived before. All segments of earlier connections count as
    /// arrived.
    pub(crate) fn has(&self, way: Way, segment: &Segment) -> bool {
        match way.connection.cmp(&self.way.connection) {
            Ordering::Less => true,
            Ordering::Equal => self.receiver.has(segment.number),
            Ordering::Greater => false,
        }
    }

    /// Sends the acknowledgements that are due, and returns the time of the next one.
    pub(crate) fn flush<M: Monitor>(
        &mut self,
        now: Time,
        local: ArrivalTime,
        network: &mut Network<M>,
    ) -> Option<ArrivalTime> {
        while let Some(ack) = self.receiver.poll_ack(local) {
            let meta = meta(now, self.config.acknowledgement_size(&ack).bytes() as u32, 0, true);
            network.send(now, self.flow, Side::Receiver, meta, Body::Acknowledgement(self.way, ack));
        }
        self.receiver.next_timeout()
    }
}
