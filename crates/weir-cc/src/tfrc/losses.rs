//! Loss events from arrivals at a TFRC receiver: the lost packets, the times of their losses, and the grouping of losses
//! into events.
//!
//! Source: RFC 5348 §5.1 (detection) and §5.2 (events).

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use crate::parts::loss_intervals::LossIntervals;
use crate::time::ArrivalTime;

/// Greatest gap of sequence numbers that is a loss; a longer one is a new beginning of the stream. `MAX_DROPOUT` of
/// RFC 3550 §A.1. [`AtReceiver`](crate::AtReceiver) lets no longer gap through, so that the limit only bounds the
/// work of an observer that is used by itself.
const MAX_DROPOUT: u64 = 3000;
/// Greatest number of open holes; beyond it the packets of the oldest hole are declared lost.
const MAX_HOLES: usize = 64;

/// A packet's number and when it arrived.
#[derive(Clone, Copy, Debug)]
struct ReceivedPacket {
    id: u64,
    at: ArrivalTime,
}

/// A gap in the arrived packet numbers: `first` to `last` have not arrived.
#[derive(Clone, Copy, Debug)]
struct Hole {
    first: u64,
    last: u64,
    /// The packet below the hole when it was detected.
    before: ReceivedPacket,
    /// The packet above the hole when it was detected.
    after: ReceivedPacket,
    /// Number of arrived packets with higher numbers than the hole's.
    later: u32,
}

impl Hole {
    /// Nominal time of the loss of packet `id`. RFC 5348 §5.2: `T_loss`.
    fn lost_at(&self, id: u64) -> ArrivalTime {
        let share = (id - self.before.id) as f64 / (self.after.id - self.before.id) as f64;
        self.before.at + (self.after.at - self.before.at).scale(share)
    }
}

/// The loss history of a receiver: holes that may still be filled, the newest loss event, and the loss intervals.
#[derive(Debug)]
pub(super) struct LossHistory {
    /// Number of later packets after which a missing packet is lost. RFC 5348 §5.1: `NDUPACK`.
    duplicate_threshold: u32,
    holes: VecDeque<Hole>,
    /// The packet with the highest number.
    newest: Option<ReceivedPacket>,
    /// First loss of the newest event, and its nominal time.
    event: Option<ReceivedPacket>,
    intervals: LossIntervals,
}

impl LossHistory {
    pub(super) fn new(duplicate_threshold: u32, discount_threshold: f64) -> Self {
        Self {
            duplicate_threshold,
            holes: VecDeque::with_capacity(MAX_HOLES + 1),
            newest: None,
            event: None,
            intervals: LossIntervals::discounting(discount_threshold),
        }
    }

    /// Takes the arrival of packet `id` at `at`, with or without an ECN mark. `rtt` is the sender's round-trip time.
    /// `first_interval` computes the length of the interval before the first loss event (RFC 5348 §6.3.1). Returns
    /// whether a new loss event began.
    pub(super) fn on_arrival(
        &mut self,
        id: u64,
        at: ArrivalTime,
        marked: bool,
        rtt: TimeDelta,
        first_interval: impl Fn() -> f64,
    ) -> bool {
        let newest = self.newest.map_or(id, |newest| newest.id);
        if id <= newest && self.newest.is_some() {
            self.fill(id);
        } else {
            self.advance(ReceivedPacket { id, at });
        }
        let mut found = self.declare_lost(rtt, &first_interval);
        // A mark counts at once, and a missing packet before it begins the event (RFC 5348 §5.1).
        if marked {
            let missing = self.holes.iter().find(|hole| hole.first < id);
            let begin = missing.map_or(ReceivedPacket { id, at }, |hole| ReceivedPacket {
                id: hole.first,
                at: hole.lost_at(hole.first),
            });
            found |= self.on_loss(begin, rtt, &first_interval);
        }
        found
    }

    /// The loss event rate `p`, 0 before the first loss event. RFC 5348 §5.4.
    pub(super) fn loss_event_rate(&self) -> f64 {
        self.intervals.average().map_or(0.0, |average| 1.0 / average.max(1.0))
    }

    /// The average loss interval in packets; NaN before the first loss event.
    pub(super) fn average_interval(&self) -> f64 {
        self.intervals.average().unwrap_or(f64::NAN)
    }

    /// `I_0`: packets since the first loss of the newest event, that one included.
    pub(super) fn open_interval(&self) -> u64 {
        self.intervals.open()
    }

    fn advance(&mut self, packet: ReceivedPacket) {
        let Some(before) = self.newest.replace(packet) else {
            self.intervals.extend(1);
            return;
        };
        self.count_later(packet.id);
        if let Some(event) = &mut self.event {
            // A packet before the beginning of its event means that the clock was set back: the round trip starts again.
            event.at = event.at.min(packet.at);
        }
        if packet.id - before.id > MAX_DROPOUT {
            self.holes.clear();
            self.intervals.extend(1);
            self.event = None;
            return;
        }
        self.intervals.extend(packet.id - before.id);
        if packet.id > before.id + 1 {
            let (first, last) = (before.id + 1, packet.id - 1);
            self.holes.push_back(Hole { first, last, before, after: packet, later: 1 });
        }
    }

    /// Removes a late packet from its hole; a packet that was declared lost stays lost.
    fn fill(&mut self, id: u64) {
        let Some(index) = self.holes.iter().position(|hole| (hole.first..=hole.last).contains(&id)) else {
            return;
        };
        self.count_later(id);
        let Some(hole) = self.holes.remove(index) else { return };
        if id < hole.last {
            self.holes.insert(index, Hole { first: id + 1, ..hole });
        }
        if id > hole.first {
            self.holes.insert(index, Hole { last: id - 1, later: hole.later.saturating_add(1), ..hole });
        }
    }

    /// Counts packet `id` as a later packet of all holes below it.
    fn count_later(&mut self, id: u64) {
        for hole in self.holes.iter_mut().filter(|hole| hole.last < id) {
            hole.later = hole.later.saturating_add(1);
        }
    }

    /// Declares the packets of a hole lost once enough later packets have arrived. Returns whether that began an event.
    fn declare_lost(&mut self, rtt: TimeDelta, first_interval: &impl Fn() -> f64) -> bool {
        let mut found = false;
        while let Some(&hole) = self.holes.front()
            && (hole.later >= self.duplicate_threshold || self.holes.len() > MAX_HOLES)
        {
            self.holes.pop_front();
            for id in hole.first..=hole.last {
                found |= self.on_loss(ReceivedPacket { id, at: hole.lost_at(id) }, rtt, first_interval);
            }
        }
        found
    }

    /// Takes a loss, which begins a new event if it is more than a round trip after the beginning of the newest event.
    /// Returns whether it did. RFC 5348 §5.2.
    fn on_loss(&mut self, loss: ReceivedPacket, rtt: TimeDelta, first_interval: &impl Fn() -> f64) -> bool {
        if self.event.is_some_and(|event| loss.id <= event.id || loss.at <= event.at + rtt) {
            return false;
        }
        let newest = self.newest.map_or(loss.id, |newest| newest.id);
        let open = newest.saturating_sub(loss.id).saturating_add(1);
        let length = match self.event {
            Some(event) => loss.id - event.id,
            // After a jump of the numbers the history continues with the length of the open interval.
            None if self.intervals.average_closed().is_some() => self.intervals.open(),
            // Rounded, not truncated: §6.3.1 allows an error of 5 %, and truncating a short interval gives 20 % and more.
            None => libm::round(first_interval()) as u64,
        };
        self.intervals.close(length.max(1), open);
        self.event = Some(loss);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(100);

    /// Receiver time of `ms` milliseconds.
    fn ms(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    fn history() -> LossHistory {
        LossHistory::new(3, 1.0)
    }

    /// Packet `n` arrives at `n` · 10 ms; the interval before the first loss is 50 packets.
    fn arrive(history: &mut LossHistory, ids: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let found = |id: &u64| history.on_arrival(*id, ms(*id as i64 * 10), false, RTT, || 50.0);
        ids.into_iter().filter(found).collect()
    }

    #[test]
    fn a_packet_is_lost_when_three_later_ones_have_come() {
        let mut history = history();
        // 10 is missing; the third later packet is 13.
        assert_eq!(arrive(&mut history, (0..10).chain(11..20)), [13]);
        // The synthetic interval of 50 packets, and I_0 = 19 − 10 + 1 = 10.
        assert_eq!((history.loss_event_rate(), history.open_interval()), (1.0 / 50.0, 10));
    }

    #[test]
    fn the_first_interval_is_of_the_nearest_number_of_packets() {
        let mut history = history();
        // One packet per round trip: p = 0.14587, 6.855 packets.
        for id in (0..10).chain(11..14) {
            history.on_arrival(id, ms(id as i64 * 10), false, RTT, || 6.855);
        }
        assert_eq!(history.average_interval(), 7.0);
    }

    #[test]
    fn a_packet_that_comes_before_three_later_ones_is_not_lost() {
        let mut history = history();
        assert!(arrive(&mut history, [0, 1, 3, 4, 2, 5, 6, 7]).is_empty());
        // Of the hole 2 to 4 only 3 comes: 2 and 4 stay lost. 5, 6 and the late 3 are later than 2.
        let mut history = self::history();
        assert_eq!(arrive(&mut history, [0, 1, 5, 6, 3]), [3]);
        assert_eq!(history.loss_event_rate(), 1.0 / 50.0);
        // A copy is no later packet.
        let mut history = self::history();
        assert!(arrive(&mut history, [0, 1, 3, 3, 3, 3, 4]).is_empty());
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut history = history();
        // 10 is lost at 100 ms; 20 at 200 ms is not more than 100 ms later, 21 at 210 ms is.
        assert_eq!(arrive(&mut history, (0..10).chain(11..20).chain(22..30)), [13, 24]);
        // Closed: 21 − 10 = 11, then the 50 before; I_0 = 29 − 21 + 1 = 9: (11 + 50)/2 = 30.5.
        assert_eq!((history.average_interval(), history.open_interval()), (30.5, 9));
    }

    #[test]
    fn a_long_hole_holds_as_many_events_as_round_trips() {
        let mut history = history();
        // 10 to 40 are lost: events at 10 (100 ms), 21 (210 ms), 32 (320 ms).
        arrive(&mut history, (0..10).chain(41..45));
        // Closed: 11, 11, 50; I_0 = 44 − 32 + 1 = 13: 72/3 = 24, with the open one 35/3.
        assert_eq!((history.average_interval(), history.open_interval()), (24.0, 13));
    }

    #[test]
    fn a_loss_happens_between_its_neighbours() {
        let seen = |id, at| ReceivedPacket { id, at: ms(at) };
        let hole = Hole { first: 11, last: 13, before: seen(10, 100), after: seen(14, 140), later: 0 };
        // 100 + 40·1/4 and 100 + 40·3/4.
        assert_eq!([11, 13].map(|id| hole.lost_at(id)), [ms(110), ms(130)]);
    }

    #[test]
    fn a_mark_counts_at_once_and_begins_with_what_misses() {
        let mut history = history();
        arrive(&mut history, 0..10);
        assert!(history.on_arrival(10, ms(100), true, RTT, || 50.0));
        assert!(!history.on_arrival(11, ms(110), true, RTT, || 50.0), "the same event");
        // 31 is missing when 32 comes marked: the event begins with 31, I_1 = 31 − 10.
        arrive(&mut history, 12..31);
        assert!(history.on_arrival(32, ms(320), true, RTT, || 50.0));
        assert_eq!(history.average_interval(), f64::midpoint(21.0, 50.0));
        assert!(arrive(&mut history, 33..40).is_empty(), "31 is not lost twice");
    }

    #[test]
    fn a_leap_of_numbers_is_a_new_beginning() {
        let mut history = history();
        arrive(&mut history, 0..10);
        arrive(&mut history, [5000, 5001, 5002, 5003, 5004, u64::MAX]);
        assert_eq!(history.loss_event_rate(), 0.0);
        assert!(history.holes.is_empty());
    }
}
