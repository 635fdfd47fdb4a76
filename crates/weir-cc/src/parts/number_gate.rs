//! Validation of packet numbers in a receiver half: RFC 3550 §A.1, in both directions.

use crate::packet::Arrival;

/// Greatest distance of a late number below the newest one: `MAX_MISORDER`. A stray number may be confirmed by one up
/// to this far above it.
const MAX_MISORDER: u64 = 100;
/// Greatest distance above the newest number for which the numbers between count as lost: `MAX_DROPOUT`.
const MAX_DROPOUT: u64 = 3000;

/// Validator of packet numbers. A number far from the others waits for its successor, so that a single damaged or
/// forged packet does not reach an observer. After a jump that looked like losses, two successive packets with
/// earlier numbers undo the jump.
#[derive(Debug, Default)]
pub(crate) struct NumberGate {
    /// The newest valid number, as it arrived.
    newest: Option<u64>,
    /// Difference between a number as passed on and as it arrived.
    offset: u64,
    /// The last packet with a number far from the others.
    stray: Option<Arrival>,
    /// The newest number before the last jump, while no packet has confirmed the jump.
    before: Option<u64>,
}

impl NumberGate {
    /// Packets that are valid after the arrival of `packet`, in order. Their numbers continue if the numbering
    /// changes.
    pub(crate) fn admit(&mut self, packet: &Arrival) -> [Option<Arrival>; 2] {
        let newest = *self.newest.get_or_insert(packet.id);
        if continues(newest, packet.id) {
            // Reordering makes jumps of up to some dozen numbers, which two late packets in a row do not refute.
            (self.before, self.stray) = (None, None);
            return self.follow(packet);
        }
        if self.before.is_some_and(|before| continues(before, packet.id)) {
            if self.stray.replace(*packet).is_some_and(|stray| continues(stray.id, packet.id)) {
                self.renumber(newest, packet.id);
                return self.follow(packet);
            }
            return [None, Some(self.renumbered(packet))];
        }
        if (newest.saturating_sub(MAX_MISORDER)..=newest).contains(&packet.id) {
            self.stray = None;
            return [None, Some(self.renumbered(packet))];
        }
        if (newest..=newest.saturating_add(MAX_DROPOUT)).contains(&packet.id) {
            (self.before, self.stray) = (Some(newest), None);
            return self.follow(packet);
        }
        let Some(stray) = self.stray.take().filter(|stray| continues(stray.id, packet.id)) else {
            self.stray = Some(*packet);
            return [None, None];
        };
        self.renumber(newest, stray.id);
        self.newest = Some(packet.id);
        [Some(self.renumbered(&stray)), Some(self.renumbered(packet))]
    }

    /// The newest valid number, as it arrived.
    pub(crate) fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Changes the offset so that number `id` follows `newest`.
    fn renumber(&mut self, newest: u64, id: u64) {
        self.offset = newest.wrapping_add(self.offset).wrapping_add(1).wrapping_sub(id);
        (self.before, self.stray) = (None, None);
    }

    fn follow(&mut self, packet: &Arrival) -> [Option<Arrival>; 2] {
        self.newest = Some(packet.id);
        [None, Some(self.renumbered(packet))]
    }

    fn renumbered(&self, packet: &Arrival) -> Arrival {
        Arrival { id: packet.id.wrapping_add(self.offset), ..*packet }
    }
}

/// Whether `id` continues from `before`.
fn continues(before: u64, id: u64) -> bool {
    id > before && id - before <= MAX_MISORDER
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use weir_units::DataSize;

    use super::*;
    use crate::time::{ArrivalTime, SendTime};

    /// Numbers that an observer is shown when these arrive, far above 0 as unwrapped ones are.
    fn shown(ids: &[u64]) -> Vec<u64> {
        const FIRST: u64 = 1 << 32;
        let mut gate = NumberGate::default();
        let arrival =
            |id| Arrival::new(FIRST + id, SendTime::ZERO, ArrivalTime::ZERO, DataSize::from_bytes(1));
        let admit = |&id: &u64| gate.admit(&arrival(id)).into_iter().flatten().collect::<Vec<_>>();
        ids.iter().flat_map(admit).map(|packet| packet.id - FIRST).collect()
    }

    #[test]
    fn numbers_near_each_other_pass_as_they_are() {
        assert_eq!(shown(&[1000, 1001, 1101, 1100, 1001]), [1000, 1001, 1101, 1100, 1001], "100 behind");
    }

    #[test]
    fn one_number_far_away_is_not_shown_and_changes_nothing() {
        for far in [0, 999, 4102, 21_000, 33_000] {
            assert_eq!(shown(&[1100, 1101, far, 1102, 1103]), [1100, 1101, 1102, 1103], "{far}");
            assert_eq!(
                shown(&[1100, far, far, 1101, far, 1102]),
                [1100, 1101, 1102],
                "{far}, again and again"
            );
        }
    }

    #[test]
    fn many_losses_in_a_row_are_losses() {
        assert_eq!(shown(&[0, 3000, 3001, 6001]), [0, 3000, 3001, 6001]);
    }

    #[test]
    fn a_jump_that_does_not_go_on_is_taken_back() {
        // 2100 looks like 1999 losses; 101 and 102 go on from 100.
        assert_eq!(shown(&[100, 2100, 101, 102, 103]), [100, 2100, 101, 2101, 2102]);
        // 2101 goes on from the jump: the losses were real, and 2050 is late.
        assert_eq!(shown(&[100, 2100, 2101, 2050]), [100, 2100, 2101, 2050]);
        // Reordering around a jump changes nothing.
        assert_eq!(shown(&[100, 2100, 101, 2101, 2102]), [100, 2100, 101, 2101, 2102]);
    }

    #[test]
    fn another_numbering_goes_on_where_the_last_one_was() {
        assert_eq!(shown(&[9000, 100, 101, 102]), [9000, 9001, 9002, 9003]);
        assert_eq!(shown(&[100, 9000, 9001, 9003]), [100, 101, 102, 104]);
        // Two forged ones, and the old numbers come back after two of their own.
        assert_eq!(shown(&[100, 9000, 9001, 101, 102, 103]), [100, 101, 102, 103, 104, 105]);
    }

    #[test]
    fn the_ends_of_the_numbers_do_no_harm() {
        let mut gate = NumberGate::default();
        let arrival = |id| Arrival::new(id, SendTime::ZERO, ArrivalTime::ZERO, DataSize::from_bytes(1));
        for id in [u64::MAX, u64::MAX - 1, 0, 1, u64::MAX, 2, u64::MAX - 200, u64::MAX - 199] {
            gate.admit(&arrival(id));
        }
        assert_eq!(gate.newest(), Some(u64::MAX - 199));
    }
}
