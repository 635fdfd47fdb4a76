//! `weir report`: writes the report of a saved run, or of two saved runs for comparison.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use weir_measure::results::ranking::{Criterion, LEAST_SEEDS};
use weir_report::page::{self, Row, SummaryTable};
use weir_scenario::registry::Registry;
use weir_study::comparison::changes::{ComparisonGap, ControllerChange};
use weir_study::comparison::two_runs::{self, Loaded, TwoRunComparison};
use weir_study::differences::measured;

use crate::args::{ReportArgs, VariantPair};
use crate::failure::Failure;
use crate::output::{DEFAULT_OUT, OutputFile};
use crate::run_folder::RunFolder;
use crate::terminal;
use crate::{browser, table};

/// File name of the report.
const REPORT: &str = "report.html";

/// Writes the report of the run, or of both runs, that `args` name. Returns whether no result of the second run is worse
/// by more than the limit of `--fail-if-worse`.
pub(crate) fn report(args: &ReportArgs, registry: &Registry) -> Result<bool, Failure> {
    let store = args.data.store();
    let mut first = RunFolder::at(&args.run)?;
    let mut second = args.against.as_deref().map(RunFolder::at).transpose()?;
    let path = match (&args.out, &second) {
        (Some(path), _) => path.clone(),
        (None, None) => first.directory.join(REPORT),
        (None, Some(_)) => Path::new(DEFAULT_OUT).join(REPORT),
    };
    let loaded = first.load(registry, &store)?;
    let against = second.as_mut().map(|second| second.load(registry, &store)).transpose()?;
    if let Some(input) = [Some(&first), second.as_ref()].into_iter().flatten().find(|own| own.has_read(&path))
    {
        return Err(Failure::Option {
            option: format!("--out {}", path.display()),
            problem: format!("the report of {} is made of this file; name another", input.named.display()),
        });
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)
            .map_err(|source| Failure::UnwritableFile { path: path.clone(), source })?;
    }
    let file = OutputFile::prepare(&path)?;
    let mut loaded = loaded;
    let Some(mut against) = against else {
        let Loaded { saved, scenario, controllers, .. } = loaded;
        let page = saved.page(scenario, controllers);
        file.write(page::render(&page).as_bytes())?;
        let facts = json!({ "scenario": saved.scenario, "verdict": saved.verdict, "ranking": saved.ranking });
        print(args, &path, facts, &wrapped(&[&saved.verdict]))?;
        return Ok(true);
    };
    pair_variants(&args.pair, &mut loaded, &mut against)?;
    let (first, second) = (loaded.name.clone(), against.name.clone());
    let both = two_runs::compare(loaded, against);
    let worse = worse(args.fail_if_worse, &both)?;
    file.write(page::render(&both.page).as_bytes())?;
    let facts = json!({
        "first": first,
        "second": second,
        "seeds": both.seeds,
        "unpaired": both.unpaired,
        "verdict": both.page.verdict,
        "controllers": both.changes.iter().map(change).collect::<Vec<_>>(),
        "differences": both.differences.rows.iter().map(|row| difference(&both.differences, row)).collect::<Vec<_>>(),
        "missing": both.gaps,
        "worse": worse,
    });
    let mut text = Vec::new();
    if !both.differences.rows.is_empty() {
        writeln!(text, "What {second} has beyond {first}:\n")?;
        writeln!(text, "{}", table::summary("controller", &both.differences, table::terminal_width()))?;
        table::write_notes(&mut text, &both.differences)?;
    }
    let note = both.page.notes.first().map_or("", String::as_str);
    text.extend(wrapped(&[note, &both.page.verdict]));
    print(args, &path, facts, &text)?;
    if args.fail_if_worse.is_none() {
        return Ok(true);
    }
    let gaps = both.gaps.iter().map(ComparisonGap::in_words);
    for line in worse.iter().cloned().chain(gaps) {
        // If this cannot be written, the exit code still reports it.
        let _ = writeln!(terminal::stderr(), "{line}");
    }
    Ok(worse.is_empty() && both.gaps.is_empty())
}

/// Pairs controllers of different names, as `--pair` says.
fn pair_variants(pairs: &[VariantPair], first: &mut Loaded, second: &mut Loaded) -> Result<(), Failure> {
    for VariantPair(text) in pairs {
        // Names of variants have equals signs, too.
        let splits = || text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let has = |run: &Loaded, name: &str| run.controller_names().any(|own| own == name);
        if let Some((a, b)) = splits().find(|(a, b)| has(first, a) && has(second, b)) {
            two_runs::pair(first, second, a, b);
            continue;
        }
        let of_first = splits().find(|(a, _)| has(first, a));
        let (a, b) = of_first.or_else(|| splits().next()).unwrap_or((text, ""));
        let (run, name) = if of_first.is_some() { (&*second, b) } else { (&*first, a) };
        let known: Vec<&str> = run.controller_names().collect();
        let problem =
            format!("{} has no controller `{name}` left to pair; it has {}", run.name, known.join(", "));
        return Err(Failure::Option { option: format!("--pair {text}"), problem });
    }
    Ok(())
}

/// Prints the path of the report, with the outcome as text or as JSON.
fn print(args: &ReportArgs, path: &Path, mut facts: Value, text: &[u8]) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if args.json {
        facts["report"] = json!(path);
        writeln!(out, "{}", serde_json::to_string_pretty(&facts).map_err(io::Error::from)?)?;
    } else {
        out.write_all(text)?;
        writeln!(out, "Report: {}", browser::link(path))?;
    }
    Ok(())
}

/// All sentences, each wrapped to the width of the terminal.
fn wrapped(all: &[&str]) -> Vec<u8> {
    let width = table::terminal_width();
    let lines: Vec<String> = all.iter().map(|one| table::sentence(one, width) + "\n").collect();
    lines.concat().into_bytes()
}

/// The means of a controller's criteria in both runs, as JSON.
fn change(change: &ControllerChange) -> Value {
    let of = |criterion: Criterion| {
        let [before, after] = change.means(criterion).map_or([None; 2], |means| means.map(Some));
        json!({
            "criterion": criterion.name(),
            "unit": criterion.unit(),
            "first": before,
            "second": after,
            "verdict": change.direction(criterion),
        })
    };
    json!({ "name": change.name, "criteria": Criterion::DOMINATING.map(of) })
}

/// The differences of a controller's metrics in the second run from the first, as JSON.
fn difference(table: &SummaryTable, row: &Row) -> Value {
    let own = std::iter::once(("controller".to_owned(), json!(row.name)));
    Value::Object(own.chain(measured(&table.columns, row)).collect())
}

/// A sentence for each criterion of a controller that is worse in the second run by more than `share`. The list is empty
/// without a limit.
fn worse(share: Option<f64>, both: &TwoRunComparison) -> Result<Vec<String>, Failure> {
    let Some(share) = share else { return Ok(Vec::new()) };
    let percent = 100.0 * share;
    let nothing = both.changes.is_empty() && both.gaps.is_empty();
    if nothing || both.seeds < LEAST_SEEDS {
        let why = match &both.unpaired {
            Some(why) => why.clone(),
            None if nothing => "there is nothing in the first run to compare".to_owned(),
            None => format!("both have only {} seeds in common", both.seeds),
        };
        let problem = format!(
            "these runs cannot be compared: {why}; give runs of one scenario that have {LEAST_SEEDS} seeds in common"
        );
        return Err(Failure::Option { option: format!("--fail-if-worse {percent}%"), problem });
    }
    let of = |change: &ControllerChange| -> Vec<String> {
        let worse =
            Criterion::DOMINATING.into_iter().filter(|&criterion| change.is_worse_by(criterion, share));
        let line = |criterion: Criterion| {
            let (name, what) = (&change.name, criterion.name());
            let means = change.means_in_words(criterion)?;
            Some(format!("{name}: {what} got worse by more than {percent} %: {means}"))
        };
        worse.filter_map(line).collect()
    };
    Ok(both.changes.iter().flat_map(of).collect())
}
