//! Sources of link traces: files below data directories, a user's own files, and generated drives.

mod directories;
pub mod edit;
mod error;
pub mod forms;
mod frames;
pub(crate) mod headers;
mod import;
mod iperf;
mod options;
pub(crate) mod packet;
pub(crate) mod packets;
mod rates;
mod statistics;
pub mod synthetic;
mod table;
pub(crate) mod transfer;
mod units;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use weir_net::Trace;

use directories::Directories;
use synthetic::{DriveModel, FIRST_DRIVE, MODELS};
use weir_form::{advice, nearest};

pub use directories::DATA_VARIABLE;
pub use error::{BinError, FormError};
pub use forms::TraceForm;
pub use import::{Imported, import};
pub use options::{ImportFinding, ImportForm, ReadOptions};
pub use rates::RateFrom;
pub use statistics::TraceStatistics;
pub use units::{NoUnit, RateUnit, TimeUnit};

/// Number of generated drives that are kept, enough for a comparison but not for thousands of seeds.
const MAX_DRIVES: usize = 64;

/// Store of traces, which finds them by name or path and reads each once. A trace file is in `traces/` of a data
/// directory. Its file name without the extension, in lower case, is the name of the trace.
#[derive(Debug, Default)]
pub struct TraceStore {
    directories: Directories,
    read: Mutex<BTreeMap<TraceOrigin, Arc<Trace>>>,
}

/// The source of a trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TraceOrigin {
    Name(String),
    File(PathBuf),
    /// A generated drive, by its model and number.
    Drive(&'static str, u64),
}

/// A trace that can be found by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// The file, or `None` for a generated trace.
    pub file: Option<PathBuf>,
}

/// Reasons for which a trace cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceStoreError {
    /// No file of that name.
    #[error("the trace `{name}` was not found {place}")]
    NotFound {
        /// The name.
        name: String,
        /// The places that were searched.
        place: String,
        /// Advice to the user.
        advice: String,
    },
    /// A generated drive has the name, and so has a file.
    #[error("the trace `{name}` is a generated drive, and there is a file of this name, {file}")]
    Ambiguous {
        /// The name.
        name: String,
        /// The file.
        file: String,
        /// Advice to the user.
        advice: String,
    },
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Cause of the error.
        reason: String,
    },
    /// The file is no trace.
    #[error("{path}{between} {error}", between = between(error))]
    Malformed {
        /// The file.
        path: String,
        /// The problem, and its place.
        error: FormError,
    },
    /// The file holds no frame sizes.
    #[error("{path}: {error}")]
    NoFrameSizes {
        /// The file.
        path: String,
        /// The problem, and its place.
        error: weir_media::TraceError,
    },
}

impl TraceStore {
    /// The store of the data directories that are `given`, then of those that the environment names. Next is `data/` in the
    /// present directory or the nearest above it that has one. Last are the directories that ship with the command.
    pub fn find(given: &[PathBuf]) -> Self {
        Self::find_besides(given, None)
    }

    /// The store of [`Self::find`], with the directory `last` added at the end.
    pub fn find_besides(given: &[PathBuf], last: Option<PathBuf>) -> Self {
        Self { directories: Directories::find(given, last), read: Mutex::default() }
    }

    /// The store of these data directories; without any it has only generated traces.
    pub fn at(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { directories: Directories::of(directories), read: Mutex::default() }
    }

    /// All traces that have names, sorted by them.
    pub fn listed(&self) -> Vec<Listed> {
        let mut files = self.directories.files();
        files.retain(|name, _| synthetic::named(name, FIRST_DRIVE).is_none());
        let files = files.into_iter().map(|(name, file)| Listed { name, file: Some(file) });
        let generated = MODELS.iter().map(|model| Listed { name: model.name.to_owned(), file: None });
        let mut listed: Vec<Listed> = files.chain(generated).collect();
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        listed
    }

    /// The names of all traces, sorted.
    pub fn names(&self) -> Vec<String> {
        self.listed().into_iter().map(|listed| listed.name).collect()
    }

    /// The nearest data directory, if there is any.
    pub fn nearest(&self) -> Option<&Path> {
        self.directories.iter().next()
    }

    /// The trace `name`; for a generated kind the first one, unless the name has a number.
    ///
    /// # Errors
    /// No such trace, or its file cannot be read or is no trace; a generated drive and a file have the name.
    pub fn load(&self, name: &str) -> Result<Arc<Trace>, TraceStoreError> {
        if let Some((model, number)) = synthetic::named(name, FIRST_DRIVE) {
            self.unambiguous(name, None)?;
            return Ok(self.drive(model, number));
        }
        self.keep(TraceOrigin::Name(name.to_owned()), || {
            let file = self.directories.files().remove(name).ok_or_else(|| self.not_found(name))?;
            read(&file)
        })
    }

    /// The trace `name`, or that of a file in any of the [forms]. With a `/` in it, `name` is the path of a file. Otherwise it
    /// may be the path of a file where no trace has this name. Paths that are not absolute begin in the directory `beside`, in
    /// that of the process where it is empty.
    ///
    /// # Errors
    /// Neither a trace nor a file has this name. The file cannot be read or is no trace. A generated drive and a file both have
    /// the name.
    pub fn load_beside(&self, name: &str, beside: &Path) -> Result<Arc<Trace>, TraceStoreError> {
        if synthetic::named(name, FIRST_DRIVE).is_some() {
            self.unambiguous(name, Some(beside))?;
        }
        if let Some(file) = self.file_beside(name, beside) {
            return self.keep(TraceOrigin::File(file.clone()), || read(&file));
        }
        if is_path(name) { Err(no_such_file(name, beside)) } else { self.load(name) }
    }

    /// [`Self::load_beside`] in a run of this seed, whose generated drives are its own.
    ///
    /// # Errors
    /// As for [`Self::load_beside`].
    pub fn load_in_run(&self, name: &str, beside: &Path, seed: u64) -> Result<Arc<Trace>, TraceStoreError> {
        match synthetic::named(name, seed) {
            Some((model, number)) => {
                self.unambiguous(name, Some(beside))?;
                Ok(self.drive(model, number))
            }
            None => self.load_beside(name, beside),
        }
    }

    /// Refuses the name of a generated drive that a file in a data directory or in `beside` has, too.
    fn unambiguous(&self, name: &str, beside: Option<&Path>) -> Result<(), TraceStoreError> {
        let beside = beside.map(|directory| directory.join(name)).filter(|file| file.is_file());
        match self.directories.files().remove(name).or(beside) {
            None => Ok(()),
            Some(file) => {
                let advice =
                    format!("name the file by its path, such as `./{name}`, or give it another name");
                let file = file.display().to_string();
                Err(TraceStoreError::Ambiguous { name: name.to_owned(), file, advice })
            }
        }
    }

    fn drive(&self, model: &'static DriveModel, number: u64) -> Arc<Trace> {
        let source = TraceOrigin::Drive(model.name, number);
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trace) = kept.get(&source) {
            return Arc::clone(trace);
        }
        let trace = Arc::new(model.drive(number));
        if kept.len() < MAX_DRIVES {
            kept.insert(source, Arc::clone(&trace));
        }
        trace
    }

    /// The file that [`Self::load_beside`] takes for `name`, where that is not in a data directory.
    pub fn file_beside(&self, name: &str, beside: &Path) -> Option<PathBuf> {
        let known =
            || synthetic::named(name, FIRST_DRIVE).is_some() || self.directories.files().contains_key(name);
        let file = beside.join(name);
        ((is_path(name) || !known()) && file.is_file()).then_some(file)
    }

    /// [`Self::load_beside`] the present directory.
    ///
    /// # Errors
    /// As for [`Self::load_beside`].
    pub fn open(&self, name: &str) -> Result<Arc<Trace>, TraceStoreError> {
        self.load_beside(name, Path::new(""))
    }

    /// The stored trace of `source`, or else the result of `read`, which is then stored.
    fn keep(
        &self,
        source: TraceOrigin,
        read: impl FnOnce() -> Result<Trace, TraceStoreError>,
    ) -> Result<Arc<Trace>, TraceStoreError> {
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trace) = kept.get(&source) {
            return Ok(Arc::clone(trace));
        }
        let trace = Arc::new(read()?);
        kept.insert(source, Arc::clone(&trace));
        Ok(trace)
    }

    fn not_found(&self, name: &str) -> TraceStoreError {
        let names = self.names();
        let advice = format!(
            "{}; or name the data directory with `--data` or {DATA_VARIABLE}, or a file by its path, such as `./{name}`",
            advice(name, names.iter().map(String::as_str))
        );
        TraceStoreError::NotFound { name: name.to_owned(), place: self.directories.place("traces"), advice }
    }
}

/// Whether `name` can only be the path of a file.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', MAIN_SEPARATOR])
}

/// The punctuation between the name of a file and its problem.
fn between(error: &FormError) -> &'static str {
    if matches!(error, FormError::Whole { .. } | FormError::Undecided { .. }) { ":" } else { "," }
}

fn read(file: &Path) -> Result<Trace, TraceStoreError> {
    let path = || file.display().to_string();
    File::open(file)
        .map_err(|error| TraceStoreError::Unreadable { path: path(), reason: error.to_string() })?;
    import::read_own(file).map_err(|error| TraceStoreError::Malformed { path: path(), error })
}

/// The error for a missing file `name`, with the searched place and the files there.
fn no_such_file(name: &str, beside: &Path) -> TraceStoreError {
    let file = beside.join(name);
    let whole = std::path::absolute(&file).unwrap_or(file);
    let place = if whole.is_dir() {
        format!("as a file: {} is a directory", whole.display())
    } else {
        format!("as {}", whole.display())
    };
    let own = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entries = whole.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let advice = match entries {
        None => "there is no such directory".to_owned(),
        Some(entries) => {
            let files = entries.filter_map(Result::ok).filter(|entry| entry.path().is_file());
            let files: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            match nearest(&own, files.iter().map(String::as_str)) {
                Some(file) => format!("did you mean `{file}` there?"),
                None => "there is no file of that name".to_owned(),
            }
        }
    };
    let advice = format!(
        "{advice}; a path begins at the scenario's own directory, by --set and on the command line at the present one"
    );
    TraceStoreError::NotFound { name: name.to_owned(), place, advice }
}
