//! Mistakes in a row that parses: ranges without numbers, shares of zero, unused keys.

use super::claim::{BetterConditions, Claim, NumberSide, OverPlaces, OverSeeds, Range, Selection, SignOrder};
use super::row::{GeometricGrid, Row, SweepValues, Tried};
use weir_form::{KeyPath, Problem, advice};

/// Mistakes in a row as a whole.
pub(super) fn of_row(row: &Row) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, claim) in row.claims.iter().enumerate() {
        if row.claims[..index].iter().any(|other| other.id == claim.id) {
            let path = KeyPath::of(&["claims"]).item(index).with("id");
            let problem = Problem::value(&path, format!("another claim is called `{}`", claim.id));
            problems.push(problem.help("give it a name of its own"));
        }
    }
    for (name, sweep) in row.sweeps.iter() {
        let lists = [("quick", Some(&sweep.quick)), ("full", sweep.full.as_ref())];
        for (key, values) in lists {
            let path = KeyPath::of(&["sweeps", name, key]);
            problems.extend(values.and_then(|values| of_values(values, &path)));
        }
    }
    problems
}

fn of_values(values: &SweepValues, path: &KeyPath) -> Option<Problem> {
    match values {
        SweepValues::These(values) if values.is_empty() => {
            Some(Problem::value(path, "there are no values").help("write one at least"))
        }
        SweepValues::These(values) => values.iter().enumerate().find_map(|(index, value)| {
            let twice = values[..index].contains(value);
            let problem = || Problem::value(&path.item(index), format!("{value} is there twice"));
            twice.then(|| problem().help("write each value once"))
        }),
        SweepValues::Grid(GeometricGrid { from, to, .. }) if *from <= 0.0 || to <= from => {
            let problem = Problem::value(path, "no factor leads from the first value to the last");
            Some(problem.help("`from` is above zero and `to` above `from`"))
        }
        SweepValues::Grid(_) => None,
    }
}

/// Mistakes in a claim by itself.
pub(super) fn of_claim(claim: &Claim, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(claim.accept.and_then(|range| of_range(range, &path.with("accept"))));
    for (name, selection) in &claim.selection {
        if let Selection::Within(range) = selection {
            problems.extend(of_range(*range, &path.with("where").with(name)));
        }
    }
    problems.extend(of_share(
        claim.share,
        &path.with("share"),
        "nothing would have to hold, or more than everything",
    ));
    if claim.accept.is_none() {
        problems.extend(without_range(claim, path));
    }
    problems.extend(of_margin(claim, &path.with("margin")));
    if claim.trend.is_some() && claim.over_places != OverPlaces::Each {
        let problem = Problem::key(&path.with("over_places"), "a trend is judged step by step");
        problems.push(problem.help("leave it out"));
    }
    if let (Some(better), Some(range)) = (&claim.better, claim.accept) {
        problems.extend(of_better(better, range, claim.over_places, &path.with("better")));
    }
    problems
}

fn of_share(share: f64, path: &KeyPath, otherwise: &str) -> Option<Problem> {
    let is_one = share > 0.0 && share <= 1.0;
    (!is_one).then(|| Problem::value(path, otherwise).help("write a share above 0, at most 1"))
}

/// Mistakes in a figure with settings changed that can be found without the scenario.
pub(super) fn of_tried(row: &Row, tried: &Tried, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(of_range(tried.accept, &path.with("accept")));
    for (name, selection) in &tried.selection {
        if let Selection::Within(range) = selection {
            problems.extend(of_range(*range, &path.with("where").with(name)));
        }
    }
    if problems.is_empty() && !(tried.expected.is_finite() && tried.accept.has(tried.expected)) {
        let problem = Problem::value(&path.with("expected"), "the figure lies outside of its own range");
        problems.push(problem.help("write a range around it in `accept`"));
    }
    let claimed = tried.claim.as_ref().map(|id| (id, row.claims.iter().find(|claim| claim.id == *id)));
    match (claimed, &tried.of) {
        (None, None) => {
            let problem = Problem::key(path, "nothing is measured");
            problems.push(problem.help("add `claim`, the `id` of one of this row, or `of`: a formula"));
        }
        (Some((id, None)), _) => {
            let problem = Problem::value(&path.with("claim"), format!("there is no claim `{id}`"));
            problems.push(problem.help(advice(id, row.claims.iter().map(|claim| claim.id.as_str()))));
        }
        (Some((id, Some(claim))), None) if claim.trend.is_some() || claim.of.is_none() => {
            let message = format!("`{id}` is judged by no figure");
            let problem = Problem::value(&path.with("claim"), message);
            problems.push(problem.help("add `of`: a formula"));
        }
        _ => {}
    }
    problems
}

fn of_margin(claim: &Claim, path: &KeyPath) -> Option<Problem> {
    let margin = claim.margin?;
    if claim.order.is_none_or(SignOrder::is_strict) {
        let problem = Problem::key(path, "`margin` belongs to an order that equal values meet");
        return Some(problem.help("write `order = \"not-below\"` or `\"not-above\"`, or leave it out"));
    }
    let is_one = margin >= 0.0 && margin.is_finite();
    (!is_one).then(|| Problem::value(path, "this is no margin").help("write a number from 0 on, in `unit`"))
}

/// Mistakes by which a value can never be better, or is better without a condition.
fn of_better(better: &BetterConditions, range: Range, over: OverPlaces, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    if better.at.len() < 2 {
        let compared =
            if better.at.is_empty() { "neither delay nor loss" } else { "one of delay and loss only" };
        let problem = Problem::value(&path.with("at"), format!("{compared} is compared"));
        problems.push(problem.help("a value is better at no more delay and no more loss: name both"));
    }
    let (end, key) = match better.side {
        NumberSide::Above => (range.max, "max"),
        NumberSide::Below => (range.min, "min"),
    };
    if end.is_none() {
        let problem = Problem::value(&path.with("side"), "nothing lies beyond that side of the range");
        problems.push(problem.help(format!("give `accept` a `{key}`, or leave `better` out")));
    }
    if over != OverPlaces::Each {
        let problem = Problem::key(path, "`better` is judged place by place");
        problems.push(problem.help("leave it out, or `over_places`"));
    }
    problems
}

/// Mistakes: keys that are used with a range only.
fn without_range(claim: &Claim, path: &KeyPath) -> Vec<Problem> {
    let unread = [("better", claim.better.is_some()), ("over_seeds", claim.over_seeds != OverSeeds::Mean)];
    let problem = |(key, _): (&str, bool)| {
        let problem = Problem::key(&path.with(key), format!("`{key}` belongs to `accept`"));
        problem.help("leave it out, or judge by a range")
    };
    unread.into_iter().filter(|(_, given)| *given).map(problem).collect()
}

fn of_range(range: Range, path: &KeyPath) -> Option<Problem> {
    match (range.min, range.max) {
        (None, None) => {
            Some(Problem::value(path, "everything is in this range").help("write `min`, `max` or both"))
        }
        (Some(min), Some(max)) if min > max => {
            Some(Problem::value(path, "nothing is in this range").help("`min` is at most `max`"))
        }
        _ => None,
    }
}
