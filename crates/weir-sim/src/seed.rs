//! Random generators of the simulator's components.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_world::stream;

/// A generator of the stream `purpose` of the component `name` in the run `seed`.
pub(crate) fn generator(seed: u64, name: &str, purpose: &str) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(stream(seed, name, purpose))
}
