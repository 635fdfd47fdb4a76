//! Average loss interval (RFC 5348 §5.4) with history discounting (§5.5).
//!
//! A loss interval is the number of packets from one loss event to the next. The controller defines a loss event:
//! each gap, or one per round-trip time.

/// `k`, closed intervals that count. RFC 5348 §5.4.
const HISTORY: usize = 8;
/// `w_i`, newest interval first. RFC 5348 §5.4.
const WEIGHTS: [f64; HISTORY] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The loss intervals of a flow: the open one and the last eight closed ones.
#[derive(Clone, Debug)]
pub(crate) struct LossIntervals {
    /// `I_0`, packets since the newest loss event.
    open: u64,
    /// `I_1` to `I_8`, newest first.
    closed: [u64; HISTORY],
    /// `DF_1` to `DF_8`: discount factor of each closed interval.
    discounts: [f64; HISTORY],
    /// Number of intervals in `closed`.
    known: usize,
    /// `THRESHOLD`, the least discount of an interval in one step; 1 for no discounting.
    threshold: f64,
}

impl Default for LossIntervals {
    fn default() -> Self {
        Self::discounting(1.0)
    }
}

impl LossIntervals {
    /// The intervals before any loss event. The packets before the first event are an interval, too. Old intervals
    /// are not discounted.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The intervals before any loss event, with discounting. While the open interval is longer than twice the
    /// average of the closed ones, the weight of these is reduced (RFC 5348 §5.5), to the share `threshold`
    /// (`THRESHOLD`, 0.25) at least; 1 switches that off.
    pub(crate) fn discounting(threshold: f64) -> Self {
        Self { open: 0, closed: [0; HISTORY], discounts: [1.0; HISTORY], known: 0, threshold }
    }

    /// Extends the open interval by `packets`.
    pub(crate) fn extend(&mut self, packets: u64) {
        self.open = self.open.saturating_add(packets);
    }

    /// Takes a loss event: the open interval is closed, and an empty one begins.
    pub(crate) fn on_loss_event(&mut self) {
        self.close(self.open, 0);
    }

    /// Takes a loss event that was detected late: the open interval is closed at `length` packets, and a new one of
    /// `open` packets begins.
    pub(crate) fn close(&mut self, length: u64, open: u64) {
        let discount = self.discount();
        self.closed.copy_within(..HISTORY - 1, 1);
        self.discounts.copy_within(..HISTORY - 1, 1);
        self.discounts[1..].iter_mut().for_each(|kept| *kept *= discount);
        self.closed[0] = length;
        self.discounts[0] = 1.0;
        self.known = (self.known + 1).min(HISTORY);
        self.open = open;
    }

    /// `I_0`: packets since the newest loss event, or since the beginning.
    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// The average loss interval in packets: the greater of the averages with and without the open interval.
    /// Without a loss event there is no average.
    pub(crate) fn average(&self) -> Option<f64> {
        let closed = self.average_closed()?;
        let discount = self.discount();
        let open = core::iter::once((self.open, 1.0));
        let kept =
            self.closed.into_iter().zip(self.discounts).map(|(length, kept)| (length, kept * discount));
        Some(self.weighted(open.chain(kept))?.max(closed))
    }

    /// The average of the closed intervals alone, in packets; it is constant between loss events. Without a loss
    /// event there is no average.
    pub(crate) fn average_closed(&self) -> Option<f64> {
        self.weighted(self.closed.into_iter().zip(self.discounts))
    }

    /// `DF`: discount of the closed intervals beside the open one. RFC 5348 §5.5.
    fn discount(&self) -> f64 {
        match self.average_closed() {
            Some(average) if self.open as f64 > 2.0 * average => {
                (2.0 * average / self.open as f64).max(self.threshold)
            }
            _ => 1.0,
        }
    }

    /// The average of lengths, each with its discount, newest first.
    fn weighted(&self, intervals: impl Iterator<Item = (u64, f64)>) -> Option<f64> {
        if self.known == 0 {
            return None;
        }
        let (total, weights) = intervals.zip(&WEIGHTS[..self.known]).fold(
            (0.0, 0.0),
            |(total, weights), ((length, kept), weight)| {
                (total + weight * kept * length as f64, weights + weight * kept)
            },
        );
        Some(total / weights)
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

    #[test]
    fn a_long_open_interval_discounts_what_is_older() {
        let mut history = LossIntervals::discounting(0.25);
        // Before the first loss 20 packets, then 10; now I_0 = 40.
        for length in [20, 10] {
            history.extend(length);
            history.on_loss_event();
        }
        history.extend(40);
        // Closed: (10 + 20)/2 = 15; 40 > 30, so DF = 30/40 = 0.75; (40 + 0.75·10)/(1 + 0.75) = 47.5/1.75.
        assert_eq!(history.average_closed(), Some(15.0));
        assert!((history.average().unwrap() - 47.5 / 1.75).abs() < 1e-12);
        // The discount in force at the next loss event stays with the two: DF_2 = DF_3 = 0.75, DF_1 = 1, and
        // (40 + 0.75·10 + 0.75·20)/2.5 = 62.5/2.5 = 25.
        history.on_loss_event();
        assert_eq!(history.average_closed(), Some(25.0));
        // I_0 = 200 > 50: 50/200 = 0.25, at the threshold; at 2000 it stays there:
        // (2000 + 0.25·40 + 0.25·0.75·10)/(1 + 0.25 + 0.1875) = 2011.875/1.4375.
        history.extend(2000);
        assert!((history.average().unwrap() - 2011.875 / 1.4375).abs() < 1e-9);
    }

    #[test]
    fn an_event_found_late_closes_at_its_own_packet() {
        let mut history = LossIntervals::new();
        history.extend(100);
        history.close(97, 3);
        assert_eq!((history.average_closed(), history.open()), (Some(97.0), 3));
    }
}
