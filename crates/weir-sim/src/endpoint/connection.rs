//! The two ends of a TCP connection, between a host and the network.

use core::cmp::Ordering;

use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_cc::{ArrivalTime, SendTime};
use weir_net::Time;
use weir_world::host::{World, packet_meta};
use weir_world::tcp::{Acknowledgement, Segment, TcpConfig};
use weir_world::{ConnectionKey, Monitor, Side};

use crate::network::Network;
use crate::packet::Body;
use crate::tcp::{TcpReceiver, TcpSender};

/// The end of a TCP connection that sends data.
#[derive(Debug)]
pub(crate) struct SendingEnd {
    pub(crate) flow: usize,
    pub(crate) config: TcpConfig,
    pub(crate) sender: TcpSender,
    pub(crate) key: ConnectionKey,
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
        let result = self.sender.on_ack_coupled(local, ack);
        if let Some(rtt) = result.rtt {
            network.monitor.rtt(now, self.flow, rtt);
        }
        for message in [&result.loss, &result.message].into_iter().flatten() {
            self.send_message(now, local, message, network);
        }
        if let Some(statistics) = self.sender.poll_statistics() {
            self.send_message(now, local, &CouplingMessage::Statistics(statistics), network);
        }
        result.connected
    }

    /// Serves the retransmission timer if it is due.
    pub(crate) fn on_timer<M: Monitor>(&mut self, now: Time, local: SendTime, network: &mut Network<M>) {
        if self.sender.next_timeout().is_some_and(|due| due <= local)
            && let Some(message) = self.sender.on_timeout_coupled(local)
        {
            self.send_message(now, local, &message, network);
        }
    }

    /// Applies an action of the coupler.
    pub(crate) fn apply<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        action: &CouplerAction,
        network: &mut Network<M>,
    ) {
        if let Some(message) = self.sender.apply(local, action) {
            self.send_message(now, local, &message, network);
        }
    }

    /// Sends a message to the coupler and applies the actions of its immediate answer.
    pub(crate) fn send_message<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        message: &CouplingMessage,
        network: &mut Network<M>,
    ) {
        let mut next = self.exchange(now, local, message, network);
        while let Some(message) = next {
            next = self.exchange(now, local, &message, network);
        }
    }

    /// Sends a message to the coupler and applies all actions of its answer. Returns the message that follows from
    /// those actions. A window is reduced at most once.
    fn exchange<M: Monitor>(
        &mut self,
        now: Time,
        local: SendTime,
        message: &CouplingMessage,
        network: &mut Network<M>,
    ) -> Option<CouplingMessage> {
        network.send_message(now, self.flow, message);
        let mut next = None;
        while let Some(action) = network.poll_action(now, self.flow) {
            if let Some(message) = self.sender.apply(local, &action) {
                next = Some(message);
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
            let meta = packet_meta(now, wire_size, u32::from(segment.payload), segment.syn);
            network.send(now, self.flow, Side::Sender, meta, Body::Segment(self.key, segment));
        }
        self.sender.next_timeout()
    }
}

/// The end of a TCP connection that acknowledges data.
#[derive(Debug)]
pub(crate) struct ReceivingEnd {
    pub(crate) flow: usize,
    pub(crate) config: TcpConfig,
    pub(crate) receiver: TcpReceiver,
    pub(crate) key: ConnectionKey,
}

impl ReceivingEnd {
    pub(crate) fn new(flow: usize, config: TcpConfig) -> Self {
        Self { flow, config, receiver: TcpReceiver::new(config), key: ConnectionKey::default() }
    }

    /// Takes a segment. The first segment of a later connection replaces the previous connection. Segments of earlier
    /// connections are ignored.
    pub(crate) fn on_segment(&mut self, local: ArrivalTime, key: ConnectionKey, segment: &Segment) {
        if key.connection > self.key.connection {
            self.key = key;
            self.receiver.reset();
        }
        if key == self.key {
            self.receiver.on_segment(local, segment);
        }
    }

    /// Whether a segment of the connection `key` has arrived before. All segments of earlier connections count as
    /// arrived.
    pub(crate) fn has_received(&self, key: ConnectionKey, segment: &Segment) -> bool {
        match key.connection.cmp(&self.key.connection) {
            Ordering::Less => true,
            Ordering::Equal => self.receiver.has_received(segment.number),
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
            let meta = packet_meta(now, self.config.acknowledgement_size(&ack).bytes() as u32, 0, true);
            network.send(now, self.flow, Side::Receiver, meta, Body::Acknowledgement(self.key, ack));
        }
        self.receiver.next_timeout()
    }
}
