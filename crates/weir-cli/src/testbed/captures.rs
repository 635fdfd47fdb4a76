//! Files with the packets of real runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use weir_live::capture::CapturedPacket;
use weir_scenario::scenario::Scenario;
use weir_study::runs::RunError;
use weir_study::testbed::RunCaptures;

use crate::capture::PacketFile;
use crate::failure::Failure;
use crate::output::{FileOwner, file_name};

/// Ending of the name where the user gives none.
const EXTENSION: &str = "pcapng";

/// A file for each run, all of which disappear again unless they are finished.
#[derive(Debug)]
pub(super) struct CaptureFiles {
    path: PathBuf,
    /// Name of the scenario, with which the names of its runs begin.
    scenario: String,
    /// Whether there are several controllers, and several runs of each.
    several: [bool; 2],
    owner: FileOwner,
    open: Mutex<BTreeMap<PathBuf, PacketFile>>,
}

impl CaptureFiles {
    /// Files at `path` for the runs of `scenario`.
    pub(super) fn new(path: &Path, scenario: &Scenario) -> Result<Self, Failure> {
        if path.is_dir() || path.file_name().is_none() {
            let option = format!("--pcap {}", path.display());
            return Err(Failure::Option { option, problem: "this is a directory; name a file".to_owned() });
        }
        Ok(Self {
            path: path.to_owned(),
            scenario: scenario.name.clone(),
            several: [scenario.controllers.len() > 1, scenario.seeds().len() > 1],
            owner: FileOwner::caller(),
            open: Mutex::default(),
        })
    }

    /// The file of the run `name`: of several controllers and runs with these behind the name.
    fn path_of(&self, name: &str) -> PathBuf {
        let own = name.strip_prefix(&self.scenario).unwrap_or(name).trim_start_matches('/');
        let (controller, seed) = own.rsplit_once('/').unwrap_or(("", own));
        let parts = [file_name(controller), seed.to_owned()];
        let behind: Vec<String> = parts
            .into_iter()
            .zip(self.several)
            .filter_map(|(part, several)| several.then_some(part))
            .collect();
        if behind.is_empty() {
            return self.path.clone();
        }
        let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (stem, extension) = (text(self.path.file_stem()), text(self.path.extension()));
        let extension = if extension.is_empty() { EXTENSION } else { &extension };
        self.path.with_file_name(format!("{stem}-{}.{extension}", behind.join("-")))
    }

    /// Ends all files.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let files = self.open.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Each is ended, so that those behind a failure disappear.
        files.into_values().try_for_each(PacketFile::finish)
    }
}

impl RunCaptures for CaptureFiles {
    fn begin(&self, name: &str, links: &[&str]) -> Result<SyncSender<CapturedPacket>, RunError> {
        let path = self.path_of(name);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = open.remove(&path) {
            first.discard();
        }
        let interfaces: Vec<[String; 2]> =
            links.iter().map(|link| ["before", "behind"].map(|side| format!("{link}-{side}"))).collect();
        let started = PacketFile::start(&path, &self.owner, &interfaces);
        let (file, to) = started.map_err(|source| RunError::Capture { path: path.clone(), source })?;
        open.insert(path, file);
        Ok(to)
    }
}

#[cfg(test)]
mod tests {
    use weir_scenario::registry::Registry;

    use super::*;

    fn files(path: &str, controllers: &[&str], runs: u32) -> CaptureFiles {
        let mut scenario = Scenario::open_in(&Registry::standard(), "quality/steady", &[]).unwrap();
        scenario.controllers = controllers.iter().map(|&name| name.to_owned()).collect();
        scenario.runs = runs;
        CaptureFiles::new(Path::new(path), &scenario).unwrap()
    }

    #[test]
    fn each_run_has_a_name_of_its_own_and_a_single_one_that_of_the_user() {
        let path = |files: &CaptureFiles| files.path_of("quality/steady/gcc{a=1}/7").display().to_string();
        assert_eq!(path(&files("out/a.pcapng", &["gcc"], 1)), "out/a.pcapng");
        assert_eq!(path(&files("out/a.ntar", &["gcc"], 2)), "out/a-7.ntar");
        assert_eq!(path(&files("out/a", &["gcc", "nada"], 2)), "out/a-gcc-a-1-7.pcapng");
        assert_eq!(path(&files("a", &["gcc", "nada"], 1)), "a-gcc-a-1.pcapng");
    }

    #[test]
    fn files_disappear_unless_they_are_finished_and_a_repetition_takes_the_place_of_the_first() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let files = || files(at("a").to_str().unwrap(), &["gcc"], 2);
        let packet = |bytes: &[u8]| {
            let (at, point) = (weir_net::Time::ZERO, weir_live::capture::CapturePoint::Before);
            CapturedPacket { at, link: 0, point, bytes: bytes.to_vec() }
        };
        let captured = |files: &CaptureFiles, seed: u32, bytes: &[u8]| {
            let to = files.begin(&format!("quality/steady/gcc/{seed}"), &["forward"]).unwrap();
            to.send(packet(bytes)).unwrap();
        };
        let failing = files();
        captured(&failing, 1, b"first");
        drop(failing);
        assert!(!at("a-1.pcapng").exists());
        let whole = files();
        captured(&whole, 1, b"first");
        captured(&whole, 2, b"other");
        captured(&whole, 1, b"again");
        whole.finish().unwrap();
        let has = |name: &str, text: &str| {
            let bytes = std::fs::read(at(name)).unwrap();
            bytes.windows(text.len()).any(|part| part == text.as_bytes())
        };
        assert!(has("a-1.pcapng", "again") && !has("a-1.pcapng", "first") && has("a-2.pcapng", "other"));
        assert!(has("a-1.pcapng", "forward-before") && has("a-1.pcapng", "forward-behind"));
        assert!(
            CaptureFiles::new(
                place.path(),
                &Scenario::open_in(&Registry::standard(), "quality/steady", &[]).unwrap()
            )
            .is_err()
        );
    }
}
