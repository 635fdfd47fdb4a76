//! `weir list` and `weir schema`.

mod one;

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use weir_import::traces::Listed;
use weir_measure::results;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Scenario, scenario_schema};
use weir_scenario::{registry, shipped};
use weir_study::runs::table_schema;
use weir_study::suite;
use weir_study::testbed::live_schema;
use weir_world::recorded::call_schema;

use crate::args::{ListArgs, Listing, SchemaArgs, SchemaOf};
use crate::failure::Failure;
use crate::table;
use crate::terminal;

/// Lists controllers, couplers, scenarios, suites or traces.
pub(crate) fn list(args: &ListArgs, registry: &Registry) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        return one::show(args, name, registry);
    }
    let (header, rows) = match args.what {
        Listing::Controllers => controllers(registry),
        Listing::Couplers => couplers(),
        Listing::Scenarios => scenarios()?,
        Listing::Suites => suites(),
        Listing::Traces => (&["name", "from"][..], traces(args)),
    };
    let mut out = terminal::stdout();
    if args.json {
        let mut all: Vec<Value> = rows.iter().map(|row| object(header, row)).collect();
        if matches!(args.what, Listing::Controllers) {
            all.iter_mut().zip(registry.controllers()).for_each(|(object, info)| add_presets(object, info));
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&all).map_err(std::io::Error::from)?)?;
    } else {
        let width = table::terminal_width();
        let (text, whole) = table::one_line_each(header, &rows, width);
        writeln!(out, "{text}")?;
        if !(whole || matches!(args.what, Listing::Traces)) {
            let more = format!("\nAll that is known of one: weir list {} NAME", args.what.word());
            writeln!(out, "{}", table::sentence(&more, width))?;
        }
    }
    Ok(())
}

fn object(header: &[&str], row: &[String]) -> Value {
    let entries = header.iter().zip(row).map(|(key, value)| ((*key).to_owned(), json!(value)));
    entries.collect::<serde_json::Map<_, _>>().into()
}

/// Presets for programs: each with its purpose.
fn add_presets(object: &mut Value, info: &registry::ControllerInfo) {
    let preset = |preset: &registry::PresetInfo| json!({ "name": preset.name, "summary": preset.summary });
    object["presets"] = info.presets.iter().map(preset).collect();
}

/// Prints a JSON Schema.
pub(crate) fn schema(args: &SchemaArgs, registry: &Registry) -> Result<(), Failure> {
    let text = match args.what {
        SchemaOf::Options => {
            serde_json::to_string_pretty(one::options(args.name.as_deref().unwrap_or_default(), registry)?)
        }
        _ if args.name.is_some() => {
            let problem = "only `weir schema options NAME` takes a name; leave it out".to_owned();
            let option = format!("schema … {}", args.name.as_deref().unwrap_or_default());
            return Err(Failure::Option { option, problem });
        }
        SchemaOf::Scenario => serde_json::to_string_pretty(scenario_schema()),
        SchemaOf::Results => serde_json::to_string_pretty(&results::results_schema()),
        SchemaOf::Table => serde_json::to_string_pretty(&table_schema()),
        SchemaOf::Call => serde_json::to_string_pretty(&call_schema()),
        SchemaOf::Live => serde_json::to_string_pretty(&live_schema()),
        SchemaOf::Peer => serde_json::to_string_pretty(&weir_peer::results::results_schema()),
        SchemaOf::Study => serde_json::to_string_pretty(suite::study_schema()),
    };
    writeln!(terminal::stdout(), "{}", text.map_err(std::io::Error::from)?)?;
    Ok(())
}

type ListRows = (&'static [&'static str], Vec<Vec<String>>);

fn controllers(registry: &Registry) -> ListRows {
    let row = |c: &registry::ControllerInfo| {
        let presets: Vec<&str> = c.presets.iter().map(|preset| &*preset.name).collect();
        let presets = if presets.is_empty() { "–".to_owned() } else { presets.join(", ") };
        let mut row =
            [&c.name, &c.summary, &c.source, &c.placement, &c.feedback].map(ToString::to_string).to_vec();
        row.push(presets);
        row
    };
    (
        &["name", "summary", "source", "placement", "feedback", "presets"],
        registry.controllers().map(row).collect(),
    )
}

fn couplers() -> ListRows {
    let row = |c: &registry::CouplerInfo| {
        [c.name, c.summary, c.source, c.steers.word(), used_in(c)].map(str::to_owned).to_vec()
    };
    (&["name", "summary", "source", "steers", "for"], registry::couplers().map(row).collect())
}

fn used_in(coupler: &registry::CouplerInfo) -> &'static str {
    if coupler.testbed_only { "testbeds" } else { "anywhere" }
}

fn scenarios() -> Result<ListRows, Failure> {
    let row = |shipped: &shipped::Shipped| -> Result<Vec<String>, Failure> {
        let scenario = Scenario::open(shipped.name, &[])?;
        Ok(vec![
            shipped.name.to_owned(),
            scenario.title.clone(),
            scenario.duration.to_string(),
            scenario.runs.to_string(),
        ])
    };
    let rows = shipped::SCENARIOS.iter().map(row).collect::<Result<_, _>>()?;
    Ok((&["name", "title", "duration", "runs"], rows))
}

fn suites() -> ListRows {
    let row = |suite: &suite::Suite| {
        let cases: Vec<&str> = suite.cases.iter().map(|case| case.name.as_str()).collect();
        vec![suite.name.clone(), suite.title.clone(), cases.join(", ")]
    };
    (&["name", "title", "cases"], suite::SUITES.iter().map(row).collect())
}

fn traces(args: &ListArgs) -> Vec<Vec<String>> {
    let from =
        |file: Option<PathBuf>| file.map_or("made by weir".to_owned(), |file| file.display().to_string());
    let listed = args.data.store().listed();
    listed.into_iter().map(|Listed { name, file }| vec![name, from(file)]).collect()
}
