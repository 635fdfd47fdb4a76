//! The three quantities and the arithmetic between them.

use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use core::time::Duration;

/// Nanoseconds in a second.
const NANOS: i64 = 1_000_000_000;

/// A rate in whole bit/s. Never negative; arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u64);

/// An amount of data in whole bytes. Never negative; arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataSize(u64);

/// A signed span of time in whole nanoseconds (about ±292 years); arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeDelta(i64);

impl DataRate {
    /// No data at all.
    pub const ZERO: Self = Self(0);
    /// The largest rate that can be written; means "unlimited".
    pub const MAX: Self = Self(u64::MAX);

    /// A rate of `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `kbps` kbit/s (1000 bit/s).
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps.saturating_mul(1000))
    }

    /// A rate of `mbps` Mbit/s (1 000 000 bit/s).
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps.saturating_mul(1_000_000))
    }

    /// The nearest whole rate to `bps` bit/s; negative and NaN become zero, too large becomes [`Self::MAX`].
    pub fn from_bps_f64(bps: f64) -> Self {
        Self(round_u64(bps))
    }

    /// The rate in bit/s.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// The rate in bit/s, for the inside of a controller.
    pub const fn bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// The rate times `factor`, rounded; a negative or NaN factor gives zero.
    pub fn scale(self, factor: f64) -> Self {
        Self::from_bps_f64(self.bps_f64() * factor)
    }

    /// The difference, or zero where `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Whether this is no rate at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl DataSize {
    /// No data.
    pub const ZERO: Self = Self(0);
    /// The largest amount; means "unlimited".
    pub const MAX: Self = Self(u64::MAX);

    /// An amount of `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The nearest whole amount; negative and NaN become zero.
    pub fn from_bytes_f64(bytes: f64) -> Self {
        Self(round_u64(bytes))
    }

    /// The amount in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The amount in bytes, for the inside of a controller.
    pub const fn bytes_f64(self) -> f64 {
        self.0 as f64
    }

    /// The amount in bits, as `f64`.
    pub const fn bits_f64(self) -> f64 {
        self.0 as f64 * 8.0
    }

    /// The difference, or zero where `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Whether this is no data at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl TimeDelta {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span; means "never".
    pub const MAX: Self = Self(i64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }

    /// A span of `us` microseconds.
    pub const fn from_micros(us: i64) -> Self {
        Self(us.saturating_mul(1000))
    }

    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: i64) -> Self {
        Self(s.saturating_mul(NANOS))
    }

    /// The nearest whole span to `s` seconds; NaN becomes zero, too long saturates.
    pub fn from_secs_f64(s: f64) -> Self {
        Self(nearest(s * NANOS as f64) as i64)
    }

    /// The nearest whole span to `ms` milliseconds; NaN becomes zero, too long saturates.
    pub fn from_millis_f64(ms: f64) -> Self {
        Self(nearest(ms * 1e6) as i64)
    }

    /// The span in nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The span in whole microseconds, towards zero.
    pub const fn micros(self) -> i64 {
        self.0 / 1000
    }

    /// The span in seconds, for the inside of a controller.
    pub const fn secs_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// The span in milliseconds, for the inside of a controller.
    pub const fn millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span as a duration of std; zero for a negative one. A timeout that has passed is due at once.
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(if self.0 < 0 { 0 } else { self.0 as u64 })
    }

    /// The span without its sign.
    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// The span times `factor`, rounded.
    pub fn scale(self, factor: f64) -> Self {
        Self(nearest(self.0 as f64 * factor) as i64)
    }

    /// Whether the span runs backwards.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

impl From<Duration> for TimeDelta {
    /// The span of `duration`, which saturates at [`TimeDelta::MAX`].
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

fn round_u64(value: f64) -> u64 {
    // `as` saturates: negative and NaN give 0, too large gives MAX.
    nearest(value) as u64
}

/// Whole number nearest to `value`, halves away from zero: the `round` of std, which core lacks, for a conversion
/// by `as`.
///
/// The half added is smaller by its last bit, so that the rounded sum of a value below a half stays below the next
/// whole number.
pub(crate) fn nearest(value: f64) -> f64 {
    value + (0.5 - f64::EPSILON / 4.0).copysign(value)
}

macro_rules! additive {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl core::iter::Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
                terms.fold(Self::default(), Add::add)
            }
        }
    )*};
}
additive!(DataRate, DataSize, TimeDelta);

impl Sub for TimeDelta {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for TimeDelta {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for TimeDelta {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Mul<i64> for TimeDelta {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<i64> for TimeDelta {
    type Output = Self;
    /// Whole division towards zero; division by zero gives the longest span of the same sign.
    fn div(self, divisor: i64) -> Self {
        match divisor {
            0 if self.0 < 0 => Self(i64::MIN),
            0 => Self(i64::MAX),
            _ => Self(self.0.saturating_div(divisor)),
        }
    }
}

impl Div<DataRate> for DataSize {
    type Output = TimeDelta;
    /// The time to send this much at `rate`, rounded up; [`TimeDelta::MAX`] at rate zero.
    #[inline]
    fn div(self, rate: DataRate) -> TimeDelta {
        if rate.0 == 0 {
            return TimeDelta::MAX;
        }
        let nanos = if let Some(bit_nanos) = self.0.checked_mul(8 * NANOS as u64) {
            i64::try_from(bit_nanos.div_ceil(rate.0))
        } else {
            let wide = u128::from(self.0) * 8 * NANOS as u128;
            i64::try_from(wide.div_ceil(u128::from(rate.0)))
        };
        TimeDelta(nanos.unwrap_or(i64::MAX))
    }
}

impl Div<TimeDelta> for DataSize {
    type Output = DataRate;
    /// The rate of this much per `span`, rounded down; a span that is not positive gives [`DataRate::MAX`].
    fn div(self, span: TimeDelta) -> DataRate {
        if span.0 <= 0 {
            return DataRate::MAX;
        }
        let rate = u128::from(self.0) * 8 * NANOS as u128 / span.0 as u128;
        DataRate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

impl Mul<TimeDelta> for DataRate {
    type Output = DataSize;
    /// Amount carried at this rate in `span`, in whole bytes rounded down; zero for a negative span.
    fn mul(self, span: TimeDelta) -> DataSize {
        let size = u128::from(self.0) * span.0.max(0) as u128 / (8 * NANOS as u128);
        DataSize(u64::try_from(size).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_time_is_size_over_rate_rounded_up() {
        // 1000 bytes at 3 Mbit/s: 8000 / 3e6 s = 2 666 666.67 ns.
        let t = DataSize::from_bytes(1000) / DataRate::from_mbps(3);
        assert_eq!(t.nanos(), 2_666_667);
        assert_eq!(DataSize::from_bytes(1) / DataRate::ZERO, TimeDelta::MAX);
        assert_eq!(DataSize::MAX / DataRate::from_bps(1), TimeDelta::MAX);
    }

    #[test]
    fn rate_is_size_over_time() {
        let r = DataSize::from_bytes(1250) / TimeDelta::from_millis(10);
        assert_eq!(r, DataRate::from_mbps(1));
        assert_eq!(DataSize::from_bytes(1) / TimeDelta::ZERO, DataRate::MAX);
        assert_eq!(DataRate::from_mbps(1) * TimeDelta::from_millis(10), DataSize::from_bytes(1250));
        assert_eq!(DataRate::from_mbps(1) * TimeDelta::from_millis(-10), DataSize::ZERO);
    }

    #[test]
    fn floats_saturate() {
        assert_eq!(DataRate::from_bps_f64(-1.0), DataRate::ZERO);
        assert_eq!(DataRate::from_bps_f64(f64::NAN), DataRate::ZERO);
        assert_eq!(DataRate::from_bps_f64(f64::INFINITY), DataRate::MAX);
        assert_eq!(DataRate::from_bps(10).scale(0.25), DataRate::from_bps(3));
        assert_eq!(TimeDelta::from_secs_f64(f64::NAN), TimeDelta::ZERO);
    }

    #[test]
    fn the_nearest_is_that_of_std() {
        let halves = (-9..=9).map(|n| f64::from(n) / 2.0);
        let large = [51, 52, 53, 62, 63].map(|bits| (1_u64 << bits) as f64);
        for value in halves.chain(large).chain([0.1, 1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN]) {
            for value in [value.next_down(), value, value.next_up(), -value, value + 0.5, value - 1.5] {
                assert_eq!(nearest(value) as i64, value.round() as i64, "{value:e}");
                assert_eq!(nearest(value) as u64, value.round() as u64, "{value:e}");
            }
        }
    }

    #[test]
    fn spans_are_durations_unless_they_are_negative_or_too_long() {
        for nanos in [0, 1, 999_999_999, 1_000_000_001, i64::MAX] {
            let span = TimeDelta::from_nanos(nanos);
            assert_eq!(span.to_duration(), Duration::from_nanos(nanos as u64));
            assert_eq!(TimeDelta::from(span.to_duration()), span);
        }
        assert_eq!(TimeDelta::from_nanos(-1).to_duration(), Duration::ZERO);
        assert_eq!(TimeDelta::from_nanos(i64::MIN).to_duration(), Duration::ZERO);
        let least_too_long = Duration::from_nanos(i64::MAX as u64 + 1);
        assert_eq!([least_too_long, Duration::MAX].map(TimeDelta::from), [TimeDelta::MAX; 2]);
    }

    #[test]
    fn spans_divide_without_panic() {
        assert_eq!(TimeDelta::from_nanos(i64::MIN) / -1, TimeDelta::MAX);
        assert_eq!(TimeDelta::from_nanos(5) / 0, TimeDelta::MAX);
        assert_eq!(TimeDelta::from_millis(10) / 4, TimeDelta::from_micros(2500));
    }
}
