//! A call's own controller on the inferred path, beside the call.

use weir_replay::infer::{InferOptions, PathEnd, infer};
use weir_world::RecordedCall;

use crate::paths::{FLOW, KnownPath, random};
use crate::recording::simulate;

/// The inferred path with the flow of the known one.
pub(crate) fn inferred_scenario(path: &KnownPath, call: &RecordedCall, end: PathEnd) -> String {
    let inferred = infer(call, &InferOptions::default()).expect("the call has packets");
    format!(
        "title = \"inferred\"\nduration = \"{}s\"\n{}\n{}\n{FLOW}",
        path.seconds,
        inferred.forward_link(end),
        inferred.back_link()
    )
}

/// Bytes that arrived in each second.
fn rates(call: &RecordedCall, seconds: u64) -> Vec<f64> {
    let mut rates = vec![0.0; seconds as usize];
    for packet in call.packets.rows() {
        let Some(arrived) = packet.arrived_us.get() else { continue };
        if let Some(rate) = rates.get_mut((arrived / 1_000_000) as usize) {
            *rate += f64::from(call.wire_bytes(&packet));
        }
    }
    rates
}

/// Median of the time from departure to arrival, less the delay of the path.
fn median_wait_ms(call: &RecordedCall, delay_ms: u64) -> f64 {
    let wait = |packet: weir_world::recorded::PacketRow| {
        Some((packet.arrived_us.get()? - packet.sent_us.get()?) as f64 / 1000.0 - delay_ms as f64)
    };
    let mut waits: Vec<f64> = call.packets.rows().filter_map(wait).collect();
    waits.sort_by(f64::total_cmp);
    waits[waits.len() / 2]
}

/// Share of the seconds in which both rates are within 10 % of each other.
fn alike(one: &[f64], other: &[f64]) -> f64 {
    let near = one.iter().zip(other).filter(|(one, other)| (*one - *other).abs() <= 0.1 * **one);
    near.count() as f64 / one.len() as f64
}

#[test]
fn own_controller() {
    for path in random(20, 60, crate::set()) {
        let text = path.scenario();
        let call = simulate(&text, Some(path.controller), path.seed).call;
        let inferred = inferred_scenario(&path, &call, PathEnd::Middle);
        let again = simulate(&inferred, Some(path.controller), path.seed).call;
        let recorded = rates(&call, path.seconds);
        let of_again = rates(&again, path.seconds);
        let mut with_other_seeds: Vec<f64> = (2..12)
            .map(|seed| alike(&recorded, &rates(&simulate(&text, Some(path.controller), seed).call, path.seconds)))
            .collect();
        with_other_seeds.sort_by(f64::total_cmp);
        let bar = with_other_seeds[5];
        let mut on_inferred: Vec<f64> = (2..12)
            .map(|seed| alike(&recorded, &rates(&simulate(&inferred, Some(path.controller), seed).call, path.seconds)))
            .collect();
        on_inferred.sort_by(f64::total_cmp);
        let mean = |rates: &[f64]| rates.iter().sum::<f64>();
        let (wait, wait_again) = (median_wait_ms(&call, path.delay_ms), median_wait_ms(&again, path.delay_ms));
        let others: Vec<i64> = (2..8).map(|seed| median_wait_ms(&simulate(&text, Some(path.controller), seed).call, path.delay_ms) as i64).collect();
        println!("{others:?} {}", inferred.lines().filter(|line| line.contains("queue =") || line.contains("loss =") || line.contains("jitter =")).collect::<String>());
        println!(
            "{} {}: rate {:+.1} %, wait {wait:.1} -> {wait_again:.1}, alike {:.2} ({:.2} other seeds) v {bar:.2} {}",
            path.name,
            path.controller,
            100.0 * (mean(&of_again) / mean(&recorded) - 1.0),
            alike(&recorded, &of_again),
            on_inferred[5],
            if (wait_again - wait).abs() > (0.15 * wait).max(5.0) { "WAIT" } else { "" }
        );
    }
}
