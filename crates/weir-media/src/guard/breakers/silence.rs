//! Time without feedback on the media (RFC 8083 §4.1).
//!
//! At most one interval counts after each packet. A receiver without packets has nothing to report (RFC 3550 §6.4), so
//! a picture each 20 s is not answered in between. The receiver has that interval for its report on the picture.

use weir_cc::SendTime;
use weir_units::TimeDelta;

/// Number of intervals without feedback that are too many.
const MOST_INTERVALS: i64 = 3;
/// A timer served later than this shows that the process was suspended.
const ASLEEP: TimeDelta = TimeDelta::from_secs(1);

/// Time without feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// Reporting interval.
    interval: TimeDelta,
    /// Time of the first packet that was not answered, or of feedback that cannot have been its answer.
    since: Option<SendTime>,
    /// Time of the last packet, while it may be answered.
    sent: Option<SendTime>,
    /// Part of the time without feedback, up to the last packet, that counts.
    counted: TimeDelta,
}

impl Silence {
    pub(super) const fn new(interval: TimeDelta) -> Self {
        Self { interval, since: None, sent: None, counted: TimeDelta::ZERO }
    }

    pub(super) fn on_sent(&mut self, now: SendTime) {
        self.count(now);
        self.since.get_or_insert(now);
        self.sent = Some(now);
    }

    /// Feedback was received. Packets that left within the last round trip still wait for an answer, counted from now
    /// on.
    pub(super) fn on_feedback(&mut self, now: SendTime, rtt: TimeDelta) {
        let waits = self.sent.filter(|&sent| now - sent < rtt);
        *self = waits.map_or(Self::new(self.interval), |sent| Self {
            since: Some(now),
            sent: Some(sent),
            counted: sent - now,
            ..*self
        });
    }

    /// Time of the next call of [`Self::on_timeout`]: when there was no feedback for too long, or the last packet has
    /// waited for an interval.
    pub(super) fn next_timeout(&self) -> Option<SendTime> {
        self.sent.map(|sent| sent + self.interval.min(self.interval * MOST_INTERVALS - self.counted))
    }

    /// Time without feedback, if that is too long. A process that was suspended received no feedback either, so that
    /// time does not count.
    pub(super) fn on_timeout(&mut self, now: SendTime) -> Option<TimeDelta> {
        let late = now - self.next_timeout()?;
        if late > ASLEEP {
            *self = Self::new(self.interval);
        }
        if late < TimeDelta::ZERO || late > ASLEEP {
            return None;
        }
        self.count(now);
        self.sent = None;
        let since = self.since.filter(|_| self.counted >= self.interval * MOST_INTERVALS);
        since.map(|since| now - since)
    }

    fn count(&mut self, now: SendTime) {
        let passed = self.sent.map_or(TimeDelta::ZERO, |sent| now - sent);
        self.counted += passed.min(self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: TimeDelta = TimeDelta::from_secs(5);

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn silence_for_three_intervals_of_five_seconds_is_too_long() {
        let mut silence = Silence::new(INTERVAL);
        assert_eq!(silence.next_timeout(), None, "nothing was sent");
        let dense = |silence: &mut Silence, from: i64, to: i64| {
            for ms in (from..to).step_by(20) {
                assert_eq!(silence.on_timeout(at(ms)), None);
                silence.on_sent(at(ms));
            }
        };
        dense(&mut silence, 100, 4000);
        silence.on_feedback(at(4000), TimeDelta::ZERO);
        assert_eq!(silence.next_timeout(), None, "what was sent is answered");
        dense(&mut silence, 4000, 19_000);
        assert_eq!((silence.next_timeout(), silence.on_timeout(at(18_999))), (Some(at(19_000)), None));
        assert_eq!(silence.on_timeout(at(19_000)), Some(INTERVAL * 3));
    }

    #[test]
    fn packets_sent_within_a_round_trip_of_the_last_report_wait_for_another() {
        let after_report = |ms: i64| {
            let mut silence = Silence::new(INTERVAL);
            silence.on_sent(at(1000));
            silence.on_feedback(at(ms), TimeDelta::from_millis(100));
            silence
        };
        assert_eq!(after_report(1100).next_timeout(), None);
        // A full window lets out a packet each five seconds.
        let mut silence = after_report(1050);
        for ms in [6000, 11_000, 16_000] {
            assert_eq!((silence.next_timeout(), silence.on_timeout(at(ms))), (Some(at(ms)), None));
            silence.on_sent(at(ms));
        }
        assert_eq!(silence.next_timeout(), Some(at(16_050)));
        assert_eq!(silence.on_timeout(at(16_050)), Some(INTERVAL * 3));
    }

    #[test]
    fn after_a_sleep_the_wait_begins_anew() {
        let mut silence = Silence::new(INTERVAL);
        (0..14_900).step_by(20).for_each(|ms| silence.on_sent(at(ms)));
        assert_eq!(silence.next_timeout(), Some(at(15_000)));
        assert_eq!((silence.on_timeout(at(3_600_000)), silence.next_timeout()), (None, None));
        (0..14_980).step_by(20).for_each(|ms| silence.on_sent(at(3_600_000 + ms)));
        assert_eq!(silence.on_timeout(at(3_614_999)), None);
        assert!(silence.on_timeout(at(3_615_000)).is_some());
    }

    /// The second at which media is stopped, with a packet each 20 s that is answered after so many seconds or never.
    fn sparse(answers: [Option<i64>; 6]) -> Option<i64> {
        let mut silence = Silence::new(INTERVAL);
        answers.into_iter().zip(0..).find_map(|(answer, n)| {
            silence.on_sent(at(20_000 * n));
            (0..20).find_map(|s| {
                if answer == Some(s) {
                    silence.on_feedback(at(1000 * (20 * n + s)), TimeDelta::ZERO);
                }
                silence.on_timeout(at(1000 * (20 * n + s))).map(|_| 20 * n + s)
            })
        })
    }

    #[test]
    fn a_picture_each_twenty_seconds_is_answered_once_each_and_may_be_lost() {
        assert_eq!(sparse([Some(1); 6]), None);
        assert_eq!(sparse([Some(1), None, None, Some(4), None, None]), None);
        // Without any feedback three of them are enough: 0, 20 and 40 s, and the interval after the last.
        assert_eq!(sparse([None; 6]), Some(45));
    }
}
