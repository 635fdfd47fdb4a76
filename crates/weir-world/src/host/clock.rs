//! Clocks of hosts: the time they read, and the true time of a reading.

use weir_net::Time;
use weir_units::TimeDelta;

use crate::flow::ClockSpec;

/// Latest time at which a clock is read, in nanoseconds (292 years).
const LATEST: u64 = i64::MAX as u64;

/// A clock with offset, drift and resolution.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    offset: i64,
    /// Local nanoseconds gained per true nanosecond, times 2^32; zero without drift.
    drift: i64,
    resolution: i64,
    /// The time at which the clock is set, and the step forward, in nanoseconds.
    step: Option<(u64, i64)>,
}

impl Clock {
    /// The clock that `spec` describes.
    pub fn new(spec: ClockSpec) -> Self {
        Self {
            offset: spec.offset.nanos(),
            drift: (spec.drift_ppm * 1e-6 * 4_294_967_296.0).round() as i64,
            resolution: spec.resolution.nanos().max(0),
            step: spec.step.map(|(at, by)| (at.nanos(), by.nanos())),
        }
    }

    /// The reading at true time `now`, in nanoseconds since the clock's zero.
    #[inline]
    pub fn read(&self, now: Time) -> i64 {
        let now = now.nanos().min(LATEST);
        if self.is_true() {
            return (now as i64).saturating_add(self.offset);
        }
        self.read_crooked(now)
    }

    /// Whether the clock differs from true time only by a constant.
    #[inline]
    fn is_true(&self) -> bool {
        self.drift == 0 && self.resolution <= 1 && self.step.is_none()
    }

    fn read_crooked(&self, now: u64) -> i64 {
        let stepped = self.step.map_or(0, |(at, by)| if now >= at { by } else { 0 });
        let mut local = i128::from(now) + i128::from(self.offset) + i128::from(stepped);
        if self.drift != 0 {
            local += (i128::from(now) * i128::from(self.drift)) >> 32;
        }
        if self.resolution > 1 {
            local -= local.rem_euclid(i128::from(self.resolution));
        }
        local.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// The earliest true time, not before `now`, at which the clock reads `local` or more; [`Time::MAX`] if it never
    /// does.
    #[inline]
    pub fn when(&self, local: i64, now: Time) -> Time {
        if local == i64::MAX {
            return Time::MAX;
        }
        if self.is_true() {
            let nanos = local.saturating_sub(self.offset).max(0) as u64;
            return if nanos < LATEST { Time::from_nanos(nanos).max(now) } else { Time::MAX };
        }
        self.when_crooked(local, now)
    }

    fn when_crooked(&self, local: i64, now: Time) -> Time {
        let Some((at, by)) = self.step else { return self.when_steady(local, now) };
        let before = Self { step: None, ..*self };
        let after = Self { offset: self.offset.saturating_add(by), ..before };
        let at = Time::from_nanos(at);
        if now < at {
            let due = before.when_steady(local, now);
            if due < at {
                return due;
            }
        }
        after.when_steady(local, now.max(at))
    }

    /// The same for a clock without a step.
    fn when_steady(&self, local: i64, now: Time) -> Time {
        let mut due = i128::from(local);
        if self.resolution > 1 {
            // Readings are multiples of the resolution: wait for the next one.
            due += (-due).rem_euclid(i128::from(self.resolution));
        }
        due -= i128::from(self.offset);
        if self.drift != 0 {
            due = (due << 32) / ((1i128 << 32) + i128::from(self.drift));
        }
        let Some(nanos) = u64::try_from(due.max(0)).ok().filter(|&nanos| nanos < LATEST) else {
            return Time::MAX;
        };
        let mut due = Time::from_nanos(nanos).max(now);
        while due.nanos() < LATEST && self.read(due) < local {
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
            ..ClockSpec::default()
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
                    ..ClockSpec::default()
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
    fn a_clock_that_is_set_reads_another_time_from_then_on() {
        let set = |by| {
            let step = Some((Time::from_millis(1000), TimeDelta::from_millis(by)));
            Clock::new(ClockSpec { step, ..ClockSpec::default() })
        };
        let ms = |clock: Clock, local: i64| clock.when(local * 1_000_000, Time::ZERO);
        let ahead = set(250);
        assert_eq!([999, 1000].map(|at| ahead.read(Time::from_millis(at))), [999_000_000, 1_250_000_000]);
        // 1100 ms is read at no time: the first reading beyond it is at the step.
        assert_eq!([999, 1100, 1300].map(|at| ms(ahead, at)), [999, 1000, 1050].map(Time::from_millis));
        let back = set(-250);
        assert_eq!([999, 1000].map(|at| back.read(Time::from_millis(at))), [999_000_000, 750_000_000]);
        assert_eq!([999, 1000].map(|at| ms(back, at)), [999, 1250].map(Time::from_millis));
        // After the step an earlier reading comes again.
        assert_eq!(back.when(800_000_000, Time::from_millis(1000)), Time::from_millis(1050));
    }

    #[test]
    fn a_clock_at_the_end_of_its_range_stands_still() {
        let clock = |offset, drift_ppm, resolution| {
            let (offset, resolution) = (TimeDelta::from_secs(offset), TimeDelta::from_secs(resolution));
            Clock::new(ClockSpec { offset, drift_ppm, resolution, step: None })
        };
        // Readings are multiples of 5 · 10⁹ s, of which the second is beyond the range of 9.2 · 10⁹ s.
        let coarse = clock(6_000_000_000, 0.0, 5_000_000_000);
        let local = coarse.read(Time::ZERO) + 1;
        let due = Time::from_millis(4_000_000_000_000);
        assert_eq!((coarse.when(local, Time::ZERO), coarse.read(due)), (due, i64::MAX));
        // A slow clock reads it only after the end of all times.
        assert_eq!(clock(0, -1000.0, 0).when(i64::MAX - 1, Time::ZERO), Time::MAX);
        assert_eq!(clock(-9_000_000_000, 0.0, 0).when(1_000_000_000_000_000_000, Time::ZERO), Time::MAX);
        assert_eq!(clock(-9_223_372_036, 0.0, 9_000_000_000).read(Time::ZERO), i64::MIN);
    }

    #[test]
    fn overdue_times_are_due_now_and_never_stays_never() {
        let clock = Clock::new(ClockSpec::default());
        assert_eq!(clock.when(5, Time::from_millis(1)), Time::from_millis(1));
        assert_eq!(clock.when(i64::MAX, Time::ZERO), Time::MAX);
    }
}
