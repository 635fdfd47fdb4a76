//! Files on their way into place, and sets of files that take their places together.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::mem;
use std::path::{Path, PathBuf};
use std::process;

use super::owner::FileOwner;

/// A file that is not in its place yet; it is removed unless it gets there. The process that writes it holds a
/// lock: an unlocked part was left behind.
#[derive(Debug)]
pub(super) struct PartialFile {
    pub(super) path: PathBuf,
    /// The file, whose lock ends with it.
    pub(super) file: File,
}

impl PartialFile {
    /// An empty file beside `path`, under a new name.
    pub(super) fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut number = process::id();
        loop {
            let part = path.with_file_name(format!(".{name}.{number}.part"));
            number = number.wrapping_add(1);
            let file = match File::create_new(&part) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            };
            // Without locks, parts are never taken for ones that were left behind. Another process that did so
            // before the lock has removed it.
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if !taken && part.exists() {
                return Ok(Self { path: part, file });
            }
        }
    }

    /// The file at `path`, which takes the name of a part and is locked as one.
    fn of(path: &Path) -> io::Result<Self> {
        let mut part = Self::beside(path)?;
        if path.symlink_metadata().is_ok_and(|found| found.is_file())
            && let Ok(file) = File::open(path)
        {
            // Without a lock it is safe too, except against processes that write into this directory at the same
            // moment.
            let _: Result<(), TryLockError> = file.try_lock();
            part.file = file;
        }
        fs::rename(path, &part.path)?;
        Ok(part)
    }

    /// The same, which belongs to `owner`.
    pub(super) fn of_owner(self, owner: &FileOwner) -> io::Result<Self> {
        owner.take(&self.file)?;
        Ok(self)
    }

    pub(super) fn filled(mut self, mut content: impl Read) -> io::Result<Self> {
        io::copy(&mut content, &mut self.file)?;
        Ok(self)
    }
}

/// Removes the files that dead processes left in `directory`, as far as they are `ours` by their names.
pub(super) fn remove_left(directory: &Path, ours: impl Fn(&str) -> bool) {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        if !entry.file_name().to_str().and_then(whole_name).is_some_and(&ours) {
            continue;
        }
        let path = entry.path();
        let part = File::options().write(true).open(&path);
        if part.is_ok_and(|part| part.try_lock().is_ok()) {
            // A file that stays is found again the next time.
            let _: io::Result<()> = fs::remove_file(&path);
        }
    }
}

/// The name of the final file that a part of this name was written for.
fn whole_name(part: &str) -> Option<&str> {
    let (name, number) = part.strip_prefix('.')?.strip_suffix(".part")?.rsplit_once('.')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // Parts in their final places are no longer here.
        let _: io::Result<()> = fs::remove_file(&self.path);
    }
}

/// A set of files replaced together: unless it is completed, all is as it was.
#[derive(Default)]
pub(super) struct FileExchange {
    /// Where a file was, and where it is meanwhile.
    aside: Vec<(PathBuf, PartialFile)>,
    /// The new files in their places.
    placed: Vec<PathBuf>,
}

impl FileExchange {
    /// Takes the file at `path` out of its place.
    pub(super) fn set_aside(&mut self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.aside.push((path.to_owned(), PartialFile::of(path)?));
        Ok(())
    }

    /// Puts the file `part` into the place `path`.
    pub(super) fn place(&mut self, part: &Path, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_ok() {
            self.set_aside(path)?;
        }
        fs::rename(part, path)?;
        self.placed.push(path.to_owned());
        Ok(())
    }

    /// Drops the files that were set aside.
    pub(super) fn complete(mut self) {
        self.placed.clear();
        for (_, aside) in self.aside.drain(..) {
            drop(aside);
        }
    }
}

impl Drop for FileExchange {
    fn drop(&mut self) {
        for path in &self.placed {
            let _: io::Result<()> = fs::remove_file(path);
        }
        for (path, aside) in self.aside.drain(..) {
            if fs::rename(&aside.path, path).is_err() {
                // The files are better kept under another name than lost.
                mem::forget(aside);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abandoned_parts_are_removed_and_parts_in_use_stay() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        // 1 is a process that lives, but has not locked it.
        let left = [".results.json.1.part", ".results.json.4294967295.part", ".a.b.7.part"];
        let foreign = [
            "results.json.1.part",
            ".results.json.part",
            ".results.json.x1.part",
            ".results.json.1.part~",
            ".other.1.part",
        ];
        for name in left.iter().chain(&foreign) {
            fs::write(at(name), b"half").unwrap();
        }
        fs::create_dir(at(".results.json.2.part")).unwrap();
        let written = PartialFile::beside(&at("results.json")).unwrap();
        fs::write(at("a.b"), b"old").unwrap();
        let aside = PartialFile::of(&at("a.b")).unwrap();
        remove_left(root.path(), |name| ["results.json", "a.b"].contains(&name));
        for name in left {
            assert!(!at(name).exists(), "{name}");
        }
        for name in foreign.iter().chain(&[".results.json.2.part"]) {
            assert!(at(name).exists(), "{name}");
        }
        assert!(written.path.exists());
        assert_eq!(fs::read(&aside.path).unwrap(), b"old");
        let path = written.path.clone();
        mem::forget(written);
        remove_left(root.path(), |name| name == "results.json");
        assert!(path.exists(), "whoever writes it still lives");
    }
}
