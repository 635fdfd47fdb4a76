//! The inferred path as a scenario.

use weir_import::traces::TraceStore;
use weir_replay::infer::{InferOptions, PathEnd, infer};
use weir_scenario::compile::RunOptions;

use crate::paths::random;
use crate::recording::{scenario, simulate};

#[test]
fn every_end_runs_under_several_controllers() {
    for path in random(6, 20, 1) {
        let call = simulate(&path.scenario(), Some(path.controller), path.seed).call;
        let inferred = infer(&call, &InferOptions::default()).expect("the call has packets");
        let again: weir_replay::infer::InferredPath =
            serde_json::from_str(&serde_json::to_string(&inferred).expect("it has no map"))
                .expect("it was written");
        assert_eq!(again.seconds.len(), inferred.seconds.len());
        for end in [PathEnd::Low, PathEnd::Middle, PathEnd::High] {
            let text = inferred.scenario(end);
            let known = format!("capacity known in {} %", (100.0 * inferred.coverage()).round());
            assert!(text.contains(&known), "{text}");
            for controller in ["gcc", "nada", "scream-v2"] {
                let options = RunOptions { controller: Some(controller), ..RunOptions::new(1) };
                scenario(&text).build(&options, &TraceStore::at(None)).expect("it is valid");
            }
        }
    }
}

#[test]
fn the_ends_differ_only_where_nothing_is_known() {
    for path in random(8, 30, 1) {
        let call = simulate(&path.scenario(), Some(path.controller), path.seed).call;
        let inferred = infer(&call, &InferOptions::default()).expect("the call has packets");
        for second in &inferred.seconds {
            assert!(second.low_bps <= second.high_bps, "{second:?}");
            let (low, high) = (second.at(PathEnd::Low, None), second.at(PathEnd::High, None));
            let middle = second.at(PathEnd::Middle, None);
            assert!(low <= middle && middle <= high, "{second:?}");
        }
        let is_known = inferred.seconds.iter().all(|second| second.bps.is_some() && !second.is_shared);
        let alike = inferred.loss.share == 0.0 && inferred.queue.was_full && inferred.queue.other.is_none();
        if is_known && alike {
            assert_eq!(inferred.forward_link(PathEnd::Low), inferred.forward_link(PathEnd::High));
        }
    }
}

#[test]
fn delays_and_limits_of_a_steady_path() {
    let path = &random(20, 60, 1)[12];
    let call = simulate(&path.scenario(), Some(path.controller), path.seed).call;
    let inferred = infer(&call, &InferOptions::default()).expect("the call has packets");
    let delay_us = (path.delay_ms * 1000) as i64;
    assert!((inferred.delay.forward_us - delay_us).abs() <= 300, "{:?}", inferred.delay);
    assert!((inferred.delay.back_us - delay_us).abs() <= 3000, "{:?}", inferred.delay);
    assert_eq!(inferred.loss.share, 0.0);
    assert_eq!(inferred.jitter.sd_us, 0);
}
