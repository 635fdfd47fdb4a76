//! The region of the eigenvalues of a network's return ratio: `M·co(0 ∪ G_r(jω))`. Eq. (40), with `ρ ≤ M`.

use num_complex::Complex;

/// The least real number in the convex hull of 0 and `points`, at most 0. An edge of the hull that crosses the real axis joins
/// two of the points, and no segment between two of them leaves the hull.
pub(super) fn least_real(points: &[Complex<f64>]) -> f64 {
    let all = || points.iter().copied().chain([Complex::new(0.0, 0.0)]);
    let crossings = all().flat_map(|a| all().map(move |b| crossing(a, b)));
    crossings.flatten().fold(0.0, f64::min)
}

/// The real number at which the segment from `a`, below the real axis or on it, to `b`, above, crosses it.
fn crossing(a: Complex<f64>, b: Complex<f64>) -> Option<f64> {
    if a.im == 0.0 {
        return Some(a.re);
    }
    (a.im < 0.0 && b.im > 0.0).then(|| a.re + (b.re - a.re) * a.im / (a.im - b.im))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_reaches_as_far_as_its_edges() {
        let point = Complex::new;
        // From (−2, −1) to (−4, 1) the axis is crossed at −3; a point within does not matter.
        assert_eq!(least_real(&[point(-2.0, -1.0), point(-4.0, 1.0), point(-1.0, 0.1)]), -3.0);
        assert_eq!(least_real(&[point(-2.0, -1.0), point(-4.0, -1.0)]), 0.0);
        assert_eq!(least_real(&[point(-0.5, 0.0)]), -0.5);
    }
}
