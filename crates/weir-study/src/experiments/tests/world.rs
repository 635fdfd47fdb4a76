//! Rows whose runs another world makes.

use super::*;
use crate::runs::{Plan, RunError, RunWorld, WorldRun};

/// Simulations of which those with some names do not count.
#[derive(Debug)]
struct DisturbedWorld(&'static [&'static str]);

impl RunWorld for DisturbedWorld {
    fn run(&self, name: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        let (spec, recorder) = plan()?;
        let recorder = weir_measure::simulate(spec, recorder)?;
        Ok(WorldRun { recorder, counts: !self.0.iter().any(|uncounted| name.ends_with(uncounted)) })
    }
}

/// The claims of the row `SMALL` with three seeds in that world.
fn claims(world: &DisturbedWorld) -> Vec<ClaimResult> {
    let experiments = [Experiment::parse("paper/row", "row.toml", SMALL).unwrap()];
    let traces = TraceStore::at(None);
    let extent = Extent { runs: Some(3), ..Extent::default() };
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap().in_world(world);
    assert!(planned.runs_a_scenario());
    planned.run(1, &traces, &NoStore, &|| {}).unwrap().claims
}

#[test]
fn a_seed_whose_runs_do_not_all_count_is_left_out() {
    let numbers = |world: &DisturbedWorld| -> Vec<Vec<Option<f64>>> {
        claims(world).into_iter().map(|claim| claim.places[0].values.clone()).collect()
    };
    let all = numbers(&DisturbedWorld(&[]));
    assert!(all.iter().all(|values| values.len() == 3), "{all:?}");
    // One run of the second seed is enough, as claims compare variants by seed.
    let fewer = numbers(&DisturbedWorld(&["plain/rate=100/2"]));
    let expected: Vec<Vec<_>> = all.iter().map(|values| vec![values[0], values[2]]).collect();
    assert_eq!(fewer, expected);
}

#[test]
fn without_a_run_that_counts_nothing_is_decided() {
    let claims = claims(&DisturbedWorld(&["/1", "/2", "/3"]));
    assert!(claims.iter().all(|claim| claim.verdict == Verdict::Open), "{claims:?}");
}

#[test]
fn claims_beside_others_with_variants_of_their_own_are_left_out() {
    let text = SMALL.replace("id = \"double\"", "beside = true\nid = \"double\"");
    let ids = |text: &str| {
        let row = Experiment::parse("paper/row", "row.toml", text).unwrap().without_further_variants();
        assert_eq!(row.row.claims.len(), row.formulas.len());
        row.row.claims.into_iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    // Another claim needs its variants, too.
    assert_eq!(ids(&text).len(), 3);
    assert_eq!(ids(&text.replace("id = \"full\"", "beside = true\nid = \"full\"")), ["rises"]);
}
