//! The examples run, and their calls get on with their paths.

#[path = "../../examples/two_flows.rs"]
#[expect(dead_code, reason = "its `main` prints")]
mod two_flows;

#[test]
fn both_flows_of_the_example_decide_and_together_use_their_path() {
    let mut rates = [0.0; 2];
    let mut sums = Vec::new();
    two_flows::call(|now, flow, decision| {
        rates[flow.number()] = decision.rate.bps_f64();
        if now >= weir_cc::SendTime::from_millis(15_000) {
            sums.push(rates.iter().sum::<f64>());
        }
    })
    .unwrap();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64 / 2e6;
    assert!(rates.iter().all(|&rate| rate > 200e3), "{rates:?}");
    assert!((0.75..1.05).contains(&mean), "{mean}");
}
