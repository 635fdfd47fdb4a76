//! The limit of the queue: what the packets ahead of a lost one had waited, in time and in bytes.

use super::line::PacketLine;
use super::loss::LossCauses;
use super::path::{QueueEstimate, QueueLimit};

/// Share by which a packet that was taken may exceed a limit before it refutes it.
const TOLERANCE: f64 = 0.15;
/// Difference of the relative spreads of two limits by which one is clearer.
const CLEARER: f64 = 0.1;

/// The limit, given the propagation delay as of [`PacketLine::propagation_us`].
pub(super) fn estimate(line: &PacketLine, propagation_us: i64, losses: &LossCauses) -> QueueEstimate {
    let waits: Vec<f64> =
        line.served.iter().map(|packet| (packet.wait_us() - propagation_us) as f64).collect();
    let longest = waits.iter().copied().fold(0.0, f64::max);
    if losses.before_full.is_empty() {
        return QueueEstimate { limit: QueueLimit::Time(longest as i64), other: None, was_full: false };
    }
    let backlogs = backlogs(line, propagation_us);
    let most = backlogs.iter().copied().fold(0.0, f64::max);
    let at_losses = |values: &[f64]| {
        let mut at: Vec<f64> = losses.before_full.iter().map(|&index| values[index]).collect();
        at.sort_by(f64::total_cmp);
        let quantile = |share: f64| at[(share * (at.len() - 1) as f64).round() as usize];
        (quantile(0.9), (quantile(0.9) - quantile(0.1)) / quantile(0.5).max(1.0))
    };
    let (time, time_spread) = at_losses(&waits);
    let (bytes, bytes_spread) = at_losses(&backlogs);
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

/// Bytes of the call at the bottleneck that were not served when each packet came, its own included.
fn backlogs(line: &PacketLine, propagation_us: i64) -> Vec<f64> {
    let mut first = 0;
    let mut bytes = 0.0;
    let end = |index: usize| (line.served[index].served_us - propagation_us) as f64;
    let backlog = |(index, packet): (usize, &super::line::ServedPacket)| {
        bytes += f64::from(packet.bytes);
        let now = packet.sent_us as f64;
        while first < index && end(first) <= now {
            bytes -= f64::from(line.served[first].bytes);
            first += 1;
        }
        if first == index {
            return bytes;
        }
        let begin = if first == 0 { line.served[0].sent_us as f64 } else { end(first - 1) };
        let begin = begin.max(line.served[first].sent_us as f64).min(now);
        let served = (now - begin) / (end(first) - begin).max(1.0);
        bytes - served * f64::from(line.served[first].bytes)
    };
    line.served.iter().enumerate().map(backlog).collect()
}
