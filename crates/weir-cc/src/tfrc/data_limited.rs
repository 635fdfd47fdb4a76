//! Detection of data-limited intervals: whether the application, not the controller, limited the rate that a report
//! covers (RFC 5348 §8.2.1).

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Marks that record, for the last two intervals between reports, whether the rate held the sender back within them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataLimited {
    /// `t_new`: departure of the last packet covered by the newest report.
    covered: Option<SendTime>,
    /// `t_next`: arrival of the newest report.
    reported: Option<SendTime>,
    /// `NotLimited1`, `NotLimited2`: times at which a packet left although the rate was used up.
    marks: [Option<SendTime>; 2],
}

impl DataLimited {
    /// Takes in that a packet left at `now` while the sender had as much to send as the rate allowed.
    pub(super) fn on_rate_used_up(&mut self, now: SendTime) {
        if self.marks[0] <= self.covered {
            self.marks[0] = Some(now);
        } else if self.marks[1] <= self.reported {
            self.marks[1] = Some(now);
        }
    }

    /// Takes in a report at `now` that covers packets sent up to `covered`, and as far back as `rtt` before. Returns
    /// whether the application limited that whole interval.
    pub(super) fn on_report(&mut self, now: SendTime, covered: SendTime, rtt: TimeDelta) -> bool {
        let begin = covered - rtt;
        (self.covered, self.reported) = (Some(covered), Some(now));
        let within = |mark: &Option<SendTime>| mark.is_some_and(|at| begin < at && at <= covered);
        let limited = !self.marks.iter().any(within);
        if self.marks[0] <= self.covered && self.covered < self.marks[1] {
            self.marks[0] = self.marks[1];
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(100);

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// Reports each 100 ms, of packets sent 100 ms before; packets that use the rate up leave each 10 ms in `used`.
    fn limited(used: core::ops::Range<i64>, until: i64) -> Vec<i64> {
        let mut state = DataLimited::default();
        let mut limited = Vec::new();
        for t in (0..until).step_by(10) {
            if t % 100 == 0 && t > 0 && state.on_report(ms(t), ms(t - 100), RTT) {
                limited.push(t);
            }
            if used.contains(&t) {
                state.on_rate_used_up(ms(t));
            }
        }
        limited
    }

    #[test]
    fn a_greedy_sender_is_never_limited_by_its_application() {
        assert!(limited(0..1000, 1000).is_empty());
    }

    #[test]
    fn an_interval_without_a_mark_was_limited() {
        // The packets of 500 ms and later do not use the rate up: the report at 700 ms is the first on (500, 600].
        assert_eq!(limited(0..500, 1000), [700, 800, 900]);
        // The one at 600 ms is the first on (400, 500], and the packet of 500 ms uses the rate up.
        assert_eq!(limited(500..1000, 1000), [100, 200, 300, 400, 500]);
    }
}
