//! Recorded calls of other programs: statistics, packets and tables.

use weir_import::calls::{
    CallImportError, CallOptions, EndSelection, ExtensionOverrides, counters as statistics,
    packets as captures, table,
};
use weir_world::RecordedCall;

use super::refused;

/// The first byte chooses options.
pub(crate) fn counters(data: &[u8]) {
    let (options, content) = options(data);
    read(statistics::read(content, &options));
}

/// The first byte chooses options, and whether the rest is one file, or two as in [`halves`].
pub(crate) fn packets(data: &[u8]) {
    let (options, content) = options(data);
    if data.first().is_some_and(|byte| byte & 0x80 > 0) {
        let (sender, receiver) = halves(content);
        read(captures::read_two(sender, receiver, &options).map_err(|error| error.error));
    } else {
        read(captures::read(content, &options));
    }
}

/// The first byte chooses options.
pub(crate) fn tables(data: &[u8]) {
    let (options, content) = options(data);
    read(table::read(content, &options));
}

fn options(data: &[u8]) -> (CallOptions, &[u8]) {
    let (how, content) = data.split_first().unwrap_or((&0, data));
    let direction = match how & 3 {
        0 => EndSelection::Sent,
        1 => EndSelection::Received,
        _ => EndSelection::Larger,
    };
    let id = |bit: u8| (how & bit > 0).then_some(3);
    let extensions = ExtensionOverrides { transport_sequence: id(4), abs_send_time: id(8) };
    let ssrc = (how & 16 > 0).then_some(101);
    (CallOptions { direction, ssrc, extensions, ..CallOptions::default() }, content)
}

/// Two files: the length of the first is in two bytes before it; a length of 0 stands for twice the same file.
fn halves(content: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = content.split_first_chunk() else { return (content, content) };
    match usize::from(u16::from_be_bytes(*length)) {
        0 => (rest, rest),
        length => rest.split_at(length.min(rest.len())),
    }
}

/// A call that was read keeps its own rules, and is written and read the same.
fn read(call: Result<RecordedCall, CallImportError>) {
    match call {
        Ok(call) => {
            call.check().unwrap_or_else(|error| panic!("{error}"));
            let written = serde_json::to_string(&call).expect("a call is JSON");
            let again: RecordedCall = serde_json::from_str(&written).expect("it was written");
            assert_eq!(again, call);
        }
        Err(error) => refused(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs that are kept have to be read, not refused: a refused input covers little.
    #[test]
    fn the_inputs_that_are_kept_are_read() {
        let (how, internals) = options(include_bytes!("../../../../fuzz/corpus/counters/internals"));
        assert!(statistics::read(internals, &how).unwrap().counters.len() > 10);
        let (how, capture) = options(include_bytes!("../../../../fuzz/corpus/packets/clear-pcap"));
        assert!(captures::read(capture, &how).unwrap().has_feedback());
        let (how, two) = options(include_bytes!("../../../../fuzz/corpus/packets/two-pcap"));
        let (sender, receiver) = halves(two);
        assert!(captures::read_two(sender, receiver, &how).unwrap().has_feedback());
        let (how, rows) = options(include_bytes!("../../../../fuzz/corpus/tables/packets"));
        assert!(table::read(rows, &how).unwrap().packets.len() > 20);
    }
}
