//! The equilibrium as the optimum of a convex problem, by a solver that is independent of the controller.
//!
//! Let `b = h/β`. Without loss, a flow that sends `x` bears the queues `q(x) = T − p + b·(e_b + T)/(x − b)` on its path. That is
//! the derivative of `(T − p)·x + b·(e_b + T)·ln(x − b)`. The rates at rest maximise the sum of that over all flows within the
//! capacities, eq. (11), and the queues are the multipliers, eq. (14). Where loss alone has a price, they maximise `Σ h·ln x`
//! less a penalty of `(y − c)²/(2·c)` for each link, eq. (12).

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, SolverStatus,
    SupportedConeT,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::random::{Network, RandomNetworks};
use super::solver::{Equilibrium, Link, RoutedFlow};
use crate::analysis::entry::Analysis;
use weir_form::Problem;

/// The optimum beside the equilibrium, on random networks.
pub(in crate::analysis) struct Optimum;

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// Networks compared.
    networks: u32,
    /// Problems that the convex solver did not solve.
    unsolved: u32,
    /// Unlimited queues: delay alone has a price. Eqs (11) and (14).
    delay: OptimumDifferences,
    /// No queues: loss alone has a price. Eq. (12).
    loss: OptimumDifferences,
}

#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "they are keys of the results")]
struct OptimumDifferences {
    /// The greatest difference of a rate at the optimum from that at rest, over that at rest.
    largest_rate_difference: f64,
    /// The greatest difference of a multiplier from the price of the link at rest: its queue in s, or its lost over its carried
    /// rate.
    largest_price_difference: f64,
    /// The greatest difference of a rate, for each network.
    rate_difference: Vec<f64>,
}

impl Analysis for Optimum {
    type Parameters = RandomNetworks;
    type Results = Results;

    const NAME: &'static str = "dccc-optimum";
    const SUMMARY: &'static str =
        "The optimum of network utility by a convex solver, beside DCCC's equilibrium";
    const SOURCE: &'static str = "dccc-2017 eqs (11) to (14)";

    fn run(parameters: &RandomNetworks) -> Result<Results, Problem> {
        parameters.check(STATES_PER_PROBLEM, "problems", "")?;
        let mut rng = parameters.rng();
        let (mut delay, mut loss) = (Vec::new(), Vec::new());
        for _ in 0..parameters.networks {
            let (network, found) = parameters.draw_with_equilibrium(&mut rng)?;
            delay.push(compared(&network, &found, by_delay));
            let short = without_queues(network);
            let found = short.equilibrium()?;
            loss.push(compared(&short, &found, by_loss));
        }
        let unsolved = delay.iter().chain(&loss).filter(|difference| difference.is_none()).count();
        Ok(Results {
            networks: parameters.networks,
            unsolved: unsolved as u32,
            delay: OptimumDifferences::of(&delay),
            loss: OptimumDifferences::of(&loss),
        })
    }
}

/// Cost of solving a network, as a number of states of the network.
const STATES_PER_PROBLEM: f64 = 2000.0;

/// The greatest differences of rates and of prices in one network.
type Difference = (f64, f64);

impl OptimumDifferences {
    fn of(networks: &[Option<Difference>]) -> Self {
        let solved = || networks.iter().flatten();
        Self {
            largest_rate_difference: solved().map(|own| own.0).fold(0.0, f64::max),
            largest_price_difference: solved().map(|own| own.1).fold(0.0, f64::max),
            rate_difference: solved().map(|own| own.0).collect(),
        }
    }
}

/// The network without queues, where delay has no price.
fn without_queues(network: Network) -> Network {
    let links = network.links.into_iter().map(|link| Link { buffer: 1e-9, ..link });
    let users = network.users.into_iter().map(|user| RoutedFlow { threshold: 1e3, ..user });
    Network { links: links.collect(), users: users.collect() }
}

fn compared(
    network: &Network,
    found: &Equilibrium,
    solve: fn(&Network) -> Option<Optimal>,
) -> Option<Difference> {
    let optimal = solve(network)?;
    let rates = optimal.rates.iter().zip(&found.rates).map(|(own, rest)| (own / rest - 1.0).abs());
    let by_loss = found.losses.iter().any(|&loss| loss > 0.0);
    let prices = if by_loss { &found.losses } else { &found.queues };
    let prices = optimal.prices.iter().zip(prices).map(|(own, rest)| (own - rest).abs());
    Some((rates.fold(0.0, f64::max), prices.fold(0.0, f64::max)))
}

/// A solution of the convex solver.
struct Optimal {
    /// Rates of the users, in bit/s.
    rates: Vec<f64>,
    /// The multiplier of each link's constraint.
    prices: Vec<f64>,
}

/// Unit of rates in the solver, in bit/s.
const RATE_UNIT: f64 = 1e6;

/// Rows of `A·v + s = b` with `s` in the cones.
#[derive(Default)]
struct ConstraintRows {
    row: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    right: Vec<f64>,
}

impl ConstraintRows {
    /// Adds a row whose slack is `right − Σ value·v[column]`.
    fn add(&mut self, terms: &[(usize, f64)], right: f64) {
        for &(column, value) in terms {
            self.row.push(self.right.len());
            self.columns.push(column);
            self.values.push(value);
        }
        self.right.push(right);
    }
}

/// Maximises `Σ (T − p)·x + b·(e_b + T)·t` with `t ≤ ln(x − b)` within the capacities. Variables are `x`, then `t`.
fn by_delay(network: &Network) -> Option<Optimal> {
    let Network { links, users } = network;
    let count = users.len();
    let mut rows = ConstraintRows::default();
    for (index, link) in links.iter().enumerate() {
        let crossing = users.iter().enumerate().filter(|(_, user)| user.route.contains(&index));
        let terms: Vec<(usize, f64)> = crossing.map(|(user, _)| (user, 1.0)).collect();
        rows.add(&terms, link.capacity / RATE_UNIT);
    }
    logarithms(&mut rows, users, |user| user.least_rate() / RATE_UNIT);
    let weight = |user: &RoutedFlow| user.least_rate() / RATE_UNIT * (user.back + user.threshold);
    let linear = users.iter().map(|user| user.forward - user.threshold);
    // The solver minimises, so that the objective has the opposite sign.
    let costs: Vec<f64> = linear.chain(users.iter().map(|user| -weight(user))).collect();
    solve(&CscMatrix::zeros((2 * count, 2 * count)), &costs, &rows, links.len(), count)
}

/// Maximises `Σ h·t − Σ s²/(2·c)` with `t ≤ ln x` and `s ≥ y − c`, `s ≥ 0`. Variables are `x`, then `t`, then `s`.
fn by_loss(network: &Network) -> Option<Optimal> {
    let Network { links, users } = network;
    let count = users.len();
    let slack = |index: usize| 2 * count + index;
    let mut rows = ConstraintRows::default();
    for (index, link) in links.iter().enumerate() {
        let crossing = users.iter().enumerate().filter(|(_, user)| user.route.contains(&index));
        let terms = crossing.map(|(user, _)| (user, 1.0)).chain([(slack(index), -1.0)]);
        rows.add(&terms.collect::<Vec<_>>(), link.capacity / RATE_UNIT);
    }
    for index in 0..links.len() {
        // `s ≥ 0`: only an overload is penalised.
        rows.add(&[(slack(index), -1.0)], 0.0);
    }
    logarithms(&mut rows, users, |_| 0.0);
    let variables = slack(links.len());
    let costs: Vec<f64> = std::iter::repeat_n(0.0, count)
        .chain(users.iter().map(|user| -user.utility_weight / RATE_UNIT))
        .chain(std::iter::repeat_n(0.0, links.len()))
        .collect();
    let places: Vec<usize> = (0..links.len()).map(slack).collect();
    let squares = links.iter().map(|link| RATE_UNIT / link.capacity).collect();
    let squared = CscMatrix::new_from_triplets(variables, variables, places.clone(), places, squares);
    solve(&squared, &costs, &rows, 2 * links.len(), count)
}

/// The constraints `t ≤ ln(x − least)` of all flows: `(t, 1, x − least)` is in the exponential cone.
fn logarithms(rows: &mut ConstraintRows, users: &[RoutedFlow], least: impl Fn(&RoutedFlow) -> f64) {
    for (index, user) in users.iter().enumerate() {
        rows.add(&[(users.len() + index, -1.0)], 0.0);
        rows.add(&[], 1.0);
        rows.add(&[(index, -1.0)], -least(user));
    }
}

/// Solves the problem. The first of the `bounds` non-negative slacks are those of the links.
fn solve(
    squared: &CscMatrix<f64>,
    costs: &[f64],
    rows: &ConstraintRows,
    bounds: usize,
    users: usize,
) -> Option<Optimal> {
    let shape = (rows.right.len(), costs.len());
    let constraints = CscMatrix::new_from_triplets(
        shape.0,
        shape.1,
        rows.row.clone(),
        rows.columns.clone(),
        rows.values.clone(),
    );
    let mut cones: Vec<SupportedConeT<f64>> = vec![NonnegativeConeT(bounds)];
    cones.extend(std::iter::repeat_n(ExponentialConeT(), users));
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-11,
        tol_gap_rel: 1e-11,
        tol_feas: 1e-11,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(squared, costs, &constraints, &rows.right, &cones, settings).ok()?;
    solver.solve();
    let solved = matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
    solved.then(|| Optimal {
        rates: solver.solution.x[..users].iter().map(|rate| RATE_UNIT * rate).collect(),
        // The duals of the capacity constraints are the prices of the links.
        prices: solver.solution.z[..bounds].to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two equal flows over one link.
    fn one_link(capacity: f64, buffer: f64) -> Network {
        let user = RoutedFlow {
            route: vec![0],
            forward: 0.025,
            back: 0.025,
            threshold: 0.1,
            utility_weight: 20e3,
            price_scale: 0.1,
        };
        Network { links: vec![Link { capacity, constant_traffic: 0.0, buffer }], users: vec![user; 2] }
    }

    #[test]
    fn the_multiplier_of_one_link_is_its_queue() {
        // 750 kbit/s each: ρ = 4/15; (25·ρ + 100)/(1 − ρ) = 145.4545 ms, 120.4545 of it queue.
        let optimal = by_delay(&one_link(1.5e6, f64::INFINITY)).unwrap();
        assert!((optimal.prices[0] - 0.120_454_5).abs() < 1e-6, "{:?}", optimal.prices);
        assert!(optimal.rates.iter().all(|rate| (rate - 750e3).abs() < 1.0), "{:?}", optimal.rates);
    }

    #[test]
    fn the_penalty_of_one_link_is_its_loss() {
        // 2·x² − 3000·x − 20·3000 = 0: 1519.7402 kbit/s; g = 20/x.
        let optimal = by_loss(&without_queues(one_link(3e6, 1.0))).unwrap();
        assert!((optimal.rates[0] - 1_519_740.2).abs() < 10.0, "{:?}", optimal.rates);
        assert!((optimal.prices[0] - 20.0 / 1_519.740_2).abs() < 1e-6, "{:?}", optimal.prices);
    }

    #[test]
    fn optimum_and_rest_are_the_same_on_random_networks() {
        let results = Optimum::run(&RandomNetworks::default()).unwrap();
        assert_eq!(results.unsolved, 0);
        for compared in [&results.delay, &results.loss] {
            assert!(compared.largest_rate_difference < 1e-4, "{compared:?}");
            assert!(compared.largest_price_difference < 1e-4, "{compared:?}");
        }
    }
}
