//! Evaluation of plots: from runs to data.

use std::collections::BTreeMap;

use super::super::values::{Runs, number};
use super::check::{LineFormulas, PlotFormulas};
use super::data::{Drawn, PlotLine, PlotResult};
use super::needs::is_drawn;
use super::words::{Plot, PlotKind};
use crate::judge::MeasuredPlace;
use crate::judge::formula::{Formula, Harvested, UniformSeries};
use weir_measure::results::Value;
use weir_report::page::extremes;

/// Greatest number of points of a line; more cannot be distinguished on a screen or on paper.
const MOST_POINTS: usize = 1000;
/// Greatest number of quantiles with which a distribution is drawn.
const MOST_STEPS: usize = 400;

/// Values of a formula over all of `places` at each of them, as the mean over the seeds.
fn over(runs: &Runs<'_>, formula: &Formula, places: &[usize]) -> Vec<Value> {
    let seeds = 0..runs.seeds_of(formula, places);
    let seeds: Vec<Vec<f64>> = seeds.map(|seed| numbers(runs.one_over(formula, places, seed))).collect();
    let mean = |place: usize| {
        let values: Vec<Value> =
            seeds.iter().map(|values| values.get(place).copied().and_then(known)).collect();
        MeasuredPlace::of(&values).mean
    };
    (0..places.len()).map(mean).collect()
}

fn mean(runs: &Runs<'_>, formula: &Formula, place: usize) -> (Value, Value) {
    let MeasuredPlace { mean, ci95, .. } = MeasuredPlace::of(&runs.numbers(formula, place));
    (mean, ci95)
}

/// Evaluates a plot of the row of this name.
pub(in super::super) fn evaluate(
    row: &str,
    plot: &Plot,
    formulas: &PlotFormulas,
    runs: &Runs<'_>,
) -> PlotResult {
    let first = &runs.places[0];
    let shown: Vec<usize> =
        (0..runs.places.len()).filter(|&place| is_drawn(plot, first, &runs.places[place])).collect();
    let lines = plot.lines.iter().zip(&formulas.lines);
    let line = |((name, _), line): ((&str, _), &LineFormulas)| {
        let paper = plot.paper.get(name).copied();
        PlotLine { name: name.to_owned(), drawn: rounded(drawn(plot, line, paper, &shown, runs)) }
    };
    let mut at = shown.first().map_or_else(BTreeMap::new, |&place| runs.places[place].clone());
    at.retain(|axis, _| ![&plot.along, &plot.across, &plot.up].into_iter().flatten().any(|own| own == axis));
    PlotResult {
        row: row.to_owned(),
        id: plot.id.clone(),
        title: plot.title.clone(),
        kind: plot.kind,
        x: plot.x.clone().unwrap_or_default(),
        y: plot.y.clone(),
        equal: plot.equal,
        at,
        lines: lines.map(line).collect(),
    }
}

fn drawn(plot: &Plot, line: &LineFormulas, paper: Value, shown: &[usize], runs: &Runs<'_>) -> Drawn {
    let LineFormulas { x, y } = line;
    let place = shown.first().copied().unwrap_or_default();
    match plot.kind {
        PlotKind::Course => course(runs.one(y, place, 0)),
        PlotKind::Curve => curve(x.as_ref().and_then(|x| runs.one(x, place, 0)), runs.one(y, place, 0)),
        PlotKind::Cdf => distribution(runs.each(y, place)),
        PlotKind::Bars => {
            let (y, ci95) = mean(runs, y, place);
            Drawn::Bar { y, ci95, paper }
        }
        PlotKind::Sweep => along(plot.along.as_deref().unwrap_or_default(), y, shown, runs),
        PlotKind::Map => grid(plot, y, shown, runs),
    }
}

fn known(value: f64) -> Value {
    Some(value).filter(|value| value.is_finite())
}

/// Time series, with values at the middles of its steps.
fn course(value: Option<Harvested>) -> Drawn {
    let Some(Harvested::UniformSeries(UniformSeries { from, step, values })) = value else {
        return Drawn::Level { y: number(value.as_ref()) };
    };
    let time = |index: usize| from + step * (index as f64 + 0.5);
    let (x, y) = extremes(&values, MOST_POINTS)
        .into_iter()
        .map(|index| (known(time(index)), known(values[index])))
        .unzip();
    Drawn::Points { x, y }
}

fn numbers(value: Option<Harvested>) -> Vec<f64> {
    match value {
        Some(Harvested::Number(number)) => vec![number],
        Some(Harvested::Several(values)) => values,
        Some(Harvested::UniformSeries(course)) => course.values,
        Some(Harvested::Courses(_)) | None => Vec::new(),
    }
}

fn curve(x: Option<Harvested>, y: Option<Harvested>) -> Drawn {
    let both: Vec<(f64, f64)> = numbers(x).into_iter().zip(numbers(y)).collect();
    // Every n-th point of a curve and the last one are kept, as its points are deliberately placed.
    let each = both.len().div_ceil(MOST_POINTS).max(1);
    let last = both.len().saturating_sub(1);
    let kept = both.iter().enumerate().filter(|(index, _)| index % each == 0 || *index == last);
    let (x, y) = kept.map(|(_, &(x, y))| (known(x), known(y))).unzip();
    Drawn::Points { x, y }
}

/// Cumulative distribution of the values of all seeds, from zero on.
fn distribution(seeds: impl Iterator<Item = Option<Harvested>>) -> Drawn {
    let mut sorted: Vec<f64> = seeds.flat_map(numbers).filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let steps = sorted.len().min(MOST_STEPS);
    let rank = |step: usize| sorted.len() * (step + 1) / steps;
    let start = sorted.first().map(|&least| (Some(least), Some(0.0)));
    let step = |step: usize| (known(sorted[rank(step) - 1]), known(rank(step) as f64 / sorted.len() as f64));
    let (x, y) = start.into_iter().chain((0..steps).map(step)).unzip();
    Drawn::Points { x, y }
}

fn along(axis: &str, of: &Formula, shown: &[usize], runs: &Runs<'_>) -> Drawn {
    let mut places: Vec<(f64, usize)> =
        shown.iter().filter_map(|&place| Some((*runs.places[place].get(axis)?, place))).collect();
    places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let x = places.iter().map(|&(at, _)| at).collect();
    let (y, ci95) = places.iter().map(|&(_, place)| mean(runs, of, place)).unzip();
    Drawn::Means { x, y, ci95 }
}

fn grid(plot: &Plot, of: &Formula, shown: &[usize], runs: &Runs<'_>) -> Drawn {
    let (across, up) = (plot.across.as_deref().unwrap_or_default(), plot.up.as_deref().unwrap_or_default());
    let values = |axis: &str| -> Vec<f64> {
        let mut all: Vec<f64> =
            shown.iter().filter_map(|&place| runs.places[place].get(axis).copied()).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        all
    };
    let (x, y) = (values(across), values(up));
    let mut z = vec![vec![None; x.len()]; y.len()];
    for (&place, value) in shown.iter().zip(over(runs, of, shown)) {
        let index = |axis: &str, all: &[f64]| {
            let own = *runs.places[place].get(axis)?;
            all.iter().position(|value| value.to_bits() == own.to_bits())
        };
        if let (Some(column), Some(row)) = (index(across, &x), index(up, &y)) {
            z[row][column] = value;
        }
    }
    Drawn::Grid { x, y, z }
}

/// Rounds to five digits, which is finer than can be drawn.
fn five_digits(value: Value) -> Value {
    value.and_then(|value| format!("{value:.4e}").parse().ok())
}

fn rounded(drawn: Drawn) -> Drawn {
    let all = |values: Vec<Value>| values.into_iter().map(five_digits).collect();
    match drawn {
        Drawn::Points { x, y } => Drawn::Points { x: all(x), y: all(y) },
        Drawn::Level { y } => Drawn::Level { y: five_digits(y) },
        Drawn::Means { x, y, ci95 } => Drawn::Means { x, y: all(y), ci95: all(ci95) },
        Drawn::Bar { y, ci95, paper } => Drawn::Bar { y: five_digits(y), ci95: five_digits(ci95), paper },
        Drawn::Grid { x, y, z } => Drawn::Grid { x, y, z: z.into_iter().map(all).collect() },
    }
}
