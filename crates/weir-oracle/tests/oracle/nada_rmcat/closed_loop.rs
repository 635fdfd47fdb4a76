//! The paths of the recorded closed loops in Weir's simulator, compared as a whole.

use super::FOLDER;
use crate::recorded::paths::{Caller, paths};

/// Runs of each path.
const SEEDS: u64 = 5;

const fn caller<'a>(controller: &'a str, options: &'a str) -> Caller<'a> {
    Caller { controller, options, min_kbps: 150 }
}

#[test]
fn the_preset_uses_what_the_authors_code_uses_of_eight_paths() {
    let preset = "{ preset = \"ns3-rmcat\", pacing = { factor = 1.5 } }";
    let default = "{ pacing = { factor = 1.5 } }";
    println!("| path | C++ | `nada`, `ns3-rmcat` | `nada-at-sender`, `ns3-rmcat` | `nada` |");
    println!("|---|---|---|---|---|");
    let mut means = [0.0; 4];
    let paths = paths(FOLDER);
    for path in &paths {
        let used = [
            path.utilisation,
            path.utilisation_of(&caller("nada", preset), SEEDS),
            path.utilisation_of(&caller("nada-at-sender", preset), SEEDS),
            path.utilisation_of(&caller("nada", default), SEEDS),
        ];
        println!("| {} | {:.3} | {:.3} | {:.3} | {:.3} |", path.name, used[0], used[1], used[2], used[3]);
        means.iter_mut().zip(used).for_each(|(mean, used)| *mean += used / paths.len() as f64);
    }
    let [theirs, ours, at_sender, default] = means;
    println!("| mean | {theirs:.3} | {ours:.3} | {at_sender:.3} | {default:.3} |");
    assert!((theirs - 0.806).abs() < 0.001, "{theirs}");
    assert!((ours - theirs).abs() < 0.05, "{ours} and {theirs}");
    assert!((at_sender - theirs).abs() < 0.05, "{at_sender} and {theirs}");
}
