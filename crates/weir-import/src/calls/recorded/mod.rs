//! A [`RecordedCall`] as JSON.

mod limits;
#[cfg(test)]
mod tests;

use std::io::{self, BufReader, Read, Write};

use weir_world::RecordedCall;

use self::limits::LimitedJson;
use super::CallImportError;

/// Reads a call that [`write`] wrote.
///
/// # Errors
/// The source cannot be read, is no such call, or is longer than any such call.
pub(super) fn read(source: impl Read) -> Result<RecordedCall, CallImportError> {
    let mut limited = LimitedJson::new(source);
    let parsed = serde_json::from_reader(BufReader::new(&mut limited));
    if let Some((byte, problem)) = limited.excess() {
        return Err(CallImportError::at(format!("byte {byte}"), problem));
    }
    let call: RecordedCall = parsed.map_err(|error: serde_json::Error| {
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
    call.check().map_err(|fault| CallImportError::Lacking(fault.to_string()))?;
    Ok(call)
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
