//! `weir check`: is a scenario file right?

use weir_lab::scenario::{RunOptions, Scenario};
use weir_lab::traces::TraceStore;

use crate::args::CheckArgs;
use crate::failure::Failure;

/// Parses and builds the scenario, and says what it is.
pub(crate) fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scenario = Scenario::open(&args.scenario, &args.set)?;
    let run = scenario
        .build(&RunOptions { seed: 1, ..RunOptions::default() }, &TraceStore::find(args.data.as_deref()))?;
    anstream::println!(
        "{} is a scenario: {} ({} links, {} flows, {}, {} runs)",
        args.scenario,
        scenario.title,
        run.plan.links.len(),
        run.plan.flows.len(),
        scenario.duration,
        scenario.runs
    );
    Ok(())
}
