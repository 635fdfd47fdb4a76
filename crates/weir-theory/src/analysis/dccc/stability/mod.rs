//! Stability of DCCC's loop: the return ratio of dccc-2017 eq. (43), and that of the sampled controller.

mod closed;
mod margins;
mod sampled;

mod analysis;
mod hull;

pub(in crate::analysis) use analysis::DcccLoop;

use num_complex::Complex;

/// A flow at equilibrium, in units of its round trip: frequencies are `W = ω·RTT`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Flow {
    /// `η = k_r·RTT`.
    gain: f64,
    /// `β`.
    price_scale: f64,
    /// `a = h/x`, the price at rest; below `β`.
    price: f64,
}

impl Flow {
    /// `G(jW) = η·e^{−jW}/(jW)·(β − a + jW)/(jW + η·a)`. Eq. (43).
    fn ratio(&self, w: f64) -> Complex<f64> {
        let delay = Complex::new(libm::cos(w), -libm::sin(w));
        let s = Complex::new(0.0, w);
        delay * self.gain / s * (s + (self.price_scale - self.price)) / (s + self.gain * self.price)
    }
}
