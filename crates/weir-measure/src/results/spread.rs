//! Spread of a quantity over runs.

/// Width of the range of a quantity's values from which on they are a spread. A mean hides its two ends then, and one run concludes
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadWidth {
    /// Share of the median …
    of_median: f64,
    /// … that counts only above this amount.
    above: f64,
    /// Amount that suffices alone.
    alone: f64,
}

impl SpreadWidth {
    /// Of rates, in any unit: 25 % of the median.
    pub const RATE: Self = Self { of_median: 0.25, above: 0.0, alone: f64::INFINITY };
    /// Of waits in ms: 50 % of the median, or 20 ms.
    pub const WAIT: Self = Self { of_median: 0.5, above: 0.0, alone: 20.0 };
    /// Of losses in per cent: 25 % of the median and 0.3 points. A loss of a few packets is a large share of a small median.
    pub const LOSS: Self = Self { of_median: 0.25, above: 0.3, alone: f64::INFINITY };

    /// The least and the largest of `values` if they are a spread. The result is `None` if they are none, for fewer than two, and
    /// where one is not finite.
    pub fn ends(self, values: &[f64]) -> Option<[f64; 2]> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let [least, median, most] = [0, sorted.len() / 2, sorted.len() - 1].map(|place| sorted[place]);
        let width = most - least;
        let wide = width > (self.of_median * median).max(self.above) || width > self.alone;
        wide.then_some([least, most])
    }
}

/// Both ends of a spread as text, with so many decimals: `40 to 100`. The result is `None` where there is no spread, and where both
/// look alike.
pub fn spread_in_words(ends: Option<[f64; 2]>, decimals: usize) -> Option<String> {
    let [least, most] = ends?.map(|end| format!("{end:.decimals$}"));
    (least != most).then(|| format!("{least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_has_widths_of_its_own() {
        // The median of 900, 1000, 1151 is 1000; of two values the greater one counts as median.
        assert_eq!(SpreadWidth::RATE.ends(&[1000.0, 1151.0, 900.0]), Some([900.0, 1151.0]));
        assert_eq!(SpreadWidth::RATE.ends(&[1000.0, 1150.0, 900.0]), None);
        assert_eq!(SpreadWidth::WAIT.ends(&[10.0, 14.9]), None);
        assert_eq!(SpreadWidth::WAIT.ends(&[7.0, 15.0]), Some([7.0, 15.0]));
        assert_eq!(SpreadWidth::WAIT.ends(&[240.0, 250.0, 261.0]), Some([240.0, 261.0]));
        assert_eq!(SpreadWidth::LOSS.ends(&[0.0, 0.1, 0.3]), None);
        assert_eq!(SpreadWidth::LOSS.ends(&[0.0, 0.1, 0.31]), Some([0.0, 0.31]));
        assert_eq!(SpreadWidth::LOSS.ends(&[8.0, 9.0, 10.0]), None);
    }

    #[test]
    fn one_run_and_undefined_values_are_no_spread() {
        assert_eq!(SpreadWidth::RATE.ends(&[5.0]), None);
        assert_eq!(SpreadWidth::RATE.ends(&[]), None);
        assert_eq!(SpreadWidth::RATE.ends(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn ends_that_look_alike_are_not_shown() {
        assert_eq!(spread_in_words(Some([0.4, 2.25]), 1).unwrap(), "0.4 to 2.2");
        assert_eq!((spread_in_words(Some([0.1, 0.4]), 0), spread_in_words(None, 0)), (None, None));
    }
}
