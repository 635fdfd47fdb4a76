//! Data directories, in the order in which they are searched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The environment variable that names data directories, separated as those of `PATH` are.
pub const DATA_VARIABLE: &str = "WEIR_DATA";

/// Data directories in the order in which they are searched. An entry of an earlier directory hides entries of later
/// ones with the same name.
#[derive(Clone, Debug, Default)]
pub(super) struct Directories(Vec<PathBuf>);

impl Directories {
    /// Exactly the given directories.
    pub(crate) fn of(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut once: Vec<PathBuf> = Vec::new();
        for directory in directories {
            if !once.iter().any(|known| same(known, &directory)) {
                once.push(directory);
            }
        }
        Self(once)
    }

    /// The `given` directories, then those in the environment variable. Next is `data/` in the present directory or
    /// in the nearest directory above. Then come the directories shipped with the command, `data/` beside it or
    /// `share/weir/data` beside its directory. The `last` one follows.
    pub(super) fn find(given: &[PathBuf], last: Option<PathBuf>) -> Self {
        let named = std::env::var_os(DATA_VARIABLE).unwrap_or_default();
        let named = std::env::split_paths(&named).filter(|dir| !dir.as_os_str().is_empty());
        let above = std::env::current_dir().ok().and_then(|dir| data_above(&dir));
        let shipped = std::env::current_exe().ok().and_then(|command| shipped_with(&command));
        let last = last.filter(|data| data.join("traces").is_dir());
        Self::of(given.iter().cloned().chain(named).chain(above).chain(shipped).chain(last))
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// The trace files by the names of their traces.
    pub(super) fn files(&self) -> BTreeMap<String, PathBuf> {
        let files = |directory: &Path| {
            let entries = std::fs::read_dir(directory.join("traces")).into_iter().flatten();
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            paths.filter(|path| path.is_file() && !is_about_the_traces(path)).collect::<Vec<_>>()
        };
        let named = |path: PathBuf| Some((path.file_name()?.to_str()?.to_lowercase(), path));
        self.iter().rev().flat_map(files).filter_map(named).collect()
    }

    /// The searched places as text.
    pub(crate) fn place(&self, kind: &str) -> String {
        if self.0.is_empty() {
            return "in any data directory: there is none".to_owned();
        }
        let places: Vec<String> = self.iter().map(|dir| dir.join(kind).display().to_string()).collect();
        format!("in {}", places.join(", "))
    }
}

/// Whether two paths name the same directory, as far as that is known.
fn same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn is_about_the_traces(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem == "LICENSE" || stem == "README" || stem.is_empty() || stem.starts_with('.')
}

fn data_above(start: &Path) -> Option<PathBuf> {
    start.ancestors().map(|dir| dir.join("data")).find(|data| data.join("traces").is_dir())
}

fn shipped_with(command: &Path) -> Option<PathBuf> {
    let beside = command.canonicalize().ok()?.parent()?.to_owned();
    let share = beside.parent().map(|root| root.join("share/weir/data"));
    [Some(beside.join("data")), share].into_iter().flatten().find(|data| data.join("traces").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_files_lie_beside_the_command_or_in_its_share() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let command = root.join("bin/weir");
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::write(&command, "").unwrap();
        assert_eq!(shipped_with(&command), None);
        for place in ["share/weir/data", "bin/data"] {
            std::fs::create_dir_all(root.join(place).join("traces")).unwrap();
            assert_eq!(shipped_with(&command), Some(root.join(place)));
        }
    }

    #[test]
    fn the_nearer_hides_what_the_farther_has_under_the_same_name() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for file in ["a/traces/Train.up", "b/traces/train.up", "b/traces/bus.up", "b/traces/README.md"] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "1\n").unwrap();
        }
        let files = Directories::of([at("a"), at("b"), at("b/../a")]).files();
        let expected = [("bus.up", "b/traces/bus.up"), ("train.up", "a/traces/Train.up")];
        assert_eq!(files, expected.map(|(name, file)| (name.to_owned(), at(file))).into());
        assert_eq!(Directories::of([at("a"), at("b"), at("b/../a")]).0.len(), 2);
    }
}
