//! Proportional rate reduction: in recovery segments leave in proportion to those that arrive, so that the window
//! reaches its target at the end.
//!
//! Source: RFC 6937 §3 with the slow-start reduction bound, and RFC 9937 §6.2, as in Linux.

/// The state of one recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// The algorithm's window after recovery, in segments.
    target: f64,
    /// `RecoverFS`: segments outstanding at the beginning.
    flight: f64,
    /// `prr_delivered`: number of segments delivered in this recovery.
    delivered: f64,
    /// `prr_out`: number of segments sent in this recovery.
    out: f64,
}

impl Prr {
    /// Begins a recovery with `flight` segments outstanding, to end with a window of `target`.
    pub(super) fn begin(&mut self, target: f64, flight: u32) {
        *self = Self { target, flight: f64::from(flight.max(1)), delivered: 0.0, out: 0.0 };
    }

    /// The window after an acknowledgement of `delivered` segments.
    pub(super) fn window(&mut self, delivered: u32, pipe: u32) -> f64 {
        self.proceed(delivered, pipe, 1, 0)
    }

    /// The window after an acknowledgement by RFC 9937 §6.2, as in Linux. Below the target segments leave faster than
    /// they arrive only with `progress`: the acknowledgement covers new data and reveals no further loss. The first
    /// segment of a recovery leaves at once.
    pub(super) fn window_by_progress(&mut self, delivered: u32, pipe: u32, progress: bool) -> f64 {
        let least = u32::from(self.out == 0.0);
        self.proceed(delivered, pipe, u32::from(progress), least)
    }

    /// The window after an acknowledgement. Below the target `more` segments leave than arrive. At least `least`
    /// segments leave.
    fn proceed(&mut self, delivered: u32, pipe: u32, more: u32, least: u32) -> f64 {
        let (delivered, pipe) = (f64::from(delivered), f64::from(pipe));
        self.delivered += delivered;
        let send = if pipe > self.target {
            // RFC 6937 §3: in proportion to the delivered segments.
            (self.delivered * self.target / self.flight).ceil() - self.out
        } else {
            // RFC 6937 §3: the slow-start reduction bound.
            let limit = (self.delivered - self.out).max(delivered) + f64::from(more);
            limit.min(self.target - pipe)
        };
        pipe + send.max(f64::from(least))
    }

    /// Counts a segment that leaves.
    pub(super) fn on_sent(&mut self) {
        self.out += 1.0;
    }

    /// The window after recovery.
    pub(super) fn target(&self) -> f64 {
        self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_leave_in_proportion_to_those_that_arrive() {
        // 20 outstanding, a target of 10: every second delivery lets one out. After the retransmission 1 is out.
        let mut prr = Prr::default();
        prr.begin(10.0, 20);
        assert_eq!(prr.window(1, 16), 17.0); // ⌈0.5⌉ - 0
        prr.on_sent();
        assert_eq!(prr.window(1, 16), 16.0); // ⌈1⌉ - 1
        assert_eq!(prr.window(1, 15), 16.0); // ⌈1.5⌉ - 1
        prr.on_sent();
        assert_eq!(prr.window(1, 15), 15.0); // ⌈2⌉ - 2
    }

    #[test]
    fn below_the_target_progress_alone_lets_out_more_than_arrives() {
        // 4 are in flight, the target is 10. No segment is out: one leaves at least.
        let mut prr = Prr::default();
        prr.begin(10.0, 20);
        assert_eq!(prr.window_by_progress(0, 12, false), 13.0);
        assert_eq!(prr.window_by_progress(1, 4, false), 5.0); // max(1 - 0, 1)
        prr.on_sent();
        assert_eq!(prr.window_by_progress(1, 4, false), 5.0); // max(2 - 1, 1)
        assert_eq!(prr.window_by_progress(1, 4, true), 7.0); // max(3 - 1, 1) + 1
        assert_eq!(prr.window_by_progress(9, 9, true), 10.0); // no more than is missing
    }

    #[test]
    fn below_the_target_a_delivery_lets_two_out() {
        // Many were lost: 4 are in flight, the target is 10. With one delivery: max(1 - 0, 1) + 1 = 2.
        let mut prr = Prr::default();
        prr.begin(10.0, 20);
        assert_eq!(prr.window(1, 4), 6.0);
        prr.on_sent();
        prr.on_sent();
        // max(2 - 2, 1) + 1 = 2, but only 1 is missing.
        assert_eq!(prr.window(1, 9), 10.0);
    }
}
