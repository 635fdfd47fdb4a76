//! The files of a comparison. The directory is tried before anything runs; each file appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A directory that can be written.
#[derive(Debug)]
pub(crate) struct OutputDirectory {
    path: PathBuf,
}

impl OutputDirectory {
    /// Makes the directory if it is not there and tries to write into it.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let directory = Self { path: path.to_owned() };
        let fail = |source| Failure::Unwritable { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(fail)?;
        let trial = path.join(".weir-trial");
        fs::write(&trial, b"").and_then(|()| fs::remove_file(&trial)).map_err(fail)?;
        Ok(directory)
    }

    /// Writes `name`, which may lie in a directory of its own.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let path = self.path.join(name);
        write_whole(&path, content).map_err(|source| Failure::Unwritable { path, source })
    }

    /// The path of `name`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let written = fs::File::create(&partial).and_then(|mut file| file.write_all(content));
    match written.and_then(|()| fs::rename(&partial, path)) {
        Ok(()) => Ok(()),
        Err(error) => {
            // What is left of it says nothing; that it cannot be removed either adds nothing to the error.
            let _ = fs::remove_file(&partial);
            Err(error)
        }
    }
}
