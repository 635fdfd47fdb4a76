//! Timer of missing feedback: a controller halves its rate after a timeout, and again every second or by a step of
//! its own.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Interval of further halvings while feedback is missing.
const STEP: TimeDelta = TimeDelta::from_secs(1);
/// Share of the rate that remains after each step of a feedback timeout.
pub(crate) const FACTOR: f64 = 0.5;

/// Timer of missing feedback. It runs while packets are in flight without feedback; a source that sends nothing does
/// not count as a silent path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeedbackTimeout {
    timeout: TimeDelta,
    /// Interval of the steps once the timeout has passed.
    step: TimeDelta,
    due: Option<SendTime>,
    /// Whether packets are in flight for which no step was taken.
    waiting: bool,
    silent: bool,
}

impl FeedbackTimeout {
    /// A timer that expires `timeout` after the first packet without later feedback.
    pub(crate) fn new(timeout: TimeDelta) -> Self {
        Self::with_step(timeout, STEP)
    }

    /// As [`Self::new`], with steps of another length than a second.
    pub(crate) const fn with_step(timeout: TimeDelta, step: TimeDelta) -> Self {
        Self { timeout, step, due: None, waiting: false, silent: false }
    }

    /// Sets both times, from the next packet, feedback or step on.
    pub(crate) fn set_times(&mut self, timeout: TimeDelta, step: TimeDelta) {
        (self.timeout, self.step) = (timeout, step);
    }

    /// Takes a packet that has left.
    pub(crate) fn on_sent(&mut self, at: SendTime) {
        // The timeout is never further off than its length, even if the clock was set back.
        let latest = at + self.timeout.max(self.step);
        self.due = Some(self.due.map_or(at + self.timeout, |due| due.min(latest)));
        self.waiting = true;
    }

    /// Takes feedback at `now`. With `outstanding`, packets have left that it does not cover, and their time starts
    /// now.
    pub(crate) fn on_feedback(&mut self, now: SendTime, outstanding: bool) {
        self.due = outstanding.then(|| now + self.timeout);
        self.waiting = outstanding;
        self.silent = false;
    }

    /// Ends the timer, because no feedback is expected.
    pub(crate) fn end(&mut self) {
        *self = Self::with_step(self.timeout, self.step);
    }

    /// Whether a step of the timeout is over at `now`. The next step follows if a packet leaves in the meantime.
    pub(crate) fn step(&mut self, now: SendTime) -> bool {
        if self.due.is_none_or(|due| due > now) {
            return false;
        }
        let over = core::mem::take(&mut self.waiting);
        self.silent |= over;
        self.due = over.then(|| now + self.step);
        over
    }

    pub(crate) fn next_timeout(&self) -> Option<SendTime> {
        self.due
    }

    /// Whether feedback has been missing for longer than the timeout.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn silence(timeout: i64) -> FeedbackTimeout {
        FeedbackTimeout::new(TimeDelta::from_millis(timeout))
    }

    #[test]
    fn silence_runs_from_the_first_packet_and_steps_each_second() {
        let mut silence = silence(500);
        assert_eq!((silence.next_timeout(), silence.step(ms(10_000))), (None, false));
        silence.on_sent(ms(0));
        silence.on_sent(ms(400));
        assert_eq!(silence.next_timeout(), Some(ms(500)));
        assert!(!silence.step(ms(499)) && !silence.is_silent());
        assert!(silence.step(ms(500)) && silence.is_silent());
        silence.on_sent(ms(600));
        assert!(!silence.step(ms(1499)) && silence.step(ms(1500)));
        silence.end();
        assert!(!silence.is_silent() && silence.next_timeout().is_none());
    }

    #[test]
    fn feedback_on_some_of_what_was_sent_puts_silence_off_and_does_not_end_it() {
        let mut silence = silence(1500);
        silence.on_sent(ms(0));
        silence.on_feedback(ms(100), true);
        assert_eq!(silence.next_timeout(), Some(ms(1600)));
        assert!(silence.step(ms(1600)));
        silence.on_feedback(ms(1700), false);
        assert_eq!((silence.next_timeout(), silence.is_silent()), (None, false));
    }

    #[test]
    fn a_sender_that_stops_times_out_once() {
        let mut silence = silence(1000);
        silence.on_sent(ms(0));
        assert!(silence.step(ms(1000)));
        assert!(!silence.step(ms(2000)) && silence.is_silent());
        assert_eq!(silence.next_timeout(), None);
        silence.on_sent(ms(60_000));
        assert_eq!(silence.next_timeout(), Some(ms(61_000)));
    }

    #[test]
    fn a_controller_may_have_times_of_its_own() {
        let mut silence =
            FeedbackTimeout::with_step(TimeDelta::from_millis(400), TimeDelta::from_millis(100));
        silence.on_sent(ms(0));
        assert!(!silence.step(ms(399)) && silence.step(ms(400)));
        silence.on_sent(ms(450));
        silence.set_times(TimeDelta::from_millis(1000), TimeDelta::from_millis(300));
        assert!(!silence.step(ms(499)) && silence.step(ms(500)));
        assert_eq!(silence.next_timeout(), Some(ms(800)));
        silence.end();
        silence.on_sent(ms(900));
        assert_eq!(silence.next_timeout(), Some(ms(1900)));
    }

    #[test]
    fn a_clock_set_back_does_not_put_it_off() {
        let mut silence = silence(1000);
        silence.on_sent(ms(1_000_000));
        silence.on_sent(ms(0));
        assert_eq!(silence.next_timeout(), Some(ms(1000)));
    }
}
