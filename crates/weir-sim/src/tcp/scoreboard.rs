//! Scoreboard of outstanding segments (RFC 6675 §2 to §4).
//!
//! Whether a segment is lost needs no mark of its own: the third highest SACKed segment divides the outstanding ones,
//! and below it everything not SACKed is lost. This loss boundary only moves up, so that all counts are kept as it
//! moves, and no acknowledgement causes a search of the whole window.

use weir_world::tcp::SackBlock;

use crate::tcp::bits::BitRing;

/// `DupThresh`: number of segments SACKed above another that prove it lost (RFC 6675 §2).
pub(super) const DUP_THRESHOLD: u32 = 3;

/// The sender's record of outstanding segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    /// The first outstanding segment; everything below is acknowledged.
    first: u32,
    /// The first segment never sent.
    next: u32,
    sacked: BitRing,
    /// Segments retransmitted and not yet SACKed.
    resent: BitRing,
    sacked_count: u32,
    resent_count: u32,
    /// Number of segments below `loss_boundary` that are not SACKed.
    lost_count: u32,
    /// Bound below which `IsLost` holds for all segments that are not SACKed.
    loss_boundary: u32,
    /// SACKed segments at or above the loss boundary.
    sacked_above: u32,
    /// End of the SACKed segments, exclusive.
    sacked_end: u32,
    /// Bound below which every outstanding segment is SACKed, or is retransmitted and its retransmission not lost. It
    /// replaces `HighRxt`.
    resend_from: u32,
    /// Blocks of the last acknowledgement, which are marked already.
    covered: [SackBlock; 3],
}

impl Scoreboard {
    pub(super) fn new() -> Self {
        Self::with_rings([BitRing::new(), BitRing::new()])
    }

    /// An empty record that reuses the memory of this one.
    pub(super) fn emptied(self) -> Self {
        Self::with_rings([self.sacked.emptied(), self.resent.emptied()])
    }

    fn with_rings([sacked, resent]: [BitRing; 2]) -> Self {
        Self {
            first: 0,
            next: 0,
            sacked,
            resent,
            sacked_count: 0,
            resent_count: 0,
            lost_count: 0,
            loss_boundary: 0,
            sacked_above: 0,
            sacked_end: 0,
            resend_from: 0,
            covered: [SackBlock::EMPTY; 3],
        }
    }

    /// The first outstanding segment (`SND.UNA`).
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The first segment never sent (`SND.NXT`).
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// `FlightSize`: number of segments sent and not cumulatively acknowledged (RFC 5681 §2).
    pub(super) fn flight(&self) -> u32 {
        self.next - self.first
    }

    /// Number of segments known to have arrived since the beginning, in order or not.
    pub(super) fn arrived(&self) -> u32 {
        self.first + self.sacked_count
    }

    /// Number of segments sent and not known to have arrived.
    pub(super) fn outstanding(&self) -> u32 {
        self.flight() - self.sacked_count
    }

    /// `pipe`: estimated number of segments in the network (RFC 6675 §4).
    pub(super) fn pipe(&self) -> u32 {
        self.flight() + self.resent_count - self.sacked_count - self.lost_count
    }

    /// Whether a segment above the first outstanding one is SACKed.
    pub(super) fn has_sacked(&self) -> bool {
        self.sacked_count > 0
    }

    /// Whether the first outstanding segment is lost.
    pub(super) fn first_is_lost(&self) -> bool {
        self.first < self.loss_boundary
    }

    /// Records that the next new segment is sent; returns its number.
    pub(super) fn send_new(&mut self) -> u32 {
        let number = self.next;
        self.next += 1;
        self.sacked.reserve(self.first, self.next);
        self.resent.reserve(self.first, self.next);
        number
    }

    /// Records that all segments below `cumulative` have arrived; returns the number of newly acknowledged ones.
    pub(super) fn acknowledge(&mut self, cumulative: u32) -> u32 {
        if cumulative <= self.first || cumulative > self.next {
            return 0;
        }
        if self.first < self.loss_boundary || self.sacked_count > 0 {
            self.forget_marks(cumulative);
        }
        if self.resent_count > 0 {
            self.resent_count -= self.resent.remove_range(self.first, cumulative);
        }
        let acknowledged = cumulative - self.first;
        self.first = cumulative;
        self.loss_boundary = self.loss_boundary.max(cumulative);
        self.resend_from = self.resend_from.max(cumulative);
        acknowledged
    }

    fn forget_marks(&mut self, cumulative: u32) {
        let split = self.loss_boundary.clamp(self.first, cumulative);
        let below = self.sacked.remove_range(self.first, split);
        let above = self.sacked.remove_range(split, cumulative);
        self.lost_count -= split - self.first - below;
        self.sacked_above -= above;
        self.sacked_count -= below + above;
    }

    /// Takes SACK blocks; returns whether they had new information. The first outstanding segment cannot be SACKed, or
    /// it would be acknowledged.
    pub(super) fn sack(&mut self, blocks: &[SackBlock; 3]) -> bool {
        let changed = self.take_blocks(blocks);
        if changed {
            self.move_loss_boundary();
        }
        changed
    }

    /// As [`Self::sack`], without the detection of losses by three SACKed segments.
    pub(super) fn take_blocks(&mut self, blocks: &[SackBlock; 3]) -> bool {
        if blocks[0].is_empty() {
            return false;
        }
        let before = self.sacked_count;
        for block in blocks {
            if !self.covered.contains(block) {
                self.take_block(*block);
            }
        }
        self.covered = blocks.map(|block| SackBlock { end: block.end.min(self.next), ..block });
        self.sacked_count > before
    }

    fn take_block(&mut self, block: SackBlock) {
        let start = block.start.max(self.first.saturating_add(1));
        let (start, end) = self.uncovered(start, block.end.min(self.next));
        if start >= end {
            return;
        }
        if start < self.loss_boundary {
            self.lost_count -= self.mark(start, end.min(self.loss_boundary));
        }
        if end > self.loss_boundary {
            self.sacked_above += self.mark(start.max(self.loss_boundary), end);
        }
        self.sacked_end = self.sacked_end.max(end);
    }

    /// The part of `start..end` that the last acknowledgement did not cover, where it covers one end.
    pub(super) fn uncovered(&self, start: u32, end: u32) -> (u32, u32) {
        let (mut start, mut end) = (start, end);
        for known in &self.covered {
            if known.start <= start && start < known.end {
                start = known.end;
            }
            if known.start < end && end <= known.end {
                end = known.start;
            }
        }
        (start, end)
    }

    /// Marks `start..end` as SACKed; returns the number of newly marked ones.
    fn mark(&mut self, start: u32, end: u32) -> u32 {
        let fresh = if end - start == 1 {
            u32::from(self.sacked.insert(start)) // nearly always: one segment, one acknowledgement
        } else {
            self.sacked.insert_range(start, end)
        };
        self.sacked_count += fresh;
        if self.resent_count > 0 {
            self.resent_count -= self.resent.remove_range(start, end);
        }
        fresh
    }

    /// Moves the loss boundary up to the third highest SACKed segment.
    fn move_loss_boundary(&mut self) {
        while self.sacked_above >= DUP_THRESHOLD {
            let Some(sacked) = self.sacked.first_present(self.loss_boundary, self.sacked_end) else { return };
            self.lost_count += sacked - self.loss_boundary;
            self.loss_boundary = sacked;
            if self.sacked_above == DUP_THRESHOLD {
                return;
            }
            self.loss_boundary += 1;
            self.sacked_above -= 1;
        }
    }

    /// `NextSeg` rule 1: the lowest lost segment not yet retransmitted, below `limit`.
    pub(super) fn next_lost(&mut self, limit: u32) -> Option<u32> {
        self.next_to_resend(self.loss_boundary.min(limit))
    }

    /// `NextSeg` rule 3: the lowest segment not yet retransmitted below the highest SACKed one, lost or not.
    pub(super) fn next_hole(&mut self) -> Option<u32> {
        self.next_to_resend(self.sacked_end)
    }

    /// The lowest segment below `limit` that is neither SACKed nor retransmitted. SACKed segments passed by the search
    /// are not searched again.
    fn next_to_resend(&mut self, limit: u32) -> Option<u32> {
        if self.resend_from >= limit {
            return None;
        }
        let mut hole = self.sacked.first_absent(self.resend_from, limit);
        while let Some(number) = hole.filter(|&number| self.resent.contains(number)) {
            hole = self.sacked.first_absent(number + 1, limit);
        }
        self.resend_from = hole.unwrap_or(limit);
        hole
    }

    /// `NextSeg` rule 4: the highest outstanding segment that is not SACKed.
    pub(super) fn last_hole(&self) -> Option<u32> {
        self.sacked.last_absent(self.first, self.next)
    }

    /// Whether the first outstanding segment was retransmitted.
    pub(super) fn first_is_resent(&self) -> bool {
        self.resend_from > self.first
    }

    /// Records that `number`, the next segment to retransmit, is retransmitted.
    pub(super) fn resend(&mut self, number: u32) {
        self.resent_count += u32::from(self.resent.insert(number));
        self.resend_from = self.resend_from.max(number + 1);
    }

    /// Records that `number` is retransmitted earlier than the order of retransmissions requires.
    pub(super) fn resend_early(&mut self, number: u32) {
        self.resent_count += u32::from(self.resent.insert(number));
    }

    /// Handles a retransmission timeout: all segments that are not SACKed are lost, retransmissions included.
    pub(super) fn lose_all(&mut self) {
        self.resent.remove_range(self.first, self.next);
        self.resent_count = 0;
        self.resend_from = self.first;
        self.loss_boundary = self.next;
        self.sacked_above = 0;
        self.lost_count = self.flight() - self.sacked_count;
    }
}

/// Loss detection by transmission times, instead of by three SACKed segments.
impl Scoreboard {
    /// Bound below which `IsLost` holds for all segments that are not SACKed.
    pub(super) fn loss_boundary(&self) -> u32 {
        self.loss_boundary
    }

    /// Number of segments that are SACKed.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked_count
    }

    /// Number of segments whose original transmission is lost.
    pub(super) fn lost(&self) -> u32 {
        self.lost_count
    }

    /// The lowest of the outstanding segments `from..end` that is not SACKed.
    pub(super) fn next_not_sacked(&self, from: u32, end: u32) -> Option<u32> {
        if self.sacked_count == 0 {
            return (from < end).then_some(from);
        }
        self.sacked.first_absent(from, end)
    }

    /// The highest of the outstanding segments `from..end` that is not SACKed.
    pub(super) fn last_not_sacked(&self, from: u32, end: u32) -> Option<u32> {
        self.sacked.last_absent(from, end)
    }

    /// Number of retransmissions that are outstanding and not known to be lost.
    pub(super) fn resent(&self) -> u32 {
        self.resent_count
    }

    /// Whether a retransmission of the segment is outstanding and not known to be lost.
    pub(super) fn is_resent(&self, number: u32) -> bool {
        (self.first..self.next).contains(&number) && self.resent.contains(number)
    }

    /// Records that all segments below `end` that are not SACKed are lost.
    pub(super) fn lose_below(&mut self, end: u32) {
        let end = end.min(self.next);
        if end <= self.loss_boundary {
            return;
        }
        let sacked = if self.sacked_above > 0 { self.sacked.count_range(self.loss_boundary, end) } else { 0 };
        self.sacked_above -= sacked;
        self.lost_count += end - self.loss_boundary - sacked;
        self.loss_boundary = end;
    }

    /// Records that the retransmission of a segment is lost as well.
    pub(super) fn lose_again(&mut self, number: u32) {
        self.resent_count -= self.resent.remove_range(number, number + 1);
        self.resend_from = self.resend_from.min(number);
    }

    /// Records that no outstanding segment is lost, after a spurious detection.
    pub(super) fn keep_all(&mut self) {
        self.loss_boundary = self.first;
        self.sacked_above = self.sacked_count;
        self.lost_count = 0;
    }

    /// Whether the acknowledgement reports a duplicate segment (D-SACK, RFC 2883 §4): its first block lies below the
    /// cumulative acknowledgement, or within the second block.
    pub(super) fn has_duplicate(cumulative: u32, [first, second, _]: &[SackBlock; 3]) -> bool {
        let within = second.start <= first.start && first.end <= second.end;
        !first.is_empty() && (first.end <= cumulative || within)
    }
}

#[cfg(test)]
mod tests;
