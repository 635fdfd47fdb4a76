//! Time that a flow needs to converge to its fair share after a change of that share. It makes RFC 8868 §3 precise:
//! the rate must be within 20 % of the share in 90 % of the samples of 5 s.

use super::bins::{BIN_NANOS, BINS_PER_SECOND, BinCounts, BinGrid};
use super::span::ActiveSpan;
use crate::results::{Convergence, Value};

/// Greatest deviation of the rate from the share, as a part of the share.
const TOLERANCE: f64 = 0.2;
/// Part of the samples that must be within the tolerance.
const SAMPLE_SHARE: f64 = 0.9;
/// Number of consecutive samples, those at both ends of 5 s included.
const SAMPLES: usize = 5 * BINS_PER_SECOND + 1;

/// The convergence of a flow in each of its pieces of constant share, which last [`MIN_PIECE`] or longer.
pub(super) fn convergence(
    shares: &[(ActiveSpan, f64)],
    receipts: &BinCounts,
    grid: &BinGrid,
) -> Vec<Convergence<Value>> {
    let judged = shares.iter().filter(|(_, share)| *share > 0.0);
    judged.map(|&(piece, share)| convergence_in(piece, share, receipts, grid)).collect()
}

/// Least length of a piece in ns, so that it contains all samples.
pub(super) const MIN_PIECE: u64 = SAMPLES as u64 * BIN_NANOS;

fn convergence_in(piece: ActiveSpan, share: f64, receipts: &BinCounts, grid: &BinGrid) -> Convergence<Value> {
    let first = first_edge(piece, grid);
    let last = grid.bin(piece.to);
    let near: Vec<bool> =
        (first..=last).map(|edge| (rate(receipts, edge) - share).abs() <= TOLERANCE * share).collect();
    let start = near.windows(SAMPLES).position(|samples| {
        samples.iter().filter(|near| **near).count() as f64 >= SAMPLE_SHARE * SAMPLES as f64
    });
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

/// The first edge between bins within the piece.
fn first_edge(piece: ActiveSpan, grid: &BinGrid) -> usize {
    let bin = grid.bin(piece.from);
    if grid.span(bin).from < piece.from { bin + 1 } else { bin }
}

/// The receive rate in bit/s during the second before the edge.
fn rate(receipts: &BinCounts, edge: usize) -> f64 {
    receipts.sum(edge.saturating_sub(BINS_PER_SECOND)..edge) as f64 * 8.0
}
