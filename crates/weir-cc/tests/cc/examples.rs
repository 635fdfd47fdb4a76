//! The examples run, and their calls adapt to their paths.

#[path = "../../examples/sans_io.rs"]
#[expect(dead_code, reason = "its `main` prints")]
mod sans_io;

#[test]
fn the_call_of_the_example_uses_its_link_and_keeps_the_queue_short() {
    let (mut used, mut waits) = (Vec::new(), Vec::new());
    sans_io::call(|second, capacity, target, wait| {
        if matches!(second, 6..=15 | 21..=30) {
            // The peaks at which over-use is detected, of frames that leave at once: of goog_cc on a steady link
            // the 95th percentile is 146 ms.
            assert!(wait.millis_f64() < 200.0, "{second} s: {wait:?}");
            waits.push(wait.millis_f64());
            used.push(target.media_rate.bps_f64() / capacity.bps_f64());
        }
    })
    .unwrap();
    waits.sort_unstable_by(f64::total_cmp);
    assert!(waits[waits.len() / 2] < 40.0, "{waits:?}");
    let (before, after) = used.split_at(10);
    for used in [before, after] {
        let mean = used.iter().sum::<f64>() / used.len() as f64;
        assert!((0.8..1.0).contains(&mean), "{mean}");
    }
}
