//! Numerical solution of the equilibrium of DCCC's flows on any routes: eqs (2), (4), (15) and (16) with all derivatives
//! zero.
//!
//! Source: D'Aronco, Toni, Mena, Zhu, Frossard, "Improved Utility-based Congestion Control for Delay-Constrained
//! Communication", 2017 ("dccc-2017"). The paper calls a flow a user.
//!
//! One number describes a link, its congestion level: the length of its queue, and beyond a full queue the loss. With
//! the levels of all other links fixed, the arriving rate falls as the level rises. Bisection therefore finds the level
//! at which the link is in balance. The links are balanced one after the other until no level changes. Without loss
//! this is coordinate descent on a convex function, because a flow's rate falls with the sum of the queues on its path.

/// A link of the network; rates are in bit/s, times in s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// `c`, the capacity, above 0.
    pub capacity: f64,
    /// `u`, traffic that does not respond to congestion.
    pub constant_traffic: f64,
    /// `q_max`, the longest queue; infinite for none.
    pub buffer: f64,
}

/// A flow, with its route and its parameters; rates are in bit/s, times in s.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutedFlow {
    /// Indices of the links that it crosses.
    pub route: Vec<usize>,
    /// One-way delay of the forward path without queues.
    pub forward: f64,
    /// `e_b`, one-way delay of the return path.
    pub back: f64,
    /// `T`, the delay up to which there is no delay price.
    pub threshold: f64,
    /// `h`, weight of the utility, in bit/s.
    pub utility_weight: f64,
    /// `β`, scale of the delay price.
    pub price_scale: f64,
}

/// The state of flows and links in which all derivatives are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// `x`, the rate of each flow, in bit/s.
    pub rates: Vec<f64>,
    /// `q`, the queue of each link, in s.
    pub queues: Vec<f64>,
    /// `π/(1 − π)`, the ratio of the lost to the carried rate of each link.
    pub losses: Vec<f64>,
    /// Greatest difference of the arriving from the leaving rate of a link with a queue, as a share of its capacity.
    pub residual: f64,
}

/// Longest queue of a link without a buffer limit, in s; an equilibrium with a longer one does not exist.
const MAX_QUEUE: f64 = 1e4;
/// Highest ratio of the lost to the carried rate of a link.
const MAX_LOSS_RATIO: f64 = 1e6;
/// Greatest number of iterations over all links.
const MAX_ITERATIONS: usize = 20_000;
/// Greatest number of evaluations of a flow's price at a link, which take some seconds.
const MAX_EVALUATIONS: usize = 20_000_000;
/// Number of bisection steps for the level of a link.
const BISECTION_STEPS: usize = 80;
/// Convergence limit: the iteration in which no level changes by more than this is the last.
const TOLERANCE: f64 = 1e-13;

impl RoutedFlow {
    /// `e`, the one-way delay of the forward path with these queues of the links.
    pub fn delay(&self, queues: &[f64]) -> f64 {
        self.forward + self.route.iter().map(|&link| queues[link]).sum::<f64>()
    }

    /// `v(e)`, the price of this forward delay. Eq. (16).
    pub fn delay_price(&self, delay: f64) -> f64 {
        self.price_scale * (delay - self.threshold).max(0.0) / (delay + self.back)
    }

    /// `h/β`, the least rate without loss: the delay price is below `β`. Eq. (19).
    pub fn least_rate(&self) -> f64 {
        self.utility_weight / self.price_scale
    }

    /// The rate at which the marginal utility equals the price of delay and loss.
    fn rate(&self, congestion: &[LinkCongestion]) -> f64 {
        let sum_over_route =
            |value: fn(&LinkCongestion) -> f64| self.route.iter().map(|&link| value(&congestion[link])).sum();
        let (queued, lost): (f64, f64) = (sum_over_route(|own| own.queue), sum_over_route(|own| own.loss));
        self.utility_weight / (self.delay_price(self.forward + queued) + lost)
    }
}

/// The queue and the loss ratio of a link.
#[derive(Clone, Copy, Debug, Default)]
struct LinkCongestion {
    queue: f64,
    loss: f64,
}

impl Link {
    /// The queue and the loss at this level: up to `q_max` the level is the queue, and the excess is the loss ratio
    /// `π/(1 − π)`.
    fn congestion(&self, level: f64) -> LinkCongestion {
        LinkCongestion { queue: level.min(self.buffer), loss: (level - self.buffer).max(0.0) }
    }
}

/// The equilibrium of `flows` over `links`. Returns `None` if an unlimited queue grows for ever, because the least rates
/// of the flows exceed the capacity.
pub fn solve(links: &[Link], flows: &[RoutedFlow]) -> Option<Equilibrium> {
    let mut congestion = vec![LinkCongestion::default(); links.len()];
    let mut levels = vec![0.0; links.len()];
    let iterations =
        MAX_ITERATIONS.min(MAX_EVALUATIONS / (links.len() * links.len() * flows.len()).max(1)).max(1);
    for _ in 0..iterations {
        let mut largest_change: f64 = 0.0;
        // Coordinate descent: each link is balanced while the levels of all others are fixed.
        for (index, link) in links.iter().enumerate() {
            let level = balance(index, link, flows, &mut congestion)?;
            largest_change = largest_change.max((level - levels[index]).abs());
            levels[index] = level;
        }
        if largest_change < TOLERANCE {
            break;
        }
    }
    let residuals = links.iter().enumerate().filter(|&(index, _)| levels[index] > 0.0);
    let residuals =
        residuals.map(|(index, link)| excess(index, link, flows, &congestion).abs() / link.capacity);
    Some(Equilibrium {
        rates: flows.iter().map(|flow| flow.rate(&congestion)).collect(),
        queues: congestion.iter().map(|own| own.queue).collect(),
        losses: congestion.iter().map(|own| own.loss).collect(),
        residual: residuals.fold(0.0, f64::max),
    })
}

/// The rate that arrives at a link minus the rates that it carries and loses, in bit/s.
fn excess(index: usize, link: &Link, flows: &[RoutedFlow], congestion: &[LinkCongestion]) -> f64 {
    let crossing = flows.iter().filter(|flow| flow.route.contains(&index));
    let arriving = crossing.map(|flow| flow.rate(congestion)).sum::<f64>() + link.constant_traffic;
    arriving - link.capacity * (1.0 + congestion[index].loss)
}

/// The level at which the link is in balance while all others are fixed, or `None` if there is none. The congestion of
/// the link is set to that level.
fn balance(
    index: usize,
    link: &Link,
    flows: &[RoutedFlow],
    congestion: &mut [LinkCongestion],
) -> Option<f64> {
    let overfull = |level: f64, congestion: &mut [LinkCongestion]| {
        congestion[index] = link.congestion(level);
        excess(index, link, flows, congestion) > 0.0
    };
    if !overfull(0.0, congestion) {
        return Some(0.0);
    }
    let max_level = if link.buffer.is_finite() { link.buffer + MAX_LOSS_RATIO } else { MAX_QUEUE };
    // The excess falls in the level, so that doubling finds an upper bound and bisection the root.
    let mut high = 1e-3_f64.min(max_level);
    while overfull(high, congestion) {
        if high >= max_level {
            return None;
        }
        high = (2.0 * high).min(max_level);
    }
    let mut low = 0.0;
    for _ in 0..BISECTION_STEPS {
        let middle = f64::midpoint(low, high);
        if overfull(middle, congestion) { low = middle } else { high = middle }
    }
    congestion[index] = link.congestion(high);
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(capacity: f64, constant_traffic: f64, buffer: f64) -> Link {
        Link { capacity, constant_traffic, buffer }
    }

    /// A flow over the links of `route`; times in seconds.
    fn flow(route: &[usize], propagation: f64, threshold: f64) -> RoutedFlow {
        RoutedFlow {
            route: route.to_vec(),
            forward: propagation,
            back: propagation,
            threshold,
            utility_weight: 20e3,
            price_scale: 0.1,
        }
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn the_delay_of_one_flow_is_that_of_equation_18() {
        // ρ = 200/x; e = (e_b·ρ + T)/(1 − ρ).
        for (capacity, propagation, threshold, delay) in [
            (0.5e6, 0.025, 0.05, 0.100),
            (1e6, 0.025, 0.1, 0.131_25),
            (1e6, 0.1, 0.15, 0.212_5),
            (2e6, 0.05, 0.1, 0.116_666_7),
        ] {
            let found =
                solve(&[link(capacity, 0.0, f64::INFINITY)], &[flow(&[0], propagation, threshold)]).unwrap();
            close(found.queues[0] + propagation, delay, 1e-6);
            close(found.rates[0], capacity, 1.0);
            assert!(found.residual < 1e-9);
        }
    }

    #[test]
    fn a_short_queue_is_shared_by_loss() {
        // N·x² + (u − c)·x − h·c = 0: 1523.0 and 1022.8 kbit/s of 3500 beside 500; x/h of the carried rate is lost.
        for (flows, rate) in [(1, 3023.2e3), (2, 1523.0e3), (3, 1022.8e3)] {
            let flows = vec![flow(&[0], 0.025, 0.1); flows];
            let found = solve(&[link(3.5e6, 500e3, 0.0625)], &flows).unwrap();
            close(found.rates[0], rate, 100.0);
            close(found.losses[0], 20e3 / rate, 1e-5);
            close(found.queues[0], 0.0625, 1e-12);
        }
    }

    #[test]
    fn unequal_propagation_is_fair_as_far_as_worked_out() {
        // [30 50 70 90] ms, half a second of buffer: Jain's index by capacity.
        for (capacity, jain, least) in [(2e6, 0.998, 0.95), (4e6, 0.893, 0.68), (6e6, 0.714, 0.50)] {
            let flows = [0.03, 0.05, 0.07, 0.09].map(|propagation| flow(&[0], propagation, 0.1));
            let rates = solve(&[link(capacity, 0.0, 0.5)], &flows).unwrap().rates;
            let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|x| x * x).sum());
            close(sum * sum / (4.0 * squares), jain, 1e-3);
            close(rates[3] / (sum / 4.0), least, 0.01);
        }
    }

    #[test]
    fn a_parking_lot_has_the_equilibrium_worked_out() {
        // Two links of 2.5 Mbit/s beside 500 kbit/s: 0.42, 1.58, 1.58 Mbit/s and 93 ms each. With 52.5 ms of buffer
        // g = 20/1640 = 0.0122, v = 0.1·55/205 = 0.0268: 20/(v + 2·g) = 390.5, and 390.5 + 1640 = 2500·(1 + g) − 500.
        let flows = [flow(&[0, 1], 0.05, 0.1), flow(&[0], 0.025, 0.1), flow(&[1], 0.025, 0.1)];
        let lot = |buffer| solve(&[link(2.5e6, 500e3, buffer); 2], &flows).unwrap();
        let long = lot(0.35);
        close(long.rates[0], 0.42e6, 5e3);
        close(long.rates[1], 1.58e6, 5e3);
        close(long.queues[1], 0.093, 5e-4);
        let short = lot(0.0525);
        close(short.rates[0], 390.5e3, 100.0);
        close(short.rates[2], 1640.0e3, 100.0);
        close(short.losses[0], 0.012_195, 1e-6);
    }

    #[test]
    fn a_threshold_below_the_propagation_leaves_the_link_unused() {
        // e 60, RTT 120, T 50 ms: h·RTT/(β·(e − T)) = 2400 kbit/s.
        let found = solve(&[link(5e6, 0.0, f64::INFINITY)], &[flow(&[0], 0.06, 0.05)]).unwrap();
        close(found.rates[0], 2.4e6, 1.0);
        assert_eq!(found.queues, [0.0]);
    }

    #[test]
    fn least_rates_above_the_capacity_have_no_equilibrium_without_loss() {
        // 2·200 kbit/s in 300.
        let flows = vec![flow(&[0], 0.025, 0.1); 2];
        assert_eq!(solve(&[link(300e3, 0.0, f64::INFINITY)], &flows), None);
        assert!(solve(&[link(300e3, 0.0, 1.0)], &flows).unwrap().losses[0] > 0.0);
    }
}
