//! The clock of a run, and the translation of the kernel's receive stamps to it.
//!
//! A run counts from an origin on CLOCK_MONOTONIC. The kernel stamps received packets by CLOCK_REALTIME, which may be
//! set at any moment. The [`StampTranslator`] compares both clocks at each [`Reading`].

#[cfg(target_os = "linux")]
use nix::time::ClockId;
use weir_net::Time;
use weir_units::TimeDelta;

/// A clock of the system in ns.
#[cfg(target_os = "linux")]
pub(crate) fn nanos_of(clock: ClockId) -> i64 {
    let time = clock.now().expect("Linux has this clock");
    time.tv_sec().saturating_mul(1_000_000_000).saturating_add(time.tv_nsec())
}

/// Run time from CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunClock {
    /// The start of the run, in ns of CLOCK_MONOTONIC.
    origin: i64,
}

impl RunClock {
    /// A clock whose run starts at `origin` ns of CLOCK_MONOTONIC, which may be yet to come.
    pub const fn from_origin(origin: i64) -> Self {
        Self { origin }
    }

    /// A clock whose run starts now.
    #[cfg(target_os = "linux")]
    pub fn start() -> Self {
        Self::from_origin(nanos_of(ClockId::CLOCK_MONOTONIC))
    }

    /// The present time of the run; zero before the start.
    #[cfg(target_os = "linux")]
    pub fn now(self) -> Time {
        self.time_of(nanos_of(ClockId::CLOCK_MONOTONIC))
    }

    /// The time of the run at `monotonic` ns of CLOCK_MONOTONIC; zero before the start.
    pub const fn time_of(self, monotonic: i64) -> Time {
        let since = monotonic.saturating_sub(self.origin);
        Time::from_nanos(if since > 0 { since as u64 } else { 0 })
    }

    /// The time left until `time` of the run, negative if it has passed. Before the start it includes the time until then.
    #[cfg(target_os = "linux")]
    pub fn until(self, time: Time) -> TimeDelta {
        self.left(time, nanos_of(ClockId::CLOCK_MONOTONIC))
    }

    /// The time left until `time` of the run at `monotonic` ns of CLOCK_MONOTONIC.
    const fn left(self, time: Time, monotonic: i64) -> TimeDelta {
        TimeDelta::from_nanos(self.monotonic(time).saturating_sub(monotonic))
    }

    /// CLOCK_MONOTONIC in ns at this time of the run.
    pub const fn monotonic(self, time: Time) -> i64 {
        self.origin.saturating_add_unsigned(time.nanos())
    }
}

/// Both clocks at one moment, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// CLOCK_MONOTONIC.
    pub monotonic: i64,
    /// CLOCK_REALTIME.
    pub wall: i64,
}

impl Reading {
    /// Both clocks now. CLOCK_MONOTONIC is read on either side of the other; of a few tries the narrowest counts.
    #[cfg(target_os = "linux")]
    pub fn take() -> Self {
        const NARROW: i64 = 2_000;
        let once = || {
            let before = nanos_of(ClockId::CLOCK_MONOTONIC);
            let wall = nanos_of(ClockId::CLOCK_REALTIME);
            let width = nanos_of(ClockId::CLOCK_MONOTONIC) - before;
            (width, Self { monotonic: before + width / 2, wall })
        };
        let mut best = once();
        for _ in 0..3 {
            if best.0 < NARROW {
                break;
            }
            let next = once();
            if next.0 < best.0 {
                best = next;
            }
        }
        best.1
    }

    const fn offset(self) -> i64 {
        self.wall.saturating_sub(self.monotonic)
    }
}

/// Largest difference of two readings that the reading itself explains.
const READING_ERROR: i64 = 100_000;
/// Largest rate at which the kernel slews the wall clock (adjtime, NTP), as one part in so many.
const SLEW: i64 = 2_000;

/// Translator of receive stamps from CLOCK_REALTIME to CLOCK_MONOTONIC.
///
/// Where the wall clock was set between two readings, stamps before the later one are discarded in favour of the time
/// of reading the packet.
#[derive(Clone, Copy, Debug)]
pub struct StampTranslator {
    last: Reading,
    /// CLOCK_MONOTONIC at the reading after the latest step: earlier stamps are not trusted.
    trusted_since: i64,
    steps: u64,
    discarded: u64,
}

impl StampTranslator {
    /// Longest time between two readings.
    pub const INTERVAL: TimeDelta = TimeDelta::from_secs(1);

    /// A translator that trusts any stamp after `first`.
    pub const fn new(first: Reading) -> Self {
        Self { last: first, trusted_since: first.monotonic, steps: 0, discarded: 0 }
    }

    /// Takes a reading of both clocks, at least one per [`Self::INTERVAL`]. Stamps are translated after the reading that
    /// follows them.
    pub fn observe(&mut self, reading: Reading) {
        let elapsed = reading.monotonic.saturating_sub(self.last.monotonic).max(0);
        let difference = reading.offset().saturating_sub(self.last.offset());
        if difference.saturating_abs() > READING_ERROR + elapsed / SLEW {
            self.steps += 1;
            self.trusted_since = reading.monotonic;
        }
        self.last = reading;
    }

    /// CLOCK_MONOTONIC of a packet that the kernel stamped `wall`, if it was read at `read` ns of CLOCK_MONOTONIC. The
    /// result is never later than `read`.
    pub fn translate(&mut self, wall: i64, read: i64) -> i64 {
        let stamped = wall.saturating_sub(self.last.offset());
        if stamped < self.trusted_since || stamped > read.saturating_add(READING_ERROR) {
            self.discarded += 1;
            return read;
        }
        stamped.min(read)
    }

    /// Steps of the wall clock so far.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Stamps that were discarded.
    pub const fn discarded(&self) -> u64 {
        self.discarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const YEAR_2026: i64 = 1_780_000_000 * SECOND;

    /// A reading `seconds` after start-up, where the wall clock is `error` ns ahead.
    fn reading(seconds: i64, error: i64) -> Reading {
        Reading { monotonic: seconds * SECOND, wall: YEAR_2026 + seconds * SECOND + error }
    }

    #[test]
    fn run_time_counts_from_the_origin_and_back() {
        let clock = RunClock::from_origin(500);
        assert_eq!(clock.time_of(1_500), Time::from_nanos(1_000));
        assert_eq!(clock.time_of(400), Time::ZERO);
        assert_eq!(clock.monotonic(Time::from_nanos(1_000)), 1_500);
        assert_eq!(clock.monotonic(Time::MAX), i64::MAX);
        // Before the start, its time zero is yet to come.
        let left = [100, 500, 700].map(|monotonic| clock.left(Time::ZERO, monotonic).nanos());
        assert_eq!(left, [400, 0, -200]);
    }

    #[test]
    fn a_stamp_becomes_the_time_between_two_readings() {
        let mut stamps = StampTranslator::new(reading(10, 0));
        stamps.observe(reading(11, 0));
        assert_eq!(stamps.translate(YEAR_2026 + 10 * SECOND + 700, 11 * SECOND), 10 * SECOND + 700);
        assert_eq!((stamps.steps(), stamps.discarded()), (0, 0));
    }

    #[test]
    fn slewing_is_followed_and_no_step() {
        let mut stamps = StampTranslator::new(reading(10, 0));
        for second in 11..20 {
            stamps.observe(reading(second, (second - 10) * 500_000));
        }
        // At 19 s the wall clock is 4.5 ms ahead.
        let stamp = YEAR_2026 + 19 * SECOND + 4_500_000 - 1_000;
        assert_eq!(stamps.translate(stamp, 19 * SECOND), 19 * SECOND - 1_000);
        assert_eq!((stamps.steps(), stamps.discarded()), (0, 0));
    }

    #[test]
    fn a_step_discards_the_stamps_before_it_and_trusts_those_after_the_reading() {
        for step in [-3_600 * SECOND, -2_000_000, 2_000_000, 3_600 * SECOND] {
            let mut stamps = StampTranslator::new(reading(10, 0));
            stamps.observe(reading(11, step));
            let read = 11 * SECOND + 1_000;
            // One packet before the step, one after it, both before the reading.
            assert_eq!(stamps.translate(YEAR_2026 + 10 * SECOND + 300_000_000, read), read, "{step}");
            assert_eq!(stamps.translate(YEAR_2026 + 10 * SECOND + 900_000_000 + step, read), read, "{step}");
            assert_eq!((stamps.steps(), stamps.discarded()), (1, 2), "{step}");
            stamps.observe(reading(12, step));
            let stamp = YEAR_2026 + 11 * SECOND + 500_000_000 + step;
            assert_eq!(stamps.translate(stamp, 12 * SECOND), 11 * SECOND + 500_000_000, "{step}");
            assert_eq!((stamps.steps(), stamps.discarded()), (1, 2), "{step}");
        }
    }

    #[test]
    fn a_stamp_is_never_later_than_the_reading_of_its_packet() {
        let mut stamps = StampTranslator::new(reading(10, 0));
        let read = 10 * SECOND + 5_000;
        assert_eq!(stamps.translate(YEAR_2026 + read + 40_000, read), read);
        assert_eq!(stamps.discarded(), 0);
        // A step after the latest reading shows in the stamp itself.
        assert_eq!(stamps.translate(YEAR_2026 + read + SECOND, read), read);
        assert_eq!(stamps.discarded(), 1);
    }
}
