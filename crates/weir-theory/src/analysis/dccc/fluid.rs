//! Analysis `dccc-fluid`: integration of DCCC's fluid model with delays, its stability and its final state (dccc-2017
//! §IV-B).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::Config;
use weir_units::TimeDelta;

use super::equilibrium::no_equilibrium;
use super::network::{DcccUser, Link, check_network, numbers};
use super::solver::{self, Equilibrium};
use crate::analysis::entry::{Analysis, ParameterPreset};
use crate::analysis::range::{LONGER, affordable, check, refused, span};
use crate::fluid::{FluidFlow, FluidLink, Integration, integrate};
use weir_form::Problem;

/// The delayed model from near its rest.
pub(in crate::analysis) struct Fluid;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// The links, by index from 0; up to 20.
    links: Vec<Link>,
    /// The flows, by index from 0; up to 50.
    users: Vec<DcccUser>,
    /// `η = k_r·RTT`.
    #[schemars(range(min = 0.001, max = 10.0))]
    gain: f64,
    /// Multiple of `k_r`.
    #[schemars(range(min = 0.001, max = 1000.0))]
    gain_factor: f64,
    /// Initial rates as a multiple of the rates at rest; queues begin empty.
    #[schemars(range(min = 0.01, max = 100.0))]
    start: f64,
    /// Duration of the integration: from ten of the longest round trips at rest to an hour. The last tenth is judged.
    duration: TimeDelta,
    /// Step of the integration, at most 0.5 ms and a tenth of the shortest round trip, over `η` where that is above 1.
    step: TimeDelta,
    /// Largest swing of a stable rate, as a share of its mean.
    #[schemars(range(min = 1e-9, max = 1.0))]
    tolerance: f64,
    /// Points of the series.
    #[schemars(range(min = 2, max = 100_000))]
    points: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// 1 if no rate swings by more than the tolerance in the last tenth, else 0.
    stable: u8,
    /// The greatest swing in the last tenth: largest less least rate over the mean.
    swing: f64,
    /// The same in the tenth before; the swing decays where this one is greater.
    swing_before: f64,
    /// Mean rates of the last tenth, in bit/s.
    rate_bps: Vec<f64>,
    /// Mean queues of the last tenth, in ms.
    queue_ms: Vec<f64>,
    /// Rates at rest by the equations, in bit/s.
    rest_bps: Vec<f64>,
    /// The greatest distance of a mean rate from the rate at rest, over the rate at rest.
    distance: f64,
    /// The most links that a flow crosses.
    links_on_route: usize,
    /// Times of the series, in s.
    time_s: Vec<f64>,
    /// Rates over time.
    flows: Vec<FluidSeries>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FluidSeries {
    /// The flow by its index: `flow-0`.
    name: String,
    /// Its rate, in bit/s.
    rate_bps: Vec<f64>,
}

/// `flows` links of 2 Mbit/s in a row, one flow over all and one over each.
fn lot(links: u32) -> Parameters {
    let through: Vec<u32> = (0..links).collect();
    let users = std::iter::once(through).chain((0..links).map(|link| vec![link]).filter(|_| links > 1));
    Parameters {
        links: vec![Link::new(2000, 25); links as usize],
        users: users.map(|route| DcccUser::over(&route)).collect(),
        gain: Config::default().gain,
        gain_factor: 1.0,
        start: 0.99,
        duration: TimeDelta::from_secs(60),
        step: TimeDelta::from_micros(500),
        tolerance: 0.01,
        points: 1001,
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self { links: vec![Link::new(1000, 25)], ..lot(1) }
    }
}

impl Analysis for Fluid {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-fluid";
    const SUMMARY: &'static str = "DCCC as a fluid with delays: whether it comes to rest, on any routes";
    const SOURCE: &'static str = "dccc-2017 eqs (2), (4), (15), (16), §IV-B";

    fn presets() -> Vec<ParameterPreset<Parameters>> {
        let preset = |name, summary, links| ParameterPreset { name, summary, parameters: lot(links) };
        vec![
            preset("one-link", "one flow on 2 Mbit/s", 1),
            preset("two-links", "two links, one flow over both and one over each", 2),
            preset("three-links", "three links, one flow over all and one over each", 3),
            preset("four-links", "four links, one flow over all and one over each", 4),
        ]
    }

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        let hour = TimeDelta::from_secs(3600);
        check([
            ("duration", span(parameters.duration) && parameters.duration <= hour, "a time up to 1 h"),
            ("step", span(parameters.step), LONGER),
        ])?;
        check_network(&parameters.links, &parameters.users)?;
        let (links, users) = numbers(&parameters.links, &parameters.users);
        let equilibrium = solver::solve(&links, &users).ok_or_else(no_equilibrium)?;
        parameters.check_times(&users, &equilibrium)?;
        let course = parameters.integrate(&equilibrium)?;
        Ok(parameters.evaluate(&course, equilibrium))
    }
}

/// Capacity in bit/s of a link that limits no flow.
const UNLIMITED_CAPACITY: f64 = 1e30;
/// Greatest number of integration steps, counted for each link and flow. They take some seconds, and their history
/// half a gigabyte.
const MAX_STEPS: f64 = 2e7;
/// Greatest number of points of all flows' series.
const MAX_POINTS: f64 = 2e6;

impl Parameters {
    fn check_times(&self, users: &[solver::RoutedFlow], equilibrium: &Equilibrium) -> Result<(), Problem> {
        let longest =
            users.iter().map(|user| user.delay(&equilibrium.queues) + user.back).fold(0.0, f64::max);
        let shortest = users.iter().map(|user| user.forward + user.back).fold(f64::INFINITY, f64::min);
        let (duration, step) = (self.duration.secs_f64(), self.step.secs_f64());
        let fine = step * (self.gain * self.gain_factor).max(1.0) <= 0.1 * shortest;
        check([
            (
                "duration",
                duration >= 10.0 * longest,
                "a time of ten round trips or longer: a tenth is judged",
            ),
            (
                "step",
                fine,
                "a time up to a tenth of the shortest round trip, over `gain` times `gain_factor`",
            ),
        ])?;
        let shown = f64::from(self.points) * users.len() as f64;
        affordable("points", shown, MAX_POINTS, "points of all flows", "`points` or of `users`")?;
        let hops: usize = users.iter().map(|user| user.route.len() + 3).sum();
        let steps = duration / step * (self.links.len() + hops) as f64;
        affordable(
            "step",
            steps,
            MAX_STEPS,
            "steps of all links and flows",
            "`duration` over `step`, of `links` or of `users`",
        )
    }

    /// Integrates the model. The path of each flow to its first link is a link of its own without a queue.
    fn integrate(&self, equilibrium: &Equilibrium) -> Result<Integration, Problem> {
        let link = |link: &Link| FluidLink {
            capacity: link.capacity.bps_f64(),
            cross_traffic: link.constant_traffic.bps_f64(),
            queue_limit: link.buffer.map_or(f64::INFINITY, TimeDelta::secs_f64),
            propagation: link.propagation.secs_f64(),
        };
        let access = |user: &DcccUser| FluidLink {
            capacity: UNLIMITED_CAPACITY,
            cross_traffic: 0.0,
            queue_limit: f64::INFINITY,
            propagation: user.access.secs_f64(),
        };
        let links: Vec<FluidLink> =
            self.links.iter().map(link).chain(self.users.iter().map(access)).collect();
        let users = self.users.iter().zip(&equilibrium.rates).enumerate();
        let flows: Vec<FluidFlow> =
            users.map(|(index, (user, rate))| self.flow(index, user, *rate)).collect();
        let (duration, step) = (self.duration.secs_f64(), self.step.secs_f64());
        integrate(&links, &flows, duration, step).map_err(|error| refused("step", &error.to_string()))
    }

    fn flow(&self, index: usize, user: &DcccUser, rate: f64) -> FluidFlow {
        let own = (!user.access.is_negative() && span(user.access)).then_some(self.links.len() + index);
        let route = own.into_iter().chain(user.route.iter().map(|&link| link as usize)).collect();
        FluidFlow {
            route,
            return_delay: user.back(&self.links).secs_f64(),
            active: (0.0, f64::INFINITY),
            start_rate: self.start * rate,
            utility_weight: user.utility_weight.bps_f64(),
            price_scale: user.price_scale,
            gain: self.gain * self.gain_factor,
            threshold: user.threshold.secs_f64(),
        }
    }

    fn evaluate(&self, course: &Integration, equilibrium: Equilibrium) -> Results {
        let values = course.rates[0].len();
        let tenth = (values / 10).max(1);
        let (last, before) = (values - tenth..values, values.saturating_sub(2 * tenth)..values - tenth);
        let swing = |part: &std::ops::Range<usize>| {
            course.rates.iter().map(|rates| swing(&rates[part.clone()])).fold(0.0, f64::max)
        };
        let means = |of: &[Vec<f64>]| of.iter().map(|own| mean(&own[last.clone()])).collect::<Vec<f64>>();
        let rate_bps = means(&course.rates);
        let apart = rate_bps.iter().zip(&equilibrium.rates).map(|(rate, rest)| (rate / rest - 1.0).abs());
        let shown: Vec<usize> =
            (0..self.points as usize).map(|n| n * (values - 1) / (self.points as usize - 1)).collect();
        let flow = |(index, rates): (usize, &Vec<f64>)| FluidSeries {
            name: format!("flow-{index}"),
            rate_bps: shown.iter().map(|&at| rates[at]).collect(),
        };
        Results {
            stable: u8::from(swing(&last) < self.tolerance),
            swing: swing(&last),
            swing_before: swing(&before),
            queue_ms: means(&course.queues[..self.links.len()]).iter().map(|queue| 1e3 * queue).collect(),
            distance: apart.fold(0.0, f64::max),
            links_on_route: self.users.iter().map(|user| user.route.len()).max().unwrap_or(0),
            time_s: shown.iter().map(|&at| at as f64 * course.step).collect(),
            flows: course.rates.iter().enumerate().map(flow).collect(),
            rest_bps: equilibrium.rates,
            rate_bps,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn swing(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (most - least) / mean(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(factor: f64, parameters: Parameters) -> Results {
        Fluid::run(&Parameters { gain_factor: factor, ..parameters }).unwrap()
    }

    #[test]
    fn with_one_flow_and_its_gain_it_rests_where_the_equations_say() {
        let results = of(1.0, Parameters::default());
        assert_eq!((results.stable, results.links_on_route), (1, 1));
        assert!(results.distance < 1e-3, "{}", results.distance);
        // OWD 131.25 ms: 106.25 of queue.
        assert!((results.queue_ms[0] - 106.25).abs() < 0.2, "{:?}", results.queue_ms);
    }

    #[test]
    fn with_four_times_its_gain_it_does_not() {
        let results = of(4.0, Parameters { duration: TimeDelta::from_secs(100), ..Parameters::default() });
        assert_eq!(results.stable, 0, "{}", results.swing);
    }

    #[test]
    fn times_that_show_nothing_or_take_too_long_are_refused() {
        let (long, short) = (TimeDelta::from_secs(3600), TimeDelta::from_nanos(1));
        let default = Parameters::default;
        for (parameters, key) in [
            (Parameters { step: short, ..default() }, "step"),
            (Parameters { step: short, duration: long, ..default() }, "step"),
            (Parameters { duration: long, ..lot(4) }, "step"),
            (Parameters { duration: short, ..default() }, "duration"),
            // The round trip at rest is 156.25 ms.
            (Parameters { duration: TimeDelta::from_millis(1562), ..default() }, "duration"),
            // 0.5 ms · 0.4 · 50 of 50 ms.
            (Parameters { gain_factor: 50.0, ..default() }, "step"),
        ] {
            let problem = Fluid::run(&parameters).unwrap_err();
            assert_eq!(problem.message, format!("`{key}` is out of range"), "{parameters:?}");
        }
        let enough = Parameters { duration: TimeDelta::from_millis(1563), ..default() };
        assert!(Fluid::run(&enough).unwrap().swing.is_finite());
        let help = Fluid::run(&Parameters { step: short, ..default() }).unwrap_err().help.unwrap();
        assert!(help.contains("`duration` over `step`"), "{help}");
    }

    #[test]
    fn a_way_to_the_first_link_is_a_delay_like_any_other() {
        let mut apart = Parameters::default();
        apart.links[0].propagation = TimeDelta::ZERO;
        apart.users[0].access = TimeDelta::from_millis(25);
        let results = of(1.0, apart);
        assert!((results.queue_ms[0] - 106.25).abs() < 0.2, "{:?}", results.queue_ms);
    }
}
