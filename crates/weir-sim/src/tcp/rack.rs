//! Loss detection by the times at which segments left (RACK, RFC 8985 §6, as in Linux). A segment or its
//! retransmission is lost if a segment that left later has arrived.
//!
//! Original transmissions leave in the order of their numbers, so that the lost ones lie below the scoreboard's loss
//! boundary: every segment below it has arrived or is marked lost. Retransmissions are in a queue in the order in which
//! they left. No search covers all outstanding segments.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::TimeDelta;
use weir_world::tcp::{Acknowledgement, SackBlock};

use crate::tcp::scoreboard::{DUP_THRESHOLD, Scoreboard};

/// Initial capacity for transmissions; a power of two.
const INITIAL_CAPACITY: usize = 64;

/// The latest transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    left: SendTime,
    /// Number of segments that had left before it.
    order: u32,
    /// Upper bound, exclusive, of the original transmissions that had left before it; for an original transmission its
    /// own number.
    after: u32,
}

impl Transmission {
    const NONE: Self = Self { left: SendTime::ZERO, order: 0, after: 0 };

    /// Whether this is a retransmission of segment `number`.
    fn is_retransmission(self, number: u32) -> bool {
        self.after != number
    }
}

/// Transmission times of a sender's segments.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// The latest transmission of each outstanding segment: a ring by number, its length a power of two.
    transmissions: Vec<Transmission>,
    /// Number of segments that have left.
    sent: u32,
    /// Retransmissions by their order and number, including some that are obsolete.
    retransmitted: VecDeque<(u32, u32)>,
    /// The transmission that left last among those that have arrived (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Option<Transmission>,
    /// `RACK.rtt`: the round-trip time of the last that arrived.
    rtt: TimeDelta,
    /// End of the original transmissions that have arrived, exclusive.
    arrived_end: u32,
    /// Whether an original transmission has arrived after one that left later.
    reordered: bool,
}

/// State before an acknowledgement is processed.
#[derive(Clone, Copy)]
struct AckContext {
    now: SendTime,
    min_rtt: TimeDelta,
    /// Departure of the segment whose timestamp is echoed, if the echo is of an acknowledged segment.
    echo: Option<SendTime>,
    /// End of the original transmissions that had arrived, exclusive, if not the present one.
    arrived_end: Option<u32>,
}

impl AckContext {
    /// Whether the acknowledgement may be for an earlier transmission than the one that left at `left`, because it came
    /// too early or its timestamp is older.
    fn may_be_of_another(&self, left: SendTime, rtt: TimeDelta) -> bool {
        rtt < self.min_rtt || self.echo.is_some_and(|echo| echo < left)
    }
}

/// Round-trip times of the first and of the last of several segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RttSpan(Option<(TimeDelta, TimeDelta)>);

impl RttSpan {
    fn extend(&mut self, rtt: TimeDelta) {
        self.0 = Some((self.first().unwrap_or(rtt), rtt));
    }

    pub(super) fn first(self) -> Option<TimeDelta> {
        self.0.map(|(first, _)| first)
    }

    pub(super) fn last(self) -> Option<TimeDelta> {
        self.0.map(|(_, last)| last)
    }
}

/// New information on transmissions in an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RackUpdate {
    /// Round-trip times of original transmissions that it acknowledges, unless it also acknowledges retransmitted
    /// segments.
    pub(super) acked: RttSpan,
    /// Round-trip times of original transmissions that SACK blocks report.
    pub(super) sacked_in: RttSpan,
    /// The lowest segment that was sent once and has arrived.
    pub(super) original: Option<u32>,
    /// Whether SACK blocks have new information.
    pub(super) sacked: bool,
}

/// Segments of one contiguous range that have just arrived.
#[derive(Clone, Copy, Debug, Default)]
struct ArrivedRun {
    /// Whether there are any segments.
    any: bool,
    /// Whether some of them were retransmitted.
    retransmitted: bool,
}

/// The blocks in the order of their numbers, without a D-SACK block.
fn in_order(ack: &Acknowledgement) -> [SackBlock; 3] {
    let mut blocks = ack.sacks;
    if Scoreboard::has_duplicate(ack.cumulative, &blocks) {
        blocks[0] = SackBlock::EMPTY;
    }
    if !blocks[1].is_empty() {
        blocks.sort_unstable_by_key(|block| block.start);
    }
    blocks
}

/// Results of a search for losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FoundLosses {
    /// Number of segments newly found lost.
    pub(super) lost: u32,
    /// Number of retransmissions among them.
    pub(super) retransmitted: u32,
    /// Time of the next search, if some segments may only be late.
    pub(super) recheck: Option<SendTime>,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self::with_capacity_of(vec![Transmission::NONE; INITIAL_CAPACITY], VecDeque::new())
    }

    /// An empty instance that reuses the memory of this one.
    pub(super) fn emptied(mut self) -> Self {
        self.retransmitted.clear();
        Self::with_capacity_of(self.transmissions, self.retransmitted)
    }

    fn with_capacity_of(transmissions: Vec<Transmission>, retransmitted: VecDeque<(u32, u32)>) -> Self {
        Self {
            transmissions,
            sent: 0,
            retransmitted,
            newest: None,
            rtt: TimeDelta::ZERO,
            arrived_end: 0,
            reordered: false,
        }
    }

    fn slot(&self, number: u32) -> usize {
        number as usize & (self.transmissions.len() - 1)
    }

    fn transmission(&self, number: u32) -> Transmission {
        self.transmissions[self.slot(number)]
    }

    /// Takes segment `number`, which leaves. `first` is the first outstanding segment, `next` the first that was
    /// never sent.
    pub(super) fn on_sent(&mut self, now: SendTime, number: u32, first: u32, next: u32) {
        if (number - first) as usize >= self.transmissions.len() {
            self.grow(first, number);
        }
        let slot = self.slot(number);
        self.transmissions[slot] = Transmission { left: now, order: self.sent, after: next };
        if number != next {
            self.retransmitted.push_back((self.sent, number));
        }
        self.sent = self.sent.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self, first: u32, end: u32) {
        let capacity = ((end - first) as usize + 1).next_power_of_two();
        let mut transmissions = vec![Transmission::NONE; capacity];
        for number in first..end {
            transmissions[number as usize & (capacity - 1)] = self.transmission(number);
        }
        self.transmissions = transmissions;
    }

    /// Departure of the latest transmission of an outstanding segment.
    pub(super) fn left_at(&self, number: u32) -> SendTime {
        self.transmission(number).left
    }

    /// Takes the new information of `ack`; `board` has not processed it yet.
    pub(super) fn on_ack(
        &mut self,
        now: SendTime,
        board: &Scoreboard,
        ack: &Acknowledgement,
        min_rtt: TimeDelta,
    ) -> RackUpdate {
        let mut update = RackUpdate::default();
        let (first, next) = (board.first(), board.next());
        // SACK blocks are processed first (`tcp_ack`), in the order of numbers: `RACK.rtt` is that of the segment
        // processed last. The timestamp is not that of a segment out of order.
        let before = self.arrived_end;
        let context = AckContext { now, min_rtt, echo: None, arrived_end: None };
        let mut examined = first.saturating_add(1).max(ack.cumulative);
        for block in in_order(ack) {
            let (start, end) = board.uncovered(block.start.max(examined), block.end.min(next));
            update.sacked |= self.take_run(board, start, end, context, &mut update).any;
            examined = examined.max(block.end);
        }
        update.sacked_in = core::mem::take(&mut update.acked);
        if ack.cumulative <= next {
            let echo = Some(ack.stamps.sent(now));
            let context = AckContext { now, min_rtt, echo, arrived_end: Some(before) };
            if self.take_run(board, first, ack.cumulative, context, &mut update).retransmitted {
                update.acked = RttSpan::default();
            }
        }
        update
    }

    fn take_run(
        &mut self,
        board: &Scoreboard,
        start: u32,
        end: u32,
        context: AckContext,
        update: &mut RackUpdate,
    ) -> ArrivedRun {
        let mut run = ArrivedRun::default();
        let mut from = start;
        while let Some(number) = board.next_not_sacked(from, end) {
            from = number + 1;
            let transmission = self.transmission(number);
            let Transmission { left, order, .. } = transmission;
            let (rtt, retransmitted) = (context.now - left, transmission.is_retransmission(number));
            run.any = true;
            run.retransmitted |= retransmitted;
            // RFC 8985 §6.2 step 2: a sample that may be of the original transmission is ignored.
            if retransmitted && context.may_be_of_another(left, rtt) {
                continue;
            }
            self.rtt = rtt;
            if self.newest.is_none_or(|newest| newest.order < order) {
                self.newest = Some(transmission);
            }
            if !retransmitted {
                update.acked.extend(rtt);
                update.original = Some(update.original.map_or(number, |lowest| lowest.min(number)));
                // RFC 8985 §6.2 step 3: an original transmission below one that has arrived shows reordering.
                self.reordered |= number < context.arrived_end.unwrap_or(self.arrived_end);
                self.arrived_end = self.arrived_end.max(from);
            }
        }
        run
    }

    /// Reordering window (`RACK_reo_wnd`): the time by which a segment may be late relative to others. Zero if no
    /// reordering has been observed and either the sender is in recovery or [`DUP_THRESHOLD`] segments are SACKed.
    pub(super) fn tolerance(
        &self,
        board: &Scoreboard,
        recovering: bool,
        min_rtt: TimeDelta,
        srtt: TimeDelta,
    ) -> TimeDelta {
        if !self.reordered && (recovering || board.sacked() >= DUP_THRESHOLD) {
            return TimeDelta::ZERO;
        }
        (min_rtt / 4).min(srtt)
    }

    /// Finds the segments that are lost at `now`.
    pub(super) fn find_lost(
        &mut self,
        now: SendTime,
        board: &mut Scoreboard,
        tolerance: TimeDelta,
    ) -> FoundLosses {
        let Some(newest) = self.newest else { return FoundLosses::default() };
        // RFC 8985 §6.2 step 5: lost segments left longer ago than `RACK.rtt` and the reordering window.
        let due = self.rtt + tolerance;
        let before = board.lost();
        let (retransmitted, retransmissions_wait) = self.lose_retransmissions(now, board, newest, due);
        let originals_wait = self.lose_originals(now, board, newest, due);
        let lost = board.lost() - before + retransmitted;
        let recheck = retransmissions_wait.max(originals_wait).map(|left| left + due);
        FoundLosses { lost, retransmitted, recheck }
    }

    /// Finds lost retransmissions. Returns their number, and the departure of the last of those that may only be late.
    fn lose_retransmissions(
        &mut self,
        now: SendTime,
        board: &mut Scoreboard,
        newest: Transmission,
        due: TimeDelta,
    ) -> (u32, Option<SendTime>) {
        let mut lost = 0;
        while let Some(&(order, number)) = self.retransmitted.front() {
            let transmission = self.transmission(number);
            if board.is_resent(number) && transmission.order == order {
                if order >= newest.order {
                    break;
                }
                if now - transmission.left < due {
                    return (lost, self.latest_retransmission(board, newest));
                }
                board.lose_again(number);
                lost += 1;
            }
            self.retransmitted.pop_front();
        }
        (lost, None)
    }

    /// Finds lost original transmissions. Moves the loss boundary, also over SACKed segments, which are not searched
    /// again. Returns the departure of the last of those that may only be late. A retransmission in flight is not
    /// judged by the departure of its original.
    fn lose_originals(
        &self,
        now: SendTime,
        board: &mut Scoreboard,
        newest: Transmission,
        due: TimeDelta,
    ) -> Option<SendTime> {
        // Whether the search has passed over a retransmission since the last lost segment. The scoreboard's boundary must
        // stay below it, as its original would count as lost. A later lost original shows that it is.
        let mut passed_over = false;
        let (mut boundary, mut waits) = (board.loss_boundary(), None);
        loop {
            let Some(number) = board.next_not_sacked(boundary, board.next()) else {
                boundary = board.next();
                break;
            };
            let transmission = self.transmission(number);
            let retransmitted = transmission.is_retransmission(number);
            let on_its_way = retransmitted && board.is_resent(number);
            let overtaken = !on_its_way && transmission.order < newest.order;
            boundary = number;
            if overtaken && now - transmission.left >= due {
                board.lose_below(number + 1);
                passed_over = false;
            } else if retransmitted {
                waits = waits.max(overtaken.then_some(transmission.left));
                passed_over = true;
            } else {
                let latest = || self.latest_original(board, number, newest);
                waits = waits.max(overtaken.then(latest).flatten());
                break;
            }
            boundary = number + 1;
        }
        if !passed_over {
            board.lose_below(boundary);
        }
        waits
    }

    /// Departure of the last original transmission from segment `from` on that has not arrived although it left before
    /// `newest`.
    fn latest_original(&self, board: &Scoreboard, from: u32, newest: Transmission) -> Option<SendTime> {
        let mut end = newest.after.min(board.next());
        while let Some(number) = board.last_not_sacked(from, end) {
            let transmission = self.transmission(number);
            if !transmission.is_retransmission(number) {
                return Some(transmission.left);
            }
            end = number;
        }
        None
    }

    /// As [`Self::latest_original`], for retransmissions.
    fn latest_retransmission(&self, board: &Scoreboard, newest: Transmission) -> Option<SendTime> {
        let earlier = self.retransmitted.partition_point(|&(order, _)| order < newest.order);
        let mut transmissions = self.retransmitted.range(..earlier).rev();
        transmissions.find_map(|&(order, number)| {
            let transmission = self.transmission(number);
            (transmission.order == order && board.is_resent(number)).then_some(transmission.left)
        })
    }

    /// Handles a retransmission timeout, as in Linux `tcp_timeout_mark_lost`, without the reordering window that
    /// RFC 8985 §6.3 adds. Lost are the first outstanding segment, and all that left at least the round-trip time of
    /// the last arrived one ago.
    pub(super) fn on_timeout(&mut self, now: SendTime, board: &mut Scoreboard) {
        let head = board.first();
        let mut retransmitted = core::mem::take(&mut self.retransmitted);
        retransmitted.retain(|&(order, number)| {
            let transmission = self.transmission(number);
            let on_its_way = board.is_resent(number) && transmission.order == order;
            let kept = on_its_way && number != head && now - transmission.left < self.rtt;
            if on_its_way && !kept {
                board.lose_again(number);
            }
            kept
        });
        self.retransmitted = retransmitted;
        board.lose_below(head + 1);
        while let Some(number) = board.next_not_sacked(board.loss_boundary(), board.next()) {
            let transmission = self.transmission(number);
            if !transmission.is_retransmission(number) && now - transmission.left < self.rtt {
                break;
            }
            board.lose_below(number + 1);
        }
    }
}

#[cfg(test)]
mod tests;
