//! Suites of one's own, and rows of papers.

use weir_scenario::registry::Registry;
use weir_study::experiments::Experiment;
use weir_study::suite::Suite;

use super::{refused, text};
use crate::file;

/// A suite file: if it is accepted, each of its cases opens under each of its controllers.
pub(crate) fn suites(data: &[u8]) {
    let registry = Registry::standard();
    match file::holding(data, ".toml", |path| Suite::open(&registry, path)) {
        Ok(suite) => {
            assert!(!suite.cases.is_empty());
            for case in &suite.cases {
                assert!(!case.checks.is_empty());
                assert_eq!(suite.case(&case.name).map(|own| &own.name), Some(&case.name));
                for candidate in &suite.controllers {
                    if let Err(error) = case.scenario(&registry, candidate) {
                        panic!("{} under {}: {error}", case.name, candidate.name);
                    }
                }
            }
        }
        Err(error) => refused(&error),
    }
}

/// A row of a paper.
pub(crate) fn rows(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match Experiment::parse("paper/row", "row.toml", text) {
        Ok(experiment) => {
            let _grid = experiment.has_a_grid();
            assert!(!experiment.paper().is_empty());
        }
        Err(error) => refused(&error),
    }
}
