//! Loss detection with a reordering window, and the rate of loss events (RFC 8298 §4.1.2.4, §4.1.1.2).

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use super::passed;
use crate::time::SendTime;

/// Largest number of watched packets. If there are more, the oldest counts as lost at once.
const MAX_FLAGGED: usize = 128;

/// A packet reported as missing in a report with a later arrival.
#[derive(Clone, Copy, Debug)]
struct Flagged {
    id: u64,
    at: SendTime,
    lost: bool,
}

/// Detector of losses: packets are declared lost that stay missing for longer than the reordering window.
#[derive(Debug)]
pub(super) struct LossDetector {
    /// Missing packets, in order of flagging. Lost ones stay for a while, as late arrivals widen the reordering
    /// window.
    flagged: VecDeque<Flagged>,
    window: TimeDelta,
}

impl LossDetector {
    pub(super) fn new() -> Self {
        Self { flagged: VecDeque::with_capacity(MAX_FLAGGED), window: TimeDelta::ZERO }
    }

    /// Takes in a report at `now` that covers the packet `id` as missing. Returns whether that makes another packet
    /// lost.
    pub(super) fn on_missing(&mut self, now: SendTime, id: u64) -> bool {
        let full = self.flagged.len() == MAX_FLAGGED;
        let overflow = full && self.flagged.pop_front().is_some_and(|oldest| !oldest.lost);
        self.flagged.push_back(Flagged { id, at: now, lost: false });
        overflow
    }

    /// Takes in a late arrival of a packet that was missing. The window covers its lateness from now on, up to
    /// `bound`.
    pub(super) fn on_recovered(&mut self, now: SendTime, id: u64, bound: TimeDelta) {
        if let Some(place) = self.flagged.iter().position(|flagged| flagged.id == id)
            && let Some(flagged) = self.flagged.remove(place)
        {
            self.window = self.window.max((now - flagged.at).min(bound));
        }
    }

    /// Declares packets lost that are due at `now`, and forgets those lost more than `keep` ago. Returns whether
    /// there were any.
    pub(super) fn declare(&mut self, now: SendTime, keep: TimeDelta) -> bool {
        let mut any = false;
        for flagged in self.flagged.iter_mut().filter(|flagged| !flagged.lost) {
            if passed(now, Some(flagged.at), self.window) {
                flagged.lost = true;
                any = true;
            }
        }
        while self.flagged.front().is_some_and(|front| front.lost && passed(now, Some(front.at), keep)) {
            self.flagged.pop_front();
        }
        any
    }
}

/// The rate of loss events (`loss_event_rate`): the share of round trips with one.
#[derive(Debug)]
pub(super) struct LossEventRate {
    rate: f64,
    /// Whether the present round trip had a loss event.
    event: bool,
    began: Option<SendTime>,
}

/// Weight of the newest round trip in `loss_event_rate`, from the reference implementation of 2018; the RFC has no
/// formula.
const EVENT_GAIN: f64 = 0.01;

impl LossEventRate {
    pub(super) fn new() -> Self {
        Self { rate: 0.0, event: false, began: None }
    }

    /// Updates the rate on feedback, with or without a loss event.
    pub(super) fn on_feedback(&mut self, now: SendTime, s_rtt: TimeDelta, event: bool) {
        self.event |= event;
        let Some(began) = self.began else {
            self.began = Some(now);
            return;
        };
        if passed(now, Some(began), s_rtt) {
            self.rate += EVENT_GAIN * (f64::from(u8::from(self.event)) - self.rate);
            self.event = false;
            self.began = Some(now);
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.rate
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

    #[test]
    fn without_reordering_a_missing_packet_is_lost_at_once_and_once() {
        let mut losses = LossDetector::new();
        assert!(!losses.declare(ms(0), RTT));
        losses.on_missing(ms(10), 7);
        assert!(losses.declare(ms(10), RTT));
        assert!(!losses.declare(ms(20), RTT));
    }

    #[test]
    fn a_late_packet_widens_the_window_up_to_the_bound() {
        let mut losses = LossDetector::new();
        losses.on_missing(ms(0), 1);
        losses.declare(ms(0), RTT);
        losses.on_recovered(ms(30), 1, RTT);
        // Flagged at 40 ms, the window is 30 ms.
        losses.on_missing(ms(40), 2);
        assert!(!losses.declare(ms(69), RTT));
        assert!(losses.declare(ms(70), RTT));
        losses.on_missing(ms(80), 3);
        losses.on_recovered(ms(100), 3, RTT);
        assert_eq!(losses.window, TimeDelta::from_millis(30), "it does not shrink");
        losses.on_missing(ms(200), 4);
        losses.on_recovered(ms(900), 4, RTT);
        assert_eq!(losses.window, RTT);
    }

    #[test]
    fn a_packet_that_comes_within_the_window_is_never_lost() {
        let mut losses = LossDetector::new();
        losses.window = TimeDelta::from_millis(30);
        losses.on_missing(ms(0), 1);
        assert!(!losses.declare(ms(20), RTT));
        losses.on_recovered(ms(25), 1, RTT);
        assert!(!losses.declare(ms(200), RTT));
    }

    #[test]
    fn too_many_missing_packets_make_the_oldest_lost() {
        let mut losses = LossDetector::new();
        losses.window = RTT;
        let lost = (0..=MAX_FLAGGED as u64).filter(|&id| losses.on_missing(ms(0), id)).count();
        assert_eq!(lost, 1);
        assert!(losses.declare(ms(100), RTT));
        assert!(losses.flagged.is_empty());
    }

    #[test]
    fn the_event_rate_moves_by_a_hundredth_per_round_trip() {
        let mut events = LossEventRate::new();
        events.on_feedback(ms(0), RTT, false);
        events.on_feedback(ms(50), RTT, true);
        assert_eq!(events.get(), 0.0);
        events.on_feedback(ms(100), RTT, false);
        assert_eq!(events.get(), 0.01);
        // Without: 0.01·0.99.
        events.on_feedback(ms(200), RTT, false);
        assert!((events.get() - 0.0099).abs() < 1e-12);
    }
}
