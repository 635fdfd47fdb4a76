//! A table of values separated by commas; the first line names the columns, with the unit of times in the name.
//!
//! A table of packets has a row for each packet:
//!
//! | column | content |
//! |---|---|
//! | `sent_us`, `sent_ms` or `sent_s` | departure |
//! | `arrived_us`, `arrived_ms` or `arrived_s` | arrival; empty for a lost packet |
//! | `reported_us`, `reported_ms` or `reported_s` | time at which the sender learnt of the arrival, or of the loss |
//! | `bytes` or `payload_bytes` | bytes of the RTP packet, or of its payload |
//! | `header_bytes`, `padding_bytes` | bytes of the RTP header and of padding, beside `payload_bytes` |
//! | `stream` | number of the RTP stream, from 0 |
//! | `sequence`, `number` | RTP sequence number and transport-wide number, as in the packet or unwrapped |
//! | `timestamp`, `marker`, `ecn`, `probe` | as in [`PacketRow`](weir_world::recorded::PacketRow) |
//!
//! A departure or an arrival, and one of the two sizes, are needed. Arrivals are times of the sender's clock or of the
//! receiver's. They count as times of the receiver's clock if any arrival is before its departure, or an hour after it.
//!
//! A table of statistics has a row for each report of `getStats`: a time as `t_us`, `t_ms` or `t_s`, and columns such
//! as `outbound-rtp.bytesSent` or `A.out.bytesSent`. The word before the member is a type of W3C webrtc-stats, or
//! `out`, `in`, `remoteIn`, `remoteOut`, `pair`, `transport` or `source`; a word before that distinguishes objects.

mod lines;
mod packets;
mod rows;
mod statistics;
#[cfg(test)]
mod tests;

use std::io::Read;

use csv::{ReaderBuilder, StringRecord, Trim};
use weir_world::RecordedCall;

use self::lines::BoundedLines;
use self::rows::TableRows;
use super::{CallImportError, CallOptions};

/// Units of times in names of columns, with their length in µs.
const UNITS: [(&str, f64); 3] = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
/// The largest time in µs; a call allows twice as much for its own times.
const RANGE_US: f64 = 9e16;

/// Whether a file that begins with `head` is a table of packets or of statistics.
pub fn sniff(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let Ok(line) = core::str::from_utf8(line) else { return false };
    let names = || line.split(',').map(|name| name.trim().trim_matches('"'));
    let timed = |prefix| names().any(|name| time_column(name, prefix).is_some());
    timed("sent") || timed("arrived") || timed("t") && names().any(|name| name.contains('.'))
}

/// Reads the table.
///
/// # Errors
/// The file cannot be read, a column is unknown or missing, or a value is not a number in its range.
pub fn read(input: impl Read, options: &CallOptions) -> Result<RecordedCall, CallImportError> {
    let lines = BoundedLines::new(input);
    let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::All).from_reader(lines);
    let names = reader.headers().map_err(no_table)?.clone();
    let first = names.get(0).unwrap_or_default().trim_start_matches('\u{FEFF}').to_owned();
    let names: Vec<String> = core::iter::once(first).chain(names.iter().skip(1).map(str::to_owned)).collect();
    if names.iter().all(String::is_empty) {
        return Err(CallImportError::UnknownForm("the file is empty".to_owned()));
    }
    let is_statistics = names.iter().any(|name| time_column(name, "t").is_some());
    let mut rows = TableRows::new(reader.into_records(), names.len());
    let mut call = if is_statistics {
        statistics::read(&names, &mut rows, options)?
    } else {
        packets::read(&names, &mut rows)?
    };
    call.remarks.extend(rows.into_remark());
    Ok(call)
}

/// The µs of a unit of the column `name`, if it is `prefix` with a unit.
fn time_column(name: &str, prefix: &str) -> Option<f64> {
    let unit = name.strip_prefix(prefix)?.strip_prefix('_')?;
    UNITS.into_iter().find_map(|(own, micros)| (own == unit).then_some(micros))
}

fn no_table(error: csv::Error) -> CallImportError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => CallImportError::Io(error),
        _ => CallImportError::at(format!("line {line}"), "this is no text in UTF-8, separated by commas"),
    }
}

/// A cell of a record, for errors.
#[derive(Clone, Copy)]
struct TableCell<'r> {
    record: &'r StringRecord,
    column: usize,
    name: &'r str,
}

impl TableCell<'_> {
    fn fault(&self, problem: &str) -> CallImportError {
        let line = self.record.position().map_or(1, csv::Position::line);
        CallImportError::at(format!("line {line}, column `{}`", self.name), problem)
    }

    fn text(&self) -> &str {
        self.record.get(self.column).unwrap_or_default()
    }

    /// The number in the cell, if it is not empty.
    fn number(&self) -> Result<Option<f64>, CallImportError> {
        let text = self.text();
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| self.fault("this is not a number; an unknown value is left empty"))
    }

    /// A time in units of `micros` µs.
    fn time_us(&self, micros: f64) -> Result<Option<i64>, CallImportError> {
        let time = self.number()?.map(|number| (number * micros).round());
        match time {
            Some(time) if time.abs() > RANGE_US => Err(self.fault("this time is out of range")),
            time => Ok(time.map(|time| time as i64)),
        }
    }

    /// An integer from `least` to `greatest`.
    fn integer(&self, least: i64, greatest: i64) -> Result<Option<i64>, CallImportError> {
        let text = self.text();
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse::<i64>().ok().filter(|number| (least..=greatest).contains(number));
        let problem = || format!("an integer from {least} to {greatest} is needed");
        number.map(Some).ok_or_else(|| self.fault(&problem()))
    }
}
