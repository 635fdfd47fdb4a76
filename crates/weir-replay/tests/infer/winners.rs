//! The best controller on inferred paths, beside the best on the known ones.

use weir_measure::results::RunMetrics;
use weir_measure::results::ranking::{RankedController, Ranking};
use weir_replay::infer::PathEnd;

use crate::is_long;
use crate::paths::random;
use crate::recording::{metrics, simulate};
use crate::rerun::inferred_scenario;

/// The compared controllers.
const CONTROLLERS: [&str; 3] = ["gcc", "nada", "scream-v2"];
/// Seeds of the runs.
const SEEDS: core::ops::Range<u64> = 21..31;

/// The recommended controllers over this scenario, in the order of their names.
fn recommended(text: &str) -> Vec<String> {
    let candidate = |name: &&str| {
        let runs: Vec<RunMetrics> = SEEDS.map(|seed| metrics(text, name, seed)).collect();
        RankedController {
            name: (*name).to_owned(),
            useful_rate_kbps: runs.iter().map(|run| Some(run.flows[0].useful_rate_bps? / 1e3)).collect(),
            frame_delay_ms: runs.iter().map(|run| run.media.frame_delay_ms.p95).collect(),
            freezes: runs.iter().map(|run| run.flows[0].freezes).collect(),
            neighbour_rate_kbps: Vec::new(),
        }
    };
    let mut names = Ranking::of(&CONTROLLERS.iter().map(candidate).collect::<Vec<_>>()).recommended;
    names.sort();
    names
}

#[test]
fn the_best_is_the_same_where_both_ends_agree() {
    let chosen = |index: &usize| is_long() || [3, 12].contains(index);
    let (mut undecided, mut wrong) = (0, 0);
    for (_, path) in random(20, 60, 1).iter().enumerate().filter(|(index, _)| chosen(index)) {
        let text = path.scenario();
        let call = simulate(&text, Some(path.controller), path.seed).call;
        let [low, high] =
            [PathEnd::Low, PathEnd::High].map(|end| recommended(&inferred_scenario(path, &call, end)));
        let known = recommended(&text);
        println!("{} {}: {known:?}; lower end {low:?}, upper end {high:?}", path.name, path.controller);
        undecided += i32::from(low != high);
        // Of several that are recommended, one may be recommended there alone.
        wrong += i32::from(low == high && !low.iter().any(|name| known.contains(name)));
    }
    println!("{undecided} undecided, {wrong} wrong");
    assert!(undecided <= 5 && wrong == 0, "{undecided} undecided, {wrong} wrong");
}
