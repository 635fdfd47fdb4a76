//! `weir report`: draws the report of a run again, or of two runs side by side.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use weir_lab::comparison::saved::Saved;
use weir_lab::comparison::versus::{self, Loaded};
use weir_lab::page::{self, ControllerPanel};
use weir_lab::registry::Registry;
use weir_lab::scenario::{Named, Scenario};
use weir_lab::traces::TraceStore;

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output::{OutputFile, TABLE};
use crate::run::{DEFAULT_OUT, file_name};
use crate::{browser, table};

const RESULTS: &str = "results.json";
const SCENARIO: &str = "scenario.toml";
const REPORT: &str = "report.html";

/// Draws what the arguments ask for.
pub(crate) fn report(args: &ReportArgs, registry: &Registry) -> Result<(), Failure> {
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
    let mut out = anstream::stdout().lock();
    match against {
        None => {
            let Loaded { saved, scenario, controllers, .. } = loaded;
            file.write(page::render(&saved.page(scenario, controllers)).as_bytes())?;
        }
        Some(second) => {
            let second_name = second.name.clone();
            let (page, differences) = versus::page(loaded, second);
            file.write(page::render(&page).as_bytes())?;
            let width = table::terminal_width();
            if !differences.rows.is_empty() {
                writeln!(out, "What {second_name} has beyond {}:\n", args.run.display())?;
                writeln!(out, "{}", table::summary("controller", &differences, width))?;
                table::write_marks(&mut out, &differences)?;
            }
            for note in page.notes.iter().take(1) {
                writeln!(out, "{}", table::sentence(note, width))?;
            }
        }
    }
    writeln!(out, "Report: {}", browser::link(&path))?;
    Ok(())
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
