//! Packets whose numbers do not continue those before them (RFC 3550 A.1).

/// A packet this many numbers away is not the next of the flow, nor a late one (RFC 3550 A.1, `MAX_DROPOUT`).
const FAR: u16 = 3000;
/// Maximum distance at which a packet behind a far one confirms it: numbers may be missing in between.
const FOLLOWING: u16 = 100;

/// Validates the numbers of a flow. The first packet is believed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumbersAhead {
    newest: Option<u16>,
    /// Number of the last packet, if it was far from those before it.
    strange: Option<u16>,
}

impl NumbersAhead {
    /// Whether the packet with this number belongs to the flow: it is near the newest, or follows another far one that
    /// came just before it.
    pub(crate) fn admit(&mut self, number: u16) -> bool {
        let newest = *self.newest.get_or_insert(number);
        let ahead = number.wrapping_sub(newest);
        let strange = self.strange.take();
        if !(FAR..=u16::MAX - FAR).contains(&ahead) {
            if ahead < FAR {
                self.newest = Some(number);
            }
            return true;
        }
        if strange.is_some_and(|strange| (1..=FOLLOWING).contains(&number.wrapping_sub(strange))) {
            self.newest = Some(number);
            return true;
        }
        self.strange = Some(number);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(numbers: &[u16]) -> Vec<bool> {
        let mut flow = NumbersAhead::default();
        numbers.iter().map(|&number| flow.admit(number)).collect()
    }

    #[test]
    fn later_and_late_numbers_are_accepted_across_the_wrap() {
        assert_eq!(admitted(&[65_534, 65_535, 0, 2, 1, 65_000, 3001]), [true; 7]);
    }

    #[test]
    fn a_packet_far_away_is_dropped_beside_those_that_go_on() {
        let mut numbers = vec![];
        let expected: Vec<bool> = (0..200)
            .flat_map(|n| {
                numbers.extend([n, n + 20_000]);
                [true, false]
            })
            .collect();
        assert_eq!(admitted(&numbers), expected);
    }

    #[test]
    fn numbers_that_have_begun_anew_cost_one_packet() {
        assert_eq!(admitted(&[7, 30_000, 30_003, 30_004]), [true, false, true, true]);
        assert_eq!(admitted(&[40_000, 5, 6, 7, 40_001]), [true, false, true, true, false]);
        // Neither a copy nor one far from both confirms.
        assert_eq!(admitted(&[7, 30_000, 30_000, 20_000, 8]), [true, false, false, false, true]);
    }
}
