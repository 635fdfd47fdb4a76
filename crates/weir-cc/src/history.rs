//! The send history: joins what was sent with what reports tell of it.
//!
//! It owns packet numbers, the unwrapping of the 16 bits that travel, raw round-trip times, what is in flight and
//! how many reports went missing. It reports facts; smoothing and loss policy belong to the law.

use weir_units::{DataSize, TimeDelta};

use crate::packet::{Fate, PacketResult, ProbeId, SentPacket};
use crate::report::{Echo, Feedback, Record, Report};
use crate::time::SendTime;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    InFlight,
    /// A report began above it before any covered it: that one is lost or late.
    Untold,
    Missing,
    Arrived,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: SendTime,
    /// Bytes, and [`PADDING`] if it carries no media: an entry has 16 bytes.
    size: u32,
    /// Bytes of the size that are not payload.
    overhead: u8,
    known: Known,
    probe: Option<ProbeId>,
}

/// The bit of [`Entry::size`] that marks padding.
const PADDING: u32 = 1 << 31;

const VACANT: Entry = Entry { at: SendTime::ZERO, size: 0, overhead: 0, known: Known::Arrived, probe: None };

impl Entry {
    fn size(&self) -> DataSize {
        DataSize::from_bytes(u64::from(self.size & !PADDING))
    }

    fn packet(&self, id: u64) -> SentPacket {
        let size = self.size();
        let payload = size.saturating_sub(DataSize::from_bytes(u64::from(self.overhead)));
        let padding = self.size & PADDING != 0;
        SentPacket { id, at: self.at, size, payload, padding, probe: self.probe }
    }
}

/// Reports tell 16 bits of a number: more packets than this cannot be told apart.
const MAX_PACKETS: usize = 1 << 16;
const FIRST_CAPACITY: usize = 256;
/// Of one report; grows where reports tell more.
const FIRST_RESULTS: usize = 64;

/// Packets sent within a horizon, by number.
///
/// Memory grows with the packets of one horizon, up to 65 536, and is not given back; in steady state nothing is
/// allocated.
#[derive(Debug)]
pub struct SendHistory {
    /// Ring indexed by packet number; its length is a power of two.
    entries: Vec<Entry>,
    oldest: u64,
    next: u64,
    /// Below this number nothing is in flight.
    settled: u64,
    horizon: TimeDelta,
    in_flight: DataSize,
    results: Vec<PacketResult>,
    last_report: Option<u8>,
}

impl SendHistory {
    /// A history that forgets packets `horizon` after they were sent: from then on they are neither in flight nor
    /// can a report change their fate.
    pub fn new(horizon: TimeDelta) -> Self {
        Self {
            entries: vec![VACANT; FIRST_CAPACITY],
            oldest: 0,
            next: 0,
            settled: 0,
            horizon,
            in_flight: DataSize::ZERO,
            results: Vec::with_capacity(FIRST_RESULTS),
            last_report: None,
        }
    }

    /// A packet of `header` (at most 255) and `payload` bytes leaves; the history gives it its number.
    pub fn on_sent(
        &mut self,
        at: SendTime,
        header: DataSize,
        payload: DataSize,
        padding: bool,
        probe: Option<ProbeId>,
    ) -> SentPacket {
        self.expire(at);
        if self.len() == self.entries.len() {
            self.make_room();
        }
        let id = self.next;
        self.next += 1;
        let overhead = u8::try_from(header.bytes()).unwrap_or(u8::MAX);
        let size = payload.bytes().saturating_add(u64::from(overhead)).min(u64::from(PADDING - 1)) as u32;
        let size = if padding { size | PADDING } else { size };
        let entry = Entry { at, size, overhead, known: Known::InFlight, probe };
        *self.entry(id) = entry;
        self.in_flight += entry.size();
        entry.packet(id)
    }

    /// The number that the next packet will get.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// Bytes of packets within the horizon that may be under way. A report settles the packets that it covers and all
    /// before them: what became of those that no report covered, because it was lost, is never told unless it comes
    /// late, but they have left the path. An [`Echo`] settles all packets up to the one it names. Reports without packet
    /// numbers settle nothing: then this is what was sent within the horizon.
    pub fn in_flight(&self) -> DataSize {
        self.in_flight
    }

    /// Joins `report`, which came at `now`, with what was sent.
    pub fn join<'a>(&'a mut self, now: SendTime, report: &Report<'_>) -> Feedback<'a> {
        self.expire(now);
        match *report {
            Report::Packets { records, number, at } => {
                self.results.clear();
                self.settle_before(records);
                let mut newest = None;
                for record in records {
                    self.apply(record, &mut newest);
                }
                let rtt = newest.map(|(sent, arrived): (SendTime, _)| {
                    let held = at.map_or(TimeDelta::ZERO, |made| made - arrived);
                    ((now - sent) - held).max(TimeDelta::ZERO)
                });
                let missed_reports = self.missed(number);
                Feedback::Packets { results: &self.results, at, rtt, missed_reports }
            }
            Report::Ceiling(rate) => Feedback::Ceiling(rate),
            Report::Reception(report) => {
                let rtt =
                    sender_report_rtt(now, report.last_sender_report, report.delay_since_last_sender_report);
                Feedback::Reception { report, rtt }
            }
            Report::Law { report, echo } => Feedback::Law { report, rtt: self.echoed(now, echo) },
        }
    }

    fn len(&self) -> usize {
        (self.next - self.oldest) as usize
    }

    fn entry(&mut self, id: u64) -> &mut Entry {
        let mask = self.entries.len() - 1;
        &mut self.entries[id as usize & mask]
    }

    /// The packet that the 16 bits on the wire mean: the youngest sent one whose number ends in them.
    fn find(&self, sequence: u16) -> Option<u64> {
        let newest = self.next.checked_sub(1)?;
        let age = u64::from((newest as u16).wrapping_sub(sequence));
        newest.checked_sub(age).filter(|&id| id >= self.oldest)
    }

    fn apply(&mut self, record: &Record, newest: &mut Option<(SendTime, crate::time::ArrivalTime)>) {
        let Some(id) = self.find(record.sequence) else { return };
        let entry = self.entry(id);
        let before = entry.known;
        let at = entry.at;
        let fate = match (record.arrival, before) {
            (Some(arrived), Known::InFlight | Known::Untold) => {
                Fate::Arrived { at: arrived, ecn: record.ecn }
            }
            (Some(arrived), Known::Missing) => Fate::Recovered { at: arrived, ecn: record.ecn },
            (None, Known::InFlight | Known::Untold) => Fate::Missing,
            (_, Known::Arrived) | (None, Known::Missing) => return,
        };
        entry.known = if record.arrival.is_some() { Known::Arrived } else { Known::Missing };
        let sent = entry.packet(id);
        if before == Known::InFlight {
            self.in_flight = self.in_flight.saturating_sub(sent.size);
        }
        if let Some(arrived) = record.arrival
            && newest.is_none_or(|(departure, _)| at >= departure)
        {
            *newest = Some((at, arrived));
        }
        self.results.push(PacketResult { sent, fate });
    }

    /// What was sent before the first packet of `records` is no longer in flight. A later report may still tell its
    /// fate.
    fn settle_before(&mut self, records: &[Record]) {
        let Some(first) = records.iter().find_map(|record| self.find(record.sequence)) else { return };
        for id in self.settled.max(self.oldest)..first {
            self.settle(id, Known::Untold);
        }
        self.settled = self.settled.max(first);
    }

    /// Settles everything up to the echoed packet and measures the round-trip time by it.
    fn echoed(&mut self, now: SendTime, echo: Echo) -> Option<TimeDelta> {
        let id = self.find(echo.sequence)?;
        for settled in self.oldest..=id {
            self.settle(settled, Known::Arrived);
        }
        let sent = self.entry(id).at;
        self.oldest = id;
        Some(((now - sent) - echo.held).max(TimeDelta::ZERO))
    }

    fn settle(&mut self, id: u64, known: Known) {
        let entry = self.entry(id);
        if entry.known == Known::InFlight {
            entry.known = known;
            let size = entry.size();
            self.in_flight = self.in_flight.saturating_sub(size);
        }
    }

    fn forget_oldest(&mut self) {
        self.settle(self.oldest, Known::Arrived);
        self.oldest += 1;
    }

    /// When the oldest packet leaves the horizon; `None` if nothing is in flight. A sender whose window is full and
    /// whose reports are all lost wakes then, and goes on.
    pub fn next_expiry(&self) -> Option<SendTime> {
        let oldest = self.entries[self.oldest as usize & (self.entries.len() - 1)];
        (!self.in_flight.is_zero()).then(|| oldest.at + self.horizon + TimeDelta::from_nanos(1))
    }

    /// Time passes: packets beyond the horizon are forgotten.
    pub fn expire(&mut self, now: SendTime) {
        while self.oldest < self.next && now - self.entry(self.oldest).at > self.horizon {
            self.forget_oldest();
        }
    }

    /// Doubles the ring, or forgets the oldest packet where numbers would become ambiguous.
    fn make_room(&mut self) {
        if self.entries.len() == MAX_PACKETS {
            self.forget_oldest();
            return;
        }
        let mask = self.entries.len() - 1;
        let mut grown = vec![VACANT; self.entries.len() * 2];
        let new_mask = grown.len() - 1;
        for id in self.oldest..self.next {
            grown[id as usize & new_mask] = self.entries[id as usize & mask];
        }
        self.entries = grown;
    }

    fn missed(&mut self, number: u8) -> u8 {
        let step = match self.last_report {
            Some(last) => number.wrapping_sub(last),
            None => 1,
        };
        // Half the number space ahead is newer; behind is a late or repeated report.
        if step == 0 || step > 127 {
            return 0;
        }
        self.last_report = Some(number);
        step - 1
    }
}

/// The middle 32 bits of the NTP time of `at`, in 1/65536 s, as a sender report carries them when its NTP time
/// counts from any multiple of 65 536 s before the sender clock's zero.
pub fn compact_ntp(at: SendTime) -> u32 {
    (i128::from(at.nanos()) * 65_536 / 1_000_000_000) as u32
}

/// Round-trip time by the last sender report (RFC 3550 §6.4.1): `A − LSR − DLSR`. `None` before the first one; a
/// negative result, possible by rounding, is zero.
fn sender_report_rtt(now: SendTime, last: u32, delay: u32) -> Option<TimeDelta> {
    if last == 0 {
        return None;
    }
    let ticks = compact_ntp(now).wrapping_sub(last).wrapping_sub(delay) as i32;
    Some(TimeDelta::from_nanos(i64::from(ticks.max(0)) * 1_000_000_000 / 65_536))
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;
    use crate::packet::Ecn;
    use crate::report::{LawReport, NadaReport, ReceptionReport};
    use crate::time::ArrivalTime;

    const SIZE: DataSize = DataSize::from_bytes(1000);

    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn record(sequence: u16, arrival_ms: Option<i64>) -> Record {
        Record { sequence, arrival: arrival_ms.map(ArrivalTime::from_millis), ecn: Ecn::NotEct }
    }

    fn history_of(packets: u64, interval_ms: i64) -> SendHistory {
        let mut history = SendHistory::new(TimeDelta::from_secs(2));
        for i in 0..packets {
            history.on_sent(at(i as i64 * interval_ms), DataSize::ZERO, SIZE, false, None);
        }
        history
    }

    fn fates(feedback: &Feedback<'_>) -> Vec<(u64, &'static str)> {
        let Feedback::Packets { results, .. } = feedback else { panic!("not per packet") };
        results
            .iter()
            .map(|r| {
                let fate = match r.fate {
                    Fate::Arrived { .. } => "arrived",
                    Fate::Missing => "missing",
                    Fate::Recovered { .. } => "recovered",
                };
                (r.sent.id, fate)
            })
            .collect()
    }

    fn packets(records: &[Record], number: u8, made_ms: i64) -> Report<'_> {
        Report::Packets { records, number, at: Some(ArrivalTime::from_millis(made_ms)) }
    }

    #[test]
    fn a_remembered_packet_is_small_and_whole() {
        assert_eq!(size_of::<Entry>(), 16);
        let mut history = SendHistory::new(TimeDelta::from_secs(2));
        let (header, payload) = (DataSize::from_bytes(24), DataSize::from_bytes(u64::MAX));
        let probe = ProbeId::new(7);
        let sent = history.on_sent(at(0), header, payload, true, probe);
        assert_eq!((sent.padding, sent.probe, sent.size.bytes()), (true, probe, (1 << 31) - 1));
        assert_eq!(sent.size.saturating_sub(sent.payload), header);
        let sent = history.on_sent(at(0), header, SIZE, false, None);
        assert_eq!((sent.padding, sent.probe, sent.payload), (false, None, SIZE));
    }

    #[test]
    fn each_fate_is_told_once_and_a_late_packet_recovers() {
        let mut history = history_of(4, 10);
        assert_eq!(history.in_flight(), DataSize::from_bytes(4000));
        let first = [record(0, Some(1000)), record(1, None), record(2, Some(1020))];
        assert_eq!(
            fates(&history.join(at(60), &packets(&first, 0, 1025))),
            [(0, "arrived"), (1, "missing"), (2, "arrived")]
        );
        assert_eq!(history.in_flight(), SIZE);
        let second = [record(1, Some(1030)), record(2, Some(1020)), record(3, Some(1031))];
        assert_eq!(
            fates(&history.join(at(70), &packets(&second, 1, 1031))),
            [(1, "recovered"), (3, "arrived")]
        );
        assert_eq!(history.in_flight(), DataSize::ZERO);
    }

    #[test]
    fn round_trip_time_leaves_out_the_receivers_holding_time() {
        let mut history = history_of(3, 10);
        // The newest packet left at 20 ms, arrived at 1030, reported at 1042, feedback at 80: 80 - 20 - 12 = 48 ms.
        let records = [record(1, Some(1025)), record(2, Some(1030))];
        let feedback = history.join(at(80), &packets(&records, 0, 1042));
        assert_eq!(feedback.rtt(), Some(TimeDelta::from_millis(48)));
        // Where the format does not tell when the report was made, the holding time is in it: 80 - 20 = 60 ms.
        let mut history = history_of(3, 10);
        let report = Report::Packets { records: &records, number: 0, at: None };
        assert_eq!(history.join(at(80), &report).rtt(), Some(TimeDelta::from_millis(60)));
    }

    #[test]
    fn numbers_wrap_and_unknown_ones_are_ignored() {
        let mut history = history_of(65_540, 1);
        let records = [record(65_535, Some(0)), record(3, Some(1)), record(4, Some(2))];
        // 65 535 and 65 539 are known; …4 would be 65 540, not sent yet, or 4, long forgotten.
        assert_eq!(
            fates(&history.join(at(65_540), &packets(&records, 0, 2))),
            [(65_535, "arrived"), (65_539, "arrived")]
        );
    }

    #[test]
    fn lost_reports_are_counted_and_repeated_ones_are_not() {
        let mut history = history_of(1, 1);
        let mut missed = |number| match history.join(at(1), &packets(&[], number, 0)) {
            Feedback::Packets { missed_reports, .. } => missed_reports,
            _ => unreachable!(),
        };
        assert_eq!(
            [missed(250), missed(251), missed(251), missed(254), missed(253), missed(1)],
            [0, 0, 0, 2, 0, 2]
        );
    }

    #[test]
    fn packets_never_acknowledged_leave_flight_at_the_horizon() {
        let mut history = history_of(10, 1);
        history.on_sent(at(2_004), DataSize::ZERO, SIZE, false, None);
        // Older than 2 s at 2004 ms: those sent at 0 to 3 ms. Six and the new one are left.
        assert_eq!(history.in_flight(), DataSize::from_bytes(7000));
        let late = [record(0, Some(1)), record(4, Some(5))];
        assert_eq!(fates(&history.join(at(2_004), &packets(&late, 0, 5))), [(4, "arrived")]);
    }

    #[test]
    fn what_a_lost_report_covered_leaves_flight_with_the_next_one() {
        let mut history = history_of(6, 10);
        history.join(at(60), &packets(&[record(0, Some(1000))], 0, 1005));
        assert_eq!(history.in_flight(), DataSize::from_bytes(5000));
        // Report 1, on packets 1 to 3, is lost.
        let third = [record(4, Some(1040))];
        assert_eq!(fates(&history.join(at(90), &packets(&third, 2, 1045))), [(4, "arrived")]);
        assert_eq!(history.in_flight(), SIZE);
    }

    #[test]
    fn a_report_that_comes_late_still_tells_and_settles_nothing_twice() {
        let mut history = history_of(6, 10);
        history.join(at(90), &packets(&[record(4, Some(1040))], 1, 1045));
        assert_eq!(history.in_flight(), SIZE);
        let late = [record(0, Some(1000)), record(1, None), record(2, Some(1020)), record(3, Some(1030))];
        assert_eq!(
            fates(&history.join(at(91), &packets(&late, 0, 1031))),
            [(0, "arrived"), (1, "missing"), (2, "arrived"), (3, "arrived")]
        );
        assert_eq!(history.in_flight(), SIZE);
        // A packet told anew below what is settled takes nothing of what was sent since.
        history.on_sent(at(92), DataSize::ZERO, SIZE, false, None);
        assert_eq!(
            fates(&history.join(at(95), &packets(&[record(1, Some(1050))], 2, 1051))),
            [(1, "recovered")]
        );
        assert_eq!(history.in_flight(), DataSize::from_bytes(2000));
    }

    #[test]
    fn an_echo_settles_what_came_before_it() {
        let mut history = history_of(5, 10);
        let report = LawReport::Nada(NadaReport {
            ramp_up: true,
            congestion: TimeDelta::ZERO,
            receive_rate: weir_units::DataRate::ZERO,
        });
        let echo = Echo { sequence: 2, held: TimeDelta::from_millis(5) };
        // 75 - 20 - 5 = 50 ms.
        let feedback = history.join(at(75), &Report::Law { report, echo });
        assert_eq!(feedback.rtt(), Some(TimeDelta::from_millis(50)));
        assert_eq!(history.in_flight(), DataSize::from_bytes(2000));
    }

    #[test]
    fn sender_report_round_trip_time_follows_the_example_of_rfc_3550() {
        // RFC 3550 §6.4.1: A = 0xb7108000, LSR = 0xb7052000, DLSR = 0x00054000 (5.25 s): 6.125 s.
        // A's sender time: 0xb7108000 / 65536 = 46 864.5 s.
        let report = ReceptionReport {
            last_sender_report: 0xb705_2000,
            delay_since_last_sender_report: 0x0005_4000,
            ..ReceptionReport::default()
        };
        let mut history = SendHistory::new(TimeDelta::from_secs(2));
        let feedback = history.join(SendTime::from_millis(46_864_500), &Report::Reception(report));
        assert_eq!(feedback.rtt(), Some(TimeDelta::from_millis(6125)));
        let none = Report::Reception(ReceptionReport::default());
        assert_eq!(history.join(SendTime::from_millis(46_864_500), &none).rtt(), None);
    }

    #[test]
    fn more_packets_than_numbers_forget_the_oldest() {
        let mut history = SendHistory::new(TimeDelta::from_secs(1000));
        for _ in 0..70_000 {
            history.on_sent(at(0), DataSize::ZERO, SIZE, false, None);
        }
        assert_eq!(history.in_flight(), DataSize::from_bytes(65_536_000));
        assert_eq!(history.entries.len(), MAX_PACKETS);
    }

    proptest! {
        #[test]
        fn bytes_in_flight_are_those_above_all_that_reports_told(
            steps in prop::collection::vec((0u8..4, 0u16..40, any::<bool>()), 1..300)
        ) {
            let mut history = SendHistory::new(TimeDelta::from_millis(500));
            let mut model: Vec<(u64, i64, bool)> = vec![];
            for (step, (kind, back, arrived)) in steps.into_iter().enumerate() {
                let now = step as i64 * 10;
                if kind < 2 {
                    let sent = history.on_sent(at(now), DataSize::ZERO, SIZE, false, None);
                    model.push((sent.id, now, true));
                } else if let Some(target) = history.next_id().checked_sub(1 + u64::from(back)) {
                    let records = [record(target as u16, arrived.then_some(now))];
                    history.join(at(now), &packets(&records, 0, now));
                    if model.iter().any(|p| p.0 == target && now - p.1 <= 500) {
                        model.iter_mut().filter(|p| p.0 <= target).for_each(|p| p.2 = false);
                    }
                } else {
                    history.join(at(now), &packets(&[], 0, now));
                }
                let open = model.iter().filter(|p| p.2 && now - p.1 <= 500).count() as u64;
                prop_assert_eq!(history.in_flight().bytes(), open * 1000);
            }
        }
    }
}
