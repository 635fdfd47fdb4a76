//! Where results are kept, so that what was run is not run again.

use weir_world::stream;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::Crc;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Keeps results by the keys of their tasks.
pub trait Store<T>: Sync {
    /// Whether it keeps anything, so that keys are worth their making.
    fn keeps(&self) -> bool {
        true
    }

    /// The result under `key`, if there is one that is whole.
    fn get(&self, key: &str) -> Option<T>;

    /// Keeps a result.
    ///
    /// # Errors
    /// It cannot be written.
    fn put(&self, key: &str, result: &T) -> Result<(), StoreError>;
}

/// A result cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("{path}: cannot be written: {source}")]
pub struct StoreError {
    /// Where it was to go.
    pub path: PathBuf,
    /// Why it does not.
    pub source: io::Error,
}

/// Keeps nothing: everything is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forget;

impl<T> Store<T> for Forget {
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

/// Keeps results as long as it lives.
#[derive(Debug)]
pub struct InMemory<T>(Mutex<BTreeMap<String, T>>);

impl<T> Default for InMemory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + Send> Store<T> for InMemory<T> {
    fn get(&self, key: &str) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn put(&self, key: &str, result: &T) -> Result<(), StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), result.clone());
        Ok(())
    }
}

/// Keeps each result in a plain file of a folder: a line with a checksum and the key, then the result as JSON, so that
/// numbers have to be finite. A file that is damaged counts as none. One process at a time may put results into it.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// Longer keys are cut short in the name of the file and told apart by a hash.
const LONGEST_NAME: usize = 150;

impl Folder {
    /// The folder at `path`, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(path).map_err(|source| StoreError { path: path.to_owned(), source })?;
        Ok(Self(path.to_owned()))
    }

    fn file(&self, key: &str, end: &str) -> PathBuf {
        self.0.join(format!("{}.{end}", name(key)))
    }
}

impl<T: Serialize + DeserializeOwned> Store<T> for Folder {
    fn get(&self, key: &str) -> Option<T> {
        let text = std::fs::read_to_string(self.file(key, "json")).ok()?;
        let (head, result) = text.split_once('\n')?;
        (head == self::head(key, result)).then(|| serde_json::from_str(result).ok())?
    }

    fn put(&self, key: &str, result: &T) -> Result<(), StoreError> {
        let path = self.file(key, "json");
        let partial = self.file(key, "partial");
        let write = || {
            let result = serde_json::to_string(result).map_err(io::Error::from)?;
            std::fs::write(&partial, format!("{}\n{result}", head(key, &result)))?;
            // A reader finds the whole file or none.
            std::fs::rename(&partial, &path)
        };
        write().map_err(|source| {
            // It may not be there; what is told is why.
            let _ = std::fs::remove_file(&partial);
            StoreError { path: path.clone(), source }
        })
    }
}

/// The first line of the file: what tells that the rest is whole, and whose it is.
fn head(key: &str, result: &str) -> String {
    let mut sum = Crc::new();
    sum.update(result.as_bytes());
    format!("{:08x} {}", sum.sum(), key.escape_default())
}

/// The key as the name of a file, the same for equal keys only.
fn name(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let encode = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") };
    let name: String = key.bytes().map(encode).collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    format!("{}-{:016x}", &name[..LONGEST_NAME], stream(0, key, "store"))
}
