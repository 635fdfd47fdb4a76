//! Protection of the network against a sender whose reports are missing.

use weir_net::Time;
use weir_units::TimeDelta;

/// Time between two status messages of an end. Feedback on media comes more often; a receiver of little media sends at least these.
pub const REPORT_INTERVAL: TimeDelta = TimeDelta::from_millis(500);
/// Missing reports for which the rate is halved.
const MISSING_REPORTS: i64 = 3;
/// Time after the last valid report at which a sender stops.
pub const LONGEST_SILENCE: TimeDelta = TimeDelta::from_secs(5);
/// A timer served later than this shows that the process was suspended.
const ASLEEP: TimeDelta = TimeDelta::from_secs(1);

/// The verdict on a sender's feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchVerdict {
    /// Reports come.
    Reported,
    /// Reports are missing: the rate is halved this many times.
    Halved(u32),
    /// No valid report for [`LONGEST_SILENCE`]: nothing more may be sent.
    Silent,
}

/// Watches the time since the last valid report.
#[derive(Clone, Copy, Debug)]
pub struct FeedbackWatch {
    /// Time of the last report, moved by times in which the process was suspended.
    reported: Time,
    /// Time of the last call.
    served: Time,
}

impl FeedbackWatch {
    /// A watch that begins at `now`, as if a report had come.
    pub const fn new(now: Time) -> Self {
        Self { reported: now, served: now }
    }

    /// A report has come that echoes a recent status of this end.
    pub fn on_report(&mut self, now: Time) {
        self.reported = self.reported.max(now);
    }

    /// Time of the next change, if no report comes.
    pub fn next_wake(&self) -> Time {
        let step = REPORT_INTERVAL * MISSING_REPORTS;
        let halved = self.halvings(self.served);
        (self.reported + step * i64::from(halved + 1)).min(self.reported + LONGEST_SILENCE)
    }

    /// The verdict at `now`. Reports that came earlier are reported before.
    pub fn poll(&mut self, now: Time) -> WatchVerdict {
        let late = now - self.next_wake();
        if late > ASLEEP {
            // A suspended process received no report either.
            self.reported += late;
        }
        self.served = now;
        if now - self.reported >= LONGEST_SILENCE {
            return WatchVerdict::Silent;
        }
        match self.halvings(now) {
            0 => WatchVerdict::Reported,
            times => WatchVerdict::Halved(times),
        }
    }

    /// Time since the last report.
    pub fn silence(&self, now: Time) -> TimeDelta {
        now - self.reported
    }

    fn halvings(&self, now: Time) -> u32 {
        let step = REPORT_INTERVAL * MISSING_REPORTS;
        let silence = (now - self.reported).min(LONGEST_SILENCE);
        (silence.nanos() / step.nanos()).max(0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::WatchVerdict::{Halved, Reported, Silent};
    use super::*;

    const AT: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn the_rate_is_halved_after_three_missing_reports_and_the_sender_stops_after_five_seconds() {
        let mut watch = FeedbackWatch::new(AT(0));
        watch.on_report(AT(1000));
        let mut changes = Vec::new();
        for ms in (1000..=7000).step_by(10) {
            let verdict = watch.poll(AT(ms));
            if changes.last().is_none_or(|&(_, last)| last != verdict) {
                changes.push((ms, verdict));
            }
        }
        let expected =
            [(1000, Reported), (2500, Halved(1)), (4000, Halved(2)), (5500, Halved(3)), (6000, Silent)];
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_report_ends_the_silence_and_the_next_change_is_known() {
        let mut watch = FeedbackWatch::new(AT(0));
        assert_eq!(watch.next_wake(), AT(1500));
        assert_eq!((watch.poll(AT(1500)), watch.next_wake()), (WatchVerdict::Halved(1), AT(3000)));
        watch.on_report(AT(2900));
        assert_eq!((watch.poll(AT(2900)), watch.next_wake()), (WatchVerdict::Reported, AT(4400)));
    }

    #[test]
    fn a_process_that_was_suspended_waits_anew() {
        let mut watch = FeedbackWatch::new(AT(0));
        watch.poll(AT(100));
        // Its timer was due at 1500 ms.
        assert_eq!(watch.poll(AT(20_000)), WatchVerdict::Halved(1));
        assert_eq!(watch.poll(AT(21_500)), WatchVerdict::Halved(2));
        assert_eq!(watch.poll(AT(23_000)), WatchVerdict::Halved(3));
        assert_eq!(watch.poll(AT(23_500)), WatchVerdict::Silent);
    }
}
