//! Skipped numbers: no packet has them, so that a report that claims the arrival of one does not describe real
//! arrivals.
//!
//! The evidence is counted by numbers, not by reports. A dishonest receiver claims numbers that no other report
//! denies. Beside an honest receiver, a forged claim stays undenied only if its denial was lost.

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use crate::report::Record;
use crate::time::SendTime;

/// Age up to which a claim counts, and the time for which the verdict lasts after the last undenied claim.
const WINDOW: TimeDelta = TimeDelta::from_secs(90);

/// Time within which all claimed numbers are one claim, because the loss of one report may remove all their denials.
const ONE_CLAIM: TimeDelta = TimeDelta::from_secs(1);

/// Age from which on a claim counts, because its denial would have arrived.
const DENIAL_TIME: TimeDelta = TimeDelta::from_secs(2);

/// Number of claims that prove optimistic acknowledgement. Beside a receiver that loses a tenth of its reports, seven
/// of eight stay undenied with a probability of 7·10⁻⁷.
const MIN_CLAIMS: usize = 8;

/// Number of claims of which one may be denied.
const CLAIMS_PER_DENIAL: usize = 5;

/// Number of claims that are remembered.
const MAX_CLAIMS: usize = 64;

/// Initial capacity of the list. It suffices unless more than one number in 500 is skipped.
const INITIAL_NUMBERS: usize = 256;

/// The skipped numbers, and the reports on them.
#[derive(Debug, Default)]
pub(super) struct SkippedNumbers {
    /// Skipped numbers in the history, in order.
    numbers: VecDeque<Skipped>,
    /// Number of skipped numbers that the history has removed.
    forgotten: u64,
    /// Claims in order of time.
    claims: VecDeque<ClaimedNumbers>,
    receiver_is_dishonest: bool,
}

#[derive(Clone, Copy, Debug)]
struct Skipped {
    place: u64,
    /// Time at which a report first claimed its arrival.
    claimed: Option<SendTime>,
    /// Whether a report listed it as missing.
    denied: bool,
}

/// Numbers whose arrivals reports claimed at about the same time.
#[derive(Clone, Copy, Debug)]
struct ClaimedNumbers {
    at: SendTime,
    /// Whether a report denied one of them, before or after the claim.
    denied: bool,
}

impl SkippedNumbers {
    pub(super) fn push(&mut self, place: u64) {
        if self.numbers.capacity() == 0 {
            self.numbers.reserve(INITIAL_NUMBERS);
            self.claims.reserve(MAX_CLAIMS);
        }
        self.numbers.push_back(Skipped { place, claimed: None, denied: false });
    }

    /// Removes all numbers before the place `oldest`.
    pub(super) fn forget(&mut self, oldest: u64) {
        while self.numbers.front().is_some_and(|left| left.place < oldest) {
            self.numbers.pop_front();
            self.forgotten += 1;
        }
    }

    /// Number of numbers skipped before `place`.
    #[inline]
    pub(super) fn before(&self, place: u64) -> u64 {
        if self.numbers.is_empty() {
            return self.forgotten;
        }
        self.forgotten + self.numbers.partition_point(|left| left.place < place) as u64
    }

    /// Whether `records`, in order of number, claim the arrival of a skipped number. `sequence` has the 16 bits on the
    /// wire for the place of one, or `None` if they mean another number by now.
    pub(super) fn are_claimed(
        &mut self,
        now: SendTime,
        records: &[Record],
        sequence: impl Fn(u64) -> Option<u16>,
    ) -> bool {
        let Some(base) = records.first().map(|record| record.sequence) else { return false };
        let mut claimed = false;
        for at in 0..self.numbers.len() {
            let number = &mut self.numbers[at];
            let Some(sequence) = sequence(number.place) else { continue };
            let distance = |sequence: u16| sequence.wrapping_sub(base);
            let found = records.binary_search_by_key(&distance(sequence), |record| distance(record.sequence));
            let Ok(found) = found else { continue };
            if records[found].reception.is_arrival() {
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
        if self.claims.len() == MAX_CLAIMS {
            self.claims.pop_front();
        }
        self.claims.push_back(ClaimedNumbers { at: now, denied });
    }

    /// Records a denial of the claim at `at`.
    fn deny(&mut self, at: SendTime) {
        if let Some(claim) = self.claims.iter_mut().rfind(|claim| claim.at <= at) {
            claim.denied = true;
        }
    }

    fn judge(&mut self, now: SendTime) {
        let Some(newest) = self.claims.back() else { return };
        let (newest, receiver_is_dishonest) = (newest.at, self.receiver_is_dishonest);
        // At its least rate a receiver gets few numbers: the claims that convicted it are kept meanwhile.
        let counts = |claim: &&ClaimedNumbers| {
            let age = now - claim.at;
            age >= DENIAL_TIME && (receiver_is_dishonest || age <= WINDOW)
        };
        let add = |(count, denied), claim: &ClaimedNumbers| (count + 1, denied + usize::from(claim.denied));
        let (count, denied) = self.claims.iter().filter(counts).fold((0, 0), add);
        let undenied = self.claims.iter().rev().find(|claim| !claim.denied).map_or(newest, |claim| claim.at);
        // A conviction needs enough claims, and lasts for `WINDOW` after the last undenied one.
        let lasts = if receiver_is_dishonest { now - undenied <= WINDOW } else { count >= MIN_CLAIMS };
        self.receiver_is_dishonest = lasts && denied * CLAIMS_PER_DENIAL <= count;
        while !self.receiver_is_dishonest && self.claims.front().is_some_and(|claim| now - claim.at > WINDOW)
        {
            self.claims.pop_front();
        }
    }

    /// Removes all claims.
    pub(super) fn clear_claims(&mut self) {
        self.claims.clear();
        self.receiver_is_dishonest = false;
    }

    /// Whether numbers were claimed recently.
    pub(super) fn are_doubted(&self) -> bool {
        !self.claims.is_empty()
    }

    /// Whether so many numbers were claimed that the receiver itself must be the source of the claims.
    pub(super) fn is_proven(&self) -> bool {
        self.receiver_is_dishonest
    }
}
