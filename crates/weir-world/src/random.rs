//! Random variables of workloads, the same in every world.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_units::{DataSize, TimeDelta};

use crate::seed::{purpose, stream};
use crate::traffic::DownloadTraffic;

/// Uniform in (0, 1].
pub fn unit(rng: &mut Pcg64Mcg) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Exponentially distributed with this mean.
pub fn exponential(rng: &mut Pcg64Mcg, mean: TimeDelta) -> TimeDelta {
    mean.scale(-libm::log(unit(rng)))
}

/// A size in whole bytes, uniformly distributed from `smallest` to `largest`.
fn uniform(rng: &mut Pcg64Mcg, smallest: DataSize, largest: DataSize) -> DataSize {
    let choices = (largest.bytes().saturating_sub(smallest.bytes())).saturating_add(1);
    let drawn = ((1.0 - unit(rng)) * choices as f64) as u64;
    DataSize::from_bytes(smallest.bytes() + drawn.min(choices - 1))
}

/// Sizes and idle times of a flow's downloads, drawn one after another. In every world the same seed gives the same values.
#[derive(Clone, Debug)]
pub struct DownloadDraws {
    traffic: DownloadTraffic,
    rng: Pcg64Mcg,
}

impl DownloadDraws {
    /// The draws of the flow `name` in the run `seed`.
    pub fn new(seed: u64, name: &str, traffic: DownloadTraffic) -> Self {
        Self { traffic, rng: Pcg64Mcg::seed_from_u64(stream(seed, name, purpose::DOWNLOADS)) }
    }

    /// Time from the start of the flow to the first download; to be drawn before all others.
    pub fn first_idle(&mut self) -> TimeDelta {
        if self.traffic.begins_idle { self.idle() } else { TimeDelta::ZERO }
    }

    /// Size of the next download.
    pub fn size(&mut self) -> DataSize {
        uniform(&mut self.rng, self.traffic.smallest, self.traffic.largest)
    }

    /// Time from the completion of a download to the next one.
    pub fn idle(&mut self) -> TimeDelta {
        exponential(&mut self.rng, self.traffic.idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(smallest: u64, largest: u64, begins_idle: bool) -> DownloadDraws {
        let [smallest, largest] = [smallest, largest].map(DataSize::from_bytes);
        let idle = TimeDelta::from_secs(10);
        DownloadDraws::new(1, "short", DownloadTraffic { smallest, largest, idle, begins_idle })
    }

    #[test]
    fn sizes_are_uniform_and_idle_times_exponential() {
        let mut draws = draws(100_000, 1_000_000, false);
        let n = 20_000;
        let sizes: Vec<f64> = (0..n).map(|_| draws.size().bytes_f64()).collect();
        assert!(sizes.iter().all(|size| (100e3..=1000e3).contains(size)));
        // Mean 550 kB, standard deviation 900 / √12 = 259.8 kB; of the mean 1.84 kB.
        let mean = sizes.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 550e3).abs() < 6e3, "{mean}");
        let below = sizes.iter().filter(|&&size| size < 325e3).count() as f64 / f64::from(n);
        assert!((below - 0.25).abs() < 0.01, "a quarter of the range has a quarter: {below}");
        let idle: Vec<f64> = (0..n).map(|_| draws.idle().secs_f64()).collect();
        // Mean and standard deviation 10 s; of the mean 0.07 s. Above 30 s lie e⁻³ = 4.98 %.
        let mean = idle.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 10.0).abs() < 0.21, "{mean}");
        let above = idle.iter().filter(|&&t| t > 30.0).count() as f64 / f64::from(n);
        assert!((above - 0.0498).abs() < 0.005, "{above}");
    }

    #[test]
    fn one_size_is_drawn_as_it_is_and_only_who_begins_idle_waits() {
        let (mut on, mut off) = (draws(7, 7, false), draws(7, 7, true));
        assert_eq!((on.size(), on.first_idle()), (DataSize::from_bytes(7), TimeDelta::ZERO));
        assert!(off.first_idle() > TimeDelta::ZERO);
    }
}
