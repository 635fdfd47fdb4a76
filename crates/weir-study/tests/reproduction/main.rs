//! A part of the claims of `weir reproduce`, small enough for every change: the analyses, and three tables with three seeds.
//! `make reproduce-check` has the rest.

use std::path::Path;

use weir_import::traces::TraceStore;
use weir_study::experiments::{ClaimResult, Class, Experiment, Extent, LostClaim, ROWS, Reproduction, lost};
use weir_study::judge::{SavedStudy, Verdict};
use weir_study::runs::{NoStore, Shardable as _};

/// The results of the shipped rows that `rows` selects, with `runs` runs each.
fn reproduced(rows: impl Fn(&Experiment) -> bool, runs: u32) -> Vec<ClaimResult> {
    let shipped = ROWS.iter().map(|row| Experiment::shipped(row).unwrap_or_else(|error| panic!("{error:?}")));
    let experiments: Vec<Experiment> = shipped.filter(rows).collect();
    let traces = TraceStore::at(None);
    let extent = Extent { runs: Some(runs), ..Extent::default() };
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap();
    planned.run(2, &traces, &NoStore, &|| {}).unwrap().claims
}

fn verdicts() -> SavedStudy {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/verdicts.json");
    SavedStudy::of_claims(&path).unwrap()
}

fn has_theory(experiment: &Experiment) -> bool {
    experiment.row.claims.iter().any(|claim| claim.class == Class::Theory)
}

/// A hundred random networks, without optimisation a minute's work; `make reproduce-check` has them.
const LONG: &str = "dccc-2017/sec4A-appendixA";

#[test]
fn theory_says_what_it_said() {
    let claims = reproduced(|experiment| has_theory(experiment) && experiment.name != LONG, 3);
    let theory: Vec<ClaimResult> = claims.into_iter().filter(|claim| claim.class == Class::Theory).collect();
    let ids: Vec<&str> = theory.iter().map(|claim| claim.id.as_str()).collect();
    let lost = lost(&verdicts(), |row| theory.iter().any(|claim| claim.row == row), &theory);
    let lost: Vec<_> = lost.iter().filter(|lost| ids.contains(&lost.id.as_str())).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    let holds = |claim: &&ClaimResult| claim.verdict == Verdict::Passed;
    assert!(theory.iter().filter(holds).count() >= 70, "{}", theory.len());
}

const TABLES: [&str; 3] = ["gcc-2016/table2", "nada-vs-gcc-2016/table1", "nada-vs-gcc-2016/table3"];

#[test]
fn three_tables_have_the_figures_they_had() {
    let claims = reproduced(|experiment| TABLES.contains(&experiment.name.as_str()), 3);
    // Of three runs two may be outliers, and too few show an order; the mean has to lie in its range and on its side.
    let lost = lost(&verdicts(), |row| TABLES.contains(&row), &claims);
    let outside = |lost: &&LostClaim| lost.is.is_none_or(|is| is == Verdict::Missed);
    let lost: Vec<_> = lost.iter().filter(outside).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(claims.iter().filter(|claim| claim.verdict.is_met()).count() >= 12);
}
