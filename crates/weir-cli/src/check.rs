//! `weir check`: validates a scenario file.

use std::io::Write;

use serde_json::{Value, json};
use weir_form::ScenarioError;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;

use crate::args::CheckArgs;
use crate::failure::{Failure, warn};
use crate::terminal;

/// Parses and builds the scenario, and describes it.
pub(crate) fn check(args: &CheckArgs, registry: &Registry) -> Result<(), Failure> {
    let checked = checked(args, registry);
    let mut out = terminal::stdout();
    if args.json {
        let object = match &checked {
            Ok(checked) => checked.json(),
            Err(failure) => json!({ "right": false, "problems": problems(failure) }),
        };
        writeln!(out, "{}", serde_json::to_string_pretty(&object).map_err(std::io::Error::from)?)?;
    }
    let checked = checked?;
    warn(&checked.scenario);
    if !args.json {
        writeln!(out, "{} is right: {}", args.scenario, checked.sentence())?;
    }
    Ok(())
}

/// A scenario that can be run, and its first run.
struct Checked {
    scenario: Scenario,
    run: Run,
}

fn checked(args: &CheckArgs, registry: &Registry) -> Result<Checked, Failure> {
    let scenario = Scenario::open_in(registry, &args.scenario, &args.set)?;
    let store = args.data.store();
    scenario.try_to_build(&store)?;
    let run = scenario.build(&RunOptions { seed: scenario.seed, ..RunOptions::default() }, &store)?;
    Ok(Checked { scenario, run })
}

impl Checked {
    fn sentence(&self) -> String {
        let Self { scenario, run } = self;
        let couplings = match run.plan.couplings.len() {
            0 => String::new(),
            count => format!("{}, ", counted(count, "coupling")),
        };
        format!(
            "{} ({}, {}, {couplings}{} of {})",
            scenario.title,
            counted(run.plan.links.len(), "link"),
            counted(run.plan.flows.len(), "flow"),
            counted(scenario.runs as usize, "run"),
            scenario.duration,
        )
    }

    fn json(&self) -> Value {
        let Self { scenario, run } = self;
        let plan = &run.plan;
        json!({
            "right": true,
            "scenario": scenario.name,
            "title": scenario.title,
            "links": plan.links.iter().map(|link| &link.name).collect::<Vec<_>>(),
            "flows": plan.flows.iter().map(|flow| &flow.name).collect::<Vec<_>>(),
            "couplings": plan.couplings.iter().map(|coupling| &coupling.name).collect::<Vec<_>>(),
            "controllers": scenario.controllers,
            "runs": scenario.runs,
            "duration_seconds": scenario.duration.secs_f64(),
            "traces": run.traces,
            "warnings": scenario.warnings().iter().map(problem).collect::<Vec<Value>>(),
        })
    }
}

/// All errors of the scenario.
fn problems(failure: &Failure) -> Vec<Value> {
    match failure {
        Failure::Scenario(error) => error.each().iter().map(problem).collect(),
        other => vec![json!({ "message": other.to_string() })],
    }
}

fn problem(error: &ScenarioError) -> Value {
    let (line, column) = error.position().unzip();
    json!({ "message": error.message(), "advice": error.advice(), "line": line, "column": column })
}

/// `1 link`, `2 links`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
