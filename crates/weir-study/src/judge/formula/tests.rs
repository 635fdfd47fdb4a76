//! Formulas of checks and claims (`judge::formula`): parsing, kinds and values.

use std::collections::BTreeMap;

use super::parse::parse;
use super::*;

fn course(from: f64, step: f64, values: &[f64]) -> UniformSeries {
    UniformSeries { from, step, values: values.to_vec() }
}

/// Values that the formulas of these tests can name.
fn measured(leaf: &Leaf) -> Option<Harvested> {
    Some(match (leaf.variant.as_str(), leaf.path.as_str()) {
        ("a", "media.loss_ratio") => Harvested::Number(0.02),
        ("b", "media.loss_ratio") => Harvested::Number(0.05),
        ("a", "flows.*.rate_bps") => Harvested::Several(vec![1.5, 1.0, 1.0]),
        ("b", "flows.*.loss_ratio") => Harvested::Several(vec![0.5, f64::NAN]),
        ("b", "flows.*.rate_bps") => Harvested::Several(vec![1.0, 2.0]),
        ("a", "series.links.x.queue_mean_ms") => {
            Harvested::UniformSeries(course(10.0, 0.5, &[0.0, 4.0, f64::NAN, 6.0, 1.0, 5.0, 5.0, 5.0]))
        }
        ("b", "series.links.x.queue_mean_ms") => {
            Harvested::UniformSeries(course(10.0, 0.5, &[1.0, 9.0, 3.0, 13.0, 3.0, 11.0, 11.0, 11.0]))
        }
        ("a", "series.flows.*.send_rate_bps") => {
            Harvested::Courses(vec![course(0.0, 1.0, &[1.0, 2.0, 0.0]), course(0.0, 1.0, &[1.0, 1.0, 0.0])])
        }
        _ => return None,
    })
}

/// The value of the formula `text` with known measurements.
fn value(text: &str) -> Option<f64> {
    let axes = BTreeMap::from([("flows".to_owned(), 4.0)]);
    let formula = parse(text).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}"));
    let axis = |name: &str| axes.get(name).copied().map(Harvested::Number);
    evaluate(&formula, &KnownValues { axes: &axis, measured: &measured })
}

fn is(text: &str, expected: f64) {
    let found = value(text).unwrap_or(f64::NAN);
    assert!((found - expected).abs() < 1e-9, "{text} is {found}");
}

const A: &str = "a:series.links.x.queue_mean_ms";
const B: &str = "b:series.links.x.queue_mean_ms";

#[test]
fn arithmetic_goes_by_the_usual_order() {
    is("1 + 2 * 3 - 4 / 2", 5.0);
    is("(1 + 2) * 3", 9.0);
    is("1 - 2 - 3", -4.0);
    is("-(2 + 1) / 2", -1.5);
    is("15 * $flows", 60.0);
    is("1e3 - 2.5e-1 * 4", 999.0);
}

#[test]
fn a_ratio_and_a_difference_of_two_variants() {
    is("a:media.loss_ratio / b:media.loss_ratio", 0.4);
    is("100 * (a:media.loss_ratio - b:media.loss_ratio)", -3.0);
    is("size(a:media.loss_ratio - b:media.loss_ratio)", 0.03);
}

#[test]
fn a_course_during_another_has_no_value_elsewhere() {
    let during = format!("during({A}, {B}, 2, 10)");
    // Values at 9, 3 and 3, of which the second is missing.
    is(&format!("least({during})"), 1.0);
    is(&format!("greatest({during})"), 4.0);
    assert_eq!(value(&format!("least(during({A}, {B}, 20, 30))")), None);
}

#[test]
fn a_list_is_several_numbers() {
    is("greatest([1, 3 * 2, $flows])", 6.0);
    is("mean([a:media.loss_ratio, b:media.loss_ratio])", 0.035);
}

#[test]
fn functions_of_each_number_by_itself() {
    is("ln(8) / ln(2)", 3.0);
    // √6 + 2 + 2.
    is("sum(sqrt(a:flows.*.rate_bps * 4))", 6.449_489_742_783_178);
    is("sum(size([1 - 3, 2]))", 4.0);
    assert_eq!(value("ln(0 - 1)"), None);
}

#[test]
fn ranks_share_the_mean_of_the_places_of_what_is_equal() {
    // Values 1.5, 1 and 1 have ranks 3, and twice the mean of 1 and 2.
    is("greatest(rank(a:flows.*.rate_bps))", 3.0);
    is("least(rank(a:flows.*.rate_bps))", 1.5);
    // Spearman's correlation: 1, 2, 3 with 1, 4, 9.
    is("correlation(rank([1, 2, 3]), rank([1, 4, 9]))", 1.0);
}

#[test]
fn a_number_takes_the_place_of_missing_ones() {
    is("sum(filled(b:flows.*.loss_ratio, 2))", 2.5);
    is("filled(0.5, 2)", 0.5);
    // What has no end has no value.
    assert_eq!(value("greatest(filled(b:flows.*.loss_ratio, 1 / 0))"), None);
}

#[test]
fn rescaled_numbers_go_from_nothing_to_one() {
    is("mean(rescaled([2, 4, 10]))", (0.0 + 0.25 + 1.0) / 3.0);
}

#[test]
fn the_slope_of_a_course_is_per_second() {
    // 0, 4, none, 6, 1, 5, 5, 5 at steps of 0.5 s.
    is(&format!("greatest(slope({A}))"), 8.0);
    is(&format!("least(slope({A}))"), -10.0);
}

fn over_places(text: &str) -> Result<Formula, parse::Mistake> {
    parse_as(text, FormulaContext { scope: Scope::AllPlaces, named: &BTreeMap::new() })
}

#[test]
fn a_formula_names_others() {
    let named = BTreeMap::from([
        ("lost".to_owned(), "a:media.loss_ratio * 100".to_owned()),
        ("more".to_owned(), "1 + lost".to_owned()),
        ("round".to_owned(), "2 * round".to_owned()),
    ]);
    let read = |text: &str| parse_as(text, FormulaContext { scope: Scope::Place, named: &named });
    let axis = |_: &str| None;
    let found = evaluate(&read("more * 2").unwrap(), &KnownValues { axes: &axis, measured: &measured });
    assert_eq!(found, Some(6.0));
    assert!(read("round").unwrap_err().message.contains("stands in itself"));
    assert!(read("mroe").unwrap_err().help.contains("`more`"));
}

#[test]
fn small_numbers_are_filled_in_with_nine_digits() {
    let value = |_: &Formula| Some(1.234_567_891_234e-5);
    assert_eq!(fill("a=<$x>", value).unwrap(), "a=0.0000123456789");
}

#[test]
fn over_all_places_a_value_is_several_numbers() {
    let formula = over_places("mean(during(a:media.loss_ratio, $flows, 2, 4))").unwrap();
    let axis = |_: &str| Some(Harvested::Several(vec![1.0, 2.0, 4.0]));
    let measured = |_: &Leaf| Some(Harvested::Several(vec![0.1, 0.2, 0.4]));
    let found = evaluate(&formula, &KnownValues { axes: &axis, measured: &measured }).unwrap();
    assert!((found - 0.3).abs() < 1e-12, "{found}");
    assert!(over_places("a:media.loss_ratio").is_err(), "one for each place is no number");
    assert!(over_places("mean(a:flows.*.rate_bps)").unwrap_err().message.contains("over all places"));
}

#[test]
fn flows_with_a_missing_value_have_no_sum() {
    assert_eq!(value("sum(b:flows.*.loss_ratio)"), None);
}

#[test]
fn sum_mean_and_extremes_over_flows() {
    is("sum(a:flows.*.rate_bps)", 3.5);
    is("mean(b:flows.*.rate_bps)", 1.5);
    is("least(a:flows.*.rate_bps) + greatest(a:flows.*.rate_bps)", 2.5);
    is("mean(a:flows.*.rate_bps * 2 - 1)", 4.0 / 3.0);
    assert_eq!(value("sum(a:flows.*.rate_bps - b:flows.*.rate_bps)"), None, "three and two do not pair");
}

#[test]
fn the_index_of_jain_and_the_coefficient_of_variation() {
    // (1.5 + 1 + 1)² / (3 · 4.25); (1, 2): mean 1.5, standard deviation 0.5.
    is("jain(a:flows.*.rate_bps)", 12.25 / 12.75);
    is("variation(b:flows.*.rate_bps)", 1.0 / 3.0);
}

#[test]
fn the_index_of_jain_over_time() {
    // Values are 1 and 9 / 10; without any rate there is none.
    is("mean(fairness(a:series.flows.*.send_rate_bps))", 0.95);
}

#[test]
fn shares_and_quantiles_of_a_course_leave_out_what_is_not_there() {
    is(&format!("above({A}, 4)"), 4.0 / 7.0);
    is(&format!("below({A}, 4)"), 2.0 / 7.0);
    is(&format!("quantile({A}, 0.5)"), 5.0);
    is(&format!("quantile({A}, 0)"), 0.0);
}

#[test]
fn a_part_of_a_course_and_its_means() {
    // From 10.5 s on: 4, none, 6 | 1, 5, 5.
    is(&format!("sum(between({A}, 10.5, 12))"), 10.0);
    is(&format!("greatest(between({A}, 0, 10.5))"), 0.0);
    is(&format!("least(smooth({A}, 1))"), 2.0);
    is(&format!("sum(smooth({A}, 1.5))"), 2.0 + 4.0);
    assert_eq!(value(&format!("mean(between({A}, 50, 60))")), None);
}

#[test]
fn the_time_until_a_course_stays_where_it_should() {
    is(&format!("until({A}, 3, 7, 1)"), 12.5);
    is(&format!("until({A}, 3, 7, 0.5)"), 10.5);
    assert_eq!(value(&format!("until({A}, 3, 7, 2)")), None);
}

#[test]
fn episodes_are_counted_where_they_begin() {
    is(&format!("episodes({A}, 3)"), 2.0);
    is(&format!("episodes({B}, 0)"), 1.0);
    is(&format!("episodes({A}, 9)"), 0.0);
}

#[test]
fn courses_correlate_where_both_have_values() {
    // B is 2 A + 1 wherever A has a value.
    is(&format!("correlation({A}, {B})"), 1.0);
    is(&format!("correlation({A}, -{B})"), -1.0);
}

#[test]
fn courses_of_other_times_do_not_go_together() {
    let later = format!("between({A}, 10.5, 14)");
    let earlier = format!("between({B}, 10, 13.5)");
    assert_eq!(value(&format!("mean({later} - {earlier})")), None);
    assert_eq!(value(&format!("correlation({later}, {earlier})")), None);
    assert_eq!(value(&format!("mean(during({later}, {earlier}, 0, 99))")), None);
    assert_eq!(value(&format!("correlation(smooth({A}, 1), {B})")), None);
    let alone = [
        UniformSeries { from: 0.0, step: 1.0, values: vec![1.0; 3] },
        UniformSeries { from: 1.0, step: 1.0, values: vec![1.0; 3] },
    ];
    let formula = parse("mean(fairness(a:series.flows.*.send_rate_bps))").unwrap();
    let measured = |_: &Leaf| Some(Harvested::Courses(alone.to_vec()));
    assert_eq!(evaluate(&formula, &KnownValues { axes: &|_| None, measured: &measured }), None);
    // A window must not be shorter than half a step.
    assert_eq!(value(&format!("mean(smooth({A}, 0.1))")), None);
}

#[test]
fn the_distance_of_two_distributions() {
    is(&format!("distance({A}, {A})"), 0.0);
    // All values of A are at most 6; of B three of eight are.
    is(&format!("distance({A}, {B})"), 1.0 - 3.0 / 8.0);
}

#[test]
fn an_unmeasured_quantity_has_no_value() {
    assert_eq!(value("c:media.loss_ratio"), None);
    assert_eq!(value("1 / (1 - 1)"), None);
}

#[test]
fn a_mistake_says_what_would_be_right() {
    let mistake = |text: &str| parse(text).expect_err(text);
    let message = |text: &str| mistake(text).message;
    assert_eq!(mistake("maen(a:flows.*.rate_bps)").help, "did you mean `mean`?");
    assert_eq!(message("mean(a:media.loss_ratio)"), "`mean` cannot take a number");
    assert_eq!(message("a:flows.*.rate_bps"), "the formula is several numbers, not a number");
    assert_eq!(message("quantile(a:flows.*.rate_bps)"), "`quantile` takes 2, not 1");
    assert_eq!(
        message("mean(a:flows.*.rate_bps + a:series.links.x.rate_bps)"),
        "several numbers and a course over time do not go together"
    );
    assert_eq!(message("1 +"), "the formula ends too early");
    assert_eq!(message("(1"), "`(` is not closed");
    assert_eq!(message("1 2"), "`2` stands behind the end of the formula");
    assert_eq!(message("1 % 2"), "`%` has no meaning here");
    assert_eq!(message("mean"), "`mean` is a function");
    assert_eq!(message("1.2.3"), "`1.2.3` is no number");
    assert_eq!(message(&format!("quantile({A}, 95)")), "there is no quantile 95");
    assert_eq!(message(&"(".repeat(60_000)), "the formula has 60000 numbers, names and signs");
    assert_eq!(message(&"-(".repeat(500)), "the formula is too deep");
    is(&format!("{}1{}", "(".repeat(60), ")".repeat(60)), 1.0);
}

#[test]
fn settings_of_a_place_have_its_numbers() {
    let axes = BTreeMap::from([("ratio".to_owned(), 1.1)]);
    let axis = |name: &str| axes.get(name).copied().map(Harvested::Number);
    let value = |formula: &Formula| evaluate(formula, &KnownValues { axes: &axis, measured: &measured });
    let filled = |text: &str| fill(text, value);
    // 15 · 1.1 is 16.500000000000004.
    assert_eq!(filled("flows.b.access_delay=<15 * $ratio>ms").unwrap(), "flows.b.access_delay=16.5ms");
    assert_eq!(filled("flows.a.count=<1 + 1>").unwrap(), "flows.a.count=2");
    assert_eq!(filled("a={ b = 1 }").unwrap(), "a={ b = 1 }");
    assert!(filled("a=<$other>").is_err() && filled("a=<1").is_err());
}
