//! Numbers and times that wrap are unwrapped, and convert.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_wire::seq::{self, TimestampUnwrapper, Unwrapper};
use weir_wire::{AbsSendTime, AbsSendTimeUnwrapper, NtpTime, ntp};

proptest! {
    #[test]
    fn of_two_different_numbers_exactly_one_is_newer(a: u16, b: u16) {
        prop_assert_eq!(seq::newer(a, b) != seq::newer(b, a), a != b);
    }

    #[test]
    fn unwrapping_finds_any_number_within_half_a_circle_of_the_newest(
        steps in vec(-32768..32768i64, 0..200), first: u16,
    ) {
        let mut unwrapper = Unwrapper::new();
        let mut newest = unwrapper.unwrap(first);
        prop_assert_eq!(newest as u16, first);
        for step in steps {
            let number = newest.wrapping_add_signed(step);
            newest = newest.max(number);
            prop_assert_eq!(unwrapper.unwrap(number as u16), number);
            prop_assert_eq!(unwrapper.newest(), Some(newest));
        }
    }

    #[test]
    fn timestamps_are_never_lost(values in vec(any::<u32>(), 1..100)) {
        let mut unwrapper = TimestampUnwrapper::new();
        for value in values {
            prop_assert_eq!(unwrapper.unwrap(value) as u32, value);
        }
    }

    #[test]
    fn a_departure_is_known_to_half_a_tick(nanos: i64) {
        let time = AbsSendTime::from_nanos(nanos);
        let error = time.nanos() - nanos.rem_euclid(64_000_000_000);
        // 64 s and 0 are the same tick.
        prop_assert!(error.abs() <= 1908 || error.abs() >= 64_000_000_000 - 1908);
        prop_assert_eq!(AbsSendTime::from_nanos(time.nanos()), time);
    }

    #[test]
    fn departures_unwrap_to_their_distance_from_the_first(
        first in 0..1_000_000_000_000i64, steps in vec(-31_000_000_000..31_000_000_000i64, 1..100),
    ) {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        unwrapper.unwrap(AbsSendTime::from_nanos(first));
        let mut newest = first;
        for step in steps {
            let sent = newest + step;
            newest = newest.max(sent);
            let seen = unwrapper.unwrap(AbsSendTime::from_nanos(sent));
            prop_assert!((seen - (sent - first)).abs() <= 3816);
        }
    }

    #[test]
    fn any_moment_and_any_span_convert(nanos: i64, units: u32, (a, b, c) in any::<(u32, u32, u32)>()) {
        prop_assert!(NtpTime::from_unix_nanos(nanos).subsec_nanos() <= 1_000_000_000);
        prop_assert_eq!(ntp::units_from_nanos(ntp::nanos_from_units(units)), units);
        prop_assert_eq!(ntp::round_trip(a, b, c).is_none(), b == 0);
    }
}
