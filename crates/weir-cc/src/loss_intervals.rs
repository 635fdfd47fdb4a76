//! Average loss interval (RFC 5348 §5.4).
//!
//! A loss interval is the number of packets from one loss event to the next. What makes a loss event (each gap,
//! or one per round-trip time) is for the law to say.

/// `k`, closed intervals that count. RFC 5348 §5.4.
const HISTORY: usize = 8;
/// `w_i`, newest interval first. RFC 5348 §5.4.
const WEIGHTS: [f64; HISTORY] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The loss intervals of a flow: the open one and the last eight closed ones.
#[derive(Clone, Debug, Default)]
pub struct LossIntervals {
    /// `I_0`, packets since the newest loss event.
    open: u64,
    /// `I_1` to `I_8`, newest first.
    closed: [u64; HISTORY],
    /// How many of `closed` hold an interval.
    known: usize,
}

impl LossIntervals {
    /// No loss event yet; what comes before the first one is an interval as well.
    pub fn new() -> Self {
        Self::default()
    }

    /// The open interval grows by `packets`.
    pub fn extend(&mut self, packets: u64) {
        self.open = self.open.saturating_add(packets);
    }

    /// A loss event: the open interval is closed and a new one of no packets begins.
    pub fn on_loss_event(&mut self) {
        self.closed.copy_within(..HISTORY - 1, 1);
        self.closed[0] = self.open;
        self.known = (self.known + 1).min(HISTORY);
        self.open = 0;
    }

    /// `I_0`: packets since the newest loss event, or since the beginning.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// The average loss interval in packets: the greater of the averages with and without the open interval.
    /// `None` before the first loss event.
    pub fn average(&self) -> Option<f64> {
        let open = core::iter::once(self.open);
        let with_open = self.weighted(open.chain(self.closed))?;
        Some(with_open.max(self.average_closed()?))
    }

    /// The average of the closed intervals alone, in packets; it stands still between loss events. `None` before
    /// the first one.
    pub fn average_closed(&self) -> Option<f64> {
        self.weighted(self.closed.into_iter())
    }

    fn weighted(&self, intervals: impl Iterator<Item = u64>) -> Option<f64> {
        if self.known == 0 {
            return None;
        }
        let weights = &WEIGHTS[..self.known];
        let total: f64 = intervals.zip(weights).map(|(interval, weight)| interval as f64 * weight).sum();
        Some(total / weights.iter().sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of the given lengths, oldest first; the last one is open.
    fn intervals(lengths: &[u64]) -> LossIntervals {
        let mut intervals = LossIntervals::new();
        for (i, &length) in lengths.iter().enumerate() {
            if i > 0 {
                intervals.on_loss_event();
            }
            intervals.extend(length);
        }
        intervals
    }

    #[test]
    fn there_is_no_average_before_the_first_loss() {
        assert_eq!(intervals(&[100]).average(), None);
        assert_eq!(intervals(&[100]).average_closed(), None);
        assert_eq!(intervals(&[100]).open(), 100);
    }

    #[test]
    fn eight_intervals_are_weighted_by_age() {
        // Closed, newest first: 10 20 30 40 50 60 70 80; W = 6.
        // 10 + 20 + 30 + 40 + 0.8·50 + 0.6·60 + 0.4·70 + 0.2·80 = 220; 220/6 = 36.67.
        let quiet = intervals(&[80, 70, 60, 50, 40, 30, 20, 10, 5]);
        assert!((quiet.average_closed().unwrap() - 220.0 / 6.0).abs() < 1e-9);
        // With I_0 = 5: 5 + 10 + 20 + 30 + 0.8·40 + 0.6·50 + 0.4·60 + 0.2·70 = 165 < 220.
        assert!((quiet.average().unwrap() - 220.0 / 6.0).abs() < 1e-9);
        // With I_0 = 100: 260 > 220, so a long open interval raises the average.
        let clean = intervals(&[80, 70, 60, 50, 40, 30, 20, 10, 100]);
        assert!((clean.average().unwrap() - 260.0 / 6.0).abs() < 1e-9);
        assert!((clean.average_closed().unwrap() - 220.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn weights_of_missing_intervals_do_not_count() {
        // Closed 30 and 90: (30 + 90)/2 = 60; with I_0 = 200: (200 + 30)/2 = 115.
        let few = intervals(&[90, 30, 200]);
        assert_eq!(few.average_closed(), Some(60.0));
        assert_eq!(few.average(), Some(115.0));
    }

    #[test]
    fn the_ninth_interval_is_forgotten() {
        // A huge oldest interval leaves after eight more: 6·10/6 = 10.
        let long_ago = intervals(&[1_000_000, 10, 10, 10, 10, 10, 10, 10, 10, 0]);
        assert!((long_ago.average().unwrap() - 10.0).abs() < 1e-9);
    }
}
