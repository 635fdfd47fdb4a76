//! Runs made in parts, and combined.

use super::*;
use crate::runs::{ResultLog, RunError};

#[test]
fn runs_made_in_parts_combine_to_those_of_one_go() {
    let experiments = [Experiment::parse("paper/row", "row.toml", SMALL).unwrap()];
    let traces = TraceStore::at(None);
    let extent = Extent { runs: Some(2), ..Extent::default() };
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap().with_metrics(true);
    let whole = planned.run(1, &traces, &NoStore, &|| {}).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = ResultLog::open(&folder.path().join("runs.log"), &[]).unwrap();
    assert!(log.is_empty());
    let odd: Vec<usize> = (0..planned.number()).skip(1).step_by(2).collect();
    planned.make_runs(&odd, 2, &traces, &log, &|| {}).unwrap();
    let mut made = planned.stored_runs(1, &traces, &log, &|| true).unwrap();
    let missing: Vec<usize> = (0..made.len()).filter(|place| made[*place].is_none()).collect();
    let even: Vec<usize> = (0..planned.number()).step_by(2).collect();
    assert_eq!(missing, even);
    let others = planned.make_runs(&missing, 1, &traces, &NoStore, &|| {}).unwrap();
    for (place, run) in missing.into_iter().zip(others) {
        made[place] = run;
    }
    assert_eq!(planned.combine(made), whole);
    let ended = planned.stored_runs(1, &traces, &log, &|| false);
    assert!(matches!(ended, Err(RunError::Interrupted)), "{ended:?}");
}
