//! Numbers that travel with packets: consecutive ones of the history itself, or those that a stack gives, with gaps.
//!
//! The history has entries without gaps. The place of an entry is the count of packets and skipped numbers before it.
//! A given number minus its place is the count of numbers in all gaps before it, so that a list of gaps converts
//! between both.

use alloc::collections::VecDeque;

use weir_units::DataSize;

use super::{MAX_PACKETS, SendHistory};
use crate::packet::{ProbeId, SentPacket};
use crate::packet_feedback::MOST_RECORDS;
use crate::parts::queue_memory::reserve_entry;
use crate::time::SendTime;

/// Distance from which on a number of 16 bits may be older or newer than another one (RFC 1982 §3.2).
const HALF: u16 = 1 << 15;

/// Error of a given number that is not 1 to 32 767 above the newest one: it is repeated or older, or the gap before it
/// is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberError {
    /// The given number.
    pub number: u16,
    /// The lower 16 bits of the newest number.
    pub newest: u16,
}

impl NumberError {
    /// Checks that `number` may follow `newest`.
    ///
    /// # Errors
    /// [`NumberError`] if it is not 1 to 32 767 above that.
    pub const fn check(newest: u16, number: u16) -> Result<(), Self> {
        let ahead = number.wrapping_sub(newest);
        if ahead == 0 || ahead >= HALF { Err(Self { number, newest }) } else { Ok(()) }
    }
}

impl core::fmt::Display for NumberError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (number, newest) = (self.number, self.newest);
        write!(f, "packet number {number} must be 1 to 32767 above the newest number, {newest}, modulo 65536")
    }
}

impl core::error::Error for NumberError {}

/// Consecutive numbers of consecutive places.
#[derive(Clone, Copy, Debug)]
struct NumberRun {
    /// The first place.
    from: u64,
    /// Number less place.
    ahead: u64,
}

/// The numbers of all places in the history. Own numbers are the places themselves.
#[derive(Debug, Default)]
pub(super) struct NumberMap {
    /// Runs in order, of which each but the first begins after a gap; empty while all numbers are the history's own.
    runs: VecDeque<NumberRun>,
    /// The newest number less its place.
    ahead: u64,
}

impl NumberMap {
    /// Whether numbers are given.
    #[inline]
    pub(super) fn is_given(&self) -> bool {
        !self.runs.is_empty()
    }

    /// The run of the last place for which `is_before` holds, of the runs' first places.
    fn run(&self, is_before: impl Fn(&NumberRun) -> bool) -> Option<(usize, NumberRun)> {
        let last = self.runs.len().checked_sub(1)?;
        let place = if is_before(&self.runs[last]) {
            last
        } else {
            self.runs.partition_point(is_before).checked_sub(1)?
        };
        Some((place, self.runs[place]))
    }

    /// The number at `place`, which the history holds or will give next.
    #[inline]
    fn number(&self, place: u64) -> u64 {
        place + self.run(|run| run.from <= place).map_or(0, |(_, run)| run.ahead)
    }

    /// The place of `number`, which is not above the newest, or `None` for a number in a gap and for one before the
    /// first run.
    #[inline]
    fn place(&self, number: u64) -> Option<u64> {
        if self.is_given() { self.given_place(number) } else { Some(number) }
    }

    /// [`Self::place`] with given numbers.
    fn given_place(&self, number: u64) -> Option<u64> {
        let (at, run) = self.run(|run| run.from + run.ahead <= number)?;
        let place = number - run.ahead;
        self.runs.get(at + 1).is_none_or(|after| place < after.from).then_some(place)
    }

    /// The lower 16 bits of the number at `place`, or `None` if later numbers before the place `next` have them too.
    #[inline]
    pub(super) fn sequence(&self, place: u64, next: u64) -> Option<u16> {
        let number = self.number(place);
        let age = next + self.ahead - number;
        (!self.is_given() || age <= u64::from(HALF)).then_some(number as u16)
    }

    /// Leaves a gap of `gap` numbers before the place `next`; the history holds the places from `oldest` on.
    fn leave_gap(&mut self, oldest: u64, next: u64, gap: u64) {
        if !self.is_given() && oldest < next {
            self.runs.push_back(NumberRun { from: oldest, ahead: 0 });
        }
        if let Some(last) = self.runs.back_mut().filter(|last| last.from == next) {
            self.ahead += gap;
            last.ahead = self.ahead;
        } else if gap > 0 || !self.is_given() {
            self.ahead += gap;
            reserve_entry(&mut self.runs, MAX_PACKETS);
            self.runs.push_back(NumberRun { from: next, ahead: self.ahead });
        }
    }

    /// Removes the runs before the place `oldest`.
    #[inline]
    pub(super) fn forget(&mut self, oldest: u64) {
        if self.is_given() {
            self.forget_runs(oldest);
        }
    }

    /// [`Self::forget`] with given numbers.
    fn forget_runs(&mut self, oldest: u64) {
        while self.runs.get(1).is_some_and(|second| second.from <= oldest) {
            self.runs.pop_front();
        }
    }

    /// Number of runs.
    #[cfg(test)]
    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }
}

impl SendHistory {
    /// Records the departure of a packet that another part of the stack has numbered: [`Self::on_sent`] with the
    /// transport-wide `number` that travels with the packet.
    ///
    /// The first number may be any. Each later one is 1 to 32 767 above the newest, modulo 65 536. Numbers in a gap
    /// belong to no packet here: they are neither in flight nor lost, and reports on them have no effect, because
    /// such packets may have left elsewhere. For the same reason numbers above the newest have no effect.
    /// [`SentPacket::id`] counts packets, not numbers, so that a controller gets what it gets with own numbers.
    ///
    /// Reports are joined with the newest 32 768 numbers. All packets must be recorded in order of their numbers, also
    /// after [`Self::change_route`]; a stack that begins numbers anew needs a new history.
    ///
    /// [`Self::on_sent`] after this takes the number after the newest, and [`Self::leave_out`] skips that number, which
    /// the stack then must not use.
    ///
    /// ```
    /// use weir_cc::history::SendHistory;
    /// use weir_cc::{ArrivalTime, DataSize, Feedback, Record, Report, SendTime, TimeDelta};
    ///
    /// let mut history = SendHistory::new(TimeDelta::from_secs(5));
    /// let (header, payload) = (DataSize::from_bytes(24), DataSize::from_bytes(1200));
    /// // The stack begins at 65 534, and 65 535 leaves elsewhere.
    /// for (ms, number) in [(0, 65_534), (10, 0), (20, 1)] {
    ///     history.on_sent_as(number, SendTime::from_millis(ms), header, payload, false, None)?;
    /// }
    /// let at = |ms| Some(ArrivalTime::from_millis(ms));
    /// let records = [Record::new(65_534, at(30)), Record::new(65_535, None), Record::new(0, at(40))];
    /// let Some(Feedback::Packets { results, .. }) = history.join(SendTime::from_millis(70), &Report::packets(&records, 0))
    /// else {
    ///     unreachable!("the report is possible");
    /// };
    /// assert_eq!(results.iter().map(|result| result.sent.id).collect::<Vec<_>>(), [0, 1]);
    /// # Ok::<(), weir_cc::history::NumberError>(())
    /// ```
    ///
    /// # Errors
    /// [`NumberError`] for a number that is repeated, older or more than 32 767 above the newest. The packet is not
    /// recorded then.
    pub fn on_sent_as(
        &mut self,
        number: u16,
        at: SendTime,
        header: DataSize,
        payload: DataSize,
        padding: bool,
        probe: Option<ProbeId>,
    ) -> Result<SentPacket, NumberError> {
        self.skip_to(number)?;
        Ok(self.on_sent(at, header, payload, padding, probe))
    }

    /// The next packet will have the number `number` or a later one; those before it belong to others. A part of a
    /// transport that is silent for more than 32 767 numbers needs it.
    ///
    /// # Errors
    /// As for [`Self::on_sent_as`].
    pub fn skip_to(&mut self, number: u16) -> Result<(), NumberError> {
        let next = self.next_number();
        if next > 0 {
            NumberError::check((next as u16).wrapping_sub(1), number)?;
        }
        let gap = number.wrapping_sub(next as u16);
        if self.route_from == next {
            self.route_from += u64::from(gap);
        }
        self.numbers.leave_gap(self.oldest, self.next, u64::from(gap));
        Ok(())
    }

    /// The number that the next packet will get, whose lower 16 bits travel with it: its [`SentPacket::id`] plus the
    /// count of numbers [skipped](Self::leave_out) or in [gaps](Self::on_sent_as) before it.
    pub fn next_number(&self) -> u64 {
        self.next + self.numbers.ahead
    }

    /// Whether a report may cover `count` numbers from `base` on. There may be at most as many as the history holds,
    /// from the oldest number to the newest, plus a report of [`MOST_RECORDS`]. All of them must have left, unless
    /// numbers are [given](Self::on_sent_as).
    pub fn may_cover(&self, base: u16, count: u16) -> bool {
        let next = self.next_number();
        let Some(newest) = next.checked_sub(1) else { return count == 0 };
        let age = u64::from((newest as u16).wrapping_sub(base));
        let most = (next - self.numbers.number(self.oldest)).saturating_add(MOST_RECORDS);
        let have_left = self.numbers.is_given() || (age <= newest && u64::from(count) <= age + 1);
        have_left && u64::from(count) <= most
    }

    /// The number that the 16 bits on the wire mean: the newest sent one that ends in them. Returns `None` for a number
    /// that has not left and, if numbers are given, for one in the half of all that may be newer.
    #[inline]
    pub(super) fn meant(&self, sequence: u16) -> Option<u64> {
        let newest = self.next_number().checked_sub(1)?;
        let age = (newest as u16).wrapping_sub(sequence);
        if self.numbers.is_given() && age >= HALF {
            return None;
        }
        newest.checked_sub(u64::from(age))
    }

    /// Place of the packet of these 16 bits, if the history still has it.
    #[inline]
    pub(super) fn find(&self, sequence: u16) -> Option<u64> {
        let place = self.numbers.place(self.meant(sequence)?)?;
        (place >= self.oldest).then_some(place)
    }

    /// Whether no packet of these 16 bits was given to this history, as far as it can know.
    pub(super) fn is_elsewhere(&self, sequence: u16) -> bool {
        let held = self.numbers.number(self.oldest);
        self.numbers.is_given()
            && self.find(sequence).is_none()
            && self.meant(sequence).is_none_or(|number| number >= held)
    }
}
