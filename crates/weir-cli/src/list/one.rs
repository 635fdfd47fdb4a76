//! `weir list WHAT NAME`: all facts about one item.

use std::io::Write;

use comfy_table::Cell;
use serde_json::{Value, json};
use weir_form::{KeyInfo, advice, keys};
use weir_scenario::registry::{self, ControllerInfo, CouplerInfo, Registry, RegistryError};
use weir_scenario::scenario::Scenario;
use weir_study::suite::{self, Check, Limit, Suite};

use crate::args::{ListArgs, Listing};
use crate::failure::Failure;
use crate::table;
use crate::terminal;

/// Prints the facts about `name`.
pub(super) fn show(args: &ListArgs, name: &str, registry: &Registry) -> Result<(), Failure> {
    let known = match args.what {
        Listing::Controllers => {
            let info = registry.find(name)?;
            controller(info, registry.options_schema(name).unwrap_or(&Value::Null))
        }
        Listing::Couplers => {
            let (info, schema) = registry::find_coupler(name)?;
            coupler(info, schema)
        }
        Listing::Scenarios => scenario(&Scenario::open_in(registry, name, &[])?),
        Listing::Suites => of_suite(suite::find(name).ok_or_else(|| {
            let advice = advice(name, suite::SUITES.iter().map(|suite| suite.name.as_str()));
            RegistryError::Unknown { what: "suite", name: name.to_owned(), advice }
        })?),
        Listing::Traces => {
            let problem = format!("`weir trace show {name}` says what is known of a trace");
            return Err(Failure::Option { option: format!("list traces {name}"), problem });
        }
    };
    let mut out = terminal::stdout();
    if args.json {
        let object: serde_json::Map<_, _> = known
            .facts
            .into_iter()
            .chain(known.lists.into_iter().map(|list| (list.name, list.json)))
            .collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&object).map_err(std::io::Error::from)?)?;
        return Ok(());
    }
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let facts = known.facts.iter().map(|(key, value)| [Cell::new(key), Cell::new(shown(value))].to_vec());
    writeln!(out, "{}", table::without_header(facts.collect()))?;
    for List { name, header, rows, .. } in known.lists {
        if !rows.is_empty() {
            let header: Vec<&str> = std::iter::once(name.trim_end_matches('s')).chain(header).collect();
            writeln!(out, "\n{}", table::or_paragraphs(&header, &rows, table::terminal_width()))?;
        }
    }
    Ok(())
}

/// The JSON Schema of the options of the controller or coupler `name`.
pub(super) fn options<'r>(name: &str, registry: &'r Registry) -> Result<&'r Value, Failure> {
    if let Some(schema) = registry.options_schema(name) {
        return Ok(schema);
    }
    registry::find_coupler(name).map(|(_, schema)| schema).map_err(|_| {
        let names = registry.known_names().chain(registry::couplers().map(|coupler| coupler.name));
        let advice = advice(name, names);
        RegistryError::Unknown { what: "controller or coupler", name: name.to_owned(), advice }.into()
    })
}

/// Facts about one item, and lists of its parts.
struct ItemFacts {
    facts: Vec<(String, Value)>,
    lists: Vec<List>,
}

struct List {
    /// Its name in the plural; the title of its first column in the singular.
    name: String,
    /// The other columns.
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    json: Value,
}

fn facts<const N: usize>(facts: [(&str, Value); N]) -> Vec<(String, Value)> {
    facts.map(|(key, value)| (key.to_owned(), value)).to_vec()
}

fn controller(info: &ControllerInfo, schema: &Value) -> ItemFacts {
    let presets = info.presets.iter();
    let presets = List {
        name: "presets".to_owned(),
        header: vec!["what for"],
        rows: presets
            .clone()
            .map(|preset| vec![preset.name.to_string(), preset.summary.to_string()])
            .collect(),
        json: presets.map(|preset| json!({ "name": preset.name, "summary": preset.summary })).collect(),
    };
    let facts = facts([
        ("name", json!(info.name)),
        ("summary", json!(info.summary)),
        ("source", json!(info.source)),
        ("placement", json!(info.placement)),
        ("feedback", json!(info.feedback)),
    ]);
    ItemFacts { facts, lists: vec![presets, of_options(schema)] }
}

fn coupler(info: &CouplerInfo, schema: &Value) -> ItemFacts {
    let facts = facts([
        ("name", json!(info.name)),
        ("summary", json!(info.summary)),
        ("source", json!(info.source)),
        ("steers", json!(info.steers.word())),
        ("for", json!(super::used_in(info))),
    ]);
    ItemFacts { facts, lists: vec![of_options(schema)] }
}

fn of_options(schema: &Value) -> List {
    // The presets have a list of their own.
    let options: Vec<KeyInfo> = keys(schema).into_iter().filter(|key| key.key != "preset").collect();
    let rows = options.iter().flat_map(|option| {
        let default = match &option.default {
            Value::Null if option.form.ends_with("table") => String::new(),
            Value::Null => "–".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let row = |form: &str, words: &str| [form.to_owned(), words.to_owned()];
        // The meaning of each choice is in a line of its own.
        let form = if option.choices.is_empty() { option.form.as_str() } else { "one of" };
        let first = [vec![option.key.clone(), default], row(form, &option.description).to_vec()].concat();
        let choices = option.choices.iter().map(move |choice| {
            [vec![String::new(); 2], row(&choice.form, &choice.description).to_vec()].concat()
        });
        std::iter::once(first).chain(choices)
    });
    List {
        name: "options".to_owned(),
        header: vec!["default", "may be", "what it is"],
        rows: rows.collect(),
        json: json!(options),
    }
}

fn scenario(scenario: &Scenario) -> ItemFacts {
    let flow = |(name, flow): (&str, &weir_scenario::scenario::Flow)| {
        let words = |value: &Value, key: &str| value[key].as_str().unwrap_or("–").to_owned();
        let value = serde_json::to_value(flow).unwrap_or_default();
        let key = if value["controller"].is_string() { "controller" } else { "algorithm" };
        let ends = format!("{} → {}", words(&value, "from"), words(&value, "to"));
        vec![name.to_owned(), words(&value, "kind"), words(&value, key), ends]
    };
    let rows: Vec<Vec<String>> = scenario.flows.iter().map(flow).collect();
    let header = ["name", "kind", "under", "way"];
    let flows = List {
        name: "flows".to_owned(),
        header: header[1..].to_vec(),
        json: rows.iter().map(|row| super::object(&header, row)).collect(),
        rows,
    };
    let links: Vec<&str> = match &scenario.dumbbell {
        Some(_) => vec!["a dumbbell"],
        None => scenario.links.names().collect(),
    };
    let facts = facts([
        ("name", json!(scenario.name)),
        ("title", json!(scenario.title)),
        ("source", json!(scenario.source.as_deref().unwrap_or("–"))),
        ("duration", json!(scenario.duration.to_string())),
        ("runs", json!(scenario.runs)),
        ("controllers", json!(controllers_of(scenario))),
        ("links", json!(links.join(", "))),
    ]);
    ItemFacts { facts, lists: vec![flows] }
}

fn controllers_of(scenario: &Scenario) -> String {
    match scenario.controllers.as_slice() {
        [] => scenario.controllers_in_use(),
        several => several.join(", "),
    }
}

fn of_suite(suite: &Suite) -> ItemFacts {
    let check_text = |check: &Check| {
        let (sense, limit) = match check.limit {
            Limit::AtLeast(limit) => ("at least", limit),
            Limit::AtMost(limit) => ("at most", limit),
        };
        format!("{} {sense} {limit} {}", check.name, check.unit).trim_end().to_owned()
    };
    let row = |case: &suite::Case| {
        let asks: Vec<String> = case.checks.iter().map(check_text).collect();
        vec![case.name.clone(), case.title.clone(), case.scenario.clone(), asks.join(", ")]
    };
    let rows: Vec<Vec<String>> = suite.cases.iter().map(row).collect();
    let header = ["name", "title", "scenario", "asks for"];
    let cases = List {
        name: "cases".to_owned(),
        header: header[1..].to_vec(),
        json: rows.iter().map(|row| super::object(&header, row)).collect(),
        rows,
    };
    ItemFacts {
        facts: facts([("name", json!(suite.name)), ("title", json!(suite.title))]),
        lists: vec![cases],
    }
}
