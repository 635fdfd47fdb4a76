//! Lateness of real hosts, in the simulator.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use weir_live::lateness::Lateness;
use weir_live::run::PACER_LATENESS;
use weir_net::{Jitter, LinkConfig, Order, Service};
use weir_units::{DataRate, TimeDelta};
use weir_world::{LinkSpec, RunSpec, Side, Traffic, purpose, stream};

/// Number of latenesses drawn for a flow; they repeat.
const DRAWS: usize = 4099;
/// Longest lateness of a valid file, in µs.
const LONGEST_US: f64 = 1e7;

/// How late a real run was: the timers of its hosts, and the deliveries of its emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostNoise {
    /// Lateness of senders.
    pub senders: LatenessDistribution,
    /// Lateness of receivers.
    pub receivers: LatenessDistribution,
    /// Lateness of the emulator.
    pub emulator: LatenessDistribution,
}

/// A distribution of latenesses: values, and how often each occurred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatenessDistribution {
    /// The values in µs.
    pub late_us: Vec<f64>,
    /// The number of each.
    pub count: Vec<u64>,
}

impl LatenessDistribution {
    fn of(lateness: &Lateness) -> Self {
        let (late_us, count) =
            lateness.buckets().map(|(late, count)| (late.nanos() as f64 / 1e3, count)).unzip();
        Self { late_us, count }
    }

    fn is_valid(&self) -> bool {
        let total = self.count.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        let possible = self.late_us.iter().all(|us| (0.0..LONGEST_US).contains(us));
        self.late_us.len() == self.count.len() && possible && total.is_some()
    }

    /// A value, each as often as it occurred; zero if there is none.
    fn draw(&self, random: &mut impl RngExt) -> f64 {
        let total: u64 = self.count.iter().sum();
        if total == 0 {
            return 0.0;
        }
        let mut place = random.random_range(0..total);
        for (&late, &count) in self.late_us.iter().zip(&self.count) {
            match place.checked_sub(count) {
                None => return late,
                Some(rest) => place = rest,
            }
        }
        0.0
    }
}

impl HostNoise {
    /// The noise of a run whose hosts and emulator were late so.
    pub fn of(senders: &Lateness, receivers: &Lateness, emulator: &Lateness) -> Self {
        let [senders, receivers, emulator] = [senders, receivers, emulator].map(LatenessDistribution::of);
        Self { senders, receivers, emulator }
    }

    /// Whether each value is a time, and has a number.
    pub fn is_valid(&self) -> bool {
        [&self.senders, &self.receivers, &self.emulator].into_iter().all(LatenessDistribution::is_valid)
    }

    /// Lets the hosts of `spec` be late: every packet enters its first link later by a drawn lateness of a host and one of the
    /// emulator. One thread serves the sending hosts, and one the receiving hosts, so the packets of each keep their order.
    /// Pacers make up for lateness as those of real hosts do. `draw` distinguishes draws of one seed.
    pub fn add_to(&self, spec: &mut RunSpec, draw: u64) {
        for side in [Side::Sender, Side::Receiver] {
            let name = format!("host noise of the {side:?}s");
            let seed = stream(spec.seed ^ draw.rotate_left(32), &name, purpose::HOST_NOISE);
            let mut config = LinkConfig::new(Service::Constant(DataRate::from_mbps(10_000)), TimeDelta::ZERO);
            let hosts = if side == Side::Sender { &self.senders } else { &self.receivers };
            config.jitter = Jitter::Trace(self.draws(hosts, seed));
            config.order = Order::Link;
            let link = spec.links.len();
            spec.links.push(LinkSpec::new(&name, config));
            for flow in &mut spec.flows {
                let route = if side == Side::Sender { &mut flow.forward } else { &mut flow.reverse };
                if !route.is_empty() {
                    route.insert(0, link);
                }
            }
        }
        for flow in &mut spec.flows {
            if let Traffic::Media(media) = &mut flow.traffic {
                media.config.pacer_lateness = PACER_LATENESS;
            }
        }
    }

    fn draws(&self, hosts: &LatenessDistribution, seed: u64) -> Arc<[TimeDelta]> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut draw = || {
            let late_us = hosts.draw(&mut random) + self.emulator.draw(&mut random);
            TimeDelta::from_nanos((late_us * 1e3) as i64)
        };
        (0..DRAWS).map(|_| draw()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latenesses_are_drawn_as_often_as_they_occurred() {
        let mut lateness = Lateness::default();
        for _ in 0..9_990 {
            lateness.record(TimeDelta::from_micros(50));
        }
        for _ in 0..10 {
            lateness.record(TimeDelta::from_millis(8));
        }
        let none = Lateness::default();
        let noise = HostNoise::of(&lateness, &none, &none);
        assert!(noise.is_valid());
        let draws = |hosts| (1..=20).flat_map(|seed| noise.draws(hosts, seed).to_vec()).collect::<Vec<_>>();
        let all = draws(&noise.senders);
        let rare = all.iter().filter(|late| **late > TimeDelta::from_millis(1)).count();
        // One in a thousand of 82 thousand; the standard deviation is nine.
        assert!((46..=118).contains(&rare), "{rare} of {}", all.len());
        assert!(draws(&noise.receivers).iter().all(|late| *late == TimeDelta::ZERO));
    }
}
