//! Round-trip times from sender reports (RFC 3550 §6.4.1).

use weir_units::TimeDelta;

use super::SendHistory;
use super::times::compact_ntp;
use crate::report::ReceptionReport;
use crate::time::SendTime;

/// Greatest rounding error between the clocks of both ends: a millisecond in 1/65536 s.
const TICKS_OF_ROUNDING: i64 = 66;

impl SendHistory {
    /// Round-trip time by the last sender report (RFC 3550 §6.4.1): `A − LSR − DLSR`, or `None` before the first one,
    /// and where it is negative. Less than a millisecond below zero may be rounding, and counts as zero.
    pub(super) fn by_sender_report(&mut self, now: SendTime, report: &ReceptionReport) -> Option<TimeDelta> {
        let last = report.last_sender_report;
        if last == 0 {
            return None;
        }
        let age = compact_ntp(now).wrapping_sub(last) as i32;
        let ticks = i64::from(age) - i64::from(report.delay_since_last_sender_report);
        if ticks < -TICKS_OF_ROUNDING {
            self.refused.negative += 1;
            return None;
        }
        if !self.is_since_change(now, last) {
            return None;
        }
        let rtt = TimeDelta::from_nanos(ticks.max(0) * 1_000_000_000 / 65_536);
        self.take_round_trip(now, rtt)
    }

    /// Whether a sender report with the compact NTP time `sent` left on the present route.
    fn is_since_change(&self, now: SendTime, sent: u32) -> bool {
        let Some(since) = self.route_since else { return true };
        // By the wire's ticks on both sides; the difference is right for 9 hours.
        let age = compact_ntp(now).wrapping_sub(sent) as i32;
        let passed = (i128::from((now - since).nanos()) * 65_536 / 1_000_000_000) as i64;
        i64::from(age) <= passed
    }
}
