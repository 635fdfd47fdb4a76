//! Forms of files with recorded calls.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use weir_world::RecordedCall;
use weir_world::recorded::RemarkSentence;

use super::{CallImportError, CallOptions, CapturePairError, counters, event_log, packets, recorded, table};

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
    /// Statistics of webrtc-internals or `getStats`.
    Counters,
    /// Packets of a dump or a capture.
    Packets,
    /// A table of packets or statistics.
    Table,
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
    let has = |member: &[u8]| text.windows(member.len()).any(|part| part == member);
    if counters::sniff(begin) {
        Some(CallForm::Counters)
    } else if text.starts_with(b"{") {
        (has(br#""version""#) && has(br#""source""#)).then_some(CallForm::Recorded)
    } else if packets::sniff(begin) {
        Some(CallForm::Packets)
    } else if table::sniff(begin) {
        Some(CallForm::Table)
    } else {
        event_log::is_begin(begin).then_some(CallForm::EventLog)
    }
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

/// Reads the recorded call in a file, whose form follows from its begin.
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

const UNKNOWN_FORM: &str = "this is no recorded call; it is an RTC event log of Chromium, a dump of \
                            webrtc-internals, getStats or packets, a capture, a table with columns such as sent_ms, \
                            or a call that `weir import` wrote; `weir trace import` reads measurements of a link";

/// Reads the call in two captures, one at the sender's end and one at the receiver's, each compressed by gzip or not.
///
/// # Errors
/// A file is no capture, or as for [`packets::read_two`].
pub fn read_two_files(
    sender: &Path,
    receiver: &Path,
    options: &CallOptions,
) -> Result<RecordedCall, CapturePairError> {
    let cut = Cell::new(false);
    let open = |path: &Path| {
        let mut file = File::open(path)?;
        let begin = begin_of(&mut file)?;
        if sniff(&begin) != Some(CallForm::Packets) {
            let problem =
                "this is no capture; of two files, both are captures or dumps of packets, the sender's first";
            return Err(CallImportError::UnknownForm(problem.to_owned()));
        }
        Ok(plain(begin, file, &cut))
    };
    let sender = open(sender).map_err(CapturePairError::of_sender)?;
    let receiver = open(receiver).map_err(CapturePairError::of_receiver)?;
    let call = packets::read_two(sender, receiver, options)?;
    finish(call, cut.get()).map_err(CapturePairError::of_receiver)
}

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
    let cut = Cell::new(false);
    let call = read_plain(plain(begin, rest, &cut), form, options)?;
    finish(call, cut.get())
}

/// The call of a file, whose compressed bytes are cut off if `cut`, if it has no fault.
fn finish(mut call: RecordedCall, cut: bool) -> Result<RecordedCall, CallImportError> {
    if cut {
        call.remarks.push(RemarkSentence::CUT_COMPRESSED.with(&[]));
    }
    call.check().map_err(|fault| CallImportError::Lacking(fault.to_string()))?;
    Ok(call)
}

/// The bytes of a file with this begin, without compression. `cut` says that the compressed ones are cut off.
fn plain<'r>(begin: Vec<u8>, rest: impl Read + 'r, cut: &'r Cell<bool>) -> Box<dyn Read + 'r> {
    let compressed = begin.starts_with(&GZIP);
    let whole = BufReader::new(Cursor::new(begin).chain(rest));
    if compressed {
        let content = GzipContent { decoder: MultiGzDecoder::new(whole), bytes: 0, cut };
        Box::new(BufReader::new(content))
    } else {
        Box::new(whole)
    }
}

/// The content of a compressed file. It ends where the compressed bytes are cut off, so that each reader says where in the
/// content that is.
struct GzipContent<'c, R: BufRead> {
    decoder: MultiGzDecoder<R>,
    /// Bytes of the content so far.
    bytes: u64,
    cut: &'c Cell<bool>,
}

impl<R: BufRead> Read for GzipContent<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.decoder.read(buffer) {
            Ok(read) => {
                self.bytes += read as u64;
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.cut.set(true);
                Ok(0)
            }
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) =>
            {
                let bytes = self.bytes;
                let problem =
                    format!("the compressed bytes are damaged, after {bytes} bytes of their content");
                Err(io::Error::new(io::ErrorKind::InvalidData, problem))
            }
            Err(error) => Err(error),
        }
    }
}

fn read_plain(
    source: impl Read,
    form: CallForm,
    options: &CallOptions,
) -> Result<RecordedCall, CallImportError> {
    match form {
        CallForm::EventLog => {
            refuse(options.of_captures(), "an event log")?;
            event_log::read(source, options)
        }
        CallForm::Recorded => {
            refuse(options.of_captures().or(options.of_choice()), "a call that was imported before")?;
            recorded::read(source)
        }
        CallForm::Counters => {
            refuse(options.of_captures(), "statistics")?;
            counters::read(source, options)
        }
        CallForm::Packets => {
            refuse(options.feedback_interval.map(|_| "--feedback-interval"), "one capture")?;
            packets::read(source, options)
        }
        CallForm::Table => {
            refuse(options.of_captures().or(options.of_choice()), "a table")?;
            table::read(source, options)
        }
    }
}

/// Refuses an option that does not apply to the form.
fn refuse(option: Option<&'static str>, form: &str) -> Result<(), CallImportError> {
    option.map_or(Ok(()), |option| {
        Err(CallImportError::Lacking(format!("{option} does not apply to {form}; leave it out")))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use weir_units::TimeDelta;

    use super::*;
    use crate::calls::{EndSelection, write};

    fn log() -> Vec<u8> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/calls/c2-beside-cubic.rtclog");
        std::fs::read(path).unwrap()
    }

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_as(bytes: &[u8]) -> Result<RecordedCall, String> {
        let form = sniff(&bytes[..bytes.len().min(SNIFFED_BYTES)]).ok_or("unknown")?;
        read(bytes, form, &CallOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn calls_are_written_and_read_the_same_compressed_or_not() {
        let call = read_as(&log()).unwrap();
        assert_eq!(read_as(&compressed(&log())).as_ref(), Ok(&call));
        let mut json = Vec::new();
        write(&call, &mut json).unwrap();
        assert_eq!(read_as(&json).as_ref(), Ok(&call));
        assert_eq!(read_as(&compressed(&json)).as_ref(), Ok(&call));
    }

    #[test]
    fn each_made_file_is_read_by_its_form_compressed_or_not() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/calls"));
        for (name, form) in [
            ("internals.json", CallForm::Counters),
            ("internals-goog.json", CallForm::Counters),
            ("rtcstats.txt", CallForm::Counters),
            ("getstats.json", CallForm::Counters),
            ("c1-steps-stats.csv", CallForm::Table),
            ("packets.csv", CallForm::Table),
            ("rtp-dump.log", CallForm::Packets),
            ("rtp-sent.rtpdump", CallForm::Packets),
            ("clear.pcap", CallForm::Packets),
            ("srtp-receiver.pcap", CallForm::Packets),
        ] {
            let bytes = std::fs::read(folder.join(name)).unwrap();
            assert_eq!(sniff(&bytes[..bytes.len().min(SNIFFED_BYTES)]), Some(form), "{name}");
            let call = read_as(&bytes).unwrap();
            assert_eq!(read_as(&compressed(&bytes)).as_ref(), Ok(&call), "{name}");
            let mut json = Vec::new();
            write(&call, &mut json).unwrap();
            assert_eq!(read_as(&json).as_ref(), Ok(&call), "{name}");
        }
        let [sender, receiver] = ["srtp-sender.pcap", "srtp-receiver.pcap"].map(|name| folder.join(name));
        let call = read_two_files(&sender, &receiver, &CallOptions::default()).unwrap();
        assert!(call.has_feedback());
        let table = folder.join("packets.csv");
        let refusal = read_two_files(&sender, &table, &CallOptions::default()).unwrap_err().to_string();
        assert!(refusal.ends_with("both are captures or dumps of packets, the sender's first"), "{refusal}");
    }

    #[test]
    fn no_remark_has_a_source_identifier() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/calls"));
        // The identifiers of the made files: media, retransmissions, audio, the second connection.
        let is_source = |word: &str| ["101", "102", "103", "202"].contains(&word);
        let says = |name: &str, call: &RecordedCall| {
            for remark in &call.remarks {
                assert!(!remark.to_lowercase().contains("ssrc"), "{name}: {remark}");
                let mut words = remark.split(|symbol: char| !symbol.is_ascii_alphanumeric());
                assert!(!words.any(is_source), "{name}: {remark}");
            }
        };
        let mut remarks = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            for direction in [EndSelection::Larger, EndSelection::Sent, EndSelection::Received] {
                let options = CallOptions { direction, ..CallOptions::default() };
                let Ok(call) = read_file(&path, &options) else { continue };
                says(&path.display().to_string(), &call);
                remarks += call.remarks.len();
            }
        }
        assert!(remarks > 10, "{remarks}");
        let [sender, receiver] = ["srtp-sender.pcap", "srtp-receiver.pcap"].map(|name| folder.join(name));
        says("two captures", &read_two_files(&sender, &receiver, &CallOptions::default()).unwrap());
    }

    #[test]
    fn other_files_have_no_form() {
        let others = [
            &b""[..],
            b"{",
            b"seconds,bits_per_second\n0,1\n",
            b"{\"intervals\": []}",
            b"\x1F\x8B",
            b"12\n24\n",
            b"\n\n",
            b"PK\x03\x04",
        ];
        for other in others {
            assert_eq!(sniff(other), None, "{other:?}");
        }
        // A log of before 2019: an event with its time in field 1, and its kind in field 2.
        assert_eq!(sniff(&[0x0A, 4, 8, 1, 16, 3]), Some(CallForm::EventLog));
    }

    #[test]
    fn broken_files_are_refused_with_the_place() {
        let call = read_as(&log()).unwrap();
        let mut json = Vec::new();
        write(&call, &mut json).unwrap();
        let cut = read_as(&json[..json.len() / 2]).unwrap_err();
        assert!(cut.starts_with("line 1, column ") && cut.ends_with(": the file is cut off"), "{cut}");
        let text = String::from_utf8(json).unwrap();
        let newer = read_as(text.replacen("\"version\":1", "\"version\":2", 1).as_bytes()).unwrap_err();
        assert_eq!(newer, "version is 2; this build reads version 1");
        let unknown = read_as(text.replacen("\"remarks\"", "\"remarked\"", 1).as_bytes()).unwrap_err();
        assert!(unknown.contains(": unknown field `remarked`, expected one of "), "{unknown}");
        // The end of a compressed log is missing: the call ends there.
        let packed = compressed(&log());
        let cut = read_as(&packed[..packed.len() / 2]).unwrap();
        assert!(cut.remarks.iter().any(|remark| remark.contains("cut off")), "{:?}", cut.remarks);
        // Of compressed JSON the place is that of the content.
        let packed = compressed(text.as_bytes());
        let cut = read_as(&packed[..packed.len() / 2]).unwrap_err();
        assert!(cut.starts_with("line 1, column ") && cut.ends_with(": the file is cut off"), "{cut}");
        let mut damaged = packed;
        let middle = damaged.len() / 2;
        damaged[middle..middle + 100].fill(0xFF);
        let damage = read_as(&damaged).unwrap_err();
        assert!(damage.starts_with("cannot be read: the compressed bytes are damaged, after "), "{damage}");
        // A table that is cut between two lines has no other sign of it.
        let rows: Vec<String> = (0..5000).map(|row| format!("{row},{}\n", 7 * row % 1000)).collect();
        let packed = compressed(format!("sent_ms,bytes\n{}", rows.concat()).as_bytes());
        let cut = read_as(&packed[..packed.len() - 9]).unwrap();
        let remark = "The compressed file is cut off; the call is read up to the end of its content.";
        assert_eq!((cut.packets.len() > 4000, &cut.remarks[..]), (true, &[remark.to_owned()][..]));
    }

    #[test]
    fn options_that_do_not_apply_are_refused() {
        let of =
            |bytes: &[u8], form, options: &CallOptions| read(bytes, form, options).unwrap_err().to_string();
        let interval =
            CallOptions { feedback_interval: Some(TimeDelta::from_millis(50)), ..CallOptions::default() };
        assert_eq!(
            of(&log(), CallForm::EventLog, &interval),
            "--feedback-interval does not apply to an event log; leave it out"
        );
        let sent = CallOptions { direction: EndSelection::Sent, ..CallOptions::default() };
        assert_eq!(
            of(b"{}", CallForm::Recorded, &sent),
            "--direction does not apply to a call that was imported before; leave it out"
        );
    }
}
