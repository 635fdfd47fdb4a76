//! Runs the command in a directory of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A scenario without mistakes. Every line is tested at its number: do not reflow.
pub(crate) const GOOD: &str = r#"title = "A call"
duration = "5s"
[links.forward]
from = "left"
to = "right"
delay = "25ms"
rate = "1Mbps"
queue = { time = "300ms" }
[links.backward]
from = "right"
to = "left"
delay = "25ms"
rate = "1Mbps"
[flows.video]
kind = "media"
from = "left"
to = "right"
start = "1s"
controller = "gcc-2016"
encoder = "papers"
rates = { min = "50kbps", start = "300kbps", max = "2Mbps" }
"#;

/// A directory in which the command is called.
pub(crate) struct Place(TempDir);

/// Outcome of a call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The command, with the traces that come with the project and no terminal.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        // The cache of one test must not reach another.
        command.env("WEIR_CACHE", "");
        command.args(arguments).current_dir(self.path()).env("WEIR_DATA", data());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&mut self.command(arguments))
    }

    /// [`Self::call`] for arguments that are separated by spaces.
    pub(crate) fn try_weir(&self, arguments: &str) -> Outcome {
        self.call(&arguments.split(' ').collect::<Vec<_>>())
    }

    /// The same; it must be a success.
    pub(crate) fn weir(&self, arguments: &str) -> Outcome {
        let outcome = self.try_weir(arguments);
        assert_eq!(outcome.code, Some(0), "weir {arguments}: {outcome:#?}");
        outcome
    }

    /// Every file and directory below the place `below`, files with their bytes.
    pub(crate) fn tree(&self, below: &str) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let root = self.path().join(below);
        let mut tree = BTreeMap::new();
        let mut directories = vec![root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_owned();
                tree.insert(name, path.is_file().then(|| fs::read(&path).unwrap()));
                if path.is_dir() {
                    directories.push(path);
                }
            }
        }
        tree
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }
}

impl Outcome {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}

/// The project's data directory.
pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}
