//! Responsive weighting (RFC 8382 §4.1). Of the last `M` values the newest `F` have the weight `M − F + 1` each. The
//! weights of the earlier values decrease by one from value to value, down to 1.

use super::ring::Ring;

/// A weighted sum, updated with each value. Whole numbers are summed exactly.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    values: Ring<f64>,
    /// `F`.
    flat: usize,
    /// `A`, the sum of the newest `F`.
    newest: f64,
    /// `D`, the sum of the values before them.
    older: f64,
    /// `W`, the weighted sum of the values before them.
    declining: f64,
}

impl Weighted {
    /// A sum over `window` values, the newest `flat` of which weigh the same.
    pub(super) fn new(window: u32, flat: u32) -> Self {
        Self {
            values: Ring::new(window as usize),
            flat: (flat.clamp(1, window.max(1))) as usize,
            newest: 0.0,
            older: 0.0,
            declining: 0.0,
        }
    }

    /// Takes the value of the newest interval (RFC 8382 §4.1.1 to §4.1.4, in a symmetric form).
    pub(super) fn push(&mut self, value: f64) {
        let leaves_flat = self.values.get(self.flat - 1);
        let leaves = self.values.push(value);
        self.declining += (self.values.len() - self.flat) as f64 * leaves_flat - self.older;
        self.newest += value - leaves_flat;
        self.older += leaves_flat - leaves;
    }

    /// The weighted sum.
    pub(super) fn sum(&self) -> f64 {
        (self.values.len() - self.flat + 1) as f64 * self.newest + self.declining
    }

    /// Computes the sum again, which removes rounding errors.
    pub(super) fn recompute(&mut self) {
        (self.newest, self.older, self.declining) = (0.0, 0.0, 0.0);
        let length = self.values.len();
        for (age, value) in self.values.iter().enumerate() {
            if age < self.flat {
                self.newest += value;
            } else {
                self.older += value;
                self.declining += (length - age) as f64 * value;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        (self.newest, self.older, self.declining) = (0.0, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(window: u32, flat: u32, values: &[f64]) -> Weighted {
        let mut sum = Weighted::new(window, flat);
        for &value in values {
            sum.push(value);
        }
        sum
    }

    #[test]
    fn the_check_of_the_specification() {
        // M = 4, F = 2. Newest first: skew 2, -1, 3, 1 and counts 5, 5, 4, 5.
        // A = 1, D = 4, W = 2·3 + 1·1 = 7; counts A = 10, D = 9, W = 2·4 + 5 = 13: (3·1 + 7) / (3·10 + 13) = 10/43.
        let mut skew = of(4, 2, &[1.0, 3.0, -1.0, 2.0]);
        let mut counts = of(4, 2, &[5.0, 4.0, 5.0, 5.0]);
        assert_eq!((skew.sum(), counts.sum()), (10.0, 43.0));
        // -2 of 6 comes: -2, 2 | -1, 3 of 6, 5 | 5, 4: (3·0 - 2 + 3) / (3·11 + 10 + 4) = 1/47.
        skew.push(-2.0);
        counts.push(6.0);
        assert_eq!((skew.sum(), counts.sum()), (1.0, 47.0));
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_the_definition(
            window in 1_u32..12, flat in 1_u32..12, values in prop::collection::vec(-50_i32..50, 0..40),
        ) {
            let flat = flat.min(window);
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut sum = of(window, flat, &values);
            let (m, f) = (window as usize, flat as usize);
            let defined: f64 = values
                .iter()
                .rev()
                .take(m)
                .enumerate()
                .map(|(age, value)| value * if age < f { (m - f + 1) as f64 } else { (m - age) as f64 })
                .sum();
            prop_assert_eq!(sum.sum(), defined);
            sum.recompute();
            prop_assert_eq!(sum.sum(), defined);
        }
    }
}
