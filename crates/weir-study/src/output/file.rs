//! Files that appear whole or not at all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::error::OutputError;
use super::part::{FileExchange, PartialFile, remove_left};

/// A file that can be written.
#[derive(Debug)]
pub enum OutputFile {
    /// A file that appears whole or not at all, at the end of all links.
    Whole(PathBuf),
    /// A pipe, a device, or a name of an open file: it is written directly, after its present content.
    Direct(PathBuf),
}

impl OutputFile {
    /// Tests writing beside `path`, or beside the target of its link.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn prepare(path: &Path) -> Result<Self, OutputError> {
        let fail = |source| OutputError::File { path: path.to_owned(), source };
        if path.as_os_str().to_string_lossy().ends_with(MAIN_SEPARATOR) {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        if path.starts_with("/dev") || path.starts_with("/proc") {
            // Behind such a name may be a file that another process has open and writes to.
            return Ok(Self::Direct(path.to_owned()));
        }
        let whole = match (fs::metadata(path), fs::read_link(path)) {
            (Ok(found), _) if found.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
            (Ok(found), _) if found.is_file() => path.canonicalize().map_err(fail)?,
            (Err(_), Ok(target)) => path.parent().map_or(target.clone(), |parent| parent.join(target)),
            (Err(_), Err(_)) => path.to_owned(),
            _ => return Ok(Self::Direct(path.to_owned())),
        };
        PartialFile::beside(&whole).map_err(fail)?;
        Ok(Self::Whole(whole))
    }

    /// Writes it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, content: &[u8]) -> Result<(), OutputError> {
        self.write_with(|destination| destination.write_all(content))
    }

    /// Writes it by `write`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        OpenOutput::place_all(&[self.open_with(write)?])
    }

    /// The file with all that `write` writes, before it takes its place.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<OpenOutput, OutputError> {
        let mut open = self.open()?;
        let written = write(&mut open).and_then(|()| open.flush());
        written.map_err(|source| OutputError::Write { path: open.path.clone(), source })?;
        Ok(open)
    }

    /// The file before it takes its place.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn open(&self) -> Result<OpenOutput, OutputError> {
        let (path, content) = match self {
            Self::Direct(path) => (path, open_direct(path).map(OpenContent::Direct)),
            Self::Whole(path) => (path, PartialFile::beside(path).map(OpenContent::Part)),
        };
        let content = content.map_err(|source| OutputError::Write { path: path.clone(), source })?;
        Ok(OpenOutput { path: path.clone(), content })
    }
}

/// An output that is being written. A file disappears again unless it is placed.
pub struct OpenOutput {
    path: PathBuf,
    content: OpenContent,
}

impl fmt::Debug for OpenOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOutput").field("path", &self.path).finish_non_exhaustive()
    }
}

enum OpenContent {
    Part(PartialFile),
    Direct(Box<dyn Write>),
}

impl OpenOutput {
    /// Gives all files their places, or none of them.
    ///
    /// # Errors
    /// The first file whose place cannot be taken.
    pub fn place_all(all: &[Self]) -> Result<(), OutputError> {
        let mut exchange = FileExchange::default();
        for Self { path, content } in all {
            if let OpenContent::Part(part) = content {
                // A single file takes the place of another one in one step.
                let placed = if all.len() == 1 {
                    fs::rename(&part.path, path)
                } else {
                    exchange.place(&part.path, path)
                };
                placed.map_err(|source| OutputError::Write { path: path.clone(), source })?;
            }
        }
        exchange.complete();
        all.iter().for_each(Self::remove_left);
        Ok(())
    }

    /// Removes the parts that dead processes left of this file.
    fn remove_left(&self) {
        if let OpenContent::Part(_) = self.content {
            remove_left(self.path.parent().unwrap_or(Path::new("")), |name| self.path.ends_with(name));
        }
    }
}

impl Write for OpenOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.content {
            OpenContent::Part(part) => part.file.write(bytes),
            OpenContent::Direct(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.content {
            OpenContent::Part(part) => part.file.flush(),
            OpenContent::Direct(out) => out.flush(),
        }
    }
}

/// Opens `path` behind its present content.
fn open_direct(path: &Path) -> io::Result<Box<dyn Write>> {
    Ok(match path.to_str() {
        Some("/dev/stdout") => Box::new(io::stdout()),
        Some("/dev/stderr") => Box::new(io::stderr()),
        _ => Box::new(File::options().append(true).open(path)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entry = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(entry).collect();
        names.sort();
        names
    }

    #[test]
    fn several_files_take_their_places_together_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("a"), b"old").unwrap();
        let open = |name: &str| OutputFile::prepare(&at(name))?.open_with(|out| out.write_all(b"new"));
        let both = [open("a").unwrap(), open("b").unwrap()];
        // The second place is taken meanwhile.
        fs::create_dir(at("b")).unwrap();
        let error = OpenOutput::place_all(&both).unwrap_err().to_string();
        drop(both);
        assert!(error.contains("b: cannot be written"), "{error}");
        assert_eq!(
            (names(root.path()), fs::read(at("a")).unwrap()),
            (vec!["a".into(), "b".into()], b"old".into())
        );
        fs::remove_dir(at("b")).unwrap();
        OpenOutput::place_all(&[open("a").unwrap(), open("b").unwrap()]).unwrap();
        assert_eq!(names(root.path()), ["a", "b"]);
        assert_eq!([fs::read(at("a")).unwrap(), fs::read(at("b")).unwrap()], [b"new", b"new"]);
        drop(open("c").unwrap());
        assert_eq!(names(root.path()), ["a", "b"]);
    }

    #[test]
    fn a_single_file_leaves_what_is_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for name in ["base.json", "base.json.part"] {
            fs::write(at(name), b"mine").unwrap();
        }
        OutputFile::prepare(&at("base.json")).unwrap().write(b"new").unwrap();
        assert_eq!(names(root.path()), ["base.json", "base.json.part"]);
        assert_eq!(fs::read(at("base.json")).unwrap(), b"new");
        assert_eq!(fs::read(at("base.json.part")).unwrap(), b"mine");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("target"), b"old").unwrap();
        for (link, target) in [("link", "target"), ("dangling", "other"), ("device", "/dev/null")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
            OutputFile::prepare(&at(link)).unwrap().write(b"new").unwrap();
            assert!(at(link).is_symlink(), "{link}");
        }
        assert_eq!(names(root.path()), ["dangling", "device", "link", "other", "target"]);
        for name in ["target", "other"] {
            assert_eq!(fs::read(at(name)).unwrap(), b"new", "{name}");
        }
    }
}
