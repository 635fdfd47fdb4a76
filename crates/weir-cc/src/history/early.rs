//! Reports on packets that cannot have been there and back.

use weir_units::TimeDelta;

use super::SendHistory;
use super::entry::Known;
use super::times::round_trip;
use crate::report::{Reception, Record};
use crate::time::{ArrivalTime, SendTime};

impl SendHistory {
    /// Whether `records` tell of a packet that cannot have been there and back: the newest of those that have left counts, whatever
    /// they say of it.
    pub(super) fn is_early(&mut self, now: SendTime, records: &[Record], made: Option<ArrivalTime>) -> bool {
        // Of numbers as they travel, what has not left is older than all.
        let age = |record: &&Record| (self.next as u16).wrapping_sub(1).wrapping_sub(record.sequence);
        let Some(&Record { sequence, reception, .. }) = records.iter().rev().min_by_key(age) else {
            return false;
        };
        let Some(id) = self.find(sequence) else { return false };
        let sent = self.entry(id).at;
        let rtt = reception.time().map_or(now - sent, |arrived| round_trip(now, sent, arrived, made));
        let least = match (reception, made) {
            (Reception::Missing, _) | (Reception::At(_), Some(_)) => rtt,
            (_, None) if self.tells_what_is_doubted(records) => TimeDelta::MAX,
            // How long the receiver has held it is not told.
            _ => self.since_sent_after(now, id),
        };
        !self.plausible.admits_round_trip(now, Some(id), rtt, least)
    }

    /// Whether `records` tell what was told too early. A receiver that does not say when it made a report tells of an arrival once, so
    /// the other word was not its own.
    fn tells_what_is_doubted(&self, records: &[Record]) -> bool {
        let is = |record: &Record, id: u64| record.sequence == id as u16 && record.reception.is_arrival();
        self.plausible.doubted().is_some_and(|id| records.iter().any(|record| is(record, id)))
    }

    /// How long ago the packet after `id` left; zero if none has. A report that says nothing of it and not when it was made has
    /// been under way no shorter, unless that packet was lost: `id` may have been held, but had that one arrived the report would
    /// have it.
    fn since_sent_after(&mut self, now: SendTime, id: u64) -> TimeDelta {
        let mut after = id + 1..self.next;
        let next = after.find(|&id| self.entry(id).known != Known::LeftOut);
        next.map_or(TimeDelta::ZERO, |id| now - self.entry(id).at)
    }
}
