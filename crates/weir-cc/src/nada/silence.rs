//! What a law does when no report comes: half the rate after a while, and half of it again each second.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// How often the rate is halved while reports are missing.
const STEP: TimeDelta = TimeDelta::from_secs(1);
/// Share of the rate that is left after each step of silence.
pub(super) const FACTOR: f64 = 0.5;

/// The clock of a silence. It runs from the first packet that is sent after a report: a source without data is not
/// taken for a silent path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    timeout: TimeDelta,
    due: Option<SendTime>,
}

impl Silence {
    /// A silence begins to count `timeout` after a packet that no report followed.
    pub(super) fn new(timeout: TimeDelta) -> Self {
        Self { timeout, due: None }
    }

    pub(super) fn on_sent(&mut self, at: SendTime) {
        self.due.get_or_insert(at + self.timeout);
    }

    /// A report has come, or none is expected.
    pub(super) fn end(&mut self) {
        self.due = None;
    }

    /// Whether a step is due at `now`; the next one is a second later.
    pub(super) fn step(&mut self, now: SendTime) -> bool {
        let due = self.due.is_some_and(|due| due <= now);
        if due {
            self.due = Some(now + STEP);
        }
        due
    }

    pub(super) fn due(&self) -> Option<SendTime> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn it_begins_with_the_first_packet_that_no_report_follows() {
        let mut silence = Silence::new(TimeDelta::from_millis(1500));
        assert_eq!((silence.due(), silence.step(ms(10_000))), (None, false));
        silence.on_sent(ms(100));
        silence.on_sent(ms(900));
        assert_eq!(silence.due(), Some(ms(1600)));
        assert!(!silence.step(ms(1599)));
        assert!(silence.step(ms(1600)));
        // Then each second, from when it was noticed.
        assert_eq!(silence.due(), Some(ms(2600)));
        assert!(!silence.step(ms(1600)));
        silence.end();
        assert_eq!((silence.due(), silence.step(ms(10_000))), (None, false));
    }
}
