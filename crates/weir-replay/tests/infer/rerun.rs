//! A call's own controller on the inferred path, beside the call.

use weir_replay::infer::{InferOptions, PathEnd, infer};
use weir_world::RecordedCall;

use crate::is_long;
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

/// Median of the values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

/// Seconds like those of the recorded call, bytes and median wait, as medians over runs with other seeds.
struct RunsOnPath {
    alike: f64,
    bytes: f64,
    wait_ms: f64,
}

fn runs(text: &str, path: &KnownPath, recorded: &[f64]) -> RunsOnPath {
    let calls: Vec<RecordedCall> =
        (1..=10).map(|seed| simulate(text, Some(path.controller), path.seed + 1000 * seed).call).collect();
    let of = |value: &dyn Fn(&RecordedCall) -> f64| median(calls.iter().map(value).collect());
    RunsOnPath {
        alike: of(&|call| alike(recorded, &rates(call, path.seconds))),
        bytes: of(&|call| rates(call, path.seconds).iter().sum()),
        wait_ms: of(&|call| median_wait_ms(call, path.delay_ms)),
    }
}

#[test]
fn own_controller_on_the_inferred_path() {
    // In short, four paths without random loss, to whose chances rates of loss-based controllers are sensitive.
    let chosen = |index: &usize| is_long() || [5, 7, 12, 15].contains(index);
    let paths = random(20, 60, 1);
    let (mut all, mut held) = (0, [0; 3]);
    for path in paths.iter().enumerate().filter(|(index, _)| chosen(index)).map(|(_, path)| path) {
        let text = path.scenario();
        let call = simulate(&text, Some(path.controller), path.seed).call;
        let inferred = inferred_scenario(path, &call, PathEnd::Middle);
        let recorded = rates(&call, path.seconds);
        let (known, again) = (runs(&text, path, &recorded), runs(&inferred, path, &recorded));
        let rate = again.bytes / known.bytes - 1.0;
        let holds = [
            again.alike >= known.alike - 0.05,
            rate.abs() <= 0.05,
            (again.wait_ms - known.wait_ms).abs() <= (0.15 * known.wait_ms).max(5.0),
        ];
        all += 1;
        for (held, holds) in held.iter_mut().zip(holds) {
            *held += i32::from(holds);
        }
        let loss = infer(&call, &InferOptions::default()).expect("the call has packets").loss.share;
        println!(
            "{} {}, random loss {:.2} %: seconds alike {:.2}, on the known path {:.2}; rate {:+.1} %; wait {:.1}, on the known path {:.1} ms",
            path.name,
            path.controller,
            100.0 * loss,
            again.alike,
            known.alike,
            100.0 * rate,
            again.wait_ms,
            known.wait_ms
        );
    }
    let [alike, rate, wait] = held;
    println!("of {all} paths: seconds alike {alike}, rate {rate}, wait {wait}");
    let least = if is_long() { [16, 15, 18] } else { [all; 3] };
    assert!(held.iter().zip(least).all(|(held, least)| *held >= least), "{held:?} of {all}, least {least:?}");
}
