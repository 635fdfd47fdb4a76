//! The inequalities of appendix A, at one state.
//!
//! | symbol | quantity |
//! |---|---|
//! | `x` | rate of a flow |
//! | `q` | queue of a link, in s |
//! | `y` | rate that arrives at a link |
//! | `c` | capacity of a link |
//! | `e` | queuing delay on a flow's route |
//! | `v` | price of the delay to a flow |
//! | `α` | sensitivity of prices to delay, by default the greatest of any flow |
//! | `δ` | deviation from the equilibrium |
//! | `ˆ` | value at the equilibrium |

use super::{State, System};

/// Name and statement of each inequality.
pub(super) const NAMES: [(&str, &str); 8] = [
    (
        "eq45b",
        "dV_user/dt, by differences along the motion, is at most δx·(U' − v − de/dt − (U' − v) at rest)/α",
    ),
    ("eq45d", "the delay in place of the price: Σ δx·δe is at most Σ δx·δv/α"),
    ("eq46", "the price deviates by at most α times the delay's deviation, in magnitude"),
    ("w-user", "W_user is not below 0: δx·(U'(x) − U'(x̂)) is at most 0"),
    ("eq47b", "projection of the queues: δq·(y − c)⁺ is at most δq·(y − c), with (y − c)⁺ = c·dq/dt"),
    ("eq48", "(c − ŷ)·dq/dt is at most δy·dq/dt"),
    ("w-link", "W_link is not below 0: δq·(ŷ − c) is at most 0"),
    ("lyapunov", "V_user + V_link does not rise"),
];

/// Step of the difference quotient of `V_user`, in s: small against a round-trip time.
const DIFFERENCE_STEP_S: f64 = 1e-6;

/// The greatest of the values, for inequalities that apply to each flow or link.
fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

impl System {
    /// The excess of each inequality of [`NAMES`], in that order; a positive one is a violation.
    pub(super) fn excesses(&self, state: &State) -> [f64; 8] {
        let growth = self.growth(state);
        let rate_imbalance = self.rate_imbalance(state, &growth);
        let (arriving, arriving_at_rest) = (self.arriving(state), self.arriving(&self.rest));
        let spare = self.spare();
        let users = 0..self.users.len();
        let links = 0..self.links.len();
        let dx = |r: usize| state.rates[r] - self.rest.rates[r];
        let dq = |l: usize| state.queues[l] - self.rest.queues[l];
        let price = |r: usize, of: &State| self.users[r].delay_price(self.users[r].delay(&of.queues));
        let dv = |r: usize| price(r, state) - price(r, &self.rest);
        let de = |r: usize| self.users[r].delay(&state.queues) - self.users[r].delay(&self.rest.queues);
        let marginal = |r: usize, of: &State| self.users[r].utility_weight / of.rates[r];
        let utility_change = |r: usize| marginal(r, state) - marginal(r, &self.rest);
        let overload = |l: usize| arriving[l] - self.links[l].capacity;
        let projected_overload = |l: usize| self.links[l].capacity * growth[l];
        let supply_bound = |r: usize| {
            let route = self.users[r].route.iter();
            dx(r) * (utility_change(r) - dv(r) - route.map(|&l| growth[l]).sum::<f64>())
        };
        let sum_users = |of: &dyn Fn(usize) -> f64| users.clone().map(of).sum::<f64>();
        let sum_links = |of: &dyn Fn(usize) -> f64| links.clone().map(of).sum::<f64>();
        // At rest the price is the marginal utility.
        let lyapunov = sum_users(&|r| dx(r) * rate_imbalance[r]) / self.alpha
            + sum_links(&|l| dq(l) * projected_overload(l) + spare[l] * growth[l] / self.alpha);
        [
            self.user_excess(state, sum_users(&supply_bound), sum_users(&|r| supply_bound(r).abs())),
            sum_users(&|r| dx(r) * (de(r) - dv(r) / self.alpha)),
            greatest(users.clone().map(|r| dv(r).abs() - self.alpha * de(r).abs())),
            greatest(users.clone().map(|r| dx(r) * utility_change(r))),
            greatest(links.clone().map(|l| dq(l) * (projected_overload(l) - overload(l)))),
            sum_links(&|l| (spare[l] - (arriving[l] - arriving_at_rest[l])) * growth[l]),
            greatest(links.clone().map(|l| -dq(l) * spare[l])),
            lyapunov,
        ]
    }

    /// The excess of `α·dV_user/dt` above `bound`, over `scale`. `V_user` is eq. (28) itself, evaluated a step later and a
    /// step before.
    fn user_excess(&self, state: &State, bound: f64, scale: f64) -> f64 {
        let velocity = self.velocity(state);
        let storage = |after: f64| self.storage(&state.moved(&velocity, after)).0;
        let change = (storage(DIFFERENCE_STEP_S) - storage(-DIFFERENCE_STEP_S)) / (2.0 * DIFFERENCE_STEP_S);
        (self.alpha * change - bound) / scale.max(f64::MIN_POSITIVE)
    }
}
