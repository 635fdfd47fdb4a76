//! Random networks that have an equilibrium without loss.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::solver::{Equilibrium, Link, RoutedFlow, solve};
use crate::analysis::range::{affordable, refused};
use weir_form::Problem;

/// The random networks to draw.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(in crate::analysis) struct RandomNetworks {
    /// Number of networks.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) networks: u32,
    /// The most links of a network.
    #[schemars(range(min = 1, max = 20))]
    pub(super) links: u32,
    /// The most flows of a network.
    #[schemars(range(min = 1, max = 50))]
    pub(super) users: u32,
    /// Seed of the random draws.
    pub(super) seed: u64,
}

impl Default for RandomNetworks {
    fn default() -> Self {
        Self { networks: 10, links: 5, users: 8, seed: 1 }
    }
}

/// Greatest number of states of a flow over a link, which take some ten seconds.
const MAX_STATES: f64 = 3e8;

impl RandomNetworks {
    /// Checks that `states` per network are affordable. `named` describes the states; `less` names the parameter to
    /// reduce besides the number of networks.
    pub(crate) fn check(&self, states: f64, named: &str, less: &str) -> Result<(), Problem> {
        let all = states * f64::from(self.networks) * f64::from(self.links) * f64::from(self.users);
        let less = format!("{less}`networks`, `links` or `users`");
        affordable("networks", all, MAX_STATES, &format!("{named} of all flows over all links"), &less)
    }

    pub(super) fn rng(&self) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(self.seed)
    }

    /// The next random network, and its equilibrium.
    pub(super) fn draw_with_equilibrium(
        &self,
        rng: &mut impl Rng,
    ) -> Result<(Network, Equilibrium), Problem> {
        let network = Network::draw(rng, self.links, self.users);
        let found = network.equilibrium()?;
        Ok((network, found))
    }
}

/// Links without limits and flows over them.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) links: Vec<Link>,
    pub(super) users: Vec<RoutedFlow>,
}

impl Network {
    /// Draws up to `links` links and `users` flows. A flow crosses any of the links. Each link has more capacity than its flows
    /// keep at any delay, by between a fifth and three times as much.
    pub(super) fn draw(rng: &mut impl Rng, links: u32, users: u32) -> Self {
        let count = rng.random_range(1..=links) as usize;
        let propagation: Vec<f64> = (0..count).map(|_| rng.random_range(5..=40_u32)).map(ms).collect();
        let users: Vec<RoutedFlow> =
            (0..rng.random_range(1..=users)).map(|_| user(rng, &propagation)).collect();
        let kept = |link: usize| -> f64 {
            users.iter().filter(|user| user.route.contains(&link)).map(RoutedFlow::least_rate).sum()
        };
        let links = (0..count).map(|index| Link {
            capacity: kept(index).max(100e3) * rng.random_range(1.2..4.0),
            constant_traffic: 0.0,
            buffer: f64::INFINITY,
        });
        Self { links: links.collect(), users }
    }

    pub(super) fn equilibrium(&self) -> Result<Equilibrium, Problem> {
        let found = solve(&self.links, &self.users);
        found.ok_or_else(|| refused("seed", "another seed: a network does not rest"))
    }
}

fn ms(ms: u32) -> f64 {
    f64::from(ms) * 1e-3
}

fn user(rng: &mut impl Rng, propagation: &[f64]) -> RoutedFlow {
    let first = rng.random_range(0..propagation.len());
    let route: Vec<usize> =
        (0..propagation.len()).filter(|&link| link == first || rng.random_range(0..2) == 1).collect();
    let forward: f64 = route.iter().map(|&link| propagation[link]).sum();
    RoutedFlow {
        route,
        forward,
        back: forward,
        threshold: ms(rng.random_range(50..=150_u32)),
        utility_weight: f64::from(rng.random_range(10..=40_u32)) * 1e3,
        price_scale: f64::from(rng.random_range(5..=20_u32)) / 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_rests_without_loss() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        for (networks, most_links, most_users) in [(20, 5, 8), (1, 20, 50)] {
            for _ in 0..networks {
                let Network { links, users } = Network::draw(&mut rng, most_links, most_users);
                assert!(links.len() <= most_links as usize && users.len() <= most_users as usize);
                let found = solve(&links, &users).expect("it rests");
                assert!(found.residual < 1e-6, "{found:?}");
                assert!(found.losses.iter().all(|&loss| loss == 0.0));
            }
        }
    }
}
