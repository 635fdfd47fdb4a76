//! Network time: the true time that no host's clock shows.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use weir_units::TimeDelta;

/// Network ("true") time: whole nanoseconds since the start of a run. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens; stands for "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The time `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// The time `ms` milliseconds after the start.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the start.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for plots and means.
    pub const fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<TimeDelta> for Time {
    type Output = Self;
    fn add(self, span: TimeDelta) -> Self {
        Self(self.0.saturating_add_signed(span.nanos()))
    }
}

impl AddAssign<TimeDelta> for Time {
    fn add_assign(&mut self, span: TimeDelta) {
        *self = *self + span;
    }
}

impl Sub<TimeDelta> for Time {
    type Output = Self;
    /// The time `span` earlier, but not before the start.
    fn sub(self, span: TimeDelta) -> Self {
        self + -span
    }
}

impl Sub for Time {
    type Output = TimeDelta;
    /// The span from `earlier` to this time, negative if `earlier` is later.
    #[inline]
    fn sub(self, earlier: Self) -> TimeDelta {
        let nanos = self.0.wrapping_sub(earlier.0) as i64;
        let fits = nanos.is_negative() == (self.0 < earlier.0);
        let beyond = if self.0 < earlier.0 { i64::MIN } else { i64::MAX };
        TimeDelta::from_nanos(if fits { nanos } else { beyond })
    }
}

impl fmt::Display for Time {
    /// Seconds with nine decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_carry_a_sign_and_saturate() {
        let (early, late) = (Time::from_millis(3), Time::from_millis(10));
        assert_eq!(late - early, TimeDelta::from_millis(7));
        assert_eq!(early - late, TimeDelta::from_millis(-7));
        assert_eq!(Time::MAX - Time::ZERO, TimeDelta::MAX);
        assert_eq!(Time::ZERO - Time::MAX, TimeDelta::from_nanos(i64::MIN));
    }

    #[test]
    fn time_stays_between_the_start_and_never() {
        assert_eq!(Time::from_millis(1) + TimeDelta::from_millis(-2), Time::ZERO);
        assert_eq!(Time::from_millis(1) - TimeDelta::from_millis(2), Time::ZERO);
        assert_eq!(Time::MAX + TimeDelta::from_nanos(1), Time::MAX);
        assert_eq!(Time::from_millis(u64::MAX), Time::MAX);
        assert_eq!(Time::from_millis(1500).secs_f64(), 1.5);
        assert_eq!(Time::from_nanos(1_000_000_001).to_string(), "1.000000001s");
    }

    #[test]
    fn time_goes_on_by_a_span() {
        let mut time = Time::from_millis(5);
        time += TimeDelta::from_millis(7);
        assert_eq!(time, Time::from_millis(12));
        assert_eq!(time - TimeDelta::from_millis(2), Time::from_millis(10));
    }
}
