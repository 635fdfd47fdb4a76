//! What both versions learn from feedback: what is in flight, round-trip time, queue delay, losses and marks.

use weir_units::TimeDelta;

use super::delay::{QueueDelay, SmoothedRtt};
use super::in_flight::InFlight;
use super::loss::LossDetector;
use super::scaled;
use crate::packet::{Ecn, Fate, PacketResult, SentPacket};
use crate::parts::rescaling::Rescaling;
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Lateness from which the reordering window learns, before a round-trip time is known.
const FIRST_BOUND: TimeDelta = TimeDelta::from_millis(100);

/// What one feedback told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Bytes from the highest acknowledged packet before to the present one, lost packets included; `None` if the
    /// feedback brought no higher one.
    pub(super) acked: Option<u64>,
    /// Payload bytes that arrived.
    pub(super) received: u64,
    /// Bytes that arrived with a CE mark.
    pub(super) marked_bytes: u64,
    /// Packets that arrived …
    pub(super) arrived: u32,
    /// … and those of them with a CE mark.
    pub(super) marked: u32,
    /// Whether packets are declared lost.
    pub(super) lost: bool,
}

/// The path as feedback shows it.
#[derive(Debug)]
pub(super) struct Network {
    in_flight: InFlight,
    rtt: SmoothedRtt,
    delay: QueueDelay,
    losses: LossDetector,
    /// Whether unmarked packets come as ECT(1): then marks are those of L4S. `None` before the first one.
    l4s: Option<bool>,
    words: Rescaling,
}

impl Network {
    pub(super) fn new() -> Self {
        Self {
            in_flight: InFlight::new(),
            rtt: SmoothedRtt::default(),
            delay: QueueDelay::default(),
            losses: LossDetector::new(),
            l4s: None,
            words: Rescaling::NONE,
        }
    }

    /// Coupling scales the flow by `factor`: what left before counts as if it had been sent so.
    pub(super) fn scale(&mut self, now: SendTime, factor: f64) {
        self.in_flight.scale(factor);
        self.words.on_word(now, factor);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight.on_sent(packet.id, packet.size.bytes());
    }

    /// Feedback has come. RFC 8298 §4.1.2, steps up to the detection of
    /// losses and marks.
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        results: &[PacketResult],
        rtt: Option<TimeDelta>,
    ) -> News {
        let mut news = News::default();
        let mut newest = None;
        for PacketResult { sent, fate } in results {
            match *fate {
                Fate::Arrived { at, ecn } => {
                    self.arrive(now, &mut news, sent, ecn);
                    newest = self.acknowledge(&mut news, sent, at).or(newest);
                }
                Fate::Recovered { at, ecn } => {
                    self.losses.on_recovered(now, sent.id, self.reordering_bound());
                    self.arrive(now, &mut news, sent, ecn);
                    newest = self.acknowledge(&mut news, sent, at).or(newest);
                }
                Fate::Missing => news.lost |= self.losses.on_missing(now, sent.id),
            }
        }
        if let Some((departure, arrival)) = newest {
            self.rtt.on_sample(rtt.unwrap_or(now - departure));
            self.delay.on_packet(arrival, ApparentDelay::between(departure, arrival));
        }
        news.lost |= self.losses.declare(now, self.reordering_bound());
        news
    }

    fn arrive(&mut self, now: SendTime, news: &mut News, sent: &SentPacket, ecn: Ecn) {
        let factor = self.words.since(sent.at, now);
        news.received = news.received.saturating_add(scaled(sent.payload.bytes(), factor));
        news.arrived += 1;
        match ecn {
            Ecn::Ce => {
                news.marked += 1;
                news.marked_bytes = news.marked_bytes.saturating_add(scaled(sent.size.bytes(), factor));
            }
            Ecn::Ect0 => self.l4s = Some(false),
            Ecn::Ect1 => self.l4s = Some(true),
            Ecn::NotEct => {}
        }
    }

    /// Departure and arrival of `sent` if it is the highest acknowledged packet so far and its time is told.
    fn acknowledge(
        &mut self,
        news: &mut News,
        sent: &SentPacket,
        at: Option<ArrivalTime>,
    ) -> Option<(SendTime, ArrivalTime)> {
        let acked = self.in_flight.acknowledge(sent.id)?;
        news.acked = Some(news.acked.unwrap_or(0).saturating_add(acked));
        Some((sent.at, at?))
    }

    /// The reordering window ends at a round-trip time, as RACK's does (RFC 8985 §6.2).
    fn reordering_bound(&self) -> TimeDelta {
        self.rtt().unwrap_or(FIRST_BOUND)
    }

    /// `bytes_in_flight`.
    pub(super) fn bytes_in_flight(&self) -> u64 {
        self.in_flight.bytes()
    }

    /// `s_rtt` in s.
    pub(super) fn s_rtt(&self) -> Option<f64> {
        self.rtt.get()
    }

    /// `s_rtt` as a time.
    pub(super) fn rtt(&self) -> Option<TimeDelta> {
        self.rtt.span()
    }

    /// `qdelay` in s.
    pub(super) fn qdelay(&self) -> f64 {
        self.delay.get()
    }

    /// Whether a CE mark is one of L4S. Before packets without a mark have come, marks are classic.
    pub(super) fn is_l4s(&self) -> bool {
        self.l4s == Some(true)
    }

    /// What was taken for the base delay is not: the next packet begins anew.
    pub(super) fn forget_base_delay(&mut self) {
        self.delay = QueueDelay::default();
    }

    /// The path is another one, and nothing is in flight on it.
    pub(super) fn forget_path(&mut self) {
        self.in_flight.clear();
        self.rtt = SmoothedRtt::default();
        self.delay = QueueDelay::default();
        self.losses = LossDetector::new();
        self.l4s = None;
        self.words = Rescaling::NONE;
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;

    const SIZE: u64 = 1012;
    const PAYLOAD: u64 = 1000;

    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// Packet `id` leaves at `10·id` ms.
    fn sent(id: u64) -> SentPacket {
        let bytes = DataSize::from_bytes;
        SentPacket {
            id,
            at: ms(10 * id as i64),
            size: bytes(SIZE),
            payload: bytes(PAYLOAD),
            padding: false,
            probe: None,
        }
    }

    fn arrived(id: u64, ecn: Ecn) -> PacketResult {
        let at = ArrivalTime::from_millis(3_600_000 + 10 * id as i64 + 40);
        PacketResult { sent: sent(id), fate: Fate::Arrived { at: Some(at), ecn } }
    }

    fn ten_sent() -> Network {
        let mut network = Network::new();
        (1..=10).for_each(|id| network.on_sent(&sent(id)));
        network
    }

    #[test]
    fn a_feedback_tells_what_arrived_what_is_lost_and_what_is_marked() {
        let mut network = ten_sent();
        let missing = PacketResult { sent: sent(2), fate: Fate::Missing };
        let results = [arrived(1, Ecn::Ect1), missing, arrived(3, Ecn::Ce), arrived(4, Ecn::Ect1)];
        let news = network.on_feedback(ms(130), &results, None);
        assert_eq!(
            news,
            News {
                acked: Some(4 * SIZE),
                received: 3 * PAYLOAD,
                marked_bytes: SIZE,
                arrived: 3,
                marked: 1,
                lost: true
            }
        );
        assert_eq!(network.bytes_in_flight(), 6 * SIZE);
        // Without a time of receipt: since packet 4 left, 130 − 40.
        assert_eq!(network.s_rtt(), Some(0.09));
        assert!(network.is_l4s());
    }

    #[test]
    fn a_congested_way_back_delays_feedback_and_is_no_queue() {
        let (mut early, mut late) = (ten_sent(), ten_sent());
        let results = [arrived(1, Ecn::NotEct), arrived(2, Ecn::NotEct)];
        let held = TimeDelta::from_millis(20);
        early.on_feedback(ms(100), &results, Some(ms(100) - ms(20) - held));
        late.on_feedback(ms(600), &results, Some(ms(600) - ms(20) - held));
        assert_eq!((early.qdelay(), late.qdelay()), (0.0, 0.0));
        assert_eq!((early.s_rtt(), late.s_rtt()), (Some(0.06), Some(0.56)));
    }

    #[test]
    fn an_old_report_only_fills_gaps() {
        let mut network = ten_sent();
        let missing = PacketResult { sent: sent(3), fate: Fate::Missing };
        network.on_feedback(ms(130), &[missing, arrived(5, Ecn::NotEct)], None);
        let qdelay = network.qdelay();
        let late = Fate::Recovered { at: Some(ArrivalTime::from_millis(3_600_500)), ecn: Ecn::NotEct };
        let news = network.on_feedback(ms(140), &[PacketResult { sent: sent(3), fate: late }], None);
        assert_eq!((news.acked, news.received, news.lost), (None, PAYLOAD, false));
        assert_eq!((network.qdelay(), network.bytes_in_flight()), (qdelay, 5 * SIZE));
    }

    #[test]
    fn another_path_knows_nothing_of_reordering_losses_and_marks_on_the_last_one() {
        let mut network = ten_sent();
        let missing = |id| PacketResult { sent: sent(id), fate: Fate::Missing };
        let late = PacketResult {
            fate: Fate::Recovered { at: Some(ArrivalTime::from_millis(3_600_180)), ecn: Ecn::Ect1 },
            ..missing(1)
        };
        network.on_feedback(ms(130), &[missing(1), arrived(2, Ecn::Ect1)], None);
        network.on_feedback(ms(180), &[late, missing(3), arrived(4, Ecn::Ect1)], None);
        // The reordering window is 50 ms, and packet 3 waits for its end.
        network.forget_path();
        let news = network.on_feedback(ms(240), &[], None);
        assert_eq!((news, network.s_rtt()), (News::default(), None), "packet 3 was on the other path");
        assert!(!network.is_l4s());
        assert_eq!(network.bytes_in_flight(), 0);
        (11..=13).for_each(|id| network.on_sent(&sent(id)));
        let news = network.on_feedback(ms(250), &[missing(11), arrived(12, Ecn::NotEct)], None);
        assert!(news.lost, "without reordering at once");
        assert_eq!(network.bytes_in_flight(), SIZE);
    }

    #[test]
    fn an_arrival_without_a_time_is_acknowledged_with_its_mark_and_measures_nothing() {
        let mut network = ten_sent();
        let untimed = |id, ecn| PacketResult { sent: sent(id), fate: Fate::Arrived { at: None, ecn } };
        let news = network.on_feedback(ms(130), &[untimed(1, Ecn::Ect1), untimed(2, Ecn::Ce)], None);
        let expected = News {
            acked: Some(2 * SIZE),
            received: 2 * PAYLOAD,
            marked_bytes: SIZE,
            arrived: 2,
            marked: 1,
            lost: false,
        };
        assert_eq!(news, expected);
        assert_eq!((network.s_rtt(), network.bytes_in_flight()), (None, 8 * SIZE));
        // The newest whose time is told: since packet 3 left, 130 − 30.
        network.on_feedback(ms(130), &[arrived(3, Ecn::Ect1), untimed(4, Ecn::Ect1)], None);
        assert_eq!((network.s_rtt(), network.qdelay()), (Some(0.1), 0.0));
    }
}
