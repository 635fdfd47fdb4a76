//! Analysis `dccc-equilibrium`: the equilibrium of DCCC's flows on any routes, and the closed form for one link
//! (dccc-2017 eqs (15) to (19)).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::network::{DcccUser, Link, check_network, numbers};
use super::solver::{self, Equilibrium};
use crate::analysis::entry::{Analysis, ParameterPreset};
use crate::analysis::range::refused;
use weir_form::Problem;

/// Rates, queues and losses at rest.
pub(in crate::analysis) struct DcccEquilibrium;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// The links, by index from 0; up to 20.
    links: Vec<Link>,
    /// The flows, by index from 0; up to 50.
    users: Vec<DcccUser>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// The flows, in order.
    users: Users,
    /// The links, in order.
    links: LinkResults,
    /// Jain's index of the rates, eq. (44).
    jain: f64,
    /// The least rate over the mean rate.
    least_share: f64,
    /// The greatest rate over the mean rate.
    greatest_share: f64,
    /// Solution error: the imbalance of a link with a queue over its capacity, at most.
    residual: f64,
    /// Closed form of one link that equal flows share, or null elsewhere, and where both delay and loss have a price.
    closed_form: Option<ClosedForm>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Users {
    /// `x`, in bit/s.
    rate_bps: Vec<f64>,
    /// `e`, one-way delay, in ms.
    owd_ms: Vec<f64>,
    /// Queuing delay, the part of `e` above the base delay, in ms.
    queuing_ms: Vec<f64>,
    /// `v(e)`, the price of delay.
    delay_price: Vec<f64>,
    /// `π/(1 − π)` summed over the route, the price of loss.
    loss_price: Vec<f64>,
    /// `π` of the route.
    loss_ratio: Vec<f64>,
    /// `h/β`, the rate that the delay price alone never goes below, in bit/s. Eq. (19).
    least_rate_bps: Vec<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LinkResults {
    /// `q`, in ms.
    queue_ms: Vec<f64>,
    /// `π`.
    loss_ratio: Vec<f64>,
    /// The carried rate over the capacity.
    utilisation: Vec<f64>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct ClosedForm {
    /// The one-way delay by eq. (18), or with a full queue, in ms.
    owd_ms: f64,
    /// The rate of each flow, in bit/s: its share of the capacity. Where the price is loss alone, it is the root of `N·x² + (u −
    /// c)·x − h·c`.
    rate_bps: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { links: vec![Link::new(1500, 25)], users: vec![DcccUser::over(&[0])] }
    }
}

impl Analysis for DcccEquilibrium {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-equilibrium";
    const SUMMARY: &'static str =
        "Rates, queues, delays and losses at which DCCC's flows rest, on any routes";
    const SOURCE: &'static str = "dccc-2017 eqs (2), (15) to (19), figs 7 to 11";

    fn presets() -> Vec<ParameterPreset<Parameters>> {
        let flows = |count: usize| vec![DcccUser::over(&[0]); count];
        let preset = |name, summary, links, users| ParameterPreset {
            name,
            summary,
            parameters: Parameters { links, users },
        };
        let lot = || vec![DcccUser::over(&[0, 1]), DcccUser::over(&[0]), DcccUser::over(&[1])];
        let half = |buffer| vec![Link::new(2500, 25).beside_kbps(500).with_buffer_ms(buffer); 2];
        let unequal = [30, 50, 70, 90].map(|ms| DcccUser::over(&[0]).with_access_ms(ms));
        vec![
            preset("one-link", "one flow alone on 1.5 Mbit/s", vec![Link::new(1500, 25)], flows(1)),
            preset(
                "three-flows",
                "three flows beside 500 kbit/s on 3.5 Mbit/s, 325 ms of buffer (fig. 5)",
                vec![Link::new(3500, 25).beside_kbps(500).with_buffer_ms(325.0)],
                flows(3),
            ),
            preset(
                "three-flows-loss",
                "the same with 62.5 ms of buffer (fig. 6)",
                vec![Link::new(3500, 25).beside_kbps(500).with_buffer_ms(62.5)],
                flows(3),
            ),
            preset(
                "dumbbell",
                "propagation of 30, 50, 70 and 90 ms before one link of 6 Mbit/s (figs 7, 8)",
                vec![Link::new(6000, 0).with_buffer_ms(500.0)],
                unequal.to_vec(),
            ),
            preset(
                "parking-lot",
                "three flows on two links, 350 ms of buffer each (fig. 10)",
                half(350.0),
                lot(),
            ),
            preset("parking-lot-short", "the same with 52.5 ms of buffer (fig. 11)", half(52.5), lot()),
        ]
    }

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        check_network(&parameters.links, &parameters.users)?;
        let (links, users) = numbers(&parameters.links, &parameters.users);
        let found = solver::solve(&links, &users).ok_or_else(no_equilibrium)?;
        let mean = found.rates.iter().sum::<f64>() / found.rates.len() as f64;
        let shares = || found.rates.iter().map(|rate| rate / mean);
        Ok(Results {
            jain: jain(&found.rates),
            least_share: shares().fold(f64::INFINITY, f64::min),
            greatest_share: shares().fold(0.0, f64::max),
            residual: found.residual,
            closed_form: closed_form(&links, &users),
            users: users_of(&users, &found),
            links: links_of(&links, &users, &found),
        })
    }
}

pub(super) fn no_equilibrium() -> Problem {
    refused(
        "links",
        "capacities above the sum of h/β of the flows, or buffers: without loss the queue grows for ever",
    )
}

/// Eq. (44).
pub(super) fn jain(rates: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|rate| rate * rate).sum());
    sum * sum / (rates.len() as f64 * squares)
}

fn users_of(users: &[solver::RoutedFlow], found: &Equilibrium) -> Users {
    let each = |of: &dyn Fn(&solver::RoutedFlow) -> f64| users.iter().map(of).collect::<Vec<f64>>();
    let losses =
        |user: &solver::RoutedFlow| user.route.iter().map(|&link| found.losses[link]).collect::<Vec<f64>>();
    Users {
        rate_bps: found.rates.clone(),
        owd_ms: each(&|user| 1e3 * user.delay(&found.queues)),
        queuing_ms: each(&|user| 1e3 * (user.delay(&found.queues) - user.forward)),
        delay_price: each(&|user| user.delay_price(user.delay(&found.queues))),
        loss_price: each(&|user| losses(user).iter().sum()),
        loss_ratio: each(&|user| 1.0 - losses(user).iter().map(|g| 1.0 / (1.0 + g)).product::<f64>()),
        least_rate_bps: each(&solver::RoutedFlow::least_rate),
    }
}

fn links_of(links: &[solver::Link], users: &[solver::RoutedFlow], found: &Equilibrium) -> LinkResults {
    let carried = |(index, link): (usize, &solver::Link)| {
        let crossing = users.iter().zip(&found.rates).filter(|(user, _)| user.route.contains(&index));
        let arriving = crossing.map(|(_, rate)| rate).sum::<f64>() + link.constant_traffic;
        arriving / (1.0 + found.losses[index]) / link.capacity
    };
    LinkResults {
        queue_ms: found.queues.iter().map(|queue| 1e3 * queue).collect(),
        loss_ratio: found.losses.iter().map(|g| g / (1.0 + g)).collect(),
        utilisation: links.iter().enumerate().map(carried).collect(),
    }
}

fn closed_form(links: &[solver::Link], users: &[solver::RoutedFlow]) -> Option<ClosedForm> {
    let ([link], [first, ..]) = (links, users) else { return None };
    let equal = users.iter().all(|user| user == first);
    let flows = users.len() as f64;
    let room = link.capacity - link.constant_traffic;
    let share = room / flows;
    let ratio = first.least_rate() / share;
    let delay = (first.back * ratio + first.threshold) / (1.0 - ratio);
    if equal && ratio < 1.0 && delay >= first.forward && delay <= first.forward + link.buffer {
        return Some(ClosedForm { owd_ms: 1e3 * delay, rate_bps: share });
    }
    let full = first.forward + link.buffer;
    let root = (room * room + 4.0 * flows * first.utility_weight * link.capacity).sqrt();
    (equal && full <= first.threshold)
        .then(|| ClosedForm { owd_ms: 1e3 * full, rate_bps: (room + root) / (2.0 * flows) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parameters: &Parameters) -> Results {
        DcccEquilibrium::run(parameters).unwrap()
    }

    fn preset(name: &str) -> Results {
        let named = DcccEquilibrium::presets().into_iter().find(|preset| preset.name == name);
        of(&named.unwrap().parameters)
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn the_closed_form_of_one_link_stands_beside_what_was_solved() {
        for name in ["one-link", "three-flows", "three-flows-loss"] {
            let results = preset(name);
            let closed = results.closed_form.unwrap();
            close(results.users.owd_ms[0], closed.owd_ms, 1e-6);
            close(results.users.rate_bps[0], closed.rate_bps, 1.0);
        }
        // 1500 kbit/s alone: ρ = 2/15; (25·ρ + 100)/(1 − ρ) = 119.23 ms. Three with 1000 each: 131.25 ms.
        close(preset("one-link").closed_form.unwrap().owd_ms, 119.23, 0.005);
        close(preset("three-flows").closed_form.unwrap().owd_ms, 131.25, 0.005);
        close(preset("three-flows-loss").closed_form.unwrap().rate_bps, 1022.8e3, 50.0);
        for name in ["dumbbell", "parking-lot"] {
            assert_eq!(preset(name).closed_form, None);
        }
    }

    #[test]
    fn shares_of_unequal_flows_are_those_of_figures_7_and_8() {
        let results = preset("dumbbell");
        close(results.jain, 0.714, 1e-3);
        close(results.least_share, 0.50, 0.01);
        close(results.greatest_share, 2.08, 0.01);
    }

    #[test]
    fn prices_add_up_to_the_marginal_utility() {
        for name in ["parking-lot", "parking-lot-short", "three-flows-loss", "dumbbell"] {
            let Users { rate_bps, delay_price, loss_price, .. } = preset(name).users;
            for ((rate, delay), loss) in rate_bps.iter().zip(&delay_price).zip(&loss_price) {
                close(20e3 / rate, delay + loss, 1e-9);
            }
        }
        let short = preset("parking-lot-short").users;
        assert!(short.delay_price[0] > 0.0 && short.loss_price[0] > 0.0, "flow 1 pays both");
        assert_eq!(short.delay_price[1], 0.0);
    }

    #[test]
    fn an_impossible_network_is_refused() {
        let mut parameters = Parameters::default();
        parameters.users[0].route = vec![1];
        assert!(DcccEquilibrium::run(&parameters).is_err());
        let narrow = Parameters { links: vec![Link::new(150, 25)], ..Parameters::default() };
        assert!(DcccEquilibrium::run(&narrow).unwrap_err().help.unwrap().contains("h/β"));
    }
}
