//! Synthetic cellular links: generated drives with the statistics of recorded ones.
//!
//! The logarithm of the rate is the sum of a slow and a fast process, each with an exponential autocorrelation (Ornstein and
//! Uhlenbeck). Outages begin at random, and their lengths are exponentially distributed. The link's capacity is granted in groups
//! of several packets, at random times. The constants of a [`DriveModel`] are fitted to the [statistics](super::statistics) of
//! a recording by `tools/fit-drives.sh`.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_net::Trace;
use weir_world::stream;

/// A kind of drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveModel {
    /// The name in scenarios.
    pub name: &'static str,
    /// The recording that its statistics follow, by its name in scenarios.
    pub like: &'static str,
    /// The constants of the generation.
    pub constants: Constants,
}

/// The constants of a kind of drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Median rate outside outages, in Mbit/s.
    pub median_mbps: f64,
    /// Upper limit of the rate, in Mbit/s.
    pub highest_mbps: f64,
    /// Standard deviation of the logarithm of the rate.
    pub spread: f64,
    /// The slow process's share of its variance.
    pub slow_part: f64,
    /// Time constant of the slow process, in seconds.
    pub slow_seconds: f64,
    /// Time constant of the fast process, in seconds.
    pub fast_seconds: f64,
    /// Fades per second outside of fades.
    pub fades_per_second: f64,
    /// Mean length of a fade in seconds.
    pub fade_seconds: f64,
    /// The remaining share of the rate in a fade.
    pub fade_depth: f64,
    /// Outages per second outside of outages.
    pub outages_per_second: f64,
    /// Mean length of an outage in seconds.
    pub outage_seconds: f64,
    /// Mean number of packets in a grant, 1 or more.
    pub grant_packets: f64,
}

/// The kinds of drives.
pub const MODELS: [DriveModel; 2] = [
    DriveModel {
        name: "synthetic-lte",
        like: "att-lte-driving-2016.up",
        constants: Constants {
            median_mbps: 1.32,
            highest_mbps: 20.0,
            spread: 1.046,
            slow_part: 0.4254,
            slow_seconds: 20.0,
            fast_seconds: 0.1707,
            fades_per_second: 0.0834,
            fade_seconds: 0.2005,
            fade_depth: 0.5,
            outages_per_second: 0.2068,
            outage_seconds: 0.58,
            grant_packets: 2.01,
        },
    },
    DriveModel {
        name: "synthetic-lte-downlink",
        like: "verizon-lte-short.down",
        constants: Constants {
            median_mbps: 4.032,
            highest_mbps: 21.0,
            spread: 0.6921,
            slow_part: 0.98,
            slow_seconds: 6.246,
            fast_seconds: 0.1644,
            fades_per_second: 0.1825,
            fade_seconds: 0.2948,
            fade_depth: 0.1073,
            outages_per_second: 0.0211,
            outage_seconds: 0.491,
            grant_packets: 2.648,
        },
    },
];

/// Number of the drive that a name without a number means, outside of runs.
pub(super) const FIRST_DRIVE: u64 = 1;

/// Length of a drive in milliseconds, after which it repeats.
const LENGTH_MS: u32 = 120_000;
/// Interval between changes of the rate, in milliseconds.
const STEP_MS: u32 = 10;
/// Bits of an opportunity.
const PACKET_BITS: f64 = 12_000.0;

/// The model and the number of the drive for a trace of this name. `synthetic-lte` is the drive of the `seed`, `synthetic-lte-7`
/// the seventh whatever the seed; other names give `None`.
pub(super) fn named(name: &str, seed: u64) -> Option<(&'static DriveModel, u64)> {
    let of = |model: &'static DriveModel| {
        let number = match name.strip_prefix(model.name)? {
            "" => seed,
            rest => numbered(rest.strip_prefix('-')?)?,
        };
        Some((model, number))
    };
    MODELS.iter().find_map(of)
}

/// The number of these digits, or `None` for another notation, such as `+7` or `007`.
fn numbered(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

impl DriveModel {
    /// The drive of this number: always the same.
    pub fn drive(&self, number: u64) -> Trace {
        self.constants.drive(self.name, number)
    }
}

impl Constants {
    /// The drive of this number in the series `name`, 120 s long.
    pub fn drive(&self, name: &str, number: u64) -> Trace {
        let mut walk = DriveState::new(self, |purpose| RandomStream::new(stream(number, name, purpose)));
        let mut opportunities = Vec::new();
        for begin in (0..LENGTH_MS).step_by(STEP_MS as usize) {
            walk.step(begin, &mut opportunities);
        }
        // A trace has at least one opportunity; a link with two minutes of outage has one at its end.
        if opportunities.is_empty() {
            opportunities.push(LENGTH_MS);
        }
        let trace =
            Trace::from_millis(opportunities).unwrap_or_else(|_| unreachable!("milliseconds in order"));
        trace.lasting_millis(LENGTH_MS)
    }
}

/// The state of a drive, advanced step by step. The random draws of each part do not depend on the constants of the
/// others.
struct DriveState<'a> {
    constants: &'a Constants,
    slow: AutocorrelatedProcess,
    fast: AutocorrelatedProcess,
    fades: RandomSpans,
    outages: RandomSpans,
    grants: RandomStream,
    /// Number of grants until the next one, as an expected number; drawn from 0 to 2.
    waiting: f64,
}

impl<'a> DriveState<'a> {
    fn new(constants: &'a Constants, random: impl Fn(&str) -> RandomStream) -> Self {
        let Constants { slow_seconds, fast_seconds, fades_per_second, fade_seconds, .. } = *constants;
        let Constants { outages_per_second, outage_seconds, .. } = *constants;
        let mut grants = random("grants");
        Self {
            constants,
            slow: AutocorrelatedProcess::new(random("slow"), slow_seconds),
            fast: AutocorrelatedProcess::new(random("fast"), fast_seconds),
            fades: RandomSpans::new(random("fades"), fades_per_second, fade_seconds),
            outages: RandomSpans::new(random("outages"), outages_per_second, outage_seconds),
            waiting: 2.0 * grants.unit(),
            grants,
        }
    }

    /// The opportunities of the step that begins at `begin`.
    fn step(&mut self, begin: u32, opportunities: &mut Vec<u32>) {
        let span = f64::from(STEP_MS);
        let Constants { median_mbps, highest_mbps, spread, slow_part, .. } = *self.constants;
        let Constants { fade_depth, grant_packets, .. } = *self.constants;
        // The variances of both processes add up to 1.
        let level = slow_part.sqrt() * self.slow.step() + (1.0 - slow_part).sqrt() * self.fast.step();
        let passes = 1.0 - (1.0 - fade_depth) * self.fades.step(span) / span;
        let mbps = (median_mbps * libm::exp(spread * level)).min(highest_mbps) * passes;
        let up_ms = span - self.outages.step(span);
        let grants_per_ms = mbps * 1e3 / (PACKET_BITS * grant_packets);
        // Each grant waits for a random number of expected grants since the one before, from none to two.
        let (mut expected, all) = (0.0, up_ms * grants_per_ms);
        while self.waiting <= all - expected {
            expected += self.waiting;
            let ms = begin + (span - up_ms + expected / grants_per_ms) as u32;
            opportunities.extend(core::iter::repeat_n(ms, self.grants.rounded_at_random(grant_packets)));
            self.waiting = 2.0 * self.grants.unit();
        }
        self.waiting -= all - expected;
    }
}

/// A random process of variance 1 with an exponential autocorrelation.
struct AutocorrelatedProcess {
    random: RandomStream,
    value: f64,
    /// Share of its value that the process keeps in a step.
    retained: f64,
}

impl AutocorrelatedProcess {
    fn new(mut random: RandomStream, seconds: f64) -> Self {
        let retained = libm::exp(-f64::from(STEP_MS) / (1e3 * seconds));
        Self { value: random.normal(), random, retained }
    }

    fn step(&mut self) -> f64 {
        let Self { random, value, retained } = self;
        // The exact step of an Ornstein-Uhlenbeck process: the variance stays 1.
        *value = *value * *retained + (1.0 - *retained * *retained).sqrt() * random.normal();
        *value
    }
}

/// Random spans of time with exponentially distributed lengths.
struct RandomSpans {
    random: RandomStream,
    per_second: f64,
    seconds: f64,
    /// Remaining time of the present span, in ms.
    left_ms: f64,
}

impl RandomSpans {
    fn new(random: RandomStream, per_second: f64, seconds: f64) -> Self {
        Self { random, per_second, seconds, left_ms: 0.0 }
    }

    /// The part of the next `span` milliseconds that lies in a random span.
    fn step(&mut self, span: f64) -> f64 {
        let begins = self.random.unit() < self.per_second * span / 1e3;
        if begins && self.left_ms <= 0.0 {
            self.left_ms = 1e3 * self.seconds * self.random.exponential();
        }
        let taken = self.left_ms.clamp(0.0, span);
        self.left_ms -= taken;
        taken
    }
}

/// A stream of random numbers.
struct RandomStream {
    bits: Pcg64Mcg,
    /// The second of a pair of normal variables.
    spare: Option<f64>,
}

impl RandomStream {
    fn new(seed: u64) -> Self {
        Self { bits: Pcg64Mcg::seed_from_u64(seed), spare: None }
    }

    /// Uniform in [0, 1), of 53 random bits.
    fn unit(&mut self) -> f64 {
        (self.bits.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential of mean 1.
    fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (2.0 * self.exponential()).sqrt();
        let (sine, cosine) = libm::sincos(2.0 * core::f64::consts::PI * self.unit());
        self.spare = Some(radius * sine);
        radius * cosine
    }

    /// The whole number below `mean` or the one above it, drawn so that the mean is `mean`.
    fn rounded_at_random(&mut self, mean: f64) -> usize {
        let below = mean.floor();
        below as usize + usize::from(self.unit() < mean - below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::TraceStatistics;

    #[test]
    fn a_name_is_the_drive_of_the_seed_or_of_its_number() {
        let number = |name: &str| named(name, 5).map(|(model, number)| (model.name, number));
        assert_eq!(number("synthetic-lte"), Some(("synthetic-lte", 5)));
        assert_eq!(number("synthetic-lte-7"), Some(("synthetic-lte", 7)));
        assert_eq!(number("synthetic-lte-downlink"), Some(("synthetic-lte-downlink", 5)));
        assert_eq!(number("synthetic-lte-downlink-12"), Some(("synthetic-lte-downlink", 12)));
        assert_eq!(number("synthetic-lte-0"), Some(("synthetic-lte", 0)));
        for other in ["", "-", "7", "-x", "--1", "-+7", "-007", "-99999999999999999999"] {
            let name =
                if other.is_empty() { "synthetic".to_owned() } else { format!("synthetic-lte{other}") };
            assert_eq!(number(&name), None, "{name}");
        }
    }

    #[test]
    fn a_drive_is_always_the_same_and_two_are_not() {
        for model in &MODELS {
            let drive = model.drive(1);
            assert_eq!(drive.duration().secs_f64(), 120.0);
            assert_eq!(drive, model.drive(1));
            assert_ne!(drive, model.drive(2));
        }
        // Published results depend on it.
        let first: Vec<u64> =
            MODELS[0].drive(1).opportunities().take(6).map(|at| at.nanos() / 1_000_000).collect();
        assert_eq!(first, FIRST_OF_THE_FIRST_DRIVE);
    }

    /// The first opportunities of the first drive, in milliseconds.
    const FIRST_OF_THE_FIRST_DRIVE: [u64; 6] = [1, 1, 2, 2, 5, 5];

    #[test]
    fn constants_do_what_they_say() {
        let constants = MODELS[0].constants;
        let mean = |constants: Constants, of: fn(&TraceStatistics) -> f64| {
            let values = (1..=20).map(|seed| of(&TraceStatistics::of(&constants.drive("", seed))));
            values.sum::<f64>() / 20.0
        };
        // A steady link: its mean is its median, and grants alone make it vary.
        let steady = Constants { spread: 0.0, fades_per_second: 0.0, outages_per_second: 0.0, ..constants };
        let rate = mean(steady, |own| own.mean_mbps);
        assert!((rate / constants.median_mbps - 1.0).abs() < 0.02, "{rate}");
        let larger = Constants { grant_packets: 2.0 * constants.grant_packets, ..steady };
        let burstiness = |constants| mean(constants, |own| own.burstiness);
        assert!(burstiness(larger) > 1.3 * burstiness(steady));
        // Outages of 0.5 s, each twenty seconds.
        let out = Constants { outages_per_second: 0.05, outage_seconds: 0.5, ..steady };
        let (rate, length) = (mean(out, |own| own.outages_per_minute), mean(out, |own| own.outage_seconds));
        // Of exponential lengths those above 0.2 s count: e^(-0.4) of them, 0.2 s longer on average.
        assert!(
            (rate - 3.0 * libm::exp(-0.4)).abs() < 0.5 && (length - 0.7).abs() < 0.1,
            "{rate} of {length} s"
        );
        let faded = Constants { fades_per_second: 0.1, fade_seconds: 1.0, fade_depth: 0.1, ..steady };
        let depth = mean(faded, |own| own.fade_depth);
        assert!((0.05..0.25).contains(&depth), "{depth}");
        let slow = |constants: Constants| mean(constants, |own| own.autocorrelation[1]);
        assert!(slow(Constants { slow_part: 0.9, ..constants }) > slow(constants) + 0.2);
    }
}
