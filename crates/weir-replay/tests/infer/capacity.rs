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
    for path in random(20, 60) {
        let simulated = simulate(&path.scenario(), Some(path.controller), 1);
        let inferred = infer(&simulated.call, &InferOptions::default()).expect("the call has packets");
        let mut lows = Vec::new();
        let (mut own, mut own_near, mut own_inside, mut unknown) = (0u32, 0, 0, 0);
        let mut bad = String::new();
        for (index, second) in inferred.seconds.iter().enumerate().take(60) {
            if second.bps.is_none() {
                lows.push(second.low_bps / path.capacity(index));
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
