//! Time that a flow needs to reach its share after a change (RFC 8868 §3, made precise).

use super::bins::{BIN, BinCounts, BinGrid, PER_SECOND};
use super::span::ActiveSpan;
use crate::results::{Convergence, Value};

/// The rate may differ from the share by this part of it …
const TOLERANCE: f64 = 0.2;
/// … and must do so for this part of the samples …
const ENOUGH: f64 = 0.9;
/// … in this many consecutive ones: the samples at both ends of 5 s.
const SAMPLES: usize = 5 * PER_SECOND + 1;

/// Evaluates each of a flow's pieces of constant share, which are [`MIN_PIECE`] long at least.
pub(super) fn convergence(
    shares: &[(ActiveSpan, f64)],
    receipts: &BinCounts,
    grid: &BinGrid,
) -> Vec<Convergence<Value>> {
    let judged = shares.iter().filter(|(_, share)| *share > 0.0);
    judged.map(|&(piece, share)| judge(piece, share, receipts, grid)).collect()
}

/// A shorter piece, in nanoseconds, may not hold the samples.
pub(super) const MIN_PIECE: u64 = SAMPLES as u64 * BIN;

fn judge(piece: ActiveSpan, share: f64, receipts: &BinCounts, grid: &BinGrid) -> Convergence<Value> {
    let first = first_edge(piece, grid);
    let last = grid.bin(piece.to);
    let near: Vec<bool> =
        (first..=last).map(|edge| (rate(receipts, edge) - share).abs() <= TOLERANCE * share).collect();
    let start = near
        .windows(SAMPLES)
        .position(|samples| samples.iter().filter(|near| **near).count() as f64 >= ENOUGH * SAMPLES as f64);
    let seconds = match start {
        Some(start) => (grid.span(first + start).from - piece.from).secs_f64(),
        None => piece.nanos() as f64 / 1e9,
    };
    Convergence {
        at_seconds: Some(piece.from.secs_f64()),
        share_bps: Some(share),
        seconds: Some(seconds),
        not_converged: Some(f64::from(u8::from(start.is_none()))),
    }
}

/// The first edge of a bin within the piece.
fn first_edge(piece: ActiveSpan, grid: &BinGrid) -> usize {
    let bin = grid.bin(piece.from);
    if grid.span(bin).from < piece.from { bin + 1 } else { bin }
}

/// The receive rate of the second before the given edge, in bit/s.
fn rate(receipts: &BinCounts, edge: usize) -> f64 {
    receipts.sum(edge.saturating_sub(PER_SECOND)..edge) as f64 * 8.0
}
