//! Directories of results. A directory is tested before anything runs. Files appear whole or not at all, and
//! those that an earlier run left of other controllers are removed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek as _, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use weir_scenario::registry::Registry;

use super::error::OutputError;
use super::owner::FileOwner;
use super::part::{FileExchange, PartialFile, remove_left};
use crate::experiments::{self, ShippedRow};
use crate::runs::CaptureFile;

/// A directory of results that can be written. A directory created for it is removed again unless files are written.
#[derive(Debug)]
pub struct OutputDirectory {
    path: PathBuf,
    /// The controllers whose names file names may contain.
    registry: Registry,
    /// The directories that were not there before, outermost first.
    made: Vec<PathBuf>,
    /// The owner of all that is made, if it is not the process.
    owner: FileOwner,
    /// Files that are written during the runs: unnamed until they are complete, so that no failure leaves them
    /// behind.
    streamed: Vec<(String, File)>,
}

/// Prefixes and suffixes of a controller's name in the names of files.
const BY_CONTROLLER: [(&str, &str); 6] = [
    ("series-", ".csv"),
    ("series-", ".parquet"),
    ("decisions-", ".csv"),
    ("decisions-", ".parquet"),
    ("queuing-delay-", ".csv"),
    ("packets-", ".pcapng"),
];
/// Prefix and suffix of the names of recorded calls, of which a controller's name is the begin.
const CALLS: (&str, &str) = ("call-", ".call.json");
/// Name of the file beside packet captures that configures their decoding.
pub const DECODE_AS: &str = "decode_as_entries";
/// Files of the demo's second part, which no other run writes.
const BY_THE_DEMO: [&str; 2] = ["results-beside-cubic.json", "scenario-beside-cubic.toml"];

/// Name of the file with the runs of a directory.
pub const RUNS: &str = "runs.log";

/// The file with the report's statements and the values of every run.
pub const TABLE: &str = "table.json";

/// Default directory of results.
pub const DEFAULT_OUT: &str = "weir-out";

/// Folder of the table of all runs, in the directory of the results.
pub const TABLE_FOLDER: &str = "table";

/// Files by their names.
pub type Files = Vec<(String, Vec<u8>)>;

/// `value` as the content of a JSON file, which ends with a line end.
///
/// # Errors
/// The value has no form in JSON.
pub fn json_file(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

impl OutputDirectory {
    /// Makes the directory if it is not there and tries to write into it.
    ///
    /// # Errors
    /// The directory cannot be made or written.
    pub fn prepare(path: &Path, registry: &Registry) -> Result<Self, OutputError> {
        let mut made: Vec<PathBuf> = path
            .ancestors()
            .filter(|directory| !directory.as_os_str().is_empty())
            .take_while(|directory| !directory.exists())
            .map(Path::to_owned)
            .collect();
        made.reverse();
        let directory = Self {
            path: path.to_owned(),
            registry: registry.clone(),
            made,
            owner: FileOwner::default(),
            streamed: Vec::new(),
        };
        fs::create_dir_all(path)
            .and_then(|()| PartialFile::beside(&path.join(TRIAL)).map(drop))
            .map_err(|source| OutputError::Directory { path: path.to_owned(), source })?;
        Ok(directory)
    }

    /// Lets all that was and will be made here belong to the user who called, where `sudo` made the process root.
    ///
    /// # Errors
    /// The directory cannot be given away.
    pub fn give_to_caller(&mut self) -> Result<(), OutputError> {
        self.owner = FileOwner::caller();
        for path in &self.made {
            let owned = self.owner.take_directory(path);
            owned.map_err(|source| OutputError::Directory { path: path.clone(), source })?;
        }
        Ok(())
    }

    /// Makes the process one of the user who called by `sudo` for good, unless the directory is of another user.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn drop_root(directory: Option<&Self>) -> Result<(), OutputError> {
        let dropped = FileOwner::caller().drop_root(directory.map(|directory| directory.path.as_path()));
        dropped.map_err(OutputError::Rights)
    }

    /// The caller's directory, else one of the results called `name`; none if only `json` is requested.
    ///
    /// # Errors
    /// As for [`Self::prepare`].
    pub fn usual(
        out: Option<&Path>,
        json: bool,
        name: &str,
        registry: &Registry,
    ) -> Result<Option<Self>, OutputError> {
        let path = match out {
            Some(path) => path.to_owned(),
            None if json => return Ok(None),
            None => Path::new(DEFAULT_OUT).join(directory_name(name)),
        };
        Self::prepare(&path, registry).map(Some)
    }

    /// A file that receives `name` before [`Self::write`] moves it into its place. Without that call it is
    /// removed.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn stream(&mut self, name: String) -> Result<CaptureFile, OutputError> {
        let path = self.path.join(&name);
        let file = tempfile::tempfile_in(&self.path).and_then(|file| Ok((file.try_clone()?, file)));
        let (kept, file) = file.map_err(|source| OutputError::Directory { path: path.clone(), source })?;
        self.streamed.push((name, kept));
        Ok(CaptureFile { file, path })
    }

    /// Writes a file while it is made, as [`Self::stream`].
    ///
    /// # Errors
    /// The file cannot be made or written.
    pub fn stream_with(
        &mut self,
        name: String,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        let CaptureFile { file, path } = self.stream(name)?;
        let mut out = BufWriter::new(file);
        let written = write(&mut out).and_then(|()| out.flush());
        written.map_err(|source| OutputError::Write { path, source })
    }

    /// Writes all files, those that were streamed included, and removes the files of an earlier run that this one
    /// has not written. Beside the new results they would pass for theirs. If one cannot be written, the directory
    /// stays as it was.
    ///
    /// # Errors
    /// The first file that cannot be written.
    pub fn write(&mut self, files: &Files) -> Result<(), OutputError> {
        let fail = |path: &Path, source| OutputError::Write { path: path.to_owned(), source };
        let part = |name: &str, content: &mut dyn Read| {
            let path = self.path.join(name);
            let part =
                PartialFile::beside(&path).and_then(|part| part.of_owner(&self.owner)?.filled(content));
            part.map(|part| (part, path.clone())).map_err(|error| fail(&path, error))
        };
        let folder = self.path.join(TABLE_FOLDER);
        if self.names(files).any(|name| is_of_a_table(name)) && !folder.is_dir() {
            fs::create_dir(&folder).map_err(|error| fail(&folder, error))?;
            self.owner.take_directory(&folder).map_err(|error| fail(&folder, error))?;
            self.made.push(folder.clone());
        }
        let mut parts = Vec::with_capacity(files.len() + self.streamed.len());
        for (name, content) in files {
            parts.push(part(name, &mut content.as_slice())?);
        }
        for (name, file) in &self.streamed {
            let mut file = file;
            file.rewind().map_err(|error| fail(&self.path.join(name), error))?;
            parts.push(part(name, &mut file)?);
        }
        let mut exchange = FileExchange::default();
        for path in self.stale(files).map_err(|error| fail(&self.path, error))? {
            exchange.set_aside(&path).map_err(|error| fail(&path, error))?;
        }
        for (part, path) in &parts {
            exchange.place(&part.path, path).map_err(|error| fail(path, error))?;
        }
        exchange.complete();
        remove_left(&folder, is_part_of_a_table);
        // A folder with anything in it stays.
        let _: io::Result<()> = fs::remove_dir(&folder);
        let left =
            |name: &str| name == TRIAL || self.varies(name) || self.names(files).any(|own| own == name);
        remove_left(&self.path, left);
        self.made.clear();
        self.streamed.clear();
        Ok(())
    }

    /// Files of earlier runs that this one does not write.
    fn stale(&self, files: &Files) -> io::Result<Vec<PathBuf>> {
        let mut stale = Vec::new();
        let is_stale = |path: &Path, name: &str| path.is_file() && !self.names(files).any(|own| own == name);
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if self.varies(name) && is_stale(&path, name) {
                stale.push(path);
            }
        }
        for entry in fs::read_dir(self.path.join(TABLE_FOLDER)).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if is_part_of_a_table(name) && is_stale(&path, &format!("{TABLE_FOLDER}/{name}")) {
                stale.push(path);
            }
        }
        Ok(stale)
    }

    /// Whether `name` is a file that some runs write and others do not.
    fn varies(&self, name: &str) -> bool {
        let subject = |(before, after): &(&str, &str)| name.strip_prefix(before)?.strip_suffix(after);
        let mut subjects = BY_CONTROLLER.iter().filter_map(subject);
        let of_controllers = subjects.any(|subject| self.are_controllers(subject));
        let is_call = subject(&CALLS)
            .is_some_and(|call| call.match_indices('-').any(|(end, _)| self.are_controllers(&call[..end])));
        BY_THE_DEMO.contains(&name) || name == DECODE_AS || is_of_a_row(name) || of_controllers || is_call
    }

    /// Whether `subject` names a run: a controller or a variant of one, those of a scenario's flows, or none.
    fn are_controllers(&self, subject: &str) -> bool {
        let known = |name: &str| self.registry.find(name).is_ok();
        let of_former_versions = subject
            .split_once('{')
            .is_some_and(|(controller, options)| known(controller) && options.ends_with('}'));
        let mut ends = subject.match_indices('-');
        let of_a_variant = ends.any(|(end, _)| self.are_options(&subject[..end], &subject[end + 1..]));
        subject == "none" || of_former_versions || of_a_variant || subject.split('+').all(known)
    }

    /// Whether `options` are those of `controller` in a file's name: `aimd.decrease-0.7`.
    fn are_options(&self, controller: &str, options: &str) -> bool {
        let Some(schema) = self.registry.options_schema(controller) else { return false };
        let first = options.split('-').next().unwrap_or_default();
        let keys = weir_form::keys(schema);
        options.contains('-') && keys.iter().any(|own| own.key == first)
    }

    /// The names of `files` and of those that were streamed.
    fn names<'a>(&'a self, files: &'a Files) -> impl Iterator<Item = &'a String> {
        files.iter().map(|(name, _)| name).chain(self.streamed.iter().map(|(name, _)| name))
    }

    /// The path of `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A scenario's name as a directory.
fn directory_name(name: &str) -> PathBuf {
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.trim_start_matches(['.', '/']).chars().map(harmless).collect();
    PathBuf::from(if name.is_empty() { "scenario" } else { &name })
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        for directory in self.made.iter().rev() {
            // A directory that is no longer empty stays.
            let _: io::Result<()> = fs::remove_dir(directory);
        }
    }
}

/// Whether `name` is that of a part of the table of all runs, without its folder.
fn is_part_of_a_table(name: &str) -> bool {
    let number = name.strip_prefix("part-").and_then(|rest| rest.rsplit_once('.'));
    number.is_some_and(|(number, end)| {
        number.len() >= 5
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && ["parquet", "csv"].contains(&end)
    })
}

/// Whether `name` is that of a part of the table of all runs, with its folder.
fn is_of_a_table(name: &str) -> bool {
    name.strip_prefix(TABLE_FOLDER).and_then(|rest| rest.strip_prefix('/')).is_some_and(is_part_of_a_table)
}

/// Whether `name` is the name of a table that some row of a paper writes.
fn is_of_a_row(name: &str) -> bool {
    let table = |row: &ShippedRow| name.strip_suffix(".parquet") == Some(row.name.replace('/', "-").as_str());
    experiments::ROWS.iter().any(table)
}

/// Base of the name of an empty part.
const TRIAL: &str = "trial";

#[cfg(test)]
mod tests {
    use super::super::file::OutputFile;
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

    fn prepared(path: &Path) -> Result<OutputDirectory, OutputError> {
        OutputDirectory::prepare(path, &Registry::standard())
    }

    #[test]
    fn a_directory_into_which_nothing_was_written_disappears() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        let directory = prepared(&path).unwrap();
        assert!(path.is_dir());
        drop(directory);
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn a_directory_that_was_there_stays() {
        let root = tempfile::tempdir().unwrap();
        drop(prepared(root.path()).unwrap());
        assert!(root.path().is_dir());
    }

    #[test]
    fn all_files_are_written_and_nothing_beside_them() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let mut directory = prepared(&path).unwrap();
        directory.write(&files(&["a", "b"])).unwrap();
        drop(directory);
        assert_eq!(names(&path), ["a", "b"]);
        assert_eq!(fs::read(path.join("b")).unwrap(), b"b");
    }

    #[test]
    fn files_of_other_controllers_of_an_earlier_run_alone_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let mut directory = prepared(root.path()).unwrap();
        let demo = [
            "queuing-delay-nada.csv",
            "results-beside-cubic.json",
            "results.json",
            "series-gcc+nada.csv",
            "call-gcc-2016-video.call.json",
            "gcc-2016-fig8.parquet",
        ];
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
    fn streamed_files_move_into_place_with_the_others_or_disappear() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let mut directory = prepared(&path).unwrap();
        let mut stream = directory.stream("packets-gcc.pcapng".to_owned()).unwrap();
        stream.file.write_all(b"half").unwrap();
        // However the process ends, no file is left.
        assert!(names(&path).is_empty());
        drop(directory);
        assert!(names(root.path()).is_empty());
        let mut directory = prepared(&path).unwrap();
        let mut stream = directory.stream("packets-gcc.pcapng".to_owned()).unwrap();
        stream.file.write_all(b"whole").unwrap();
        directory.write(&files(&["a"])).unwrap();
        drop(directory);
        assert_eq!(names(&path), ["a", "packets-gcc.pcapng"]);
        assert_eq!(fs::read(path.join("packets-gcc.pcapng")).unwrap(), b"whole");
        prepared(&path).unwrap().write(&files(&["a"])).unwrap();
        assert_eq!(names(&path), ["a"], "the next run has no packets");
    }

    #[test]
    fn where_one_file_cannot_be_written_none_is() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let mut directory = prepared(&path).unwrap();
        let error = directory.write(&files(&["a", "missing/b"])).unwrap_err().to_string();
        assert!(error.contains("missing/b: cannot be written: "), "{error}");
        drop(directory);
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn where_one_place_is_taken_all_is_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        let mut directory = prepared(root.path()).unwrap();
        for name in ["a", "series-nada.csv"] {
            fs::write(root.path().join(name), b"old").unwrap();
        }
        fs::create_dir(root.path().join("packets-gcc.pcapng")).unwrap();
        let mut stream = directory.stream("packets-gcc.pcapng".to_owned()).unwrap();
        stream.file.write_all(b"packets").unwrap();
        let error = directory.write(&files(&["a", "b"])).unwrap_err().to_string();
        assert!(error.contains("packets-gcc.pcapng: cannot be written: is a directory"), "{error}");
        drop(directory);
        assert_eq!(names(root.path()), ["a", "packets-gcc.pcapng", "series-nada.csv"]);
        assert_eq!(fs::read(root.path().join("a")).unwrap(), b"old");
    }

    #[test]
    fn files_of_a_killed_process_go_with_the_next_one() {
        let root = tempfile::tempdir().unwrap();
        let left =
            [".trial.77.part", ".report.html.77.part", ".series-nada.csv.77.part", ".base.json.77.part"];
        for name in left {
            fs::write(root.path().join(name), b"half").unwrap();
        }
        prepared(root.path()).unwrap().write(&files(&["report.html"])).unwrap();
        assert_eq!(names(root.path()), [".base.json.77.part", "report.html"]);
        OutputFile::prepare(&root.path().join("base.json")).unwrap().write(b"new").unwrap();
        assert_eq!(names(root.path()), ["base.json", "report.html"]);
    }
}
