//! Reads per-packet reports from RTCP messages.

use weir_cc::history::SendHistory;
use weir_cc::{ArrivalTime, Ecn, Reception, Record, Report, SendTime};
use weir_units::TimeDelta;
use weir_wire::rtcp::{self, Ccfb, Message, Twcc};

use super::numbers::StreamNumbers;

/// Time for which all reports must agree with the history's estimate of the receiver's clock before it replaces the
/// reference.
const BELIEVED_FOR: TimeDelta = TimeDelta::from_secs(2);
/// Two clocks agree if they differ by less than the period of the field divided by this.
const SAME: i64 = 8;

/// Makes reports of RTCP messages, in a buffer that is reused. Each path needs its own reader, which keeps the last
/// times to unwrap the next ones.
#[derive(Debug, Default)]
pub struct FeedbackReader {
    records: Vec<Record>,
    /// Reference for unwrapping: offset of the receiver's clock from ours in the first report, in nanoseconds. A single
    /// report does not change it. Where all agree on another clock for [`BELIEVED_FOR`], and the history with them, the
    /// reference moves there. A time half a period away would be ambiguous.
    ahead: Option<i64>,
    /// Time since which they have agreed on it.
    moved: Option<SendTime>,
    /// The last report timestamp, as on the wire.
    made: Option<u32>,
    /// Number of reports whose timestamp differed from the one before, modulo 256.
    number: u8,
    refused: u64,
    unsent: u64,
}

impl FeedbackReader {
    /// A reader without any report yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The report in `message`, which came at `now`. Transport-wide feedback is read for the packets of `history`, from
    /// any source; RFC 8888 feedback for the streams in `numbers`. Returns `None` for all else, and for
    /// [refused](Self::refused) reports. Read only the form that was agreed on: an attacker that may send the other one
    /// as well could choose between them.
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

    /// The report that came at `now` as transport-wide feedback. Records use the numbers of the transport's header
    /// extension, which are the lower 16 bits of those in `history`. Returns `None` if it claims more packets than have
    /// left ([`SendHistory::may_cover`]): 40 bytes can name 65 535.
    pub fn read_transport_wide(
        &mut self,
        now: SendTime,
        feedback: &Twcc<'_>,
        history: &SendHistory,
    ) -> Option<Report<'_>> {
        if !history.may_cover(feedback.base_sequence, feedback.status_count) {
            self.refused += 1;
            return None;
        }
        let reference = self.nearest(now, feedback.reference_nanos(), Twcc::PERIOD_NANOS);
        self.records.clear();
        self.records.extend(feedback.statuses().map(|(sequence, status)| {
            let reception = match status.nanos() {
                Some(nanos) => Reception::At(ArrivalTime::from_nanos(reference) + span(nanos)),
                None if status == rtcp::PacketStatus::Untimed => Reception::Untimed,
                None => Reception::Missing,
            };
            Record { reception, ..Record::new(sequence, None) }
        }));
        // Without arrival times a report has no meaningful reference time.
        if self.records.iter().any(|record| record.reception.time().is_some()) {
            self.follow(now, reference, Twcc::PERIOD_NANOS, history);
        }
        Some(Report::Packets { records: &self.records, number: feedback.number, at: None })
    }

    /// The time nearest to the receiver's clock at `now` among those that equal `value` modulo `period`.
    fn nearest(&self, now: SendTime, value: i64, period: i64) -> i64 {
        nearest(now.nanos().saturating_add(self.ahead.unwrap_or(0)), value, period)
    }

    /// Takes the receiver's clock `read` of a report that came at `now`, to move the reference if need be.
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

    /// Number of reports that claimed more packets than have left.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Number of reports of RFC 8888 that named packets which have not left ([`StreamNumbers::is_unsent`]).
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// The report on the streams of `numbers` that came at `now` as congestion control feedback of RFC 8888, if it
    /// covers any of them. Records use the packets' numbers in `history`; packets without one are left out. Reports
    /// that name packets which have not left are [counted](Self::unsent). Reports are numbered here, by their
    /// timestamps, so no gap is ever seen.
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

/// The value nearest to `near` among those that differ from `value` by whole periods.
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
