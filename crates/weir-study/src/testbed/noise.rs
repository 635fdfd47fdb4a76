//! Lateness of real hosts, in the simulator.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use weir_live::lateness::Lateness;
use weir_net::{Jitter, LinkConfig, Service};
use weir_units::{DataRate, TimeDelta};
use weir_world::{LinkSpec, RunSpec, Side, stream};

/// Number of quantiles that are kept of a distribution.
const QUANTILES: usize = 400;
/// Number of latenesses drawn for a flow; they repeat.
const DRAWS: usize = 4099;

/// How late a real run was: the lateness of its hosts' timers, and of the deliveries of its emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostNoise {
    /// Quantiles of the lateness of hosts, in µs, in equal steps; the last one is the maximum.
    pub hosts_us: Vec<f64>,
    /// The same of the emulator.
    pub emulator_us: Vec<f64>,
}

impl HostNoise {
    /// The noise of a run whose hosts and emulator were late so.
    pub fn of(hosts: &Lateness, emulator: &Lateness) -> Self {
        let quantiles = |lateness: &Lateness| {
            let at = |step: usize| lateness.percentile(step as f64 / QUANTILES as f64).micros() as f64;
            (1..=QUANTILES).map(at).collect()
        };
        Self { hosts_us: quantiles(hosts), emulator_us: quantiles(emulator) }
    }

    /// Whether each value is a time.
    pub fn is_valid(&self) -> bool {
        let of = |values: &[f64]| !values.is_empty() && values.iter().all(|us| (0.0..1e7).contains(us));
        of(&self.hosts_us) && of(&self.emulator_us)
    }

    /// Adds the noise to both directions of every flow of `spec`: each packet enters its first link later by a drawn
    /// lateness of a host and one of the emulator, and keeps its order. `draw` tells draws of one seed apart.
    pub fn add_to(&self, spec: &mut RunSpec, draw: u64) {
        for flow in &mut spec.flows {
            for (side, route) in [(Side::Sender, &mut flow.forward), (Side::Receiver, &mut flow.reverse)] {
                if route.is_empty() {
                    continue;
                }
                let name = format!("host noise of {}, {side:?}", flow.name);
                let seed = stream(spec.seed ^ draw.rotate_left(32), &name, "host noise");
                let mut config =
                    LinkConfig::new(Service::Constant(DataRate::from_mbps(10_000)), TimeDelta::ZERO);
                config.jitter = Jitter::Trace(self.draws(seed));
                route.insert(0, spec.links.len());
                spec.links.push(LinkSpec::new(&name, config));
            }
        }
    }

    fn draws(&self, seed: u64) -> Arc<[TimeDelta]> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut one = |values: &[f64]| values[random.random_range(0..values.len())];
        let mut draw = || {
            let late_us = one(&self.hosts_us) + one(&self.emulator_us);
            TimeDelta::from_nanos((late_us * 1e3) as i64)
        };
        (0..DRAWS).map(|_| draw()).collect()
    }
}
