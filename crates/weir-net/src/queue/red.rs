//! Random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993).
//!
//! Difference: above the upper threshold every packet is dropped, ECN-capable or not.

use rand::RngExt;
use rand_pcg::Pcg64;
use weir_units::{DataRate, DataSize};

use super::{Fifo, WaitingPackets, positive, probability};
use crate::error::ConfigError;
use crate::packet::DropReason;
use crate::records::Records;

/// Parameters of RED. The queue is counted in packets that wait, or in bytes of mean packets (`by_bytes`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// `w_q`, in [0, 1]: weight of the queue's present length in its average; 0.002.
    pub weight: f64,
    /// `min_th`, packets, above 0: average from which packets are dropped; 5.
    pub min_threshold: f64,
    /// `max_th`, packets, above `min_threshold`: average from which all are; 15.
    pub max_threshold: f64,
    /// `max_p`, in [0, 1]: probability just below `max_th`; 0.1 (0.02 in the paper).
    pub max_probability: f64,
    /// Whether the probability rises from `max_p` to 1 between `max_th` and twice that, in place of a jump; off.
    pub gentle: bool,
    /// Whether the queue counts in bytes, and larger packets are dropped more often, in proportion; off.
    pub by_bytes: bool,
    /// A typical packet, above 0; 1000 B.
    pub mean_packet: DataSize,
    /// Whether ECN-capable packets are marked instead of dropped below the upper threshold.
    pub ecn: bool,
}

impl Default for Red {
    fn default() -> Self {
        Self {
            weight: 0.002,
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            gentle: false,
            by_bytes: false,
            mean_packet: DataSize::from_bytes(1000),
            ecn: true,
        }
    }
}

impl Red {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        probability("weight of RED", self.weight)?;
        probability("maximum probability of RED", self.max_probability)?;
        positive("lower threshold of RED", self.min_threshold)?;
        positive("mean packet of RED", self.mean_packet.bytes() as f64)?;
        if self.max_threshold > self.min_threshold && self.max_threshold.is_finite() {
            Ok(())
        } else {
            Err(ConfigError::OutOfRange { name: "upper threshold of RED", must: "above the lower one" })
        }
    }
}

/// Action on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RedAction {
    Pass,
    /// Mark the packet, or drop it if it cannot be marked.
    Signal,
    /// Drop the packet, ECN-capable or not.
    Drop,
}

/// A queue under RED.
#[derive(Clone, Debug)]
pub(crate) struct RedQueue {
    fifo: Fifo,
    config: Red,
    rng: Pcg64,
    /// Logarithm by which the average decays in a nanosecond without packets: ln(1 - w_q) per typical packet.
    decay: f64,
    average: f64,
    /// Packets since the last one that was dropped or marked; -1 below the lower threshold.
    count: i64,
    /// Since when the queue has been empty, ns.
    empty_since: u64,
}

/// e to the power of `x`, which is at most 0. Near 0, where the average of a busy link moves, the series saves a call:
/// its sixth term is below 10⁻¹².
#[inline]
fn exp(x: f64) -> f64 {
    if x < -0.01 { libm::exp(x) } else { 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0))) }
}

impl RedQueue {
    pub(crate) fn new(config: Red, rate: DataRate, rng: Pcg64) -> Self {
        let typical = config.mean_packet.bytes_f64() * 8e9 / rate.bps().max(1) as f64;
        let decay = libm::log(1.0 - config.weight) / typical;
        Self { fifo: Fifo::default(), config, rng, decay, average: 0.0, count: -1, empty_since: 0 }
    }

    fn length(&self) -> f64 {
        if self.config.by_bytes {
            self.fifo.bytes() as f64 / self.config.mean_packet.bytes_f64()
        } else {
            self.fifo.len() as f64
        }
    }

    /// The average as a packet arrives: an idle period counts as if typical packets had met an empty queue.
    #[inline]
    fn average_at(&self, now: u64) -> f64 {
        let weight = self.config.weight;
        if self.fifo.is_empty() {
            let idle = now.saturating_sub(self.empty_since);
            // With a weight of 1 the logarithm is infinite, and only no time at all leaves the average.
            if idle == 0 { self.average } else { exp(self.decay * idle as f64) * self.average }
        } else {
            (1.0 - weight) * self.average + weight * self.length()
        }
    }

    /// The probability p_b at the average, of a packet of typical size.
    fn base_probability(&self) -> f64 {
        let Red { min_threshold: min, max_threshold: max, max_probability, .. } = self.config;
        if self.average < max {
            max_probability * (self.average - min) / (max - min)
        } else {
            max_probability + (1.0 - max_probability) * (self.average - max) / max
        }
    }

    #[inline]
    fn verdict(&mut self, size: u32) -> RedAction {
        let Red { min_threshold, max_threshold, gentle, by_bytes, mean_packet, .. } = self.config;
        if self.average < min_threshold {
            self.count = -1;
            return RedAction::Pass;
        }
        // From here on every packet is dropped.
        let forced = if gentle { 2.0 * max_threshold } else { max_threshold };
        if self.average >= forced {
            self.count = 0;
            return RedAction::Drop;
        }
        self.count += 1;
        let share = if by_bytes { f64::from(size) / mean_packet.bytes_f64() } else { 1.0 };
        let base = self.base_probability() * share;
        // p_a = p_b/(1 - count·p_b): the gaps between signals are uniform.
        let room = 1.0 - self.count as f64 * base;
        let chance = if room > 0.0 { base / room } else { 1.0 };
        if self.rng.random::<f64>() >= chance {
            return RedAction::Pass;
        }
        self.count = 0;
        if self.average < max_threshold { RedAction::Signal } else { RedAction::Drop }
    }

    /// Whether an arriving packet is let in, marked or not.
    #[inline]
    fn admit(&mut self, now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.average = self.average_at(now);
        if self.fifo.is_empty() {
            // Idle time counts once, also if this packet is dropped.
            self.empty_since = now;
        }
        let kept = match self.verdict(records[place].size) {
            RedAction::Pass => true,
            RedAction::Signal => self.config.ecn && records[place].mark(),
            RedAction::Drop => false,
        };
        if kept { Ok(()) } else { Err(DropReason::Aqm) }
    }
}

impl WaitingPackets for RedQueue {
    #[inline]
    fn enqueue(&mut self, now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.admit(now, place, records)?;
        self.fifo.push(place, records);
        Ok(())
    }

    /// An empty queue has been empty since this packet came.
    #[inline]
    fn pass(&mut self, now: u64, place: u32, records: &mut Records) -> Result<Option<u32>, DropReason> {
        self.admit(now, place, records)?;
        Ok(Some(place))
    }

    fn may_drop(&self, _from: u64, _until: u64) -> bool {
        false
    }

    #[inline]
    fn dequeue(&mut self, now: u64, records: &mut Records) -> Option<u32> {
        let place = self.fifo.pop(records)?;
        if self.fifo.is_empty() {
            self.empty_since = now;
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::testing::{MS, Tested, capable, packet};
    use super::*;

    /// 1000 bytes at 8 Mbit/s take 1 ms.
    fn queue(config: Red) -> Tested<RedQueue> {
        Tested::new(RedQueue::new(config, DataRate::from_mbps(8), Pcg64::seed_from_u64(1)))
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not within {tolerance} of {expected}");
    }

    /// A queue of `length` packets with the average `average`.
    fn standing(config: Red, length: u32, average: f64) -> Tested<RedQueue> {
        let mut queue = queue(config);
        for _ in 0..length {
            let place = queue.records.insert(packet(0, 1000));
            queue.queue.fifo.push(place, &mut queue.records);
        }
        queue.queue.average = average;
        queue
    }

    #[test]
    fn the_average_follows_a_standing_queue_exponentially() {
        // From 0 with 10 packets waiting: 10·(1 - 0.998^500) = 10·(1 - 0.367512) = 6.3249 after 500 arrivals.
        let mut queue = standing(Red { max_probability: 0.0, ..Red::default() }, 10, 0.0);
        for _ in 0..500 {
            queue.enqueue(packet(MS, 1000)).unwrap();
            queue.dequeue(MS).unwrap();
        }
        assert_near(queue.queue.average, 6.3249, 0.001);
    }

    #[test]
    fn an_empty_queue_lets_the_average_decay_by_the_packets_it_could_have_sent() {
        // 100 ms are 100 typical packets: 8·0.998^100 = 8·0.818567 = 6.5485.
        let mut queue = standing(Red::default(), 1, 8.0);
        queue.dequeue(50 * MS).unwrap();
        assert_near(queue.queue.average_at(150 * MS), 6.5485, 0.0001);
    }

    /// Gaps between signals in 200 000 arrivals at a fixed average.
    fn mean_gap(config: Red, average: f64, size: u32) -> f64 {
        let mut queue = standing(config, 10, average);
        let signals = (0..200_000).filter(|_| queue.queue.verdict(size) != RedAction::Pass).count();
        200_000.0 / signals as f64
    }

    #[test]
    fn signals_come_at_twice_the_base_probability_and_evenly() {
        // Half-way between the thresholds p_b = 0.05. With p_a = p_b/(1 - count·p_b) the gap is uniform on 1 to
        // 1/p_b - 1 = 19 packets, 10 on average.
        let config = Red::default();
        assert_near(mean_gap(config, 10.0, 1000), 10.0, 0.15);
        let mut queue = standing(config, 10, 10.0);
        let (mut gap, mut longest) = (0, 0);
        for _ in 0..100_000 {
            gap += 1;
            if queue.queue.verdict(1000) != RedAction::Pass {
                (longest, gap) = (longest.max(gap), 0);
            }
        }
        // The first after the average has crossed the threshold counts from -1.
        assert!(longest <= 20, "{longest}");
    }

    #[test]
    fn below_the_lower_threshold_the_count_begins_anew() {
        // The first packet above the threshold has count 0, and so p_a = p_b = 0.05, however many passed before.
        let mut queue = standing(Red::default(), 10, 10.0).queue;
        let mut signals = 0;
        for _ in 0..100_000 {
            queue.average = 4.99;
            assert_eq!(queue.verdict(1000), RedAction::Pass);
            queue.average = 10.0;
            signals += u32::from(queue.verdict(1000) != RedAction::Pass);
        }
        assert_near(f64::from(signals) / 100_000.0, 0.05, 0.003);
    }

    #[test]
    fn in_bytes_a_packet_is_hit_in_proportion_to_its_size() {
        // p_b = 0.05·0.2 = 0.01: gaps of 50; at the typical size gaps of 10.
        let config = Red { by_bytes: true, ..Red::default() };
        assert_near(mean_gap(config, 10.0, 200), 50.0, 1.5);
        assert_near(mean_gap(config, 10.0, 1000), 10.0, 0.15);
    }

    #[test]
    fn above_the_upper_threshold_everything_is_dropped_unless_gentle() {
        assert_eq!(mean_gap(Red::default(), 15.0, 1000), 1.0);
        // Gentle, at 22.5: 0.1 + 0.9·0.5 = 0.55, whose gaps are 1 only: after one packet, 1 - 0.55 < 0.55.
        let gentle = Red { gentle: true, ..Red::default() };
        assert_eq!(mean_gap(gentle, 22.5, 1000).round(), 1.0);
        assert_near(standing(gentle, 1, 22.5).queue.base_probability(), 0.55, 1e-12);
        assert_eq!(mean_gap(gentle, 30.0, 1000), 1.0);
        assert!(mean_gap(Red::default(), 4.99, 1000).is_infinite());
    }

    #[test]
    fn capable_packets_are_marked_below_the_upper_threshold() {
        let mut queue = standing(Red { weight: 0.0, ..Red::default() }, 10, 10.0);
        for _ in 0..1000 {
            queue.enqueue(capable(MS, 1000)).unwrap();
        }
        let marked = (0..1010).filter(|_| queue.dequeue(MS).unwrap().marked).count();
        assert!((80..120).contains(&marked), "{marked}");
    }

    #[test]
    fn gentle_the_probability_rises_up_to_twice_the_upper_threshold() {
        // At 17.25 p_b = 0.1 + 0.9·2.25/15 = 0.235. After a signal the chances are 0.235/0.765 = 0.307, 0.235/0.530 = 0.443,
        // 0.235/0.295 = 0.797, 1: gaps of 1 + 0.693 + 0.693·0.557·(1 + 0.203) = 2.157 on average, all of them drops.
        let gentle = Red { gentle: true, ..Red::default() };
        assert_near(mean_gap(gentle, 17.25, 1000), 2.157, 0.02);
        let mut queue = standing(gentle, 10, 17.25);
        assert!((0..100).all(|_| queue.queue.verdict(1000) != RedAction::Signal));
        // Just below it is nearly 1, and it is continuous at the upper threshold.
        assert_near(standing(gentle, 1, 29.99).queue.base_probability(), 0.9994, 1e-12);
        assert_near(standing(gentle, 1, 14.999).queue.base_probability(), 0.1, 1e-4);
        assert_near(standing(gentle, 1, 15.0).queue.base_probability(), 0.1, 1e-12);
    }

    #[test]
    fn thresholds_lie_apart_and_parameters_out_of_range_are_refused() {
        let wrong = [
            Red { min_threshold: 15.0, ..Red::default() },
            Red { min_threshold: 0.0, ..Red::default() },
            Red { max_threshold: f64::INFINITY, ..Red::default() },
            Red { weight: 1.1, ..Red::default() },
            Red { max_probability: -0.1, ..Red::default() },
            Red { mean_packet: DataSize::ZERO, ..Red::default() },
        ];
        assert!(wrong.iter().all(|config| config.validate().is_err()));
        assert!(Red { min_threshold: 14.9, weight: 1.0, ..Red::default() }.validate().is_ok());
    }

    #[test]
    fn an_average_in_bytes_counts_mean_packets() {
        // Four packets of 500 bytes are two of 1000; halfway from 0 with a weight of 1/2.
        let mut queue = queue(Red { by_bytes: true, weight: 0.5, ..Red::default() });
        for _ in 0..4 {
            let place = queue.records.insert(packet(0, 500));
            queue.queue.fifo.push(place, &mut queue.records);
        }
        assert_near(queue.queue.average_at(MS), 1.0, 1e-12);
    }
}
