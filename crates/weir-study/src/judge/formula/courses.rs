//! Functions of numbers and time series. A moment without a value is NaN and is left out of every statistic.

use serde::{Deserialize, Deserializer, Serialize};

/// Time series with equal steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UniformSeries {
    /// Beginning of the first step, in seconds of the run.
    pub(crate) from: f64,
    /// Length of a step, in seconds.
    pub(crate) step: f64,
    /// Values of the steps; NaN for a missing one.
    #[serde(deserialize_with = "numbers_or_none")]
    pub(crate) values: Vec<f64>,
}

/// Reads a number, with NaN for null.
pub(super) fn number_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Reads several numbers, with NaN for null.
pub(super) fn numbers_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let numbers: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
}

impl UniformSeries {
    /// Steps that begin within these seconds of the run.
    pub(super) fn between(&self, from: f64, to: f64) -> Self {
        // The tolerance keeps a step that begins on the second, despite rounding of the sum.
        let place = |time: f64| (((time - self.from) / self.step - 1e-6).ceil().max(0.0)) as usize;
        let end = place(to).min(self.values.len());
        let begin = place(from).min(end);
        Self { from: self.time(begin), step: self.step, values: self.values[begin..end].to_vec() }
    }

    fn time(&self, index: usize) -> f64 {
        self.from + self.step * index as f64
    }

    /// Whether both have the same steps, so that equal indices mean equal times.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * self.step.abs();
        near(self.from, other.from) && near(self.step, other.step)
    }

    /// Means over windows of about `seconds`, in whole steps. Windows below half a step give no value, and an
    /// incomplete window at the end is left out.
    pub(super) fn smooth(&self, seconds: f64) -> Self {
        let each = (seconds / self.step).round() as usize;
        let values = if each == 0 { Vec::new() } else { self.values.chunks_exact(each).map(mean).collect() };
        Self { from: self.from, step: self.step * each as f64, values }
    }

    /// Second from which on all values lie between `low` and `high` for `hold` seconds, or NaN without such a second.
    pub(super) fn until(&self, low: f64, high: f64, hold: f64) -> f64 {
        let needed = ((hold / self.step).round() as usize).max(1);
        let inside = |value: &f64| (low..=high).contains(value);
        let first = self.values.windows(needed).position(|values| values.iter().all(inside));
        first.map_or(f64::NAN, |index| self.time(index))
    }

    /// Slope to each step from the previous one, per second; NaN at the first.
    pub(super) fn slope(&self) -> Self {
        let rise = |pair: &[f64]| (pair[1] - pair[0]) / self.step;
        let values =
            std::iter::once(f64::NAN).chain(self.values.windows(2).map(rise)).take(self.values.len());
        Self { values: values.collect(), ..*self }
    }

    /// Number of rises above `level`; a series that begins above it counts as a rise.
    pub(super) fn episodes(&self, level: f64) -> f64 {
        let mut above = false;
        let mut count = 0;
        for value in self.values.iter().filter(|value| !value.is_nan()) {
            count += u32::from(*value > level && !above);
            above = *value > level;
        }
        f64::from(count)
    }
}

/// Values without the NaN.
pub(super) fn known(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

/// Values where `other` lies between `low` and `high`; NaN elsewhere.
pub(super) fn where_other(values: &[f64], other: &[f64], low: f64, high: f64) -> Vec<f64> {
    let value = |(&own, other): (&f64, &f64)| if (low..=high).contains(other) { own } else { f64::NAN };
    values.iter().zip(other).map(value).collect()
}

/// Rank of each value, from 1 on; equal values have the mean of their ranks.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = known(values);
    sorted.sort_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|own| own < value) as f64;
        let up_to = sorted.partition_point(|own| own <= value) as f64;
        if value.is_nan() { f64::NAN } else { f64::midpoint(below + 1.0, up_to) }
    };
    values.iter().map(rank).collect()
}

/// Values shifted and scaled so that the least is 0 and the greatest 1.
pub(super) fn rescaled(values: &[f64]) -> Vec<f64> {
    let known = known(values);
    let least = known.iter().copied().fold(f64::NAN, f64::min);
    let greatest = known.iter().copied().fold(f64::NAN, f64::max);
    values.iter().map(|value| (value - least) / (greatest - least)).collect()
}

pub(super) fn mean(values: &[f64]) -> f64 {
    let known = known(values);
    known.iter().sum::<f64>() / known.len() as f64
}

/// Coefficient of variation: standard deviation (divisor n) over mean.
pub(super) fn variation(values: &[f64]) -> f64 {
    let known = known(values);
    let mean = mean(&known);
    let squares: f64 = known.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / known.len() as f64).sqrt() / mean
}

/// Quantile by linear interpolation at rank (n − 1)·q, as the percentiles of the results; NaN for `q` outside 0 to 1.
pub(super) fn quantile(values: &[f64], q: f64) -> f64 {
    if !(0.0..=1.0).contains(&q) {
        return f64::NAN;
    }
    let mut sorted = known(values);
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len().saturating_sub(1)) as f64 * q;
    let (below, above) = (rank.floor() as usize, rank.ceil() as usize);
    match (sorted.get(below), sorted.get(above)) {
        (Some(low), Some(high)) => low + (high - low) * rank.fract(),
        _ => f64::NAN,
    }
}

/// Share of the values for which `holds` is true.
pub(super) fn share(values: &[f64], holds: impl Fn(f64) -> bool) -> f64 {
    let known = known(values);
    known.iter().filter(|value| holds(**value)).count() as f64 / known.len() as f64
}

/// Pearson's correlation over the moments at which both have a value.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let both = a.iter().zip(b).filter(|(a, b)| !a.is_nan() && !b.is_nan());
    let (a, b): (Vec<f64>, Vec<f64>) = both.map(|(&a, &b)| (a, b)).unzip();
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let moment = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    moment(&a, mean_a, &b, mean_b) / (moment(&a, mean_a, &a, mean_a) * moment(&b, mean_b, &b, mean_b)).sqrt()
}

/// Largest distance between the two cumulative distributions.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let below = |values: &[f64], x: f64| share(values, |value| value <= x);
    let steps = known(a).into_iter().chain(known(b));
    steps.map(|x| (below(a, x) - below(b, x)).abs()).fold(f64::NAN, f64::max)
}
