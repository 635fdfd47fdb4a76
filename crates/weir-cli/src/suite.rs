//! `weir suite`: controllers through standard test cases, as a table of verdicts and as a check against an earlier time.

use std::io::Write;
use std::path::{Path, PathBuf};

use comfy_table::{Cell, Color};
use weir_lab::registry::Registry;
use weir_lab::suite::{
    self, Change, Changes, ControllerResult, Direction, SuiteRequest, SuiteResult, Unlike, Verdict, figure,
};
use weir_lab::traces::TraceStore;

use crate::args::SuiteArgs;
use crate::effective::{contestants, each_once, threads};
use crate::failure::Failure;
use crate::output::{Files, OutputDirectory, OutputFile};
use crate::run::DEFAULT_OUT;
use crate::{browser, progress, table};

/// The name of the file with the result, in the output directory.
const RESULT: &str = "suite.json";
/// The name of the file with the matrix.
const PAGE: &str = "suite.html";
/// What the cells of the table say.
const LEGEND: &str = "✓ passed, ✗ missed, ? open: the 95 % interval of the mean holds the limit. The check that decides, and \
                      the least margin of the case's checks in % of the limit: of the means, and of the least run, with the \
                      check's name if it is another.";

/// Runs the suite. Whether nothing got worse than in the saved result, if one was given.
pub(crate) fn suite(args: &SuiteArgs, registry: &Registry) -> Result<bool, Failure> {
    // The argument parser lets only known names through.
    let suite = suite::find(&args.suite).unwrap_or(&suite::SUITES[0]);
    let cases = each_once(&args.case);
    unknown_cases(suite, &cases)?;
    browser::is_written(args.open, args.json, args.out.as_deref())?;
    let contestants = contestants(&args.controller, registry)?;
    let seeds: Vec<u64> = (0..u64::from(args.runs)).map(|run| args.seed.wrapping_add(run)).collect();
    // Everything that can be wrong is looked at before anything runs.
    let store = TraceStore::find(&args.data);
    let request = SuiteRequest {
        suite,
        registry,
        controllers: &contestants,
        seeds: &seeds,
        jobs: threads(args.jobs),
        cases: &cases,
    };
    no_stand_ins(args, &request, &store)?;
    let base = args.baseline.as_deref().map(|path| SuiteResult::read(path, &request, &store)).transpose()?;
    base_is_kept(args)?;
    let save = args.save.as_deref().map(OutputFile::prepare).transpose()?;
    let mut directory = output_path(args).as_deref().map(OutputDirectory::prepare).transpose()?;
    let bar = progress::bar(args.quiet);
    progress::expect(&bar, suite.name, request.runs());
    let run = request.run(&store, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let json = result_json(&run.result)?;
    if let Some(directory) = &mut directory {
        let page = suite::page(suite.title, &run).into_bytes();
        let files: Files = vec![(PAGE.to_owned(), page), (RESULT.to_owned(), json.clone())];
        directory.write(&files)?;
    }
    if let Some(save) = &save {
        save.write(&json)?;
    }
    let mut notes = run.result.stand_ins();
    notes.extend(run.result.beyond_in_words());
    notes.extend(base.as_ref().and_then(|base| other_senders(base, &run.result)));
    let changes = base.map(|base| suite::compare(&base, &run.result));
    let mut out = anstream::stdout().lock();
    let printed = if args.json {
        let printed = out.write_all(&json).map_err(Failure::from);
        printed.and(print_changes(&mut anstream::stderr(), &notes, changes.as_ref()))
    } else {
        print(&mut out, &run.result.titled(suite.title), &run.result, directory.as_ref())
            .and_then(|()| print_changes(&mut out, &notes, changes.as_ref()))
    };
    let opened = browser::open(args.open, directory.map(|directory| directory.path(PAGE)).as_deref());
    match printed.and(opened) {
        // The exit code is told even to who has stopped reading.
        Err(failure) if !failure.is_closed_pipe() => Err(failure),
        _ => Ok(!changes.is_some_and(|changes| changes.has_regression())),
    }
}

/// Cases are judged by the links that they are about, unless the caller knows that they are not.
fn no_stand_ins(args: &SuiteArgs, request: &SuiteRequest<'_>, store: &TraceStore) -> Result<(), Failure> {
    if args.allow_stand_ins {
        return Ok(());
    }
    match request.stand_ins(store)?.first() {
        None => Ok(()),
        Some(note) => {
            let note = note.replacen("stood in", "would stand in", 1);
            let problem = format!("{note} With --allow-stand-ins the verdicts are those over the stand-in.");
            Err(Failure::Option { option: format!("suite {}", args.suite), problem })
        }
    }
}

/// A run must not write over the base it is compared with: after a regression, the next run would be compared with that.
fn base_is_kept(args: &SuiteArgs) -> Result<(), Failure> {
    let Some(base) = &args.baseline else { return Ok(()) };
    let result = output_path(args).map(|directory| directory.join(RESULT));
    for (written, advice) in [(args.save.as_ref(), "--save"), (result.as_ref(), "--out")] {
        let same = |written: &PathBuf| matches!((written.canonicalize(), base.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if written.is_some_and(same) {
            let problem =
                format!("this run would write over it; keep a copy of it, or give another {advice}");
            return Err(Failure::Option { option: format!("--baseline {}", base.display()), problem });
        }
    }
    Ok(())
}

fn unknown_cases(suite: &suite::Suite, cases: &[&str]) -> Result<(), Failure> {
    match cases.iter().find(|name| suite.cases.iter().all(|case| case.name != **name)) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<&str> = suite.cases.iter().map(|case| case.name).collect();
            let problem = format!("the suite {} has no such case; it has {}", suite.name, known.join(", "));
            Err(Failure::Option { option: format!("--case {name}"), problem })
        }
    }
}

/// Where the files go; `None` if there are none.
fn output_path(args: &SuiteArgs) -> Option<PathBuf> {
    let usual = || Path::new(DEFAULT_OUT).join(format!("suite-{}", args.suite));
    args.out.clone().or_else(|| (!args.json).then(usual))
}

/// That the base was saved with senders that skip frames by another rule.
fn other_senders(base: &SuiteResult, now: &SuiteResult) -> Option<String> {
    let rule = |result: &SuiteResult| match result.skip_rule.as_str() {
        "" => "no word of `skip_above`".to_owned(),
        rule => format!("`{rule}`"),
    };
    (base.skip_rule != now.skip_rule)
        .then(|| format!("The base was saved with {}, and this run has {}.", rule(base), rule(now)))
}

fn result_json(result: &SuiteResult) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_vec_pretty(result).map_err(std::io::Error::from)?;
    text.push(b'\n');
    Ok(text)
}

fn print(
    out: &mut impl Write,
    title: &str,
    result: &SuiteResult,
    directory: Option<&OutputDirectory>,
) -> Result<(), Failure> {
    writeln!(out, "\u{1b}[1m{title}\u{1b}[0m")?;
    writeln!(out, "{} runs per case and controller; {}", result.seeds.len(), result.skip_rule)?;
    writeln!(out, "{}\n", table::sentence(LEGEND, table::terminal_width()))?;
    let names: Vec<&str> = result.controllers().collect();
    let mut rows: Vec<(String, Vec<String>)> = result
        .cases
        .iter()
        .map(|case| (case.name.clone(), case.controllers.iter().map(cell).collect()))
        .collect();
    for (label, verdict) in [("passed", Verdict::Passed), ("open", Verdict::Open)] {
        let counted = |index| format!("{} of {}", result.count(index, verdict), result.cases.len());
        rows.push((label.to_owned(), (0..names.len()).map(counted).collect()));
    }
    writeln!(out, "{}", table::words("case", &names, &rows, table::terminal_width()))?;
    if let Some(directory) = directory {
        writeln!(out, "Matrix: {}", browser::link(&directory.path(PAGE)))?;
    }
    Ok(())
}

/// `✓ rate 93 % (+16, +3 %)`, green, red or yellow.
fn cell(result: &ControllerResult) -> String {
    let verdict = result.verdict();
    let colour = match verdict {
        Verdict::Passed => 32,
        Verdict::Missed => 31,
        Verdict::Open => 33,
    };
    format!("\u{1b}[{colour}m{}\u{1b}[0m {}", verdict.mark(), result.in_words())
}

/// What a reader should know besides: traces that others stood in for, and what changed.
fn print_changes(out: &mut impl Write, notes: &[String], changes: Option<&Changes>) -> Result<(), Failure> {
    for note in notes {
        writeln!(out, "{}", table::sentence(note, table::terminal_width()))?;
    }
    let Some(changes) = changes else { return Ok(()) };
    let rows: Vec<Vec<Cell>> = changes.changes.iter().map(row).collect();
    if !rows.is_empty() {
        let header =
            ["", "case", "controller", "check", "before", "now", "difference (95 % interval)", "verdict"];
        writeln!(out, "{}", table::plain(&header, rows))?;
    }
    let of = |direction| changes.changes.iter().filter(|change| change.direction == direction).count();
    let (better, worse) = (of(Direction::Better), of(Direction::Worse));
    writeln!(out, "Of {} checks {better} got better and {worse} got worse.", changes.compared)?;
    for why in Unlike::ALL {
        let names: Vec<&str> = changes.not_compared_for(why).collect();
        if !names.is_empty() {
            writeln!(out, "Not compared, as {}: {}", why.in_words(), names.join(", "))?;
        }
    }
    Ok(())
}

fn row(change: &Change) -> Vec<Cell> {
    // Colours are the table's, which counts escapes as text.
    let word = match change.direction {
        Direction::Better => Cell::new("better").fg(Color::Green),
        Direction::Worse => Cell::new("worse").fg(Color::Red),
    };
    let decimals = suite::decimals(change.limit) + 1;
    let difference = change.difference.map_or_else(
        || "–".to_owned(),
        |difference| {
            let half = difference.half_width.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
            format!("{:+.decimals$}{half}", difference.mean)
        },
    );
    let verdict = match change.verdicts {
        (before, Verdict::Passed) if before != Verdict::Passed => "passes now",
        (before, Verdict::Missed) if before != Verdict::Missed => "fails now",
        (before, Verdict::Open) if before != Verdict::Open => "open now",
        (_, Verdict::Passed) => "passes",
        (_, Verdict::Missed) => "fails",
        (_, Verdict::Open) => "open",
    };
    let mean = |mean| Cell::new(figure(mean, None, change.limit, &change.unit));
    vec![
        word,
        Cell::new(&change.case),
        Cell::new(&change.controller),
        Cell::new(&change.check),
        mean(change.means.0),
        mean(change.means.1),
        Cell::new(difference),
        Cell::new(verdict),
    ]
}
