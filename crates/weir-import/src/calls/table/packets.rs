//! A table of packets.

use std::collections::BTreeMap;
use std::io::Read;

use weir_world::RecordedCall;
use weir_world::recorded::{
    ArrivalClock, CallBuilder, FeedbackReport, FeedbackReports, MOST_BEYOND_US, MOST_EVENTS, MOST_PACKETS,
    MOST_STREAMS, OptionalInteger, PacketRow, Packets, RecordedStream, RecordingSource, RemarkSentence,
};

use super::rows::TableRows;
use super::{TableCell, time_column};
use crate::calls::CallImportError;

/// Largest number of a packet. Unwrapped numbers stay within twice as much, which a call may have.
const LARGEST_NUMBER: i64 = 1 << 46;
/// The allowed columns, for errors.
const ALLOWED: &str = "sent, arrived and reported with _us, _ms or _s, bytes or payload_bytes, header_bytes, \
                       padding_bytes, stream, sequence, number, timestamp, marker, ecn, probe";

/// The content of a column; times have the µs of their unit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PacketColumn {
    Sent(f64),
    Arrived(f64),
    Reported(f64),
    Payload,
    Header,
    Padding,
    Stream,
    Sequence,
    Number,
    Timestamp,
    Marker,
    Ecn,
    Probe,
}

impl PacketColumn {
    fn of(name: &str) -> Option<Self> {
        let time = |prefix| time_column(name, prefix);
        let sent = time("sent").map(Self::Sent);
        let known = sent.or_else(|| time("arrived").map(Self::Arrived));
        let known = known.or_else(|| time("reported").map(Self::Reported));
        if known.is_some() {
            return known;
        }
        Some(match name {
            "bytes" | "payload_bytes" => Self::Payload,
            "header_bytes" => Self::Header,
            "padding_bytes" => Self::Padding,
            "stream" => Self::Stream,
            "sequence" => Self::Sequence,
            "number" => Self::Number,
            "timestamp" => Self::Timestamp,
            "marker" => Self::Marker,
            "ecn" => Self::Ecn,
            "probe" => Self::Probe,
            _ => return None,
        })
    }

    /// Whether two columns have the same content, in whatever unit.
    fn is_same(self, other: Self) -> bool {
        core::mem::discriminant(&self) == core::mem::discriminant(&other)
    }
}

pub(super) fn read<R: Read>(
    names: &[String],
    records: &mut TableRows<R>,
) -> Result<RecordedCall, CallImportError> {
    let columns = columns(names)?;
    let mut builder = CallBuilder::new(RecordingSource::Table);
    let has_sequence = columns.contains(&PacketColumn::Sequence);
    let mut last = LastNumbers::default();
    let mut left_out = 0_u64;
    let mut clock = ArrivalClock::Common;
    for record in records {
        let record = record?;
        let mut row = PacketRow::default();
        for (place, (column, name)) in columns.iter().zip(names).enumerate() {
            let cell = TableCell { record: &record, column: place, name };
            enter(*column, &cell, &mut row)?;
        }
        let place = TableCell { record: &record, column: 0, name: &names[0] };
        if !row.sent_us.is_known() && !row.arrived_us.is_known() {
            return Err(place.fault("the packet has neither a departure nor an arrival"));
        }
        if builder.call_mut().packets.len() >= MOST_PACKETS {
            left_out += 1;
            continue;
        }
        for time in [row.sent_us, row.reported_us].into_iter().filter_map(OptionalInteger::get) {
            builder.touch(time);
        }
        if let (Some(sent), Some(arrived)) = (row.sent_us.get(), row.arrived_us.get())
            && !(sent..=sent + MOST_BEYOND_US).contains(&arrived)
        {
            clock = ArrivalClock::Receiver;
        }
        last.unwrap(&mut row, has_sequence);
        let call = builder.call_mut();
        let streams = usize::from(row.stream) + 1;
        if call.streams.len() < streams {
            call.streams.resize(streams, RecordedStream::default());
        }
        call.packets.push(row);
    }
    if builder.call_mut().packets.is_empty() {
        return Err(CallImportError::Lacking("the table has no row under its first line".to_owned()));
    }
    if left_out > 0 {
        builder.remark(RemarkSentence::MORE_PACKETS.with(&[&left_out, &MOST_PACKETS]));
    }
    if clock == ArrivalClock::Common {
        let arrivals: Vec<i64> =
            builder.call_mut().packets.arrived_us.iter().filter_map(|time| time.get()).collect();
        for time in arrivals {
            builder.touch(time);
        }
    }
    let call = builder.call_mut();
    call.feedback = reports(&call.packets);
    builder.set_arrival_clock(clock);
    Ok(builder.finish())
}

/// The reports of the packets: one for each time at which fates of packets became known.
fn reports(packets: &Packets) -> FeedbackReports {
    let reported_us = |row: u32| packets.reported_us[row as usize].get().unwrap_or(i64::MIN);
    let known = |row: &u32| packets.reported_us[*row as usize].is_known();
    let mut rows: Vec<u32> = (0..packets.len() as u32).filter(known).collect();
    rows.sort_unstable_by_key(|&row| reported_us(row));
    let mut reports = FeedbackReports::default();
    for group in rows.chunk_by(|&one, &other| reported_us(one) == reported_us(other)).take(MOST_EVENTS) {
        let is_lost = |row: &&u32| !packets.arrived_us[**row as usize].is_known();
        let (time_us, lost) = (reported_us(group[0]), group.iter().filter(is_lost).count() as u32);
        reports.push(FeedbackReport { time_us, packets: group.len() as u32, lost, missed: 0 });
    }
    reports
}

fn columns(names: &[String]) -> Result<Vec<PacketColumn>, CallImportError> {
    let mut columns: Vec<PacketColumn> = Vec::new();
    for name in names {
        let fault = |problem: String| CallImportError::at("line 1", problem);
        let column = PacketColumn::of(name)
            .ok_or_else(|| fault(format!("the column `{name}` is unknown; allowed are {ALLOWED}")))?;
        if columns.iter().any(|other| other.is_same(column)) {
            return Err(fault(format!("the column `{name}` repeats another one")));
        }
        columns.push(column);
    }
    let has = |wanted: PacketColumn| columns.iter().any(|column| column.is_same(wanted));
    if !has(PacketColumn::Sent(0.0)) && !has(PacketColumn::Arrived(0.0)) {
        let problem = "no column has departures or arrivals, such as sent_ms or arrived_ms";
        return Err(CallImportError::at("line 1", problem));
    }
    if !has(PacketColumn::Payload) {
        return Err(CallImportError::at("line 1", "no column has sizes: bytes or payload_bytes"));
    }
    Ok(columns)
}

fn enter(column: PacketColumn, cell: &TableCell<'_>, row: &mut PacketRow) -> Result<(), CallImportError> {
    let integer = |greatest: i64| Ok::<i64, CallImportError>(cell.integer(0, greatest)?.unwrap_or(0));
    match column {
        PacketColumn::Sent(micros) => row.sent_us = cell.time_us(micros)?.into(),
        PacketColumn::Arrived(micros) => row.arrived_us = cell.time_us(micros)?.into(),
        PacketColumn::Reported(micros) => row.reported_us = cell.time_us(micros)?.into(),
        PacketColumn::Payload => row.payload_bytes = integer(i64::from(u16::MAX))? as u32,
        PacketColumn::Header => row.header_bytes = integer(i64::from(u16::MAX))? as u16,
        PacketColumn::Padding => row.padding_bytes = integer(i64::from(u16::MAX))? as u16,
        PacketColumn::Stream => row.stream = integer(MOST_STREAMS as i64 - 1)? as u16,
        PacketColumn::Sequence => row.sequence = integer(LARGEST_NUMBER)?,
        PacketColumn::Number => row.number = cell.integer(0, LARGEST_NUMBER)?.into(),
        PacketColumn::Timestamp => row.timestamp = integer(i64::from(u32::MAX))? as u32,
        PacketColumn::Marker => row.marker = integer(1)? as u8,
        PacketColumn::Ecn => row.ecn = integer(3)? as u8,
        PacketColumn::Probe => row.probe = cell.integer(0, i64::from(u32::MAX))?.into(),
    }
    Ok(())
}

/// The last sequence number of each stream, and the last transport-wide number.
#[derive(Debug, Default)]
struct LastNumbers {
    sequences: BTreeMap<u16, i64>,
    number: Option<i64>,
}

impl LastNumbers {
    /// Unwraps the numbers of `row`; without a column of them, sequence numbers count the rows.
    fn unwrap(&mut self, row: &mut PacketRow, has_sequence: bool) {
        let last = self.sequences.get(&row.stream).copied();
        row.sequence =
            if has_sequence { unwrapped(last, row.sequence) } else { last.map_or(0, |last| last + 1) };
        self.sequences.insert(row.stream, row.sequence);
        if let Some(number) = row.number.get() {
            let number = unwrapped(self.number, number);
            self.number = Some(number);
            row.number = OptionalInteger::new(number);
        }
    }
}

/// A number of 16 bits as the value nearest to the last one; a larger number as it is.
fn unwrapped(last: Option<i64>, number: i64) -> i64 {
    match last {
        Some(last) if number <= i64::from(u16::MAX) => {
            last + i64::from((number as u16).wrapping_sub(last as u16) as i16)
        }
        _ => number,
    }
}
