//! Differences between receiver reports: packets expected since the one before, and the lost ones among them.

/// Follows the totals of receiver reports (RFC 3550 §6.4.1), of one stream or of several summed.
///
/// Reports come late, twice, or forged by an attacker. A report that does not follow from the last one taken is
/// left out, and an impossible one is counted. Two in a row that follow from each other are then taken, such as
/// those of a receiver that began anew.
#[derive(Clone, Copy, Debug)]
pub struct LossReports {
    taken: Option<Totals>,
    /// The last report, if it was left out.
    left_out: Option<Totals>,
    refused: u64,
}

#[derive(Clone, Copy, Debug)]
struct Totals {
    /// The highest sequence number, wraps counted.
    highest: u32,
    lost: i32,
}

impl Totals {
    /// Packets lost and expected since `before`, or `None` if this is older, or more were lost than expected.
    fn since(self, before: Self) -> Option<(i64, u64)> {
        let expected = self.highest.wrapping_sub(before.highest) as i32;
        let lost = i64::from(self.lost) - i64::from(before.lost);
        (expected >= 0 && lost <= i64::from(expected)).then_some((lost, u64::from(expected.unsigned_abs())))
    }

    /// Whether it is not the older one, and yet does not follow from `before`.
    fn contradicts(self, before: Self) -> bool {
        self.since(before).is_none() && (self.highest.wrapping_sub(before.highest) as i32) >= 0
    }
}

impl Default for LossReports {
    fn default() -> Self {
        Self::NONE
    }
}

impl LossReports {
    /// Before the first report.
    pub const NONE: Self = Self { taken: None, left_out: None, refused: 0 };

    /// Takes a report with the highest sequence number that came, and the cumulative number of packets lost.
    /// Returns the lost packets, less late ones, and the expected ones since the report taken before: zero of zero
    /// with the first one. Returns `None` if this one is left out.
    pub fn on_report(&mut self, highest: u32, lost: i32) -> Option<(i64, u64)> {
        let told = Totals { highest, lost };
        let left_out = self.left_out.take();
        let Some(taken) = self.taken else {
            self.taken = Some(told);
            return Some((0, 0));
        };
        let anew = || left_out.and_then(|before| told.since(before)).filter(|&(_, expected)| expected > 0);
        let news = told.since(taken).or_else(anew);
        if news.is_some() {
            self.taken = Some(told);
        } else {
            self.left_out = Some(told);
            self.refused += u64::from(told.contradicts(taken));
        }
        news
    }

    /// The highest sequence number of the last report taken, or `None` before the first.
    pub fn highest(&self) -> Option<u32> {
        self.taken.map(|taken| taken.highest)
    }

    /// Cumulative number of packets lost in the last report taken.
    pub fn lost(&self) -> i32 {
        self.taken.map_or(0, |taken| taken.lost)
    }

    /// Number of impossible reports.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(reports: &[(u32, i32)]) -> (Vec<Option<(i64, u64)>>, u64) {
        let mut losses = LossReports::NONE;
        (reports.iter().map(|&(highest, lost)| losses.on_report(highest, lost)).collect(), losses.refused())
    }

    #[test]
    fn differences_are_those_of_the_totals_also_where_numbers_wrap() {
        let near = u32::MAX - 9;
        let news = [Some((0, 0)), Some((5, 50)), Some((-1, 50)), Some((0, 0))];
        assert_eq!(told(&[(100, 10), (150, 15), (200, 14), (200, 14)]), (news.to_vec(), 0));
        assert_eq!(told(&[(near, i32::MIN), (20, i32::MIN + 30)]), (vec![Some((0, 0)), Some((30, 30))], 0));
    }

    #[test]
    fn a_report_that_comes_late_is_left_out_and_nothing_counts_twice() {
        let reports = [(100, 0), (200, 10), (150, 5), (300, 10)];
        assert_eq!(told(&reports), (vec![Some((0, 0)), Some((10, 100)), None, Some((0, 100))], 0));
        // The same old one twice is no beginning either.
        let reports = [(100, 0), (200, 10), (150, 5), (150, 5), (300, 10)];
        assert_eq!(told(&reports).0[2..], [None, None, Some((0, 100))]);
    }

    #[test]
    fn a_receiver_that_begins_anew_is_believed_with_its_second_report() {
        let reports = [(1000, 100), (2000, 200), (40, 0), (60, 2), (80, 2)];
        assert_eq!(told(&reports).0[2..], [None, Some((2, 20)), Some((0, 20))]);
    }

    #[test]
    fn more_lost_than_expected_is_refused_and_does_not_silence_the_honest_ones() {
        let reports = [(100, 0), (200, i32::MAX), (200, 5), (300, 5)];
        assert_eq!(told(&reports), (vec![Some((0, 0)), None, Some((5, 100)), Some((0, 100))], 1));
        // An attacker who takes all losses back is believed, until two honest reports have come.
        let reports = [(100, 10), (150, i32::MIN), (200, 10), (300, 12)];
        assert_eq!(told(&reports).0[2..], [None, Some((2, 100))]);
    }
}
