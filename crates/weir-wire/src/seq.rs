//! Counters that wrap: comparison of two values, and unwrapping to 64 bits.

/// Whether sequence number `a` is newer than `b`: ahead by less than half the number range (RFC 1982). At exactly
/// half the range the larger number counts as newer, so that of two different numbers exactly one is newer.
pub const fn newer(a: u16, b: u16) -> bool {
    const HALF: u16 = 1 << 15;
    let ahead = a.wrapping_sub(b);
    (ahead > 0 && ahead < HALF) || (ahead == HALF && a > b)
}

/// The base of the first value: a range of 32 bits, so that values before the first are not negative.
const START: u64 = 1 << 32;

macro_rules! unwrapper {
    ($(#[$doc:meta])* $name:ident, $wire:ty, $signed:ty) => {
        $(#[$doc])*
        ///
        /// A value up to half the range behind the newest one is older, any other is newer. The newest value only
        /// moves forward: late packets do not change it. The first value is counted from 2³², so that the lower
        /// bits of unwrapped values are those of the wire. Values from before the first are below it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            newest: Option<u64>,
        }

        impl $name {
            /// An unwrapper before its first value.
            pub const fn new() -> Self {
                Self { newest: None }
            }

            /// The value unwrapped: 2³² and the first one, and all others by how far they are from the newest.
            pub fn unwrap(&mut self, value: $wire) -> u64 {
                let newest = *self.newest.get_or_insert(START + u64::from(value));
                let ahead = value.wrapping_sub(newest as $wire) as $signed;
                let unwrapped = newest.wrapping_add_signed(i64::from(ahead));
                self.newest = Some(newest.max(unwrapped));
                unwrapped
            }

            /// The newest value so far, unwrapped.
            pub const fn newest(&self) -> Option<u64> {
                self.newest
            }
        }
    };
}

unwrapper! {
    /// Unwraps 16-bit sequence numbers.
    Unwrapper, u16, i16
}
unwrapper! {
    /// Unwraps 32-bit RTP timestamps.
    TimestampUnwrapper, u32, i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_is_ahead_by_less_than_half_the_circle() {
        assert!(newer(1, 0));
        assert!(newer(0, 65535));
        assert!(newer(32767, 0));
        assert!(!newer(0, 0));
        assert!(!newer(0, 1));
        // 2 - 32771 = -32769 = 32767 mod 65536: ahead. 32771 - 2 = 32769: behind.
        assert!(newer(2, 32771));
        assert!(!newer(32771, 2));
    }

    #[test]
    fn at_half_the_circle_the_larger_number_is_newer() {
        assert!(newer(32768, 0));
        assert!(!newer(0, 32768));
        assert!(newer(65535, 32767));
        assert!(!newer(32767, 65535));
    }

    #[test]
    fn numbers_go_on_past_the_wrap() {
        let mut unwrapper = Unwrapper::new();
        for (number, unwrapped) in [(65_534, 65_534), (65_535, 65_535), (1, 65_537), (0, 65_536), (2, 65_538)]
        {
            assert_eq!(unwrapper.unwrap(number), START + unwrapped);
        }
    }

    #[test]
    fn late_numbers_do_not_move_the_newest() {
        let mut unwrapper = Unwrapper::new();
        for (number, unwrapped) in [(40_000, 40_000), (0, 65_536), (30_000, 95_536)] {
            assert_eq!(unwrapper.unwrap(number), START + unwrapped);
        }
        // 30 000 behind 95 536. If the newest moved back there, 35 000 would be 35 000 ahead of it, which is 30
        // 536 behind, and come out a range too early.
        assert_eq!(unwrapper.unwrap(0), START + 65_536);
        assert_eq!(unwrapper.newest(), Some(START + 95_536));
        assert_eq!(unwrapper.unwrap(35_000), START + 100_536);
    }

    #[test]
    fn a_number_before_the_first_is_below_it() {
        let mut unwrapper = Unwrapper::new();
        assert_eq!([0, 65_535, 1].map(|number| unwrapper.unwrap(number)), [START, START - 1, START + 1]);
        // Half the range behind the first, and the first again.
        let mut unwrapper = Unwrapper::new();
        assert_eq!(
            [5, 32_773, 5].map(|number| unwrapper.unwrap(number)),
            [START + 5, START - 32_763, START + 5]
        );
        let mut unwrapper = TimestampUnwrapper::new();
        assert_eq!([0, u32::MAX, 1 << 31].map(|time| unwrapper.unwrap(time)), [START, START - 1, 1 << 31]);
        assert_eq!(unwrapper.newest(), Some(START));
    }

    #[test]
    fn half_the_circle_counts_as_behind() {
        let mut unwrapper = Unwrapper::new();
        unwrapper.unwrap(0);
        unwrapper.unwrap(32767);
        unwrapper.unwrap(65534);
        // 65534 + 32768 = 98302, lower bits 32766: as far ahead as behind; read as 65534 - 32768.
        assert_eq!(unwrapper.unwrap(32766), START + 32766);
    }

    #[test]
    fn timestamps_unwrap_by_32_bits() {
        let mut unwrapper = TimestampUnwrapper::new();
        assert_eq!(unwrapper.unwrap(0xFFFF_F000), START + 0xFFFF_F000);
        assert_eq!(unwrapper.unwrap(0x0000_0BB8), START + 0x1_0000_0BB8);
        assert_eq!(unwrapper.unwrap(0xFFFF_FFFF), START + 0xFFFF_FFFF);
        assert_eq!(unwrapper.newest(), Some(START + 0x1_0000_0BB8));
    }
}
