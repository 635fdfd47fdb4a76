//! `weir report`: draws the report of a run again, or of two runs side by side.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use weir_lab::comparison::saved::Saved;
use weir_lab::comparison::versus::{self, Change, Loaded, Versus};
use weir_lab::page::{self, ControllerPanel, Row, SummaryTable};
use weir_lab::registry::Registry;
use weir_lab::results::ranking::{Criterion, LEAST_SEEDS};
use weir_lab::scenario::{Named, Scenario};
use weir_lab::traces::TraceStore;

use crate::args::ReportArgs;
use crate::differences::measured;
use crate::failure::Failure;
use crate::output::DEFAULT_OUT;
use crate::output::{OutputFile, TABLE};
use crate::run::file_name;
use crate::{browser, table};

const RESULTS: &str = "results.json";
const SCENARIO: &str = "scenario.toml";
const REPORT: &str = "report.html";

/// Draws what the arguments ask for. Whether nothing got worse than it may, where that was asked.
pub(crate) fn report(args: &ReportArgs, registry: &Registry) -> Result<bool, Failure> {
    let store = args.data.store();
    let mut first = Source::at(&args.run)?;
    let mut second = args.against.as_deref().map(Source::at).transpose()?;
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
    let Some(against) = against else {
        let Loaded { saved, scenario, controllers, .. } = loaded;
        let page = saved.page(scenario, controllers);
        file.write(page::render(&page).as_bytes())?;
        let told = json!({ "scenario": saved.scenario, "verdict": saved.verdict, "ranking": saved.ranking });
        print(args, &path, told, &sentences(&[&saved.verdict]))?;
        return Ok(true);
    };
    let (first, second) = (loaded.name.clone(), against.name.clone());
    let both = versus::versus(loaded, against);
    let worse = worse(args.fail_if_worse, &both)?;
    file.write(page::render(&both.page).as_bytes())?;
    let told = json!({
        "first": first,
        "second": second,
        "seeds": both.seeds,
        "unpaired": both.unpaired,
        "verdict": both.page.verdict,
        "controllers": both.changes.iter().map(change).collect::<Vec<_>>(),
        "differences": both.differences.rows.iter().map(|row| difference(&both.differences, row)).collect::<Vec<_>>(),
        "worse": worse,
    });
    let mut words = Vec::new();
    if !both.differences.rows.is_empty() {
        writeln!(words, "What {second} has beyond {first}:\n")?;
        writeln!(words, "{}", table::summary("controller", &both.differences, table::terminal_width()))?;
        table::write_notes(&mut words, &both.differences)?;
    }
    let note = both.page.notes.first().map_or("", String::as_str);
    words.extend(sentences(&[note, &both.page.verdict]));
    print(args, &path, told, &words)?;
    for line in &worse {
        // Where nobody listens, the exit code still tells.
        let _ = writeln!(anstream::stderr(), "{line}");
    }
    Ok(worse.is_empty())
}

/// What is told, in words or as JSON, and where the report is.
fn print(args: &ReportArgs, path: &Path, mut told: Value, words: &[u8]) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    if args.json {
        told["report"] = json!(path);
        writeln!(out, "{}", serde_json::to_string_pretty(&told).map_err(io::Error::from)?)?;
    } else {
        out.write_all(words)?;
        writeln!(out, "Report: {}", browser::link(path))?;
    }
    Ok(())
}

/// Each in lines that fit the terminal.
fn sentences(all: &[&str]) -> Vec<u8> {
    let width = table::terminal_width();
    let lines: Vec<String> = all.iter().map(|one| table::sentence(one, width) + "\n").collect();
    lines.concat().into_bytes()
}

/// What became of a controller.
fn change(change: &Change) -> Value {
    let of = |criterion: Criterion| {
        let [before, after] = change.means(criterion).map_or([None; 2], |means| means.map(Some));
        json!({
            "criterion": criterion.name(),
            "unit": criterion.unit(),
            "first": before,
            "second": after,
            "verdict": change.course(criterion),
        })
    };
    json!({ "name": change.name, "criteria": Criterion::DOMINATING.map(of) })
}

/// What a controller has beyond itself in the first run.
fn difference(table: &SummaryTable, row: &Row) -> Value {
    let own = std::iter::once(("controller".to_owned(), json!(row.name)));
    Value::Object(own.chain(measured(&table.columns, row)).collect())
}

/// A sentence for each quantity of a controller that got worse by more than `share`; none where it was not asked.
fn worse(share: Option<f64>, both: &Versus) -> Result<Vec<String>, Failure> {
    let Some(share) = share else { return Ok(Vec::new()) };
    let percent = 100.0 * share;
    if both.changes.is_empty() || both.seeds < LEAST_SEEDS {
        let why = match &both.unpaired {
            Some(why) => why.clone(),
            None if both.changes.is_empty() => "no controller is in both runs".to_owned(),
            None => format!("both have only {} seeds in common", both.seeds),
        };
        let problem = format!(
            "nothing can be told of these runs: {why}; give runs of one scenario that have {LEAST_SEEDS} seeds in common"
        );
        return Err(Failure::Option { option: format!("--fail-if-worse {percent}%"), problem });
    }
    let of = |change: &Change| -> Vec<String> {
        let worse =
            Criterion::DOMINATING.into_iter().filter(|&criterion| change.is_worse_by(criterion, share));
        let told = worse.filter_map(|criterion| {
            let [before, after] = change.means(criterion)?;
            let (name, what, unit) = (&change.name, criterion.name(), criterion.unit());
            Some(format!("{name}: {what} is worse by more than {percent} %: {before:.1} → {after:.1} {unit}"))
        });
        told.collect()
    };
    Ok(both.changes.iter().flat_map(of).collect())
}

/// Where a run was written to.
struct Source {
    /// As it was named.
    named: PathBuf,
    directory: PathBuf,
    /// The files that were read.
    read: Vec<PathBuf>,
}

impl Source {
    fn at(named: &Path) -> Result<Self, Failure> {
        let is_results = named.file_name().is_some_and(|name| name == RESULTS || name == TABLE);
        let directory = match fs::metadata(named) {
            Ok(found) if found.is_dir() => named.to_owned(),
            Ok(_) if is_results => named.parent().map_or_else(PathBuf::new, Path::to_owned),
            Ok(_) => return Err(wrong(named, "neither a directory nor a results.json")),
            Err(error) => return Err(wrong(named, &error.to_string())),
        };
        Ok(Self { named: named.to_owned(), directory, read: Vec::new() })
    }

    /// The text of a file of the run; `None` if it is not there.
    fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let path = self.directory.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => {
                self.read.push(path);
                Ok(Some(text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(wrong(&path, &error.to_string())),
        }
    }

    /// Whether `path` is one of the files that were read.
    fn has_read(&self, path: &Path) -> bool {
        let Ok(there) = path.canonicalize() else { return false };
        self.read.iter().any(|own| own.canonicalize().is_ok_and(|own| own == there))
    }

    fn load(&mut self, registry: &Registry, store: &TraceStore) -> Result<Loaded, Failure> {
        let directory = self.directory.clone();
        let unreadable =
            |name: &str, error: &dyn std::fmt::Display| wrong(&directory.join(name), &error.to_string());
        let mut saved: Saved = match (self.text(TABLE)?, self.text(RESULTS)?) {
            (Some(text), _) => serde_json::from_str(&text).map_err(|error| unreadable(TABLE, &error))?,
            (None, Some(text)) => Saved::from_results(&text).map_err(|error| unreadable(RESULTS, &error))?,
            (None, None) => return Err(wrong(&self.named, "has neither table.json nor results.json")),
        };
        if let Some(row) = saved.table.uneven() {
            return Err(unreadable(
                TABLE,
                &format!("the row `{row}` has not a value for each column and seed"),
            ));
        }
        let text = self.text(SCENARIO)?.unwrap_or_default();
        let mut controllers = Vec::new();
        let mut missing = Vec::new();
        let mut world = String::new();
        if !text.is_empty() {
            let path = self.directory.join(SCENARIO);
            let scenario = Scenario::open_in(registry, &path.to_string_lossy(), &[])?;
            saved.tell_laws(&scenario);
            // Who was compared, and over which seeds, does not change the world.
            let mut alone = scenario.clone();
            alone.controllers.clear();
            alone.variants = Named::default();
            (alone.runs, alone.seed) = (1, 1);
            world = alone.to_toml().map_err(io::Error::other)?;
            for row in &saved.table.rows {
                match self.curves(&saved, &scenario, &row.name, store)? {
                    Some(panel) => controllers.push(panel),
                    None => missing.push(row.name.clone()),
                }
            }
        }
        if !missing.is_empty() {
            let series = "run it again with --series csv for their curves";
            saved.notes.push(format!(
                "Without curves, as there is no series-CONTROLLER.csv of them: {}; {series}.",
                missing.join(", ")
            ));
        }
        Ok(Loaded { name: self.named.display().to_string(), saved, scenario: text, world, controllers })
    }

    fn curves(
        &mut self,
        saved: &Saved,
        scenario: &Scenario,
        controller: &str,
        store: &TraceStore,
    ) -> Result<Option<ControllerPanel>, Failure> {
        let name = format!("series-{}.csv", file_name(controller));
        let Some(series) = self.text(&name)? else { return Ok(None) };
        let delays = self.text(&format!("queuing-delay-{}.csv", file_name(controller)))?.unwrap_or_default();
        saved.curves(scenario, controller, store, (&series, &delays)).map_err(|error| {
            let problem = format!("{error}, as {SCENARIO} there would have");
            wrong(&self.directory.join(&name), &problem)
        })
    }
}

/// What is wrong with the files of a run, and what would be right.
fn wrong(path: &Path, problem: &str) -> Failure {
    Failure::Option {
        option: path.display().to_string(),
        problem: format!(
            "{problem}; name a directory that `weir run --out` wrote, or the results.json in it"
        ),
    }
}
