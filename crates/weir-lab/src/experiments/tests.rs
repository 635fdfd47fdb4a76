use std::fs;
use std::path::{Path, PathBuf};

use super::catalogue::TEMPLATES;
use super::*;
use crate::registry;
use crate::traces::TraceStore;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

#[test]
fn every_file_ships_and_every_row_is_a_file() {
    let mut found = Vec::new();
    for paper in fs::read_dir(folder()).unwrap() {
        let paper = paper.unwrap().path();
        for file in fs::read_dir(&paper).unwrap() {
            let file = file.unwrap().path();
            let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
            found.push(format!("{}/{}", name(&paper), name(&file)));
        }
    }
    found.sort();
    let mut known: Vec<&str> = ROWS.iter().chain(TEMPLATES).map(|row| row.name).collect();
    assert!(known.is_sorted_by(|a, b| a < b || b.starts_with("templates/")), "{known:?}");
    known.sort_unstable();
    assert_eq!(known, found);
}

/// The row, with nobody in place of couplers that are not registered.
fn without_unknown_couplers(row: &ShippedRow) -> Experiment {
    let mut text = row.text.to_owned();
    for name in ["fse-2014-1", "fse-2014-2", "rfc8699-1", "rfc8699-2", "passive", "ctrltcp", "mixed"] {
        if registry::coupler_info(name).is_none() {
            text = text.replace(&format!("algorithm={name}'"), "algorithm=none'");
            text = text.replace(&format!("algorithm={name}\""), "algorithm=none\"");
            text = text.replace(&format!("algorithm = \"{name}\""), "algorithm = \"none\"");
            text = text.replace(", options = { updates = \"on-change\" }", "");
        }
    }
    Experiment::parse(row.name, row.name, &text).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn every_row_that_ships_can_be_planned() {
    let experiments: Vec<Experiment> = ROWS.iter().map(without_unknown_couplers).collect();
    for full in [false, true] {
        let extent = Extent { full, runs: Some(1) };
        for experiment in &experiments {
            let planned = Reproduction::plan(std::slice::from_ref(experiment), extent, &TraceStore::at(None));
            planned.unwrap_or_else(|error| panic!("{}: {error:?}", experiment.name));
        }
    }
}
