//! Bytes to per-packet reports.

use weir_cc::history::SendHistory;
use weir_cc::{ArrivalTime, Ecn, Reception, Record, Report, SendTime};
use weir_units::TimeDelta;
use weir_wire::rtcp::{self, Ccfb, Message, Twcc};

use super::numbers::StreamNumbers;

/// For so long all reports must say of the receiver's clock what the history believes before times are read next to that.
const BELIEVED_FOR: TimeDelta = TimeDelta::from_secs(2);
/// Clocks are the same where they differ by less than this part of what the wire can tell apart.
const SAME: i64 = 8;

/// Makes reports of RTCP packets, in room that is used again. One reader is for one path: it knows the times that it has read
/// last, to go on where the wire wraps.
#[derive(Debug, Default)]
pub struct FeedbackReader {
    records: Vec<Record>,
    /// What the receiver's clock was ahead of ours with the first report, in nanoseconds: times are read next to that, whatever
    /// single reports say. Where all agree on another clock for [`BELIEVED_FOR`], and the history with them, it is that: a time
    /// half of the period away could be read both ways.
    ahead: Option<i64>,
    /// Since when they have agreed on it.
    moved: Option<SendTime>,
    /// The last report timestamp, as on the wire.
    made: Option<u32>,
    /// How many reports had another timestamp than the one before, modulo 256.
    number: u8,
    refused: u64,
    unsent: u64,
}

impl FeedbackReader {
    /// A reader that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The report in `message`, which came at `now`: transport-wide feedback whatever source it names, on the packets of
    /// `history`, and what RFC 8888 tells of the streams in `numbers`. `None` for all else, and for what is
    /// [refused](Self::refused). Read one of the two forms, the one that was agreed on: who may send another may choose what suits
    /// him.
    pub fn read(
        &mut self,
        now: SendTime,
        message: &Message<'_>,
        numbers: &StreamNumbers,
        history: &SendHistory,
    ) -> Option<Report<'_>> {
        match message {
            Message::Twcc(feedback) => self.read_transport_wide(now, feedback, history),
            Message::Ccfb(feedback) => self.read_rfc_8888(now, feedback, numbers, history),
            _ => None,
        }
    }

    /// The report that came at `now` as transport-wide feedback. Records go by the numbers of the transport's header
    /// extension, which are the lower 16 bits of those in `history`. `None` if it claims more packets than have left ([`SendHistory::may_tell`]): 40 bytes can name 65 535.
    pub fn read_transport_wide(
        &mut self,
        now: SendTime,
        feedback: &Twcc<'_>,
        history: &SendHistory,
    ) -> Option<Report<'_>> {
        if !history.may_tell(feedback.base_sequence, feedback.status_count) {
            self.refused += 1;
            return None;
        }
        let reference = self.nearest(now, feedback.reference_nanos(), Twcc::PERIOD_NANOS);
        self.records.clear();
        self.records.extend(feedback.statuses().map(|(sequence, status)| {
            let reception = match status.nanos() {
                Some(nanos) => Reception::At(ArrivalTime::from_nanos(reference) + span(nanos)),
                None if status == rtcp::Reception::Untimed => Reception::Untimed,
                None => Reception::Missing,
            };
            Record { reception, ..Record::new(sequence, None) }
        }));
        // A report without times of arrivals has no reference time worth the name.
        if self.records.iter().any(|record| record.reception.time().is_some()) {
            self.follow(now, reference, Twcc::PERIOD_NANOS, history);
        }
        Some(Report::Packets { records: &self.records, number: feedback.number, at: None })
    }

    /// The reading of `value` that is nearest to the receiver's clock `now`.
    fn nearest(&self, now: SendTime, value: i64, period: i64) -> i64 {
        nearest(now.nanos().saturating_add(self.ahead.unwrap_or(0)), value, period)
    }

    /// A report that came at `now` has told the receiver's clock `read`.
    fn follow(&mut self, now: SendTime, read: i64, period: i64, history: &SendHistory) {
        let Some(ahead) = self.ahead else {
            self.ahead = Some(read.saturating_sub(now.nanos()));
            return;
        };
        let is_read =
            |clock: i64| nearest(0, read.saturating_sub(clock), period).saturating_abs() < period / SAME;
        let believed = history.least_delay().map(|delay| delay.after(now).nanos());
        let Some(believed) =
            believed.filter(|&clock| is_read(clock) && !is_read(now.nanos().saturating_add(ahead)))
        else {
            self.moved = None;
            return;
        };
        if now - *self.moved.get_or_insert(now) >= BELIEVED_FOR {
            self.ahead = Some(believed.saturating_sub(now.nanos()));
            self.moved = None;
        }
    }

    /// How many reports claimed more packets than have left.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// How many reports of RFC 8888 named packets which have not left ([`StreamNumbers::is_unsent`]).
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// The report on the streams of `numbers` that came at `now` as congestion control feedback of RFC 8888, if there is
    /// any in it. Records go by the packets' numbers in `history`; packets that have none are left out; reports
    /// that name packets which have not left are [counted](Self::unsent). Reports are numbered here, by their times: none is missed.
    pub fn read_rfc_8888(
        &mut self,
        now: SendTime,
        feedback: &Ccfb<'_>,
        numbers: &StreamNumbers,
        history: &SendHistory,
    ) -> Option<Report<'_>> {
        let ours = || feedback.blocks().filter(|block| numbers.contains(block.source));
        ours().next()?;
        let made = self.nearest(now, feedback.timestamp_nanos(), Ccfb::PERIOD_NANOS);
        self.follow(now, made, Ccfb::PERIOD_NANOS, history);
        let at = ArrivalTime::from_nanos(made);
        if self.made.replace(feedback.timestamp) != Some(feedback.timestamp) {
            self.number = self.number.wrapping_add(1);
        }
        self.records.clear();
        let mut unsent = false;
        for block in ours() {
            self.records.extend(block.metrics().filter_map(|(sequence, metric)| {
                if numbers.is_unsent(block.source, sequence) {
                    unsent = true;
                    return None;
                }
                let sequence = numbers.number(block.source, sequence)?;
                let Some(metric) = metric else {
                    return Some(Record::new(sequence, None));
                };
                let time = metric.offset_nanos().map(|nanos| at - span(nanos));
                let reception = time.map_or(Reception::Untimed, Reception::At);
                Some(Record { sequence, reception, ecn: ecn(metric.ecn) })
            }));
        }
        self.unsent += u64::from(unsent);
        if let Some(&Record { sequence: base, .. }) = self.records.first().filter(|_| ours().count() > 1) {
            self.records.sort_unstable_by_key(|record| record.sequence.wrapping_sub(base) as i16);
        }
        Some(Report::Packets { records: &self.records, number: self.number, at: Some(at) })
    }
}

const fn span(nanos: i64) -> TimeDelta {
    TimeDelta::from_nanos(nanos)
}

/// What is nearest to `near` among the values that differ from `value` by whole periods.
fn nearest(near: i64, value: i64, period: i64) -> i64 {
    let ahead = value.rem_euclid(period) - near.rem_euclid(period);
    let ahead = (ahead + period / 2).rem_euclid(period) - period / 2;
    near.saturating_add(ahead)
}

const fn ecn(codepoint: u8) -> Ecn {
    match codepoint & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}
