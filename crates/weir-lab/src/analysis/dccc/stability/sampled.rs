//! The controller as it runs: a mean over a round trip, and a rate that stands for one.
//!
//! One flow of rate `x·(1 + y)` before a queue of `q + p·RTT`. What the packets of round `n` met is known at the start of
//! round `n + 2`: their own rate, and the queue as it was in the middle of the round.
//!
//! ```text
//! y[n+2] = (1 − η·a)·y[n+1] − η·M·((β − a)·(p[n] + y[n]/2) + y[n])
//! p[n+1] = p[n] + y[n]
//! ```

use nalgebra::{Complex, Matrix3};

use super::Flow;

/// The loop gain of a sampled flow, as many times as there are `links`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) flow: Flow,
    pub(super) links: f64,
}

impl Sampled {
    /// What the rate's own excess and the queue's weigh.
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
        // Of (y[n+1], y[n], p[n]).
        let next =
            Matrix3::new(1.0 - self.flow.gain * self.flow.price, -rate, -queue, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0);
        let mut roots: Vec<Complex<f64>> = next.complex_eigenvalues().iter().copied().collect();
        roots.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
        roots
    }

    pub(super) fn is_stable(&self) -> bool {
        self.eigenvalues().first().is_some_and(|root| root.norm() < 1.0)
    }

    /// The gain `η` from which on it is not stable.
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

#[cfg(test)]
mod tests {
    use super::super::margins::Margins;
    use super::*;

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
        let margins = Margins::of(&|w| Sampled { flow: edge, ..sampled }.ratio(w), 3.14).unwrap();
        assert!((margins.gain - 1.0).abs() < 1e-6 && margins.phase_deg.abs() < 1e-4, "{margins:?}");
    }
}
