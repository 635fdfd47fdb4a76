//! Bounds of the capacity in seconds without a figure, and of the capacity behind a share.

use super::line::{PacketLine, second_of};
use super::path::{CapacitySecond, InferOptions};

/// Most packets in a row whose passage gives a lower bound.
const LONGEST_ROW: usize = 40;
/// Seconds on each side in which a figure counts as nearby.
const NEARBY: usize = 10;

/// Sets the bounds of seconds without a figure; seconds beside other traffic get the open upper end of their capacity.
pub(super) fn set(line: &PacketLine, tolerance_us: i64, options: &InferOptions, seconds: &mut [CapacitySecond]) {
    let is_known = seconds.iter().any(|second| second.bps.is_some() && !second.is_shared);
    let propagation = is_known.then(|| line.propagation_us(seconds));
    let through = through(line, tolerance_us, propagation, seconds.len());
    let quiet: Vec<Option<f64>> =
        seconds.iter().map(|second| second.bps.filter(|_| !second.is_shared)).collect();
    let most_quiet = quiet.iter().flatten().copied().fold(0.0, f64::max);
    let nearby = most_within(&quiet, NEARBY);
    for (index, second) in seconds.iter_mut().enumerate() {
        let low = through[index];
        match second.bps {
            None => {
                second.low_bps = low;
                let base = nearby[index].unwrap_or(most_quiet).max(low);
                second.high_bps = options.open_end.max(1.0) * base;
                second.is_open = true;
            }
            Some(share) if second.is_shared => {
                let most = if most_quiet > 0.0 { most_quiet } else { options.open_end.max(1.0) * share };
                second.high_bps = second.high_bps.max(most);
                second.is_open = true;
            }
            Some(_) => {}
        }
    }
    // A second without packets has no bound of its own.
    let least = seconds.iter().filter(|second| second.low_bps > 0.0).map(|second| second.low_bps);
    let least = least.fold(f64::INFINITY, f64::min);
    for second in seconds.iter_mut().filter(|second| second.low_bps <= 0.0 && second.bps.is_none()) {
        second.low_bps = if least.is_finite() { least } else { 0.0 };
        second.high_bps = second.high_bps.max(second.low_bps);
    }
}

/// The most that got through in each second, in bit/s: bytes of packets in a row over the time from the first departure to the end
/// of the last service. With a known propagation delay the service of a single packet is such a time, too.
fn through(line: &PacketLine, tolerance_us: i64, propagation_us: Option<i64>, seconds: usize) -> Vec<f64> {
    let mut most = vec![0.0f64; seconds];
    // Without it, the service of the packet with the least delay counts as none.
    let uncounted = if propagation_us.is_some() { 0.0 } else { f64::from(line.least_bytes) };
    let tolerance_us = tolerance_us.max(1) - propagation_us.unwrap_or(0);
    for (index, last) in line.served.iter().enumerate() {
        let Some(most) = second_of(last.served_us).and_then(|second| most.get_mut(second)) else { continue };
        let mut bytes = -uncounted;
        for first in line.served[(index + 1).saturating_sub(LONGEST_ROW)..=index].iter().rev() {
            bytes += f64::from(first.bytes);
            let time = last.served_us - first.sent_us + tolerance_us;
            if time > 1_000_000 {
                break;
            }
            if time > 0 {
                *most = most.max(bytes * 8e6 / time as f64);
            }
        }
    }
    most
}

/// The greatest of the values at most `within` places away.
fn most_within(values: &[Option<f64>], within: usize) -> Vec<Option<f64>> {
    let around = |place: usize| &values[place.saturating_sub(within)..(place + within + 1).min(values.len())];
    (0..values.len()).map(|place| around(place).iter().flatten().copied().reduce(f64::max)).collect()
}
