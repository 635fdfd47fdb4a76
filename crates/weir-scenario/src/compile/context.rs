//! The context that all parts of a run are made from.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::stream;

use crate::scenario::Scenario;
use weir_import::traces::TraceStore;

/// A scenario, the seed of a run of it, and the store of traces.
pub(super) struct Context<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) seed: u64,
    pub(super) store: &'a TraceStore,
}

impl Context<'_> {
    /// End of the run.
    pub(super) fn end(&self) -> Time {
        time(self.scenario.duration)
    }

    /// Uniform in [0, 1), from a stream of its own.
    pub(super) fn unit(&self, name: &str, purpose: &str) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(stream(self.seed, name, purpose));
        (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub(super) fn time(since_start: TimeDelta) -> Time {
    Time::ZERO + since_start
}
