//! The directory of a written run, and its content.

use std::path::{Path, PathBuf};
use std::{fs, io};

use weir_form::{MOST_PRINTED, text_of};
use weir_import::traces::TraceStore;
use weir_report::page::ControllerPanel;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Named, Scenario};
use weir_study::comparison::saved::{Saved, SavedTables};
use weir_study::comparison::two_runs::Loaded;

use crate::failure::Failure;
use crate::output::TABLE;
use crate::output::names_of;

const RESULTS: &str = "results.json";
const SCENARIO: &str = "scenario.toml";

/// The directory of a written run.
pub(crate) struct RunFolder {
    /// The path as it was given.
    pub(crate) named: PathBuf,
    pub(crate) directory: PathBuf,
    /// The files that were read.
    read: Vec<PathBuf>,
}

impl RunFolder {
    /// The directory of this name, or of a `results.json` or `table.json` in it.
    pub(crate) fn at(named: &Path) -> Result<Self, Failure> {
        let is_results = named.file_name().is_some_and(|name| name == RESULTS || name == TABLE);
        let directory = match fs::metadata(named) {
            Ok(found) if found.is_dir() => named.to_owned(),
            Ok(_) if is_results => named.parent().map_or_else(PathBuf::new, Path::to_owned),
            Ok(_) => return Err(wrong(named, "neither a directory nor a results.json")),
            Err(error) => return Err(wrong(named, &error.to_string())),
        };
        Ok(Self { named: named.to_owned(), directory, read: Vec::new() })
    }

    /// The text of a file of the run, or `None` if it does not exist.
    fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let path = self.directory.join(name);
        match text_of(&path, MOST_PRINTED) {
            Ok(text) => {
                self.read.push(path);
                Ok(Some(text))
            }
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(wrong(&path, &error.to_string())),
        }
    }

    /// Whether `path` is one of the files that were read.
    pub(crate) fn has_read(&self, path: &Path) -> bool {
        let Ok(there) = path.canonicalize() else { return false };
        self.read.iter().any(|own| own.canonicalize().is_ok_and(|own| own == there))
    }

    /// Saved statements of the report.
    pub(crate) fn saved(&mut self) -> Result<Saved, Failure> {
        let directory = self.directory.clone();
        let unreadable =
            |name: &str, error: &dyn std::fmt::Display| wrong(&directory.join(name), &error.to_string());
        let saved: Saved = match (self.text(TABLE)?, self.text(RESULTS)?) {
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
        Ok(saved)
    }

    /// The scenario that was run, or `None` if it does not exist.
    pub(crate) fn scenario(&self, registry: &Registry) -> Result<Option<Scenario>, Failure> {
        let path = self.directory.join(SCENARIO);
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(Scenario::open_in(registry, &path.to_string_lossy(), &[])?))
    }

    /// All data for drawing a report.
    pub(crate) fn load(&mut self, registry: &Registry, store: &TraceStore) -> Result<Loaded, Failure> {
        let mut saved = self.saved()?;
        let text = self.text(SCENARIO)?.unwrap_or_default();
        let mut controllers = Vec::new();
        let mut missing = Vec::new();
        let mut world = String::new();
        if let Some(scenario) = self.scenario(registry)? {
            saved.set_controllers(&scenario);
            // Candidates and seeds do not change the world.
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

    /// The tables of the controller's first run, or `None` if there is no series.
    pub(crate) fn tables(&mut self, controller: &str) -> Result<Option<SavedTables>, Failure> {
        let Some(controller) = self.name_in_files(controller) else { return Ok(None) };
        let Some(series) = self.text(&format!("series-{controller}.csv"))? else { return Ok(None) };
        let mut other = |name: &str| -> Result<String, Failure> {
            Ok(self.text(&format!("{name}-{controller}.csv"))?.unwrap_or_default())
        };
        let (decisions, queuing_delays) = (other("decisions")?, other("queuing-delay")?);
        Ok(Some(SavedTables { series, decisions, queuing_delays }))
    }

    /// The name that the series of the controller has in the names of files, or `None` without a series.
    fn name_in_files(&self, controller: &str) -> Option<String> {
        let has_series = |name: &String| self.directory.join(format!("series-{name}.csv")).exists();
        names_of(controller).into_iter().find(has_series)
    }

    fn curves(
        &mut self,
        saved: &Saved,
        scenario: &Scenario,
        controller: &str,
        store: &TraceStore,
    ) -> Result<Option<ControllerPanel>, Failure> {
        let Some(tables) = self.tables(controller)? else { return Ok(None) };
        let name = format!("series-{}.csv", self.name_in_files(controller).unwrap_or_default());
        saved.curves(scenario, controller, store, &tables).map_err(|error| {
            let problem = format!("{error}, as {SCENARIO} there would have");
            wrong(&self.directory.join(&name), &problem)
        })
    }
}

/// An error in the files of a run, and the valid content.
pub(crate) fn wrong(path: &Path, problem: &str) -> Failure {
    Failure::Option {
        option: path.display().to_string(),
        problem: format!(
            "{problem}; name a directory that `weir run --out` wrote, or the results.json in it"
        ),
    }
}
