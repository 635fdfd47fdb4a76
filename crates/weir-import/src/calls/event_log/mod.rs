//! RTC event logs of libwebrtc: Chromium's `--webrtc-event-logging=DIR`, and "diagnostic packet and event recording" in
//! chrome://webrtc-internals. A log is the protocol buffer `webrtc.rtclog2.EventStream`: messages with batches of events.

mod assembly;
mod batch;
mod direction;
mod events;
mod probes;
#[cfg(test)]
mod tests;
mod wire;

use std::io::Read;

use weir_world::RecordedCall;
use weir_world::recorded::RemarkSentence;

use super::{CallImportError, CallOptions};
use assembly::CallAssembly;
use events::LogMessage;
use wire::{MessageEnd, MessageReader};

/// Reads an event log. A log that is cut off gives the call up to there, and a remark says so.
///
/// # Errors
/// The log is of before 2019, broken, or without packets; it has no stream of [`CallOptions::ssrc`].
pub fn read(source: impl Read, options: &CallOptions) -> Result<RecordedCall, CallImportError> {
    let mut messages = MessageReader::new(source);
    let mut assembly = CallAssembly::new(options);
    let mut ended = false;
    let end = loop {
        let (number, message) = match messages.next() {
            Ok(message) => message,
            Err(end) => break end,
        };
        let decoded = events::decode(number, message);
        let begin = messages.begin;
        let malformed = |problem: String| CallImportError::at(format!("byte {begin}"), problem);
        assembly.pass(number);
        match decoded.map_err(malformed)? {
            LogMessage::Outdated => return Err(malformed(OUTDATED.to_owned())),
            LogMessage::Begin => assembly.begin(),
            LogMessage::End => ended = true,
            LogMessage::Declaration(stream) => assembly.declare(stream),
            LogMessage::Events(events) => assembly.add(events),
            LogMessage::Unused => {}
        }
    };
    match end {
        MessageEnd::Whole if ended => {}
        MessageEnd::Whole => assembly.remark(RemarkSentence::OPEN_LOG),
        MessageEnd::Cut => assembly.remark(RemarkSentence::CUT_LOG),
        MessageEnd::Malformed(problem) => {
            return Err(CallImportError::at(format!("byte {}", messages.begin), problem));
        }
        MessageEnd::Unreadable(error) => return Err(error.into()),
    }
    assembly.finish()
}

/// Whether a file may be an event log: its first message is of a field that a log has, and begins with a time.
pub(super) fn is_begin(begin: &[u8]) -> bool {
    /// The key of field 1 with an integer, which is the time in all of these messages.
    const TIME_KEY: u8 = 8;
    let mut rest = begin;
    let (Ok(key), Ok(1..)) = (wire::varint(&mut rest), wire::varint(&mut rest)) else { return false };
    key & 7 == 2 && matches!(key >> 3, 1..=7 | 16..=35 | 101..=104) && rest.first() == Some(&TIME_KEY)
}

/// The refusal of logs of the form of before 2019.
const OUTDATED: &str =
    "this event log is of the form that browsers wrote before 2019; record the call with a later one";
