//! A [`RecordedCall`] as JSON.

mod limits;
#[cfg(test)]
mod tests;

use std::io::{self, BufReader, Read, Write};

use weir_world::RecordedCall;
use weir_world::recorded::RemarkSentence;

use self::limits::LimitedJson;
use super::CallImportError;
use super::counters::names::{StatisticsMember, label};

/// Reads a call that [`write`] wrote. Text of a file that another program wrote does not enter it.
///
/// # Errors
/// The source cannot be read, is of another form, or is longer than any such call.
pub(super) fn read(source: impl Read) -> Result<RecordedCall, CallImportError> {
    let mut limited = LimitedJson::new(source);
    let parsed = serde_json::from_reader(BufReader::new(&mut limited));
    if let Some((byte, problem)) = limited.excess() {
        return Err(CallImportError::at(format!("byte {byte}"), problem));
    }
    let mut call: RecordedCall = parsed.map_err(|error: serde_json::Error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        match error.classify() {
            serde_json::error::Category::Io => CallImportError::Io(error.into()),
            serde_json::error::Category::Eof => CallImportError::at(place, "the file is cut off"),
            _ => {
                // Its message ends with the place.
                let text = error.to_string();
                let problem = text.split(" at line ").next().unwrap_or_default();
                CallImportError::at(place, problem)
            }
        }
    })?;
    keep_known_texts(&mut call);
    Ok(call)
}

/// Leaves out series and remarks that no import makes, and names a label that no import keeps "other".
fn keep_known_texts(call: &mut RecordedCall) {
    let counts = |call: &RecordedCall| (call.counters.len() + call.labels.len(), call.remarks.len());
    let before = counts(call);
    call.counters.retain(|series| {
        matches!(StatisticsMember::of_series(&series.name), Some(StatisticsMember::Number(_)))
    });
    call.labels.retain_mut(|series| {
        let Some(StatisticsMember::Label(_, known)) = StatisticsMember::of_series(&series.name) else {
            return false;
        };
        for own in &mut series.labels {
            *own = label(known, own).to_owned();
        }
        true
    });
    call.remarks.retain(|remark| RemarkSentence::is_known(remark));
    let after = counts(call);
    let left_out = [
        (RemarkSentence::UNKNOWN_SERIES, before.0 - after.0),
        (RemarkSentence::UNKNOWN_REMARKS, before.1 - after.1),
    ];
    for (sentence, count) in left_out.into_iter().filter(|(_, count)| *count > 0) {
        call.remarks.push(sentence.with(&[&count]));
    }
}

/// Writes `call` as JSON, in one line.
///
/// # Errors
/// `destination` cannot be written.
pub fn write(call: &RecordedCall, mut destination: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut destination, call)?;
    destination.write_all(b"\n")?;
    destination.flush()
}
