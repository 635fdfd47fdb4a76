//! The limit of the queue: what the packets ahead of a lost one had waited, in time and in bytes.

use super::loss::LossCauses;
use super::occupancy::QueueOccupancy;
use super::path::{QueueEstimate, QueueLimit};

/// Share by which a packet that was taken may exceed a limit before it refutes it.
const TOLERANCE: f64 = 0.15;
/// Difference of the relative spreads of two limits by which one is clearer.
const CLEARER: f64 = 0.1;

/// The limit, given the losses by cause.
pub(super) fn estimate(queue: &QueueOccupancy, losses: &LossCauses) -> QueueEstimate {
    let (longest, most) = (queue.longest_us(), queue.most_bytes());
    if losses.before_full.is_empty() {
        return QueueEstimate { limit: QueueLimit::Time(longest as i64), other: None, was_full: false };
    }
    let at_losses = |values: &[f64]| {
        let mut at: Vec<f64> = losses.before_full.iter().map(|&index| values[index]).collect();
        at.sort_by(f64::total_cmp);
        let quantile = |share: f64| at[(share * (at.len() - 1) as f64).round() as usize];
        (quantile(0.9), (quantile(0.9) - quantile(0.1)) / quantile(0.5).max(1.0))
    };
    let (time, time_spread) = at_losses(&queue.waits_us);
    let (bytes, bytes_spread) = at_losses(&queue.backlogs);
    let (not_time, not_bytes) = (longest > (1.0 + TOLERANCE) * time, most > (1.0 + TOLERANCE) * bytes);
    let by_time = QueueLimit::Time(time as i64);
    let by_bytes = QueueLimit::Bytes(bytes as u64);
    let (limit, other) = match (not_time, not_bytes) {
        (false, true) => (by_time, None),
        (true, false) => (by_bytes, None),
        _ if time_spread + CLEARER < bytes_spread => (by_time, Some(by_bytes)),
        _ => (by_bytes, Some(by_time)),
    };
    QueueEstimate { limit, other, was_full: true }
}
