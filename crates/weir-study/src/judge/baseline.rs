//! Comparison of judged values with those of an earlier result, for suites and claims.

use weir_measure::results::stats::{Estimate, paired_difference};

use super::saved::SavedValue;

/// Smallest share of the limit by which a mean has to change; a smaller change does not count, however sure it is.
const NOTHING: f64 = 0.01;

/// Direction in which a judged value changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The 95 % interval of the paired differences lies on the good side of zero, or fewer runs lack a value.
    Better,
    /// Regression. The interval lies on the bad side, more runs lack a value, or the mean no longer keeps to the
    /// limit. The last holds whether the new verdict is open or not.
    Worse,
}

/// Direction in which a value changed, if it did, and the present value less the earlier one.
pub(crate) fn changed(before: &SavedValue, now: &SavedValue) -> (Option<Direction>, Option<Estimate>) {
    let difference = difference(before, now);
    let sure = |difference: &Estimate| match difference.half_width {
        // A single run has a difference and no interval, so that any difference counts.
        None => difference.mean != 0.0,
        Some(_) => difference.excludes_zero(),
    };
    let shifted = difference
        .filter(|difference| sure(difference) && difference.mean.abs() >= NOTHING * now.limit.abs())
        .map(|difference| (difference.mean > 0.0) == now.higher_is_better);
    let lack = (before.lacking(), now.lacking());
    let verdict = (before.is_met != now.is_met).then_some(now.is_met);
    let lack = (lack.0 != lack.1).then_some(lack.1 < lack.0);
    // Any sign of a regression outweighs signs of an improvement.
    let signs = [verdict, lack, shifted];
    let direction = if signs.contains(&Some(false)) {
        Some(Direction::Worse)
    } else if signs.contains(&Some(true)) {
        Some(Direction::Better)
    } else {
        None
    };
    (direction, difference)
}

/// Present value less the earlier one over the seeds in which both have a value. In the other seeds the check did not
/// apply or had no value.
fn difference(before: &SavedValue, now: &SavedValue) -> Option<Estimate> {
    let pairs = now.runs.iter().zip(&before.runs);
    let (now, before): (Vec<f64>, Vec<f64>) =
        pairs.filter_map(|(&now, &before)| Some((now?, before?))).unzip();
    paired_difference(&now, &before)
}
