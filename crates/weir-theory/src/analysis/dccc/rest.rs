//! The equilibrium of DCCC's flows: eqs (2), (4), (15) and (16) with all derivatives zero, on any routes.
//!
//! A link is described by one number: its queue, and once that is full, the excess of arriving over leaving data. With all else
//! given, the arriving rate falls in that number, so that bisection finds it; the links take turns. Without loss this is
//! coordinate descent on a convex function, as a flow's rate falls with the sum of the queues on its path.

/// A link in bit/s and s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// `c`, above 0.
    pub capacity: f64,
    /// `u`, traffic that does not respond to congestion.
    pub constant_traffic: f64,
    /// `q_max`, the longest queue; infinite for none.
    pub buffer: f64,
}

/// A flow in bit/s and s.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// Its links, by index.
    pub route: Vec<usize>,
    /// The base one-way delay of the forward path.
    pub forward: f64,
    /// `e_b`, one-way delay of the return path.
    pub back: f64,
    /// `T`.
    pub threshold: f64,
    /// `h`.
    pub utility_weight: f64,
    /// `β`.
    pub price_scale: f64,
}

/// An equilibrium: the state in which all derivatives are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    /// `x`, of each flow, in bit/s.
    pub rates: Vec<f64>,
    /// `q`, of each link, in s.
    pub queues: Vec<f64>,
    /// `π/(1 − π)` of each link: the lost over the carried rate.
    pub losses: Vec<f64>,
    /// The greatest imbalance of arriving and leaving rate at a link with a queue, over its capacity.
    pub residual: f64,
}

/// Longest queue without a limit, in s: beyond it there is no equilibrium.
const LONGEST: f64 = 1e4;
/// Highest ratio of the lost to the carried rate of a link.
const MOST_LOST: f64 = 1e6;
const TURNS: usize = 20_000;
/// Upper limit of the evaluations, each of a flow over a link in a link's turn: some seconds.
const WORK: usize = 20_000_000;
const HALVINGS: usize = 80;
/// Convergence limit: a turn that moves no link by more than this, in s, is the last.
const MOVED: f64 = 1e-13;

impl User {
    /// `e` with these queues of the links.
    pub fn delay(&self, queues: &[f64]) -> f64 {
        self.forward + self.route.iter().map(|&link| queues[link]).sum::<f64>()
    }

    /// `v(e)`. Eq. (16).
    pub fn delay_price(&self, delay: f64) -> f64 {
        self.price_scale * (delay - self.threshold).max(0.0) / (delay + self.back)
    }

    /// `h/β`, the rate that the delay price alone never goes below. Eq. (19).
    pub fn least_rate(&self) -> f64 {
        self.utility_weight / self.price_scale
    }

    /// The rate at which the marginal utility equals the price.
    fn rate(&self, pressures: &[Pressure]) -> f64 {
        let of = |value: fn(&Pressure) -> f64| self.route.iter().map(|&link| value(&pressures[link])).sum();
        let (queued, lost): (f64, f64) = (of(|own| own.queue), of(|own| own.loss));
        self.utility_weight / (self.delay_price(self.forward + queued) + lost)
    }
}

/// The queue and the loss that a link imposes on its flows.
#[derive(Clone, Copy, Debug, Default)]
struct Pressure {
    queue: f64,
    loss: f64,
}

impl Link {
    fn pressure(&self, level: f64) -> Pressure {
        // One level describes both: a queue up to `q_max`, and beyond it the loss `π/(1 − π)`.
        Pressure { queue: level.min(self.buffer), loss: (level - self.buffer).max(0.0) }
    }
}

/// The equilibrium of `users` over `links`. The result is `None` where an unlimited queue grows for ever, because the rates that
/// flows keep at any delay exceed the capacity.
pub fn rest(links: &[Link], users: &[User]) -> Option<Rest> {
    let mut pressures = vec![Pressure::default(); links.len()];
    let mut levels = vec![0.0; links.len()];
    let most_turns = TURNS.min(WORK / (links.len() * links.len() * users.len()).max(1)).max(1);
    for _ in 0..most_turns {
        let mut moved: f64 = 0.0;
        // Coordinate descent: each link in turn is balanced, with all others as they are.
        for (index, link) in links.iter().enumerate() {
            let level = balance(index, link, users, &mut pressures)?;
            moved = moved.max((level - levels[index]).abs());
            levels[index] = level;
        }
        if moved < MOVED {
            break;
        }
    }
    let residuals = links.iter().enumerate().filter(|&(index, _)| levels[index] > 0.0);
    let residuals =
        residuals.map(|(index, link)| excess(index, link, users, &pressures).abs() / link.capacity);
    Some(Rest {
        rates: users.iter().map(|user| user.rate(&pressures)).collect(),
        queues: pressures.iter().map(|own| own.queue).collect(),
        losses: pressures.iter().map(|own| own.loss).collect(),
        residual: residuals.fold(0.0, f64::max),
    })
}

/// The rate that arrives at a link less the rates that it carries and loses, in bit/s.
fn excess(index: usize, link: &Link, users: &[User], pressures: &[Pressure]) -> f64 {
    let crossing = users.iter().filter(|user| user.route.contains(&index));
    let arriving = crossing.map(|user| user.rate(pressures)).sum::<f64>() + link.constant_traffic;
    arriving - link.capacity * (1.0 + pressures[index].loss)
}

/// The level at which the link is in balance with the others as they are; it is also set in `pressures`.
fn balance(index: usize, link: &Link, users: &[User], pressures: &mut [Pressure]) -> Option<f64> {
    let overfull = |level: f64, pressures: &mut [Pressure]| {
        pressures[index] = link.pressure(level);
        excess(index, link, users, pressures) > 0.0
    };
    if !overfull(0.0, pressures) {
        return Some(0.0);
    }
    let most = if link.buffer.is_finite() { link.buffer + MOST_LOST } else { LONGEST };
    // The excess falls in the level, so that doubling finds an upper bound and bisection the root.
    let mut high = 1e-3_f64.min(most);
    while overfull(high, pressures) {
        if high >= most {
            return None;
        }
        high = (2.0 * high).min(most);
    }
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if overfull(middle, pressures) { low = middle } else { high = middle }
    }
    pressures[index] = link.pressure(high);
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(capacity: f64, constant_traffic: f64, buffer: f64) -> Link {
        Link { capacity, constant_traffic, buffer }
    }

    fn user(route: &[usize], propagation: f64, threshold: f64) -> User {
        User {
            route: route.to_vec(),
            forward: propagation,
            back: propagation,
            threshold,
            utility_weight: 20e3,
            price_scale: 0.1,
        }
    }

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn one_flow_waits_as_long_as_equation_18_says() {
        // ρ = 200/x; e = (e_b·ρ + T)/(1 − ρ).
        for (capacity, propagation, threshold, delay) in [
            (0.5e6, 0.025, 0.05, 0.100),
            (1e6, 0.025, 0.1, 0.131_25),
            (1e6, 0.1, 0.15, 0.212_5),
            (2e6, 0.05, 0.1, 0.116_666_7),
        ] {
            let found =
                rest(&[link(capacity, 0.0, f64::INFINITY)], &[user(&[0], propagation, threshold)]).unwrap();
            close(found.queues[0] + propagation, delay, 1e-6);
            close(found.rates[0], capacity, 1.0);
            assert!(found.residual < 1e-9);
        }
    }

    #[test]
    fn a_short_queue_is_shared_by_loss() {
        // N·x² + (u − c)·x − h·c = 0: 1523.0 and 1022.8 kbit/s of 3500 beside 500; x/h of the carried rate is lost.
        for (flows, rate) in [(1, 3023.2e3), (2, 1523.0e3), (3, 1022.8e3)] {
            let users = vec![user(&[0], 0.025, 0.1); flows];
            let found = rest(&[link(3.5e6, 500e3, 0.0625)], &users).unwrap();
            close(found.rates[0], rate, 100.0);
            close(found.losses[0], 20e3 / rate, 1e-5);
            close(found.queues[0], 0.0625, 1e-12);
        }
    }

    #[test]
    fn unequal_propagation_is_fair_as_far_as_worked_out() {
        // [30 50 70 90] ms, half a second of buffer: Jain's index by capacity.
        for (capacity, jain, least) in [(2e6, 0.998, 0.95), (4e6, 0.893, 0.68), (6e6, 0.714, 0.50)] {
            let users = [0.03, 0.05, 0.07, 0.09].map(|propagation| user(&[0], propagation, 0.1));
            let rates = rest(&[link(capacity, 0.0, 0.5)], &users).unwrap().rates;
            let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|x| x * x).sum());
            close(sum * sum / (4.0 * squares), jain, 1e-3);
            close(rates[3] / (sum / 4.0), least, 0.01);
        }
    }

    #[test]
    fn a_parking_lot_rests_as_worked_out() {
        // Two links of 2.5 Mbit/s beside 500 kbit/s: 0.42, 1.58, 1.58 Mbit/s and 93 ms each. With 52.5 ms of buffer
        // g = 20/1640 = 0.0122, v = 0.1·55/205 = 0.0268: 20/(v + 2·g) = 390.5, and 390.5 + 1640 = 2500·(1 + g) − 500.
        let users = [user(&[0, 1], 0.05, 0.1), user(&[0], 0.025, 0.1), user(&[1], 0.025, 0.1)];
        let lot = |buffer| rest(&[link(2.5e6, 500e3, buffer); 2], &users).unwrap();
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
        let found = rest(&[link(5e6, 0.0, f64::INFINITY)], &[user(&[0], 0.06, 0.05)]).unwrap();
        close(found.rates[0], 2.4e6, 1.0);
        assert_eq!(found.queues, [0.0]);
    }

    #[test]
    fn where_the_least_rates_do_not_fit_nothing_rests_without_loss() {
        // 2·200 kbit/s in 300.
        let users = vec![user(&[0], 0.025, 0.1); 2];
        assert_eq!(rest(&[link(300e3, 0.0, f64::INFINITY)], &users), None);
        assert!(rest(&[link(300e3, 0.0, 1.0)], &users).unwrap().losses[0] > 0.0);
    }
}
