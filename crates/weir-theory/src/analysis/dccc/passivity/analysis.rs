//! Analysis `dccc-passivity`: the storage functions of dccc-2017's stability proof along trajectories, and its
//! inequalities at random states (§IV-A, appendix A).

use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::Config;
use weir_units::TimeDelta;

use super::inequalities::NAMES;
use super::{State, System};
use crate::analysis::dccc::random::{Network, RandomNetworks};
use crate::analysis::dccc::solver::RoutedFlow;
use crate::analysis::entry::Analysis;
use crate::analysis::range::{LONGER, check, span};
use weir_form::Problem;

/// Storage functions along trajectories, and the inequalities of the proof at random states.
pub(in crate::analysis) struct Passivity;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(in crate::analysis) struct Parameters {
    #[serde(flatten)]
    random: RandomNetworks,
    /// `α` as a multiple of the greatest slope of any flow's price, `β/(T + e_b)`.
    #[schemars(range(min = 1e-6, max = 1e6))]
    alpha_factor: f64,
    /// Whether all flows have the gain of a round trip of 100 ms; else each has its own, `1/k_r` within the sum of eq. (28).
    equal_gains: bool,
    /// Initial rates lie between the rates at rest divided by this and multiplied by this.
    #[schemars(range(min = 1.0, max = 100.0))]
    spread: f64,
    /// Longest initial queue.
    longest_queue: TimeDelta,
    /// Simulated time of each network, at most an hour.
    duration: TimeDelta,
    /// Step of the integration, at most 20 ms.
    step: TimeDelta,
    /// A rise of `V` counts above this share of its initial value.
    #[schemars(range(min = 0.0, max = 1.0))]
    slack: f64,
    /// States of each network at which the inequalities are checked.
    #[schemars(range(min = 0, max = 100_000))]
    samples: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// Networks simulated.
    networks: u32,
    /// Networks that end within a thousandth of the rates at rest.
    converged: u32,
    /// The greatest distance of a rate from its rate at rest at the end, over the rate at rest.
    largest_distance: f64,
    /// Networks of which `V` rises anywhere by more than the slack.
    networks_rising: u32,
    /// Steps with a rise of `V` by more than the slack.
    rises: u64,
    /// Steps in total.
    steps: u64,
    /// The greatest rise in a step, over the initial `V`.
    largest_rise: f64,
    /// The greatest `V` after the start, over the initial `V`.
    largest_storage: f64,
    /// States at which the inequalities were checked.
    samples: u32,
    /// The inequalities of appendix A, checked without delay and projection as they are written.
    inequalities: Vec<Inequality>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Inequality {
    /// Name of the inequality.
    name: &'static str,
    /// Statement of the inequality.
    meaning: &'static str,
    /// States that violate it.
    violations: u32,
    /// The greatest excess, in its own unit; 0 where there is none.
    largest: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            random: RandomNetworks { networks: 3, ..RandomNetworks::default() },
            alpha_factor: 1.0,
            equal_gains: true,
            spread: 3.0,
            longest_queue: TimeDelta::from_millis(300),
            duration: TimeDelta::from_secs(60),
            step: TimeDelta::from_millis(5),
            slack: 1e-9,
            samples: 100,
        }
    }
}

/// Round-trip time of the common gain, in s.
const RTT: f64 = 0.1;
/// Excesses up to this share of the largest possible are rounding errors.
const ROUNDING: f64 = 1e-9;
/// Allowed error of a difference quotient against the derivative, as a share of the sum of its terms.
const DIFFERENCES: f64 = 1e-6;

impl Analysis for Passivity {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-passivity";
    const SUMMARY: &'static str =
        "The Lyapunov function of DCCC's proof and its inequalities, on random networks";
    const SOURCE: &'static str = "dccc-2017 §IV-A, eqs (28), (29), appendix A (45) to (48)";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        let (hour, most) = (TimeDelta::from_secs(3600), TimeDelta::from_millis(20));
        check([
            ("longest_queue", span(parameters.longest_queue), LONGER),
            ("duration", span(parameters.duration) && parameters.duration <= hour, "a time up to 1 h"),
            ("step", span(parameters.step) && parameters.step <= most, "a time up to 20 ms"),
        ])?;
        let states =
            parameters.duration.secs_f64() / parameters.step.secs_f64() + f64::from(parameters.samples);
        parameters.random.check(states, "steps and samples", "`duration` over `step`, `samples`, ")?;
        let mut rng = parameters.random.rng();
        let mut results = Results::none(parameters);
        for _ in 0..parameters.random.networks {
            let system = parameters.draw(&mut rng)?;
            let start = parameters.start(&system, &mut rng);
            results.add_trajectory(parameters, &system, start);
            for _ in 0..parameters.samples {
                results.check_inequalities(&system, &parameters.start(&system, &mut rng));
            }
        }
        Ok(results)
    }
}

impl Parameters {
    fn draw(&self, rng: &mut impl Rng) -> Result<System, Problem> {
        let (Network { links, users }, found) = self.random.draw_with_equilibrium(rng)?;
        let steepest = |user: &RoutedFlow| user.price_scale / (user.threshold + user.back);
        let alpha = self.alpha_factor * users.iter().map(steepest).fold(0.0, f64::max);
        let eta = Config::default().gain;
        let own = |user: &RoutedFlow| eta / (user.delay(&found.queues) + user.back);
        let gains = users.iter().map(|user| if self.equal_gains { eta / RTT } else { own(user) }).collect();
        Ok(System::new(links, users, gains, alpha, found))
    }

    /// A random state near rest, with half of the queues empty.
    fn start(&self, system: &System, rng: &mut impl Rng) -> State {
        let most = libm::log(self.spread);
        let scale = |rng: &mut dyn FnMut() -> f64| libm::exp(most * rng());
        let mut draw = || if most > 0.0 { rng.random_range(-1.0..=1.0_f64) } else { 0.0 };
        let rates = system.rest.rates.iter().map(|rate| rate * scale(&mut draw)).collect();
        let longest = self.longest_queue.secs_f64();
        let queues =
            system.links.iter().map(|_| longest * rng.random_range(-1.0..=1.0_f64).max(0.0)).collect();
        State { rates, queues }
    }
}

impl Results {
    fn none(parameters: &Parameters) -> Self {
        let named = |&(name, meaning): &(&'static str, &'static str)| Inequality {
            name,
            meaning,
            violations: 0,
            largest: 0.0,
        };
        Self {
            networks: parameters.random.networks,
            converged: 0,
            largest_distance: 0.0,
            networks_rising: 0,
            rises: 0,
            steps: 0,
            largest_rise: 0.0,
            largest_storage: 0.0,
            samples: 0,
            inequalities: NAMES.iter().map(named).collect(),
        }
    }

    fn add_trajectory(&mut self, parameters: &Parameters, system: &System, start: State) {
        let step = parameters.step.secs_f64();
        let steps = (parameters.duration.secs_f64() / step).round() as u64;
        let storage = |state: &State| {
            let (users, links) = system.storage(state);
            users + links
        };
        let first = storage(&start);
        let (mut state, mut before, mut rises) = (start, first, 0);
        // V does not vanish at rest where a link is not full; that remainder is no distance.
        for _ in 0..steps {
            state = system.after(&state, step);
            let now = storage(&state);
            let rise = (now - before) / first;
            rises += u64::from(rise > parameters.slack);
            self.largest_rise = self.largest_rise.max(rise);
            self.largest_storage = self.largest_storage.max(now / first);
            before = now;
        }
        let apart = state.rates.iter().zip(&system.rest.rates).map(|(rate, rest)| (rate / rest - 1.0).abs());
        let distance = apart.fold(0.0, f64::max);
        self.largest_distance = self.largest_distance.max(distance);
        self.converged += u32::from(distance < 1e-3);
        self.networks_rising += u32::from(rises > 0);
        self.rises += rises;
        self.steps += steps;
    }

    fn check_inequalities(&mut self, system: &System, state: &State) {
        self.samples += 1;
        let scale = system.links.iter().map(|link| link.capacity).sum::<f64>();
        for (inequality, excess) in self.inequalities.iter_mut().zip(system.excesses(state)) {
            let rounding = match inequality.name {
                "eq45b" => DIFFERENCES,
                "eq46" => ROUNDING,
                _ => ROUNDING * scale,
            };
            inequality.violations += u32::from(excess > rounding);
            inequality.largest = inequality.largest.max(excess);
        }
    }
}

#[cfg(test)]
mod tests;
