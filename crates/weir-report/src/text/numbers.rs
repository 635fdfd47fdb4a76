//! Numbers and their intervals as text that aligns at the decimal point and at the `±`.

use std::fmt;

use crate::page::Row;

/// A mean and the half width of its 95 % interval, as displayed.
#[derive(Clone, Debug)]
pub struct Number {
    mean: String,
    half: Option<String>,
}

impl Number {
    /// The number in the cell `index` of `row`, or `None` where the metric is not defined.
    pub fn of(row: &Row, index: usize, decimals: usize) -> Option<Self> {
        let cell = row.cells.get(index)?.filter(|cell| cell.mean.is_finite())?;
        let half = cell.ci95.map(|half| format!("{half:.decimals$}"));
        let mean = format!("{:.decimals$}", cell.mean);
        // A value that rounds to zero has no sign.
        let is_zero = mean.bytes().all(|byte| b"-0.".contains(&byte));
        let mean = if is_zero { mean.trim_start_matches('-').to_owned() } else { mean };
        Some(Self { mean, half })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = self.half.as_ref().map_or_else(String::new, |half| format!(" ± {half}"));
        write!(f, "{}{half}", self.mean)
    }
}

/// The numbers with their points and their `±` below each other; `–` where there is none.
pub(super) fn aligned(numbers: &[Option<Number>]) -> Vec<String> {
    let means = Widths::of(numbers.iter().flatten().map(|number| number.mean.as_str()));
    let halves = Widths::of(numbers.iter().flatten().filter_map(|number| number.half.as_deref()));
    let text = |number: &Option<Number>| match number {
        None => means.place("–", "") + &" ".repeat(halves.beside()),
        Some(Number { mean, half: None }) => means.padded(mean) + &" ".repeat(halves.beside()),
        Some(Number { mean, half: Some(half) }) => {
            format!("{} ± {}", means.padded(mean), halves.padded(half))
        }
    };
    numbers.iter().map(text).collect()
}

/// The widest whole part and the widest fraction, its point included.
#[derive(Clone, Copy, Default)]
struct Widths {
    whole: usize,
    fraction: usize,
}

impl Widths {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        texts.fold(Self::default(), |widths, text| {
            let (whole, fraction) = parts(text);
            Self { whole: widths.whole.max(whole.len()), fraction: widths.fraction.max(fraction.len()) }
        })
    }

    fn padded(self, text: &str) -> String {
        let (whole, fraction) = parts(text);
        self.place(whole, fraction)
    }

    fn place(self, whole: &str, fraction: &str) -> String {
        format!("{whole:>0$}{fraction:<1$}", self.whole, self.fraction)
    }

    /// Width of an interval beside its mean.
    fn beside(self) -> usize {
        if self.whole == 0 { 0 } else { self.whole + self.fraction + " ± ".chars().count() }
    }
}

fn parts(text: &str) -> (&str, &str) {
    text.split_at(text.find('.').unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use crate::page::SummaryCell;

    use super::*;

    fn number(mean: f64, ci95: Option<f64>, decimals: usize) -> Option<Number> {
        let row = Row::of("", vec![Some(SummaryCell { ci95, ..SummaryCell::new(mean) })]);
        Number::of(&row, 0, decimals)
    }

    #[test]
    fn points_and_intervals_stand_below_each_other() {
        let numbers =
            [number(1497.2, Some(1435.0), 0), number(0.02, Some(0.01), 2), None, number(33.0, None, 1)];
        let expected = ["1497    ± 1435   ", "   0.02 ±    0.01", "   –             ", "  33.0           "];
        assert_eq!(aligned(&numbers), expected);
    }

    #[test]
    fn without_intervals_there_is_no_room_for_them() {
        assert_eq!(aligned(&[number(5.0, None, 0), None, number(12.0, None, 0)]), [" 5", " –", "12"]);
        assert_eq!(aligned(&[None, None]), ["–", "–"]);
    }

    #[test]
    fn a_value_that_is_no_number_is_not_shown() {
        assert!(number(f64::NAN, None, 1).is_none());
        assert!(Number::of(&Row::default(), 0, 1).is_none());
    }
}
