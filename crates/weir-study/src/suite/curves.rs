//! Plots of a suite's checks over the values of a sweep: a curve over one key, a map over two.

use std::collections::BTreeMap;

use super::results::{CaseResult, CheckResult, ControllerResult};
use crate::experiments::{Axis, Drawn, PlotKind, PlotLine, PlotResult};
use weir_form::Varied;

/// Plots of each swept case, with its name. Each check has one plot over the key that varies, with a line for each
/// controller. If several keys vary, it has a map for each controller over the first two, with the others at their
/// first value.
pub(super) fn plots(cases: &[CaseResult]) -> Vec<(&str, Vec<PlotResult>)> {
    let mut all: Vec<(&str, Vec<SweepPoint<'_>>)> = Vec::new();
    for place in cases.iter().filter_map(SweepPoint::of) {
        match all.iter_mut().find(|(name, _)| *name == place.of) {
            Some((_, places)) => places.push(place),
            None => all.push((place.of, vec![place])),
        }
    }
    let drawn = |(name, mut places): (_, Vec<SweepPoint<'_>>)| {
        place_on_axes(&mut places);
        (name, of_case(&places))
    };
    all.into_iter().map(drawn).collect()
}

/// Case at one place of its sweep.
struct SweepPoint<'r> {
    /// Name of the swept case.
    of: &'r str,
    /// Values of the keys, in the order in which the keys were given.
    at: Vec<SweepPlace<'r>>,
    case: &'r CaseResult,
}

/// Value of a key at a place of a sweep.
struct SweepPlace<'r> {
    path: &'r str,
    text: &'r str,
    /// Place on the axis of the key.
    value: f64,
    /// Label of that axis.
    label: String,
}

/// Sets the places of each key on its axis, on which all values of `places` are.
fn place_on_axes(places: &mut [SweepPoint<'_>]) {
    for key in 0..places.first().map_or(0, |place| place.at.len()) {
        let mut texts: Vec<&str> = Vec::new();
        for place in places.iter() {
            if !texts.contains(&place.at[key].text) {
                texts.push(place.at[key].text);
            }
        }
        let Ok(varied) = format!("{}={}", places[0].at[key].path, texts.join(",")).parse::<Varied>() else {
            continue;
        };
        for place in places.iter_mut() {
            let own = &mut place.at[key];
            let at =
                varied.values.iter().find(|value| value.text == own.text).map_or(f64::NAN, |value| value.at);
            (own.value, own.label) = (at, varied.label());
        }
    }
}

impl<'r> SweepPoint<'r> {
    fn of(case: &'r CaseResult) -> Option<Self> {
        let swept = case.swept.as_ref()?;
        let mut at: Vec<(&str, &str)> =
            swept.at.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        // The name of the case has the keys in the order given.
        at.sort_by_key(|(path, _)| case.name.find(&format!(" {path}=")));
        let at = at.into_iter().map(|(path, value)| SweepPlace {
            path,
            text: value,
            value: 0.0,
            label: String::new(),
        });
        Some(Self { of: &swept.case, at: at.collect(), case })
    }

    fn value(&self, key: usize) -> f64 {
        self.at[key].value
    }

    fn check(&self, controller: &str, check: &str) -> Option<&'r CheckResult> {
        let own = self.case.controllers.iter().find(|own| own.name == controller)?;
        own.checks.iter().find(|own| own.name == check)
    }
}

fn of_case(places: &[SweepPoint<'_>]) -> Vec<PlotResult> {
    let Some(first) = places.first() else { return Vec::new() };
    let controllers: Vec<&str> =
        first.case.controllers.iter().map(|controller| controller.name.as_str()).collect();
    let checks = first.case.controllers.first().map_or(&[][..], |own: &ControllerResult| &own.checks);
    let varies = |key: &usize| places.iter().any(|place| place.value(*key) != first.value(*key));
    let mut axes = (0..first.at.len()).filter(varies);
    let (right, up) = (axes.next(), axes.next());
    let is_axis = |key: usize| right == Some(key) || up == Some(key);
    let is_shown = |place: &&SweepPoint<'_>| {
        (0..first.at.len()).all(|key| is_axis(key) || place.value(key) == first.value(key))
    };
    let shown: Vec<&SweepPoint<'_>> = places.iter().filter(is_shown).collect();
    let plots = checks.iter().flat_map(|check| match (right, up) {
        (Some(right), Some(up)) => {
            controllers.iter().map(|controller| map(&shown, [right, up], check, controller)).collect()
        }
        (Some(right), None) => vec![curve(&shown, right, check, &controllers)],
        (None, _) => Vec::new(),
    });
    plots.filter(|plot| plot.lines.iter().any(has_values)).collect()
}

/// Whether any run has a value.
fn has_values(line: &PlotLine) -> bool {
    match &line.drawn {
        Drawn::Means { y, .. } => y.iter().any(Option::is_some),
        Drawn::Grid { z, .. } => z.iter().flatten().any(Option::is_some),
        _ => false,
    }
}

/// Axis of the key with this index.
fn axis(place: &SweepPoint<'_>, key: usize) -> Axis {
    Axis { label: place.at[key].label.clone(), ..Axis::default() }
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}, {unit}") }
}

fn curve(places: &[&SweepPoint<'_>], key: usize, check: &CheckResult, controllers: &[&str]) -> PlotResult {
    let x: Vec<f64> = places.iter().map(|place| place.value(key)).collect();
    let line = |controller: &&str| {
        let found = || places.iter().map(|place| place.check(controller, &check.name));
        let y = found().map(|own| own?.mean).collect();
        let ci95 = found().map(|own| own?.ci95).collect();
        PlotLine { name: (*controller).to_owned(), drawn: Drawn::Means { x: x.clone(), y, ci95 } }
    };
    let limit = PlotLine { name: "limit".to_owned(), drawn: Drawn::Level { y: Some(check.limit) } };
    PlotResult {
        row: String::new(),
        id: check.name.clone(),
        title: check.name.clone(),
        kind: PlotKind::Sweep,
        x: axis(places[0], key),
        y: Axis { label: with_unit(&check.name, &check.unit), ..Axis::default() },
        equal: false,
        at: BTreeMap::new(),
        lines: controllers.iter().map(line).chain([limit]).collect(),
    }
}

fn map(
    places: &[&SweepPoint<'_>],
    [right, up]: [usize; 2],
    check: &CheckResult,
    controller: &str,
) -> PlotResult {
    let values = |key: usize| {
        let mut values: Vec<f64> = places.iter().map(|place| place.value(key)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        values
    };
    let (x, y) = (values(right), values(up));
    let mean = |x: f64, y: f64| {
        let place = places.iter().find(|place| (place.value(right), place.value(up)) == (x, y))?;
        place.check(controller, &check.name)?.mean
    };
    let z = y.iter().map(|&y| x.iter().map(|&x| mean(x, y)).collect()).collect();
    let name = with_unit(&check.name, &check.unit);
    let others = places[0].at.iter().enumerate().filter(|(key, _)| ![right, up].contains(key));
    PlotResult {
        row: String::new(),
        id: format!("{} {controller}", check.name),
        title: format!("{controller}: {name}"),
        kind: PlotKind::Map,
        x: axis(places[0], right),
        y: axis(places[0], up),
        equal: false,
        at: others.map(|(_, own)| (own.label.clone(), own.value)).collect(),
        lines: vec![PlotLine { name, drawn: Drawn::Grid { x, y, z } }],
    }
}
