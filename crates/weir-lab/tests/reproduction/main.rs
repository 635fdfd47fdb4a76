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

#[test]
fn all_theory_holds() {
    let is_theory = |experiment: &Experiment| {
        let classes = experiment.row.claims.iter().map(|claim| claim.class);
        classes.clone().any(|class| class == Class::Theory)
            && classes.clone().all(|class| matches!(class, Class::Theory | Class::Struct))
    };
    let claims = reproduced(is_theory, 1);
    let missed: Vec<_> = claims.iter().filter(|claim| !claim.verdict.is_met()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(claims.iter().any(|claim| claim.class == Class::Theory && claim.verdict == Verdict::Reproduced));
}

/// The figures of these that are met with five seeds are so with three.
const TABLES: [&str; 3] = ["gcc-2016/table2", "nada-vs-gcc-2016/table1", "nada-vs-gcc-2016/table3"];

#[test]
fn three_tables_have_the_figures_they_had() {
    let claims = reproduced(|experiment| TABLES.contains(&experiment.name.as_str()), 3);
    let verdicts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/verdicts.json");
    let lost = VerdictBaseline::read(&verdicts).unwrap().lost(&TABLES, &claims);
    let figures = |id: &str| claims.iter().any(|claim| claim.id == id && claim.class == Class::Num);
    let lost: Vec<_> = lost.iter().filter(|lost| figures(&lost.id)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(claims.iter().filter(|claim| claim.verdict.is_met()).count() >= 12);
}
