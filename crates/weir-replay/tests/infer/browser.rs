//! Paths behind calls of a browser, whose links are known.

use weir_import::calls::{CallOptions, read_file, read_two_files};
use weir_replay::infer::{InferOptions, InferredPath, QueueLimit, infer};

/// The inferred path of a call of `data/calls`.
fn path(name: &str) -> InferredPath {
    let file = format!("{}/../../data/calls/{name}.rtclog", env!("CARGO_MANIFEST_DIR"));
    let call = read_file(file.as_ref(), &CallOptions::default()).unwrap();
    infer(&call, &InferOptions::default()).unwrap()
}

#[test]
fn the_capacity_behind_a_browsers_call_is_within_5_percent() {
    let path = path("c1-steps");
    // The link's schedule begins 0.135 s into the log; a second with a step has no one capacity.
    let known = |from_s: f64| match from_s - 0.135 {
        ..=19.0 => Some(1.0),
        20.0..=44.0 => Some(2.5),
        45.0.. => Some(0.5),
        _ => None,
    };
    let seconds: Vec<(f64, Option<f64>)> = path
        .seconds
        .iter()
        .filter_map(|second| Some((known(second.from_us as f64 / 1e6)? * 1e6, second.bps)))
        .collect();
    let near = seconds
        .iter()
        .filter(|(truth, found)| found.is_some_and(|found| (found / truth - 1.0).abs() <= 0.05));
    let (near, all) = (near.count(), seconds.len());
    assert!(all >= 60 && near * 100 >= all * 85, "{near} of {all} seconds");
    // Drop-tail of 37 500 bytes.
    assert!(
        matches!(path.queue.limit, QueueLimit::Bytes(bytes) if (35_600..=39_400).contains(&bytes)),
        "{:?}",
        path.queue
    );
    assert!(path.seconds.iter().filter(|second| second.is_shared).count() <= 3);
}

#[test]
fn seconds_beside_tcp_are_a_share() {
    let path = path("c2-beside-cubic");
    let shared = path.seconds.iter().filter(|second| (16..45).contains(&(second.from_us / 1_000_000)));
    let (all, shared) = (shared.clone().count(), shared.filter(|second| second.is_shared).count());
    assert!(shared * 10 >= all * 9, "{shared} of {all} seconds");
}

#[test]
fn captures_of_a_call_without_a_queue_have_random_loss() {
    let file = |name: &str| format!("{}/../../data/calls/{name}.pcap", env!("CARGO_MANIFEST_DIR"));
    let (sender, receiver) = (file("srtp-sender"), file("srtp-receiver"));
    let call = read_two_files(sender.as_ref(), receiver.as_ref(), &CallOptions::default()).unwrap();
    let path = infer(&call, &InferOptions::default()).unwrap();
    assert!(path.summary().is_none() && !path.queue.was_full, "{:?}", path.queue);
    assert!((0.02..0.04).contains(&path.loss.share), "{:?}", path.loss);
}
