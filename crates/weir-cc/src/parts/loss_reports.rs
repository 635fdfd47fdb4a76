//! Packets expected and lost between successive RTCP receiver reports, from the totals in them (RFC 3550 §6.4.1).

/// Tracker of the totals in receiver reports (RFC 3550 §6.4.1), of one stream or of several summed.
///
/// Reports may be late, repeated, or forged by an attacker. A report is ignored if it does not follow from the last
/// accepted one, and counted as refused if it is impossible. Two successive ignored reports that follow from each other
/// are accepted, as after a restart of the receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverReportTracker {
    accepted: Option<ReportTotals>,
    /// The last report, if it was ignored.
    ignored: Option<ReportTotals>,
    refused: u64,
}

/// Totals in a receiver report.
#[derive(Clone, Copy, Debug)]
struct ReportTotals {
    /// The extended highest sequence number received.
    highest: u32,
    /// Cumulative number of packets lost.
    lost: i32,
}

impl ReportTotals {
    /// Packets lost and expected since `before`. Returns `None` if this report is older, or more packets were lost than
    /// expected.
    fn since(self, before: Self) -> Option<(i64, u64)> {
        let expected = self.highest.wrapping_sub(before.highest) as i32;
        let lost = i64::from(self.lost) - i64::from(before.lost);
        (expected >= 0 && lost <= i64::from(expected)).then_some((lost, u64::from(expected.unsigned_abs())))
    }

    /// Whether this report is not older than `before`, but counts more lost packets than expected ones.
    fn contradicts(self, before: Self) -> bool {
        self.since(before).is_none() && (self.highest.wrapping_sub(before.highest) as i32) >= 0
    }
}

impl Default for ReceiverReportTracker {
    fn default() -> Self {
        Self::NONE
    }
}

impl ReceiverReportTracker {
    /// The tracker before the first report.
    pub const NONE: Self = Self { accepted: None, ignored: None, refused: 0 };

    /// Takes a report with the extended highest sequence number and the cumulative number of packets lost.
    ///
    /// Returns the packets lost and the packets expected since the previous accepted report, both zero for the first
    /// one. Late packets make the number of lost ones negative. Returns `None` if the report is ignored.
    pub fn on_report(&mut self, highest: u32, lost: i32) -> Option<(i64, u64)> {
        let reported = ReportTotals { highest, lost };
        let ignored = self.ignored.take();
        let Some(accepted) = self.accepted else {
            self.accepted = Some(reported);
            return Some((0, 0));
        };
        let after_restart =
            || ignored.and_then(|before| reported.since(before)).filter(|&(_, expected)| expected > 0);
        let difference = reported.since(accepted).or_else(after_restart);
        if difference.is_some() {
            self.accepted = Some(reported);
        } else {
            self.ignored = Some(reported);
            self.refused += u64::from(reported.contradicts(accepted));
        }
        difference
    }

    /// The extended highest sequence number in the last accepted report, or `None` before the first.
    pub fn highest(&self) -> Option<u32> {
        self.accepted.map(|totals| totals.highest)
    }

    /// Cumulative number of packets lost in the last accepted report; 0 before the first.
    pub fn lost(&self) -> i32 {
        self.accepted.map_or(0, |totals| totals.lost)
    }

    /// Number of impossible reports.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(reports: &[(u32, i32)]) -> (Vec<Option<(i64, u64)>>, u64) {
        let mut tracker = ReceiverReportTracker::NONE;
        (reports.iter().map(|&(highest, lost)| tracker.on_report(highest, lost)).collect(), tracker.refused())
    }

    #[test]
    fn differences_are_those_of_the_totals_also_where_numbers_wrap() {
        let near = u32::MAX - 9;
        let expected = [Some((0, 0)), Some((5, 50)), Some((-1, 50)), Some((0, 0))];
        assert_eq!(differences(&[(100, 10), (150, 15), (200, 14), (200, 14)]), (expected.to_vec(), 0));
        assert_eq!(
            differences(&[(near, i32::MIN), (20, i32::MIN + 30)]),
            (vec![Some((0, 0)), Some((30, 30))], 0)
        );
    }

    #[test]
    fn a_late_report_is_ignored_and_nothing_counts_twice() {
        let reports = [(100, 0), (200, 10), (150, 5), (300, 10)];
        assert_eq!(differences(&reports), (vec![Some((0, 0)), Some((10, 100)), None, Some((0, 100))], 0));
        // The same old one twice is no beginning either.
        let reports = [(100, 0), (200, 10), (150, 5), (150, 5), (300, 10)];
        assert_eq!(differences(&reports).0[2..], [None, None, Some((0, 100))]);
    }

    #[test]
    fn the_second_report_of_a_restarted_receiver_is_accepted() {
        let reports = [(1000, 100), (2000, 200), (40, 0), (60, 2), (80, 2)];
        assert_eq!(differences(&reports).0[2..], [None, Some((2, 20)), Some((0, 20))]);
    }

    #[test]
    fn more_lost_than_expected_is_refused_and_honest_reports_are_still_accepted() {
        let reports = [(100, 0), (200, i32::MAX), (200, 5), (300, 5)];
        assert_eq!(differences(&reports), (vec![Some((0, 0)), None, Some((5, 100)), Some((0, 100))], 1));
        // An attacker who revokes all losses is accepted, until two honest reports have come.
        let reports = [(100, 10), (150, i32::MIN), (200, 10), (300, 12)];
        assert_eq!(differences(&reports).0[2..], [None, Some((2, 100))]);
    }
}
