//! `weir reproduce --live`: rows whose runs are real ones.

use std::io::Write;
use std::process::ExitCode;

use weir_live::run::LiveOptions;
use weir_study::experiments::{self, Experiment, Reproduction};
use weir_study::reproduce::ClaimsDocument;
use weir_study::runs::RunError;
use weir_study::testbed::{MOST_TOGETHER, Testbed};

use super::print;
use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::output::{OutputDirectory, json_file};
use crate::signals::SignalWatch;
use crate::terminal;
use crate::testbed::{INCONCLUSIVE, inconclusive, print_runs};

/// Runs the rows over real sockets and prints the verdicts on these runs.
pub(super) fn live(args: &ReproduceArgs, experiments: Vec<Experiment>) -> Result<ExitCode, Failure> {
    let experiments: Vec<Experiment> =
        experiments.into_iter().map(Experiment::without_further_variants).collect();
    let traces = args.data.store();
    let request = args.request();
    let reproduction = Reproduction::plan(&experiments, request.extent, &traces)?;
    if !reproduction.runs_a_scenario() {
        let problem = "none of these rows runs a scenario; leave it out, or name one that does".to_owned();
        return Err(Failure::Option { option: "--live".to_owned(), problem });
    }
    let watch = SignalWatch::start()?;
    let options = LiveOptions { face: None, ipv6: false, realtime: true, capture: None };
    let together = args.jobs.map(|jobs| jobs.min(MOST_TOGETHER));
    let world = Testbed::new(options, together, |_| !watch.has_signal());
    let reproduction = reproduction.in_world(&world);
    let provenance = request.provenance(&reproduction);
    let jobs = together.unwrap_or(MOST_TOGETHER);
    let kept =
        ResultStore { parts: &args.parts, jobs: Some(jobs), quiet: args.quiet, what: "reproduce --live" };
    let made = kept.run(&reproduction, &traces, None);
    let real = world.runs();
    drop(reproduction);
    drop(world);
    if watch.end()? {
        return Err(RunError::Interrupted.into());
    }
    // The rest needs no root.
    OutputDirectory::drop_root(None)?;
    let Some(reproduced) = made? else { return Ok(ExitCode::SUCCESS) };
    let results = reproduced.claims;
    let mut out = terminal::stdout();
    if args.form.json {
        out.write_all(&json_file(&ClaimsDocument::new(&provenance, &results, &real))?)?;
    } else if args.form.markdown {
        write!(out, "{}", experiments::markdown(&experiments, &results))?;
    } else {
        print::print(&mut out, &results, provenance.change_in_words().as_deref())?;
        writeln!(out)?;
        print_runs(&mut out, &real)?;
        for note in inconclusive::notes(&real) {
            writeln!(out, "{note}")?;
        }
    }
    let is_final = real.iter().any(inconclusive::is_final);
    Ok(if is_final { ExitCode::from(INCONCLUSIVE) } else { ExitCode::SUCCESS })
}
