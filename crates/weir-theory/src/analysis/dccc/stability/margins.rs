//! Gain and phase margins of a return ratio with one integrator.

use core::f64::consts::PI;

use num_complex::Complex;

/// A return ratio on the imaginary axis or on the unit circle, by frequency per round trip.
pub(super) type ReturnRatio<'a> = &'a dyn Fn(f64) -> Complex<f64>;

/// Stability margins of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Margins {
    /// Frequency at which the magnitude falls through 1 for the last time.
    pub(super) crossover: f64,
    /// Phase above −180° at that frequency, in degrees.
    pub(super) phase_deg: f64,
    /// Frequency at which the phase falls through −180° for the first time.
    pub(super) phase_crossover: f64,
    /// Gain margin: the reciprocal of the magnitude there.
    pub(super) gain: f64,
}

const POINTS: usize = 4000;
const LOWEST: f64 = 1e-5;
const BISECTION_STEPS: usize = 60;

/// Frequencies from [`LOWEST`] to `highest`, evenly spaced by their logarithms.
pub(super) fn frequencies(lowest: f64, highest: f64, points: usize) -> Vec<f64> {
    let (from, to) = (libm::log(lowest), libm::log(highest));
    let step = (to - from) / (points - 1) as f64;
    (0..points).map(|n| libm::exp(from + step * n as f64)).collect()
}

impl Margins {
    /// The margins of `ratio` below the frequency `highest`, or `None` where it lacks one of the crossings.
    pub(crate) fn of(ratio: ReturnRatio<'_>, highest: f64) -> Option<Self> {
        let grid = frequencies(LOWEST, highest, POINTS);
        let values: Vec<Complex<f64>> = grid.iter().map(|&w| ratio(w)).collect();
        let falls = |pair: &[Complex<f64>]| pair[0].norm() >= 1.0 && pair[1].norm() < 1.0;
        let last = values.windows(2).rposition(falls)?;
        let phases = unwrapped(&values);
        let first = phases.windows(2).position(|pair| pair[0] > -PI && pair[1] <= -PI)?;
        let crossover = bisect(grid[last], grid[last + 1], |w| ratio(w).norm() >= 1.0);
        // Above the real axis' negative half the phase has fallen further than −180°.
        let phase_crossover = bisect(grid[first], grid[first + 1], |w| ratio(w).im < 0.0);
        Some(Self {
            crossover,
            phase_deg: 180.0 + (phases[last] + angle_between(values[last], ratio(crossover))).to_degrees(),
            phase_crossover,
            gain: 1.0 / ratio(phase_crossover).norm(),
        })
    }
}

/// Continuous phases from −90° on at the lowest frequency, which is the phase of an integrator.
fn unwrapped(values: &[Complex<f64>]) -> Vec<f64> {
    let mut phase = values.first().map_or(0.0, |value| libm::atan2(value.im, value.re));
    let mut phases = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            phase += angle_between(values[index - 1], *value);
        }
        phases.push(phase);
    }
    phases
}

/// The angle from one value to another, within half a turn.
fn angle_between(from: Complex<f64>, to: Complex<f64>) -> f64 {
    let ratio = to * from.conj();
    libm::atan2(ratio.im, ratio.re)
}

/// The point between `low`, where `holds` is true, and `high`, where it is false, at which it changes, by bisection.
pub(super) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTION_STEPS {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Number of times that `ratio` encircles −1 clockwise over all frequencies, with the pole at 0 passed on its right. The count
/// follows the curve up to `highest`.
#[cfg(test)]
pub(super) fn encirclements(ratio: ReturnRatio<'_>, highest: f64) -> i32 {
    let one = Complex::new(1.0, 0.0);
    let above = frequencies(LOWEST, highest, POINTS).into_iter().map(|w| one + ratio(w));
    let points: Vec<Complex<f64>> = above.collect();
    let turned: f64 = points.windows(2).map(|pair| angle_between(pair[0], pair[1])).sum();
    // Below zero the curve is the mirror image, and between both it turns half way round.
    (-(2.0 * turned - PI) / (2.0 * PI)).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `k·e^{−jW}/(jW)`: −90° − W; crossover at k, −180° at π/2.
    fn delayed_integrator(k: f64) -> impl Fn(f64) -> Complex<f64> {
        move |w| Complex::new(libm::cos(w), -libm::sin(w)) * k / Complex::new(0.0, w)
    }

    #[test]
    fn a_delayed_integrator_has_the_margins_of_the_books() {
        let margins = Margins::of(&delayed_integrator(0.5), 100.0).unwrap();
        assert!((margins.crossover - 0.5).abs() < 1e-9);
        assert!((margins.phase_deg - (90.0 - 0.5_f64.to_degrees())).abs() < 1e-6, "{margins:?}");
        assert!((margins.phase_crossover - PI / 2.0).abs() < 1e-9);
        assert!((margins.gain - PI).abs() < 1e-6);
    }

    #[test]
    fn beyond_half_pi_it_encircles_minus_one() {
        // Two roots cross at π/2, two more at 5π/2.
        for (k, expected) in [(0.5, 0), (1.5, 0), (1.6, 2), (8.0, 4)] {
            assert_eq!(encirclements(&delayed_integrator(k), 300.0), expected, "{k}");
        }
    }

    #[test]
    fn a_loop_that_never_turns_has_no_margins() {
        assert_eq!(Margins::of(&|w| Complex::new(0.0, -0.1 / w), 1e-3), None);
    }
}
