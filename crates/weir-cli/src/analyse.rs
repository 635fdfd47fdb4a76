//! `weir analyse`: results of the theory, as numbers.

use std::io::Write;

use comfy_table::Cell;
use serde_json::{Map, Value, json};
use weir_theory::analysis::{self, Entry};

use crate::args::AnalyseArgs;
use crate::failure::Failure;
use crate::table;
use crate::terminal;

/// Number of values of an array that are shown; of more only their count and range.
const SHOWN: usize = 6;

/// Lists the analyses, or computes one.
pub(crate) fn analyse(args: &AnalyseArgs) -> Result<(), Failure> {
    match args.name.as_deref().and_then(analysis::find) {
        Some(entry) => compute(entry, args),
        None => list(args.json),
    }
}

fn list(as_json: bool) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if as_json {
        let of = |entry: &'static Entry| {
            json!({
                "name": entry.name(),
                "summary": entry.summary(),
                "source": entry.source(),
                "presets": entry.presets(),
                "parameters": entry.parameters(),
                "results": entry.results(),
            })
        };
        let all: Vec<Value> = analysis::all().map(of).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all).map_err(std::io::Error::from)?)?;
    } else {
        let row =
            |entry: &'static Entry| [entry.name(), entry.summary(), entry.source()].map(Cell::new).to_vec();
        writeln!(
            out,
            "{}",
            table::plain(&["name", "summary", "source"], analysis::all().map(row).collect())
        )?;
    }
    Ok(())
}

fn compute(entry: &'static Entry, args: &AnalyseArgs) -> Result<(), Failure> {
    let analysed = entry.analyse(&args.set, None)?;
    let mut out = terminal::stdout();
    if args.json {
        let named = json!({
            "analysis": entry.name(),
            "parameters": analysed.parameters,
            "results": analysed.results,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&named).map_err(std::io::Error::from)?)?;
        return Ok(());
    }
    writeln!(out, "{}: {} ({})", entry.name(), entry.summary(), entry.source())?;
    for (title, values) in [("parameter", &analysed.parameters), ("result", &analysed.results)] {
        let rows = flat(values).into_iter().map(|(key, value)| vec![Cell::new(key), Cell::new(value)]);
        writeln!(out, "\n{}", table::lines(&[title, "value"], rows.collect()).join("\n"))?;
    }
    Ok(())
}

/// Each value by its path, as displayed.
fn flat(value: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    collect("", value, &mut rows);
    rows
}

fn collect(path: &str, value: &Value, rows: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(table) => table.iter().for_each(|(key, value)| collect(&below(key), value, rows)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                let (name, item) = named(index, item);
                collect(&below(&name), &item, rows);
            }
        }
        Value::Array(items) => rows.push((path.to_owned(), array(items))),
        plain => rows.push((path.to_owned(), text(plain))),
    }
}

/// Label of an array's item: its `name` if it has one, else its index.
fn named(index: usize, item: &Value) -> (String, Value) {
    let mut item = item.clone();
    let name = item.as_object_mut().and_then(|table: &mut Map<String, Value>| table.shift_remove("name"));
    (name.as_ref().and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned), item)
}

fn array(items: &[Value]) -> String {
    let numbers: Vec<f64> = items.iter().filter_map(Value::as_f64).collect();
    if items.len() <= SHOWN || numbers.is_empty() {
        return items.iter().map(text).collect::<Vec<_>>().join(", ");
    }
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} values from {} to {}", items.len(), figure(least), figure(most))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, figure),
        other => other.to_string(),
    }
}

/// Six significant digits, and a power of ten only where there is no short form without.
fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e12).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let whole = format!("{magnitude:.0}").len();
    let decimals = if magnitude < 1.0 { 6 } else { 6_usize.saturating_sub(whole) };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_six_digits_and_no_empty_ones() {
        for (value, text) in [
            (0.0, "0"),
            (0.4, "0.4"),
            (56.674_21, "56.6742"),
            (-1.5, "-1.5"),
            (1_250_000.0, "1250000"),
            (0.012_345_6, "0.012346"),
            (1.5e-9, "1.500e-9"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn long_arrays_are_a_count_and_a_range_and_items_stand_by_their_names() {
        let value = json!({
            "short": [1, 2.5],
            "long": [3.0, 1.0, 2.0, 1.0, 1.0, 1.0, 9.5],
            "items": [{ "name": "a", "x": 1 }, { "x": null }],
            "text": "25ms",
        });
        let expected = [
            ("short", "1, 2.5"),
            ("long", "7 values from 1 to 9.5"),
            ("items.a.x", "1"),
            ("items.1.x", "–"),
            ("text", "25ms"),
        ];
        assert_eq!(flat(&value), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
