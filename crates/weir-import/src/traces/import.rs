//! Import of traces from a user's files: recognition of the format, and reading of the trace.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use weir_net::Trace;
use weir_units::TimeDelta;

use super::error::{BinError, FormError};
use super::forms::TraceForm;
use super::options::{ImportFinding, ImportForm, ReadOptions};
use super::packets::MODIFIED_MAGIC;
use super::rates::RateFrom;
use super::{iperf, table, transfer};
use crate::calls::{CallForm, SNIFFED_BYTES, sniff};

/// Greatest number of bytes of a text; captures are read packet by packet.
const MAX_TEXT: u64 = 256 << 20;
const BYTE_ORDER_MARK: char = '\u{feff}';
/// The first bytes of captures: pcapng, and pcap in either order, with µs, with ns and of the modified format.
const CAPTURES: [[u8; 4]; 7] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    MODIFIED_MAGIC,
    [0x34, 0xcd, 0xb2, 0xa1],
];

/// An imported trace, with findings about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The form of the file.
    pub form: ImportForm,
    /// The trace.
    pub trace: Trace,
    /// The rates that it was made of, the last of which is 0; opportunities have no rates.
    pub rates: Option<Vec<RateFrom>>,
    /// Findings about the file.
    pub findings: Vec<ImportFinding>,
    /// Half of the least round-trip time that iperf3's sender measured.
    pub one_way: Option<TimeDelta>,
}

impl Imported {
    /// The text of the trace in one of the project's own forms: its rates unchanged, or means over `bin` of its opportunities.
    ///
    /// # Errors
    /// A bin that is not possible.
    pub fn write(&self, form: TraceForm, bin: TimeDelta) -> Result<String, BinError> {
        match &self.rates {
            Some(rates) if form != TraceForm::Mahimahi => Ok(form.write_rates(rates.clone())),
            _ => form.write(&self.trace, bin),
        }
    }
}

/// Reads the file `path` by the options `options`.
///
/// # Errors
/// The file cannot be read or has none of the forms; an option is missing or does not apply.
pub fn import(path: &Path, options: &ReadOptions) -> Result<Imported, FormError> {
    import_trace(path, options).map_err(|error| {
        if !is_call(path) {
            return error;
        }
        let remedy = format!("`weir import {}` reads it", path.display());
        FormError::undecided("this is a recorded call, and no measurement of a link", remedy)
    })
}

/// Whether the file is of a form of recorded calls that no trace has.
fn is_call(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFFED_BYTES as u64).read_to_end(&mut head));
    let is_capture = CAPTURES.iter().any(|begin| head.starts_with(begin));
    read.is_ok() && !is_capture && !matches!(sniff(&head), None | Some(CallForm::Table))
}

fn import_trace(path: &Path, options: &ReadOptions) -> Result<Imported, FormError> {
    let FileContent { form, text } = content(path)?;
    if let Some(option) = options.unused(form) {
        let problem = format!("{option} does not apply to {}", name(form));
        return Err(FormError::undecided(problem, "leave it out"));
    }
    let mut findings = vec![ImportFinding::new("form", name(form))];
    let mut one_way = None;
    let (rates, trace) = match form {
        ImportForm::Mahimahi => TraceForm::Mahimahi.read(&text)?,
        ImportForm::Json => TraceForm::Json.read(&text)?,
        ImportForm::Csv => {
            let (rates, trace) = table::read(&text, options, &mut findings)?;
            (Some(rates), trace)
        }
        ImportForm::Iperf3 => {
            let report = iperf::read(&text, options, &mut findings)?;
            // To the tenth of a millisecond, as it goes into a scenario.
            let half = |seconds: f64| TimeDelta::from_micros((seconds * 1e4 / 2.0).round() as i64 * 100);
            one_way = report.round_trip.map(half);
            (Some(report.rates), report.trace)
        }
        ImportForm::Pcap => {
            let (rates, trace) = transfer::read(path, options, &mut findings)?;
            (Some(rates), trace)
        }
    };
    Ok(Imported { form, trace, rates, findings, one_way })
}

/// Reads the file `path` in one of the forms that the project writes.
///
/// # Errors
/// The file cannot be read, or has another form.
pub(super) fn read_own(path: &Path) -> Result<Trace, FormError> {
    let FileContent { form, text } = content(path)?;
    let form = match form {
        ImportForm::Mahimahi => TraceForm::Mahimahi,
        ImportForm::Csv => TraceForm::Csv,
        ImportForm::Json => TraceForm::Json,
        ImportForm::Iperf3 | ImportForm::Pcap => {
            let remedy = format!("`weir trace import {}` makes a trace of it, once", path.display());
            return Err(FormError::undecided(format!("this is {}", name(form)), remedy));
        }
    };
    form.read(&text).map(|(_, trace)| trace)
}

/// The name of a format in messages.
fn name(form: ImportForm) -> &'static str {
    match form {
        ImportForm::Mahimahi => "Mahimahi's form",
        ImportForm::Csv => "CSV",
        ImportForm::Json => "Weir's JSON",
        ImportForm::Iperf3 => "iperf3's JSON",
        ImportForm::Pcap => "a capture of packets",
    }
}

/// The format of a file and its text, which is empty for a capture.
struct FileContent {
    form: ImportForm,
    text: String,
}

#[derive(Deserialize)]
struct Keys {
    rates: Option<IgnoredAny>,
    intervals: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    /// Event of a line of `iperf3 --json-stream`.
    event: Option<IgnoredAny>,
}

/// Reads the file `path`. Captures are known by their first bytes, JSON by its keys, CSV by its name; any other file is
/// Mahimahi's.
fn content(path: &Path) -> Result<FileContent, FormError> {
    let begin = begin(path)?;
    if begin.starts_with(&[0x1f, 0x8b]) || begin.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Err(FormError::whole("it is compressed; unpack it first"));
    }
    let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    let end = end.as_deref().unwrap_or_default();
    if CAPTURES.contains(&begin) || matches!(end, "pcap" | "pcapng") {
        return Ok(FileContent { form: ImportForm::Pcap, text: String::new() });
    }
    let mut text = text(path)?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    let form = if end == "json" || text.trim_start().starts_with('{') {
        json_form(&text)?
    } else if end == "csv" {
        ImportForm::Csv
    } else {
        ImportForm::Mahimahi
    };
    Ok(FileContent { form, text })
}

fn json_form(text: &str) -> Result<ImportForm, FormError> {
    // In a stream of events the first one identifies the form.
    let Some(keys) = serde_json::Deserializer::from_str(text).into_iter::<Keys>().next() else {
        return Err(FormError::whole("the file is empty"));
    };
    let keys = keys.map_err(|error| FormError::Rates {
        line: error.line(),
        column: error.column(),
        problem: error.to_string(),
    })?;
    match keys {
        Keys { rates: Some(_), .. } => Ok(ImportForm::Json),
        Keys { intervals: Some(_), .. } | Keys { error: Some(_), .. } | Keys { event: Some(_), .. } => {
            Ok(ImportForm::Iperf3)
        }
        _ => Err(FormError::whole(
            "this JSON has neither `intervals`, as that of `iperf3 --json`, nor `rates`, as Weir's own",
        )),
    }
}

/// The first bytes of a file.
fn begin(path: &Path) -> Result<[u8; 4], FormError> {
    let mut begin = Vec::new();
    let file = File::open(path).and_then(|file| file.take(4).read_to_end(&mut begin));
    file.map_err(|error| FormError::whole(error.to_string()))?;
    begin.resize(4, 0);
    Ok([begin[0], begin[1], begin[2], begin[3]])
}

fn text(path: &Path) -> Result<String, FormError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes));
    read.map_err(|error| FormError::whole(error.to_string()))?;
    if bytes.len() as u64 > MAX_TEXT {
        return Err(FormError::whole(format!(
            "a text of more than {} MiB is not read; cut it",
            MAX_TEXT >> 20
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        FormError::Rates { line, column, problem: "this is no text in UTF-8".to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(name: &str, content: &[u8], options: &ReadOptions) -> Result<Imported, FormError> {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(name), content).unwrap();
        import(&place.path().join(name), options)
    }

    #[test]
    fn the_form_follows_from_name_and_content() {
        let rates =
            r#"{"rates": [{"seconds": 0, "bits_per_second": 1e6}, {"seconds": 1, "bits_per_second": 0}]}"#;
        let iperf = r#"{"intervals": [{"sum": {"start": 0, "end": 1, "bytes": 125000, "sender": false}}]}"#;
        let stream = concat!(
            "{\"event\": \"start\", \"data\": {}}\n",
            "{\"event\": \"interval\", \"data\": {\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": 125000}}}\n",
        );
        for (name, content, form) in [
            ("a.csv", "seconds,bits_per_second\n0,1e6\n1,0\n", ImportForm::Csv),
            ("b.csv", "\u{feff}seconds,bits_per_second\n0,1e6\n1,0\n", ImportForm::Csv),
            ("a.up", "12\n24\n", ImportForm::Mahimahi),
            ("a", "12\n24\n", ImportForm::Mahimahi),
            ("a.json", rates, ImportForm::Json),
            ("a.log", rates, ImportForm::Json),
            ("a.json", iperf, ImportForm::Iperf3),
            ("a.json", stream, ImportForm::Iperf3),
        ] {
            let imported = of(name, content.as_bytes(), &ReadOptions::default());
            assert_eq!(imported.map(|imported| imported.form), Ok(form), "{name} {content}");
        }
        let error =
            |name: &str, content: &[u8]| of(name, content, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error("a.json", b"{}").starts_with("this JSON has neither `intervals`"));
        assert_eq!(error("a.pcap", b"12\n"), "this is neither pcap nor pcapng");
        assert_eq!(error("a.gz", &[0x1f, 0x8b, 8, 0]), "it is compressed; unpack it first");
        assert_eq!(error("a.csv", b"seconds,mbps\n0,\xff\n"), "line 2, column 3: this is no text in UTF-8");
        let table = of("a.txt", b"seconds,bits_per_second\n0,1\n", &ReadOptions::default()).unwrap_err();
        assert!(table.form().contains("the name of a table ends in .csv"), "{}", table.form());
    }

    #[test]
    fn options_that_do_not_apply_are_refused() {
        let named = || Some("sum".to_owned());
        for (name, options, said) in [
            (
                "a.up",
                ReadOptions { flow: Some(1), ..ReadOptions::default() },
                "--flow does not apply to Mahimahi's form",
            ),
            (
                "a.up",
                ReadOptions { rate: named(), ..ReadOptions::default() },
                "--rate does not apply to Mahimahi's form",
            ),
            (
                "a.csv",
                ReadOptions { flow: Some(1), ..ReadOptions::default() },
                "--flow does not apply to CSV",
            ),
        ] {
            assert_eq!(of(name, b"12\n24\n", &options).unwrap_err().to_string(), said);
        }
        let iperf = br#"{"intervals": []}"#;
        let options = ReadOptions { time: named(), rate: named(), ..ReadOptions::default() };
        assert_eq!(
            of("a", iperf, &options).unwrap_err().to_string(),
            "--time does not apply to iperf3's JSON"
        );
    }

    #[test]
    fn where_no_option_can_be_given_only_the_own_forms_are_read() {
        let place = tempfile::tempdir().unwrap();
        let read = |name: &str, content: &[u8]| {
            let path = place.path().join(name);
            std::fs::write(&path, content).unwrap();
            read_own(&path).map_err(|error| format!("{error}; {}", error.form()))
        };
        assert!(read("a.csv", b"seconds,bits_per_second\n0,1e6\n1,0\n").is_ok());
        let error = read("a.csv", b"seconds,rate\n0,1e6\n1,1e6\n").unwrap_err();
        assert!(error.contains("`bits_per_second`") && error.contains("`weir trace import "), "{error}");
        let capture = read("a", &CAPTURES[0]).unwrap_err();
        assert!(capture.starts_with("this is a capture of packets; `weir trace import "), "{capture}");
        let report = read("a", br#"{"intervals": []}"#).unwrap_err();
        assert!(report.starts_with("this is iperf3's JSON; `weir trace import "), "{report}");
    }

    #[test]
    fn recorded_calls_are_left_to_the_import_of_calls() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/calls"));
        for (name, is_call) in [
            ("c1-steps.rtclog", true),
            ("internals.json", true),
            ("rtcstats.txt", true),
            ("rtp-dump.log", true),
            ("rtp-sent.rtpdump", true),
            ("packets.csv", false),
        ] {
            let error = import(&folder.join(name), &ReadOptions::default()).unwrap_err();
            let said = format!("{error}; {}", error.form());
            let is_said =
                said.starts_with("this is a recorded call, and no measurement of a link; `weir import ");
            assert_eq!(is_said, is_call, "{name}: {said}");
        }
    }

    #[test]
    fn rates_are_written_as_they_were_read() {
        let text = b"seconds,bits_per_second\n10,1234500\n10.25,2e6\n";
        let imported = of("a.csv", text, &ReadOptions::default()).unwrap();
        let bin = TimeDelta::from_millis(100);
        let text = imported.write(TraceForm::Csv, bin).unwrap();
        assert_eq!(text, "seconds,bits_per_second\n0,1234500\n0.25,2000000\n0.5,0\n");
        assert_eq!(of("b.csv", text.as_bytes(), &ReadOptions::default()).unwrap().trace, imported.trace);
        let json = imported.write(TraceForm::Json, bin).unwrap();
        assert_eq!(of("b.json", json.as_bytes(), &ReadOptions::default()).unwrap().rates, imported.rates);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn whatever_a_file_holds_there_is_an_answer(
            magic in 0..10_usize,
            name in prop::sample::select(vec!["a", "a.csv", "a.json", "a.pcap"]),
            rest in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let begin = CAPTURES.get(magic).copied().unwrap_or(*b"s,bp");
            let _: Result<Imported, FormError> = of(name, &[&begin[..], &rest].concat(), &ReadOptions::default());
        }
    }
}
