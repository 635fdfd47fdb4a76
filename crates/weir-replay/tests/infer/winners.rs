//! The best controller on inferred paths, beside the best on the known ones.

use weir_measure::results::ranking::{RankedController, Ranking};
use weir_replay::infer::PathEnd;

use crate::paths::random;
use crate::recording::{metrics, simulate};
use crate::rerun::inferred_scenario;

/// The compared controllers.
const CONTROLLERS: [&str; 3] = ["gcc", "nada", "scream-v2"];
/// Seeds of the runs.
const SEEDS: core::ops::Range<u64> = 21..31;

/// The recommended controllers over this scenario.
fn winners(text: &str) -> (Vec<String>, Ranking) {
    let candidate = |name: &&str| {
        let runs: Vec<_> = SEEDS.map(|seed| metrics(text, name, seed)).collect();
        let flow = |run: &weir_measure::results::RunMetrics| run.flows[0].clone();
        RankedController {
            name: (*name).to_owned(),
            useful_rate_kbps: runs.iter().map(|run| Some(flow(run).useful_rate_bps? / 1e3)).collect(),
            frame_delay_ms: runs.iter().map(|run| run.media.frame_delay_ms.p95).collect(),
            freezes: runs.iter().map(|run| flow(run).freezes).collect(),
            neighbour_rate_kbps: Vec::new(),
        }
    };
    let ranking = Ranking::of(&CONTROLLERS.iter().map(candidate).collect::<Vec<_>>());
    let mut names = ranking.recommended.clone();
    names.sort();
    (names, ranking)
}

#[test]
fn on_inferred_paths() {
    for path in random(20, 60, crate::set()) {
        let text = path.scenario();
        let call = simulate(&text, Some(path.controller), path.seed).call;
        let of = |text: &str| {
            let (names, ranking) = winners(text);
            let all: Vec<String> = ranking.candidates.iter().map(|c| format!("{} {:.0}/{:.0}", c.name, c.useful_rate_kbps, c.frame_delay_ms.unwrap_or(0.0))).collect();
            format!("{names:?} lead {:?} {}", ranking.leading, all.join(" "))
        };
        let end = |end| of(&inferred_scenario(&path, &call, end));
        println!("{} {}\n  true {}\n  low  {}\n  mid  {}\n  high {}", path.name, path.controller, of(&text), end(PathEnd::Low), end(PathEnd::Middle), end(PathEnd::High));
    }
}
