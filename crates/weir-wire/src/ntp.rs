//! NTP time in RTCP (RFC 3550 §4, §6.4.1): 64-bit timestamps, their middle 32 bits, and the round-trip time.
//!
//! The middle 32 bits are seconds in 16.16 fixed point; spans in that unit (1/65536 s, 15.26 µs) wrap after
//! 18.2 h.

use crate::error::ParseError;

/// Seconds from the zero of NTP (1900) to the Unix epoch (1970).
pub const UNIX_EPOCH_SECONDS: u64 = 2_208_988_800;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A 64-bit NTP timestamp: seconds since 1900 in 32.32 fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NtpTime(pub u64);

impl NtpTime {
    /// The time `nanos` nanoseconds after the Unix epoch, rounded down to 2⁻³² s (0.23 ns). A simulated clock counts
    /// from the same epoch.
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        let per_second = NANOS_PER_SECOND as i64;
        let seconds = UNIX_EPOCH_SECONDS.wrapping_add_signed(nanos.div_euclid(per_second));
        let fraction = ((nanos.rem_euclid(per_second) as u64) << 32) / NANOS_PER_SECOND;
        // NTP time wraps in 2036; only its lower 32 bits of seconds are on the wire.
        Self((seconds << 32) | fraction)
    }

    /// Whole seconds, modulo 2³².
    pub const fn seconds(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Nanoseconds past the whole second, to the nearest (1 000 000 000 only within 0.5 ns of the next one).
    pub const fn subsec_nanos(self) -> u32 {
        (((self.0 & 0xFFFF_FFFF) * NANOS_PER_SECOND + (1 << 31)) >> 32) as u32
    }

    /// The middle 32 bits: 16.16 seconds, as `LSR` of a report block and the timestamp of RFC 8888 carry them.
    pub const fn middle(self) -> u32 {
        (self.0 >> 16) as u32
    }
}

/// `nanos` in units of 1/65536 s, to the nearest; negative gives 0, more than 18.2 h the maximum.
pub const fn units_from_nanos(nanos: i64) -> u32 {
    if nanos <= 0 {
        return 0;
    }
    let units = (((nanos as u128) << 16) + NANOS_PER_SECOND as u128 / 2) / NANOS_PER_SECOND as u128;
    if units > u32::MAX as u128 { u32::MAX } else { units as u32 }
}

/// `units` of 1/65536 s in nanoseconds, to the nearest.
pub const fn nanos_from_units(units: u32) -> i64 {
    ((units as u64 * NANOS_PER_SECOND + (1 << 15)) >> 16) as i64
}

/// The round-trip time in units of 1/65536 s at the sender of a sender report (RFC 3550 §6.4.1): `arrival` of the
/// report block minus its `LSR` minus its `DLSR`, where `arrival` is the [middle](NtpTime::middle) of NTP time.
///
/// Returns `None` if the block's sender has seen no sender report yet (`LSR` 0). Clocks that run apart can make
/// the difference negative; the result is then 0.
pub const fn round_trip(arrival: u32, last_sender_report: u32, delay: u32) -> Option<u32> {
    if last_sender_report == 0 {
        return None;
    }
    let units = arrival.wrapping_sub(last_sender_report).wrapping_sub(delay) as i32;
    Some(if units < 0 { 0 } else { units as u32 })
}

impl NtpTime {
    pub(crate) fn read(reader: &mut crate::cursor::Reader<'_>) -> Result<Self, ParseError> {
        reader.u64().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_time_becomes_ntp_time() {
        // 1970 is second 2 208 988 800 = 0x83aa7e80; half a second is 2^31.
        assert_eq!(NtpTime::from_unix_nanos(0), NtpTime(0x83AA_7E80_0000_0000));
        assert_eq!(NtpTime::from_unix_nanos(500_000_000), NtpTime(0x83AA_7E80_8000_0000));
        // A quarter second before: 0.75 of the second before.
        assert_eq!(NtpTime::from_unix_nanos(-250_000_000), NtpTime(0x83AA_7E7F_C000_0000));
        // 1 ns = 4.29 units of 2^-32 s, rounded down.
        assert_eq!(NtpTime::from_unix_nanos(1).0 & 0xFFFF_FFFF, 4);
    }

    #[test]
    fn a_nanosecond_survives_ntp_time() {
        for nanos in [0, 1, 2, 333_333_333, 999_999_999] {
            let time = NtpTime::from_unix_nanos(nanos);
            assert_eq!(i64::from(time.subsec_nanos()), nanos);
            assert_eq!(u64::from(time.seconds()), UNIX_EPOCH_SECONDS);
        }
        assert_eq!(NtpTime(0xFFFF_FFFF).subsec_nanos(), 1_000_000_000);
    }

    #[test]
    fn the_middle_is_16_16_seconds() {
        assert_eq!(NtpTime(0xB44D_B705_2000_0000).middle(), 0xB705_2000);
        assert_eq!(NtpTime(0x0123_4567_89AB_CDEF).middle(), 0x4567_89AB);
    }

    #[test]
    fn round_trip_of_the_example_in_rfc_3550() {
        // 46864.5 - 46853.125 - 5.25 = 6.125 s = 6.125 * 65536 = 0x62000.
        let rtt = round_trip(0xB710_8000, 0xB705_2000, 0x0005_4000);
        assert_eq!(rtt, Some(0x0006_2000));
        assert_eq!(nanos_from_units(0x0006_2000), 6_125_000_000);
    }

    #[test]
    fn round_trip_crosses_the_wrap() {
        // 0x1000 - 0xfffff000 = 0x2000; minus 0x1000 held = 0x1000 / 65536 s = 62.5 ms.
        assert_eq!(round_trip(0x0000_1000, 0xFFFF_F000, 0x1000), Some(0x1000));
        assert_eq!(nanos_from_units(0x1000), 62_500_000);
    }

    #[test]
    fn round_trip_is_unknown_without_a_report_and_never_negative() {
        assert_eq!(round_trip(0xB710_8000, 0, 0), None);
        // 100 - 50 - 60 = -10.
        assert_eq!(round_trip(100, 50, 60), Some(0));
    }

    #[test]
    fn spans_convert_to_the_nearest_unit() {
        // 5.25 s * 65536 = 344 064 = 0x54000; 150 137 / 65536 = 2.290 909 s (2 290 908 813.5 ns).
        assert_eq!(units_from_nanos(5_250_000_000), 0x0005_4000);
        assert_eq!(nanos_from_units(150_137) / 1000, 2_290_908);
        assert_eq!(units_from_nanos(2_290_909_000), 150_137);
        // A unit is 15 258.8 ns, half of it 7629.4 ns.
        assert_eq!(nanos_from_units(1), 15_259);
        assert_eq!(units_from_nanos(7629), 0);
        assert_eq!(units_from_nanos(7630), 1);
        assert_eq!(units_from_nanos(-1), 0);
        assert_eq!(units_from_nanos(i64::MAX), u32::MAX);
        assert_eq!(units_from_nanos(nanos_from_units(u32::MAX)), u32::MAX);
    }
}
