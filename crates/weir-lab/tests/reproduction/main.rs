//! A part of what `weir reproduce` judges, small enough for every change: what theory says, and three tables with three seeds.
//! `make reproduce-check` has the rest.

use std::path::Path;

use weir_lab::experiments::{
    ClaimResult, Class, Experiment, Extent, ROWS, Reproduction, Verdict, VerdictBaseline,
};
use weir_lab::runs::Forget;
use weir_lab::traces::TraceStore;

fn reproduced(rows: impl Fn(&Experiment) -> bool, runs: u32) -> Vec<ClaimResult> {
    let shipped = ROWS.iter().map(|row| Experiment::shipped(row).unwrap_or_else(|error| panic!("{error:?}")));
    let experiments: Vec<Experiment> = shipped.filter(rows).collect();
    let traces = TraceStore::at(None);
    let extent = Extent { runs: Some(runs), ..Extent::default() };
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap();
    planned.run(2, &traces, &Forget, &|| {}).unwrap().claims
}

fn verdicts() -> VerdictBaseline {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/verdicts.json");
    VerdictBaseline::read(&path).unwrap()
}

fn is_analysis(experiment: &Experiment) -> bool {
    let variants = &experiment.row.variants;
    !variants.is_empty() && variants.iter().all(|(_, variant)| variant.analysis.is_some())
}

/// A hundred random networks, without optimisation a minute's work; `make reproduce-check` has them.
const LONG: &str = "dccc-2017/sec4A-appendixA";

#[test]
fn theory_says_what_it_said() {
    let claims = reproduced(|experiment| is_analysis(experiment) && experiment.name != LONG, 3);
    let mut rows: Vec<&str> = claims.iter().map(|claim| claim.row.as_str()).collect();
    rows.dedup();
    let lost = verdicts().lost(|row| rows.contains(&row), &claims);
    assert!(lost.is_empty(), "{lost:#?}");
    let holds = |claim: &&ClaimResult| claim.class == Class::Theory && claim.verdict == Verdict::Reproduced;
    assert!(claims.iter().filter(holds).count() >= 20, "{}", claims.len());
}

const TABLES: [&str; 3] = ["gcc-2016/table2", "nada-vs-gcc-2016/table1", "nada-vs-gcc-2016/table3"];

#[test]
fn three_tables_have_the_figures_they_had() {
    let claims = reproduced(|experiment| TABLES.contains(&experiment.name.as_str()), 3);
    // Of three runs two may stand apart; the mean has to lie in its range.
    let lost = verdicts().lost(|row| TABLES.contains(&row), &claims);
    let outside = |id: &str| {
        let is = |claim: &&ClaimResult| claim.id == id && claim.class == Class::Num;
        claims.iter().find(is).is_some_and(|claim| claim.verdict == Verdict::NotReproduced)
    };
    let lost: Vec<_> = lost.iter().filter(|lost| outside(&lost.id)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(claims.iter().filter(|claim| claim.verdict.is_met()).count() >= 12);
}
