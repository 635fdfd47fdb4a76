//! Forged feedback: the messages of an attack and their times.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::history::compact_ntp;
use weir_cc::{ArrivalTime, Ecn, Reception, Record, Report, ReportKind, SendTime, TimeDelta};
use weir_media::feedback::FeedbackWriter;
use weir_media::{MediaPacket, PacketFormat};
use weir_wire::rtcp::{ReceiverReport, Remb, ReportBlock};

use super::attacks::{Attack, ForgedFeedback, Role};
use super::own_forms::{self, Path};
use super::seen::{ObservedCall, number_before};
use super::setting::{AttackSpan, ONE_WAY, RECEIVER, SENDER, clock};

/// Duration for which feedback is held back in each period.
const HELD_TIME: TimeDelta = TimeDelta::from_secs(1);
const HOLD_PERIOD: TimeDelta = TimeDelta::from_secs(3);

/// Source of the forged messages of an attack.
#[derive(Debug)]
pub(super) struct Forger {
    attack: Attack,
    span: AttackSpan,
    due: SendTime,
    rng: Pcg64Mcg,
    rounds: u64,
    /// Departure time up to which the attacker has reported packets.
    reported_until: SendTime,
    waiting: VecDeque<Vec<u8>>,
    writer: Option<FeedbackWriter>,
    number: u8,
}

impl Forger {
    pub(super) fn new(attack: Attack, span: AttackSpan) -> Self {
        let rng = Pcg64Mcg::seed_from_u64(7);
        Self {
            attack,
            span,
            due: span.from,
            rng,
            rounds: 0,
            reported_until: span.from,
            waiting: VecDeque::new(),
            writer: None,
            number: 0,
        }
    }

    pub(super) fn role(&self) -> Role {
        self.attack.role
    }

    pub(super) fn is_active(&self, now: SendTime) -> bool {
        self.span.contains(now)
    }

    /// Time of the next forged message.
    pub(super) fn next(&self, now: SendTime) -> Option<SendTime> {
        (self.due < self.span.to && self.due > now).then_some(self.due)
    }

    /// Whether the attack has a form that affects a controller; `accepts` names the kinds of feedback that the
    /// controller uses.
    pub(super) fn is_form_of(&self, accepts: impl Fn(ReportKind) -> bool) -> bool {
        self.attack.feedback.is_form_of(accepts)
    }

    /// ECN field at the receiver of a packet that left without ECN.
    pub(super) fn ecn(&self, now: SendTime) -> Ecn {
        let marks = matches!(self.attack.feedback, ForgedFeedback::MarkedOnPath) && self.is_active(now);
        if marks { Ecn::Ce } else { Ecn::NotEct }
    }

    /// Arrival time of RTCP from the receiver that would arrive at `at` without the attack.
    pub(super) fn held_back(&self, at: SendTime) -> SendTime {
        let since = (at - self.span.from).nanos().rem_euclid(HOLD_PERIOD.nanos());
        let held = matches!(self.attack.feedback, ForgedFeedback::HeldBack)
            && self.is_active(at)
            && since < HELD_TIME.nanos();
        if held { at + (HELD_TIME - TimeDelta::from_nanos(since)) } else { at }
    }

    /// Forged media packet that arrives at the receiver at `now`; must be read before [`Self::poll`].
    pub(super) fn media(&self, now: SendTime, seen: &ObservedCall) -> Option<MediaPacket> {
        let ForgedFeedback::NumberAhead(ahead) = self.attack.feedback else { return None };
        let mut packet = seen.last.filter(|_| self.due <= now && self.is_active(now))?;
        packet.header.sequence = packet.header.sequence.wrapping_add(ahead);
        packet.header.transport_sequence = packet.header.transport_sequence.wrapping_add(ahead);
        Some(packet)
    }

    /// Forged report in place of an honest one, if the receiver is the attacker.
    pub(super) fn replace(&mut self, honest: &[u8]) -> Option<Vec<u8>> {
        matches!(self.attack.feedback, ForgedFeedback::BitErrors).then(|| self.with_bit_error(honest))
    }

    /// Next forged datagram that arrives at `now`.
    pub(super) fn poll(&mut self, now: SendTime, seen: &ObservedCall) -> Option<Vec<u8>> {
        if self.due <= now && self.is_active(now) {
            self.due = match self.attack.interval_ms {
                0 => self.span.to,
                every => self.due + TimeDelta::from_millis(every),
            };
            if !seen.packets.is_empty() {
                self.forge(now, seen);
                self.rounds += 1;
            }
        }
        self.waiting.pop_front()
    }

    fn forge(&mut self, now: SendTime, seen: &ObservedCall) {
        let Some(&(_, newest)) = seen.packets.back() else { return };
        // Packets before `from` may have been reported already. Packets after `until` cannot have been acknowledged:
        // too little of a round trip has passed.
        let (from, until) = (now - ONE_WAY.scale(3.2), now - ONE_WAY.scale(1.4));
        let alternate = self.rounds % 2 == 1;
        match self.attack.feedback {
            ForgedFeedback::AllArrived => {
                // Arrivals without any queuing delay, of packets that left at least a round trip ago.
                let until = now - ONE_WAY * 2;
                self.report_until(now, seen, until, |at| Some(clock(at) + ONE_WAY));
                self.report_no_congestion(now, number_before(seen, until));
            }
            ForgedFeedback::Coin(_) => {
                self.report_until(now, seen, now - ONE_WAY * 2, |at| Some(clock(at) + ONE_WAY));
            }
            // Attacks on a pair are in `super::pair`, those on the path in `super::path`.
            ForgedFeedback::Slander
            | ForgedFeedback::NumberAhead(_)
            | ForgedFeedback::MarkedOnPath
            | ForgedFeedback::HeldBack => {}
            ForgedFeedback::Marks => self.report_marked(now, seen),
            ForgedFeedback::NoCongestion | ForgedFeedback::Congestion => {
                let is_empty = matches!(self.attack.feedback, ForgedFeedback::NoCongestion);
                self.report_own_and_per_packet(now, seen, is_empty);
            }
            ForgedFeedback::Untimed => self.untimed(now, seen),
            ForgedFeedback::Early => {
                self.report_until(now, seen, now, |at| Some(clock(at) + ONE_WAY));
                self.report_no_congestion(now, newest);
            }
            ForgedFeedback::Missing => self.report_until(now, seen, now, |_| None),
            ForgedFeedback::Contradictory => {
                self.report_until(now, seen, now, |at| (!alternate).then(|| clock(at) + ONE_WAY));
            }
            ForgedFeedback::Replay => self.replay(now, seen),
            ForgedFeedback::Unsent => {
                let ahead = newest.wrapping_add(300);
                let records: Vec<_> =
                    (0..20).map(|n| Record::new(ahead.wrapping_add(n), Some(clock(now)))).collect();
                self.report(now, seen.format, &records);
                self.report_no_congestion(now, ahead);
            }
            ForgedFeedback::Echo => self.echo(newest),
            ForgedFeedback::OneArrival(ms) => {
                let Some(&(left, number)) = seen.packets.iter().rfind(|(at, _)| *at <= until) else { return };
                let at = clock(left) + ONE_WAY + TimeDelta::from_millis(ms);
                self.report(now, seen.format, &[Record::new(number, Some(at))]);
            }
            ForgedFeedback::Creep => self.report_ever_earlier(now, seen, from, until),
            ForgedFeedback::Shrink => {
                for ms in [25, 12, 5, 2, 1, 0] {
                    self.round_trip(now, ms, seen);
                }
                self.report_until(now, seen, now, |at| Some(clock(at) + ONE_WAY));
                self.report_no_congestion(now, newest);
            }
            ForgedFeedback::Jump => {
                let hour = TimeDelta::from_secs(if alternate { 3600 } else { -3600 });
                self.report_until(now, seen, now - ONE_WAY * 2, |at| Some(clock(at) + ONE_WAY + hour));
            }
            ForgedFeedback::Drift => {
                let ahead = TimeDelta::from_nanos((now - self.span.from).nanos() * 60);
                self.report_until(now, seen, now - ONE_WAY * 2, |at| Some(clock(at) + ONE_WAY + ahead));
            }
            ForgedFeedback::Leap => self.report_leap(now, seen),
            ForgedFeedback::Numbers => {
                // An old packet, reported long ago.
                let (at, number) = seen.packets[seen.packets.len() / 2];
                self.number = self.rng.random();
                self.report(now, seen.format, &[Record::new(number, Some(clock(at) + ONE_WAY))]);
            }
            ForgedFeedback::RoundTrip(ms) => self.round_trip(now, ms, seen),
            ForgedFeedback::Ceiling(rate) => {
                let source = self.source();
                self.write(|out, reporter| Remb::write(reporter, rate, &[source], out).ok());
            }
            ForgedFeedback::Loss => self.reception(ReportBlock {
                fraction_lost: 255,
                highest_sequence: seen.highest,
                ..ReportBlock::default()
            }),
            ForgedFeedback::BitErrors => {
                if self.attack.role == Role::Reader
                    && let Some((_, bytes)) = seen.reports.back()
                {
                    let with_bit_error = self.with_bit_error(bytes);
                    self.waiting.push_back(with_bit_error);
                }
            }
            ForgedFeedback::Bombs => {
                let bomb = self.bomb(newest);
                self.waiting.push_back(bomb.repeat(36));
            }
        }
    }

    /// Writes a report of arrivals without queuing delay, all with a CE mark.
    fn report_marked(&mut self, now: SendTime, seen: &ObservedCall) {
        let until = now - ONE_WAY * 2;
        let records = self.records(seen, until, |at| Reception::At(clock(at) + ONE_WAY));
        let marked: Vec<Record> =
            records.into_iter().map(|record| Record { ecn: Ecn::Ce, ..record }).collect();
        if !marked.is_empty() {
            self.report(now, seen.format, &marked);
            self.reported_until = until;
        }
    }

    /// Writes a report of the packets sent between `from` and `until`, each with a smaller delay than the one before.
    fn report_ever_earlier(&mut self, now: SendTime, seen: &ObservedCall, from: SendTime, until: SendTime) {
        let packets = seen.packets.iter().filter(|(at, _)| (from..=until).contains(at));
        let records: Vec<Record> = packets
            .zip(1..)
            .map(|(&(left, number), step)| {
                Record::new(number, Some(clock(left) + ONE_WAY - ONE_WAY.scale(1.8) * step))
            })
            .collect();
        self.report(now, seen.format, &records);
    }

    /// Writes reports of an empty or congested path, in the controllers' own formats and as per-packet feedback.
    fn report_own_and_per_packet(&mut self, now: SendTime, seen: &ObservedCall, is_empty: bool) {
        let until = now - ONE_WAY * 2;
        if self.attack.interval_ms == 0 {
            // A single report covers the packets of one round trip.
            self.reported_until = until - ONE_WAY * 2;
        }
        self.report_until(now, seen, until, |at| is_empty.then(|| clock(at) + ONE_WAY));
        let path = if is_empty { Path::Empty } else { Path::Congested };
        self.report_in_own_formats(now, number_before(seen, until), path);
    }

    /// Replays the reports of two seconds ago.
    fn replay(&mut self, now: SendTime, seen: &ObservedCall) {
        let age = TimeDelta::from_secs(2);
        let replayed =
            seen.reports.iter().filter(|(at, _)| *at <= now - age && *at > self.reported_until - age);
        let replayed: Vec<_> = replayed.map(|(_, bytes)| bytes.clone()).collect();
        self.waiting.extend(replayed);
        self.reported_until = now;
    }

    /// Writes a receiver report that gives a round-trip time of `ms`, by the last sender report if that is old enough.
    fn round_trip(&mut self, now: SendTime, ms: i64, seen: &ObservedCall) {
        let left = compact_ntp(now - TimeDelta::from_millis(ms));
        let since = left.wrapping_sub(seen.sender_report);
        let (last, held) = if since > 1 << 31 { (left, 0) } else { (seen.sender_report, since) };
        self.reception(ReportBlock {
            highest_sequence: seen.highest,
            last_sender_report: last,
            delay_since_last_sender_report: held,
            ..ReportBlock::default()
        });
    }

    fn report_leap(&mut self, now: SendTime, seen: &ObservedCall) {
        for step in 1..=3 {
            let (at, number) = seen.packets[seen.packets.len() / 2];
            // Period after which the times wrap around: 12.4 days for transport-wide feedback, 18.2 hours for RFC 8888.
            let period = match seen.format {
                PacketFormat::TransportWide => 1_073_741,
                PacketFormat::Rfc8888 => 65_536,
            };
            let report_leap = TimeDelta::from_secs(period * 2 * step / 5);
            self.report(
                now + report_leap,
                seen.format,
                &[Record::new(number, Some(clock(at) + ONE_WAY + report_leap))],
            );
        }
        let datagram = self.waiting.drain(..).collect::<Vec<_>>().concat();
        self.waiting.push_back(datagram);
    }

    /// Source identifier that the reports contain.
    fn source(&mut self) -> u32 {
        if self.attack.role == Role::Blind { self.rng.random() } else { SENDER }
    }

    fn write(&mut self, write: impl FnOnce(&mut [u8], u32) -> Option<usize>) {
        let reporter = if self.attack.role == Role::Blind { self.rng.random() } else { RECEIVER };
        let mut out = [0; 1472];
        if let Some(length) = write(&mut out, reporter) {
            self.waiting.push_back(out[..length].to_vec());
        }
    }

    /// Reports all packets that left since the last report and by `until`.
    fn report_until(
        &mut self,
        now: SendTime,
        seen: &ObservedCall,
        until: SendTime,
        arrival: impl Fn(SendTime) -> Option<ArrivalTime>,
    ) {
        let records = self.records(seen, until, |at| arrival(at).map_or(Reception::Missing, Reception::At));
        if !records.is_empty() {
            self.report(now, seen.format, &records);
            self.reported_until = until;
        }
    }

    /// Records of all packets that left since the last report and by `until`.
    fn records(
        &mut self,
        seen: &ObservedCall,
        until: SendTime,
        reception: impl Fn(SendTime) -> Reception,
    ) -> Vec<Record> {
        let new = |&&(at, _): &&(SendTime, u16)| at > self.reported_until && at <= until;
        let reported_until: Vec<(SendTime, u16)> = seen.packets.iter().filter(new).copied().collect();
        let Some((&(_, first), &(last, end))) = reported_until.first().zip(reported_until.last()) else {
            return Vec::new();
        };
        // Numbers without a packet, left out by the sender, are reported as well. An on-path attacker knows them and
        // does not claim them; a receiver has not seen them and must choose.
        let claimed = match (self.attack.role, self.attack.feedback) {
            (Role::Reader, _) => 0,
            (_, ForgedFeedback::Coin(percent)) => percent,
            _ => 100,
        };
        let mut records = Vec::new();
        let mut left = reported_until.iter().peekable();
        let mut number = first;
        loop {
            let packet = left.next_if(|(_, reported_until)| *reported_until == number);
            let at = packet.map_or(last, |(at, _)| *at);
            let there = packet.is_some()
                || claimed == 100
                || (claimed > 0 && self.rng.random_range(0..100) < claimed);
            let reception = if there { reception(at) } else { Reception::Missing };
            records.push(Record { reception, ..Record::new(number, None) });
            if number == end {
                return records;
            }
            number = number.wrapping_add(1);
        }
    }

    /// Reports all packets that left at least a round trip ago as received, without arrival times.
    fn untimed(&mut self, now: SendTime, seen: &ObservedCall) {
        let until = now - ONE_WAY * 2;
        let records = self.records(seen, until, |_| Reception::Untimed);
        match seen.format {
            PacketFormat::TransportWide => self.transport_wide_untimed(&records),
            PacketFormat::Rfc8888 => self.report(now, seen.format, &records),
        }
        self.reported_until = until;
    }

    /// Writes transport-wide feedback with the arrivals of `records`, without times.
    fn transport_wide_untimed(&mut self, records: &[Record]) {
        let Some(base) = records.first().map(|record| record.sequence) else { return };
        let mut bytes = vec![0x8F, 205, 0, 0];
        bytes.extend(RECEIVER.to_be_bytes());
        bytes.extend(self.source().to_be_bytes());
        bytes.extend(base.to_be_bytes());
        bytes.extend((records.len() as u16).to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
        // A status vector chunk has seven symbols of two bits each: received without a delta, and not received.
        for seven in records.chunks(7) {
            let symbol = |record: &Record| if record.reception.is_arrival() { 0b11 } else { 0 };
            let symbols = seven.iter().zip(0..).map(|(record, place)| symbol(record) << (12 - 2 * place));
            bytes.extend(symbols.fold(0xC000_u16, |chunk, symbol| chunk | symbol).to_be_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes[3] = (bytes.len() / 4 - 1) as u8;
        self.waiting.push_back(bytes);
    }

    fn report(&mut self, now: SendTime, format: PacketFormat, records: &[Record]) {
        let (source, blind) = (self.source(), self.attack.role == Role::Blind);
        let new = || match format {
            PacketFormat::TransportWide => FeedbackWriter::transport_wide(RECEIVER, source),
            PacketFormat::Rfc8888 => FeedbackWriter::rfc_8888(RECEIVER, source),
        };
        // Each report of an off-path attacker has random source identifiers, and thus a writer of its own.
        let mut writer = self.writer.take().filter(|_| !blind).unwrap_or_else(new);
        // Report timestamp of RFC 8888: not before the arrivals, and close enough to them that their offsets can be
        // encoded.
        let made = clock(now) - ONE_WAY;
        let last = records.iter().rev().find_map(|record| record.reception.time());
        let reported_until =
            |at: &ArrivalTime| !(TimeDelta::ZERO..TimeDelta::from_secs(1)).contains(&(made - *at));
        let at = last.filter(reported_until).unwrap_or(made);
        let report = Report::Packets { records, number: self.number, at: Some(at) };
        let mut out = [0; 1472];
        let mut length = writer.write(&report, &mut out);
        while let Some(written) = length {
            self.waiting.push_back(out[..written].to_vec());
            length = writer.write_rest(&mut out);
        }
        self.writer = Some(writer);
    }

    /// Writes reports of an empty path without loss, in the controllers' own formats.
    fn report_no_congestion(&mut self, now: SendTime, number: u16) {
        self.report_in_own_formats(now, number, Path::Empty);
    }

    /// Writes reports of `path` in all of the controllers' own formats.
    fn report_in_own_formats(&mut self, now: SendTime, number: u16, path: Path) {
        let source = self.source();
        for form in own_forms::ALL {
            self.write(|out, reporter| form(path, now, number, [reporter, source], out));
        }
    }

    /// Writes a report in the format of a controller that does not exist here.
    fn echo(&mut self, number: u16) {
        let source = self.source();
        self.write(|out, ssrc| {
            let report = weir_wire::rtcp::ControllerReport {
                ssrc,
                source,
                name: *b"ECHO",
                held: 0,
                transport_sequence: number,
                data: &[],
            };
            report.write(out).ok()
        });
    }

    fn reception(&mut self, block: ReportBlock) {
        let ssrc = self.source();
        self.write(|out, reporter| {
            ReceiverReport::write(reporter, &[ReportBlock { ssrc, ..block }], out).ok()
        });
    }

    /// Copy of `bytes` with one random bit inverted.
    fn with_bit_error(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let bit = self.rng.random_range(0..bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    }

    /// Transport-wide message of 40 bytes that covers 65 535 packets and has no arrival times.
    fn bomb(&mut self, newest: u16) -> Vec<u8> {
        let source = self.source();
        let base = newest.wrapping_add(2);
        let mut bytes = vec![0x8F, 205, 0, 9];
        bytes.extend(RECEIVER.to_be_bytes());
        bytes.extend(source.to_be_bytes());
        bytes.extend(base.to_be_bytes());
        bytes.extend(u16::MAX.to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
        // Nine run-length chunks of up to 8191 packets that are not received.
        bytes.extend([0x1F, 0xFF].repeat(9));
        bytes.extend([0, 0]);
        bytes
    }
}
