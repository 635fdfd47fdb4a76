//! A cellular uplink that was never measured: capacity as a moving phone might see it.
//!
//! The logarithm of the rate walks at random between 0.3 and 6 Mbit/s and is drawn back to its middle. Now and
//! then the phone passes a hole in the coverage: for some seconds the rate fades to a few per cent, and within
//! some of these fades nothing gets through at all for some hundred milliseconds.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_net::{Time, Trace};
use weir_units::{DataRate, TimeDelta};

/// Length of the trace.
const DURATION: TimeDelta = TimeDelta::from_secs(120);
/// The rate changes this often.
const STEP: TimeDelta = TimeDelta::from_millis(100);
const LOWEST_MBPS: f64 = 0.3;
const HIGHEST_MBPS: f64 = 6.0;
/// Rate to which the walk is drawn back.
const MIDDLE_MBPS: f64 = 2.9;
/// Share of the distance from the middle that is kept per step: half of it after 3.4 s.
const PERSISTENCE: f64 = 0.98;
/// Largest step of the logarithm of the rate.
const STRIDE: f64 = 0.2;
/// Chance per step that a fade begins: one in 12.5 s.
const FADE_CHANCE: f64 = 0.008;
/// A fade lasts from 1 to 4 s.
const FADE_STEPS: (f64, f64) = (10.0, 40.0);
/// What is left of the rate in the depth of a fade.
const FADE_DEPTH: f64 = 0.03;
/// Share of fades with an outage in the middle.
const OUTAGE_CHANCE: f64 = 0.5;
/// An outage lasts from 0.2 to 0.6 s.
const OUTAGE_STEPS: (f64, f64) = (2.0, 6.0);
/// The trace is always the same.
const SEED: u64 = 0x6c74_6531;

/// The trace `synthetic-lte`: 120 s, 2.5 Mbit/s on average, with fades and short outages.
pub fn synthetic_lte() -> Trace {
    let rates = rates();
    Trace::from_rate(DURATION, |at| {
        let step = (at - Time::ZERO).nanos() / STEP.nanos();
        usize::try_from(step).ok().and_then(|i| rates.get(i).copied()).unwrap_or_default()
    })
}

/// The rate of each step.
fn rates() -> Vec<DataRate> {
    let mut walk = Walk::new();
    (0..DURATION.nanos() / STEP.nanos()).map(|_| walk.next()).collect()
}

struct Walk {
    random: Pcg64Mcg,
    /// Natural logarithm of the rate over that of the middle.
    level: f64,
    fade: Option<Fade>,
}

/// A hole in the coverage, in steps.
struct Fade {
    length: f64,
    elapsed: f64,
    outage: f64,
}

impl Walk {
    fn new() -> Self {
        Self { random: Pcg64Mcg::seed_from_u64(SEED), level: 0.0, fade: None }
    }

    fn next(&mut self) -> DataRate {
        self.level = self.level * PERSISTENCE + STRIDE * (2.0 * self.unit() - 1.0);
        let open = (MIDDLE_MBPS * libm::exp(self.level)).clamp(LOWEST_MBPS, HIGHEST_MBPS);
        if self.fade.is_none() && self.unit() < FADE_CHANCE {
            self.fade = Some(self.new_fade());
        }
        DataRate::from_bps_f64(open * self.pass() * 1e6)
    }

    fn new_fade(&mut self) -> Fade {
        let length = self.between(FADE_STEPS);
        let outage = if self.unit() < OUTAGE_CHANCE { self.between(OUTAGE_STEPS) } else { 0.0 };
        Fade { length, elapsed: 0.0, outage }
    }

    /// Share of the rate that a fade lets through: straight down to the depth and straight up again.
    fn pass(&mut self) -> f64 {
        let Some(fade) = &mut self.fade else { return 1.0 };
        let from_middle = (fade.elapsed - fade.length / 2.0).abs();
        let share = (2.0 * from_middle / fade.length).max(FADE_DEPTH);
        let out = 2.0 * from_middle < fade.outage;
        fade.elapsed += 1.0;
        if fade.elapsed > fade.length {
            self.fade = None;
        }
        if out { 0.0 } else { share.min(1.0) }
    }

    fn between(&mut self, (low, high): (f64, f64)) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in [0, 1), of 53 random bits.
    fn unit(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_as_long_and_as_fast_as_it_says_and_always_the_same() {
        let trace = synthetic_lte();
        let seconds = trace.duration().secs_f64();
        assert!((119.0..=120.0).contains(&seconds), "{seconds}");
        let mean = trace.mean_rate().bps_f64() / 1e6;
        assert!((2.3..=2.7).contains(&mean), "{mean} Mbit/s");
        assert_eq!(trace, synthetic_lte());
    }

    #[test]
    fn the_rate_has_highs_fades_and_outages() {
        let rates = rates();
        assert_eq!(rates.len(), 1200);
        let share = |which: fn(f64) -> bool| {
            rates.iter().filter(|rate| which(rate.bps_f64() / 1e6)).count() as f64 / rates.len() as f64
        };
        assert!(share(|mbps| mbps > HIGHEST_MBPS) == 0.0);
        assert!(share(|mbps| mbps > 4.0) > 0.05, "some seconds are fast");
        assert!(share(|mbps| mbps < LOWEST_MBPS) > 0.02, "there are fades");
        let out = share(|mbps| mbps == 0.0);
        assert!((0.002..0.03).contains(&out), "outages are short: {out}");
    }
}
