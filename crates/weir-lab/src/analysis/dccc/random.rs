//! Networks at random that rest without loss.

use rand::{Rng, RngExt};

use super::rest::{Link, User};

/// Links without limits and flows over them.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) links: Vec<Link>,
    pub(super) users: Vec<User>,
}

impl Network {
    /// Up to so many links and flows. A flow crosses any of the links; what all keep whatever the delay fits each link, with
    /// between a fifth and three times as much beside.
    pub(super) fn draw(dice: &mut impl Rng, links: u32, users: u32) -> Self {
        let count = dice.random_range(1..=links) as usize;
        let propagation: Vec<f64> = (0..count).map(|_| dice.random_range(5..=40_u32)).map(ms).collect();
        let users: Vec<User> = (0..dice.random_range(1..=users)).map(|_| user(dice, &propagation)).collect();
        let kept = |link: usize| -> f64 {
            users.iter().filter(|user| user.route.contains(&link)).map(User::least_rate).sum()
        };
        let links = (0..count).map(|index| Link {
            capacity: kept(index).max(100e3) * dice.random_range(1.2..4.0),
            constant_traffic: 0.0,
            buffer: f64::INFINITY,
        });
        Self { links: links.collect(), users }
    }
}

fn ms(ms: u32) -> f64 {
    f64::from(ms) * 1e-3
}

fn user(dice: &mut impl Rng, propagation: &[f64]) -> User {
    let first = dice.random_range(0..propagation.len());
    let route: Vec<usize> =
        (0..propagation.len()).filter(|&link| link == first || dice.random_range(0..2) == 1).collect();
    let forward: f64 = route.iter().map(|&link| propagation[link]).sum();
    User {
        route,
        forward,
        back: forward,
        threshold: ms(dice.random_range(50..=150_u32)),
        utility_weight: f64::from(dice.random_range(10..=40_u32)) * 1e3,
        price_scale: f64::from(dice.random_range(5..=20_u32)) / 100.0,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::super::rest::rest;
    use super::*;

    #[test]
    fn every_network_rests_without_loss() {
        let mut dice = Pcg64Mcg::seed_from_u64(7);
        for _ in 0..20 {
            let Network { links, users } = Network::draw(&mut dice, 5, 8);
            assert!(links.len() <= 5 && users.len() <= 8);
            let found = rest(&links, &users).expect("it rests");
            assert!(found.residual < 1e-6, "{found:?}");
            assert!(found.losses.iter().all(|&loss| loss == 0.0));
        }
    }
}
