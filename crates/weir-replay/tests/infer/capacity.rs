//! The capacity of each second, and its band.

use weir_replay::infer::{InferOptions, InferredPath, infer};
use weir_world::RecordedCall;

use crate::is_long;
use crate::paths::{FLOW, random};
use crate::recording::simulate;

/// Packets that waited, from which a second counts as one with a queue.
const WAITED: u32 = 10;

fn inferred(call: &RecordedCall) -> InferredPath {
    infer(call, &InferOptions::default()).expect("the call has packets")
}

/// Counts over seconds with a queue.
#[derive(Default)]
struct SecondCounts {
    all: u32,
    /// Seconds whose figure is within 5 % of the truth.
    near: u32,
    /// Seconds whose band has no open end and contains the truth.
    inside: u32,
    /// Widths of the bands as shares of the figures.
    widths: Vec<f64>,
    /// Seconds of calls alone that count as shared.
    shared: u32,
}

#[test]
fn figures_where_packets_queued() {
    let sets: &[(u64, usize)] = if is_long() { &[(1, 20), (2, 20), (3, 20), (4, 20)] } else { &[(1, 12)] };
    let mut counts = SecondCounts::default();
    for path in sets.iter().flat_map(|&(set, count)| random(count, 60, set)) {
        let simulated = simulate(&path.scenario(), Some(path.controller), path.seed);
        let inferred = inferred(&simulated.call);
        let (mut all, mut near, mut inside) = (0, 0, 0);
        for (index, second) in inferred.seconds.iter().enumerate().take(path.seconds as usize) {
            counts.shared += u32::from(second.is_shared);
            if simulated.waited.get(index).is_none_or(|&waited| waited < WAITED) {
                continue;
            }
            let truth = path.capacity(index);
            all += 1;
            near += u32::from(second.bps.is_some_and(|bps| (bps / truth - 1.0).abs() <= 0.05));
            inside += u32::from(!second.is_open && second.low_bps <= truth && truth <= second.high_bps);
            counts.widths.extend(second.bps.map(|bps| (second.high_bps - second.low_bps) / bps));
        }
        println!(
            "{} {}: {all} seconds with a queue, {near} within 5 %, {inside} in the band",
            path.name, path.controller
        );
        counts.all += all;
        counts.near += near;
        counts.inside += inside;
    }
    let SecondCounts { all, near, inside, mut widths, shared } = counts;
    widths.sort_by(f64::total_cmp);
    let width = widths[widths.len() / 2];
    println!(
        "{all} seconds: {near} within 5 %, {inside} in the band, median width {width:.3}, {shared} shared"
    );
    assert!(f64::from(near) >= 0.9 * f64::from(all), "{near} of {all} within 5 %");
    assert!(f64::from(inside) >= 0.95 * f64::from(all), "{inside} of {all} in the band");
    assert!(width <= 0.2, "the median width is {width}");
    assert!(f64::from(shared) <= 0.02 * f64::from(all), "{shared} of {all} shared");
}

/// A call over 2 Mbit/s.
fn over_two_megabits(flow: &str, others: &str) -> String {
    format!(
        "title = \"known\"\nduration = \"60s\"\n[links.forward]\nfrom = \"sender\"\nto = \"receiver\"\ndelay = \"25ms\"\nqueue = {{ \
         time = \"300ms\" }}\nrate = \"2Mbps\"\n[links.back]\nfrom = \"receiver\"\nto = \"sender\"\ndelay = \"25ms\"\nrate = \
         \"100Mbps\"\n{flow}\n{others}"
    )
}

#[test]
fn the_capacity_is_unknown_without_a_queue() {
    let flow = FLOW.replace("max_rate = \"2.5Mbps\"", "max_rate = \"50kbps\", frame_rate = 5");
    let flow = flow.replace("start = \"300kbps\"", "start = \"50kbps\"");
    let flow = flow.replace("encoder = {", "payload_limit = \"1400B\"\nencoder = {");
    let simulated = simulate(&over_two_megabits(&flow, ""), None, 1);
    let packets = simulated.call.packets.len();
    assert!((250..=400).contains(&packets), "{packets} packets in 60 s");
    for second in inferred(&simulated.call).seconds {
        assert!(second.bps.is_none() && second.is_open, "{second:?}");
        assert!(second.low_bps <= 2.02e6, "{second:?}");
    }
}

#[test]
fn beside_another_flow_it_is_a_share() {
    let cubic = "[flows.upload]\nkind = \"tcp\"\nfrom = \"sender\"\nto = \"receiver\"\nalgorithm = \"cubic\"\nstart = \"15s\"\nstop = \"45s\"";
    for controller in ["gcc", "nada", "scream-v2"] {
        let simulated = simulate(&over_two_megabits(FLOW, cubic), Some(controller), 1);
        let inferred = inferred(&simulated.call);
        let shared =
            |from: usize, to: usize| inferred.seconds[from..to].iter().filter(|s| s.is_shared).count();
        let (before, beside, after) = (shared(0, 14), shared(18, 44), shared(48, 60));
        println!("{controller}: shared {before} of 14 before, {beside} of 26 beside, {after} of 12 after");
        assert!(before + after <= 2, "{controller}: {before} before, {after} after");
        assert!(beside >= 20, "{controller}: {beside} of 26");
        for second in inferred.seconds[18..44].iter().filter(|second| second.is_shared) {
            assert!(second.is_open && second.low_bps <= 2.02e6 && second.high_bps >= 1.9e6, "{second:?}");
        }
    }
}
