//! When feedback has been missing for too long.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// How often the rate is halved while feedback is missing.
const STEP: TimeDelta = TimeDelta::from_secs(1);
/// Share of rate and window that is left after each step of silence.
pub(super) const SILENCE_FACTOR: f64 = 0.5;

/// The clock of missing feedback. It runs from the first packet that is sent after a feedback: a source without data
/// is not punished.
#[derive(Debug)]
pub(super) struct Silence {
    timeout: TimeDelta,
    due: Option<SendTime>,
    silent: bool,
}

impl Silence {
    pub(super) fn new(timeout: TimeDelta) -> Self {
        Self { timeout, due: None, silent: false }
    }

    /// A packet has left.
    pub(super) fn on_sent(&mut self, at: SendTime) {
        // Never further off than the timeout, even if the clock was set back.
        let latest = at + self.timeout.max(STEP);
        self.due = Some(self.due.map_or(at + self.timeout, |due| due.min(latest)));
    }

    /// Feedback has come, or none is expected.
    pub(super) fn end(&mut self) {
        self.due = None;
        self.silent = false;
    }

    /// Whether a step of silence is over at `now`.
    pub(super) fn step(&mut self, now: SendTime) -> bool {
        let over = self.due.is_some_and(|due| due <= now);
        if over {
            self.silent = true;
            self.due = Some(now + STEP);
        }
        over
    }

    pub(super) fn next_timeout(&self) -> Option<SendTime> {
        self.due
    }

    /// Whether feedback has been missing for longer than the timeout.
    pub(super) fn is_silent(&self) -> bool {
        self.silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn silence_runs_from_the_first_packet_and_steps_each_second() {
        let mut silence = Silence::new(TimeDelta::from_millis(500));
        assert_eq!(silence.next_timeout(), None);
        silence.on_sent(ms(0));
        silence.on_sent(ms(400));
        assert_eq!(silence.next_timeout(), Some(ms(500)));
        assert!(!silence.step(ms(499)) && !silence.is_silent());
        assert!(silence.step(ms(500)) && silence.is_silent());
        assert!(!silence.step(ms(1499)) && silence.step(ms(1500)));
        silence.end();
        assert!(!silence.is_silent() && silence.next_timeout().is_none());
    }

    #[test]
    fn a_clock_set_back_does_not_put_it_off() {
        let mut silence = Silence::new(TimeDelta::from_secs(1));
        silence.on_sent(ms(1_000_000));
        silence.on_sent(ms(0));
        assert_eq!(silence.next_timeout(), Some(ms(1000)));
    }
}
