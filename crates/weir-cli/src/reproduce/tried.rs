//! `weir reproduce --tried`: figures that rows have with settings changed, run again.

use std::io::{self, Write};

use comfy_table::Cell;
use serde::Serialize;
use weir_study::experiments::{Experiment, Provenance, TrialResult, Trials};

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::{table, terminal};

/// Output of `--json`.
#[derive(Serialize)]
struct TrialsDocument<'a> {
    provenance: &'a Provenance,
    tried: &'a [TrialResult],
}

/// Runs the figures of the rows and prints those that moved; `false` where one did.
pub(super) fn tried(args: &ReproduceArgs, experiments: &[Experiment]) -> Result<bool, Failure> {
    let trials = Trials::of(experiments);
    if trials.is_empty() {
        let problem = "none of these rows has `[[tried]]`; leave it out, or name one that has".to_owned();
        return Err(Failure::Option { option: "--tried".to_owned(), problem });
    }
    let traces = args.data.store();
    let planned = trials.plan(&traces)?;
    let kept =
        ResultStore { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: "reproduce --tried" };
    let Some(reproduced) = kept.run(&planned, &traces, None)? else { return Ok(true) };
    let results = trials.results(reproduced.claims);
    let mut out = terminal::stdout();
    if args.form.json {
        let document =
            TrialsDocument { provenance: &Provenance::of(&args.request().words()), tried: &results };
        serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&mut out, &results)?;
    }
    Ok(!results.iter().any(|result| result.moved))
}

fn print(out: &mut impl Write, results: &[TrialResult]) -> Result<(), Failure> {
    let moved: Vec<&TrialResult> = results.iter().filter(|result| result.moved).collect();
    if !moved.is_empty() {
        let header = ["row", "tried", "of", "expected", "range", "now, ± 95 %", "with"];
        let row = |result: &&TrialResult| {
            [
                result.row.clone(),
                result.number.to_string(),
                result.of_in_words(),
                result.expected_in_words(),
                result.accepted.in_words(),
                result.measured_in_words(),
                result.set.join(" "),
            ]
            .map(Cell::new)
            .into()
        };
        for line in table::lines(&header, moved.iter().map(row).collect()) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{} of {} figures with settings changed have moved.", moved.len(), results.len())?;
    Ok(())
}
