//! Random loss, and loss at a full queue: they differ in the queue that the packet before a lost one met.

use super::line::PacketLine;
use super::occupancy::QueueOccupancy;
use super::packet::LostPacket;
use super::path::LossEstimate;

/// Up to this share of the longest wait and of the largest backlog, a queue counts as not full.
const SHORT_QUEUE: f64 = 0.3;
/// Where the longest wait is shorter, no queue was full, in microseconds.
const LEAST_FULL_US: f64 = 20_000.0;
/// Fewer random losses count as none.
const LEAST_LOSSES: u64 = 3;

/// Losses by cause.
#[derive(Clone, Debug)]
pub(super) struct LossCauses {
    /// Random loss.
    pub(super) random: LossEstimate,
    /// Places in [`PacketLine::served`] of the packets before those lost at a full queue.
    pub(super) before_full: Vec<usize>,
}

/// The causes of the losses of `line`, given the queue that its packets met, and whether any second has a figure of the
/// capacity.
pub(super) fn causes(line: &PacketLine, queue: &QueueOccupancy, has_figures: bool) -> LossCauses {
    let was_ever_full = has_figures && queue.longest_us() >= LEAST_FULL_US;
    // The bytes of the packet itself are no queue.
    let ahead = |index: usize| queue.backlogs[index] - f64::from(line.served[index].bytes);
    let most_ahead = (0..line.served.len()).map(ahead).fold(0.0, f64::max);
    // A limit in bytes is a short wait on a fast link, and a limit in time is few bytes on a slow one.
    let (short_us, few_bytes) = (SHORT_QUEUE * queue.longest_us(), SHORT_QUEUE * most_ahead);
    let is_short =
        |index: usize| !was_ever_full || queue.waits_us[index] <= short_us && ahead(index) <= few_bytes;
    let before = |lost: &LostPacket| lost.after.saturating_sub(1).min(line.served.len() - 1);
    let is_random = |lost: &&LostPacket| is_short(before(lost));
    let (random, queued): (Vec<&LostPacket>, Vec<&LostPacket>) = line.lost.iter().partition(is_random);
    let calm = (0..line.served.len()).filter(|&index| is_short(index)).count();
    let among = |lost: &[&LostPacket], served: usize| {
        let losses = lost.len() as u64;
        let packets = losses + served as u64;
        let rows = lost.chunk_by(|one, next| one.after == next.after).count();
        let share = if losses < LEAST_LOSSES { 0.0 } else { losses as f64 / packets.max(1) as f64 };
        let burst = if rows == 0 { 1.0 } else { losses as f64 / rows as f64 };
        LossEstimate { share, packets, burst, at_full_queue: 0 }
    };
    let estimate = among(&random, calm);
    // Random losses also meet packets that wait.
    let all = (line.served.len() + line.lost.len()) as f64;
    let expected = (estimate.share * all - random.len() as f64).max(0.0);
    // Where no packet met a short queue, losses at a full one cannot be told from random ones.
    let is_full = calm > 0 && queued.len() as f64 > expected + 4.0 * expected.sqrt() + 1.0;
    if !is_full {
        let all: Vec<&LostPacket> = line.lost.iter().collect();
        return LossCauses { random: among(&all, line.served.len()), before_full: Vec::new() };
    }
    let before_full: Vec<usize> = queued.iter().map(|lost| before(lost)).collect();
    let at_full_queue = before_full.len() as u64;
    LossCauses { random: LossEstimate { at_full_queue, ..estimate }, before_full }
}
