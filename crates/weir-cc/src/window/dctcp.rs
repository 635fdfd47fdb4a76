//! DCTCP: congestion reduces the window by the share of marked segments (RFC 8257); the sender side of a scalable
//! control for L4S (RFC 9331). The algorithm needs exact counts of marks.
//!
//! Divergences from RFC 8257:
//! 1. Marks are counted by the receiver and reported exactly, so that the flags of its §3.2 are not needed.
//! 2. Segments are counted instead of bytes (§3.3).
//! 3. The window never falls below two segments, as that of the other algorithms.

use crate::time::SendTime;
use crate::window::rounds::Rounds;
use crate::window::rules::{RenoGrowth, Rules};
use crate::window::{Ack, Congestion, Delivery, Window, WindowAlgorithm};

/// `g`, the weight of a round trip in the estimate (RFC 8257 §4.2).
const G: f64 = 1.0 / 16.0;

/// The DCTCP window algorithm.
#[derive(Clone, Debug)]
pub struct Dctcp {
    growth: RenoGrowth,
    rounds: Rounds,
    /// `DCTCP.BytesAcked`, in segments.
    acked: f64,
    /// `DCTCP.BytesMarked`, in segments.
    marked: f64,
    /// `DCTCP.Alpha`, the share of marked segments.
    alpha: f64,
}

impl Default for Dctcp {
    fn default() -> Self {
        Self::with_rules(Rules::default())
    }
}

impl Dctcp {
    /// The algorithm at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The algorithm by the rules of a stack.
    pub fn with_rules(rules: Rules) -> Self {
        Self::with_growth(RenoGrowth::new(rules))
    }

    fn with_growth(growth: RenoGrowth) -> Self {
        Self { growth, rounds: Rounds::default(), acked: 0.0, marked: 0.0, alpha: 1.0 }
    }
}

impl WindowAlgorithm for Dctcp {
    fn reset(&mut self) {
        *self = Self::with_growth(self.growth.restarted());
    }

    fn on_delivery(&mut self, _window: &mut Window, delivery: &Delivery) {
        self.acked += delivery.delivered;
        self.marked += delivery.marked;
        if self.rounds.begins(delivery) && self.acked > 0.0 {
            let share = (self.marked / self.acked).min(1.0); // RFC 8257 §3.3 step 4
            self.alpha += G * (share - self.alpha); // step 5
            self.acked = 0.0;
            self.marked = 0.0;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.growth.on_ack(window, ack, |_| 1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, _now: SendTime, kind: Congestion, flight: f64) {
        let reduced = self.growth.on_congestion(window, kind, flight);
        let left = match kind {
            Congestion::Ecn => window.cwnd * (1.0 - self.alpha / 2.0), // RFC 8257 §3.3 step 9
            // RFC 8257 §3.5; the amount that marks have just taken off the window may still be in flight.
            Congestion::Loss | Congestion::Timeout => reduced.min(window.cwnd) / 2.0,
        };
        window.ssthresh = self.growth.threshold(left);
        window.cwnd = window.ssthresh;
    }

    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {
        self.growth.on_undo();
    }

    /// A loss halves the window even where marks have reduced it by their share (RFC 8257 §3.5).
    fn marks_count_as_losses(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::test_support::delivery;

    /// A round trip in which `marked` of 16 segments arrive marked.
    fn round(algorithm: &mut Dctcp, marked: f64) {
        let mut window = Window { cwnd: 16.0, ssthresh: 16.0 };
        algorithm.on_delivery(&mut window, &Delivery { marked, ..delivery(0, 16.0, 16.0) });
    }

    /// The window after a congestion event of this kind at 100 segments.
    fn congested(algorithm: &mut Dctcp, kind: Congestion) -> f64 {
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, kind, 90.0);
        window.cwnd
    }

    #[test]
    fn share_of_marks_is_smoothed_over_sixteen_round_trips() {
        // From 1: one round trip without marks makes 15/16 = 0.9375, one with 4 of 16 then 0.9375 + (0.25 - 0.9375) / 16.
        let mut algorithm = Dctcp::new();
        round(&mut algorithm, 0.0);
        assert!((algorithm.alpha - 0.9375).abs() < 1e-12);
        round(&mut algorithm, 4.0);
        assert!((algorithm.alpha - 0.894_531_25).abs() < 1e-12);
    }

    #[test]
    fn window_gives_way_by_half_the_share_of_marks() {
        let mut algorithm = Dctcp::new();
        assert_eq!(congested(&mut algorithm, Congestion::Ecn), 50.0);
        for _ in 0..200 {
            round(&mut algorithm, 4.0);
        }
        // α = 1/4: 100 · (1 - 1/8).
        assert!((congested(&mut algorithm, Congestion::Ecn) - 87.5).abs() < 0.01);
    }

    #[test]
    fn loss_halves_the_flight_as_ever() {
        let mut algorithm = Dctcp::new();
        assert_eq!(congested(&mut algorithm, Congestion::Loss), 45.0);
        assert_eq!(congested(&mut algorithm, Congestion::Timeout), 45.0);
        // A mark has reduced the window from 90 to 60: the loss halves these.
        let mut window = Window { cwnd: 60.0, ssthresh: 60.0 };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 90.0);
        assert_eq!(window.cwnd, 30.0);
    }

    #[test]
    fn share_is_taken_once_per_round_trip() {
        let mut algorithm = Dctcp::new();
        let mut window = Window { cwnd: 8.0, ssthresh: 8.0 };
        for _ in 0..9 {
            algorithm.on_delivery(&mut window, &delivery(0, 1.0, 8.0));
        }
        // The first delivery ends a round trip, the eighth after it the next.
        assert!((algorithm.alpha - (15.0_f64 / 16.0) * (15.0 / 16.0)).abs() < 1e-12);
    }
}
