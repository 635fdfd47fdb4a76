//! Test of the stability proof of dccc-2017 (§IV-A, appendix A): storage functions and inequalities on random
//! networks without delay.

mod analysis;
mod inequalities;
mod motion;

pub(in crate::analysis) use analysis::Passivity;

use super::solver::{Equilibrium, Link, RoutedFlow};

/// State of a network: rates in bit/s and queues in s.
#[derive(Clone, Debug, PartialEq)]
struct State {
    rates: Vec<f64>,
    queues: Vec<f64>,
}

/// A network with its equilibrium.
#[derive(Clone, Debug)]
struct System {
    links: Vec<Link>,
    users: Vec<RoutedFlow>,
    /// `k_r` of each flow, in 1/s.
    gains: Vec<f64>,
    /// `α`, in 1/s.
    alpha: f64,
    rest: State,
}

impl System {
    fn new(links: Vec<Link>, users: Vec<RoutedFlow>, gains: Vec<f64>, alpha: f64, rest: Equilibrium) -> Self {
        Self { links, users, gains, alpha, rest: State { rates: rest.rates, queues: rest.queues } }
    }

    /// `y`, the rate that arrives at each link.
    fn arriving(&self, state: &State) -> Vec<f64> {
        let at = |link: usize| {
            let crossing =
                self.users.iter().zip(&state.rates).filter(move |(user, _)| user.route.contains(&link));
            crossing.map(|(_, rate)| rate).sum()
        };
        (0..self.links.len()).map(at).collect()
    }

    /// `dq/dt` of each link. Eq. (2).
    fn growth(&self, state: &State) -> Vec<f64> {
        let arriving = self.arriving(state);
        let of = |((link, arriving), queue): ((&Link, &f64), &f64)| {
            let growth = arriving / link.capacity - 1.0;
            // Projection: an empty queue does not shrink.
            if *queue <= 0.0 { growth.max(0.0) } else { growth }
        };
        self.links.iter().zip(&arriving).zip(&state.queues).map(of).collect()
    }

    /// `U'(x) − v(e) − de/dt` of each flow; times gain and rate it is `dx/dt`. Eq. (15).
    fn rate_imbalance(&self, state: &State, growth: &[f64]) -> Vec<f64> {
        let of = |(user, rate): (&RoutedFlow, &f64)| {
            let gradient: f64 = user.route.iter().map(|&link| growth[link]).sum();
            user.utility_weight / rate - user.delay_price(user.delay(&state.queues)) - gradient
        };
        self.users.iter().zip(&state.rates).map(of).collect()
    }

    /// `V_user`, eq. (28), with the gain of each flow within the sum, and `V_link`, eq. (29), of queues in place of delays:
    /// they differ by a constant.
    fn storage(&self, state: &State) -> (f64, f64) {
        let user = |index: usize| {
            let (rate, rest) = (state.rates[index], self.rest.rates[index]);
            (rate - rest - rest * libm::log(rate / rest)) / self.gains[index]
        };
        let spare = self.spare();
        let link = |index: usize| {
            let (queue, rest) = (state.queues[index], self.rest.queues[index]);
            0.5 * (queue - rest) * (queue - rest) * self.links[index].capacity
                + spare[index] * queue / self.alpha
        };
        ((0..self.users.len()).map(user).sum::<f64>() / self.alpha, (0..self.links.len()).map(link).sum())
    }

    /// `c − ŷ`, the unused capacity of a link at rest; 0 where there is a queue.
    fn spare(&self) -> Vec<f64> {
        let arriving = self.arriving(&self.rest);
        let of = |((link, arriving), queue): ((&Link, &f64), &f64)| {
            if *queue > 0.0 { 0.0 } else { (link.capacity - arriving).max(0.0) }
        };
        self.links.iter().zip(&arriving).zip(&self.rest.queues).map(of).collect()
    }
}
