//! Stores of results, so that no run is repeated.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use flate2::Crc;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Keeps results by the keys of their tasks.
pub trait Store<T>: Sync {
    /// Whether it stores results at all, so that keys are needed.
    fn keeps(&self) -> bool {
        true
    }

    /// The result under `key`, if there is one that is whole.
    fn get(&self, key: &str) -> Option<T>;

    /// Stores a result.
    ///
    /// # Errors
    /// The store cannot be written.
    fn put(&self, key: &str, result: &T) -> Result<(), StoreError>;
}

/// A store of results cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: cannot be read or written: {source}")]
pub struct StoreError {
    /// Path of the store.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// A store without content: every task is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl<T> Store<T> for NoStore {
    fn keeps(&self) -> bool {
        false
    }

    fn get(&self, _: &str) -> Option<T> {
        None
    }

    fn put(&self, _: &str, _: &T) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Stores results in two stores, and finds results that either has. The second one is a cache, whose write errors are ignored.
#[derive(Clone, Copy, Debug)]
pub struct Both<'a, A, B>(pub &'a A, pub &'a B);

impl<T, A: Store<T>, B: Store<T>> Store<T> for Both<'_, A, B> {
    fn keeps(&self) -> bool {
        self.0.keeps() || self.1.keeps()
    }

    fn get(&self, key: &str) -> Option<T> {
        let first = self.0.get(key);
        first.or_else(|| {
            let found = self.1.get(key)?;
            // The cache has it; the first store is only a copy of that.
            let _ = self.0.put(key, &found);
            Some(found)
        })
    }

    fn put(&self, key: &str, result: &T) -> Result<(), StoreError> {
        self.0.put(key, result)?;
        let _ = self.1.put(key, result);
        Ok(())
    }
}

/// Stores results in a plain file that grows by a line with each. A line has a checksum, the key, and the result as JSON, in
/// which numbers have to be finite. A damaged line counts as absent, so that a killed process loses only the result it was
/// writing. Results of several kinds stand beside each other; one of another kind than requested counts as absent, and stays.
/// Only one process at a time may write to it.
#[derive(Debug)]
pub struct ResultLog {
    path: PathBuf,
    /// The text of each line, by its key.
    kept: Mutex<BTreeMap<String, String>>,
    /// The file to append to, or `None` for a log that is only read.
    file: Option<Mutex<File>>,
    /// Number of results taken from it.
    taken: AtomicUsize,
}

impl ResultLog {
    /// The log at `path`, which is created if necessary, together with the results in the logs `besides`.
    ///
    /// # Errors
    /// The log cannot be created or read, another process has it open, or one of `besides` has content but no result.
    pub fn open(path: &Path, besides: &[PathBuf]) -> Result<Self, StoreError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            |source| StoreError { path, source }
        };
        let mut kept = BTreeMap::new();
        for other in besides {
            let log = std::fs::read(other).map_err(at(other))?;
            let mut whole = lines(&log).peekable();
            if whole.peek().is_none() && !log.is_empty() {
                return Err(at(other)(io::Error::other("it holds no run, whatever else it holds")));
            }
            kept.extend(whole);
        }
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(at(path))?;
        let taken = |error| match error {
            TryLockError::WouldBlock => io::Error::other("another process puts runs into it"),
            TryLockError::Error(source) => source,
        };
        file.try_lock().map_err(taken).map_err(at(path))?;
        let mut own = Vec::new();
        file.read_to_end(&mut own).map_err(at(path))?;
        if own.last().is_some_and(|&last| last != b'\n') {
            // The incomplete last line ends here.
            file.write_all(b"\n").map_err(at(path))?;
        }
        kept.extend(lines(&own));
        let (kept, file) = (Mutex::new(kept), Some(Mutex::new(file)));
        Ok(Self { path: path.to_owned(), kept, file, taken: AtomicUsize::new(0) })
    }

    /// The log at `path`, read-only: new results are not stored.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let log = std::fs::read(path).map_err(|source| StoreError { path: path.to_owned(), source })?;
        let kept = Mutex::new(lines(&log).collect());
        Ok(Self { path: path.to_owned(), kept, file: None, taken: AtomicUsize::new(0) })
    }

    /// Whether it has no result.
    pub fn is_empty(&self) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Number of results taken from it so far.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Rewrites the log in the order of the keys, whole or not at all, so that the same results give the same bytes.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn in_order(&self) -> Result<(), StoreError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let partial = self.path.with_extension("partial");
        let write = || {
            let mut out = BufWriter::new(File::create(&partial)?);
            for text in kept.values() {
                out.write_all(line(text).as_bytes())?;
            }
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            std::fs::rename(&partial, &self.path)
        };
        write().map_err(|source| {
            // The file may not exist; the error to report is the cause.
            let _ = std::fs::remove_file(&partial);
            StoreError { path: self.path.clone(), source }
        })
    }
}

impl<T: Serialize + DeserializeOwned> Store<T> for ResultLog {
    fn get(&self, key: &str) -> Option<T> {
        let text = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        let found =
            text.and_then(|text| serde_json::from_str(&text).ok()).map(|(_, found): (IgnoredAny, T)| found);
        self.taken.fetch_add(usize::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn put(&self, key: &str, result: &T) -> Result<(), StoreError> {
        let Some(file) = &self.file else { return Ok(()) };
        let write = || {
            let text = serde_json::to_string(&(key, result))?;
            file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line(&text).as_bytes())?;
            Ok(text)
        };
        let text = write().map_err(|source| StoreError { path: self.path.clone(), source })?;
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), text);
        Ok(())
    }
}

fn line(text: &str) -> String {
    format!("{:08x} {text}\n", checksum(text))
}

fn checksum(text: &str) -> u32 {
    let mut sum = Crc::new();
    sum.update(text.as_bytes());
    sum.sum()
}

/// The texts of the lines of a log, each with its key; those that are damaged are left out.
fn lines(log: &[u8]) -> impl Iterator<Item = (String, String)> + '_ {
    let entry = |line: &[u8]| {
        let (sum, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        let whole = u32::from_str_radix(sum, 16).ok()? == checksum(text);
        let (key, _): (String, IgnoredAny) = whole.then(|| serde_json::from_str(text).ok())??;
        Some((key, text.to_owned()))
    };
    log.split(|&byte| byte == b'\n').filter_map(entry)
}
