//! Measurements from feedback that both versions share: bytes in flight, arrivals, and their marks.

use super::in_flight::InFlight;
use super::scaled;
use crate::packet::{Ecn, PacketFate, PacketResult, SentPacket};
use crate::parts::allocation_history::AllocationHistory;
use crate::time::{ArrivalTime, SendTime};

/// Packets and bytes of one feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Bytes from the highest acknowledged packet before to the present one, lost packets included, or `None` if
    /// the feedback brought no higher one.
    pub(super) bytes: Option<u64>,
    /// Payload bytes that arrived.
    pub(super) received: u64,
    /// Bytes that arrived with a CE mark.
    pub(super) marked_bytes: u64,
    /// Number of packets that arrived.
    pub(super) arrived: u32,
    /// Number of packets that arrived with a CE mark.
    pub(super) marked: u32,
    /// Departure and arrival of the highest acknowledged packet whose time the report has, if the feedback brought a higher one.
    pub(super) newest: Option<(SendTime, ArrivalTime)>,
}

/// Bytes in flight, and the kind of the path's marks.
#[derive(Debug)]
pub(super) struct Network {
    in_flight: InFlight,
    /// Whether unmarked packets come as ECT(1), so that marks are those of L4S; `None` before the first one.
    l4s: Option<bool>,
    rescaling: AllocationHistory,
}

impl Network {
    pub(super) fn new() -> Self {
        Self { in_flight: InFlight::new(), l4s: None, rescaling: AllocationHistory::NONE }
    }

    /// Scales the bytes sent so far by `factor` for coupling.
    pub(super) fn scale(&mut self, now: SendTime, factor: f64) {
        self.in_flight.scale(factor);
        self.rescaling.on_allocation(now, factor);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight.on_sent(packet.id, packet.size.bytes());
    }

    /// Takes in packet results, and computes `bytes_newly_acked` and `bytes_in_flight` (RFC 8298 §4.1.2).
    pub(super) fn on_feedback(&mut self, now: SendTime, results: &[PacketResult]) -> Acknowledged {
        let mut acked = Acknowledged::default();
        for PacketResult { sent, fate } in results {
            if let PacketFate::Arrived { at, ecn } | PacketFate::Recovered { at, ecn } = *fate {
                self.arrive(now, &mut acked, sent, ecn);
                if let Some(bytes) = self.in_flight.acknowledge(sent.id) {
                    acked.bytes = Some(acked.bytes.unwrap_or(0).saturating_add(bytes));
                    acked.newest = at.map(|at| (sent.at, at)).or(acked.newest);
                }
            }
        }
        acked
    }

    fn arrive(&mut self, now: SendTime, acked: &mut Acknowledged, sent: &SentPacket, ecn: Ecn) {
        let factor = self.rescaling.since(sent.at, now);
        acked.received = acked.received.saturating_add(scaled(sent.payload.bytes(), factor));
        acked.arrived += 1;
        match ecn {
            Ecn::Ce => {
                acked.marked += 1;
                acked.marked_bytes = acked.marked_bytes.saturating_add(scaled(sent.size.bytes(), factor));
            }
            Ecn::Ect0 => self.l4s = Some(false),
            Ecn::Ect1 => self.l4s = Some(true),
            Ecn::NotEct => {}
        }
    }

    /// `bytes_in_flight`.
    pub(super) fn bytes_in_flight(&self) -> u64 {
        self.in_flight.bytes()
    }

    /// Whether a CE mark is one of L4S. Before packets without a mark have come, marks are classic.
    pub(super) fn is_l4s(&self) -> bool {
        self.l4s == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scream::fixture::{arrived, missing, ms, recovered, ten_sent};

    const SIZE: u64 = 1012;
    const PAYLOAD: u64 = 1000;

    /// A network with the ten packets of the fixture in flight.
    fn network() -> Network {
        let mut network = Network::new();
        for sent in &ten_sent() {
            network.on_sent(sent);
        }
        network
    }

    #[test]
    fn feedback_acknowledges_up_to_the_highest_packet_that_arrived() {
        let mut network = network();
        let results = [arrived(1, Ecn::Ect1), missing(2), arrived(3, Ecn::Ce), arrived(4, Ecn::Ect1)];
        let acked = network.on_feedback(ms(130), &results);
        let newest = Some((ms(40), ArrivalTime::from_millis(3_600_080)));
        let expected = Acknowledged {
            bytes: Some(4 * SIZE),
            received: 3 * PAYLOAD,
            marked_bytes: SIZE,
            arrived: 3,
            marked: 1,
            newest,
        };
        assert_eq!(acked, expected);
        assert_eq!(network.bytes_in_flight(), 6 * SIZE);
        assert!(network.is_l4s());
    }

    #[test]
    fn an_arrival_without_a_time_is_acknowledged_with_its_mark() {
        let mut network = network();
        let untimed = |result: PacketResult, ecn| PacketResult {
            fate: PacketFate::Arrived { at: None, ecn },
            ..result
        };
        let results = [arrived(1, Ecn::Ect1), untimed(missing(2), Ecn::Ce), untimed(missing(3), Ecn::Ect1)];
        let acked = network.on_feedback(ms(130), &results);
        assert_eq!((acked.bytes, acked.arrived, acked.marked), (Some(3 * SIZE), 3, 1));
        assert_eq!(acked.newest, Some((ms(10), ArrivalTime::from_millis(3_600_050))));
    }

    #[test]
    fn a_late_packet_arrives_and_acknowledges_nothing() {
        let mut network = network();
        network.on_feedback(ms(130), &[missing(3), arrived(5, Ecn::NotEct)]);
        let acked = network.on_feedback(ms(140), &[recovered(3, 500, Ecn::Ce)]);
        assert_eq!((acked.bytes, acked.newest, acked.received, acked.marked), (None, None, PAYLOAD, 1));
        assert_eq!(network.bytes_in_flight(), 5 * SIZE);
    }
}
