//! Bounds of the capacity in seconds without a figure, and of the capacity behind a share.

use super::capacity::{BIN_US, BINS_PER_SECOND, ServiceBins};
use super::line::{PacketLine, second_of};
use super::path::{CapacitySecond, InferOptions, RatePiece};

/// Most packets in a row whose passage gives a lower bound.
const LONGEST_ROW: usize = 40;
/// Longest time of such a row in microseconds.
const LONGEST_ROW_US: i64 = 1_000_000;
/// Bins nearly without a queue from which a part of a second counts as one.
const LEAST_IDLE: usize = 4;
/// Part of the time with a queue that may lie in that part.
const STRAY: f64 = 0.15;
/// Ratio by which more than the figure has to get through in that part.
const MORE: f64 = 1.1;
/// Seconds on each side in which a figure counts as nearby.
const NEARBY: usize = 10;

/// Sets the bounds of seconds without a figure; seconds beside other traffic get the open upper end of their capacity.
pub(super) fn set(
    line: &PacketLine,
    bins: &ServiceBins,
    tolerance_us: i64,
    options: &InferOptions,
    seconds: &mut [CapacitySecond],
) {
    let is_known = seconds.iter().any(|second| second.bps.is_some() && !second.is_shared);
    let propagation = is_known.then(|| line.propagation_us(seconds));
    let through = through(line, tolerance_us, propagation, seconds.len());
    for (index, second) in seconds.iter_mut().enumerate().filter(|(_, second)| !second.is_shared) {
        complete(second, &bins.busy_us(index), &through[index]);
    }
    let quiet: Vec<Option<f64>> =
        seconds.iter().map(|second| second.bps.filter(|_| !second.is_shared)).collect();
    let most_quiet = quiet.iter().flatten().copied().fold(0.0, f64::max);
    let nearby = most_within(&quiet, NEARBY);
    for (index, second) in seconds.iter_mut().enumerate() {
        let low = through[index].iter().copied().fold(0.0, f64::max);
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

/// The most that got through in each bin of each second, in bit/s: bytes of packets in a row over the time from the
/// first departure to the end of the last service. With a known propagation delay the service of a single packet is
/// such a time, too.
fn through(
    line: &PacketLine,
    tolerance_us: i64,
    propagation_us: Option<i64>,
    seconds: usize,
) -> Vec<[f64; BINS_PER_SECOND]> {
    let mut all = vec![[0.0f64; BINS_PER_SECOND]; seconds];
    // Without it, the service of the packet with the least delay counts as none.
    let uncounted = if propagation_us.is_some() { 0.0 } else { f64::from(line.least_bytes) };
    let tolerance_us = tolerance_us.max(1) - propagation_us.unwrap_or(0);
    for (index, last) in line.served.iter().enumerate() {
        let Some(second) = second_of(last.served_us).and_then(|second| all.get_mut(second)) else { continue };
        let most = &mut second[(last.served_us.rem_euclid(1_000_000) / BIN_US) as usize];
        let mut bytes = -uncounted;
        for first in line.served[(index + 1).saturating_sub(LONGEST_ROW)..=index].iter().rev() {
            bytes += f64::from(first.bytes);
            let time = last.served_us - first.sent_us + tolerance_us;
            if time > LONGEST_ROW_US {
                break;
            }
            if time > 0 {
                *most = most.max(bytes * 8e6 / time as f64);
            }
        }
    }
    all
}

/// Divides a second in which packets queued only before a change, or only after one, where more got through in the
/// rest than its figure allows.
fn complete(second: &mut CapacitySecond, busy_us: &[f64; BINS_PER_SECOND], through: &[f64; BINS_PER_SECOND]) {
    let Some(own) = second.bps.filter(|_| second.pieces.len() < 2) else { return };
    let all: f64 = busy_us.iter().sum();
    let (mut from_begin, mut from_end) = (0.0, 0.0);
    let stray = |sum: &mut f64, busy: f64| {
        *sum += busy;
        *sum <= STRAY * all
    };
    let begin = busy_us.iter().take_while(|&&busy| stray(&mut from_begin, busy)).count();
    let end = BINS_PER_SECOND - busy_us.iter().rev().take_while(|&&busy| stray(&mut from_end, busy)).count();
    let most = |bins: &[f64]| {
        let most = bins.iter().copied().fold(0.0, f64::max);
        (bins.len() >= LEAST_IDLE && most > MORE * second.high_bps).then_some(most)
    };
    let (before, after) = (most(&through[..begin]), most(&through[end.max(begin)..]));
    if before.is_none() && after.is_none() {
        return;
    }
    let half = (second.high_bps - second.low_bps) / 2.0;
    let mut parts = vec![(0, before.unwrap_or(own))];
    if before.is_some() {
        parts.push((begin, own));
    }
    if let Some(after) = after {
        parts.push((end, after));
    }
    let ends = parts.iter().skip(1).map(|part| part.0).chain([BINS_PER_SECOND]);
    let weighted = parts.iter().zip(ends).map(|(&(from, bps), to)| (to - from) as f64 * bps);
    let mean = weighted.sum::<f64>() / BINS_PER_SECOND as f64;
    second.bps = Some(mean);
    second.low_bps = mean - half;
    // More may have got through there.
    let idle = (BINS_PER_SECOND - (end - begin)) as f64 / BINS_PER_SECOND as f64;
    second.high_bps = mean + half + (MORE - 1.0) * idle * mean;
    let piece = |(bin, bps): (usize, f64)| RatePiece { from_us: second.from_us + bin as i64 * BIN_US, bps };
    second.pieces = parts.into_iter().map(piece).collect();
}

/// The greatest of the values at most `within` places away.
fn most_within(values: &[Option<f64>], within: usize) -> Vec<Option<f64>> {
    let around = |place: usize| &values[place.saturating_sub(within)..(place + within + 1).min(values.len())];
    (0..values.len()).map(|place| around(place).iter().flatten().copied().reduce(f64::max)).collect()
}
