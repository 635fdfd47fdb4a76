//! Losses, and their share of all packets.

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use crate::packet::{PacketFate, PacketResult};
use crate::time::SendTime;

/// Missing packets that are watched at most; of more the oldest is lost at once.
const MOST_MISSING: usize = 128;
/// Weight of a packet in the share of losses, as a share of `loss_rate_threshold`.
const GAIN: f64 = 0.25;

/// Conditions of a loss event.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossRule {
    /// Least time by which a later arrival must have left after a missing packet to make it lost.
    pub(super) reorder_time: TimeDelta,
    /// Share of losses from which a loss is an event.
    pub(super) threshold: f64,
    /// Share of a packet in the reference window.
    pub(super) mss_share: f64,
    /// Whether the queue is so long that any loss is an event.
    pub(super) queued: bool,
}

/// The running share of lost packets, and the packets that may yet arrive.
#[derive(Debug)]
pub(super) struct LossShare {
    /// Number and departure, in order of departure.
    missing: VecDeque<(u64, SendTime)>,
    rate: f64,
}

impl LossShare {
    pub(super) fn new() -> Self {
        Self { missing: VecDeque::with_capacity(MOST_MISSING), rate: 0.0 }
    }

    /// The share of lost packets.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Feedback has come, in order of departure. Returns whether it shows a loss event.
    pub(super) fn on_feedback(&mut self, results: &[PacketResult], rule: &LossRule) -> bool {
        let newest = results.iter().rev().find(|result| matches!(result.fate, PacketFate::Arrived { .. }));
        let edge = newest.map(|result| result.sent.at - rule.reorder_time);
        let is_late = |departure: SendTime| edge.is_some_and(|edge| departure < edge);
        // A packet that has arrived after all is not lost by later packets in the same report.
        for result in results.iter().filter(|result| matches!(result.fate, PacketFate::Recovered { .. })) {
            self.recover(result.sent.id, rule);
        }
        let mut event = false;
        while self.missing.front().is_some_and(|&(_, departure)| is_late(departure)) {
            self.missing.pop_front();
            event |= self.lose(rule);
        }
        for PacketResult { sent, fate } in results {
            match fate {
                PacketFate::Recovered { .. } => {}
                PacketFate::Arrived { .. } => self.count(false, rule),
                PacketFate::Missing if is_late(sent.at) => event |= self.lose(rule),
                PacketFate::Missing => {
                    if self.missing.len() == MOST_MISSING {
                        self.missing.pop_front();
                        event |= self.lose(rule);
                    }
                    self.missing.push_back((sent.id, sent.at));
                }
            }
        }
        event
    }

    /// A packet is lost. Returns whether that is an event, by the share of the losses before it.
    fn lose(&mut self, rule: &LossRule) -> bool {
        let event = rule.queued || self.rate > rule.threshold;
        self.count(true, rule);
        event
    }

    /// A packet that was missing has arrived; one that is lost stays so.
    fn recover(&mut self, id: u64, rule: &LossRule) {
        if let Some(place) = self.missing.iter().position(|&(missing, _)| missing == id) {
            self.missing.remove(place);
            self.count(false, rule);
        }
    }

    fn count(&mut self, lost: bool, rule: &LossRule) {
        let gain = (rule.mss_share / 2.0).min(GAIN * rule.threshold);
        self.rate += gain * (f64::from(u8::from(lost)) - self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::scream::fixture::{arrived, missing, recovered};

    /// Packets leave each 10 ms; one of a hundred in the window weighs 1/400.
    const RULE: LossRule = LossRule {
        reorder_time: TimeDelta::from_millis(30),
        threshold: 0.01,
        mss_share: 0.01,
        queued: false,
    };

    fn ok(id: u64) -> PacketResult {
        arrived(id, Ecn::NotEct)
    }

    /// Checks that `value` is `expected` within 1e-15.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-15, "{value} instead of {expected}");
    }

    #[test]
    fn a_packet_is_lost_once_one_that_left_later_by_the_reorder_time_has_arrived() {
        let mut losses = LossShare::new();
        losses.on_feedback(&[missing(1), ok(2), ok(3), ok(4)], &RULE);
        assert_eq!((losses.rate(), losses.missing.len()), (0.0, 1), "30 ms are not more than 30 ms");
        losses.on_feedback(&[ok(5)], &RULE);
        near(losses.rate(), 0.0025 * 0.9975);
        assert!(losses.missing.is_empty());
        // In the report that shows the later one, too.
        losses.on_feedback(&[missing(6), ok(10)], &RULE);
        assert!(losses.missing.is_empty());
    }

    #[test]
    fn a_late_packet_is_no_loss_unless_it_was_one() {
        let mut losses = LossShare::new();
        losses.on_feedback(&[missing(1), ok(2)], &RULE);
        losses.on_feedback(&[recovered(1, 60, Ecn::NotEct), ok(6)], &RULE);
        assert_eq!(losses.rate(), 0.0);
        losses.on_feedback(&[missing(3), ok(9)], &RULE);
        let rate = losses.rate();
        losses.on_feedback(&[recovered(3, 200, Ecn::NotEct)], &RULE);
        assert_eq!(losses.rate(), rate);
    }

    #[test]
    fn a_loss_is_an_event_where_losses_are_frequent_or_the_queue_is_long() {
        let lost = [missing(1), ok(9)];
        let mut losses = LossShare::new();
        assert!(!losses.on_feedback(&lost, &RULE));
        assert!(losses.on_feedback(&lost, &LossRule { queued: true, ..RULE }));
        // After 1 − 0.9975ⁿ > 0.01: five losses nearly in a row.
        let mut frequent = LossShare::new();
        let events = [(); 6].map(|()| frequent.on_feedback(&[missing(1), ok(9)], &RULE));
        assert_eq!(events, [false, false, false, false, false, true]);
    }

    #[test]
    fn too_many_missing_packets_make_the_oldest_lost() {
        let mut losses = LossShare::new();
        let results: Vec<_> = (1..=MOST_MISSING as u64 + 1).map(missing).collect();
        losses.on_feedback(&results, &RULE);
        assert_eq!(losses.missing.len(), MOST_MISSING);
        near(losses.rate(), 0.0025);
    }

    #[test]
    fn in_a_small_window_a_packet_weighs_no_more_than_a_quarter_of_the_threshold() {
        let (mut small, mut large) = (LossShare::new(), LossShare::new());
        small.on_feedback(&[missing(1), ok(9)], &LossRule { mss_share: 0.5, ..RULE });
        large.on_feedback(&[missing(1), ok(9)], &LossRule { mss_share: 0.001, ..RULE });
        near(small.rate(), 0.0025 * 0.9975);
        near(large.rate(), 0.0005 * 0.9995);
    }
}
