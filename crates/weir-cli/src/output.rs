//! The files of a comparison. The directory is tried before anything runs; the files appear whole or not at all, and
//! those that an earlier run left of other controllers go.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use weir_lab::registry;

use crate::failure::Failure;

/// A directory that can be written. What was made of it disappears again unless files are written.
#[derive(Debug)]
pub(crate) struct OutputDirectory {
    path: PathBuf,
    /// The directories that were not there before, outermost first.
    made: Vec<PathBuf>,
    /// Names of files that are written while things run.
    streamed: Vec<String>,
}

/// What stands before and after a controller's name in the names of files.
const BY_CONTROLLER: [(&str, &str); 4] =
    [("series-", ".csv"), ("series-", ".parquet"), ("queuing-delay-", ".csv"), ("packets-", ".pcapng")];
/// Files of the demo's second part, which no other run writes.
const BY_THE_DEMO: [&str; 2] = ["results-beside-cubic.json", "scenario-beside-cubic.toml"];

/// Files by their names.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

impl OutputDirectory {
    /// Makes the directory if it is not there and tries to write into it.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let mut made: Vec<PathBuf> = path
            .ancestors()
            .filter(|directory| !directory.as_os_str().is_empty())
            .take_while(|directory| !directory.exists())
            .map(Path::to_owned)
            .collect();
        made.reverse();
        let directory = Self { path: path.to_owned(), made, streamed: Vec::new() };
        let trial = path.join(".weir-trial");
        fs::create_dir_all(path)
            .and_then(|()| fs::write(&trial, b""))
            .and_then(|()| fs::remove_file(&trial))
            .map_err(|source| Failure::Unwritable { path: path.to_owned(), source })?;
        Ok(directory)
    }

    /// Where to write the file `name` before [`Self::write`] puts it into its place. If that does not come, it goes.
    pub(crate) fn stream(&mut self, name: String) -> PathBuf {
        let part = self.path.join(format!("{name}.part"));
        self.streamed.push(name);
        part
    }

    /// Writes all files, or none if one cannot be written: first beside where they belong, then each into its place,
    /// those that were streamed included.
    pub(crate) fn write(&mut self, files: &Files) -> Result<(), Failure> {
        let fail = |path: &Path, source| Failure::Write { path: path.to_owned(), source };
        let mut parts = Parts::default();
        for (name, content) in files {
            let part = self.path.join(format!("{name}.part"));
            parts.0.push(part.clone());
            fs::write(&part, content).map_err(|error| fail(&part, error))?;
        }
        for name in files.iter().map(|(name, _)| name).chain(&self.streamed) {
            let path = self.path.join(name);
            let part = self.path.join(format!("{name}.part"));
            fs::rename(&part, &path).map_err(|error| fail(&path, error))?;
        }
        self.made.clear();
        self.remove_stale(files)?;
        self.streamed.clear();
        Ok(())
    }

    /// Removes what an earlier run left and this one has not written: beside the new results it would pass for theirs.
    fn remove_stale(&self, files: &Files) -> Result<(), Failure> {
        let fail = |path: &Path, source| Failure::Write { path: path.to_owned(), source };
        for entry in fs::read_dir(&self.path).map_err(|error| fail(&self.path, error))? {
            let path = entry.map_err(|error| fail(&self.path, error))?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let mut written = files.iter().map(|(name, _)| name).chain(&self.streamed);
            if varies(name) && path.is_file() && !written.any(|written| written == name) {
                fs::remove_file(&path).map_err(|error| fail(&path, error))?;
            }
        }
        Ok(())
    }

    /// The path of `name`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A file that can be written.
#[derive(Debug)]
pub(crate) struct OutputFile(PathBuf);

impl OutputFile {
    /// Tries to write beside `path`.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let file = Self(path.to_owned());
        let fail = |source| Failure::Unwritable { path: path.to_owned(), source };
        if path.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        fs::write(file.part(), b"").and_then(|()| fs::remove_file(file.part())).map_err(fail)?;
        Ok(file)
    }

    /// Writes it whole or not at all.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        let parts = Parts(vec![self.part()]);
        let written = fs::write(self.part(), content).and_then(|()| fs::rename(self.part(), &self.0));
        drop(parts);
        written.map_err(|source| Failure::Write { path: self.0.clone(), source })
    }

    fn part(&self) -> PathBuf {
        let mut name = self.0.clone().into_os_string();
        name.push(".part");
        name.into()
    }
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        drop(Parts(self.streamed.iter().map(|name| self.path.join(format!("{name}.part"))).collect()));
        for directory in self.made.iter().rev() {
            // Whoever put something there meanwhile keeps it.
            let _: io::Result<()> = fs::remove_dir(directory);
        }
    }
}

/// Whether `name` is one that runs write, but not every one of them.
fn varies(name: &str) -> bool {
    let subject = |(before, after): &(&str, &str)| name.strip_prefix(before)?.strip_suffix(after);
    let mut subjects = BY_CONTROLLER.iter().filter_map(subject);
    BY_THE_DEMO.contains(&name) || subjects.any(are_controllers)
}

/// Whether `subject` is what a run is called after: a controller, those of a scenario's flows, or none.
fn are_controllers(subject: &str) -> bool {
    let known = |name: &str| registry::controller_names().any(|controller| controller == name);
    subject == "none" || subject.split('+').all(known)
}

/// Files that are not in their places yet.
#[derive(Default)]
struct Parts(Vec<PathBuf>);

impl Drop for Parts {
    fn drop(&mut self) {
        for part in &self.0 {
            // Those in their places are no longer here.
            let _: io::Result<()> = fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Files {
        names.iter().map(|&name| (name.to_owned(), name.as_bytes().to_vec())).collect()
    }

    fn names(directory: &Path) -> Vec<String> {
        let entry = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(entry).collect();
        names.sort();
        names
    }

    #[test]
    fn a_directory_into_which_nothing_was_written_disappears() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        let directory = OutputDirectory::prepare(&path).unwrap();
        assert!(path.is_dir());
        drop(directory);
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn a_directory_that_was_there_stays() {
        let root = tempfile::tempdir().unwrap();
        drop(OutputDirectory::prepare(root.path()).unwrap());
        assert!(root.path().is_dir());
    }

    #[test]
    fn all_files_are_written_and_nothing_beside_them() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let mut directory = OutputDirectory::prepare(&path).unwrap();
        directory.write(&files(&["a", "b"])).unwrap();
        drop(directory);
        assert_eq!(names(&path), ["a", "b"]);
        assert_eq!(fs::read(path.join("b")).unwrap(), b"b");
    }

    #[test]
    fn what_an_earlier_run_left_of_other_controllers_goes_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let mut directory = OutputDirectory::prepare(root.path()).unwrap();
        let demo =
            ["queuing-delay-nada.csv", "results-beside-cubic.json", "results.json", "series-gcc+nada.csv"];
        directory.write(&files(&demo)).unwrap();
        let own = ["results-monday.json", "scenario-nada.toml", "series-monday.csv", "series-nada.csv.bak"];
        for name in own {
            fs::write(root.path().join(name), b"kept").unwrap();
        }
        directory.write(&files(&["results.json", "series-gcc.csv"])).unwrap();
        let mut left = [own.as_slice(), &["results.json", "series-gcc.csv"]].concat();
        left.sort_unstable();
        assert_eq!(names(root.path()), left);
    }

    #[test]
    fn what_was_streamed_goes_into_its_place_with_the_rest_or_disappears() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let mut directory = OutputDirectory::prepare(&path).unwrap();
        fs::write(directory.stream("packets-gcc.pcapng".to_owned()), b"half").unwrap();
        drop(directory);
        assert!(names(root.path()).is_empty());
        let mut directory = OutputDirectory::prepare(&path).unwrap();
        fs::write(directory.stream("packets-gcc.pcapng".to_owned()), b"whole").unwrap();
        directory.write(&files(&["a"])).unwrap();
        drop(directory);
        assert_eq!(names(&path), ["a", "packets-gcc.pcapng"]);
        OutputDirectory::prepare(&path).unwrap().write(&files(&["a"])).unwrap();
        assert_eq!(names(&path), ["a"], "the next run has no packets");
    }

    #[test]
    fn where_one_file_cannot_be_written_none_is() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let mut directory = OutputDirectory::prepare(&path).unwrap();
        let error = directory.write(&files(&["a", "missing/b"])).unwrap_err().to_string();
        assert!(error.contains("b.part: cannot be written: "), "{error}");
        drop(directory);
        assert!(names(root.path()).is_empty());
    }
}
