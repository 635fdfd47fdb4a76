//! Round trips, by the arriving acknowledgements.

use crate::window::Delivery;

/// Detector of the end of a round trip: as many segments have arrived as were outstanding at its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Segments that still have to arrive; below zero once more than these have.
    left: f64,
}

impl Rounds {
    /// Counts arrived segments.
    pub(super) fn count(&mut self, delivered: f64) {
        self.left -= delivered;
    }

    /// Whether a segment has arrived that was sent after the round began (Linux: `snd_una` beyond `end_seq`).
    pub(super) fn is_passed(self) -> bool {
        self.left < 0.0
    }

    /// Begins a round with `outstanding` segments outstanding.
    pub(super) fn begin(&mut self, outstanding: f64) {
        self.left = outstanding;
    }

    /// Counts arrived segments. Returns whether they end a round, so that the next begins with them.
    pub(super) fn begins(&mut self, delivery: &Delivery) -> bool {
        self.count(delivery.delivered);
        let begins = self.left <= 0.0;
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
