//! Where link traces come from: files below a data directory, and one that is made here.

pub mod edit;
pub mod forms;
mod frames;
mod synthetic;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use weir_net::Trace;

use crate::form::advice;

pub use forms::{BinError, FormError, TraceForm};
pub use synthetic::synthetic_lte;

/// Name of the trace that needs no file.
pub const SYNTHETIC_LTE: &str = "synthetic-lte";

/// The environment variable that names the data directory.
pub const DATA_VARIABLE: &str = "WEIR_DATA";

/// Finds traces by name and reads each once. A trace file lies in `traces/` of the data directory; its name there,
/// in lower case, is the trace's name.
#[derive(Debug, Default)]
pub struct TraceStore {
    directory: Option<PathBuf>,
    read: Mutex<BTreeMap<String, Arc<Trace>>>,
}

/// Why there is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceStoreError {
    /// No file of that name.
    #[error("the trace `{name}` was not found in {place}")]
    NotFound {
        /// The name.
        name: String,
        /// Where it was looked for.
        place: String,
        /// What to do.
        advice: String,
    },
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// The file is no trace.
    #[error("{path}, {error}")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong, and where.
        error: FormError,
    },
    /// The file holds no frame sizes.
    #[error("{path}: {error}")]
    NoFrameSizes {
        /// The file.
        path: String,
        /// What is wrong, and where.
        error: weir_media::TraceError,
    },
}

impl TraceStore {
    /// The store of the data directory `given`, else of the one that the environment names, else of `data/` in
    /// the present directory or the nearest above it that has one.
    pub fn find(given: Option<&Path>) -> Self {
        let named = || std::env::var_os(DATA_VARIABLE).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let above = || std::env::current_dir().ok().and_then(|dir| data_above(&dir));
        Self::at(given.map(Path::to_owned).or_else(named).or_else(above))
    }

    /// The store of this data directory; without one it has only the trace that needs no file.
    pub fn at(directory: Option<PathBuf>) -> Self {
        Self { directory, read: Mutex::default() }
    }

    /// The names of all traces, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.files().into_keys().collect();
        names.push(SYNTHETIC_LTE.to_owned());
        names.sort();
        names
    }

    /// The trace `name`.
    ///
    /// # Errors
    /// No such trace, or its file cannot be read or is no trace.
    pub fn load(&self, name: &str) -> Result<Arc<Trace>, TraceStoreError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trace) = read.get(name) {
            return Ok(Arc::clone(trace));
        }
        let trace = Arc::new(if name == SYNTHETIC_LTE { synthetic_lte() } else { self.read_file(name)? });
        read.insert(name.to_owned(), Arc::clone(&trace));
        Ok(trace)
    }

    /// The trace `name`, or that of the file `name`, in any of the [forms].
    ///
    /// # Errors
    /// Neither a trace nor a file has this name, or the file cannot be read or is no trace.
    pub fn open(&self, name: &str) -> Result<Arc<Trace>, TraceStoreError> {
        match self.load(name) {
            Err(TraceStoreError::NotFound { .. }) if Path::new(name).is_file() => {
                let path = || name.to_owned();
                let text = std::fs::read_to_string(name).map_err(|error| TraceStoreError::Unreadable {
                    path: path(),
                    reason: error.to_string(),
                })?;
                let trace = TraceForm::of(Path::new(name)).read(&text);
                trace.map(Arc::new).map_err(|error| TraceStoreError::Malformed { path: path(), error })
            }
            found => found,
        }
    }

    fn read_file(&self, name: &str) -> Result<Trace, TraceStoreError> {
        let file = self.files().remove(name).ok_or_else(|| self.not_found(name))?;
        let path = file.display().to_string();
        let text = std::fs::read_to_string(&file)
            .map_err(|error| TraceStoreError::Unreadable { path: path.clone(), reason: error.to_string() })?;
        TraceForm::of(&file).read(&text).map_err(|error| TraceStoreError::Malformed { path, error })
    }

    fn not_found(&self, name: &str) -> TraceStoreError {
        let place = self.directory.as_ref().map_or_else(
            || "any data directory: there is none".to_owned(),
            |dir| dir.join("traces").display().to_string(),
        );
        let names = self.names();
        let advice = format!(
            "{}; or name the data directory with `--data` or {DATA_VARIABLE}",
            advice(name, names.iter().map(String::as_str))
        );
        TraceStoreError::NotFound { name: name.to_owned(), place, advice }
    }

    /// The trace files by the names of their traces.
    fn files(&self) -> BTreeMap<String, PathBuf> {
        let Some(directory) = &self.directory else { return BTreeMap::new() };
        let Ok(entries) = std::fs::read_dir(directory.join("traces")) else { return BTreeMap::new() };
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file() && !is_about_the_traces(path))
            .filter_map(|path| Some((path.file_name()?.to_str()?.to_lowercase(), path)))
            .collect()
    }
}

fn is_about_the_traces(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem == "LICENSE" || stem == "README" || stem.is_empty() || stem.starts_with('.')
}

fn data_above(start: &Path) -> Option<PathBuf> {
    start.ancestors().map(|dir| dir.join("data")).find(|data| data.join("traces").is_dir())
}
