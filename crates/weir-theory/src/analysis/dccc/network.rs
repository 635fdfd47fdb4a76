//! Links and flows of DCCC's analyses as parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::Config;
use weir_units::{DataRate, TimeDelta};

use super::solver;
use crate::analysis::range::{FASTER, check, moving, refused, span};
use weir_form::Problem;

/// A link; times up to 1000 s.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// `c`, above 0.
    pub(super) capacity: DataRate,
    /// `p`, propagation delay behind the queue; 0 unless given.
    #[serde(default)]
    pub(super) propagation: TimeDelta,
    /// `q_max`, the longest queue; unlimited unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) buffer: Option<TimeDelta>,
    /// `u`, traffic that does not respond to congestion; none unless given.
    #[serde(default)]
    pub(super) constant_traffic: DataRate,
}

/// A flow under DCCC; times up to 1000 s.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DcccUser {
    /// Its links in order, by index from 0.
    pub(super) route: Vec<u32>,
    /// Delay of the path to the first link; 0 unless given.
    #[serde(default)]
    pub(super) access: TimeDelta,
    /// `e_b`, delay of the return path; that of the forward path without queues unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) return_delay: Option<TimeDelta>,
    /// `T`, the delay up to which there is no delay price.
    #[serde(default = "threshold")]
    pub(super) threshold: TimeDelta,
    /// `h`, weight of its utility.
    #[serde(default = "utility_weight")]
    pub(super) utility_weight: DataRate,
    /// `β`, scale of the delay price.
    #[serde(default = "price_scale")]
    #[schemars(range(min = 0.001, max = 1.0))]
    pub(super) price_scale: f64,
}

fn threshold() -> TimeDelta {
    TimeDelta::from_millis(100)
}

fn utility_weight() -> DataRate {
    Config::default().utility_weight
}

fn price_scale() -> f64 {
    Config::default().price_scale
}

impl Link {
    pub(crate) fn new(capacity_kbps: u64, propagation_ms: i64) -> Self {
        Self {
            capacity: DataRate::from_kbps(capacity_kbps),
            propagation: TimeDelta::from_millis(propagation_ms),
            buffer: None,
            constant_traffic: DataRate::ZERO,
        }
    }

    pub(super) fn with_buffer_ms(self, buffer_ms: f64) -> Self {
        Self { buffer: Some(TimeDelta::from_millis_f64(buffer_ms)), ..self }
    }

    pub(super) fn beside_kbps(self, constant_traffic_kbps: u64) -> Self {
        Self { constant_traffic: DataRate::from_kbps(constant_traffic_kbps), ..self }
    }
}

impl DcccUser {
    pub(super) fn over(route: &[u32]) -> Self {
        Self {
            route: route.to_vec(),
            access: TimeDelta::ZERO,
            return_delay: None,
            threshold: threshold(),
            utility_weight: utility_weight(),
            price_scale: price_scale(),
        }
    }

    pub(super) fn with_access_ms(self, access_ms: i64) -> Self {
        Self { access: TimeDelta::from_millis(access_ms), ..self }
    }

    /// The base one-way delay of the forward path.
    pub(super) fn forward(&self, links: &[Link]) -> TimeDelta {
        self.access + self.route.iter().map(|&link| links[link as usize].propagation).sum()
    }

    /// The one-way delay of the return path.
    pub(super) fn back(&self, links: &[Link]) -> TimeDelta {
        self.return_delay.unwrap_or_else(|| self.forward(links))
    }
}

/// Longest time of a network's parameters, in s.
const MAX_TIME: i64 = 1000;
const TIME_RANGE: &str = "a time from 0 to 1000 s";

/// Checks that `links` and `users` form a network. Paths in problems are those of the parameters `links` and `users`.
pub(super) fn check_network(links: &[Link], users: &[DcccUser]) -> Result<(), Problem> {
    check([
        ("links", (1..=20).contains(&links.len()), "from one link to 20"),
        ("users", (1..=50).contains(&users.len()), "from one user to 50"),
    ])?;
    let within = |time: TimeDelta| !time.is_negative() && time <= TimeDelta::from_secs(MAX_TIME);
    for (i, link) in links.iter().enumerate() {
        let key_of = |key: &str| format!("links.{i}.{key}");
        check([
            (key_of("capacity"), moving(link.capacity), FASTER),
            (key_of("propagation"), within(link.propagation), TIME_RANGE),
            (
                key_of("buffer"),
                link.buffer.is_none_or(|time| span(time) && within(time)),
                "a time above 0 up to 1000 s",
            ),
        ])?;
    }
    for (i, user) in users.iter().enumerate() {
        let at = |key: &str| format!("users.{i}.{key}");
        let there = user.route.iter().all(|&link| (link as usize) < links.len());
        let once = user.route.iter().enumerate().all(|(n, link)| !user.route[..n].contains(link));
        if user.route.is_empty() || !there || !once {
            let right = format!("links from 0 to {}, each once", links.len() - 1);
            return Err(refused(&at("route"), &right));
        }
        check([
            (at("access"), within(user.access), TIME_RANGE),
            (at("return_delay"), user.return_delay.is_none_or(within), TIME_RANGE),
            (at("threshold"), within(user.threshold), TIME_RANGE),
            (at("utility_weight"), moving(user.utility_weight), FASTER),
            (
                at("access"),
                span(user.forward(links) + user.back(links)),
                "a delay: the round trip takes no time",
            ),
        ])?;
    }
    Ok(())
}

/// The links and flows with numbers in bit/s and s.
pub(super) fn numbers(links: &[Link], users: &[DcccUser]) -> (Vec<solver::Link>, Vec<solver::RoutedFlow>) {
    let link = |link: &Link| solver::Link {
        capacity: link.capacity.bps_f64(),
        constant_traffic: link.constant_traffic.bps_f64(),
        buffer: link.buffer.map_or(f64::INFINITY, TimeDelta::secs_f64),
    };
    let user = |user: &DcccUser| solver::RoutedFlow {
        route: user.route.iter().map(|&link| link as usize).collect(),
        forward: user.forward(links).secs_f64(),
        back: user.back(links).secs_f64(),
        threshold: user.threshold.secs_f64(),
        utility_weight: user.utility_weight.bps_f64(),
        price_scale: user.price_scale,
    };
    (links.iter().map(link).collect(), users.iter().map(user).collect())
}
