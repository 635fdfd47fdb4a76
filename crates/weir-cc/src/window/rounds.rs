//! Round trips of a window-based sender, counted by arriving acknowledgements instead of a clock.
//!
//! Two of Linux's algorithms use them, and differ in the segment that ends a round. DCTCP's ends with the last segment
//! that was outstanding at its beginning. HyStart's ends with the first segment that was sent after its beginning.

use crate::window::Delivery;

/// Detector of the end of a round trip, from the number of segments outstanding at its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Segments outstanding at the beginning of the round that have not arrived. It is negative once later segments
    /// have arrived, too.
    remaining: f64,
}

impl Rounds {
    /// Counts arrived segments.
    pub(super) fn count(&mut self, delivered: f64) {
        self.remaining -= delivered;
    }

    /// HyStart's condition: whether a segment sent after the beginning of the round has arrived (Linux: `snd_una`
    /// beyond `end_seq`).
    pub(super) fn is_passed(self) -> bool {
        self.remaining < 0.0
    }

    /// Begins a round with `outstanding` segments outstanding.
    pub(super) fn begin(&mut self, outstanding: f64) {
        self.remaining = outstanding;
    }

    /// Counts arrived segments, by DCTCP's condition: whether all segments outstanding at the beginning of the round have
    /// arrived. If so, the next round begins.
    pub(super) fn begins(&mut self, delivery: &Delivery) -> bool {
        self.count(delivery.delivered);
        let begins = self.remaining <= 0.0;
        if begins {
            self.begin(delivery.outstanding.max(1.0));
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::test_support::delivery;

    #[test]
    fn round_lasts_until_what_was_outstanding_has_arrived() {
        let mut rounds = Rounds::default();
        // The first delivery begins a round of 4: two deliveries of 2 end it, of which the second begins the next, of 6.
        let begins = [(1.0, 4.0), (2.0, 5.0), (2.0, 6.0), (3.0, 6.0), (2.0, 6.0), (1.0, 6.0)]
            .map(|(delivered, outstanding)| rounds.begins(&delivery(0, delivered, outstanding)));
        assert_eq!(begins, [true, false, true, false, false, true]);
    }

    #[test]
    fn round_is_passed_by_what_was_sent_after_its_beginning() {
        let mut rounds = Rounds::default();
        rounds.begin(4.0);
        let passed = [2.0, 2.0, 0.0, 1.0].map(|delivered| {
            rounds.count(delivered);
            rounds.is_passed()
        });
        assert_eq!(passed, [false, false, false, true]);
    }
}
