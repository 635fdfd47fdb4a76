//! Pairs of controllers and TCP algorithms, coupled and uncoupled (`pairs`).

use super::*;

fn outcome(queue_ms: f64, utilisation: f64) -> PairOutcome {
    let statistic = |mean| Some(Statistic { mean, ci95: None, missing: 0 });
    PairOutcome { jain: statistic(1.0), queue_ms: statistic(queue_ms), utilisation: statistic(utilisation) }
}

#[test]
fn a_pair_is_harmed_by_a_longer_queue_or_an_emptier_link() {
    let unharmed = |uncoupled, coupled| {
        let controllers = ["gcc", "nada"].map(str::to_owned);
        Pair { controllers, uncoupled, coupled }.is_unharmed()
    };
    // 100 ms may become 125, and 10 ms may become 15.
    assert!(unharmed(outcome(100.0, 0.9), outcome(125.0, 0.81)));
    assert!(!unharmed(outcome(100.0, 0.9), outcome(125.1, 0.9)));
    assert!(unharmed(outcome(10.0, 0.9), outcome(15.0, 0.9)));
    assert!(!unharmed(outcome(10.0, 0.9), outcome(15.1, 0.9)));
    assert!(!unharmed(outcome(100.0, 0.9), outcome(100.0, 0.80)));
    let unknown = PairOutcome { queue_ms: None, ..outcome(1.0, 1.0) };
    assert!(!unharmed(outcome(100.0, 0.9), unknown));
}

#[test]
fn each_pair_meets_once_and_is_left_alone_once() {
    let registry = &Registry::standard();
    let request = PairsRequest {
        registry,
        controllers: &["gcc", "cubic"],
        algorithm: NO_COUPLER,
        seeds: &[1, 2],
        jobs: 2,
    };
    assert_eq!(request.pairs(), [["gcc", "gcc"], ["gcc", "cubic"], ["cubic", "cubic"]]);
    assert_eq!(request.runs(), 12);
    for controller in controllers(registry) {
        scenario(registry, [controller, "newreno"], NO_COUPLER).unwrap();
    }
    assert!(scenario(registry, ["gcc", "reno"], NO_COUPLER).is_err());
}
