//! Paths into results: whether a path is valid, and the value of a run at a path.

use std::sync::LazyLock;

use schemars::schema_for;
use serde_json::Value;
use weir_world::Side;

use super::formula::{Harvested, Leaf, UniformSeries};
use weir_form::{Form, KeyPath, Others, Problem, Shape, TableForm, advice, list};
use weir_measure::metrics::{FlowPlan, FlowSeries, LinkSeries, MeasurePlan, Series};
use weir_measure::results::RunMetrics;
use weir_theory::analysis::Entry;

/// Whether `name` matches a part of a path; `*` stands for any rest.
fn means(part: &str, name: &str) -> bool {
    part.strip_suffix('*').map_or(part == name, |head| name.starts_with(head))
}

/// Mistake and advice for a path that no results have, be it of an analysis or of runs. Names of flows, links and
/// windows are checked when runs are planned.
pub(crate) fn problem(path: &str, analysis: Option<&'static Entry>) -> Option<(String, String)> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema_for!(RunMetrics).to_value());
    if let Some(entry) = analysis {
        return problem_in(Shape::new(entry.results()), path, path);
    }
    if Leaf::is_series(path) {
        return series_problem(path);
    }
    // A window has the same values as the whole run.
    problem_in(Shape::new(&SCHEMA), in_window(path).unwrap_or(path), path)
}

fn problem_in(mut shape: Shape<'static>, below_it: &str, path: &str) -> Option<(String, String)> {
    for part in below_it.split('.') {
        shape = match below(shape, part) {
            Ok(shape) => shape,
            Err(known) => {
                return Some((format!("results have no `{part}` in `{path}`"), advice(part, known)));
            }
        };
    }
    let further = keys(shape);
    let whole = further.is_empty() && item(shape).is_none();
    (!whole).then(|| (format!("`{path}` is no number"), format!("it goes on with {}", list(&further))))
}

/// Rest of a path after the name of a window, or `None` of a path that leads into no window.
fn in_window(path: &str) -> Option<&str> {
    path.strip_prefix("windows.")?.split_once('.').map(|(_, rest)| rest)
}

/// Schema under `part`, or else the valid names.
fn below(shape: Shape<'static>, part: &str) -> Result<Shape<'static>, Vec<&'static str>> {
    // In an array the part is the name of an element.
    if let Some(item) = item(shape) {
        return Ok(item);
    }
    let child = |table: TableForm<'static>| match (table.get(part), table.others) {
        (Some(shape), _) | (None, Some(Others::Of(shape))) => Some(shape),
        _ => None,
    };
    tables(shape).into_iter().find_map(child).ok_or_else(|| keys(shape))
}

fn tables(shape: Shape<'static>) -> Vec<TableForm<'static>> {
    let forms = shape.forms().into_iter();
    forms.filter_map(|form| if let Form::Table(table) = form { Some(table) } else { None }).collect()
}

fn keys(shape: Shape<'static>) -> Vec<&'static str> {
    tables(shape)
        .iter()
        .flat_map(|table| table.keys.iter().map(|&(key, _)| key).collect::<Vec<_>>())
        .collect()
}

fn item(shape: Shape<'static>) -> Option<Shape<'static>> {
    shape.forms().into_iter().find_map(|form| if let Form::Array(item) = form { item } else { None })
}

const FLOW_COLUMNS: [&str; 7] = [
    "send_rate_bps",
    "receive_rate_bps",
    "target_rate_bps",
    "loss_ratio",
    "owd_excess_mean_ms",
    "owd_excess_max_ms",
    "frame_delay_max_ms",
];
const LINK_COLUMNS: [&str; 4] = ["capacity_bps", "rate_bps", "queue_mean_ms", "queue_max_ms"];

fn series_problem(path: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = path.split('.').collect();
    let wrong = |part: &str, known: &[&str]| {
        let known = known.iter().copied();
        (!known.clone().any(|own| own == part))
            .then(|| (format!("series have no `{part}` in `{path}`"), advice(part, known)))
    };
    match parts.as_slice() {
        [_, "flows", _, column] => wrong(column, &FLOW_COLUMNS),
        [_, "flows", _, side, _, end] => {
            wrong(side, &["sender", "receiver"]).or_else(|| wrong(end, &["min", "max"]))
        }
        [_, "links", _, column] => wrong(column, &LINK_COLUMNS),
        _ => {
            let help = "write `series.flows.NAME.COLUMN`, `series.flows.NAME.sender.SIGNAL.max` or `series.links.NAME.COLUMN`";
            Some((format!("`{path}` is no path of a series"), help.to_owned()))
        }
    }
}

/// Value of a run at `path`, or `None` if there is nothing of this name.
pub(crate) fn harvest(path: &str, metrics: &Value, series: Option<&Series>) -> Option<Harvested> {
    if Leaf::is_series(path) {
        return courses(path, series?);
    }
    let mut found = vec![metrics];
    for part in path.split('.') {
        found = found.into_iter().flat_map(|value| children(value, part)).collect();
    }
    let numbers: Vec<f64> = found.iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect();
    match (path.contains('*'), numbers.as_slice()) {
        (_, []) => None,
        (false, [number]) => Some(Harvested::Number(*number)),
        _ => Some(Harvested::Several(numbers)),
    }
}

fn children<'v>(value: &'v Value, part: &str) -> Vec<&'v Value> {
    if part == "*"
        && let Value::Array(items) = value
    {
        return items.iter().collect();
    }
    let called =
        |item: &&Value| item.get("name").and_then(Value::as_str).is_some_and(|name| means(part, name));
    match value {
        Value::Array(items) => items.iter().filter(called).collect(),
        Value::Object(table) => {
            table.iter().filter(|(key, _)| means(part, key)).map(|(_, own)| own).collect()
        }
        _ => Vec::new(),
    }
}

fn courses(path: &str, series: &Series) -> Option<Harvested> {
    let parts: Vec<&str> = path.split('.').collect();
    let (&kind, &name, columns) = (parts.get(1)?, parts.get(2)?, parts.get(3..)?);
    let found: Vec<&Vec<f64>> = if kind == "flows" {
        let own = series.flows.iter().filter(|flow| means(name, &flow.name));
        own.filter_map(|flow| of_flow(flow, columns)).collect()
    } else {
        let own = series.links.iter().filter(|link| means(name, &link.name));
        own.filter_map(|link| of_link(link, columns)).collect()
    };
    let (from, step) = match series.time_s.as_slice() {
        [first, second, ..] => (*first, second - first),
        _ => return None,
    };
    let course = |values: &Vec<f64>| UniformSeries { from, step, values: values.clone() };
    match (path.contains('*'), found.as_slice()) {
        (_, []) => None,
        (false, [values]) => Some(Harvested::UniformSeries(course(values))),
        (_, several) => Some(Harvested::Courses(several.iter().map(|values| course(values)).collect())),
    }
}

fn of_flow<'s>(flow: &'s FlowSeries, columns: &[&str]) -> Option<&'s Vec<f64>> {
    Some(match columns {
        ["send_rate_bps"] => &flow.send_rate_bps,
        ["receive_rate_bps"] => &flow.receive_rate_bps,
        ["target_rate_bps"] => &flow.target_rate_bps,
        ["loss_ratio"] => &flow.loss_ratio,
        ["owd_excess_mean_ms"] => &flow.owd_excess_mean_ms,
        ["owd_excess_max_ms"] => &flow.owd_excess_max_ms,
        ["frame_delay_max_ms"] => &flow.frame_delay_max_ms,
        [side, name, end] => {
            let half = |own: Side| if own == Side::Sender { "sender" } else { "receiver" };
            let signal = flow.signals.iter().find(|own| own.name == *name && half(own.side) == *side)?;
            if *end == "min" { &signal.min } else { &signal.max }
        }
        _ => return None,
    })
}

fn of_link<'s>(link: &'s LinkSeries, columns: &[&str]) -> Option<&'s Vec<f64>> {
    Some(match columns {
        ["capacity_bps"] => &link.capacity_bps,
        ["rate_bps"] => &link.rate_bps,
        ["queue_mean_ms"] => &link.queue_mean_ms,
        ["queue_max_ms"] => &link.queue_max_ms,
        _ => return None,
    })
}

/// Metrics of a run in the form of the printed results.
pub(crate) fn printed(metrics: &RunMetrics) -> Value {
    serde_json::to_value(metrics).unwrap_or(Value::Null)
}

/// Error if a flow, link, window or signal that the path names does not exist.
pub(crate) fn missing(plan: &MeasurePlan, leaf: &Leaf, at: &KeyPath) -> Option<Problem> {
    missing_name(plan, leaf, at).or_else(|| missing_signal(plan, leaf, at))
}

/// Error if no matching flow has a signal of this name.
fn missing_signal(plan: &MeasurePlan, leaf: &Leaf, at: &KeyPath) -> Option<Problem> {
    let parts: Vec<&str> = leaf.path.split('.').collect();
    let ["series", "flows", flow, side, signal, _] = parts.as_slice() else { return None };
    let meant = |name: &str| flow.strip_suffix('*').map_or(*flow == name, |head| name.starts_with(head));
    let of = |flow: &'_ FlowPlan| {
        if *side == "sender" { flow.sender_signals.clone() } else { flow.receiver_signals.clone() }
    };
    let names: Vec<String> = plan.flows.iter().filter(|flow| meant(&flow.name)).flat_map(of).collect();
    (!names.iter().any(|name| name == signal)).then(|| {
        let message = format!("in {} `{flow}` has no signal `{signal}` at its {side}", leaf.variant);
        Problem::value(at, message).help(advice(signal, names.iter().map(String::as_str)))
    })
}

/// Error if a flow, link or window that the path names does not exist; signals are left out.
pub(crate) fn missing_name(plan: &MeasurePlan, leaf: &Leaf, at: &KeyPath) -> Option<Problem> {
    let parts: Vec<&str> = leaf.path.split('.').collect();
    parts.windows(2).find_map(|pair| {
        let names: Vec<&str> = match pair[0] {
            "flows" => plan.flows.iter().map(|flow| flow.name.as_str()).collect(),
            "links" => plan.links.iter().map(|link| link.name.as_str()).collect(),
            "windows" => plan.windows.iter().map(|window| window.name.as_str()).collect(),
            _ => return None,
        };
        let found = match pair[1].strip_suffix('*') {
            Some(head) => names.iter().any(|name| name.starts_with(head)),
            None => names.contains(&pair[1]),
        };
        (!found).then(|| {
            let message = format!("in {} there is no `{}` among its {}", leaf.variant, pair[1], pair[0]);
            Problem::value(at, message).help(advice(pair[1], names))
        })
    })
}

#[cfg(test)]
mod tests;
