//! Instants of std as readings of a host's clock.

use std::time::{Duration, Instant};

use weir_units::TimeDelta;

use crate::time::{ArrivalTime, SendTime};

/// Span after the zero that stands for an instant which the system cannot represent.
const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);

/// The monotonic clock of this host, which counts from an instant: conversions between [`Instant`] and the times of
/// sender and receiver halves. Available with the feature `std`.
///
/// A clock reads no time itself. All parts of a path on one host need the same clock, because readings of two clocks
/// differ by a constant.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use weir_cc::{MonotonicClock, SendTime};
///
/// let begin = Instant::now();
/// let clock = MonotonicClock::new(begin);
/// // For each call of a controller:
/// let now = clock.send_time(begin + Duration::from_millis(20));
/// assert_eq!(now, SendTime::from_millis(20));
/// // For the caller's timer, from `next_timeout()` of a controller or a pacer:
/// let due = SendTime::from_millis(25);
/// assert_eq!(clock.instant(due), begin + Duration::from_millis(25));
/// assert_eq!((due - now).to_duration(), Duration::from_millis(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MonotonicClock {
    zero: Instant,
}

impl MonotonicClock {
    /// A clock that reads zero at the instant `zero`, the earliest one that it distinguishes.
    pub const fn new(zero: Instant) -> Self {
        Self { zero }
    }

    /// The sender's time at `at`; zero for instants before the clock's zero.
    pub fn send_time(&self, at: Instant) -> SendTime {
        SendTime::ZERO + self.reading(at)
    }

    /// The receiver's time at `at`; zero for instants before the clock's zero.
    pub fn arrival_time(&self, at: Instant) -> ArrivalTime {
        ArrivalTime::ZERO + self.reading(at)
    }

    /// The instant of the sender's time `at`. Times before zero give the clock's zero, and times that the system
    /// cannot represent, such as "never", an instant decades later.
    pub fn instant(&self, at: SendTime) -> Instant {
        self.after(at - SendTime::ZERO)
    }

    /// The instant of the receiver's time `at`, with the limits of [`Self::instant`].
    pub fn arrival_instant(&self, at: ArrivalTime) -> Instant {
        self.after(at - ArrivalTime::ZERO)
    }

    fn reading(&self, at: Instant) -> TimeDelta {
        at.saturating_duration_since(self.zero).into()
    }

    fn after(&self, span: TimeDelta) -> Instant {
        let later = |span| self.zero.checked_add(span);
        later(span.to_duration()).or_else(|| later(FAR)).unwrap_or(self.zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn any_instant() -> Instant {
        Instant::now()
    }

    #[test]
    fn instants_and_readings_are_each_others_inverse() {
        let zero = any_instant();
        let clock = MonotonicClock::new(zero);
        for nanos in [0, 1, 1_000_000_007, 86_400_000_000_000] {
            let at = zero + Duration::from_nanos(nanos);
            let (sent, arrived) = (clock.send_time(at), clock.arrival_time(at));
            assert_eq!((sent.nanos(), arrived.nanos()), (nanos as i64, nanos as i64));
            assert_eq!((clock.instant(sent), clock.arrival_instant(arrived)), (at, at));
        }
    }

    #[test]
    fn instants_before_the_zero_and_times_beyond_all_saturate() {
        let early = any_instant();
        let clock = MonotonicClock::new(early + Duration::from_secs(5));
        assert_eq!((clock.send_time(early), clock.arrival_time(early)), (SendTime::ZERO, ArrivalTime::ZERO));
        let zero = clock.instant(SendTime::ZERO);
        assert_eq!(zero, early + Duration::from_secs(5));
        assert_eq!(clock.instant(SendTime::from_nanos(i64::MIN)), zero);
        assert_eq!(clock.arrival_instant(ArrivalTime::from_millis(-1)), zero);
        assert!(clock.instant(SendTime::MAX) >= zero + FAR);
    }
}
