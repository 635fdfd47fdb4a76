//! The examples for embedders do what they say.

#[path = "../../examples/peer_group.rs"]
#[expect(dead_code, reason = "main prints")]
mod peer_group;

use weir_cc::TimeDelta;

#[test]
fn data_beside_video_has_its_share_and_does_not_fill_the_queue() {
    let (rates, wait) = peer_group::call().unwrap();
    let [audio, video, data] = [rates[0], rates[1], rates[2]].map(|rate| rate.bps_f64() / 1e3);
    // 160 bytes and a header of 24 in 20 ms.
    assert!((audio - 73.6).abs() < 0.1, "{audio}");
    assert!((1700.0..=2000.0).contains(&(audio + video + data)), "{rates:?}");
    assert!((1.6..2.5).contains(&(video / data)), "weights 2 and 1: {rates:?}");
    assert!(wait < TimeDelta::from_millis(200), "{wait:?}");
}
