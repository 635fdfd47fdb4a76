//! `weir reproduce`: the claims of papers, run and judged.

mod live;
mod print;
mod tried;

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use weir_scenario::registry::Registry;
use weir_study::experiments::{
    self, ClaimResult, Experiment, Extent, LostClaim, PaperSummary, PlotResult, Provenance, Reproduced,
    Reproduction, RowForm, lost,
};
use weir_study::judge::{SavedStudy, Verdict};
use weir_study::testbed::LiveRun;

use crate::args::{ReproduceArgs, ReproduceExtent, TableForm};
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::output::{Files, OutputDirectory, add_table, json_file};
use crate::{browser, terminal};

/// The name of the file with the report, in the output directory.
const REPORT: &str = "index.html";

/// Output of `--json`, and contents of claims.json.
#[derive(Serialize)]
struct ClaimsDocument<'a> {
    provenance: &'a Provenance,
    summary: Vec<PaperSummary>,
    claims: &'a [ClaimResult],
    /// Records of real runs, of `--live`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    runs: &'a [LiveRun],
}

/// Content of plots.json.
#[derive(Serialize)]
struct PlotDocument<'a> {
    provenance: &'a Provenance,
    plots: &'a [PlotResult],
}

/// Runs the rows and prints the results, whatever the verdicts. It is a failure where a baseline had claims met that are
/// so no longer, and where a figure with settings changed has moved.
pub(crate) fn reproduce(args: &ReproduceArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    // All errors of the input are found before anything runs.
    let named: &[String] = if args.all { &[] } else { &args.rows };
    let experiments = experiments::open(registry, named, args.paper.as_deref())?;
    let experiments: Vec<Experiment> = experiments.into_iter().map(|row| row.changed(&args.set)).collect();
    if args.tried {
        return Ok(code(tried::tried(args, &experiments)?));
    }
    if args.live {
        return live::live(args, experiments);
    }
    let baseline = args.baseline.as_deref().map(SavedStudy::of_claims).transpose()?;
    let traces = args.data.store();
    let ReproduceExtent { full, runs, grid } = args.extent;
    let extent = Extent { full, runs, grid, plots: args.out.is_some() };
    meant_by_a_row("--grid", grid.is_some(), "a grid", experiments.iter().any(Experiment::has_a_grid))?;
    let reproduction = Reproduction::plan(&experiments, extent, &traces)?;
    let reproduction = reproduction.with_metrics(args.out.is_some() && args.table != TableForm::None);
    let mut directory =
        args.out.as_deref().map(|path| OutputDirectory::prepare(path, registry)).transpose()?;
    let provenance = Provenance {
        form: Some(if full { RowForm::Full } else { RowForm::Quick }),
        seeds: reproduction.seeds(),
        changed: args.set.clone(),
        ..Provenance::of(&args.words())
    };
    let kept = ResultStore { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: "reproduce" };
    let Some(reproduced) = kept.run(&reproduction, &traces, directory.as_ref())? else {
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(directory) = &mut directory {
        let runs = &reproduced.runs;
        add_table(directory, args.table.format(), &runs.axes(), runs.table_runs())?;
        directory.write(&files(&experiments, &reproduced, &provenance)?)?;
    }
    let results = reproduced.claims;
    let mut out = terminal::stdout();
    if args.form.json {
        out.write_all(&json(&provenance, &results, &[])?)?;
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

/// The claims with their provenance, as `--json` prints them.
fn json(provenance: &Provenance, claims: &[ClaimResult], runs: &[LiveRun]) -> Result<Vec<u8>, Failure> {
    let document = ClaimsDocument { provenance, summary: experiments::summary(claims), claims, runs };
    Ok(json_file(&document)?)
}

/// The report, and its content as data.
fn files(
    experiments: &[Experiment],
    reproduced: &Reproduced,
    provenance: &Provenance,
) -> Result<Files, Failure> {
    let Reproduced { claims, plots, tables, .. } = reproduced;
    let page = experiments::report(experiments, claims, plots, provenance).into_bytes();
    let plots = serde_json::to_vec(&PlotDocument { provenance, plots }).map_err(io::Error::from)?;
    let named = [(REPORT, page), ("claims.json", json(provenance, claims, &[])?), ("plots.json", plots)];
    let mut files: Files = named.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
    for table in tables {
        let mut content = Vec::new();
        table.write_parquet(&mut content)?;
        files.push((format!("{}.parquet", table.row.replace('/', "-")), content));
    }
    Ok(files)
}
