//! Key frame requests of the receiver of a video stream, made when a loss can only be repaired by a key frame.

use weir_cc::ArrivalTime;
use weir_units::TimeDelta;
use weir_wire::FrameMarking;
use weir_wire::seq::Unwrapper;

/// A packet is lost once one has arrived that is this many numbers ahead of it (RFC 5681 §3.2's three duplicates).
const LOST_BEHIND: u64 = 3;
/// Range of numbers tracked ahead of the first one missing.
const SPAN: u64 = 64;

/// Follows a stream by sequence numbers and frame markings. A picture is broken before the first key frame, and by each
/// lost packet. The picture is whole again from the first packet of a key frame that begins later.
#[derive(Debug)]
pub(crate) struct KeyFrameRequests {
    /// Minimum time between two requests.
    interval: TimeDelta,
    sequences: Unwrapper,
    /// The first number that has neither arrived nor is lost. The bit mask has the arrivals after it, the next number
    /// in the lowest bit.
    next: Option<u64>,
    ahead: u64,
    /// The first number at which a key frame must begin to repair the picture.
    needed_from: u64,
    /// Number of the first packet of the last key frame.
    began: Option<u64>,
    requested_at: Option<ArrivalTime>,
    due: bool,
}

impl KeyFrameRequests {
    pub(crate) fn new(interval: TimeDelta) -> Self {
        Self {
            interval,
            sequences: Unwrapper::new(),
            next: None,
            ahead: 0,
            needed_from: 0,
            began: None,
            requested_at: None,
            due: false,
        }
    }

    /// A packet of the stream has arrived.
    pub(crate) fn on_packet(&mut self, now: ArrivalTime, sequence: u16, marking: Option<FrameMarking>) {
        let number = self.sequences.unwrap(sequence);
        if marking.is_some_and(|marking| marking.is_start() && marking.is_independent()) {
            self.began = self.began.max(Some(number));
        }
        self.see(number);
        let broken = self.began.is_none_or(|began| began < self.needed_from);
        // A clock that was set back must not suppress requests.
        let rested = self
            .requested_at
            .is_none_or(|requested_at| now - requested_at >= self.interval || now < requested_at);
        self.due = broken && rested;
    }

    /// Whether a request is due; if so, it counts as made at `now`.
    pub(crate) fn poll(&mut self, now: ArrivalTime) -> bool {
        let due = std::mem::take(&mut self.due);
        if due {
            self.requested_at = Some(now);
        }
        due
    }

    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    fn see(&mut self, number: u64) {
        let next = *self.next.get_or_insert(number);
        let Some(ahead) = number.checked_sub(next) else { return };
        match ahead {
            0 => _ = self.pass(next),
            1..=SPAN => self.ahead |= 1 << (ahead - 1),
            _ => {
                // All missing packets count as lost.
                (self.next, self.ahead) = (Some(number + 1), 0);
                self.needed_from = number;
                return;
            }
        }
        let mut missing = self.next.unwrap_or(number);
        // The condition is the distance of the highest arrival from the first missing packet.
        while u64::from(u64::BITS - self.ahead.leading_zeros()) >= LOST_BEHIND {
            self.needed_from = missing + 1;
            missing = self.pass(missing);
        }
    }

    /// Removes the first missing number `missing`, which has arrived or is lost. Returns the next one.
    fn pass(&mut self, missing: u64) -> u64 {
        let arrived_behind = self.ahead.trailing_ones();
        // The shift is done in two steps, as a shift by the whole width would be none.
        self.ahead = (self.ahead >> arrived_behind.min(SPAN as u32 - 1)) >> 1;
        let next = missing + 1 + u64::from(arrived_behind);
        self.next = Some(next);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Option<FrameMarking> = Some(FrameMarking::new(true, false, true));
    const REST_OF_KEY: Option<FrameMarking> = Some(FrameMarking::new(false, true, true));
    const DELTA: Option<FrameMarking> = Some(FrameMarking::new(true, true, false));

    const NEVER: [i64; 0] = [];

    fn requests() -> KeyFrameRequests {
        KeyFrameRequests::new(TimeDelta::from_millis(300))
    }

    /// Packets arrive 10 ms apart from `from` on. Returns the times of the key frame requests.
    fn requested_at(
        requests: &mut KeyFrameRequests,
        from: i64,
        packets: impl IntoIterator<Item = (u16, Option<FrameMarking>)>,
    ) -> Vec<i64> {
        let mut requested_at = Vec::new();
        for (at, (sequence, marking)) in (0..).map(|n| from + 10 * n).zip(packets) {
            let now = ArrivalTime::from_millis(at);
            requests.on_packet(now, sequence, marking);
            if requests.poll(now) {
                requested_at.push(at);
            }
            assert!(!requests.poll(now), "once");
        }
        requested_at
    }

    fn deltas(numbers: impl IntoIterator<Item = u16>) -> Vec<(u16, Option<FrameMarking>)> {
        numbers.into_iter().map(|number| (number, DELTA)).collect()
    }

    #[test]
    fn a_loss_is_reported_three_packets_later_and_again_each_interval() {
        let mut r = requests();
        assert_eq!(requested_at(&mut r, 0, [(0, KEY), (1, REST_OF_KEY)]), NEVER);
        // 2 is missing: 3, 4 and 5 come at 20, 30 and 40 ms; after 340 ms and 640 ms nothing has changed.
        assert_eq!(requested_at(&mut r, 20, deltas(3..80)), [40, 340, 640]);
        // The key frame begins at 80: no more requests, until the next loss, 92, seen when 95 comes.
        assert_eq!(requested_at(&mut r, 2000, [(80, KEY), (81, REST_OF_KEY)]), NEVER);
        assert_eq!(requested_at(&mut r, 2020, deltas((82..92).chain(93..100))), [2140]);
    }

    #[test]
    fn packets_out_of_order_break_nothing_unless_they_are_three_late() {
        let mut r = requests();
        let numbers = [1, 3, 2, 6, 5, 4, 7];
        assert_eq!(requested_at(&mut r, 0, [(0, KEY)].into_iter().chain(deltas(numbers))), NEVER);
        // 8 comes after 9, 10 and 11.
        assert_eq!(requested_at(&mut r, 100, deltas([9, 10, 11, 8])), [120]);
    }

    #[test]
    fn a_key_frame_that_lost_a_packet_repairs_nothing() {
        let mut r = requests();
        assert_eq!(requested_at(&mut r, 0, [(0, KEY), (2, REST_OF_KEY), (3, DELTA), (4, DELTA)]), [30]);
        // The first packet of the next one is lost: its rest begins no key frame.
        assert_eq!(requested_at(&mut r, 400, [(6, REST_OF_KEY), (7, DELTA)]), [400]);
        // A key frame that came before a loss was noticed is good if the loss was before it.
        assert_eq!(requested_at(&mut r, 800, [(9, KEY), (10, REST_OF_KEY), (11, DELTA), (12, DELTA)]), NEVER);
    }

    #[test]
    fn without_a_key_frame_at_the_beginning_one_is_asked_for() {
        assert_eq!(requested_at(&mut requests(), 0, deltas(0..3)), [0]);
    }

    #[test]
    fn a_leap_of_the_numbers_loses_all_between_and_the_circle_is_no_leap() {
        let mut r = requests();
        assert_eq!(requested_at(&mut r, 0, [(65_534, KEY), (65_535, DELTA), (0, DELTA), (1, DELTA)]), NEVER);
        // 64 are missing; then 132 are, more than are kept track of.
        assert_eq!(requested_at(&mut r, 100, deltas([66, 67])), [100]);
        assert_eq!(requested_at(&mut r, 500, deltas([200, 201])), [500]);
        assert_eq!(requested_at(&mut r, 900, [(202, KEY), (203, DELTA)]), NEVER);
    }

    #[test]
    fn a_key_frame_behind_a_leap_is_whole() {
        let mut r = requests();
        assert_eq!(requested_at(&mut r, 0, [(0, KEY), (1, DELTA)]), NEVER);
        assert_eq!(requested_at(&mut r, 500, [(500, KEY)].into_iter().chain(deltas(501..520))), NEVER);
    }
}
