//! Files with a shared key.
//!
//! A file has one or two lines, each a key in hexadecimal digits. The first is used for calls; a second one is accepted as well, so that a
//! key can be replaced at one end after the other. Only its owner may read the file, as its open descriptor says.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::keys::{KEY_LENGTH, KeyRing, SharedKey};
use crate::random::RandomBytes;

/// Longest file in bytes.
const LONGEST_FILE: u64 = 4096;

/// A problem of a key file.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Others than the owner may read or write it.
    #[error(
        "{path}: others may read or write the key (mode {mode:o}); run `chmod 600 {path}` and make a new key"
    )]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another user has it.
    #[error("{path}: the key belongs to another user; it must be yours")]
    Owner {
        /// The file.
        path: PathBuf,
    },
    /// The content is no key.
    #[error("{path}: {problem}; `weir keygen FILE` writes a key")]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
}

/// Writes a new random key to `path`, readable by its owner alone.
///
/// # Errors
/// The file exists, or cannot be written.
pub fn generate(path: &Path, random: &mut dyn RandomBytes) -> Result<(), KeyFileError> {
    let failed = |error| KeyFileError::File { path: path.to_owned(), error };
    let mut key = [0; KEY_LENGTH];
    random.fill(&mut key);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    let mut line = key.iter().fold(String::new(), |mut line, byte| {
        let _infallible = write!(line, "{byte:02x}");
        line
    });
    line.push('\n');
    file.write_all(line.as_bytes()).map_err(|error| {
        // A part of a key is none. The error of the write is the one to report.
        let _stays: io::Result<()> = std::fs::remove_file(path);
        failed(error)
    })
}

/// The keys in the file at `path`.
///
/// # Errors
/// The file is missing, others may read it, or it has no keys.
pub fn read(path: &Path) -> Result<KeyRing, KeyFileError> {
    let failed = |error| KeyFileError::File { path: path.to_owned(), error };
    #[cfg(target_os = "linux")]
    let file = weir_live::caller::open_at_once(path).map_err(failed)?;
    #[cfg(not(target_os = "linux"))]
    let file = std::fs::File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        let problem = "this is no regular file".to_owned();
        return Err(KeyFileError::Content { path: path.to_owned(), problem });
    }
    check_owner(path, &found)?;
    let mut text = String::new();
    file.take(LONGEST_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LONGEST_FILE {
        let problem = "the file is too long for a key".to_owned();
        return Err(KeyFileError::Content { path: path.to_owned(), problem });
    }
    parse(&text).map_err(|problem| KeyFileError::Content { path: path.to_owned(), problem })
}

/// Refuses a file that others than the user of the process may read or write.
#[cfg(unix)]
fn check_owner(path: &Path, found: &std::fs::Metadata) -> Result<(), KeyFileError> {
    use std::os::unix::fs::MetadataExt as _;

    let mode = found.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Mode { path: path.to_owned(), mode });
    }
    // Root reads all files; a file of another user may be that user's trap.
    #[cfg(target_os = "linux")]
    if !weir_live::caller::is_own(found.uid()) {
        return Err(KeyFileError::Owner { path: path.to_owned() });
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &std::fs::Metadata) -> Result<(), KeyFileError> {
    Ok(())
}

/// The keys in `text`.
///
/// # Errors
/// A sentence about the first problem.
pub fn parse(text: &str) -> Result<KeyRing, String> {
    let mut keys = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty()) {
        if keys.len() == 2 {
            return Err(format!("line {number}: there are more than two keys"));
        }
        let bytes = hexadecimal(line)
            .ok_or_else(|| format!("line {number}: a key is written in hexadecimal digits"))?;
        let short = || format!("line {number}: the key has {} bytes, fewer than {KEY_LENGTH}", bytes.len());
        keys.push(SharedKey::new(&bytes).ok_or_else(short)?);
    }
    let mut keys = keys.into_iter();
    let first = keys.next().ok_or_else(|| "there is no key".to_owned())?;
    Ok(KeyRing::new(first, keys.next()))
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? * 16 + digit(*low)?) as u8);
    pairs.iter().map(byte).collect::<Option<Vec<_>>>().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RepeatableRandom;

    #[test]
    fn a_generated_key_is_read_again_and_never_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        generate(&path, &mut RepeatableRandom::new(1)).unwrap();
        assert_eq!(read(&path).unwrap().secrets().map(<[u8]>::len).collect::<Vec<_>>(), [KEY_LENGTH]);
        let text = std::fs::read(&path).unwrap();
        assert!(matches!(generate(&path, &mut RepeatableRandom::new(2)), Err(KeyFileError::File { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }

    #[test]
    fn a_key_is_read_from_a_regular_file() {
        let directory = tempfile::tempdir().unwrap();
        let error = read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("no regular file"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_refused_at_once_also_in_the_moment_of_opening() {
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::sync::mpsc::channel;
        use std::{fs, thread};

        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let (key, pipe, path) = (at("key"), at("pipe"), at("path"));
        generate(&key, &mut RepeatableRandom::new(1)).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::hard_link(&pipe, &path).unwrap();
        let read_it = path.clone();
        let (to, results) = channel();
        let reader = thread::spawn(move || {
            for _ in 0..10_000 {
                let found = read(&read_it).map(drop).map_err(|error| error.to_string());
                to.send(found).unwrap();
            }
        });
        // A key and the pipe take turns at the path.
        let ends = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for turn in [&key, &pipe].into_iter().cycle() {
                    if ends.load(Ordering::Relaxed) {
                        break;
                    }
                    fs::hard_link(turn, at("next")).unwrap();
                    fs::rename(at("next"), &path).unwrap();
                }
            });
            let waited = std::time::Duration::from_secs(10);
            let found: Vec<_> = std::iter::from_fn(|| results.recv_timeout(waited).ok()).collect();
            ends.store(true, Ordering::Relaxed);
            assert_eq!(found.len(), 10_000, "a read waits for a writer");
            let refused: Vec<_> = found.into_iter().filter_map(Result::err).collect();
            assert!(refused.iter().all(|error| error.contains("no regular file")), "{refused:?}");
        });
        reader.join().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        generate(&path, &mut RepeatableRandom::new(1)).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, KeyFileError::Mode { mode: found, .. } if found == mode), "{error}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn problems_of_the_content_have_their_line() {
        let key = "00".repeat(32);
        assert_eq!(parse(&format!("{key}\n\n{key}\n")).unwrap().secrets().count(), 2);
        for (text, problem) in [
            (String::new(), "there is no key"),
            ("\n\nxyz".to_owned(), "line 3: a key is written in hexadecimal digits"),
            (format!("{key}0"), "line 1: a key is written in hexadecimal digits"),
            ("00".repeat(31), "line 1: the key has 31 bytes, fewer than 32"),
            (format!("{key}\n{key}\n{key}"), "line 3: there are more than two keys"),
        ] {
            assert_eq!(parse(&text).unwrap_err(), problem);
        }
    }
}
