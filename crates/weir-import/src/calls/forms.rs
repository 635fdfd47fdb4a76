//! Forms of files with recorded calls.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use weir_world::RecordedCall;

use super::{CallImportError, CallOptions, event_log};

/// Bytes of the begin of a file that suffice for [`sniff`].
pub const SNIFFED_BYTES: usize = 4096;
/// The begin of a file compressed by gzip (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The form of a file with a recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallForm {
    /// An RTC event log of libwebrtc.
    EventLog,
    /// A [`RecordedCall`] as JSON.
    Recorded,
}

/// The form of a file with this begin, compressed by gzip or not; `None` for an unknown form.
pub fn sniff(begin: &[u8]) -> Option<CallForm> {
    if !begin.starts_with(&GZIP) {
        return sniff_plain(begin);
    }
    let mut plain = Vec::new();
    // The begin of a file ends within its compressed stream. This error comes after the bytes before it.
    let _: io::Result<usize> = MultiGzDecoder::new(begin).take(SNIFFED_BYTES as u64).read_to_end(&mut plain);
    sniff_plain(&plain)
}

fn sniff_plain(begin: &[u8]) -> Option<CallForm> {
    let text = begin.trim_ascii_start();
    if text.starts_with(b"{") {
        let has = |member: &[u8]| text.windows(member.len()).any(|part| part == member);
        return (has(br#""version""#) && has(br#""source""#)).then_some(CallForm::Recorded);
    }
    event_log::is_begin(begin).then_some(CallForm::EventLog)
}

/// Reads a recorded call of the form `form`, compressed by gzip or not.
///
/// # Errors
/// The source cannot be read, is broken, or lacks something that the import needs.
pub fn read(
    mut source: impl Read,
    form: CallForm,
    options: &CallOptions,
) -> Result<RecordedCall, CallImportError> {
    let begin = begin_of(&mut source)?;
    read_after(begin, source, form, options)
}

/// Reads the recorded call in a file, whose form is told by its begin.
///
/// # Errors
/// As for [`read`]; or the file is empty or of an unknown form.
pub fn read_file(path: &Path, options: &CallOptions) -> Result<RecordedCall, CallImportError> {
    let mut file = File::open(path)?;
    let begin = begin_of(&mut file)?;
    if begin.is_empty() {
        return Err(CallImportError::UnknownForm("the file is empty".to_owned()));
    }
    let form = sniff(&begin).ok_or_else(|| CallImportError::UnknownForm(UNKNOWN_FORM.to_owned()))?;
    read_after(begin, file, form, options)
}

const UNKNOWN_FORM: &str =
    "this is no recorded call; it is an RTC event log of Chromium, or a call that `weir import` wrote";

/// The first [`SNIFFED_BYTES`] of `source`, or all if there are fewer.
fn begin_of(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = Vec::with_capacity(SNIFFED_BYTES);
    source.take(SNIFFED_BYTES as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

fn read_after(
    begin: Vec<u8>,
    rest: impl Read,
    form: CallForm,
    options: &CallOptions,
) -> Result<RecordedCall, CallImportError> {
    let compressed = begin.starts_with(&GZIP);
    let whole = BufReader::new(Cursor::new(begin).chain(rest));
    if compressed {
        read_plain(BufReader::new(MultiGzDecoder::new(whole)), form, options)
    } else {
        read_plain(whole, form, options)
    }
}

fn read_plain(
    source: impl Read,
    form: CallForm,
    options: &CallOptions,
) -> Result<RecordedCall, CallImportError> {
    match form {
        CallForm::EventLog => event_log::read(source, options),
        CallForm::Recorded => read_recorded(source),
    }
}

/// Reads a call that [`write`] wrote.
fn read_recorded(source: impl Read) -> Result<RecordedCall, CallImportError> {
    let call: RecordedCall = serde_json::from_reader(source).map_err(|error| {
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
