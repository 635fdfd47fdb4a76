//! Round trips, as the arriving acknowledgements show them.

use crate::window::Delivery;

/// Tells where a round trip ends and the next begins: once so much has arrived as was outstanding at its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Segments that still have to arrive.
    left: f64,
}

impl Rounds {
    /// Whether a round begins with this.
    pub(super) fn begins(&mut self, delivery: &Delivery) -> bool {
        self.left -= delivery.delivered;
        let begins = self.left <= 0.0;
        if begins {
            self.left = delivery.outstanding.max(1.0);
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
}
