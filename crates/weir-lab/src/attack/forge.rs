//! Forged feedback: what is sent, by whom, and when.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::history::compact_ntp;
use weir_cc::{ArrivalTime, Record, Report, SendTime, TimeDelta};
use weir_media::PacketFormat;
use weir_media::feedback::FeedbackWriter;
use weir_wire::rtcp::{Dccc, Nada, NadaDelay, ReceiverReport, Remb, ReportBlock, Tfrc};

use super::seen::{Seen, number_before};
use super::setting::{CLOCK, FROM, ONE_WAY, RECEIVER, SENDER, TO, clock};

/// Who attacks, by what he can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Off the path: knows addresses and ports, neither source identifiers nor numbers.
    Blind,
    /// On the path: sees every packet, can add and cannot remove.
    Reader,
    /// The peer itself.
    Receiver,
}

impl Role {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Blind, Self::Reader, Self::Receiver];

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blind => "blind",
            Self::Reader => "reader",
            Self::Receiver => "receiver",
        }
    }
}

/// An attack of the table.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// In a few words.
    pub name: &'static str,
    /// Who.
    pub role: Role,
    what: What,
    /// How often, in ms; zero for once.
    every_ms: i64,
}

/// What is sent each time. To a law with reports of its own the same is said in those.
#[derive(Clone, Copy, Debug)]
enum What {
    /// All that could have arrived by now has, after the same time.
    AllArrived,
    /// What has just left has arrived.
    Early,
    /// All that has left since the time before is missing.
    Missing,
    /// By turns the one and the other.
    Contradictory,
    /// What the receiver said two seconds ago.
    Replay,
    /// Packets that have not left.
    Unsent,
    /// A report of another law that echoes the newest packet.
    Echo,
    /// A packet that left seven tenths of a round trip ago has arrived, so many ms later than it may have.
    OneArrival(i64),
    /// Packets that left then and before have arrived, each by most of a round trip earlier than the one before.
    Creep,
    /// Receiver reports in a datagram by which the round trip is half of that before, and what has just left has arrived.
    Shrink,
    /// Arrivals an hour ahead and an hour behind by turns.
    Jump,
    /// Arrival times that run a minute a second ahead.
    Drift,
    /// Three reports in a datagram whose times step on by two fifths of what the wire can tell apart.
    Leap,
    /// Reports without news, numbered by chance.
    Numbers,
    /// A receiver report by which a round trip takes so many ms.
    RoundTrip(i64),
    /// A ceiling in bit/s.
    Ceiling(u64),
    /// A receiver report of the greatest loss.
    Loss,
    /// The last honest report with a bit turned.
    BitErrors,
    /// 36 messages of 40 bytes, each on 65 535 packets.
    Bombs,
}

const fn attack(name: &'static str, role: Role, what: What, every_ms: i64) -> Attack {
    Attack { name, role, what, every_ms }
}

/// Every attack of the table.
pub const ATTACKS: [Attack; 40] = {
    use Role::{Blind, Reader, Receiver};
    const HOUR: i64 = 3_600_000;
    [
        attack("all arrived", Blind, What::AllArrived, 50),
        attack("all missing", Blind, What::Missing, 20),
        attack("reports of packets never sent", Blind, What::Unsent, 20),
        attack("foreign echo", Blind, What::Echo, 20),
        attack("REMB of 0", Blind, What::Ceiling(0), 20),
        attack("REMB of the maximum", Blind, What::Ceiling(u64::MAX), 20),
        attack("RR with loss 255", Blind, What::Loss, 20),
        attack("run-length bombs", Blind, What::Bombs, 20),
        attack("all arrived", Reader, What::AllArrived, 50),
        attack("early acknowledgement", Reader, What::Early, 10),
        attack("all missing", Reader, What::Missing, 20),
        attack("contradictory reports", Reader, What::Contradictory, 20),
        attack("replay, 2 s old", Reader, What::Replay, 50),
        attack("reports of packets never sent", Reader, What::Unsent, 20),
        attack("foreign echo each 20 ms", Reader, What::Echo, 20),
        attack("foreign echo each 100 ms", Reader, What::Echo, 100),
        attack("foreign echo each 1 s", Reader, What::Echo, 1000),
        attack("one arrival 25 ms early", Reader, What::OneArrival(-25), 0),
        attack("one arrival 250 ms early", Reader, What::OneArrival(-250), 0),
        attack("one arrival an hour early", Reader, What::OneArrival(-HOUR), 0),
        attack("one arrival an hour late", Reader, What::OneArrival(HOUR), 0),
        attack("arrivals that creep ahead", Reader, What::Creep, 1000),
        attack("round trips that shrink", Reader, What::Shrink, 50),
        attack("times that jump", Reader, What::Jump, 50),
        attack("reference time that drifts", Reader, What::Drift, 50),
        attack("reference time that leaps", Reader, What::Leap, 100),
        attack("report numbers that jump", Reader, What::Numbers, 20),
        attack("round trip of zero", Reader, What::RoundTrip(0), 100),
        attack("round trip of 50 minutes", Reader, What::RoundTrip(50 * 60_000), 100),
        attack("REMB of 0", Reader, What::Ceiling(0), 20),
        attack("REMB of the maximum", Reader, What::Ceiling(u64::MAX), 20),
        attack("RR with loss 255", Reader, What::Loss, 20),
        attack("bit errors, in copies", Reader, What::BitErrors, 50),
        attack("run-length bombs", Reader, What::Bombs, 20),
        attack("all arrived", Receiver, What::AllArrived, 50),
        attack("early acknowledgement", Receiver, What::Early, 10),
        attack("all missing", Receiver, What::Missing, 50),
        attack("contradictory reports", Receiver, What::Contradictory, 50),
        attack("bit errors", Receiver, What::BitErrors, 50),
        attack("silence", Receiver, What::Numbers, 1_000_000),
    ]
};

/// Sends what an attack is made of.
#[derive(Debug)]
pub(super) struct Forger {
    attack: Attack,
    due: SendTime,
    rng: Pcg64Mcg,
    rounds: u64,
    /// All before it was told.
    told: SendTime,
    waiting: VecDeque<Vec<u8>>,
    writer: Option<FeedbackWriter>,
    number: u8,
}

impl Forger {
    pub(super) fn new(attack: Attack) -> Self {
        let rng = Pcg64Mcg::seed_from_u64(7);
        Self {
            attack,
            due: FROM,
            rng,
            rounds: 0,
            told: FROM,
            waiting: VecDeque::new(),
            writer: None,
            number: 0,
        }
    }

    pub(super) fn role(&self) -> Role {
        self.attack.role
    }

    pub(super) fn is_active(now: SendTime) -> bool {
        (FROM..TO).contains(&now)
    }

    /// When it wants to be asked.
    pub(super) fn next(&self, now: SendTime) -> Option<SendTime> {
        (self.due < TO && self.due > now).then_some(self.due)
    }

    /// What becomes of an honest report where the receiver is the attacker.
    pub(super) fn replace(&mut self, honest: &[u8]) -> Option<Vec<u8>> {
        matches!(self.attack.what, What::BitErrors).then(|| self.turned(honest))
    }

    /// The next datagram that comes at `now`.
    pub(super) fn poll(&mut self, now: SendTime, seen: &Seen) -> Option<Vec<u8>> {
        if self.due <= now && Self::is_active(now) {
            self.due = match self.attack.every_ms {
                0 => TO,
                every => self.due + TimeDelta::from_millis(every),
            };
            if !seen.packets.is_empty() {
                self.forge(now, seen);
                self.rounds += 1;
            }
        }
        self.waiting.pop_front()
    }

    fn forge(&mut self, now: SendTime, seen: &Seen) {
        let Some(&(_, newest)) = seen.packets.back() else { return };
        // What left before may have been told of, but for losses; what left after cannot have been there and back.
        let (from, until) = (now - ONE_WAY.scale(3.2), now - ONE_WAY.scale(1.4));
        let alternate = self.rounds % 2 == 1;
        match self.attack.what {
            What::AllArrived => {
                // As if no packet ever waited: of what left a round trip ago or before.
                let until = now - ONE_WAY * 2;
                self.tell(now, seen, until, |at| Some(clock(at) + ONE_WAY));
                self.praise(now, number_before(seen, until));
            }
            What::Early => {
                self.tell(now, seen, now, |at| Some(clock(at) + ONE_WAY));
                self.praise(now, newest);
            }
            What::Missing => self.tell(now, seen, now, |_| None),
            What::Contradictory => {
                self.tell(now, seen, now, |at| (!alternate).then(|| clock(at) + ONE_WAY));
            }
            What::Replay => {
                let old = now - TimeDelta::from_secs(2);
                let replayed = seen
                    .reports
                    .iter()
                    .filter(|(at, _)| *at <= old && *at > self.told - TimeDelta::from_secs(2));
                let replayed: Vec<_> = replayed.map(|(_, bytes)| bytes.clone()).collect();
                self.waiting.extend(replayed);
                self.told = now;
            }
            What::Unsent => {
                let ahead = newest.wrapping_add(300);
                let records: Vec<_> =
                    (0..20).map(|n| Record::new(ahead.wrapping_add(n), Some(clock(now)))).collect();
                self.report(now, seen.format, &records);
                self.praise(now, ahead);
            }
            What::Echo => self.echo(newest),
            What::OneArrival(ms) => {
                let Some(&(left, number)) = seen.packets.iter().rfind(|(at, _)| *at <= until) else { return };
                let at = clock(left) + ONE_WAY + TimeDelta::from_millis(ms);
                self.report(now, seen.format, &[Record::new(number, Some(at))]);
            }
            What::Creep => {
                let told = seen.packets.iter().filter(|(at, _)| (from..=until).contains(at));
                let told = told.zip(1..).map(|(&(left, number), step)| {
                    Record::new(number, Some(clock(left) + ONE_WAY - ONE_WAY.scale(1.8) * step))
                });
                let records: Vec<Record> = told.collect();
                self.report(now, seen.format, &records);
            }
            What::Shrink => {
                for ms in [25, 12, 5, 2, 1, 0] {
                    self.round_trip(now, ms, seen);
                }
                self.tell(now, seen, now, |at| Some(clock(at) + ONE_WAY));
                self.praise(now, newest);
            }
            What::Jump => {
                let hour = TimeDelta::from_secs(if alternate { 3600 } else { -3600 });
                self.tell(now, seen, now - ONE_WAY * 2, |at| Some(clock(at) + ONE_WAY + hour));
            }
            What::Drift => {
                let ahead = TimeDelta::from_nanos((now - FROM).nanos() * 60);
                self.tell(now, seen, now - ONE_WAY * 2, |at| Some(clock(at) + ONE_WAY + ahead));
            }
            What::Leap => self.leap(now, seen),
            What::Numbers => {
                // Something long told.
                let (at, number) = seen.packets[seen.packets.len() / 2];
                self.number = self.rng.random();
                self.report(now, seen.format, &[Record::new(number, Some(clock(at) + ONE_WAY))]);
            }
            What::RoundTrip(ms) => self.round_trip(now, ms, seen),
            What::Ceiling(rate) => {
                let source = self.source();
                self.write(|out, reporter| Remb::write(reporter, rate, &[source], out).ok());
            }
            What::Loss => self.reception(ReportBlock {
                fraction_lost: 255,
                highest_sequence: seen.highest,
                ..ReportBlock::default()
            }),
            What::BitErrors => {
                if self.attack.role == Role::Reader
                    && let Some((_, bytes)) = seen.reports.back()
                {
                    let turned = self.turned(bytes);
                    self.waiting.push_back(turned);
                }
            }
            What::Bombs => {
                let bomb = self.bomb(newest);
                self.waiting.push_back(bomb.repeat(36));
            }
        }
    }

    /// A receiver report by which a round trip takes so many ms: by the last sender report, where that is not as old.
    fn round_trip(&mut self, now: SendTime, ms: i64, seen: &Seen) {
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

    fn leap(&mut self, now: SendTime, seen: &Seen) {
        for step in 1..=3 {
            let (at, number) = seen.packets[seen.packets.len() / 2];
            // 12.4 days of transport-wide feedback, 18.2 hours of RFC 8888.
            let period = match seen.format {
                PacketFormat::TransportWide => 1_073_741,
                PacketFormat::Rfc8888 => 65_536,
            };
            let leap = TimeDelta::from_secs(period * 2 * step / 5);
            self.report(now + leap, seen.format, &[Record::new(number, Some(clock(at) + ONE_WAY + leap))]);
        }
        let datagram = self.waiting.drain(..).collect::<Vec<_>>().concat();
        self.waiting.push_back(datagram);
    }

    /// Whose packets it is about.
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

    /// Tells of all packets that left after those told last and by `until`.
    fn tell(
        &mut self,
        now: SendTime,
        seen: &Seen,
        until: SendTime,
        arrival: impl Fn(SendTime) -> Option<ArrivalTime>,
    ) {
        let new = |&&(at, _): &&(SendTime, u16)| at > self.told && at <= until;
        let told: Vec<(SendTime, u16)> = seen.packets.iter().filter(new).copied().collect();
        let Some((&(_, first), &(last, end))) = told.first().zip(told.last()) else { return };
        // Numbers between that no packet has are told as well: a reader who knows of them would not, the receiver who has not
        // seen them must choose.
        let reader = self.attack.role == Role::Reader;
        let mut records = Vec::new();
        let mut left = told.iter().peekable();
        let mut number = first;
        loop {
            let packet = left.next_if(|(_, told)| *told == number);
            let at = packet.map_or(last, |(at, _)| *at);
            let there = packet.is_some() || !reader;
            records.push(Record::new(number, arrival(at).filter(|_| there)));
            if number == end {
                break;
            }
            number = number.wrapping_add(1);
        }
        self.report(now, seen.format, &records);
        self.told = until;
    }

    fn report(&mut self, now: SendTime, format: PacketFormat, records: &[Record]) {
        let (source, blind) = (self.source(), self.attack.role == Role::Blind);
        let new = || match format {
            PacketFormat::TransportWide => FeedbackWriter::transport_wide(RECEIVER, source),
            PacketFormat::Rfc8888 => FeedbackWriter::rfc_8888(RECEIVER, source),
        };
        let mut writer = self.writer.take().filter(|_| !blind).unwrap_or_else(new);
        // When it was made, by RFC 8888: not before the arrivals, nor so long after that their times cannot be told.
        let made = clock(now) - ONE_WAY;
        let last = records.iter().rev().find_map(|record| record.reception.time());
        let told = |at: &ArrivalTime| !(TimeDelta::ZERO..TimeDelta::from_secs(1)).contains(&(made - *at));
        let at = last.filter(told).unwrap_or(made);
        let report = Report::Packets { records, number: self.number, at: Some(at) };
        let mut out = [0; 1472];
        let mut length = writer.write(&report, &mut out);
        while let Some(written) = length {
            self.waiting.push_back(out[..written].to_vec());
            length = writer.write_rest(&mut out);
        }
        self.writer = Some(writer);
    }

    /// The same in the reports of the laws that have their own: the path is empty, and everything arrives.
    fn praise(&mut self, now: SendTime, number: u16) {
        let source = self.source();
        self.write(|out, ssrc| {
            let report = Nada {
                ssrc,
                source,
                ramp_up: true,
                congestion: 0,
                transport_sequence: number,
                receive_rate: u32::MAX,
                held: 0,
            };
            report.write(out).ok()
        });
        self.write(|out, ssrc| {
            let (transport_sequence, held) = (number, 0);
            NadaDelay { ssrc, source, congestion: 0, reference: 25_000, transport_sequence, held }
                .write(out)
                .ok()
        });
        self.write(|out, ssrc| {
            let (transport_sequence, held) = (number, 0);
            Tfrc { ssrc, source, loss_event_rate: 0, receive_rate: u32::MAX, held, transport_sequence }
                .write(out)
                .ok()
        });
        self.write(|out, ssrc| {
            let report = Dccc {
                ssrc,
                source,
                delay_nanos: ONE_WAY.nanos() + CLOCK.nanos(),
                made_nanos: clock(now).nanos(),
                interarrival: Dccc::interarrival_from_nanos(1_000_000),
                sending_rate: Dccc::sending_rate_from_bps(5_000_000),
                packet_size: 1200,
                transport_sequence: number,
                held: 0,
            };
            report.write(out).ok()
        });
        self.write(|out, ssrc| Remb::write(ssrc, u64::MAX, &[source], out).ok());
    }

    /// A report of a law that nobody has here.
    fn echo(&mut self, number: u16) {
        let source = self.source();
        self.write(|out, ssrc| {
            let report = weir_wire::rtcp::Own {
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

    /// `bytes` with one bit turned.
    fn turned(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let bit = self.rng.random_range(0..bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    }

    /// A transport-wide message of 40 bytes that has 65 535 packets arrived, at times that it does not tell.
    fn bomb(&mut self, newest: u16) -> Vec<u8> {
        let source = self.source();
        let base = newest.wrapping_add(2);
        let mut bytes = vec![0x8F, 205, 0, 9];
        bytes.extend(RECEIVER.to_be_bytes());
        bytes.extend(source.to_be_bytes());
        bytes.extend(base.to_be_bytes());
        bytes.extend(u16::MAX.to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
        // Nine runs of up to 8191 that are not received.
        bytes.extend([0x1F, 0xFF].repeat(9));
        bytes.extend([0, 0]);
        bytes
    }
}
