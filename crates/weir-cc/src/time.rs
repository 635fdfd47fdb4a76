//! Two clocks, two types: readings of the sender's clock and readings of the receiver's clock.
//!
//! The two never mix by accident. An arrival minus a departure is an [`ApparentDelay`]: the true one-way delay
//! plus an unknown constant, the offset between the clocks. Only differences of apparent delays are times.
//!
//! Serialised, all three are whole nanoseconds.

use core::ops::{Add, AddAssign, Sub};

use weir_units::TimeDelta;

macro_rules! clock {
    ($(#[$doc:meta])* $clock:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $clock(i64);

        impl $clock {
            /// The clock's zero, unrelated to that of any other clock.
            pub const ZERO: Self = Self(0);
            /// Later than any reading; means "never".
            pub const MAX: Self = Self(i64::MAX);

            /// The reading `ns` nanoseconds after the clock's zero.
            pub const fn from_nanos(ns: i64) -> Self {
                Self(ns)
            }

            /// The reading `ms` milliseconds after the clock's zero.
            pub const fn from_millis(ms: i64) -> Self {
                Self(ms.saturating_mul(1_000_000))
            }

            /// The last whole millisecond that this reading has reached.
            pub const fn whole_millis(self) -> Self {
                Self(self.0.saturating_sub(self.0.rem_euclid(1_000_000)))
            }

            /// Nanoseconds since the clock's zero.
            pub const fn nanos(self) -> i64 {
                self.0
            }
        }

        impl Add<TimeDelta> for $clock {
            type Output = Self;
            fn add(self, span: TimeDelta) -> Self {
                Self(self.0.saturating_add(span.nanos()))
            }
        }

        impl AddAssign<TimeDelta> for $clock {
            fn add_assign(&mut self, span: TimeDelta) {
                *self = *self + span;
            }
        }

        impl Sub<TimeDelta> for $clock {
            type Output = Self;
            fn sub(self, span: TimeDelta) -> Self {
                Self(self.0.saturating_sub(span.nanos()))
            }
        }

        impl Sub for $clock {
            type Output = TimeDelta;
            fn sub(self, earlier: Self) -> TimeDelta {
                TimeDelta::from_nanos(self.0.saturating_sub(earlier.0))
            }
        }
    };
}

clock! {
    /// A reading of the sender's clock.
    SendTime
}
clock! {
    /// A reading of the receiver's clock.
    ArrivalTime
}

/// An arrival minus its departure: the one-way delay plus the unknown offset between two clocks.
///
/// Ordering and differences are meaningful; the value itself is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ApparentDelay(i64);

impl ApparentDelay {
    /// The apparent delay of a packet that left at `departure` and arrived at `arrival`.
    pub const fn between(departure: SendTime, arrival: ArrivalTime) -> Self {
        Self(arrival.0.saturating_sub(departure.0))
    }

    /// The arrival of a packet that left at `departure` and had this delay.
    pub const fn after(self, departure: SendTime) -> ArrivalTime {
        ArrivalTime(departure.0.saturating_add(self.0))
    }

    /// The value as a true one-way delay. The only conversion for controllers that need absolute delays (DCCC, the
    /// NADA of dccc-2017): right only where both hosts' clocks are synchronised.
    pub const fn assuming_synchronised_clocks(self) -> TimeDelta {
        TimeDelta::from_nanos(self.0)
    }
}

impl Add<TimeDelta> for ApparentDelay {
    type Output = Self;
    fn add(self, span: TimeDelta) -> Self {
        Self(self.0.saturating_add(span.nanos()))
    }
}

impl Sub for ApparentDelay {
    type Output = TimeDelta;
    fn sub(self, other: Self) -> TimeDelta {
        TimeDelta::from_nanos(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_offset_cancels_in_differences_of_apparent_delays() {
        let offset = TimeDelta::from_secs(5 * 3600);
        let arrival = |ms| ArrivalTime::from_millis(ms) + offset;
        let first = ApparentDelay::between(SendTime::from_millis(0), arrival(25));
        let second = ApparentDelay::between(SendTime::from_millis(33), arrival(33 + 40));
        assert_eq!(second - first, TimeDelta::from_millis(15));
    }

    #[test]
    fn the_last_whole_millisecond_lies_before_also_where_time_is_negative() {
        let whole = |nanos| SendTime::from_nanos(nanos).whole_millis().nanos();
        assert_eq!([0, 999_999, 1_000_000, 1_999_999].map(whole), [0, 0, 1_000_000, 1_000_000]);
        assert_eq!([-1, -1_000_000, -1_000_001].map(whole), [-1_000_000, -1_000_000, -2_000_000]);
        // There is none before the first nanosecond of all.
        assert_eq!([i64::MIN, i64::MAX].map(whole), [i64::MIN, i64::MAX - 775_807]);
        let arrived = ArrivalTime::from_nanos(-1).whole_millis();
        assert_eq!(arrived, ArrivalTime::from_millis(-1));
    }
}
