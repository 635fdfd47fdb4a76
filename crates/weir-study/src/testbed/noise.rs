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

    /// Lets the hosts of `spec` be late: every packet enters its first link later by a drawn lateness of a host and one of the
    /// emulator. One thread serves the sending hosts, and one the receiving hosts, so the packets of each keep their order.
    /// Pacers make up for lateness as those of real hosts do. `draw` tells draws of one seed apart.
    pub fn add_to(&self, spec: &mut RunSpec, draw: u64) {
        for side in [Side::Sender, Side::Receiver] {
            let name = format!("host noise of the {side:?}s");
            let seed = stream(spec.seed ^ draw.rotate_left(32), &name, purpose::HOST_NOISE);
            let mut config = LinkConfig::new(Service::Constant(DataRate::from_mbps(10_000)), TimeDelta::ZERO);
            config.jitter = Jitter::Trace(self.draws(seed));
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
