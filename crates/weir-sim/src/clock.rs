//! What a host's clock reads, and when it will read something.

use weir_net::Time;
use weir_units::TimeDelta;

use crate::spec::ClockSpec;

/// A clock with offset, drift and resolution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: i64,
    /// Local nanoseconds gained per true nanosecond, times 2^32; zero for no drift.
    drift: i64,
    resolution: i64,
}

impl Clock {
    pub(crate) fn new(spec: ClockSpec) -> Self {
        Self {
            offset: spec.offset.nanos(),
            drift: (spec.drift_ppm * 1e-6 * 4_294_967_296.0).round() as i64,
            resolution: spec.resolution.nanos().max(0),
        }
    }

    /// The reading at true time `now`, in nanoseconds since the clock's zero.
    pub(crate) fn read(&self, now: Time) -> i64 {
        let now = now.nanos() as i64;
        let mut local = now.saturating_add(self.offset);
        if self.drift != 0 {
            local = local.saturating_add(((i128::from(now) * i128::from(self.drift)) >> 32) as i64);
        }
        if self.resolution > 1 { local - local.rem_euclid(self.resolution) } else { local }
    }

    /// The earliest true time, not before `now`, at which the clock reads `local` or more.
    pub(crate) fn when(&self, local: i64, now: Time) -> Time {
        if local == i64::MAX {
            return Time::MAX;
        }
        let mut local = local;
        if self.resolution > 1 {
            // Readings are multiples of the resolution: wait for the next one.
            local = local.saturating_add((-local).rem_euclid(self.resolution));
        }
        let mut due = local.saturating_sub(self.offset);
        if self.drift != 0 {
            due = ((i128::from(due) << 32) / ((1i128 << 32) + i128::from(self.drift))) as i64;
        }
        let mut due = Time::from_nanos(due.max(0) as u64).max(now);
        while self.read(due) < local {
            due += TimeDelta::from_nanos(1);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_be_off_fast_and_coarse() {
        let clock = Clock::new(ClockSpec {
            offset: TimeDelta::from_secs(3600),
            drift_ppm: 100.0,
            resolution: TimeDelta::from_millis(1),
        });
        // After 100.0009 s: 100 ppm are 10 ms; 3600 + 100.0009 + 0.0100 s, cut to ms.
        let read = clock.read(Time::from_nanos(100_000_900_000));
        assert_eq!(read, 3_700_010_000_000);
        assert_eq!(Clock::new(ClockSpec::default()).read(Time::from_millis(5)), 5_000_000);
    }

    #[test]
    fn due_times_are_the_first_at_which_the_clock_reads_them() {
        for drift_ppm in [-200.0, 0.0, 37.5, 200.0] {
            for resolution in [0, 1_000_000, 333_333] {
                let clock = Clock::new(ClockSpec {
                    offset: TimeDelta::from_millis(-7_000),
                    drift_ppm,
                    resolution: TimeDelta::from_nanos(resolution),
                });
                for local in [-3_000_000_001i64, 0, 12_345_678_901, 86_400_000_000_000] {
                    let due = clock.when(local, Time::ZERO);
                    assert!(clock.read(due) >= local);
                    let before = Time::from_nanos(due.nanos() - 1);
                    assert!(clock.read(before) < local, "{drift_ppm} {resolution} {local}");
                }
            }
        }
    }

    #[test]
    fn what_is_overdue_is_due_now_and_never_is_never() {
        let clock = Clock::new(ClockSpec::default());
        assert_eq!(clock.when(5, Time::from_millis(1)), Time::from_millis(1));
        assert_eq!(clock.when(i64::MAX, Time::ZERO), Time::MAX);
    }
}
