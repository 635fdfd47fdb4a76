//! Numbers that were left out: no packet has them, so a report that has one arrived does not tell what was seen.

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use crate::report::Record;
use crate::time::SendTime;

/// For so long reports must claim, and none deny, before it is the receiver that lies.
const CONVICTION: TimeDelta = TimeDelta::from_secs(5);

/// Made for so many, which are more than a history holds unless they are left out more often than one in 500.
const ROOM: usize = 256;

/// So many numbers must be claimed: the report that denies one can be lost.
const NUMBERS: u32 = 3;

/// The numbers that no packet has, and what reports say of them.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Those in the history, in order.
    numbers: VecDeque<Number>,
    /// How many of them the history has forgotten.
    forgotten: u64,
    claims: Option<Claims>,
}

#[derive(Clone, Copy, Debug)]
struct Number {
    number: u64,
    /// Whether a report had it arrived, or said that it did not: the first word on it.
    told: bool,
}

/// That numbers arrived which never left, since nothing has denied it.
#[derive(Clone, Copy, Debug)]
struct Claims {
    since: SendTime,
    at: SendTime,
    /// How many.
    numbers: u32,
}

impl LeftOut {
    pub(super) fn push(&mut self, number: u64) {
        if self.numbers.capacity() == 0 {
            self.numbers.reserve(ROOM);
        }
        self.numbers.push_back(Number { number, told: false });
    }

    /// The history forgets all before `oldest`.
    pub(super) fn forget(&mut self, oldest: u64) {
        while self.numbers.front().is_some_and(|left| left.number < oldest) {
            self.numbers.pop_front();
            self.forgotten += 1;
        }
    }

    /// How many were left out before `number`.
    #[inline]
    pub(super) fn before(&self, number: u64) -> u64 {
        if self.numbers.is_empty() {
            return self.forgotten;
        }
        self.forgotten + self.numbers.partition_point(|left| left.number < number) as u64
    }

    /// Whether `records`, in order of number, have a number arrived that was left out.
    pub(super) fn are_claimed(&mut self, now: SendTime, records: &[Record]) -> bool {
        let Some(base) = records.first().map(|record| record.sequence) else { return false };
        let mut claimed = false;
        for left in &mut self.numbers {
            let place = records.binary_search_by_key(&(left.number as u16).wrapping_sub(base), |record| {
                record.sequence.wrapping_sub(base)
            });
            let Ok(place) = place else { continue };
            let first = !core::mem::replace(&mut left.told, true);
            if !records[place].reception.is_arrival() {
                self.claims = None;
                continue;
            }
            claimed = true;
            // Of a number that was denied, or claimed before, a claim is no news.
            if first {
                let claims = self.claims.get_or_insert(Claims { since: now, at: now, numbers: 0 });
                claims.at = now;
                claims.numbers += 1;
            }
        }
        claimed
    }

    /// What was claimed before counts no more.
    pub(super) fn acquit(&mut self) {
        self.claims = None;
    }

    /// Whether reports have claimed different ones for [`CONVICTION`], and none has denied one.
    pub(super) fn convict(&self) -> bool {
        self.claims.is_some_and(|claims| claims.numbers >= NUMBERS && claims.at - claims.since >= CONVICTION)
    }
}
