//! The send history, which joins sent packets with reports on them.
//!
//! It assigns packet numbers or [takes them](SendHistory::on_sent_as), unwraps their 16 bits on the wire, and measures
//! round-trip times, bytes in flight and the number of missed reports. Smoothing and the response to loss belong to the controller.
//!
//! Any host that can send a packet can send a report. An impossible report is refused and counted
//! ([`ImpossibleReports`]) before a controller gets it:
//!
//! * a controller's own report that echoes a packet which has not left, or an older one than before;
//! * a report that arrives in less than half of the route's smallest round trip, before a packet can have gone to the
//!   receiver and back;
//! * an arrival after a one-way delay shorter than any before by more than the smallest round trip, or at a time in
//!   the future;
//! * an arrival without a time, while reports [contradict each other](SendHistory::is_contested);
//! * a mark on a packet that did not leave [ECN-capable](SendHistory::set_ecn);
//! * a report that claims the arrival of a [skipped number](SendHistory::leave_out) (optimistic acknowledgement).
//!
//! A route can become shorter, and a receiver's clock can be set back. If reports repeat such a claim for the time of
//! two reports, and no report denies it, it is accepted.

mod ceilings;
mod contest;
mod early;
mod entry;
mod numbers;
mod own_reports;
mod plausible;
mod refused;
mod sender_reports;
mod skipped_numbers;
mod times;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weir_units::{DataSize, TimeDelta};

use crate::packet::{Ecn, PacketFate, PacketResult, ProbeId, SentPacket};
use crate::parts::queue_memory::reserve_entry;
use crate::report::{Echo, Feedback, NativeReport, Reception, Record, Report};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

use self::ceilings::Ceilings;
use self::contest::Contest;
use self::entry::{BYTES, CAPABLE, Entry, KnownFate, PADDING, SKIPPED};
use self::numbers::NumberMap;
use self::own_reports::OwnReports;
use self::plausible::Plausible;
use self::skipped_numbers::SkippedNumbers;
use self::times::{ms, round_trip};

pub use self::numbers::NumberError;
pub use self::refused::ImpossibleReports;
pub use self::times::compact_ntp;

/// Greatest number of packets, because reports carry 16 bits of a number.
const MAX_PACKETS: usize = 1 << 16;
/// Initial capacity. It grows to 729 in three steps, enough for 5 s at 1 Mbit/s with probes.
const INITIAL_CAPACITY: usize = 144;
/// Initial capacity for the results of one report; it grows with larger reports.
const INITIAL_RESULTS: usize = 16;
/// Packets sent within a horizon, by number.
///
/// Memory grows with the packets of one horizon, up to 65 536, and is not given back; there is no allocation in steady
/// state.
#[derive(Debug)]
pub struct SendHistory {
    /// Entries by place, from the oldest on.
    entries: VecDeque<Entry>,
    /// Places of the oldest entry and of the next one.
    oldest: u64,
    next: u64,
    /// Conversion between places and the numbers that travel.
    numbers: NumberMap,
    /// Place of the first packet that may be in flight.
    settled: u64,
    /// Number of the last packet that a controller's own report echoed.
    echoed: u64,
    horizon: TimeDelta,
    in_flight: DataSize,
    /// Whether packets leave ECN-capable.
    capable: bool,
    results: Vec<PacketResult>,
    last_report: Option<u8>,
    refused: ImpossibleReports,
    plausible: Plausible,
    left_out: SkippedNumbers,
    own_reports: OwnReports,
    ceilings: Ceilings,
    contest: Contest,
    /// The first number of the present route, and the time when the route began.
    route_from: u64,
    route_since: Option<SendTime>,
}

impl SendHistory {
    /// A history that removes packets `horizon` after they were sent. From then on they are not in flight, and a
    /// report cannot change their fate.
    pub fn new(horizon: TimeDelta) -> Self {
        Self {
            entries: VecDeque::with_capacity(INITIAL_CAPACITY),
            oldest: 0,
            next: 0,
            numbers: NumberMap::default(),
            settled: 0,
            echoed: 0,
            horizon,
            in_flight: DataSize::ZERO,
            capable: false,
            results: Vec::with_capacity(INITIAL_RESULTS),
            last_report: None,
            refused: ImpossibleReports::default(),
            plausible: Plausible::default(),
            left_out: SkippedNumbers::default(),
            own_reports: OwnReports::default(),
            ceilings: Ceilings::default(),
            contest: Contest::default(),
            route_from: 0,
            route_since: None,
        }
    }

    /// Sets the ECN field of later packets; at first it is [`Ecn::NotEct`]. Only marks on packets that left ECN-capable
    /// are accepted.
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.capable = ecn != Ecn::NotEct;
    }

    /// Records the departure of a packet of `header` (at most 255) and `payload` bytes (16 383 with the header at
    /// most), and gives it its number.
    pub fn on_sent(
        &mut self,
        at: SendTime,
        header: DataSize,
        payload: DataSize,
        padding: bool,
        probe: Option<ProbeId>,
    ) -> SentPacket {
        let overhead = u8::try_from(header.bytes()).unwrap_or(u8::MAX);
        let size = payload.bytes().saturating_add(u64::from(overhead)).min(u64::from(BYTES)) as u16;
        let size = if padding { size | PADDING } else { size };
        let size = if self.capable { size | CAPABLE } else { size };
        let entry = Entry { at, size, probe, arrived: 0, overhead, known: KnownFate::InFlight };
        let number = self.push(entry);
        self.in_flight += entry.size();
        entry.packet(number - self.left_out.before(number))
    }

    /// Skips the next number. A report that claims the arrival of a skipped number does not describe real arrivals.
    /// Call it at random, for one number in about 500, and only for transport-wide numbers, because in the numbers of
    /// an RTP stream a gap is a loss.
    pub fn leave_out(&mut self, at: SendTime) {
        let number = self.push(Entry { at, known: KnownFate::Skipped, ..SKIPPED });
        self.left_out.push(number);
    }

    /// Whether the receiver reports arrivals that it has not seen (optimistic acknowledgement). The evidence is claims
    /// of skipped numbers in eight different seconds within 90 s, of which other reports denied at most a fifth. The
    /// verdict ends when more are denied, 90 s after the last undenied claim, and with a change of route.
    pub fn receiver_lies(&self) -> bool {
        self.left_out.is_proven()
    }

    /// Whether reports of the last 90 s claimed a skipped number. The sender should then skip a number each half
    /// second, so that the source of these reports is soon known.
    pub fn is_receiver_doubted(&self) -> bool {
        self.left_out.are_doubted()
    }

    /// Whether reports have contradicted each other within two seconds. Signs are a packet that arrives later by one
    /// report than by another, and many arrivals without a time whose times come with later reports. A third sign is
    /// congestion in a controller's own reports that came and went twice in ten seconds, as no path's does. A rate
    /// should not rise by such reports.
    pub fn is_contested(&self, now: SendTime) -> bool {
        self.contest.is_open(now)
    }

    /// The smallest apparent delay of the last minutes that reports agree on, or `None` while there is none. The offset
    /// of the receiver's clock from the sender's is part of it.
    pub fn least_delay(&self) -> Option<ApparentDelay> {
        self.plausible.least_delay()
    }

    /// Whether an arrival that was accepted before the round trip was known turns out to have been impossible. If so,
    /// the controller should get [`PathEvent::DelayRefuted`](crate::PathEvent::DelayRefuted). `true` once for each
    /// route.
    pub fn take_refuted_delay(&mut self) -> bool {
        self.plausible.take_refuted()
    }

    /// Takes the next number.
    fn push(&mut self, entry: Entry) -> u64 {
        self.expire(entry.at);
        if self.len() == MAX_PACKETS {
            // Numbers would become ambiguous.
            self.forget_oldest();
        }
        reserve_entry(&mut self.entries, MAX_PACKETS);
        let number = self.next;
        self.next += 1;
        self.entries.push_back(entry);
        number
    }

    /// Records the departure of a media packet of `header` (at most 255) and `payload` bytes, without a probe:
    /// [`Self::on_sent`] in short.
    pub fn on_media_sent(&mut self, at: SendTime, header: DataSize, payload: DataSize) -> SentPacket {
        self.on_sent(at, header, payload, false, None)
    }

    /// Bytes of packets within the horizon that may be in flight. A report settles the packets that it covers and all
    /// before them. The fate of packets whose report was lost stays unknown unless that report arrives late, but they
    /// are not in flight. An [`Echo`] settles all packets up to the echoed one. Reports without packet numbers settle
    /// no packet; then this is the amount sent within the horizon.
    pub fn in_flight(&self) -> DataSize {
        self.in_flight
    }

    /// Changes the path at `now`. Earlier packets are no longer in flight, and reports on them are ignored. Call it
    /// before the controller gets [`PathEvent::RouteChanged`](crate::PathEvent::RouteChanged), because controllers
    /// take all later feedback as feedback on the new route.
    pub fn change_route(&mut self, now: SendTime) {
        while self.oldest < self.next {
            self.forget_oldest();
        }
        self.route_from = self.next_number();
        self.route_since = Some(now);
        self.plausible = Plausible::default();
        self.own_reports = OwnReports::default();
        self.ceilings = Ceilings::default();
        self.contest = Contest::default();
        self.left_out.clear_claims();
    }

    /// Joins `report`, which arrived at `now`, with the packets that it covers. Returns `None` for an impossible
    /// report ([`Self::refused`]), and for one on the previous route ([`Self::change_route`]). Old records of
    /// per-packet reports are left out.
    pub fn join<'a>(&'a mut self, now: SendTime, report: &Report<'_>) -> Option<Feedback<'a>> {
        self.expire(now);
        Some(match *report {
            Report::Packets { records, number, at } => {
                // A report with one false claim is not made of real arrivals: no record of it is used.
                if self.left_out.are_claimed(now, records, |place| self.numbers.sequence(place, self.next)) {
                    self.refused.left_out += 1;
                    return None;
                }
                if self.is_early(now, records, at) {
                    self.refused.early += 1;
                    return None;
                }
                self.results.clear();
                self.settle_before(records);
                let contested = self.is_contested(now);
                let mut newest = None;
                for record in records {
                    self.apply(now, contested, record, &mut newest);
                }
                let rtt = newest.map(|(sent, arrived)| round_trip(now, sent, arrived, at));
                if let Some(rtt) = rtt {
                    self.plausible.on_report(now);
                    self.plausible.on_round_trip(now, rtt);
                }
                let missed_reports = self.missed(number);
                Feedback::Packets { results: &self.results, at, rtt, missed_reports }
            }
            Report::Ceiling(rate) => {
                if self.ceilings.on_ceiling(now, rate) {
                    self.contest.on_contradiction(now);
                }
                Feedback::Ceiling(rate)
            }
            Report::Reception(report) => {
                Feedback::Reception { report, rtt: self.by_sender_report(now, &report) }
            }
            Report::Native { report, echo } => {
                let known = self.find(echo.sequence);
                let Some(number) = self.named_by(echo) else {
                    self.compare(now, known, &report);
                    return None;
                };
                // A packet beyond the horizon gives no round-trip time.
                let rtt = match known {
                    Some(id) => Some(self.echoed(now, id, number, echo.held)?),
                    None => None,
                };
                self.compare(now, known, &report);
                Feedback::Native { report, rtt }
            }
        })
    }

    /// Numbers of refused reports and records.
    pub fn refused(&self) -> ImpossibleReports {
        self.refused
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn entry(&mut self, id: u64) -> &mut Entry {
        &mut self.entries[(id - self.oldest) as usize]
    }

    /// Takes a measured round-trip time. Returns `None` and counts a refusal if it is impossibly short.
    fn take_round_trip(&mut self, now: SendTime, rtt: TimeDelta) -> Option<TimeDelta> {
        if !self.plausible.admits_round_trip(now, None, rtt, rtt) {
            self.refused.early += 1;
            return None;
        }
        self.plausible.on_round_trip(now, rtt);
        Some(rtt)
    }

    fn apply(
        &mut self,
        now: SendTime,
        contested: bool,
        record: &Record,
        newest: &mut Option<(SendTime, ArrivalTime)>,
    ) {
        let Some(id) = self.find(record.sequence) else { return };
        let entry = &mut self.entries[(id - self.oldest) as usize];
        let recovered = match (record.reception, entry.known) {
            (Reception::Untimed, KnownFate::InFlight | KnownFate::Unreported | KnownFate::Missing)
                if contested =>
            {
                self.refused.untimed += 1;
                return;
            }
            (_, KnownFate::InFlight | KnownFate::Unreported) => false,
            (Reception::Untimed | Reception::At(_), KnownFate::Missing) => true,
            (Reception::At(arrived), KnownFate::Arrived) => {
                self.contest.on_arrival_again(now, arrived, entry.arrived);
                return;
            }
            (Reception::At(arrived), KnownFate::Untimed) => {
                (entry.known, entry.arrived) = (KnownFate::Arrived, ms(arrived));
                self.contest.on_late_time(now);
                return;
            }
            // Overlapping reports may omit arrivals that an earlier one reported.
            _ => return,
        };
        let at = record.reception.time();
        if let Some(arrived) = at {
            if !self.plausible.admits_delay(now, entry.at, ApparentDelay::between(entry.at, arrived)) {
                self.refused.impossible += 1;
                return;
            }
            if newest.is_none_or(|(departure, _)| entry.at >= departure) {
                *newest = Some((entry.at, arrived));
            }
            self.contest.on_time();
        }
        let ecn = entry.possible(record.ecn).unwrap_or_else(|| {
            self.refused.marks += u64::from(record.reception.is_arrival());
            Ecn::NotEct
        });
        let (known, fate) = match record.reception {
            Reception::Missing => (KnownFate::Missing, PacketFate::Missing),
            _ if recovered => (KnownFate::of_arrival(at), PacketFate::Recovered { at, ecn }),
            _ => (KnownFate::of_arrival(at), PacketFate::Arrived { at, ecn }),
        };
        entry.arrived = at.map_or(0, ms);
        self.in_flight = self.in_flight.saturating_sub(entry.in_flight());
        entry.known = known;
        let sent = entry.packet(id - self.left_out.before(id));
        self.results.push(PacketResult { sent, fate });
    }

    /// Settles all packets before the first of `records`. They are no longer in flight, but a later report may still
    /// give their fates.
    fn settle_before(&mut self, records: &[Record]) {
        let Some(first) = records.iter().find_map(|record| self.find(record.sequence)) else { return };
        for id in self.settled.max(self.oldest)..first {
            self.settle(id);
        }
        self.settled = self.settled.max(first);
    }

    /// The number that `echo` names, or `None` for a report that is not accepted. Refused are a forged echo, of a
    /// packet that has not left, and an echo of the route before. A report on an older packet than before brings no new
    /// state. An echo of a packet that left elsewhere measures nothing here.
    fn named_by(&mut self, echo: Echo) -> Option<u64> {
        let meant = self.meant(echo.sequence);
        if meant.is_some_and(|number| number < self.route_from) || self.is_elsewhere(echo.sequence) {
            return None;
        }
        if meant.is_none() {
            self.refused.unsent += 1;
        }
        let overtaken = meant.is_some_and(|number| number < self.echoed);
        self.refused.overtaken += u64::from(overtaken);
        meant.filter(|_| !overtaken)
    }

    /// Compares a controller's own report on packet `id` with those on others.
    fn compare(&mut self, now: SendTime, id: Option<u64>, report: &NativeReport) {
        let Some(id) = id else { return };
        let sent = self.entry(id).at;
        if self.own_reports.on_report(now, id, sent, report) {
            self.contest.on_contradiction(now);
        }
    }

    /// Settles all packets up to the echoed one, at place `id` with `number`, and measures the round-trip time. Per-packet reports may still give
    /// their fates. Returns `None` if the report is refused.
    fn echoed(&mut self, now: SendTime, id: u64, number: u64, held: TimeDelta) -> Option<TimeDelta> {
        let sent = self.entry(id).at;
        let rtt = self.take_round_trip(now, ((now - sent) - held).max(TimeDelta::ZERO))?;
        self.plausible.on_report(now);
        for settled in self.settled.max(self.oldest)..=id {
            self.settle(settled);
        }
        self.settled = self.settled.max(id + 1);
        self.echoed = number;
        Some(rtt)
    }

    /// Settles packet `id`, which is then not in flight, with an unknown fate.
    fn settle(&mut self, id: u64) {
        let entry = self.entry(id);
        let landed = entry.in_flight();
        if entry.known == KnownFate::InFlight {
            entry.known = KnownFate::Unreported;
        }
        self.in_flight = self.in_flight.saturating_sub(landed);
    }

    fn forget_oldest(&mut self) {
        let Some(entry) = self.entries.pop_front() else { return };
        self.in_flight = self.in_flight.saturating_sub(entry.in_flight());
        self.oldest += 1;
        self.left_out.forget(self.oldest);
        self.numbers.forget(self.oldest);
    }

    /// Time at which the oldest packet leaves the horizon, or `None` if no packet is in flight. A sender with a full
    /// window, whose reports are all lost, continues then.
    pub fn next_expiry(&self) -> Option<SendTime> {
        let oldest = self.entries.front().filter(|_| !self.in_flight.is_zero())?;
        Some(oldest.at + self.horizon + TimeDelta::from_nanos(1))
    }

    /// Removes the packets beyond the horizon. Returns whether there were any.
    #[inline]
    pub fn expire(&mut self, now: SendTime) -> bool {
        let mut expired = false;
        while self.has_expired(now) {
            self.forget_oldest();
            expired = true;
        }
        expired
    }

    /// Whether the oldest packet is beyond the horizon.
    #[inline]
    fn has_expired(&self, now: SendTime) -> bool {
        self.entries.front().is_some_and(|oldest| now - oldest.at > self.horizon)
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

#[cfg(test)]
mod tests;
