//! Figures of experiments (`experiments::plots`): their data and the keys of their files.

use std::collections::BTreeMap;

use super::super::values::Runs;
use super::super::{Experiment, Extent, Reproduction};
use super::*;
use crate::judge::formula::{Harvested, Leaf, UniformSeries};
use crate::runs::{NoStore, Shardable as _};
use weir_import::traces::TraceStore;

const ROW: &str = r#"
title = "Two flows"

[scenario]
title = "Two flows"
duration = "3s"

[scenario.links.bottleneck]
from = "left"
to = "right"
rate = "1Mbps"

[scenario.links.back]
from = "right"
to = "left"
rate = "1Mbps"

[scenario.flows.flow]
kind = "constant"
from = "left"
to = "right"
rate = "500kbps"
count = 2

[sweeps.rate]
set = ["flows.flow.rate=<$rate>kbps"]
quick = [100, 400]
full = [400, 100, 200]

[sweeps.flows]
set = ["flows.flow.count=<$flows>"]
quick = [1, 2]

[variants.plain]

[variants.double]
set = ["flows.flow.count=4"]

[[claims]]
id = "full"
class = "NUM"
claim = "one flow of 100 kbit/s uses a tenth"
of = "plain:links.bottleneck.utilisation.bits"
where = { rate = [100], flows = [1] }
accept = { min = 0.09, max = 0.11 }

[[plots]]
id = "rates"
title = "Rates"
kind = "course"
x = { label = "time, s", from = 0, to = 3 }
y = { label = "rate, kbit/s" }
at = { rate = 400 }
lines = { "carried" = "plain:series.links.bottleneck.rate_bps / 1000", "link" = "1000" }

[[plots]]
id = "shares"
title = "Distribution"
kind = "cdf"
x = { label = "rate, kbit/s" }
y = { label = "share" }
lines = { "plain" = "plain:series.links.bottleneck.rate_bps / 1000" }

[[plots]]
id = "along"
title = "Utilisation"
kind = "sweep"
x = { label = "rate, kbit/s", log = true }
y = { label = "utilisation" }
along = "rate"
at = { flows = 2 }
lines = { "plain" = "plain:links.bottleneck.utilisation.bits", "asked" = "$rate * $flows / 1000" }

[[plots]]
id = "bars"
title = "Utilisation"
kind = "bars"
y = { label = "utilisation" }
lines = { "two" = "plain:links.bottleneck.utilisation.bits", "four" = "double:links.bottleneck.utilisation.bits" }
paper = { "two" = 0.1 }

[[plots]]
id = "curve"
title = "One over the other"
kind = "curve"
equal = true
x = { label = "a" }
y = { label = "b" }
lines = { "line" = { x = "plain:flows.*.sent.bytes", y = "plain:flows.*.sent.bytes / 2" }, "point" = { x = "1", y = "2" } }

[[plots]]
id = "map"
title = "Utilisation"
kind = "map"
x = { label = "rate, kbit/s" }
y = { label = "flows" }
across = "rate"
up = "flows"
lines = { "asked" = "plain:links.bottleneck.utilisation.bits" }
"#;

fn experiment() -> Experiment {
    Experiment::parse("paper/row", "row.toml", ROW).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Plot of this name with the values of `measured` for each place, seed and path.
fn drawn(id: &str, seeds: usize, measured: &dyn Fn(usize, usize, &Leaf) -> Option<Harvested>) -> PlotResult {
    let experiment = experiment();
    let place = |rate: f64, flows: f64| BTreeMap::from([("rate".into(), rate), ("flows".into(), flows)]);
    // Places as in `full`: the first value of `rate` is not the least.
    let places = [400.0, 100.0, 200.0].map(|rate| [place(rate, 1.0), place(rate, 2.0)]).concat();
    let drawn = |_: usize, _: &Leaf| true;
    let runs = Runs { places: &places, seeds, measured, drawn: &drawn };
    let index = experiment.row.plots.iter().position(|plot| plot.id == id).unwrap();
    evaluate("paper/row", &experiment.row.plots[index], &experiment.plots[index], &runs)
}

fn course(values: &[f64]) -> Harvested {
    Harvested::UniformSeries(UniformSeries { from: 1.0, step: 0.5, values: values.to_vec() })
}

#[test]
fn a_course_stands_at_the_middles_of_its_steps_and_a_number_is_a_level() {
    // The place with rate 400, and of `flows` the first value, is the first; only the first seed is drawn.
    let measured =
        |place, seed, _: &Leaf| (place == 0 && seed == 0).then(|| course(&[1e5, f64::NAN, 123_456.7]));
    let plot = drawn("rates", 3, &measured);
    assert_eq!(plot.at, BTreeMap::from([("flows".to_owned(), 1.0), ("rate".to_owned(), 400.0)]));
    let expected = Drawn::Points {
        x: vec![Some(1.25), Some(1.75), Some(2.25)],
        y: vec![Some(100.0), None, Some(123.46)],
    };
    assert_eq!(plot.lines[0], PlotLine { name: "carried".to_owned(), drawn: expected });
    assert_eq!(plot.lines[1].drawn, Drawn::Level { y: Some(1000.0) });
}

#[test]
fn a_long_course_is_thinned_and_keeps_its_peak() {
    let mut values = vec![1000.0; 50_000];
    values[33_333] = 9000.0;
    let plot = drawn("rates", 1, &|_, _, _| Some(course(&values)));
    let Drawn::Points { x, y } = &plot.lines[0].drawn else { panic!("{plot:?}") };
    assert!(x.len() <= 1000 && x.len() == y.len(), "{}", x.len());
    assert!(y.contains(&Some(9.0)));
}

#[test]
fn a_distribution_has_the_values_of_all_seeds() {
    // One seed has 2 and 4, the other 1 and 3: a quarter each.
    let of = |seed: usize| course(&[[2000.0, 4000.0], [1000.0, 3000.0]][seed]);
    let plot = drawn("shares", 2, &|_, seed, _| Some(of(seed)));
    let expected = Drawn::Points {
        x: [1.0, 1.0, 2.0, 3.0, 4.0].map(Some).to_vec(),
        y: [0.0, 0.25, 0.5, 0.75, 1.0].map(Some).to_vec(),
    };
    assert_eq!(plot.lines[0].drawn, expected);
}

#[test]
fn a_sweep_has_means_and_intervals_in_order_of_its_values() {
    // Places with two flows are the second, fourth and sixth: 400, 100, 200.
    let measured = |place, seed, _: &Leaf| Some(Harvested::Number((place * 10 + 2 * seed) as f64));
    let plot = drawn("along", 2, &measured);
    let Drawn::Means { x, y, ci95 } = &plot.lines[0].drawn else { panic!("{plot:?}") };
    assert_eq!(x, &[100.0, 200.0, 400.0]);
    assert_eq!(y, &[Some(31.0), Some(51.0), Some(11.0)]);
    // Student's t of one degree of freedom is 12.706; the standard deviation of 0 and 2 is √2, over √2 seeds 1.
    assert_eq!(ci95, &[Some(12.706); 3]);
    let asked = Drawn::Means {
        x: vec![100.0, 200.0, 400.0],
        y: [0.2, 0.4, 0.8].map(Some).to_vec(),
        ci95: vec![None; 3],
    };
    assert_eq!(plot.lines[1].drawn, asked);
    assert_eq!(plot.at, BTreeMap::from([("flows".to_owned(), 2.0)]));
}

#[test]
fn bars_have_the_papers_number_beside() {
    let plot = drawn("bars", 2, &|_, _, leaf: &Leaf| {
        Some(Harvested::Number(if leaf.variant == "double" { 0.4 } else { 0.2 }))
    });
    let bar = |y, paper| Drawn::Bar { y: Some(y), ci95: Some(0.0), paper };
    let bars: Vec<Drawn> = plot.lines.into_iter().map(|line| line.drawn).collect();
    assert_eq!(bars, [bar(0.2, Some(0.1)), bar(0.4, None)]);
}

#[test]
fn a_curve_goes_through_its_points_and_two_numbers_are_one() {
    let plot = drawn("curve", 2, &|_, _, _| Some(Harvested::Several(vec![4.0, f64::INFINITY, 8.0])));
    let points = |x: &[Option<f64>], y: &[Option<f64>]| Drawn::Points { x: x.to_vec(), y: y.to_vec() };
    assert_eq!(plot.lines[0].drawn, points(&[Some(4.0), None, Some(8.0)], &[Some(2.0), None, Some(4.0)]));
    assert_eq!(plot.lines[1].drawn, points(&[Some(1.0)], &[Some(2.0)]));
    assert!(plot.equal);
}

#[test]
fn a_map_has_a_mean_for_each_two_places() {
    let measured = |place: usize, seed: usize, _: &Leaf| {
        (place != 5).then(|| Harvested::Number((10 * place + 2 * seed) as f64))
    };
    let plot = drawn("map", 2, &measured);
    let z = vec![[21.0, 41.0, 1.0].map(Some).to_vec(), vec![Some(31.0), None, Some(11.0)]];
    let expected = Drawn::Grid { x: vec![100.0, 200.0, 400.0], y: vec![1.0, 2.0], z };
    assert_eq!(plot.lines[0].drawn, expected);
    assert!(plot.at.is_empty());
}

#[test]
fn runs_for_plots_alone_need_a_request_for_plots() {
    let runs = |plots| {
        let extent = Extent { plots, runs: Some(3), ..Extent::default() };
        Reproduction::plan(&[experiment()], extent, &TraceStore::at(None)).unwrap().runs()
    };
    // The claim needs one place with three seeds.
    assert_eq!(runs(false), 3);
    // The map needs all four places of `plain`, the bars one of `double`.
    assert_eq!(runs(true), 15);
}

#[test]
fn plots_are_drawn_from_runs() {
    let traces = TraceStore::at(None);
    let extent = Extent { plots: true, runs: Some(1), ..Extent::default() };
    let experiments = [experiment()];
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap();
    let plots = planned.run(1, &traces, &NoStore, &|| {}).unwrap().plots;
    let ids: Vec<&str> = plots.iter().map(|plot| plot.id.as_str()).collect();
    assert_eq!(ids, ["rates", "shares", "along", "bars", "curve", "map"]);
    let Drawn::Grid { z, .. } = &plots[5].lines[0].drawn else { panic!("{:?}", plots[5]) };
    // One or two flows of 100 or 400 kbit/s over 1 Mbit/s.
    for (value, expected) in z.iter().flatten().zip([0.1, 0.4, 0.2, 0.8]) {
        assert!((value.unwrap() - expected).abs() < 0.01, "{z:?}");
    }
    let Drawn::Points { y, .. } = &plots[0].lines[0].drawn else { panic!("{:?}", plots[0]) };
    assert!(y.len() >= 29 && y[15].is_some_and(|rate| (rate - 400.0).abs() < 100.0), "{y:?}");
}

/// Line, message and advice of the error in the row with `wrong` in place of `right`.
fn refused(right: &str, wrong: &str) -> (usize, String, String) {
    assert!(ROW.contains(right), "{right}");
    let text = ROW.replacen(right, wrong, 1);
    let experiment = Experiment::parse("paper/row", "row.toml", &text);
    let extent = Extent { plots: true, ..Extent::default() };
    let planned = experiment.and_then(|experiment| {
        Reproduction::plan(&[experiment], extent, &TraceStore::at(None)).map(|planned| planned.runs())
    });
    let error = planned.expect_err(wrong);
    let line = error.position().map_or(0, |(line, _)| line);
    (line, error.message().to_owned(), error.advice().unwrap_or_default().to_owned())
}

fn line_of(of: &str) -> usize {
    ROW.lines().position(|line| line.contains(of)).unwrap() + 1
}

#[test]
fn the_error_of_an_impossible_plot_has_its_line_and_a_remedy() {
    let (at, _, help) = refused("kind = \"cdf\"", "kind = \"cfd\"");
    assert_eq!((at, help.as_str()), (line_of("kind = \"cdf\""), "did you mean `cdf`?"));
    let (at, message, help) = refused("along = \"rate\"", "along = \"rates\"");
    assert_eq!((at, message.as_str()), (line_of("along = "), "there is no sweep `rates`"));
    assert_eq!(help, "did you mean `rate`?");
    let (_, message, help) = refused("along = \"rate\"\nat = { flows = 2 }", "");
    assert_eq!(message, "a `sweep` needs `along`");
    assert_eq!(help, "add `along = \"SWEEP\"`, one of `rate`, `flows`");
    let (_, message, _) = refused("up = \"flows\"", "");
    assert_eq!(message, "a `map` needs `up`");
    let (_, message, help) = refused("up = \"flows\"", "up = \"rate\"");
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("both axes have the same sweep", "a map goes over two sweeps")
    );
    let (at, message, help) = refused("at = { rate = 400 }", "along = \"rate\"");
    assert_eq!(
        (at, message.as_str()),
        (line_of("at = { rate = 400 }"), "`along` belongs to `kind = \"sweep\"`")
    );
    assert_eq!(help, "leave it out, or draw a `sweep`");
    let (_, message, help) = refused("at = { flows = 2 }", "at = { rate = 100 }");
    assert_eq!(message, "`rate` is on an axis of the plot");
    assert_eq!(help, "leave it out: all its values are drawn");
    let (at, message, help) = refused("at = { rate = 400 }", "at = { rate = 200 }");
    assert_eq!((at, message.as_str()), (line_of("at = { rate"), "200 is not among the values of `rate`"));
    assert!(help.starts_with("choose one of `quick`"), "{help}");
    let (_, message, _) = refused("at = { rate = 400 }", "at = { rat = 400 }");
    assert_eq!(message, "there is no sweep `rat`");
}

#[test]
fn the_error_of_a_formula_of_the_wrong_kind_names_what_the_plot_draws() {
    let (at, message, help) = refused(
        "\"carried\" = \"plain:series.links.bottleneck.rate_bps / 1000\"",
        "\"carried\" = \"plain:flows.*.sent.bytes\"",
    );
    assert_eq!(at, line_of("\"carried\""));
    assert_eq!(message, "the formula is several numbers, which a plot of kind `course` cannot draw");
    assert!(help.starts_with("it draws a course over time, such as `VARIANT:series."), "{help}");
    let (_, message, help) = refused(
        "\"asked\" = \"$rate * $flows / 1000\"",
        "\"asked\" = \"plain:series.links.bottleneck.rate_bps\"",
    );
    assert_eq!(message, "the formula is a course over time, which a plot of kind `sweep` cannot draw");
    assert!(help.contains("`mean(…)`"), "{help}");
    let (_, message, help) = refused("{ x = \"1\", y = \"2\" }", "\"1\"");
    assert_eq!(message, "a line of a `curve` has two formulas");
    assert_eq!(help, "write `{ x = \"FORMULA\", y = \"FORMULA\" }`");
    let (_, message, _) =
        refused("{ x = \"1\", y = \"2\" }", "{ x = \"1\", y = \"plain:flows.*.sent.bytes\" }");
    assert_eq!(message, "`x` is a number and `y` several numbers");
    let (_, message, _) = refused("\"link\" = \"1000\"", "\"link\" = { x = \"1\", y = \"1000\" }");
    assert_eq!(message, "a line of a plot of kind `course` has one formula");
    let (_, message, help) =
        refused("\"link\" = \"1000\"", "\"link\" = \"plian:series.links.bottleneck.rate_bps\"");
    assert_eq!((message.as_str(), help.as_str()), ("there is no variant `plian`", "did you mean `plain`?"));
    let (_, _, help) = refused(
        "plain:series.links.bottleneck.rate_bps / 1000\", \"link\"",
        "plain:series.links.botleneck.rate_bps\", \"link\"",
    );
    assert_eq!(help, "did you mean `bottleneck`?");
}

#[test]
fn unknown_keys_of_a_plot_are_refused() {
    let (_, message, _) = refused("kind = \"bars\"", "equal = true\nkind = \"bars\"");
    assert_eq!(message, "`equal` belongs to `kind = \"curve\"`");
    let (_, message, help) = refused("paper = { \"two\" = 0.1 }", "paper = { \"tow\" = 0.1 }");
    assert_eq!((message.as_str(), help.as_str()), ("there is no bar `tow`", "did you mean `two`?"));
    let (_, message, _) = refused("at = { rate = 400 }", "paper = { \"link\" = 1 }");
    assert_eq!(message, "`paper` belongs to `kind = \"bars\"`");
    let (_, message, help) = refused("x = { label = \"time, s\", from = 0, to = 3 }", "");
    assert_eq!(message, "nothing says what is on the axis to the right");
    assert_eq!(help, "add `x = { label = \"time, s\" }`");
    let (_, message, _) = refused("from = 0, to = 3", "from = 3, to = 3");
    assert_eq!(message, "the axis ends before it begins");
    let (_, message, help) = refused("log = true", "log = true, from = 0");
    assert_eq!(message, "a logarithmic axis has no zero");
    assert_eq!(help, "write a number above 0, or leave out `log`");
    let (_, message, _) = refused("id = \"shares\"", "id = \"rates\"");
    assert_eq!(message, "another plot is called `rates`");
    let (_, message, _) = refused("lines = { \"asked\" = ", "lines = { \"more\" = \"1\", \"asked\" = ");
    assert_eq!(message, "a map shows one number");
    let (_, message, help) =
        refused("lines = { \"plain\" = \"plain:series.links.bottleneck.rate_bps / 1000\" }", "lines = {}");
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("nothing is drawn", "add `lines = { \"NAME\" = \"FORMULA\" }`")
    );
}
