//! `weir check`: is a scenario file right?

use std::io::Write;

use weir_lab::build::RunOptions;
use weir_lab::registry::Registry;
use weir_lab::scenario::Scenario;

use crate::args::CheckArgs;
use crate::effective::try_to_build;
use crate::failure::{Failure, warn};

/// Parses and builds the scenario, and says what it is.
pub(crate) fn check(args: &CheckArgs, registry: &Registry) -> Result<(), Failure> {
    let scenario = Scenario::open_in(registry, &args.scenario, &args.set)?;
    let store = args.data.store();
    try_to_build(&scenario, &store)?;
    warn(&scenario);
    let run = scenario.build(&RunOptions { seed: scenario.seed, ..RunOptions::default() }, &store)?;
    let couplings = match run.plan.couplings.len() {
        0 => String::new(),
        count => format!("{}, ", counted(count, "coupling")),
    };
    writeln!(
        anstream::stdout(),
        "{} is right: {} ({}, {}, {couplings}{} of {})",
        args.scenario,
        scenario.title,
        counted(run.plan.links.len(), "link"),
        counted(run.plan.flows.len(), "flow"),
        counted(scenario.runs as usize, "run"),
        scenario.duration,
    )?;
    Ok(())
}

/// `1 link`, `2 links`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
