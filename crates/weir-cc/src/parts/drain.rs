//! Drains of the queue, during which the base delay of the path can be measured.
//!
//! A controller with a standing queue never measures the empty path. A base delay with a limited memory then mistakes
//! the queue for propagation delay, and another queue builds up on top. A base delay with an unlimited memory
//! mistakes the skew of two clocks for a queue. The round-trip time uses one clock and distinguishes both. If it has
//! not been near its minimum for some time, the sender reduces its rate for a few round trips. Flows of one
//! bottleneck observe each other's drains in the round-trip time, and drain together.

use weir_units::{DataRate, TimeDelta};

use crate::controller::{Pacing, RateLimits};
use crate::rate_controller::SendRates;
use crate::time::SendTime;

/// Share of the rate that is sent while the queue drains; that of SCReAM's implementation.
pub(crate) const DRAIN_SHARE: f64 = 0.5;
/// Length of a drain in round trips, as in SCReAM; half of the rate drains two and a half of them.
pub(crate) const DRAIN_ROUNDS: f64 = 5.0;
/// Least length of a drain, so that a report covers it.
const MIN_DRAIN: TimeDelta = TimeDelta::from_millis(200);
/// Distance from the smallest round-trip time within which there is no queue.
const NEAR_MINIMUM: TimeDelta = TimeDelta::from_millis(5);

/// Times of drains of a flow's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drains {
    /// Time without a round-trip time near the minimum after which the queue is drained; `None` for no drains.
    every: Option<TimeDelta>,
    seen: Option<RoundTrips>,
    phase: Phase,
}

/// Round-trip times of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RoundTrips {
    /// The smallest of all.
    least: TimeDelta,
    /// The smallest round-trip time of the last drain, if it was not near the least one: the path is longer now, or
    /// the queue belongs to other flows. It counts as that of an empty path until a smaller one is measured.
    floor: Option<TimeDelta>,
    /// Time at which the path was last empty, or a drain began.
    at: SendTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The flow sends at the rate of its controller.
    Full,
    /// The flow drains the queue since this time. The smallest round-trip time since then determines the length of
    /// the drain.
    Draining(SendTime, TimeDelta),
    /// The flow sends at the full rate again since this time, but reports may still cover the drain. The smallest
    /// round-trip time is that since the drain began.
    AwaitingReports(SendTime, TimeDelta),
}

impl RoundTrips {
    /// Takes a round-trip time. Returns whether the path is empty by it.
    fn on_rtt(&mut self, now: SendTime, rtt: TimeDelta) -> bool {
        // The sender's clock may have been set back.
        self.at = self.at.min(now);
        self.least = self.least.min(rtt);
        self.floor = self.floor.filter(|&floor| rtt >= floor - NEAR_MINIMUM);
        let empty = rtt <= self.floor.unwrap_or(self.least) + NEAR_MINIMUM;
        if empty {
            self.at = now;
        }
        empty
    }

    /// Takes the smallest round-trip time of a drain that has ended.
    fn on_drained(&mut self, now: SendTime, rtt: TimeDelta) {
        if rtt > self.least + NEAR_MINIMUM {
            (self.floor, self.at) = (Some(rtt), now);
        }
    }
}

/// Length of a drain with this smallest round-trip time.
fn span(least: TimeDelta) -> TimeDelta {
    least.scale(DRAIN_ROUNDS).max(MIN_DRAIN)
}

impl Drains {
    pub(crate) const fn new(every: Option<TimeDelta>) -> Self {
        Self { every, seen: None, phase: Phase::Full }
    }

    /// Takes a round-trip time. Returns whether its report may cover a drain, so that the controller has no basis for
    /// a higher rate.
    pub(crate) fn on_rtt(&mut self, now: SendTime, rtt: TimeDelta) -> bool {
        let Some(every) = self.every else { return false };
        let mut seen = self.seen.unwrap_or(RoundTrips { least: rtt, floor: None, at: now });
        self.phase = match self.phase {
            // One long sample, of a stalled path, is no measure of the drain.
            Phase::Draining(began, least) if now - began >= span(least.min(rtt)) => {
                Phase::AwaitingReports(now, least.min(rtt))
            }
            Phase::Draining(began, least) => Phase::Draining(began, least.min(rtt)),
            Phase::AwaitingReports(ended, least) if now - rtt >= ended => {
                seen.on_drained(now, least);
                Phase::Full
            }
            Phase::AwaitingReports(ended, least) => Phase::AwaitingReports(ended, least.min(rtt)),
            Phase::Full => Phase::Full,
        };
        if !seen.on_rtt(now, rtt) && self.phase == Phase::Full && now - seen.at >= every {
            self.phase = Phase::Draining(now, rtt);
            seen.at = now;
        }
        self.seen = Some(seen);
        self.phase != Phase::Full
    }

    /// Ends a drain, because feedback is missing or no packet is sent.
    pub(crate) fn end(&mut self) {
        self.phase = Phase::Full;
    }

    /// Resets all times after a change of the path.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.every);
    }

    /// Shapes `send_rates` for encoder and pacer during a drain.
    pub(crate) fn shape(&self, send_rates: SendRates, limits: &RateLimits) -> SendRates {
        let send_rates = SendRates { draining: self.phase != Phase::Full, ..send_rates };
        if !matches!(self.phase, Phase::Draining(..)) {
            return send_rates;
        }
        let part = |rate: DataRate| limits.clamp(rate.scale(DRAIN_SHARE));
        let (media_rate, sending_rate) = (part(send_rates.media_rate), part(send_rates.sending_rate));
        let pacing = match send_rates.pacing {
            Pacing::Exact(_) => Pacing::Exact(sending_rate),
            pacing => pacing,
        };
        SendRates { media_rate, sending_rate, pacing, ..send_rates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    fn limits() -> RateLimits {
        RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap()
    }

    /// Sending rate of a flow with 1000 kbit/s.
    fn sent(drains: &Drains) -> DataRate {
        let send_rates = SendRates::at(kbps(1000), Pacing::Exact(kbps(1000)));
        let shaped = drains.shape(send_rates, &limits());
        assert_eq!(
            (shaped.media_rate, shaped.pacing),
            (shaped.sending_rate, Pacing::Exact(shaped.sending_rate))
        );
        shaped.sending_rate
    }

    fn drains() -> Drains {
        Drains::new(Some(TimeDelta::from_secs(60)))
    }

    #[test]
    fn a_minute_without_the_empty_path_is_followed_by_five_round_trips_at_half_the_rate() {
        let mut drains = drains();
        assert!(!drains.on_rtt(at(0), ms(50)));
        assert!(!drains.on_rtt(at(59_999), ms(56)));
        assert_eq!(sent(&drains), kbps(1000));
        assert!(drains.on_rtt(at(60_000), ms(56)));
        assert_eq!(sent(&drains), kbps(500));
        // 5 · 50 ms, and another round trip of reports on packets of the drain.
        assert!(drains.on_rtt(at(60_249), ms(50)) && sent(&drains) == kbps(500));
        assert!(drains.on_rtt(at(60_250), ms(50)) && sent(&drains) == kbps(1000));
        assert!(drains.on_rtt(at(60_299), ms(50)));
        assert!(!drains.on_rtt(at(60_300), ms(50)));
        // The next one a minute after the path was last seen empty.
        assert!(!drains.on_rtt(at(120_299), ms(56)) && drains.on_rtt(at(120_300), ms(56)));
    }

    #[test]
    fn a_path_that_stood_still_when_a_drain_was_due_is_drained_no_longer_than_another() {
        let mut drains = drains();
        drains.on_rtt(at(0), ms(50));
        assert!(drains.on_rtt(at(60_000), ms(4400)) && sent(&drains) == kbps(500));
        drains.on_rtt(at(60_100), ms(60));
        assert!(drains.on_rtt(at(60_300), ms(50)) && sent(&drains) == kbps(1000));
        // A delayed report covers packets from before the end of the drain, and the next one does not.
        assert!(drains.on_rtt(at(60_340), ms(300)));
        assert!(!drains.on_rtt(at(60_360), ms(50)));
    }

    #[test]
    fn a_round_trip_near_the_least_puts_it_off() {
        let mut drains = drains();
        drains.on_rtt(at(0), ms(50));
        assert!(!drains.on_rtt(at(59_000), ms(55)));
        assert!(!drains.on_rtt(at(118_999), ms(90)) && drains.on_rtt(at(119_000), ms(90)));
    }

    #[test]
    fn a_longer_path_is_taken_for_what_it_is_after_one_drain() {
        let mut drains = drains();
        drains.on_rtt(at(0), ms(50));
        assert!(drains.on_rtt(at(60_000), ms(80)));
        for now in (60_100..400_000).step_by(100) {
            let accepts = drains.on_rtt(at(now), ms(80));
            assert!(!accepts || now <= 60_600, "{now}");
        }
    }

    /// Round-trip times each 100 ms from `from` to `to` ms; returns when drains began.
    fn live(drains: &mut Drains, from: i64, to: i64, rtt: impl Fn(i64) -> i64) -> Vec<i64> {
        let mut began = Vec::new();
        for now in (from..to).step_by(100) {
            let before = sent(drains);
            drains.on_rtt(at(now), ms(rtt(now)));
            if sent(drains) < before {
                began.push(now);
            }
        }
        began
    }

    #[test]
    fn a_queue_that_no_drain_empties_is_drained_when_it_can_be() {
        let mut drains = drains();
        drains.on_rtt(at(0), ms(50));
        // Another flow keeps 300 ms in the queue: one drain, and then that counts as the path.
        assert_eq!(live(&mut drains, 100, 200_000, |now| 350 + now / 100 % 3), [60_000]);
        // That flow has left, and the standing queue is the flow's own: a drain empties it, each minute.
        let own = |now: i64| if (260_100..260_400).contains(&now) { 50 } else { 67 };
        assert_eq!(live(&mut drains, 200_000, 300_000, own), [259_900]);
        assert_eq!(live(&mut drains, 300_000, 321_000, |_| 67), [320_300]);
    }

    #[test]
    fn silence_ends_it_and_a_minimum_holds() {
        let mut drains = drains();
        drains.on_rtt(at(0), ms(50));
        drains.on_rtt(at(60_000), ms(80));
        let send_rates = SendRates::at(kbps(80), Pacing::Factor(1.0));
        let half = SendRates { draining: true, ..SendRates::at(kbps(50), Pacing::Factor(1.0)) };
        assert_eq!(drains.shape(send_rates, &limits()), half);
        drains.end();
        assert_eq!(sent(&drains), kbps(1000));
        drains.restart();
        assert!(!drains.on_rtt(at(200_000), ms(500)));
        let mut never = Drains::new(None);
        never.on_rtt(at(0), ms(50));
        assert!(!never.on_rtt(at(200_000), ms(500)));
    }
}
