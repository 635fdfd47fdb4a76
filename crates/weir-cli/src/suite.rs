//! `weir suite`: controllers through standard test cases, as a table of verdicts and as a check against an earlier time.

mod changes;
mod diff;
mod gates;
mod junit;
mod markdown;
mod output;

use std::io::Write;

use weir_form::{MOST_WRITTEN, number_of_places, text_of};
use weir_import::traces::TraceStore;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Candidate;
use weir_study::experiments::check_keys;
use weir_study::judge::SavedStudy;
use weir_study::suite::{self, Case, Suite, SuiteRequest, Untimely};

use crate::args::{SuiteArgs, SuiteCommand, SuiteSource};
use crate::browser;
use crate::cache;
use crate::effective::{blame_sweep, candidates, each_once, say_repeated};
use crate::failure::Failure;
use crate::kept::ResultStore;
use crate::sweep::refused;
use crate::terminal;
use gates::Gates;
use output::{OutputDestinations, SuiteFindings};

/// Legend of the table's cells.
const LEGEND: &str = "✓ passed, ✗ missed, ? open: the 95 % interval of the mean holds the limit, · not judged. The margin of the case: \
                      value over limit, or limit over value, of its worst check, at most 1; the check that decides, and every missed \
                      one with its points from the limit. Overhead: headers and padding over the payload of frames.";

/// Legend of the table of leaders.
const LEADERS: &str = "Leaders of each case: controllers that no other beats in useful rate (video within 150 ms, from 20 s on); \
                       recommended are those that none of these beats in frame delay or freezes without being beaten in the other.";
/// The cases of a suite that is drawn.
const CASES_HEAD: [&str; 2] = ["case", "what it is"];
const LEADERS_HEAD: [&str; 3] = ["case", "leading", "recommended"];

/// Runs the suite, or compares two saved results of one. Returns whether nothing got worse than in the saved
/// result, if one was given, and every gate was passed.
pub(crate) fn suite(args: &SuiteArgs, registry: &Registry) -> Result<bool, Failure> {
    args.draw.suits(args.suite.as_ref())?;
    match (&args.command, &args.suite) {
        (Some(SuiteCommand::Diff(args)), _) => diff::diff(args),
        (None, Some(SuiteSource::Shipped(suite))) => run(args, suite, registry),
        (None, Some(SuiteSource::Drawn)) => drawn(args, registry),
        (None, Some(SuiteSource::File(path))) => run(args, &Suite::open(registry, path)?, registry),
        // The argument parser requires one of both.
        (None, None) => Ok(true),
    }
}

/// Prints the cases that are drawn, or runs them.
fn drawn(args: &SuiteArgs, registry: &Registry) -> Result<bool, Failure> {
    let texts = args.draw.seed_of.iter().map(|path| {
        text_of(path, MOST_WRITTEN).map_err(|error| Failure::Option {
            option: format!("--seed-of {}", path.display()),
            problem: format!("the file cannot be read: {error}"),
        })
    });
    let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
    let seed = if texts.is_empty() { args.seed } else { suite::seed_of(&texts) };
    let suite = suite::drawn(seed, args.draw.cases.unwrap_or(suite::USUAL_CASES));
    if !args.draw.print {
        return run(args, &suite, registry);
    }
    let cases = each_once(&args.case);
    unknown_cases("--case", &suite, &cases)?;
    let mut out = terminal::stdout();
    let wanted = suite.cases.iter().filter(|case| cases.is_empty() || cases.contains(&case.name.as_str()));
    for (index, case) in wanted.enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        write!(
            out,
            "{gap}# {} of weir suite drawn --seed {seed}\n{}",
            case.name,
            case.text.as_deref().unwrap_or("")
        )?;
    }
    Ok(true)
}

fn run(args: &SuiteArgs, suite: &Suite, registry: &Registry) -> Result<bool, Failure> {
    say_repeated("--controller", &args.controller);
    let cases = each_once(&args.case);
    browser::is_written(args.open, args.json, args.out.as_deref())?;
    unknown_cases("--case", suite, &cases)?;
    check_keys(&args.sweep).map_err(|error| refused(&args.sweep, error))?;
    let too_many = |problem| Failure::Option { option: "--sweep".to_owned(), problem };
    let places = number_of_places(&args.sweep).map_err(too_many)?;
    let swept = (!args.sweep.is_empty()).then(|| suite.over(&args.sweep, &cases));
    let swept = swept.transpose().map_err(too_many)?;
    let gates = Gates::of(&args.gates, suite, &cases, places)?;
    let (suite, cases) = swept.as_ref().map_or((suite, cases), |swept| (swept, Vec::new()));
    let candidates = match suite.controllers.as_slice() {
        own @ [_, ..] if args.controller.is_empty() => own.to_vec(),
        _ => candidates(&args.controller, registry, |own| is_variant(own, suite, &cases, registry))?,
    };
    let seeds: Vec<u64> = (0..u64::from(args.runs)).map(|run| args.seed.wrapping_add(run)).collect();
    // All errors of the input are found before anything runs.
    let store = args.data.store();
    let request = SuiteRequest { suite, registry, controllers: &candidates, seeds: &seeds, cases: &cases };
    sweeps_fit(args, &request, &store)?;
    no_fallbacks(args, &request, &store)?;
    let base = args.baseline.as_deref().map(|path| request.base(path, &store)).transpose()?;
    let reference_runs = if args.no_cache { None } else { cache::reference_runs() };
    let plan = request.plan()?.keeping(reference_runs.as_ref());
    let mut output = OutputDestinations::prepare(args, registry, suite, &cases)?;
    let plan = plan.with_metrics(output.has_table());
    let kept = ResultStore { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: &suite.name };
    let Some(run) = kept.run(&plan, &store, output.keeping())? else { return Ok(true) };
    let (mut notes, now) = (run.result.notes(), SavedStudy::from(&run.result));
    notes.extend(base.as_ref().and_then(|base| changes::other_senders(base, &now)));
    let changes = base.map(|base| suite::compare(&base, &now));
    let findings = SuiteFindings { suite, run: &run, notes: &notes, changes: changes.as_ref() };
    // The results are shown even if a file cannot be written.
    let written = output.write(&findings);
    let printed = output.print(&findings);
    let missed = gates.missed(&run.result);
    for line in &missed {
        // If standard error is closed, the exit code still reports it.
        let _ = writeln!(terminal::stderr(), "{line}");
    }
    written?;
    let opened = browser::open(args.open, output.matrix().as_deref());
    match printed.and(opened) {
        // The exit code reports it even if the reader has closed the pipe.
        Err(failure) if !failure.is_closed_pipe() => Err(failure),
        _ => Ok(missed.is_empty() && !changes.is_some_and(|changes| changes.has_regression())),
    }
}

/// Whether the scenarios of the cases `selected`, of all if there are none, define it as a variant.
///
/// # Errors
/// An error if only some of them do.
fn is_variant(
    candidate: &Candidate,
    suite: &Suite,
    selected: &[&str],
    registry: &Registry,
) -> Result<bool, Failure> {
    let is_run = |case: &&Case| selected.is_empty() || selected.contains(&case.name.as_str());
    let cases = suite.cases.iter().filter(is_run);
    let has = |case: &&Case| {
        let scenario = case.open(registry, &case.set);
        scenario.is_ok_and(|scenario| scenario.variants.get(&candidate.name).is_some())
    };
    let (with, without): (Vec<&Case>, Vec<&Case>) = cases.partition(has);
    let name = &candidate.name;
    match (with.first(), without.first()) {
        (Some(one), Some(other)) if !registry.known_names().any(|known| known == name) => {
            let problem = format!(
                "the scenario of case {} has a variant of this name, that of {} has none; name the cases that have it after --case",
                one.name, other.name
            );
            Err(Failure::Option { option: format!("--controller {name}"), problem })
        }
        (with, without) => Ok(with.is_some() && without.is_none()),
    }
}

/// Every case has the keys that are varied, and can have the values.
fn sweeps_fit(args: &SuiteArgs, request: &SuiteRequest<'_>, store: &TraceStore) -> Result<(), Failure> {
    let swept = request.suite.cases.iter().filter_map(|case| Some((case, case.swept.as_ref()?)));
    for (case, swept) in swept {
        for candidate in request.controllers {
            let scenario = case.scenario(request.registry, candidate);
            let tried = scenario.and_then(|scenario| scenario.try_to_build(store));
            tried.map_err(|error| blame_sweep(&args.sweep, &format!(" in case {}", swept.case), error))?;
        }
        let Some(first) = request.controllers.first() else { continue };
        if let Some(Untimely { check, message, help }) =
            case.untimely(&case.scenario(request.registry, first)?, store)
        {
            let at: Vec<String> = swept.at.iter().map(|(path, value)| format!("{path}={value}")).collect();
            let option = format!("--sweep {} in case {}", at.join(" "), swept.case);
            let problem = format!("`{}`: {message}; {help}", case.checks[check].name);
            return Err(Failure::Option { option, problem });
        }
    }
    Ok(())
}

/// An error if a stand-in replaces a recorded trace of a case, unless the caller accepts stand-ins.
fn no_fallbacks(args: &SuiteArgs, request: &SuiteRequest<'_>, store: &TraceStore) -> Result<(), Failure> {
    let fallback_notes = request.fallback_notes(store)?;
    match fallback_notes.first() {
        Some(note) if !args.allow_stand_ins => {
            let note = note.replacen("stood in", "would stand in", 1);
            let problem = format!("{note} With --allow-stand-ins the verdicts are those over the stand-in.");
            Err(Failure::Option { option: format!("suite {}", request.suite.name), problem })
        }
        _ => Ok(()),
    }
}

fn unknown_cases(option: &str, suite: &Suite, cases: &[&str]) -> Result<(), Failure> {
    match cases.iter().find(|name| suite.case(name).is_none()) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<&str> = suite.cases.iter().map(|case| case.name.as_str()).collect();
            let problem = format!("the suite {} has no such case; it has {}", suite.name, known.join(", "));
            Err(Failure::Option { option: format!("{option} {name}"), problem })
        }
    }
}
