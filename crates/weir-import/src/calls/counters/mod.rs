//! Counters about once a second: dumps of webrtc-internals with series, old ones with goog statistics, `RTCStatsDump`
//! lines, and reports of `getStats`.

mod bounds;
pub(super) mod collect;
mod dump;
mod legacy;
mod lines;
pub(super) mod names;
mod series;
#[cfg(test)]
mod tests;
mod time;
pub(super) mod value;

use std::io::{BufRead, BufReader, Read};

use weir_world::RecordedCall;
use weir_world::recorded::RemarkSentence;

use self::bounds::BoundedJson;
use self::collect::StatisticsTable;
use super::{CallImportError, CallOptions};

/// Whether a file that begins with `head` is of this form.
pub fn sniff(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    match head.first() {
        Some(b'R') => head.starts_with(lines::FIRST_LINE),
        Some(b'{') => {
            let words = [&b"\"PeerConnections\""[..], b"\"getUserMedia\"", b"\"UserAgent\""];
            words.into_iter().any(has) || has(b"\"timestamp\"") && has(b"\"type\"")
        }
        Some(b'[') => has(b"\"timestamp\"") && has(b"\"type\""),
        _ => false,
    }
}

/// Reads the statistics of one connection. `options` choose it where the file has several: by a stream of it, or by
/// direction.
///
/// # Errors
/// The file cannot be read, is of another form, has no statistics, or has several connections with as much video.
pub fn read(input: impl Read, options: &CallOptions) -> Result<RecordedCall, CallImportError> {
    let mut input = BufReader::new(input);
    let mut table = StatisticsTable::default();
    let head = input.fill_buf()?;
    if head.is_empty() {
        return Err(CallImportError::UnknownForm("the file is empty".to_owned()));
    }
    let mark = if head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    input.consume(mark);
    let cut = if input.fill_buf()?.starts_with(lines::FIRST_LINE) {
        lines::read(input, &mut table)?
    } else {
        dump::read(BufReader::new(BoundedJson::new(input)), &mut table)?;
        None
    };
    let mut call = table.finish(options)?;
    if let Some(line) = cut {
        call.remarks.push(RemarkSentence::CUT_LINE.with(&[&line]));
    }
    Ok(call)
}
