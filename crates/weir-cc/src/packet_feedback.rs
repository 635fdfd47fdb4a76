//! The receiver half of every law that works at the sender: the fate of single packets, told at an interval.

use weir_units::TimeDelta;

use crate::controller::Receiver;
use crate::packet::{Arrival, Ecn};
use crate::report::{Record, Report};
use crate::time::ArrivalTime;

/// One report covers at most so many packet numbers; what lies before them is left out.
pub const MOST_RECORDS: u64 = 1024;

/// Tells which packets arrived and when, at a fixed interval while packets come.
///
/// A report covers the numbers from the first that no report has covered to the highest that has arrived. A packet
/// that comes late, below the numbers already covered, is told by the next report, which then begins with it; of the
/// packets in between, those told before appear as not seen again and change nothing (the
/// [history](crate::history::SendHistory) tells each fate once).
#[derive(Debug)]
pub struct PacketFeedback {
    interval: TimeDelta,
    /// What has arrived since the last report.
    arrived: Vec<Seen>,
    records: Vec<Record>,
    /// The first number that no report has covered.
    next_id: Option<u64>,
    /// When the last report was made.
    reported: Option<ArrivalTime>,
    due: Option<ArrivalTime>,
    number: u8,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    id: u64,
    at: ArrivalTime,
    ecn: Ecn,
}

impl PacketFeedback {
    /// Reports each `interval`, but at least 1 ms apart.
    pub fn new(interval: TimeDelta) -> Self {
        Self {
            interval: interval.max(TimeDelta::from_millis(1)),
            arrived: Vec::new(),
            records: Vec::new(),
            next_id: None,
            reported: None,
            due: None,
            number: 0,
        }
    }

    /// From the next packet on reports each `interval`, but at least 1 ms apart.
    pub fn set_interval(&mut self, interval: TimeDelta) {
        self.interval = interval.max(TimeDelta::from_millis(1));
    }

    /// What has arrived is reported at `now`, the interval notwithstanding.
    pub fn hurry(&mut self, now: ArrivalTime) {
        if !self.arrived.is_empty() {
            self.due = Some(now);
        }
    }

    /// Fills `records` with the numbers from the first one of interest to the highest that has arrived.
    fn collect(&mut self) {
        self.records.clear();
        // The first copy of a packet counts.
        self.arrived.sort_unstable_by_key(|seen| (seen.id, seen.at));
        let (Some(first), Some(last)) = (self.arrived.first(), self.arrived.last()) else { return };
        let end = last.id.saturating_add(1);
        let begin = self.next_id.unwrap_or(first.id).min(first.id).max(end.saturating_sub(MOST_RECORDS));
        let mut seen = self.arrived.iter().skip_while(|seen| seen.id < begin).peekable();
        for id in begin..end {
            let mut record = Record { sequence: id as u16, arrival: None, ecn: Ecn::NotEct };
            while let Some(copy) = seen.next_if(|seen| seen.id == id) {
                record.arrival = record.arrival.or(Some(copy.at));
                if record.ecn != Ecn::Ce {
                    record.ecn = copy.ecn;
                }
            }
            self.records.push(record);
        }
        self.next_id = Some(self.next_id.map_or(end, |next| next.max(end)));
        self.arrived.clear();
    }
}

impl Receiver for PacketFeedback {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.arrived.push(Seen { id: packet.id, at: packet.at, ecn: packet.ecn });
        // Never further off than an interval, even if the clock was set back.
        let latest = packet.at + self.interval;
        let regular = self.reported.map_or(latest, |reported| reported + self.interval);
        self.due = Some(self.due.unwrap_or(regular).min(latest).max(packet.at));
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        self.due.filter(|&due| due <= now)?;
        self.due = None;
        self.reported = Some(now);
        self.collect();
        let number = self.number;
        self.number = number.wrapping_add(1);
        Some(Report::Packets { records: &self.records, number, at: Some(now) })
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::packet::Stamp;
    use crate::time::SendTime;

    const INTERVAL: TimeDelta = TimeDelta::from_millis(50);

    fn arrive(receiver: &mut PacketFeedback, id: u64, ms: i64, ecn: Ecn) {
        receiver.on_arrival(&Arrival {
            id,
            departure: SendTime::ZERO,
            at: at(ms),
            size: DataSize::from_bytes(1200),
            ecn,
            media_time: 0,
            marker: false,
            stamp: Stamp::default(),
        });
    }

    fn at(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    /// Number and time of arrival in ms of each record.
    fn told(receiver: &mut PacketFeedback, ms: i64) -> Vec<(u16, Option<i64>)> {
        match receiver.poll_report(at(ms)) {
            Some(Report::Packets { records, .. }) => {
                records.iter().map(|r| (r.sequence, r.arrival.map(|at| at.nanos() / 1_000_000))).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_report_covers_what_came_and_what_is_missing_in_between() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 65_534, 10, Ecn::NotEct);
        arrive(&mut receiver, 65_537, 20, Ecn::NotEct);
        assert_eq!(receiver.next_timeout(), Some(at(60)));
        assert_eq!(told(&mut receiver, 59), []);
        assert_eq!(told(&mut receiver, 60), [(65_534, Some(10)), (65_535, None), (0, None), (1, Some(20))]);
        assert_eq!(receiver.next_timeout(), None, "nothing has come since");
        arrive(&mut receiver, 65_540, 70, Ecn::NotEct);
        assert_eq!(receiver.next_timeout(), Some(at(110)));
        assert_eq!(told(&mut receiver, 110), [(2, None), (3, None), (4, Some(70))]);
    }

    #[test]
    fn a_hurried_report_comes_at_once_and_the_next_one_an_interval_later() {
        let mut receiver = PacketFeedback::new(TimeDelta::from_millis(400));
        receiver.hurry(at(0));
        assert_eq!(receiver.next_timeout(), None, "nothing has arrived");
        receiver.set_interval(INTERVAL);
        arrive(&mut receiver, 1, 10, Ecn::NotEct);
        receiver.hurry(at(10));
        assert_eq!(told(&mut receiver, 10), [(1, Some(10))]);
        arrive(&mut receiver, 2, 20, Ecn::NotEct);
        assert_eq!(receiver.next_timeout(), Some(at(60)));
    }

    #[test]
    fn a_late_packet_is_told_by_the_next_report() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 1, 0, Ecn::NotEct);
        arrive(&mut receiver, 3, 10, Ecn::NotEct);
        told(&mut receiver, 50);
        arrive(&mut receiver, 2, 60, Ecn::NotEct);
        arrive(&mut receiver, 4, 70, Ecn::NotEct);
        assert_eq!(told(&mut receiver, 100), [(2, Some(60)), (3, None), (4, Some(70))]);
    }

    #[test]
    fn of_two_copies_the_first_counts_and_a_mark_on_either() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 7, 0, Ecn::Ect1);
        arrive(&mut receiver, 7, 5, Ecn::Ce);
        let Some(Report::Packets { records, .. }) = receiver.poll_report(at(50)) else { panic!("it is due") };
        assert_eq!(records, [Record { sequence: 7, arrival: Some(at(0)), ecn: Ecn::Ce }]);
    }

    #[test]
    fn a_leap_of_numbers_does_not_make_an_endless_report() {
        let mut receiver = PacketFeedback::new(INTERVAL);
        arrive(&mut receiver, 7, 0, Ecn::NotEct);
        arrive(&mut receiver, u64::MAX, 5, Ecn::NotEct);
        assert!(told(&mut receiver, 50).len() as u64 <= MOST_RECORDS);
    }
}
