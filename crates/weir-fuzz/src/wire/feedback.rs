//! Per-packet reports: records that are written as RTCP bytes, read, and joined with the sent packets.

use std::collections::BTreeSet;

use weir_cc::history::SendHistory;
use weir_cc::{ArrivalTime, Ecn, Feedback, Reception, Record, Report, SendTime};
use weir_media::feedback::{FeedbackReader, FeedbackWriter, StreamNumbers};
use weir_units::{DataSize, TimeDelta};
use weir_wire::rtcp::{self, Ccfb, Message, Twcc, messages};

use crate::input::{ClockReadings, Input};

const SOURCE: u32 = 1;

/// A form of reports, and its resolution of times.
struct ReportForm {
    writer: FeedbackWriter,
    ecn: bool,
    /// Nanoseconds after which times repeat.
    period: i64,
    /// Tolerance of a time in nanoseconds.
    rounding: i64,
}

impl ReportForm {
    fn any(input: &mut Input<'_>) -> Self {
        if input.flag() {
            let writer = FeedbackWriter::transport_wide(2, SOURCE);
            Self { writer, ecn: false, period: Twcc::PERIOD_NANOS, rounding: 125_000 }
        } else {
            let writer = FeedbackWriter::rfc_8888(2, SOURCE);
            // An offset is rounded by up to 1/1024 s, a timestamp by up to 1/65536 s.
            Self { writer, ecn: true, period: Ccfb::PERIOD_NANOS, rounding: 1_000_000 }
        }
    }

    /// Whether `read` is a valid reading of `given`.
    fn is_reading_of(&self, given: &Record, read: &Record) -> bool {
        let same_time = |(given, read): (ArrivalTime, ArrivalTime)| {
            let distance = i128::from(read.nanos()) - i128::from(given.nanos());
            let distance = distance.rem_euclid(i128::from(self.period)) as i64;
            distance.min(self.period - distance) <= self.rounding
        };
        let same = match (given.reception, read.reception) {
            (Reception::At(given), Reception::At(read)) => same_time((given, read)),
            // The arrival is after its report, or so long before it that there is no offset for it.
            (Reception::At(_), Reception::Untimed) => self.ecn,
            // Transport-wide feedback reports an arrival once: `Wire` records whether it did before.
            (Reception::At(_), Reception::Missing) => !self.ecn,
            // This form has no arrivals without times.
            (Reception::Untimed, read) => {
                read == if self.ecn { Reception::Untimed } else { Reception::Missing }
            }
            (Reception::Missing, read) => read == Reception::Missing,
        };
        same && (!self.ecn || !read.reception.is_arrival() || read.ecn == given.ecn)
    }
}

/// Space for a packet of either form.
const ROOM_ENOUGH: usize = 24;

/// The reports made on the wire so far.
#[derive(Default)]
struct Wire {
    /// Numbers that transport-wide feedback reported as arrived, none of them [`Self::SPAN`] or more behind the
    /// newest.
    reported: BTreeSet<u16>,
    newest: u16,
}

impl Wire {
    /// A writer remembers so many numbers.
    const SPAN: u16 = 1024;

    /// Checks that `message` reports the first of `records` in order, and that transport-wide feedback reports an
    /// arrival once. Returns the number of records that it reports.
    fn check_message(&mut self, message: &Message<'_>, records: &[Record]) -> usize {
        let (statuses, once): (Vec<(u16, bool)>, bool) = match message {
            Message::Twcc(feedback) => {
                let arrived = |(sequence, reception)| {
                    assert_ne!(reception, rtcp::PacketStatus::Untimed, "{sequence}");
                    (sequence, reception != rtcp::PacketStatus::Missing)
                };
                (feedback.statuses().map(arrived).collect(), true)
            }
            Message::Ccfb(feedback) => {
                let metrics = feedback.blocks().flat_map(|block| block.metrics());
                (metrics.map(|(sequence, metric)| (sequence, metric.is_some())).collect(), false)
            }
            message => panic!("{message:?}"),
        };
        assert!((1..=records.len()).contains(&statuses.len()), "{statuses:?} of {records:?}");
        let before = |sequence: u16| {
            self.newest.wrapping_sub(sequence) < Self::SPAN && self.reported.contains(&sequence)
        };
        for (&(sequence, arrived), given) in statuses.iter().zip(records) {
            assert_eq!(sequence, given.sequence, "{statuses:?} of {records:?}");
            let news = if once {
                given.reception.time().is_some() && !before(sequence)
            } else {
                given.reception.is_arrival()
            };
            assert_eq!(arrived, news, "{given:?} after {:?}", self.reported);
        }
        if once {
            let arrived = records[..statuses.len()].iter().filter(|record| record.reception.time().is_some());
            arrived.for_each(|record| self.note(record.sequence));
        }
        statuses.len()
    }

    fn note(&mut self, sequence: u16) {
        let ahead = sequence.wrapping_sub(self.newest) as i16;
        if self.reported.is_empty() || ahead.unsigned_abs() >= Self::SPAN {
            // Numbers start anew.
            self.reported.clear();
            self.newest = sequence;
        } else if ahead > 0 {
            self.newest = sequence;
            self.reported.retain(|number| sequence.wrapping_sub(*number) < Self::SPAN);
        }
        self.reported.insert(sequence);
    }
}

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut form = ReportForm::any(&mut input);
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    let (mut reader, numbers) = (FeedbackReader::new(), StreamNumbers::same_as_history(SOURCE));
    let (mut course, mut now) = (ClockReadings::default(), SendTime::ZERO);
    let (mut number, mut wire) = (0, Wire::default());
    while !input.is_empty() {
        now += course.step(&mut input);
        if input.seldom(16) {
            history.change_route(now);
        }
        if input.seldom(16) {
            history.leave_out(now);
        }
        for _ in 0..input.byte() {
            let (header, payload) = (DataSize::from_bytes(24), DataSize::from_bytes(1200));
            history.on_media_sent(now, header, payload);
        }
        number = if input.seldom(8) { input.byte() } else { number };
        let records = records(&mut input, now, history.next_number() as u16);
        let at = input.seldom(4).then(|| ArrivalTime::from_nanos(now.nanos()) + some_time(&mut input));
        let report = Report::Packets { records: &records, number, at };
        number = number.wrapping_add(1);
        let mut buffer = [0; 1472];
        let buffer = &mut buffer[..if input.seldom(8) { usize::from(input.u16()) % 1472 } else { 1472 }];
        let (mut read_records, mut on_wire) = (0, 0);
        let mut written = form.writer.write(&report, buffer);
        while let Some(length) = written {
            assert!(length <= buffer.len() && length <= Twcc::MAX_LEN);
            for message in messages(&buffer[..length]) {
                let message = message.expect("what was written can be read");
                on_wire += wire.check_message(&message, &records[on_wire..]);
                let Some(read) = reader.read(now, &message, &numbers, &history) else { continue };
                let Report::Packets { records: read, .. } = read else { panic!("{read:?}") };
                for read in read {
                    let given =
                        records[read_records..].iter().position(|given| given.sequence == read.sequence);
                    read_records += given.unwrap_or_else(|| panic!("{read:?} of {records:?}"));
                    assert!(
                        form.is_reading_of(&records[read_records], read),
                        "{read:?} of {:?}",
                        records[read_records]
                    );
                }
                let report = Report::Packets { records: read, number, at };
                join(&mut history, now, &report);
            }
            written = form.writer.write_rest(buffer);
        }
        assert!(on_wire == records.len() || buffer.len() < ROOM_ENOUGH, "{on_wire} reported of {records:?}");
    }
}

/// Checks that each sent packet is reported once at most, and that less is in flight than was sent.
fn join(history: &mut SendHistory, now: SendTime, report: &Report<'_>) {
    let (next, in_flight) = (history.next_number(), history.in_flight());
    if let Some(Feedback::Packets { results, .. }) = history.join(now, report) {
        assert!(results.iter().all(|result| result.sent.id < next));
    }
    assert!(history.in_flight() <= in_flight, "{in_flight:?} → {:?}", history.in_flight());
}

/// Records of up to 300 packets in a row, mostly of those that left last.
fn records(input: &mut Input<'_>, now: SendTime, next: u16) -> Vec<Record> {
    let count = input.below(300) as u16;
    let base = if input.seldom(8) { input.u16() } else { next.wrapping_sub(input.below(400) as u16) };
    let mut at = ArrivalTime::from_nanos(now.nanos()) + some_time(input);
    let record = |ahead| {
        at += TimeDelta::from_micros(input.below(20_000) as i64);
        if input.seldom(32) {
            at += some_time(input);
        }
        let reception = match input.below(16) {
            0..4 => Reception::Missing,
            4 => Reception::Untimed,
            _ => Reception::At(at),
        };
        let ecn = if input.seldom(8) { Ecn::Ce } else { Ecn::NotEct };
        let ecn = if reception.is_arrival() { ecn } else { Ecn::NotEct };
        Record { sequence: base.wrapping_add(ahead), reception, ecn }
    };
    (0..count).map(record).collect()
}

/// A time up to ten seconds back or ahead, or up to fifty years.
fn some_time(input: &mut Input<'_>) -> TimeDelta {
    const YEARS: i64 = 50 * 365 * 86_400_000_000_000;
    if input.seldom(8) {
        return TimeDelta::from_nanos(input.u64() as i64 % YEARS);
    }
    TimeDelta::from_micros(input.below(20_000_000) as i64 - 10_000_000)
}
