//! Proportional integral controller enhanced (RFC 8033).
//!
//! Differences: the queuing delay is that of the packet served last, by its time of arrival, and zero for an empty
//! queue (the RFC allows time stamps in place of its estimate of the departure rate, §5.2). The timer runs from the
//! start of the run.

use rand::RngExt;
use rand_pcg::Pcg64;
use weir_units::TimeDelta;

use super::{Fifo, WaitingPackets, long_enough, positive, probability};
use crate::error::{ConfigError, not_negative};
use crate::packet::DropReason;
use crate::records::Records;

/// Parameters of PIE. The default is that of the RFC with its enhancements and ECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pie {
    /// `QDELAY_REF`: the delay to hold, above 0; 15 ms (RFC 8033 §4.2).
    pub target: TimeDelta,
    /// `T_UPDATE`: how often the probability is computed, at least 100 µs; 15 ms (RFC 8033 §4.2).
    pub update: TimeDelta,
    /// alpha, per second, at least 0: weight of the distance from the target; 1/8 (RFC 8033 §4.2).
    pub alpha: f64,
    /// beta, per second, at least 0: weight of the delay's change; 1.25 (RFC 8033 §4.2).
    pub beta: f64,
    /// `MAX_BURST`: how long a burst passes unharmed after a calm; 150 ms (RFC 8033 §4.4).
    pub max_burst: TimeDelta,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Highest probability at which they are marked, in [0, 1]; 0.1 (RFC 8033 §5.1).
    pub ecn_below: f64,
    /// Whether drops are spaced (RFC 8033 §5.4) and the probability's steps bounded (§5.5).
    pub enhanced: bool,
}

impl Default for Pie {
    fn default() -> Self {
        Self {
            target: TimeDelta::from_millis(15),
            update: TimeDelta::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: TimeDelta::from_millis(150),
            ecn: true,
            ecn_below: 0.1,
            enhanced: true,
        }
    }
}

/// Two packets of this size wait before any is dropped at random.
const MEAN_PACKET: u64 = 1000;

impl Pie {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        positive("PIE target", self.target.nanos() as f64)?;
        long_enough("PIE update interval", self.update)?;
        not_negative("longest burst of PIE", Some(self.max_burst))?;
        probability("ECN threshold of PIE", self.ecn_below)?;
        let gains = [self.alpha, self.beta];
        if gains.iter().all(|gain| (0.0..1e6).contains(gain)) {
            Ok(())
        } else {
            Err(ConfigError::OutOfRange { name: "gain of PIE", must: "from 0 to 10⁶" })
        }
    }
}

/// The drop probability and how it comes about. Delays in seconds.
#[derive(Clone, Debug)]
struct PieController {
    config: Pie,
    target: f64,
    probability: f64,
    delay: f64,
    old_delay: f64,
    /// How much longer a burst may pass, ns.
    burst: i64,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
}

impl PieController {
    fn new(config: Pie) -> Self {
        Self {
            config,
            target: config.target.secs_f64(),
            probability: 0.0,
            delay: 0.0,
            old_delay: 0.0,
            burst: config.max_burst.nanos(),
            accumulated: 0.0,
        }
    }

    /// RFC 8033 §4.2: a new probability.
    fn update(&mut self) {
        let Pie { alpha, beta, enhanced, .. } = self.config;
        let mut step = alpha * (self.delay - self.target) + beta * (self.delay - self.old_delay);
        step *= scale(self.probability);
        // RFC 8033 §5.5: steps of at most 2 % while the probability is high.
        if enhanced && self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        let calm = |delay: f64| if enhanced { delay < self.target / 2.0 } else { delay == 0.0 };
        // Without congestion the probability decays.
        if calm(self.delay) && calm(self.old_delay) {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = self.delay;
        self.burst = (self.burst - self.config.update.nanos()).max(0);
    }

    /// Whether a packet that arrives at `backlog` bytes should be dropped (RFC 8033 §4.1 and §4.4).
    #[inline]
    fn drops(&mut self, backlog: u64, rng: &mut Pcg64) -> bool {
        let half = self.target / 2.0;
        // RFC 8033 §4.4: a calm renews the allowance of a burst.
        if self.probability == 0.0 && self.delay < half && self.old_delay < half {
            self.burst = self.config.max_burst.nanos();
        }
        // RFC 8033 §4.1: no drops at a low delay and probability, or from a short queue.
        let calm = self.old_delay < half && self.probability < 0.2;
        if self.burst > 0 || calm || backlog <= 2 * MEAN_PACKET {
            return false;
        }
        let dropped = self.chance(rng);
        if dropped {
            self.accumulated = 0.0;
        }
        dropped
    }

    /// A draw by the probability, with drops neither too close together nor too far apart (RFC 8033 §5.4).
    fn chance(&mut self, rng: &mut Pcg64) -> bool {
        if self.config.enhanced {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            // Too close to the last drop.
            if self.accumulated < 0.85 {
                return false;
            }
            // Too far from the last drop.
            if self.accumulated >= 8.5 {
                return true;
            }
        }
        rng.random::<f64>() < self.probability
    }
}

/// How much smaller steps are while the probability is small (RFC 8033 §4.2).
fn scale(probability: f64) -> f64 {
    let divisor = match probability {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 0.1 => 2.0,
        _ => return 1.0,
    };
    1.0 / divisor
}

/// A queue under PIE.
#[derive(Clone, Debug)]
pub(crate) struct PieQueue {
    fifo: Fifo,
    controller: PieController,
    rng: Pcg64,
    /// When the probability is next computed, ns.
    next_update: u64,
}

impl PieQueue {
    pub(crate) fn new(config: Pie, rng: Pcg64) -> Self {
        let next_update = config.update.nanos().max(1) as u64;
        Self { fifo: Fifo::default(), controller: PieController::new(config), rng, next_update }
    }

    /// Computes every probability that was due up to `now`.
    #[inline]
    fn catch_up(&mut self, now: u64) {
        if now < self.next_update {
            return;
        }
        let period = self.controller.config.update.nanos().max(1) as u64;
        while self.next_update <= now {
            let idle = self.controller.probability == 0.0 && self.controller.old_delay == 0.0;
            if idle && self.controller.delay == 0.0 && self.controller.burst == 0 {
                // Nothing changes any more until a packet comes.
                self.next_update += (now - self.next_update) / period * period + period;
                return;
            }
            self.controller.update();
            self.next_update += period;
        }
    }

    /// Whether an arriving packet is let in, marked or not.
    #[inline]
    fn admit(&mut self, now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.catch_up(now);
        if self.controller.drops(self.fifo.bytes(), &mut self.rng) {
            let Pie { ecn, ecn_below, .. } = self.controller.config;
            let marks = ecn && self.controller.probability < ecn_below;
            if !(marks && records[place].mark()) {
                return Err(DropReason::Aqm);
            }
        }
        Ok(())
    }
}

impl WaitingPackets for PieQueue {
    #[inline]
    fn enqueue(&mut self, now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.admit(now, place, records)?;
        self.fifo.push(place, records);
        Ok(())
    }

    #[inline]
    fn pass(&mut self, now: u64, place: u32, records: &mut Records) -> Result<Option<u32>, DropReason> {
        self.admit(now, place, records)?;
        self.controller.delay = 0.0;
        Ok(Some(place))
    }

    fn may_drop(&self, _from: u64, _until: u64) -> bool {
        false
    }

    #[inline]
    fn dequeue(&mut self, now: u64, records: &mut Records) -> Option<u32> {
        self.catch_up(now);
        let place = self.fifo.pop(records)?;
        let sojourn = now.saturating_sub(records[place].arrival) as f64 / 1e9;
        self.controller.delay = if self.fifo.is_empty() { 0.0 } else { sojourn };
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::testing::{MS, Tested, capable, packet};
    use super::*;

    fn queue(config: Pie) -> Tested<PieQueue> {
        Tested::new(PieQueue::new(config, Pcg64::seed_from_u64(1)))
    }

    fn controller() -> PieController {
        PieController::new(Pie::default())
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn the_first_step_of_the_probability_is_scaled_down() {
        // From 0 to 30 ms: 0.125·(0.030 - 0.015) + 1.25·0.030 = 0.039375; /2048 = 1.9226e-5.
        let mut pie = controller();
        pie.delay = 0.030;
        pie.update();
        assert_near(pie.probability, 1.922_6e-5, 1e-9);
        // The same delay again: 0.001875 at /128 (p < 1e-4) adds 1.4648e-5.
        pie.update();
        assert_near(pie.probability, 1.922_6e-5 + 1.464_8e-5, 1e-9);
    }

    #[test]
    fn large_steps_are_bounded_and_a_calm_lets_the_probability_decay() {
        let mut pie = controller();
        (pie.probability, pie.delay) = (0.2, 0.200);
        pie.update();
        assert_near(pie.probability, 0.22, 1e-12);
        // Both delays below 7.5 ms: 0.125·(0 - 0.015) = -0.001875, then ·0.98.
        (pie.probability, pie.delay, pie.old_delay) = (0.5, 0.0, 0.0);
        pie.update();
        assert_near(pie.probability, (0.5 - 0.001_875) * 0.98, 1e-12);
    }

    #[test]
    fn a_burst_passes_for_150_ms_and_no_longer() {
        let mut pie = controller();
        let mut rng = Pcg64::seed_from_u64(1);
        (pie.probability, pie.delay, pie.old_delay) = (1.0, 0.5, 0.5);
        for _ in 0..9 {
            pie.update();
            assert!(!pie.drops(100_000, &mut rng));
        }
        pie.update();
        assert!(pie.drops(100_000, &mut rng));
        assert!(!pie.drops(2000, &mut rng), "two packets may always wait");
    }

    #[test]
    fn drops_are_spaced_by_the_accumulated_probability() {
        // With p = 1/16 the sum reaches 0.85 with the 14th packet (13.6) and 8.5 with the 136th: gaps lie in between.
        let mut pie = controller();
        let mut rng = Pcg64::seed_from_u64(1);
        (pie.probability, pie.delay, pie.old_delay, pie.burst) = (0.0625, 0.020, 0.020, 0);
        let drops: Vec<usize> = (0..100_000).filter(|_| pie.drops(10_000, &mut rng)).collect();
        assert!(drops.windows(2).all(|pair| (14..=136).contains(&(pair[1] - pair[0]))));
        // 13 packets pass for certain, then the gap is geometric: 13 + 16 = 29 packets on average.
        assert_near(100_000.0 / drops.len() as f64, 29.0, 1.0);
    }

    #[test]
    fn capable_packets_are_marked_while_the_probability_is_small() {
        let outcomes = |probability| {
            let config = Pie { enhanced: false, ..Pie::default() };
            let mut queue = queue(config);
            for _ in 0..10 {
                queue.enqueue(packet(0, 1000)).unwrap();
            }
            let controller = &mut queue.queue.controller;
            (controller.delay, controller.old_delay, controller.burst) = (0.02, 0.02, 0);
            controller.probability = probability;
            let refused = (0..1000).filter(|_| queue.enqueue(capable(MS, 1000)).is_err()).count();
            let marked = (0..1010 - refused).filter(|_| queue.dequeue(MS).unwrap().marked).count();
            (refused, marked)
        };
        let (refused, marked) = outcomes(0.09);
        assert!(refused == 0 && (60..120).contains(&marked), "{marked}");
        let (refused, marked) = outcomes(0.11);
        assert!(marked == 0 && (80..140).contains(&refused), "{refused}");
    }

    #[test]
    fn the_delay_is_that_of_the_packet_served_last_unless_nothing_waits() {
        let mut queue = queue(Pie::default());
        for _ in 0..2 {
            queue.enqueue(packet(0, 1000)).unwrap();
        }
        queue.dequeue(10 * MS).unwrap();
        assert_near(queue.queue.controller.delay, 0.010, 1e-12);
        // At 15 ms: 0.125·(0.010 - 0.015) + 1.25·0.010 = 0.011875; /2048 = 5.798e-6.
        queue.enqueue(packet(15 * MS, 1000)).unwrap();
        assert_near(queue.queue.controller.probability, 5.798e-6, 1e-9);
        queue.dequeue(16 * MS).unwrap();
        queue.dequeue(17 * MS).unwrap();
        assert_eq!(queue.queue.controller.delay, 0.0);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let wrong = [
            Pie { update: TimeDelta::from_nanos(1), ..Pie::default() },
            Pie { max_burst: TimeDelta::from_nanos(-1), ..Pie::default() },
            Pie { alpha: -0.1, ..Pie::default() },
            Pie { beta: f64::NAN, ..Pie::default() },
        ];
        assert!(wrong.iter().all(|config| config.validate().is_err()));
    }

    #[test]
    fn an_idle_hour_costs_nothing_and_changes_nothing() {
        let mut queue = queue(Pie::default());
        queue.enqueue(packet(3_600_000 * MS, 1000)).unwrap();
        assert_eq!(queue.queue.next_update, 3_600_015 * MS);
        assert_eq!(queue.queue.controller.probability, 0.0);
    }

    #[test]
    fn steps_are_smaller_the_smaller_the_probability_is() {
        // RFC 8033 §4.2; at each edge the larger step.
        let scales = [0.0, 9e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.099, 0.1, 1.0].map(|p| 1.0 / scale(p));
        assert_eq!(scales, [2048.0, 2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn steps_are_bounded_from_a_tenth_on_and_without_enhancements_nowhere() {
        // 0.125·0.185 + 1.25·0.2 = 0.273125, halved below 0.1.
        let after = |enhanced, probability| {
            let mut pie = PieController::new(Pie { enhanced, ..Pie::default() });
            (pie.probability, pie.delay) = (probability, 0.2);
            pie.update();
            pie.probability
        };
        assert_near(after(true, 0.1), 0.12, 1e-12);
        assert_near(after(true, 0.099), 0.099 + 0.273_125 / 2.0, 1e-12);
        assert_near(after(false, 0.1), 0.1 + 0.273_125, 1e-12);
        assert_eq!(after(false, 0.9), 1.0);
    }

    #[test]
    fn a_calm_is_both_delays_below_half_of_the_target() {
        let after = |enhanced, delay, old_delay| {
            let mut pie = PieController::new(Pie { enhanced, alpha: 0.0, beta: 0.0, ..Pie::default() });
            (pie.probability, pie.delay, pie.old_delay) = (0.5, delay, old_delay);
            pie.update();
            pie.probability
        };
        assert_near(after(true, 0.0074, 0.0074), 0.49, 1e-12);
        for (delay, old) in [(0.0075, 0.0), (0.0, 0.0075)] {
            assert_eq!(after(true, delay, old), 0.5);
        }
        // Without enhancements no delay at all.
        assert_near(after(false, 0.0, 0.0), 0.49, 1e-12);
        assert_eq!((after(false, 0.001, 0.0), after(false, 0.0, 0.001)), (0.5, 0.5));
    }

    #[test]
    fn no_packet_is_dropped_at_a_short_delay_and_a_probability_below_a_fifth() {
        let drops = |probability, old_delay| {
            let mut pie = controller();
            let mut rng = Pcg64::seed_from_u64(1);
            (pie.probability, pie.delay, pie.old_delay, pie.burst) = (probability, 0.02, old_delay, 0);
            (0..1000).filter(|_| pie.drops(10_000, &mut rng)).count()
        };
        assert_eq!(drops(0.199, 0.0074), 0);
        assert!(drops(0.2, 0.0074) > 0 && drops(0.199, 0.0075) > 0);
    }

    #[test]
    fn after_a_calm_a_burst_may_pass_again() {
        let burst = |probability, delay, old_delay| {
            let mut pie = controller();
            (pie.probability, pie.delay, pie.old_delay, pie.burst) = (probability, delay, old_delay, 7);
            pie.drops(10_000, &mut Pcg64::seed_from_u64(1));
            pie.burst
        };
        assert_eq!(burst(0.0, 0.0074, 0.0074), 150 * MS as i64);
        for (probability, delay, old_delay) in [(0.01, 0.0, 0.0), (0.0, 0.0075, 0.0), (0.0, 0.0, 0.0075)] {
            assert_eq!(burst(probability, delay, old_delay), 7);
        }
    }
}
