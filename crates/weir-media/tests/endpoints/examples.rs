//! The examples run, and their calls reach the rate of their paths.

#[path = "../../examples/two_flows.rs"]
#[expect(dead_code, reason = "its `main` prints")]
mod two_flows;

#[path = "../../examples/coupled_call.rs"]
#[expect(dead_code, reason = "its `main` prints")]
#[expect(clippy::duplicate_mod, reason = "both examples stand on the same path")]
mod coupled_call;

#[path = "../../examples/feedback.rs"]
#[expect(dead_code, reason = "its `main` prints")]
mod feedback;

#[test]
fn feedback_as_bytes_lets_the_controller_follow_its_link_in_either_format() {
    for format in [weir_media::PacketFormat::TransportWide, weir_media::PacketFormat::Rfc8888] {
        let mut used = Vec::new();
        feedback::call(format, |second, capacity, target| {
            if matches!(second, 11..=20 | 31..=40) {
                used.push(target.media_rate.bps_f64() / capacity.bps_f64());
            }
        })
        .unwrap();
        for used in used.chunks(10) {
            let mean = used.iter().sum::<f64>() / used.len() as f64;
            assert!((0.75..1.05).contains(&mean), "{format:?}: {mean}");
        }
    }
}

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

#[test]
fn the_flows_of_the_coupled_call_have_their_shares() {
    let kbps: Vec<f64> = coupled_call::call().unwrap().iter().map(|rate| rate.bps_f64() / 1e3).collect();
    let [audio, video, screen] = kbps[..] else { panic!("{kbps:?}") };
    // Audio would have 8 of 14 and can use 100 kbit/s; of what is left one has 2 of 6, the other 4.
    assert_eq!(audio, 100.0);
    assert!((screen / video - 2.0).abs() < 0.001, "{kbps:?}");
    assert!((1400.0..2100.0).contains(&(audio + video + screen)), "{kbps:?}");
}
