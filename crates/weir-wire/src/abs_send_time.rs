//! The time a packet left, as the header extension `abs-send-time` carries it: 24 bits, 6.18 fixed-point seconds.
//!
//! URI `http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time`. A tick is 2⁻¹⁸ s (3.8147 µs), and the count
//! wraps every 64 s. The sender stamps a packet as it leaves the pacer.

/// Ticks in a second.
const TICKS_PER_SECOND: i64 = 1 << 18;
/// Ticks until the count wraps: 64 s.
const WRAP: u32 = 1 << 24;
/// Nanoseconds until the count wraps.
const WRAP_NANOS: i64 = 64 * NANOS_PER_SECOND;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// A tick is exactly 1 953 125 / 512 ns (10⁹ / 2¹⁸).
const TICK_NUMERATOR: i64 = 1_953_125;
const TICK_DENOMINATOR: i64 = 512;

/// A departure time in ticks of 2⁻¹⁸ s, modulo 64 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AbsSendTime(u32);

impl AbsSendTime {
    /// The lower 24 bits of `ticks`.
    pub const fn from_ticks(ticks: u32) -> Self {
        Self(ticks & (WRAP - 1))
    }

    /// The tick nearest to `nanos` nanoseconds on the sender's clock.
    pub const fn from_nanos(nanos: i64) -> Self {
        // 64 s are a whole number of both ticks and nanoseconds: taking whole wraps away changes nothing.
        Self::from_ticks(ticks_in(nanos.rem_euclid(WRAP_NANOS)) as u32)
    }

    /// From 64-bit NTP time, rounded down.
    pub const fn from_ntp(ntp: u64) -> Self {
        Self::from_ticks((ntp >> 14) as u32)
    }

    /// The 24 bits as on the wire.
    pub const fn ticks(self) -> u32 {
        self.0
    }

    /// Nanoseconds since the last wrap, to the nearest; 0 to 64 s.
    pub const fn nanos(self) -> i64 {
        nanos_in(self.0 as i64)
    }

    /// Ticks from `earlier` to `self`, in −2²³ to 2²³ − 1: right if the two are less than 32 s apart.
    pub const fn ticks_since(self, earlier: Self) -> i32 {
        signed(self.0.wrapping_sub(earlier.0))
    }

    /// Nanoseconds from `earlier` to `self`: right if the two are less than 32 s apart.
    pub const fn nanos_since(self, earlier: Self) -> i64 {
        nanos_in(self.ticks_since(earlier) as i64)
    }
}

/// The lower 24 bits as a signed number.
const fn signed(ticks: u32) -> i32 {
    (ticks << 8) as i32 >> 8
}

/// Ticks in `nanos`, to the nearest, halves up.
const fn ticks_in(nanos: i64) -> i64 {
    let seconds = nanos.div_euclid(NANOS_PER_SECOND);
    let rest = nanos.rem_euclid(NANOS_PER_SECOND);
    seconds * TICKS_PER_SECOND + (2 * rest * TICK_DENOMINATOR + TICK_NUMERATOR) / (2 * TICK_NUMERATOR)
}

/// Nanoseconds in `ticks`, to the nearest, halves up.
const fn nanos_in(ticks: i64) -> i64 {
    let seconds = ticks.div_euclid(TICKS_PER_SECOND);
    let rest = ticks.rem_euclid(TICKS_PER_SECOND);
    let fraction = (rest * TICK_NUMERATOR + TICK_DENOMINATOR / 2) / TICK_DENOMINATOR;
    seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(fraction)
}

/// Unwraps departure times to nanoseconds since the first one seen.
///
/// The unwrapper counts in ticks and converts each result on its own, so that rounding stays below half a
/// nanosecond however long it runs. The newest time only moves forward: late packets do not change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbsSendTimeUnwrapper {
    newest: Option<Newest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Newest {
    time: AbsSendTime,
    /// Since the first value.
    ticks: i64,
}

impl AbsSendTimeUnwrapper {
    /// An unwrapper before its first value.
    pub const fn new() -> Self {
        Self { newest: None }
    }

    /// Nanoseconds from the first departure to this one; negative if it left before the first.
    ///
    /// Valid while no packet is 32 s or more from the newest one; after a longer gap, use [`Self::unwrap_after`].
    pub fn unwrap(&mut self, time: AbsSendTime) -> i64 {
        self.unwrap_after(time, 0)
    }

    /// As [`Self::unwrap`], given that about `elapsed` nanoseconds have passed since the newest departure (in
    /// practice: since its arrival, by the receiver's clock). Valid if that is known to within 32 s.
    pub fn unwrap_after(&mut self, time: AbsSendTime, elapsed: i64) -> i64 {
        let Some(newest) = self.newest else {
            self.newest = Some(Newest { time, ticks: 0 });
            return 0;
        };
        let elapsed = ticks_in(elapsed);
        let expected = AbsSendTime::from_ticks(newest.time.0.wrapping_add(elapsed as u32));
        let ahead = elapsed + i64::from(time.ticks_since(expected));
        let ticks = newest.ticks.saturating_add(ahead);
        if ahead > 0 {
            self.newest = Some(Newest { time, ticks });
        }
        nanos_in(ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_become_the_nearest_tick() {
        // 12.345678 s * 2^18 = 3 236 345.4 -> 3 236 345 = 0x3161f9, which is 12.345676 s
        // (3 236 345 * 1 953 125 / 512 = 12 345 676 422.1 ns).
        let time = AbsSendTime::from_nanos(12_345_678_000);
        assert_eq!(time.ticks(), 0x31_61F9);
        assert_eq!(time.nanos(), 12_345_676_422);
        // Half a tick is 1907.3 ns: 1907 ns round down, 1908 ns up.
        assert_eq!(AbsSendTime::from_nanos(1907).ticks(), 0);
        assert_eq!(AbsSendTime::from_nanos(1908).ticks(), 1);
    }

    #[test]
    fn the_count_wraps_after_64_seconds() {
        // 64.5 s: 0.5 s after the wrap is 2^17 ticks.
        assert_eq!(AbsSendTime::from_nanos(64_500_000_000).ticks(), 0x02_0000);
        assert_eq!(AbsSendTime::from_nanos(64_500_000_000).nanos(), 500_000_000);
        // 1 ns before the wrap is nearer to it than to the tick before.
        assert_eq!(AbsSendTime::from_nanos(63_999_999_999).ticks(), 0);
        // 0.5 s before the clock's zero: 2^24 - 2^17.
        assert_eq!(AbsSendTime::from_nanos(-500_000_000).ticks(), 0xFE_0000);
        assert_eq!(AbsSendTime::from_ticks(0x0100_0001).ticks(), 1);
        assert!(AbsSendTime::from_nanos(i64::MIN).ticks() < WRAP);
        assert!(AbsSendTime::from_nanos(i64::MAX).ticks() < WRAP);
    }

    #[test]
    fn ntp_time_is_cut_to_6_18_bits() {
        // 0xfcdddda05a >> 14 = 0x3f37776, lower 24 bits 0xf37776 = 15 955 830; / 2^18 = 60.866661 s.
        let time = AbsSendTime::from_ntp(0xDA8B_D1FC_DDDD_A05A);
        assert_eq!(time.ticks(), 0xF3_7776);
        assert_eq!(time.nanos() / 1000, 60_866_661);
    }

    #[test]
    fn known_ticks_decode() {
        // 15 846 540 / 2^18 = 60.449753 s.
        assert_eq!(AbsSendTime::from_ticks(0xF1_CC8C).ticks(), 15_846_540);
        assert_eq!(AbsSendTime::from_ticks(0xF1_CC8C).nanos() / 1000, 60_449_752);
    }

    #[test]
    fn differences_cross_the_wrap_in_both_directions() {
        let before = AbsSendTime::from_ticks(0xFF_FFF0);
        let after = AbsSendTime::from_ticks(0x00_0010);
        // 0x20 = 32 ticks = 32 * 1 953 125 / 512 = 122 070.3 ns.
        assert_eq!(after.ticks_since(before), 0x20);
        assert_eq!(after.nanos_since(before), 122_070);
        assert_eq!(before.ticks_since(after), -0x20);
        assert_eq!(before.nanos_since(after), -122_070);
        // 2^23 apart is read as backwards.
        assert_eq!(AbsSendTime::from_ticks(1 << 23).ticks_since(AbsSendTime::default()), -(1 << 23));
    }

    #[test]
    fn unwrapping_counts_from_the_first_value_and_handles_older_ones() {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(63_000_000_000)), 0);
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(65_000_000_000)), 2_000_000_000);
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(62_500_000_000)), -500_000_000);
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(66_000_000_000)), 3_000_000_000);
    }

    #[test]
    fn late_packets_do_not_move_the_newest() {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        unwrapper.unwrap(AbsSendTime::from_nanos(0));
        unwrapper.unwrap(AbsSendTime::from_nanos(30_000_000_000));
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(0)), 0);
        // 35 s after the late packet (beyond its reach), 5 s after the newest.
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(35_000_000_000)), 35_000_000_000);
    }

    #[test]
    fn unwrapping_does_not_drift_over_days() {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        // 33 ms and a bit, so that nearly every departure falls between ticks; 8 million steps are 3 days.
        let (start, step) = (7_777_777_777, 33_333_333);
        let first = AbsSendTime::from_nanos(start);
        unwrapper.unwrap(first);
        let mut sent = start;
        for _ in 0..8_000_000 {
            sent += step;
            let seen = unwrapper.unwrap(AbsSendTime::from_nanos(sent));
            // Half a tick for the first stamp and half a tick for this one.
            assert!((seen - (sent - start)).abs() <= 3815, "{seen} after {}", sent - start);
        }
        assert!(sent - start > 3 * 86_400 * NANOS_PER_SECOND);
    }

    #[test]
    fn a_silence_longer_than_the_wrap_needs_only_a_rough_clock() {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        unwrapper.unwrap(AbsSendTime::from_nanos(0));
        let later = 1000 * NANOS_PER_SECOND;
        // The receiver's clock shows 1020 s, which is within 32 s of the truth.
        assert_eq!(
            unwrapper.unwrap_after(AbsSendTime::from_nanos(later), later + 20 * NANOS_PER_SECOND),
            later
        );
        assert_eq!(unwrapper.unwrap(AbsSendTime::from_nanos(later + 1_000_000_000)), later + 1_000_000_000);
    }

    #[test]
    fn nonsense_of_the_clock_is_survived() {
        let mut unwrapper = AbsSendTimeUnwrapper::new();
        unwrapper.unwrap(AbsSendTime::from_ticks(1));
        for elapsed in [i64::MAX, i64::MIN, i64::MAX, i64::MAX] {
            unwrapper.unwrap_after(AbsSendTime::from_ticks(5), elapsed);
        }
        assert_eq!(nanos_in(i64::MAX), i64::MAX);
        assert!(nanos_in(i64::MIN) < -9_223_372_000_000_000_000);
    }
}
