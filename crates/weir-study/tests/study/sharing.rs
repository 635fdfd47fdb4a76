//! Sharing of a link among flows of the same controller.

use weir_import::traces::TraceStore;
use weir_scenario::scenario::Scenario;
use weir_study::comparison::ComparisonRequest;

#[test]
fn none_of_three_flows_under_the_second_scream_starves() {
    let scenario = Scenario::open("quality/three-flows", &["controllers=['scream-v2']".to_owned()]).unwrap();
    let request = ComparisonRequest {
        scenario: &scenario,
        seeds: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        jobs: 2,
        series: false,
    };
    let comparison = request.run(&TraceStore::at(None), &|| {}).unwrap();
    let jain: Vec<f64> = comparison.controllers[0]
        .runs
        .iter()
        .map(|run| {
            let rates: Vec<f64> = run.flows.iter().filter_map(|flow| flow.rate_bps).collect();
            let (sum, squares) =
                (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
            sum * sum / (3.0 * squares)
        })
        .collect();
    assert!(jain.iter().all(|&index| index >= 0.75), "{jain:?}");
    assert!(jain.iter().sum::<f64>() / 10.0 >= 0.8, "{jain:?}");
}
