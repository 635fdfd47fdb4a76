//! Detection of reports that arrive before their packets can have gone to the receiver and back.

use weir_units::TimeDelta;

use super::SendHistory;
use super::entry::KnownFate;
use super::times::round_trip;
use crate::report::{Reception, Record};
use crate::time::{ArrivalTime, SendTime};

impl SendHistory {
    /// Whether `records` cover a packet that cannot have gone to the receiver and back. The newest record of a packet
    /// that has left counts, whether received or missing.
    pub(super) fn is_early(&mut self, now: SendTime, records: &[Record], made: Option<ArrivalTime>) -> bool {
        let Some((&Record { sequence, reception, .. }, id)) = self.newest_known(records) else {
            return false;
        };
        let sent = self.entry(id).at;
        let rtt = reception.time().map_or(now - sent, |arrived| round_trip(now, sent, arrived, made));
        let least = match (reception, made) {
            (Reception::Missing, _) | (Reception::At(_), Some(_)) => rtt,
            (_, None) if self.tells_what_is_doubted(records) => TimeDelta::MAX,
            // The report does not carry the time for which the receiver has held it.
            _ => self.since_sent_after(now, id),
        };
        let newest = self.meant(sequence);
        !self.plausible.admits_round_trip(now, newest, rtt, least)
    }

    /// The newest of `records` on packets that the history holds, and the place of its packet.
    fn newest_known<'a>(&self, records: &'a [Record]) -> Option<(&'a Record, u64)> {
        // Of the numbers on the wire, a packet that has not left is older than all.
        let next = self.next_number() as u16;
        let age = |record: &&Record| next.wrapping_sub(1).wrapping_sub(record.sequence);
        let known = |record: &'a Record| Some((record, self.find(record.sequence)?));
        let newest = records.iter().rev().min_by_key(age).and_then(known);
        if newest.is_some() || !self.numbers.is_given() {
            return newest;
        }
        // The newest record is on a packet that left elsewhere.
        let held = records.iter().rev().filter(|record| self.find(record.sequence).is_some());
        held.min_by_key(age).and_then(known)
    }

    /// Whether `records` repeat a report that came too early. A receiver that sends no report times reports an
    /// arrival once, so that the earlier report was not its own.
    fn tells_what_is_doubted(&self, records: &[Record]) -> bool {
        let is = |record: &Record, doubted: u64| {
            record.reception.is_arrival() && self.meant(record.sequence) == Some(doubted)
        };
        self.plausible.doubted().is_some_and(|doubted| records.iter().any(|record| is(record, doubted)))
    }

    /// Time since the packet after `id` left; zero if none has left. A report without that packet and without a time
    /// of its own was not in transit for less, unless that packet was lost. The report may have been delayed, but if
    /// the next packet had arrived it would contain it.
    fn since_sent_after(&mut self, now: SendTime, id: u64) -> TimeDelta {
        let mut after = id + 1..self.next;
        let next = after.find(|&id| self.entry(id).known != KnownFate::Skipped);
        next.map_or(TimeDelta::ZERO, |id| now - self.entry(id).at)
    }
}
