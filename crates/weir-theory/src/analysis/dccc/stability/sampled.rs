//! Stability of the sampled controller: it measures means over a round trip, and its rate holds for one.
//!
//! The model has one flow of rate `x·(1 + y)` before a queue of `q + p·RTT`. The measurements of round `n` are known
//! at the start of round `n + 2`. They are the packets' own rate, and the queue as it was in the middle of the round.
//!
//! ```text
//! y[n+2] = (1 − η·a)·y[n+1] − η·M·((β − a)·(p[n] + y[n]/2) + y[n])
//! p[n+1] = p[n] + y[n]
//! ```

use num_complex::Complex;

use super::Flow;
use super::margins::bisect;

/// The loop gain of a sampled flow, multiplied by `links`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) flow: Flow,
    pub(super) links: f64,
}

impl Sampled {
    /// The weights of the flow's own rate and of the queue in its next rate.
    fn weights(&self) -> (f64, f64) {
        let Flow { gain, price_scale, price } = self.flow;
        let queue = gain * self.links * (price_scale - price);
        (gain * self.links + queue / 2.0, queue)
    }

    /// The open loop at `z = e^{jW}`.
    pub(super) fn ratio(&self, w: f64) -> Complex<f64> {
        let (rate, queue) = self.weights();
        let z = Complex::new(libm::cos(w), libm::sin(w));
        // e^{jW} − 1 without cancellation.
        let half = libm::sin(w / 2.0);
        let less_one = Complex::new(-2.0 * half * half, libm::sin(w));
        (Complex::new(queue, 0.0) / less_one + rate) / (z * (less_one + self.flow.gain * self.flow.price))
    }

    /// Roots of the closed loop, the largest first.
    pub(super) fn eigenvalues(&self) -> Vec<Complex<f64>> {
        let (rate, queue) = self.weights();
        let keep = 1.0 - self.flow.gain * self.flow.price;
        // (z² − keep·z + rate)·(z − 1) + queue.
        let mut roots = cubic_roots([queue - rate, keep + rate, -1.0 - keep]);
        roots.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
        roots.to_vec()
    }

    pub(super) fn is_stable(&self) -> bool {
        self.eigenvalues().first().is_some_and(|root| root.norm() < 1.0)
    }

    /// The gain `η` from which on the loop is unstable.
    pub(super) fn critical_gain(&self) -> f64 {
        let stable = |gain| Self { flow: Flow { gain, ..self.flow }, ..*self }.is_stable();
        let (mut low, mut high) = (0.0, 4.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if stable(middle) { low = middle } else { high = middle }
        }
        high
    }
}

/// The roots of `z³ + a2·z² + a1·z + a0`: a real one by bisection, the others from the remaining quadratic.
fn cubic_roots([a0, a1, a2]: [f64; 3]) -> [Complex<f64>; 3] {
    // No root has a larger modulus, so that the real one lies between the negative and the positive bound.
    let most = 1.0 + a0.abs().max(a1.abs()).max(a2.abs());
    let real = bisect(-most, most, |z| ((z + a2) * z + a1) * z + a0 < 0.0);
    let (half, product) = (-0.5 * (real + a2), (real + a2) * real + a1);
    let square = half * half - product;
    let root = square.abs().sqrt();
    let others = if square < 0.0 {
        [Complex::new(half, root), Complex::new(half, -root)]
    } else {
        // The root of larger magnitude first: the other one would lose digits to cancellation.
        let larger = half + root.copysign(half);
        let smaller = if larger == 0.0 { 0.0 } else { product / larger };
        [Complex::new(larger, 0.0), Complex::new(smaller, 0.0)]
    };
    [Complex::new(real, 0.0), others[0], others[1]]
}

#[cfg(test)]
mod tests {
    use super::super::margins::Margins;
    use super::*;

    #[test]
    fn the_roots_of_a_cubic_are_those_it_is_made_of() {
        // (z + 2)(z − 0.5)(z − 3), (z − 0.9)(z² − z + 0.5), z³.
        for (cubic, moduli) in [
            ([3.0, -5.5, -1.5], [3.0, 2.0, 0.5]),
            ([-0.45, 1.4, -1.9], [0.9, 0.5_f64.sqrt(), 0.5_f64.sqrt()]),
            ([0.0, 0.0, 0.0], [0.0; 3]),
        ] {
            let mut found = cubic_roots(cubic).map(Complex::norm);
            found.sort_by(|a, b| b.total_cmp(a));
            assert!(found.iter().zip(moduli).all(|(own, other)| (own - other).abs() < 1e-12), "{found:?}");
        }
    }

    fn at(kbps: f64) -> Sampled {
        Sampled { flow: Flow { gain: 0.4, price_scale: 0.1, price: 20.0 / kbps }, links: 1.0 }
    }

    #[test]
    fn roots_are_those_worked_out() {
        for (kbps, slow, fast) in [(500.0, 0.934, 0.644), (1000.0, 0.905, 0.651), (2500.0, 0.885, 0.657)] {
            let roots = at(kbps).eigenvalues();
            assert!((roots[0].norm() - slow).abs() < 1e-3 && roots[0].im == 0.0, "{roots:?}");
            assert!((roots[1].norm() - fast).abs() < 1e-3 && roots[1].im != 0.0, "{roots:?}");
        }
    }

    #[test]
    fn the_critical_gain_is_that_worked_out() {
        for (kbps, critical) in [(500.0, 0.970), (1000.0, 0.957), (2500.0, 0.948)] {
            assert!((at(kbps).critical_gain() - critical).abs() < 1e-3, "{}", at(kbps).critical_gain());
        }
    }

    #[test]
    fn the_open_loop_and_the_roots_agree_on_where_it_breaks() {
        let sampled = at(1000.0);
        let edge = Flow { gain: sampled.critical_gain(), ..sampled.flow };
        let margins =
            Margins::of(&|w| Sampled { flow: edge, ..sampled }.ratio(w), core::f64::consts::PI).unwrap();
        assert!((margins.gain - 1.0).abs() < 1e-6 && margins.phase_deg.abs() < 1e-4, "{margins:?}");
    }
}
