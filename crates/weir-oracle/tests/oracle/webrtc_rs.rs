//! The example `webrtc_rs` runs, and `gcc` has the same results within webrtc-rs as elsewhere.

#[path = "../../examples/webrtc_rs.rs"]
#[expect(dead_code, reason = "its `main` prints")]
mod example;

#[test]
fn the_call_through_webrtc_rs_uses_its_link_and_backs_off_in_silence() {
    let (mut steady, mut at) = (Vec::new(), [0.0; 46]);
    example::call(|second, capacity, target| {
        at[second as usize] = target;
        if matches!(second, 11..=20 | 31..=40) {
            steady.push(target / capacity.bps_f64());
        }
    })
    .unwrap();
    let (before, after) = steady.split_at(10);
    for used in [before, after] {
        let mean = used.iter().sum::<f64>() / used.len() as f64;
        assert!((0.8..1.0).contains(&mean), "{mean}");
    }
    assert!(at[45] < at[40] / 2.0, "{} after {}", at[45], at[40]);
}
