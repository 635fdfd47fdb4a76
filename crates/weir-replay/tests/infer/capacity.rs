//! The capacity of each second with a queue, and its band.

use weir_replay::infer::{InferOptions, infer};

use crate::paths::random;
use crate::recording::simulate;

/// Packets that waited, from which a second counts as one with a queue.
const WAITED: u32 = 10;

#[test]
fn figures() {
    let (mut all, mut near, mut inside) = (0u32, 0, 0);
    let mut widths = Vec::new();
    for path in random(20, 60, crate::set()) {
        let simulated = simulate(&path.scenario(), Some(path.controller), path.seed);
        let inferred = infer(&simulated.call, &InferOptions::default()).expect("the call has packets");
        let mut lows = Vec::new();
        let mut others = Vec::new();
        let (mut own, mut own_near, mut own_inside, mut unknown) = (0u32, 0, 0, 0);
        let mut bad = String::new();
        for (index, second) in inferred.seconds.iter().enumerate().take(60) {
            if second.bps.is_none() {
                lows.push(second.low_bps / path.capacity(index));
            }
            if let Some(bps) = second.bps && simulated.waited.get(index).is_none_or(|&waited| waited < WAITED) {
                others.push((index, (100.0 * (bps / path.capacity(index) - 1.0)).round(), second.pairs, simulated.waited.get(index).copied()));
            }
            if simulated.waited.get(index).is_none_or(|&waited| waited < WAITED) {
                continue;
            }
            let truth = path.capacity(index);
            own += 1;
            let error = second.bps.map(|bps| bps / truth - 1.0);
            let is_near = error.is_some_and(|error| error.abs() <= 0.05);
            let is_inside = !second.is_open && second.low_bps <= truth && truth <= second.high_bps;
            own_near += u32::from(is_near);
            own_inside += u32::from(is_inside);
            unknown += u32::from(second.bps.is_none());
            if let Some(bps) = second.bps {
                widths.push((second.high_bps - second.low_bps) / bps);
            }
            if !is_near || !is_inside {
                bad += &format!(
                    " {index}:{:.0}%{}{}/{}/{}",
                    100.0 * error.unwrap_or(9.99),
                    if is_inside { "" } else { "!" },
                    if second.is_shared { "s" } else { "" }, second.pairs, simulated.waited[index]
                );
            }
        }
        println!(
            "{} {}: {own} with queue, {own_near} near, {own_inside} inside, {unknown} unknown, cov {:.2}; delay {}/{} of {}, {:?} {:?} {:?} | {}\n   {bad}",
            path.name, path.controller, inferred.coverage(), inferred.delay.forward_us, inferred.delay.back_us, path.delay_ms, inferred.queue, inferred.loss, inferred.jitter, path.link.replace('\n', " ")
        );
        if !others.is_empty() {
            println!("   others {others:?}");
        }
        lows.sort_by(f64::total_cmp);
        if !lows.is_empty() {
            println!("   lows {:?}", lows.iter().map(|low| (low * 100.0).round()).collect::<Vec<_>>());
        }
        all += own;
        near += own_near;
        inside += own_inside;
    }
    widths.sort_by(f64::total_cmp);
    println!("{all}: near {near} inside {inside} width {}", widths[widths.len() / 2]);
}
#[test]
fn debug_one() {
    let Ok(index) = std::env::var("WEIR_ONE") else { return };
    let (index, at): (usize, usize) = { let (a, b) = index.split_once(',').unwrap(); (a.parse().unwrap(), b.parse().unwrap()) };
    let path = &random(20, 60, crate::set())[index];
    let simulated = simulate(&path.scenario(), Some(path.controller), path.seed);
    let inferred = infer(&simulated.call, &InferOptions::default()).unwrap();
    println!("{:?}", path.steps);
    for second in &inferred.seconds[at - 2..at + 3] {
        println!("{second:?} {}", path.capacity((second.from_us / 1_000_000) as usize));
    }
    let base = inferred.delay.forward_us;
    for packet in simulated.call.packets.rows().filter(|p| p.sent_us.get().unwrap() / 1_000_000 == at as i64) {
        println!("{} {} wait {:?}", packet.sent_us.get().unwrap(), simulated.call.wire_bytes(&packet), packet.arrived_us.get().map(|a| a - base - packet.sent_us.get().unwrap()));
    }
}
#[test]
fn debug_loss() {
    for index in [2, 4, 8, 10, 14, 16] {
        let path = &random(20, 60, crate::set())[index];
        for seed in [path.seed, path.seed+1000, path.seed+2000] {
        let call = simulate(&path.scenario(), Some(path.controller), seed).call;
        let arrived = call.packets.rows().filter(|p| p.arrived_us.is_known()).count();
        let last = call.packets.rows().filter(|p| p.arrived_us.is_known()).map(|p| p.sent_us.get()).max().flatten().unwrap();
        let all = call.packets.rows().filter(|p| p.sent_us.get().unwrap() <= last).count();
        let inferred = infer(&call, &InferOptions::default()).unwrap();
        println!("{index} {} {} {all} {arrived} {} {:?}", path.link.replace('\n', " "), path.controller, 1.0 - arrived as f64 / all as f64, inferred.loss);
        }
    }
}
