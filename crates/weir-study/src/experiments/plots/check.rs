//! Check of the plots of a file, with advice for mistakes.

use super::super::row::{Row, SweepValues};
use super::words::{Axis, LineOf, Plot, PlotKind};
use crate::judge::formula::{Formula, Kind, Leaf, Scope};
use weir_form::{KeyPath, Problem, advice};

/// Formulas of a plot, line by line.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PlotFormulas {
    pub(super) lines: Vec<LineFormulas>,
}

/// Formulas of a line: vertical, and for a `curve` horizontal as well.
#[derive(Clone, Debug)]
pub(super) struct LineFormulas {
    pub(super) x: Option<Formula>,
    pub(super) y: Formula,
}

impl PlotFormulas {
    pub(in super::super) fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.lines.iter().flat_map(|line| line.x.iter().chain([&line.y])).flat_map(Formula::leaves)
    }
}

/// Reader of a formula of the row, of one place or of all; returns its kind as well.
pub(in super::super) type FormulaReader<'r> =
    dyn Fn(&str, Scope, &KeyPath) -> Result<(Formula, Kind), Problem> + 'r;

/// Formulas of the row's plots, in their order; adds the mistakes of the plots to `problems`.
pub(in super::super) fn read(
    row: &Row,
    reader: &FormulaReader<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<PlotFormulas> {
    let mut all = Vec::with_capacity(row.plots.len());
    for (index, plot) in row.plots.iter().enumerate() {
        let path = KeyPath::of(&["plots"]).item(index);
        if row.plots[..index].iter().any(|other| other.id == plot.id) {
            let problem = Problem::value(&path.with("id"), format!("another plot is called `{}`", plot.id));
            problems.push(problem.help("give it a name of its own"));
        }
        problems.extend(axes(plot, &path));
        problems.extend(sweeps(row, plot, &path));
        problems.extend(unread(plot, &path));
        let mut formulas = PlotFormulas::default();
        for (name, line) in plot.lines.iter() {
            match of_line(plot.kind, line, &path.with("lines").with(name), reader) {
                Ok(line) => formulas.lines.push(line),
                Err(problem) => problems.push(problem),
            }
        }
        all.push(formulas);
    }
    all
}

fn axes(plot: &Plot, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    if plot.x.is_none() && plot.kind != PlotKind::Bars {
        let problem = Problem::key(path, "nothing says what is on the axis to the right");
        problems.push(problem.help("add `x = { label = \"time, s\" }`"));
    }
    for (key, axis) in [("x", plot.x.as_ref()), ("y", Some(&plot.y))] {
        problems.extend(axis.and_then(|axis| ends(axis, &path.with(key))));
    }
    problems
}

fn ends(axis: &Axis, path: &KeyPath) -> Option<Problem> {
    let problem =
        |key: &str, message: &str, help: &str| Some(Problem::value(&path.with(key), message).help(help));
    match (axis.from, axis.to) {
        (Some(from), _) if axis.log && from <= 0.0 => {
            problem("from", "a logarithmic axis has no zero", "write a number above 0, or leave out `log`")
        }
        (_, Some(to)) if axis.log && to <= 0.0 => {
            problem("to", "a logarithmic axis has no zero", "write a number above 0, or leave out `log`")
        }
        (Some(from), Some(to)) if from >= to => {
            problem("to", "the axis ends before it begins", "`from` is less than `to`")
        }
        _ => None,
    }
}

/// Checks that the plot names existing sweeps, and those that its kind has on its axes.
fn sweeps(row: &Row, plot: &Plot, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    let is_map = plot.kind == PlotKind::Map;
    let words = [
        ("along", &plot.along, plot.kind == PlotKind::Sweep, "sweep"),
        ("across", &plot.across, is_map, "map"),
        ("up", &plot.up, is_map, "map"),
    ];
    for (key, given, wanted, kind) in words {
        match given {
            None if wanted => {
                let names = names(row);
                let problem = Problem::key(path, format!("a `{kind}` needs `{key}`"));
                problems.push(problem.help(format!("add `{key} = \"SWEEP\"`, {names}")));
            }
            Some(_) if !wanted => {
                let message = format!("`{key}` belongs to `kind = \"{kind}\"`");
                let help = format!("leave it out, or draw a `{kind}`");
                problems.push(Problem::key(&path.with(key), message).help(help));
            }
            Some(name) if row.sweeps.get(name).is_none() => {
                let message = format!("there is no sweep `{name}`");
                let help = advice(name, row.sweeps.names());
                problems.push(Problem::value(&path.with(key), message).help(help));
            }
            _ => {}
        }
    }
    if is_map && plot.across.is_some() && plot.across == plot.up {
        let problem = Problem::value(&path.with("up"), "both axes have the same sweep");
        problems.push(problem.help("a map goes over two sweeps"));
    }
    problems.extend(plot.at.iter().filter_map(|(name, &value)| place(row, plot, name, value, path)));
    problems
}

fn names(row: &Row) -> String {
    let names: Vec<String> = row.sweeps.names().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "a sweep of the row, which has none yet".to_owned()
    } else {
        format!("one of {}", names.join(", "))
    }
}

/// Mistake in one place of `at`.
fn place(row: &Row, plot: &Plot, name: &str, value: f64, path: &KeyPath) -> Option<Problem> {
    let path = path.with("at").with(name);
    let Some(sweep) = row.sweeps.get(name) else {
        let problem = Problem::key(&path, format!("there is no sweep `{name}`"));
        return Some(problem.help(advice(name, row.sweeps.names())));
    };
    if [&plot.along, &plot.across, &plot.up].into_iter().flatten().any(|own| own == name) {
        let problem = Problem::key(&path, format!("`{name}` is on an axis of the plot"));
        return Some(problem.help("leave it out: all its values are drawn"));
    }
    let lists = [Some(&sweep.quick), sweep.full.as_ref()];
    if lists.into_iter().flatten().any(|values| matches!(values, SweepValues::Grid(_))) {
        let problem =
            Problem::key(&path, format!("`{name}` is the axis of a grid, whose points `--grid` moves"));
        return Some(problem.help("put it on an axis of the plot"));
    }
    let missing = lists.into_iter().flatten().any(|values| !values.list(None).contains(&value));
    missing.then(|| {
        let problem = Problem::value(&path, format!("{value} is not among the values of `{name}`"));
        problem.help("choose one of `quick` that is in `full`, too, so that both forms can draw it")
    })
}

/// Mistakes: keys that the plot's kind does not use.
fn unread(plot: &Plot, path: &KeyPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    if plot.equal && plot.kind != PlotKind::Curve {
        let problem = Problem::key(&path.with("equal"), "`equal` belongs to `kind = \"curve\"`");
        problems.push(problem.help("leave it out"));
    }
    if !plot.paper.is_empty() && plot.kind != PlotKind::Bars {
        let problem = Problem::key(&path.with("paper"), "`paper` belongs to `kind = \"bars\"`");
        problems.push(problem.help("leave it out; a number as a line of its own is drawn as a level"));
    } else if let Some(name) = plot.paper.keys().find(|name| plot.lines.get(name).is_none()) {
        let message = format!("there is no bar `{name}`");
        let problem = Problem::key(&path.with("paper").with(name), message);
        problems.push(problem.help(advice(name, plot.lines.names())));
    }
    if plot.lines.is_empty() {
        let problem = Problem::key(&path.with("lines"), "nothing is drawn");
        problems.push(problem.help("add `lines = { \"NAME\" = \"FORMULA\" }`"));
    } else if plot.kind == PlotKind::Map && plot.lines.len() > 1 {
        let problem = Problem::key(&path.with("lines"), "a map shows one number");
        problems.push(problem.help("leave one line; a second plot can have the other"));
    }
    problems
}

fn of_line(
    kind: PlotKind,
    line: &LineOf,
    path: &KeyPath,
    reader: &FormulaReader<'_>,
) -> Result<LineFormulas, Problem> {
    match (kind, line) {
        (PlotKind::Curve, LineOf::Points { x, y }) => {
            let (x_path, y_path) = (path.with("x"), path.with("y"));
            let (x, x_kind) = fitting(kind, x, &x_path, reader)?;
            let (y, y_kind) = fitting(kind, y, &y_path, reader)?;
            if (x_kind == Kind::Number) == (y_kind == Kind::Number) {
                return Ok(LineFormulas { x: Some(x), y });
            }
            let message = format!("`x` is {} and `y` {}", x_kind.words(), y_kind.words());
            let problem = Problem::value(&y_path, message);
            Err(problem.help("both are several numbers, or both one, which is a point"))
        }
        (PlotKind::Curve, LineOf::Formula(_)) => {
            let problem = Problem::value(path, "a line of a `curve` has two formulas");
            Err(problem.help("write `{ x = \"FORMULA\", y = \"FORMULA\" }`"))
        }
        (_, LineOf::Formula(text)) => Ok(LineFormulas { x: None, y: fitting(kind, text, path, reader)?.0 }),
        (_, LineOf::Points { .. }) => {
            let message = format!("a line of a plot of kind `{}` has one formula", kind.name());
            let problem = Problem::value(path, message);
            Err(problem.help("write `\"FORMULA\"`, or draw a `curve`"))
        }
    }
}

/// Formula of a kind that the plot can draw.
fn fitting(
    kind: PlotKind,
    text: &str,
    path: &KeyPath,
    reader: &FormulaReader<'_>,
) -> Result<(Formula, Kind), Problem> {
    let scope = if kind == PlotKind::Map { Scope::AllPlaces } else { Scope::Place };
    let (formula, own) = reader(text, scope, path)?;
    let (fits, wanted) = match kind {
        PlotKind::Course => (
            matches!(own, Kind::UniformSeries | Kind::Number),
            "a course over time, such as `VARIANT:series.flows.NAME.send_rate_bps`, or a number as a level",
        ),
        PlotKind::Cdf => (
            matches!(own, Kind::Several | Kind::UniformSeries),
            "several numbers or a course over time, such as `VARIANT:series.links.NAME.queue_mean_ms`",
        ),
        PlotKind::Curve => (
            matches!(own, Kind::Several | Kind::UniformSeries | Kind::Number),
            "several numbers, such as `VARIANT:flows.*.rate_bps`, or a number",
        ),
        PlotKind::Map => (
            own == Kind::Several,
            "a number of each place, such as `VARIANT:links.NAME.queue_ms.mean`: it speaks of all places at once",
        ),
        PlotKind::Sweep | PlotKind::Bars => (
            own == Kind::Number,
            "a number: put it into `mean(…)`, `sum(…)` or another function that makes one of it",
        ),
    };
    if fits {
        return Ok((formula, own));
    }
    let message =
        format!("the formula is {}, which a plot of kind `{}` cannot draw", own.words(), kind.name());
    Err(Problem::value(path, message).help(format!("it draws {wanted}")))
}
