//! The send history: joins what was sent with what reports tell of it.
//!
//! It owns packet numbers, the unwrapping of the 16 bits that travel, raw round-trip times, what is in flight and
//! how many reports went missing. It reports facts; smoothing and loss policy belong to the law.

use alloc::vec;
use alloc::vec::Vec;

use weir_units::{DataSize, TimeDelta};

use crate::packet::{Fate, PacketResult, ProbeId, SentPacket};
use crate::report::{Echo, Feedback, ReceptionReport, Record, Report};
use crate::time::SendTime;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    InFlight,
    /// It has left the path, and no report has told how: the one that covered it is lost or late, or a law's own report
    /// named a later packet.
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
/// By so much, a millisecond in 1/65536 s, the clocks of both ends may round differently.
const TICKS_OF_ROUNDING: i64 = 66;

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
    /// The last packet that a law's own report named.
    echoed: u64,
    horizon: TimeDelta,
    in_flight: DataSize,
    results: Vec<PacketResult>,
    last_report: Option<u8>,
    /// Receiver reports whose round-trip time cannot be.
    refused_reports: u64,
    /// The first packet of the present route, and since when it is the present one.
    route_from: u64,
    route_since: Option<SendTime>,
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
            echoed: 0,
            horizon,
            in_flight: DataSize::ZERO,
            results: Vec::with_capacity(FIRST_RESULTS),
            last_report: None,
            refused_reports: 0,
            route_from: 0,
            route_since: None,
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

    /// A packet of media of `header` (at most 255) and `payload` bytes leaves, of no probe: [`Self::on_sent`] in short.
    pub fn on_media_sent(&mut self, at: SendTime, header: DataSize, payload: DataSize) -> SentPacket {
        self.on_sent(at, header, payload, false, None)
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

    /// The path is another one from `now` on: what was sent before is not in flight any more, and no report tells of it.
    /// Neither its fate nor a round-trip time by it is known from now on. Call it before the law hears of
    /// [`PathEvent::RouteChanged`](crate::PathEvent::RouteChanged): laws take what they hear afterwards for news of the
    /// new route.
    pub fn change_route(&mut self, now: SendTime) {
        while self.oldest < self.next {
            self.forget_oldest();
        }
        self.route_from = self.next;
        self.route_since = Some(now);
    }

    /// Whether `report` may tell of the present route. A law's own report made before a packet of it had arrived does not
    /// ([`Self::change_route`]), and the law should not see it; of per-packet reports [`Self::join`] leaves out what is
    /// old, and the other kinds do not tell.
    pub fn is_of_route(&self, report: &Report<'_>) -> bool {
        match report {
            Report::Law { echo, .. } => self.meant(echo.sequence).is_none_or(|id| id >= self.route_from),
            Report::Packets { .. } | Report::Ceiling(_) | Report::Reception(_) => true,
        }
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
                Feedback::Reception { report, rtt: self.by_sender_report(now, &report) }
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
    fn meant(&self, sequence: u16) -> Option<u64> {
        let newest = self.next.checked_sub(1)?;
        let age = u64::from((newest as u16).wrapping_sub(sequence));
        newest.checked_sub(age)
    }

    /// The same, if the history still has it.
    fn find(&self, sequence: u16) -> Option<u64> {
        self.meant(sequence).filter(|&id| id >= self.oldest)
    }

    /// Round-trip time by the last sender report (RFC 3550 §6.4.1): `A − LSR − DLSR`. `None` before the first one, and where
    /// it is negative: less than a millisecond below zero may be rounding, and is zero.
    fn by_sender_report(&mut self, now: SendTime, report: &ReceptionReport) -> Option<TimeDelta> {
        let last = report.last_sender_report;
        if last == 0 {
            return None;
        }
        let age = compact_ntp(now).wrapping_sub(last) as i32;
        let ticks = i64::from(age) - i64::from(report.delay_since_last_sender_report);
        if ticks < -TICKS_OF_ROUNDING {
            self.refused_reports += 1;
            return None;
        }
        let rtt = TimeDelta::from_nanos(ticks.max(0) * 1_000_000_000 / 65_536);
        self.is_since_change(now, last).then_some(rtt)
    }

    /// How many receiver reports told of a round trip that ended before it began.
    pub fn refused_reports(&self) -> u64 {
        self.refused_reports
    }

    /// Whether a sender report with the compact NTP time `sent` left by the present route.
    fn is_since_change(&self, now: SendTime, sent: u32) -> bool {
        let Some(since) = self.route_since else { return true };
        // By the wire's ticks on both sides; the difference is right for 9 hours.
        let age = compact_ntp(now).wrapping_sub(sent) as i32;
        let passed = (i128::from((now - since).nanos()) * 65_536 / 1_000_000_000) as i64;
        i64::from(age) <= passed
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

    /// Settles everything up to the echoed packet and measures the round-trip time by it, unless a later echo came
    /// first. What became of each packet a report on single packets may still tell.
    fn echoed(&mut self, now: SendTime, echo: Echo) -> Option<TimeDelta> {
        let id = self.find(echo.sequence).filter(|&id| id >= self.echoed)?;
        for settled in self.settled.max(self.oldest)..=id {
            self.settle(settled, Known::Untold);
        }
        self.settled = self.settled.max(id + 1);
        self.echoed = id;
        let sent = self.entry(id).at;
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

#[cfg(test)]
mod tests;
