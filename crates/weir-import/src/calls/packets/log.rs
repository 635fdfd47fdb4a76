//! Datagrams of a log of Chromium that has them as text, by the field trial `WebRTC-Debugging-RtpDump`.
//!
//! A line has `O` for a sent or `I` for a received packet, the time of day, a word of zeros, the bytes in hexadecimal,
//! and the mark.

use std::io::{BufRead, Read};

use weir_world::recorded::RemarkSentence;

use super::datagram::{FileDatagram, LONGEST_DATAGRAM};
use crate::calls::CallImportError;

/// The mark at the end of a line with a packet.
pub(super) const MARK: &[u8] = b"# RTP_DUMP";
/// Most bytes of a line that is read: a packet takes three for each byte.
const LONGEST_LINE: u64 = 3 * LONGEST_DATAGRAM as u64 + 256;
const DAY_US: i64 = 86_400_000_000;
/// Most days of a log.
const MOST_DAYS: i64 = 1000;

/// Passes each packet of the log to `visit`. The result is a remark if the file is truncated.
///
/// # Errors
/// The file cannot be read, or a line with the mark has no packet; errors of `visit`.
pub(super) fn each(
    mut input: impl BufRead,
    mut visit: impl FnMut(&FileDatagram<'_>) -> Result<(), CallImportError>,
) -> Result<Option<String>, CallImportError> {
    let (mut line, mut bytes) = (Vec::new(), Vec::new());
    let (mut number, mut last_us, mut days_us) = (0_u64, None, 0);
    loop {
        line.clear();
        number += 1;
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        while !line.ends_with(b"\n") && line.len() as u64 == LONGEST_LINE {
            // The rest of a line of something else, a part at a time.
            line.clear();
            input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        }
        let whole = line.ends_with(b"\n");
        let Some(text) = line.trim_ascii_end().strip_suffix(MARK) else {
            if !whole && is_packet(&line) {
                return Ok(Some(RemarkSentence::CUT_LINE.with(&[&number])));
            }
            continue;
        };
        let Some((sent, day_us)) = packet(text, &mut bytes) else {
            let problem = "a line with the mark RTP_DUMP has I or O, the time of day as 12:34:56.789, zeros, and \
                           bytes in hexadecimal";
            return Err(CallImportError::at(format!("line {number}"), problem));
        };
        if last_us.is_some_and(|last| day_us < last - DAY_US / 2) {
            days_us += DAY_US;
            if days_us > MOST_DAYS * DAY_US {
                let problem =
                    format!("the time of day went back {MOST_DAYS} times before; a log is in order of time");
                return Err(CallImportError::at(format!("line {number}"), problem));
            }
        }
        last_us = Some(day_us);
        visit(&FileDatagram {
            time_us: days_us + day_us,
            pair: 0,
            forward: sent,
            bytes: &bytes,
            length: bytes.len() as u32,
            overhead: 0,
            hops: 0,
        })?;
    }
}

fn is_packet(line: &[u8]) -> bool {
    matches!(line, [b'I' | b'O', b' ', b'0'..=b'9', b'0'..=b'9', b':', ..])
}

/// Whether the packet was sent and its time of day in µs; its bytes are put into `bytes`.
fn packet(text: &[u8], bytes: &mut Vec<u8>) -> Option<(bool, i64)> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let sent = match words.next()? {
        b"O" => true,
        b"I" => false,
        _ => return None,
    };
    let time = core::str::from_utf8(words.next()?).ok()?;
    let mut parts = time.split(':');
    let (hour, minute) = (parts.next()?.parse::<u8>().ok()?, parts.next()?.parse::<u8>().ok()?);
    let second: f64 = parts.next()?.parse().ok().filter(|second| (0.0..61.0).contains(second))?;
    let offset = words.next()?;
    bytes.clear();
    for word in words {
        let &[high, low] = word else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push((digit(high)? << 4 | digit(low)?) as u8);
    }
    let valid = offset.iter().all(|&byte| byte == b'0') && hour < 24 && minute < 60 && !bytes.is_empty();
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60;
    valid.then_some((sent, seconds * 1_000_000 + (second * 1e6).round() as i64))
}
