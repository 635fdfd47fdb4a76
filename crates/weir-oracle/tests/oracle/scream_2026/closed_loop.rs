//! Utilisation of the recorded paths with random loss in Weir's simulator.
//!
//! The recorded paths with changing capacity are not compared: their sender had no window, and their losses after
//! a fall of capacity were found seconds later.

use super::FOLDER;
use crate::recorded::paths::{Caller, Path, paths};
use crate::recorded::records::{rows, table};

const CALLER: Caller<'_> = Caller { controller: "scream-v2", options: "{}", min_kbps: 50 };
/// Tolerance of the mean utilisation.
const POINTS: f64 = 0.05;
const SEEDS: u64 = 8;

/// The mean utilisation of the C++ at a round-trip time and a random loss as `random-loss-120s.csv` writes them: four runs of 120 s.
fn theirs(rtt_ms: &str, loss: &str) -> f64 {
    let table = table(FOLDER, "random-loss-120s.csv");
    let runs: Vec<f64> = rows(&table)
        .filter(|cells| cells[0] == rtt_ms && cells[1] == loss)
        .map(|cells| cells[3].parse().expect("a utilisation"))
        .collect();
    assert_eq!(runs.len(), 4);
    runs.iter().sum::<f64>() / 4.0
}

#[test]
fn of_paths_with_random_loss_it_uses_what_the_cpp_uses() {
    let paths = paths(FOLDER);
    println!("| round trip | loss | C++ | `scream-v2` |");
    println!("|---|---|---|---|");
    for (rtt, loss, group) in [
        ("50", "0.005", "loss-50ms-0.5pc-531"),
        ("50", "0.02", "loss-50ms-2pc-531"),
        ("50", "0.05", "loss-50ms-5pc-531"),
        ("200", "0.005", "loss-200ms-0.5pc-531"),
        ("200", "0.02", "loss-200ms-2pc-531"),
        ("200", "0.05", "loss-200ms-5pc-531"),
    ] {
        let path: &Path = paths.iter().find(|path| path.name == group).expect("it was recorded");
        let (theirs, ours) = (theirs(rtt, loss), path.utilisation_of(&CALLER, SEEDS));
        println!("| {rtt} ms | {loss} | {theirs:.3} | {ours:.3} |");
        assert!((theirs - ours).abs() < POINTS, "{group}: {ours} and {theirs}");
    }
}
