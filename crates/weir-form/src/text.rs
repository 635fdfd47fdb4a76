//! The text of files, with an upper limit of its size: a device has no end.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Size limit in bytes of a file that a user writes: a scenario, a suite, a row. Shipped ones have some thousands of bytes.
pub const MOST_WRITTEN: u64 = 16_000_000;
/// Size limit in bytes of a file that a command writes: results, tables, series.
pub const MOST_PRINTED: u64 = 256_000_000;

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The file cannot be read.
    #[error("{message}")]
    Unreadable {
        /// The kind of the system's error.
        kind: ErrorKind,
        /// The system's error message.
        message: String,
    },
    /// The path is a directory.
    #[error("this is a directory")]
    Directory,
    /// The file is longer than the limit of its kind.
    #[error("this is longer than {} MB", .most / 1_000_000)]
    Long {
        /// The limit, in bytes.
        most: u64,
    },
    /// The file is not UTF-8 text.
    #[error("line {line} is no UTF-8 text")]
    Encoding {
        /// The line, from 1.
        line: usize,
    },
}

impl TextError {
    fn of(error: &io::Error) -> Self {
        Self::Unreadable { kind: error.kind(), message: error.to_string() }
    }

    /// Whether no file of this name exists.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Unreadable { kind: ErrorKind::NotFound, .. })
    }
}

/// The text of the file at `path`, of up to `most` bytes.
///
/// # Errors
/// The file has no such text.
pub fn text_of(path: &Path, most: u64) -> Result<String, TextError> {
    if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        return Err(TextError::Directory);
    }
    File::open(path).map_err(|error| TextError::of(&error)).and_then(|file| all_of(file, most))
}

/// The text that is left to be read, of up to `most` bytes.
///
/// # Errors
/// A failed read, more than `most` bytes, or bytes that are no UTF-8.
pub fn all_of(from: impl Read, most: u64) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).map_err(|error| TextError::of(&error))?;
    if bytes.len() as u64 > most {
        return Err(TextError::Long { most });
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        TextError::Encoding { line: before.split(|&byte| byte == b'\n').count() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_of_some_length_is_read() {
        let all = |bytes: &[u8]| all_of(bytes, 1000).map_err(|error| error.to_string());
        assert_eq!(all("title = \"µ\"".as_bytes()), Ok("title = \"µ\"".to_owned()));
        assert_eq!(all(b"a = 1\nb = \"\xff\"").unwrap_err(), "line 2 is no UTF-8 text");
        assert_eq!(all_of(io::repeat(b' ').take(MOST_WRITTEN), MOST_WRITTEN).unwrap().len(), 16_000_000);
        assert_eq!(all_of(io::repeat(0), MOST_WRITTEN).unwrap_err().to_string(), "this is longer than 16 MB");
        assert!(all(&[b' '; 1000]).is_ok() && all(&[b' '; 1001]).is_err());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(text_of(folder.path(), 10), Err(TextError::Directory));
        assert!(text_of(&folder.path().join("a"), 10).unwrap_err().is_absence());
    }
}
