//! Measurements of the path by RFC 8298: round-trip time, queue delay, losses and marks.

use weir_units::TimeDelta;

use crate::packet::{PacketFate, PacketResult, SentPacket};
use crate::scream::delay::{QueueDelay, SmoothedRtt};
use crate::scream::loss::LossDetector;
use crate::scream::network::{Acknowledged, Network};
use crate::time::{ApparentDelay, SendTime};

/// Upper bound of the reordering window before a round-trip time is known.
const FIRST_BOUND: TimeDelta = TimeDelta::from_millis(100);

/// The changes that one feedback brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AckOutcome {
    pub(super) acked: Acknowledged,
    /// Whether packets are declared lost.
    pub(super) lost: bool,
}

/// Measurements of the path.
#[derive(Debug)]
pub(super) struct Path {
    network: Network,
    rtt: SmoothedRtt,
    delay: QueueDelay,
    losses: LossDetector,
}

impl Path {
    pub(super) fn new() -> Self {
        Self {
            network: Network::new(),
            rtt: SmoothedRtt::default(),
            delay: QueueDelay::default(),
            losses: LossDetector::new(),
        }
    }

    /// Scales the flow by `factor` for coupling.
    pub(super) fn scale(&mut self, now: SendTime, factor: f64) {
        self.network.scale(now, factor);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.network.on_sent(packet);
    }

    /// RFC 8298 §4.1.2, the steps up to the detection of losses and marks.
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        results: &[PacketResult],
        rtt: Option<TimeDelta>,
    ) -> AckOutcome {
        let mut lost = false;
        for PacketResult { sent, fate } in results {
            match fate {
                PacketFate::Arrived { .. } => {}
                PacketFate::Recovered { .. } => {
                    self.losses.on_recovered(now, sent.id, self.reordering_bound());
                }
                PacketFate::Missing => lost |= self.losses.on_missing(now, sent.id),
            }
        }
        let acked = self.network.on_feedback(now, results);
        if let Some((departure, arrival)) = acked.newest {
            self.rtt.on_sample(rtt.unwrap_or(now - departure));
            self.delay.on_packet(arrival, ApparentDelay::between(departure, arrival));
        }
        lost |= self.losses.declare(now, self.reordering_bound());
        AckOutcome { acked, lost }
    }

    /// The reordering window ends at a round-trip time, as RACK's does (RFC 8985 §6.2).
    fn reordering_bound(&self) -> TimeDelta {
        self.rtt().unwrap_or(FIRST_BOUND)
    }

    /// `bytes_in_flight`.
    pub(super) fn bytes_in_flight(&self) -> u64 {
        self.network.bytes_in_flight()
    }

    /// `s_rtt` in s.
    pub(super) fn s_rtt(&self) -> Option<f64> {
        self.rtt.get()
    }

    /// `s_rtt` as a time.
    pub(super) fn rtt(&self) -> Option<TimeDelta> {
        self.rtt.span()
    }

    /// The base delay begins anew with the next packet.
    pub(super) fn forget_base_delay(&mut self) {
        self.delay = QueueDelay::default();
    }

    /// `qdelay` in s.
    pub(super) fn qdelay(&self) -> f64 {
        self.delay.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::scream::fixture::{arrived, missing, ms, recovered, ten_sent};

    /// A path with the ten packets of the fixture in flight.
    fn path() -> Path {
        let mut path = Path::new();
        for sent in &ten_sent() {
            path.on_sent(sent);
        }
        path
    }

    #[test]
    fn a_congested_way_back_delays_feedback_and_is_no_queue() {
        let (mut early, mut late) = (path(), path());
        let results = [arrived(1, Ecn::NotEct), arrived(2, Ecn::NotEct)];
        let held = TimeDelta::from_millis(20);
        early.on_feedback(ms(100), &results, Some(ms(100) - ms(20) - held));
        late.on_feedback(ms(600), &results, Some(ms(600) - ms(20) - held));
        assert_eq!((early.qdelay(), late.qdelay()), (0.0, 0.0));
        assert_eq!((early.s_rtt(), late.s_rtt()), (Some(0.06), Some(0.56)));
    }

    #[test]
    fn without_a_time_of_receipt_the_round_trip_begins_when_the_newest_packet_left() {
        let mut path = path();
        let outcome =
            path.on_feedback(ms(130), &[arrived(1, Ecn::NotEct), missing(2), arrived(3, Ecn::NotEct)], None);
        assert!(outcome.lost, "without reordering at once");
        assert_eq!(path.s_rtt(), Some(0.1));
    }

    #[test]
    fn an_old_report_only_fills_gaps() {
        let mut path = path();
        path.on_feedback(ms(130), &[missing(3), arrived(5, Ecn::NotEct)], None);
        let (qdelay, in_flight) = (path.qdelay(), path.bytes_in_flight());
        let outcome = path.on_feedback(ms(140), &[recovered(3, 500, Ecn::NotEct)], None);
        assert_eq!((outcome.acked.bytes, outcome.acked.arrived, outcome.lost), (None, 1, false));
        assert_eq!((path.qdelay(), path.bytes_in_flight()), (qdelay, in_flight));
    }

    #[test]
    fn a_packet_that_came_late_teaches_the_reordering_window() {
        let mut path = path();
        path.on_feedback(ms(130), &[missing(1), arrived(2, Ecn::NotEct)], None);
        let results = [recovered(1, 180, Ecn::NotEct), missing(3), arrived(4, Ecn::NotEct)];
        assert!(!path.on_feedback(ms(180), &results, None).lost, "within 50 ms");
        assert!(path.on_feedback(ms(240), &[], None).lost);
    }
}
