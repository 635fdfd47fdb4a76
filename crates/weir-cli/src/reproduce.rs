//! `weir reproduce`: the claims of papers, run and judged.

mod live;
mod print;
mod tried;

use std::io::Write;
use std::process::ExitCode;

use weir_scenario::registry::Registry;
use weir_study::experiments::{self, Experiment, LostClaim, Reproduction, lost};
use weir_study::judge::{SavedStudy, Verdict};
use weir_study::reproduce::{ClaimsDocument, REPORT, write};

use crate::args::{ReproduceArgs, TableForm};
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::output::{OutputDirectory, json_file};
use crate::{browser, terminal};

/// Runs the rows and prints the results, whatever the verdicts. It is a failure where a baseline had claims met that are
/// so no longer, and where a figure with settings changed has moved.
pub(crate) fn reproduce(args: &ReproduceArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    // All errors of the input are found before anything runs.
    let request = args.request();
    let experiments = request.open(registry)?;
    if args.tried {
        return Ok(code(tried::tried(args, &experiments)?));
    }
    if args.live {
        return live::live(args, experiments);
    }
    let baseline = args.baseline.as_deref().map(SavedStudy::of_claims).transpose()?;
    let traces = args.data.store();
    let has_a_grid = experiments.iter().any(Experiment::has_a_grid);
    meant_by_a_row("--grid", request.extent.grid.is_some(), "a grid", has_a_grid)?;
    let reproduction = Reproduction::plan(&experiments, request.extent, &traces)?;
    let reproduction = reproduction.with_metrics(args.out.is_some() && args.table != TableForm::None);
    let mut directory =
        args.out.as_deref().map(|path| OutputDirectory::prepare(path, registry)).transpose()?;
    let provenance = request.provenance(&reproduction);
    let kept = ResultStore { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: "reproduce" };
    let Some(reproduced) = kept.run(&reproduction, &traces, directory.as_ref())? else {
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(directory) = &mut directory {
        write(&reproduced, &experiments, &provenance, directory, args.table.format())?;
    }
    let results = reproduced.claims;
    let mut out = terminal::stdout();
    if args.form.json {
        out.write_all(&json_file(&ClaimsDocument::new(&provenance, &results, &[]))?)?;
    } else if args.form.markdown {
        if let Some(change) = provenance.change_in_words() {
            writeln!(out, "{change}\n")?;
        }
        write!(out, "{}", experiments::markdown(&experiments, &results))?;
    } else {
        print::print(&mut out, &results, provenance.change_in_words().as_deref())?;
        if let Some(directory) = &directory {
            writeln!(out, "\nReport: {}", browser::link(&directory.path(REPORT)))?;
        }
    }
    // Rows that are gone also count as missing, unless others were named.
    let is_selected = |row: &str| match &args.paper {
        _ if experiments.iter().any(|experiment| experiment.name == row) => true,
        Some(paper) => row.split('/').next() == Some(paper),
        None => args.rows.is_empty(),
    };
    let lost = baseline.map_or_else(Vec::new, |baseline| lost(&baseline, is_selected, &results));
    print_lost(&mut terminal::stderr(), &lost)?;
    Ok(code(lost.is_empty()))
}

/// The exit code of a command that succeeds if `holds`.
fn code(holds: bool) -> ExitCode {
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A given option must apply to one of the rows at least.
fn meant_by_a_row(option: &str, given: bool, what: &str, is_there: bool) -> Result<(), Failure> {
    if !given || is_there {
        return Ok(());
    }
    let problem = format!("none of these rows has {what}; leave it out, or name one that has");
    Err(Failure::Option { option: option.to_owned(), problem })
}

fn print_lost(out: &mut impl Write, lost: &[LostClaim]) -> Result<(), Failure> {
    for LostClaim { id, was, is } in lost {
        let is = is.map_or("no claim any more", Verdict::words);
        writeln!(out, "{id} was {}, is {is}", was.words())?;
    }
    Ok(())
}
