//! Skipped numbers: no packet has them, so a report that claims the arrival of one does not describe real arrivals.
//!
//! Numbers convict, not reports. A lying receiver claims numbers that no other report denies. Beside an honest receiver
//! only a claim whose denial was lost stays undenied.

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use crate::report::Record;
use crate::time::SendTime;

/// Age up to which a claim counts, and length of a conviction beyond the last undenied claim.
const WINDOW: TimeDelta = TimeDelta::from_secs(90);

/// Time within which all claimed numbers are one claim: one report may deny all of them, and be lost.
const ONE_CLAIM: TimeDelta = TimeDelta::from_secs(1);

/// Age from which a claim counts: a denial has come by then.
const ANSWERED: TimeDelta = TimeDelta::from_secs(2);

/// Claims that convict. Beside a receiver that loses a tenth of its reports, seven of eight go undenied with a probability of 7·10⁻⁷.
const CLAIMS: usize = 8;

/// Claims of which one may be denied.
const DENIED: usize = 5;

/// Claims that are remembered.
const REMEMBERED: usize = 64;

/// First capacity of the list, more than a history holds unless more than one number in 500 is skipped.
const ROOM: usize = 256;

/// The numbers that no packet has, and the reports on them.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Skipped numbers in the history, in order.
    numbers: VecDeque<Skipped>,
    /// Number of skipped numbers that the history has forgotten.
    forgotten: u64,
    /// Claims in order of time.
    claims: VecDeque<ClaimedNumbers>,
    convicted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Skipped {
    number: u64,
    /// When a report first claimed its arrival.
    claimed: Option<SendTime>,
    /// Whether a report listed it as missing.
    denied: bool,
}

/// Numbers whose arrival reports claimed at about the same time.
#[derive(Clone, Copy, Debug)]
struct ClaimedNumbers {
    at: SendTime,
    /// Whether a report, before or later, denied one of them.
    denied: bool,
}

impl LeftOut {
    pub(super) fn push(&mut self, number: u64) {
        if self.numbers.capacity() == 0 {
            self.numbers.reserve(ROOM);
            self.claims.reserve(REMEMBERED);
        }
        self.numbers.push_back(Skipped { number, claimed: None, denied: false });
    }

    /// The history forgets all before `oldest`.
    pub(super) fn forget(&mut self, oldest: u64) {
        while self.numbers.front().is_some_and(|left| left.number < oldest) {
            self.numbers.pop_front();
            self.forgotten += 1;
        }
    }

    /// Count of numbers skipped before `number`.
    #[inline]
    pub(super) fn before(&self, number: u64) -> u64 {
        if self.numbers.is_empty() {
            return self.forgotten;
        }
        self.forgotten + self.numbers.partition_point(|left| left.number < number) as u64
    }

    /// Whether `records`, in order of number, claim the arrival of a skipped number.
    pub(super) fn are_claimed(&mut self, now: SendTime, records: &[Record]) -> bool {
        let Some(base) = records.first().map(|record| record.sequence) else { return false };
        let mut claimed = false;
        for at in 0..self.numbers.len() {
            let number = &mut self.numbers[at];
            let place = (number.number as u16).wrapping_sub(base);
            let place = records.binary_search_by_key(&place, |record| record.sequence.wrapping_sub(base));
            let Ok(place) = place else { continue };
            if records[place].reception.is_arrival() {
                claimed = true;
                // A repeated claim of the same number does not count.
                if number.claimed.is_none() {
                    number.claimed = Some(now);
                    let denied = number.denied;
                    self.claim(now, denied);
                }
            } else if !core::mem::replace(&mut number.denied, true)
                && let Some(at) = number.claimed
            {
                self.deny(at);
            }
        }
        self.judge(now);
        claimed
    }

    fn claim(&mut self, now: SendTime, denied: bool) {
        if let Some(last) = self.claims.back_mut().filter(|last| now - last.at < ONE_CLAIM) {
            last.denied |= denied;
            return;
        }
        if self.claims.len() == REMEMBERED {
            self.claims.pop_front();
        }
        self.claims.push_back(ClaimedNumbers { at: now, denied });
    }

    /// Denies the claim of a number at `at`.
    fn deny(&mut self, at: SendTime) {
        if let Some(claim) = self.claims.iter_mut().rfind(|claim| claim.at <= at) {
            claim.denied = true;
        }
    }

    fn judge(&mut self, now: SendTime) {
        let Some(newest) = self.claims.back() else { return };
        let (newest, convicted) = (newest.at, self.convicted);
        // At its least rate a receiver gets few numbers: the claims that convicted it are kept meanwhile.
        let counts = |claim: &&ClaimedNumbers| {
            let age = now - claim.at;
            age >= ANSWERED && (convicted || age <= WINDOW)
        };
        let add = |(count, denied), claim: &ClaimedNumbers| (count + 1, denied + usize::from(claim.denied));
        let (count, denied) = self.claims.iter().filter(counts).fold((0, 0), add);
        let undenied = self.claims.iter().rev().find(|claim| !claim.denied).map_or(newest, |claim| claim.at);
        // A conviction needs enough claims, and lasts for `WINDOW` after the last undenied one.
        let lasts = if convicted { now - undenied <= WINDOW } else { count >= CLAIMS };
        self.convicted = lasts && denied * DENIED <= count;
        while !self.convicted && self.claims.front().is_some_and(|claim| now - claim.at > WINDOW) {
            self.claims.pop_front();
        }
    }

    /// Forgets all claims.
    pub(super) fn acquit(&mut self) {
        self.claims.clear();
        self.convicted = false;
    }

    /// Whether numbers were claimed lately.
    pub(super) fn are_doubted(&self) -> bool {
        !self.claims.is_empty()
    }

    /// Whether reports have claimed so many that the receiver itself must be their source.
    pub(super) fn convict(&self) -> bool {
        self.convicted
    }
}
