//! Verdicts on ranges, orders and sweeps, from invented values of runs.

use super::*;

fn runs(values: &[f64]) -> Vec<Value> {
    values.iter().map(|&value| Some(value)).collect()
}

const fn range(min: f64, max: f64) -> Range {
    Range { min: Some(min), max: Some(max) }
}

fn verdict(values: &[f64], range: Range) -> Verdict {
    PlaceVerdict::in_range(&runs(values), range).verdict
}

fn order(values: &[f64], order: SignOrder) -> Verdict {
    PlaceVerdict::in_order(&runs(values), order, 0.0).verdict
}

#[test]
fn a_mean_in_the_range_is_reproduced_and_a_mean_outside_is_not() {
    assert_eq!(verdict(&[0.2, 0.21, 0.19, 0.2, 0.2], range(0.19, 0.21)), Verdict::Passed);
    assert_eq!(verdict(&[0.3, 0.31, 0.29, 0.3, 0.3], range(0.19, 0.21)), Verdict::Missed);
    assert_eq!(
        verdict(&[0.19, 0.19, 0.19], range(0.19, 0.21)),
        Verdict::Passed,
        "both ends belong to the range"
    );
}

#[test]
fn a_mean_in_the_range_with_too_few_runs_in_it_is_two_kinds() {
    // The mean of 214 lies in the range, and no run does. Five runs are too few to name the two kinds.
    let delays = [285.0, 117.0, 92.0, 289.0, 287.0];
    assert_eq!(verdict(&delays, range(180.0, 280.0)), Verdict::TwoKinds);
    let judged = PlaceVerdict::in_range(&runs(&delays.repeat(2)), range(180.0, 280.0));
    assert_eq!(judged.verdict, Verdict::TwoKinds);
    let kinds = judged.measured.kinds.unwrap();
    assert_eq!((kinds[0].mean, kinds[0].runs, kinds[1].mean, kinds[1].runs), (104.5, 4, 287.0, 6));
    // Seven of ten are enough, six are not.
    let of_ten = |inside: usize| -> Vec<f64> {
        (0..10)
            .map(|run| {
                if run < inside {
                    1.0
                } else if run % 2 == 0 {
                    1.5
                } else {
                    0.5
                }
            })
            .collect()
    };
    assert_eq!(verdict(&of_ten(7), range(0.9, 1.1)), Verdict::Passed);
    assert_eq!(verdict(&of_ten(6), range(0.9, 1.1)), Verdict::TwoKinds);
}

#[test]
fn a_run_without_a_value_does_not_lie_in_the_range() {
    let values = [Some(1.0), Some(1.0), None, None];
    assert_eq!(PlaceVerdict::in_range(&values, range(0.9, 1.1)).verdict, Verdict::TwoKinds);
    assert_eq!(PlaceVerdict::in_range(&[None, None], range(0.9, 1.1)).verdict, Verdict::Missed);
    assert_eq!(PlaceVerdict::in_order(&[None, None], SignOrder::Above, 0.0).verdict, Verdict::Missed);
}

#[test]
fn an_order_needs_an_interval_without_zero() {
    // −1.0 ± 0.473 (t = 2.7764, s = 0.381).
    assert_eq!(order(&[-0.5, -1.0, -1.5, -0.8, -1.2], SignOrder::Below), Verdict::Passed);
    assert_eq!(order(&[-0.5, -1.0, -1.5, -0.8, -1.2], SignOrder::Above), Verdict::Missed);
    assert_eq!(order(&[-5.0, 4.0, -5.0, 4.0, -1.0], SignOrder::Below), Verdict::Open);
    assert_eq!(order(&[-1.0], SignOrder::Below), Verdict::Open, "one run has no interval");
    assert_eq!(order(&[0.0, 0.0, 0.0], SignOrder::Below), Verdict::Open, "equal values are not below");
}

#[test]
fn equal_values_meet_an_order_that_is_not_strict() {
    let not_below =
        |values: &[f64], margin| PlaceVerdict::in_order(&runs(values), SignOrder::NotBelow, margin).verdict;
    let not_above =
        |values: &[f64], margin| PlaceVerdict::in_order(&runs(values), SignOrder::NotAbove, margin).verdict;
    assert_eq!(not_below(&[0.0, 0.0, 0.0], 0.0), Verdict::Passed);
    assert_eq!(not_above(&[0.0, 0.0, 0.0], 0.0), Verdict::Passed);
    assert_eq!(not_below(&[0.0], 0.0), Verdict::Open, "one run has no interval");
    assert_eq!(not_below(&[], 0.0), Verdict::Missed);

    // −1.0 ± 0.473 (t = 2.7764, s = 0.381): the interval ends at −1.473.
    let below = [-0.5, -1.0, -1.5, -0.8, -1.2];
    assert_eq!(not_below(&below, 1.5), Verdict::Passed);
    assert_eq!(not_below(&below, 1.4), Verdict::Open, "the interval extends beyond the margin");
    assert_eq!(not_below(&below, 1.0), Verdict::Open);
    assert_eq!(not_below(&below, 0.5), Verdict::Missed, "the whole interval is beyond the margin");
    assert_eq!(not_below(&below, 0.0), Verdict::Missed);
    assert_eq!(not_above(&below, 0.0), Verdict::Passed, "values below meet not-above");
    let above = below.map(|value| -value);
    assert_eq!(not_above(&above, 1.5), Verdict::Passed);
    assert_eq!(not_above(&above, 0.5), Verdict::Missed);

    // The mean 5.6 ± 4.1 is above zero, but four of ten runs are below it.
    let six_of_ten = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, -1.0, -1.0, -1.0, -1.0];
    assert_eq!(not_below(&six_of_ten, 0.0), Verdict::Open);
    assert_eq!(not_below(&six_of_ten, 1.0), Verdict::Passed);
    let judged = PlaceVerdict::in_order(&runs(&six_of_ten), SignOrder::NotBelow, 1.0);
    assert_eq!((judged.inside, judged.margin), (1.0, 5.6 + 1.0));
}

#[test]
fn an_order_in_six_of_ten_runs_is_undecided() {
    // The mean 5.6 ± 4.1 excludes zero, but four runs lie on the other side.
    let values = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, -1.0, -1.0, -1.0, -1.0];
    let judged = PlaceVerdict::in_order(&runs(&values), SignOrder::Above, 0.0);
    assert!(judged.measured.mean.unwrap() > judged.measured.ci95.unwrap());
    assert_eq!((judged.verdict, judged.inside), (Verdict::Open, 0.6));
    assert!(!judged.verdict.is_met());
}

#[test]
fn a_mean_above_the_range_with_two_of_five_runs_far_below_is_not_better() {
    // The mean of 0.93 is outside the range, and two of five runs are far below it.
    let mixed = runs(&[1.2, 1.2, 1.25, 0.5, 0.5]);
    let judged = PlaceVerdict::in_range(&mixed, range(0.79, 0.92));
    let no_more = [(runs(&[1.0]), 20.0), (runs(&[0.0]), 0.1)];
    let verdict = judged.unless_better(&mixed, range(0.79, 0.92), NumberSide::Above, &no_more).verdict;
    assert_eq!(verdict, Verdict::Missed);
}

#[test]
fn only_runs_with_a_value_are_counted() {
    assert_eq!(MeasuredPlace::of(&[Some(1.0), None, Some(2.0)]).runs, 2);
}

#[test]
fn a_rate_above_the_range_is_better_only_without_more_delay_and_loss() {
    let high = runs(&[0.95, 0.96, 0.94]);
    let utilisation = PlaceVerdict::in_range(&high, range(0.79, 0.92));
    assert_eq!(utilisation.verdict, Verdict::Missed);
    let delay = |ms: f64| (runs(&[ms, ms, ms]), 20.0);
    let better = |no_more: &[(Vec<Value>, f64)]| {
        utilisation.unless_better(&high, range(0.79, 0.92), NumberSide::Above, no_more).verdict
    };
    assert_eq!(better(&[delay(19.0), delay(20.0)]), Verdict::Better);
    assert_eq!(better(&[delay(19.0), delay(30.6)]), Verdict::Missed);
    let in_one_run = (vec![Some(19.0), None, None], 20.0);
    assert_eq!(
        better(&[delay(19.0), in_one_run]),
        Verdict::Missed,
        "two runs without a value are not within the bound"
    );
    assert_eq!(better(&[]), Verdict::Missed, "without another quantity to compare, no value is better");
    assert_eq!(
        better(&[(vec![None], 20.0)]),
        Verdict::Missed,
        "a quantity without a value is not within the bound"
    );
    let low = runs(&[0.7, 0.7, 0.7]);
    let worse = PlaceVerdict::in_range(&low, range(0.79, 0.92));
    assert_eq!(
        worse.unless_better(&low, range(0.79, 0.92), NumberSide::Above, &[delay(1.0)]).verdict,
        Verdict::Missed
    );
}

#[test]
fn the_coefficient_of_variation_is_judged_by_a_range() {
    // Standard deviation 1 over mean 100.
    let values = runs(&[99.0, 100.0, 101.0]);
    let judged = PlaceVerdict::variation_in_range(&values, range(0.0, 0.01));
    assert_eq!((judged.verdict, judged.measured.runs), (Verdict::Passed, 3));
    assert!((judged.measured.mean.unwrap() - 0.01).abs() < 1e-12);
    assert_eq!(PlaceVerdict::variation_in_range(&values, range(0.0, 0.005)).verdict, Verdict::Missed);
    assert_eq!(PlaceVerdict::variation_in_range(&values[..1], range(0.0, 1.0)).verdict, Verdict::Missed);
}
