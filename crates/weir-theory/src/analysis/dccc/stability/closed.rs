//! Margins and encirclements of eq. (43) in closed form, without a grid of frequencies that could end too early.
//!
//! With `K = M·η`, `b = β − a` and `c = η·a` the loop is `K·e^{−jW}·(b + jW)/(jW·(c + jW))`. Its magnitude falls everywhere: it
//! is 1 at one frequency. Its phase is `−π/2 − W + atan(W/b) − atan(W/c)`. Its distance above −π is the sum of `atan(W/b) − W`
//! and `atan(c/W)`. The first is concave and 0 at 0, the second is above 0 and falls. Once the sum is below 0 it falls for ever,
//! so that each turn crosses the negative half of the real axis once. Only turns that do so before the crossover encircle −1.

use core::f64::consts::PI;

use super::Flow;
use super::margins::{Margins, bisect};

/// Greatest gain in the search for a critical gain.
const MAX_GAIN: f64 = 1e6;

impl Flow {
    fn zero(&self) -> f64 {
        self.price_scale - self.price
    }

    fn pole(&self) -> f64 {
        self.gain * self.price
    }

    /// The phase of the loop, from −90° on, in rad.
    fn phase(&self, w: f64) -> f64 {
        libm::atan2(w, self.zero()) - libm::atan2(w, self.pole()) - PI / 2.0 - w
    }

    /// The frequency at which `links` times the gain is 1: `W²` is the positive root of `u² + u·(c² − K²) − K²·b²`.
    fn crossover(&self, links: f64) -> f64 {
        let (k, b, c) = (self.gain * links, self.zero(), self.pole());
        // K is not below c, as the price is below 1.
        let half = 0.5 * (k - c) * (k + c);
        (half + libm::hypot(half, k * b)).sqrt()
    }

    /// The frequency at which the phase falls through −180°: the delay of the round trip has used up the phase lead of the zero.
    pub(super) fn phase_crossover(&self) -> f64 {
        // At `W = π` the delay takes half a turn, more than the lead of the zero, which is below a quarter turn.
        bisect(0.0, PI, |w| self.phase(w) > -PI)
    }

    pub(super) fn margins(&self, links: f64) -> Margins {
        let (crossover, phase_crossover) = (self.crossover(links), self.phase_crossover());
        Margins {
            crossover,
            phase_deg: 180.0 + self.phase(crossover).to_degrees(),
            phase_crossover,
            gain: 1.0 / (links * self.ratio(phase_crossover).norm()),
        }
    }

    /// Number of times that the loop encircles −1 clockwise over all frequencies, with the pole at 0 passed on its right.
    pub(super) fn encirclements(&self, links: f64) -> u32 {
        // Each half turn past −π, −3π and so on, and its mirror image.
        2 * ((PI - self.phase(self.crossover(links))) / (2.0 * PI)).floor() as u32
    }

    /// The gain from which on the loop is not stable, or `None` where it is stable at any gain; the pole moves with the gain.
    pub(super) fn critical_gain(&self, links: f64) -> Option<f64> {
        let stable = |gain: f64| Self { gain, ..*self }.encirclements(links) == 0;
        let mut high = 1e-3;
        while stable(high) {
            if high > MAX_GAIN {
                return None;
            }
            high *= 2.0;
        }
        Some(bisect(0.0, high, stable))
    }
}

#[cfg(test)]
mod tests {
    use super::super::margins::{encirclements, frequencies};
    use super::*;

    /// Flows with several gains, price scales and prices.
    fn flows() -> impl Iterator<Item = Flow> {
        let all = [0.01, 0.1, 0.4, 3.0].into_iter().flat_map(|gain| {
            [(0.1, 0.02), (0.1, 0.099), (1.0, 0.5), (1.0, 1e-6), (0.5, 0.01)]
                .map(|(price_scale, price)| Flow { gain, price_scale, price })
        });
        all.collect::<Vec<_>>().into_iter()
    }

    /// Compared with counts along the curve and searches on a grid.
    #[test]
    fn the_closed_form_is_what_the_curve_shows() {
        for flow in flows() {
            for links in [1.0, 2.0, 4.0, 7.0] {
                let ratio = |w: f64| flow.ratio(w) * links;
                let on_grid = encirclements(&ratio, 300.0);
                assert_eq!(flow.encirclements(links), on_grid as u32, "{flow:?} {links}");
                let (closed, seen) = (flow.margins(links), Margins::of(&ratio, 300.0).unwrap());
                for (own, other) in [
                    (closed.crossover, seen.crossover),
                    (closed.phase_crossover, seen.phase_crossover),
                    (closed.gain, seen.gain),
                    (closed.phase_deg, seen.phase_deg),
                ] {
                    assert!((own - other).abs() < 1e-5 * other.abs().max(1.0), "{flow:?} {links} {seen:?}");
                }
            }
        }
    }

    #[test]
    fn the_magnitude_falls_and_so_does_a_phase_beyond_half_a_turn() {
        for flow in flows() {
            let grid = frequencies(1e-6, 1e4, 2000);
            for pair in grid.windows(2) {
                assert!(flow.ratio(pair[1]).norm() < flow.ratio(pair[0]).norm(), "{flow:?} {pair:?}");
                let beyond = flow.phase(pair[0]) < -PI;
                assert!(!beyond || flow.phase(pair[1]) < flow.phase(pair[0]), "{flow:?} {pair:?}");
            }
        }
    }

    #[test]
    fn beyond_the_critical_gain_the_margin_is_gone_however_many_links() {
        for flow in flows() {
            for links in [1.0, 30.0, 100.0] {
                let Some(critical) = flow.critical_gain(links) else { continue };
                let margin = |gain| Flow { gain, ..flow }.margins(links).gain;
                assert!((margin(critical) - 1.0).abs() < 1e-6, "{flow:?} {links} {critical}");
                assert!(margin(0.99 * critical) > 1.0 && margin(1.01 * critical) < 1.0, "{flow:?} {links}");
            }
        }
        // Price and scale are one: `η·e^{−jW}/(jW + η)` has no magnitude of 1 but at 0.
        let flat = Flow { gain: 0.4, price_scale: 1.0, price: 1.0 - 1e-12 };
        assert_eq!(flat.critical_gain(1.0), None);
        assert!(flat.critical_gain(2.0).is_some());
    }
}
