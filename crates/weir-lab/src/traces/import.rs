//! Traces from files of others: what form they have, what their columns are, what their packets tell.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use weir_net::Trace;
use weir_units::TimeDelta;

use super::asked::{Asked, Finding, ImportForm};
use super::error::{BinError, FormError};
use super::forms::TraceForm;
use super::packets::MODIFIED;
use super::rates::RateFrom;
use super::{iperf, table, transfer};

/// Most bytes of a text; captures are read packet by packet.
const MOST_TEXT: u64 = 256 << 20;
/// What captures begin with: pcapng, and pcap in either order, with µs, with ns and of the modified format.
const CAPTURES: [[u8; 4]; 7] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    MODIFIED,
    [0x34, 0xcd, 0xb2, 0xa1],
];

/// A trace from a file of another form, and what was found out on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The form of the file.
    pub form: ImportForm,
    /// The trace.
    pub trace: Trace,
    /// The rates that it was made of, the last of which is 0; opportunities have none.
    pub rates: Option<Vec<RateFrom>>,
    /// What was found out.
    pub findings: Vec<Finding>,
    /// Half of the least round trip.
    pub one_way: Option<TimeDelta>,
    /// The longest wait of a packet, where packets tell when they were sent.
    pub longest_wait: Option<TimeDelta>,
    /// Share of what was sent that did not arrive.
    pub loss: Option<f64>,
    /// Whether the link could have carried more than the trace says: the transfer left it idle for a part of the time.
    pub is_lower_bound: bool,
}

impl Imported {
    /// The text of the trace in one of the project's own forms: its rates as they are, of opportunities means over `bin`.
    ///
    /// # Errors
    /// A bin that cannot be.
    pub fn write(&self, form: TraceForm, bin: TimeDelta) -> Result<String, BinError> {
        match &self.rates {
            Some(rates) if form != TraceForm::Mahimahi => Ok(form.write_rates(rates.clone())),
            _ => form.write(&self.trace, bin),
        }
    }

    fn of_text(
        form: ImportForm,
        text: &str,
        asked: &Asked,
        mut findings: Vec<Finding>,
    ) -> Result<Self, FormError> {
        let (rates, trace, round_trip, loss) = match form {
            ImportForm::Csv => {
                let table = table::read(text, asked, &mut findings)?;
                (Some(table.rates), table.trace, None, None)
            }
            ImportForm::Iperf3 => {
                let report = iperf::read(text, asked, &mut findings)?;
                (Some(report.rates), report.trace, report.round_trip, report.loss)
            }
            ImportForm::Json => {
                let (rates, trace) = TraceForm::Json.read(text)?;
                (rates, trace, None, None)
            }
            ImportForm::Mahimahi | ImportForm::Pcap => (None, TraceForm::Mahimahi.read(text)?.1, None, None),
        };
        Ok(Self {
            form,
            trace,
            rates,
            findings,
            one_way: round_trip.map(half),
            longest_wait: None,
            loss,
            is_lower_bound: false,
        })
    }
}

fn half(seconds: f64) -> TimeDelta {
    // To the tenth of a millisecond: it goes into a scenario.
    TimeDelta::from_micros((seconds * 1e4 / 2.0).round() as i64 * 100)
}

/// Reads the file `path` as it is `asked`.
///
/// # Errors
/// It cannot be read, is none of the forms, or can be read in more than one way.
pub fn import(path: &Path, asked: &Asked) -> Result<Imported, FormError> {
    let (begin, named) = (begin(path)?, Named::of(path));
    if begin.starts_with(&[0x1f, 0x8b]) || begin.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Err(FormError::whole("it is compressed; unpack it first"));
    }
    let is_capture = CAPTURES.contains(&begin);
    let by_name = matches!(named, Named::Capture) && asked.form.is_none();
    if asked.form == Some(ImportForm::Pcap) || is_capture && asked.form.is_none() || by_name {
        let mut findings = vec![Finding::sure("form", "capture of packets", "its first bytes")];
        let captured = transfer::read(path, asked, &mut findings)?;
        return Ok(Imported {
            form: ImportForm::Pcap,
            trace: captured.trace,
            rates: Some(captured.rates),
            findings,
            one_way: captured.round_trip.map(half),
            longest_wait: captured.longest_wait.map(TimeDelta::from_secs_f64),
            loss: captured.loss,
            is_lower_bound: captured.is_lower_bound,
        });
    }
    let text = text(path)?;
    let text = text.trim_start_matches('\u{feff}');
    let (form, why) = match asked.form {
        Some(form) => (form, "as asked"),
        None => named.form(text)?,
    };
    let is = match form {
        ImportForm::Mahimahi => "Mahimahi's",
        ImportForm::Csv => "CSV",
        ImportForm::Json => "Weir's JSON",
        ImportForm::Iperf3 => "iperf3's JSON",
        ImportForm::Pcap => "capture of packets",
    };
    Imported::of_text(form, text, asked, vec![Finding::sure("form", is, why)])
}

/// Reads the file `path` where nobody can be asked.
///
/// # Errors
/// As for [`import`], and what of it would be a guess.
pub(super) fn read_surely(path: &Path) -> Result<Trace, FormError> {
    let import_it = || format!("`weir trace import {}` makes a trace of it, once", path.display());
    if CAPTURES.contains(&begin(path)?) {
        return Err(FormError::undecided("this is a capture of packets", import_it()));
    }
    let imported = import(path, &Asked::default())?;
    match imported.findings.iter().find(|finding| !finding.sure) {
        None => Ok(imported.trace),
        Some(Finding { what, is, why, .. }) => Err(FormError::undecided(
            format!("it is only a guess that its {what} are {is} ({why})"),
            import_it(),
        )),
    }
}

/// What the end of a file's name tells.
enum Named {
    Csv,
    Json,
    Mahimahi,
    Capture,
    Nothing,
}

#[derive(Deserialize)]
struct Keys {
    rates: Option<IgnoredAny>,
    intervals: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    /// Of a line of `iperf3 --json-stream`.
    event: Option<IgnoredAny>,
}

impl Named {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv" | "tsv") => Self::Csv,
            Some("json") => Self::Json,
            Some("up" | "down" | "mahi") => Self::Mahimahi,
            Some("pcap" | "pcapng" | "cap") => Self::Capture,
            _ => Self::Nothing,
        }
    }

    fn form(&self, text: &str) -> Result<(ImportForm, &'static str), FormError> {
        let first = text.lines().next().unwrap_or_default().trim();
        let content = "its content";
        Ok(match self {
            Self::Csv => (ImportForm::Csv, "its name"),
            Self::Mahimahi | Self::Capture => (ImportForm::Mahimahi, "its name"),
            Self::Json => (json_form(text)?, content),
            Self::Nothing if text.trim_start().starts_with('{') => (json_form(text)?, content),
            Self::Nothing if first.contains([',', ';', '\t']) => (ImportForm::Csv, content),
            Self::Nothing => (ImportForm::Mahimahi, content),
        })
    }
}

fn json_form(text: &str) -> Result<ImportForm, FormError> {
    // Of a stream of events the first one tells.
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

/// The first bytes.
fn begin(path: &Path) -> Result<[u8; 4], FormError> {
    let mut begin = Vec::new();
    let file = File::open(path).and_then(|file| file.take(4).read_to_end(&mut begin));
    file.map_err(|error| FormError::whole(error.to_string()))?;
    begin.resize(4, 0);
    Ok([begin[0], begin[1], begin[2], begin[3]])
}

fn text(path: &Path) -> Result<String, FormError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_TEXT + 1).read_to_end(&mut bytes));
    read.map_err(|error| FormError::whole(error.to_string()))?;
    if bytes.len() as u64 > MOST_TEXT {
        return Err(FormError::whole(format!(
            "a text of more than {} MiB is not read; cut it",
            MOST_TEXT >> 20
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

    fn of(name: &str, content: &[u8], asked: &Asked) -> Result<Imported, FormError> {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(name), content).unwrap();
        import(&place.path().join(name), asked)
    }

    #[test]
    fn the_form_is_told_by_name_and_content() {
        let rates =
            r#"{"rates": [{"seconds": 0, "bits_per_second": 1e6}, {"seconds": 1, "bits_per_second": 0}]}"#;
        let iperf = r#"{"intervals": [{"sum": {"start": 0, "end": 1, "bytes": 125000, "sender": false}}]}"#;
        let stream = concat!(
            "{\"event\": \"start\", \"data\": {}}\n",
            "{\"event\": \"interval\", \"data\": {\"sum\": {\"start\": 0, \"end\": 1, \"bytes\": 125000}}}\n",
        );
        for (name, content, form) in [
            ("a.csv", "seconds,mbps\n0,1\n1,0\n", ImportForm::Csv),
            ("a.txt", "seconds\tmbps\n0\t1\n1\t0\n", ImportForm::Csv),
            ("a.up", "12\n24\n", ImportForm::Mahimahi),
            ("a", "12\n24\n", ImportForm::Mahimahi),
            ("a.json", rates, ImportForm::Json),
            ("a.log", rates, ImportForm::Json),
            ("a.json", iperf, ImportForm::Iperf3),
            ("a.json", stream, ImportForm::Iperf3),
        ] {
            let imported = of(name, content.as_bytes(), &Asked::default());
            assert_eq!(imported.map(|imported| imported.form), Ok(form), "{name} {content}");
        }
        let error =
            |name: &str, content: &[u8]| of(name, content, &Asked::default()).unwrap_err().to_string();
        assert!(error("a.json", b"{}").starts_with("this JSON has neither `intervals`"));
        assert_eq!(error("a.pcap", b"12\n"), "this is neither pcap nor pcapng");
        assert_eq!(error("a.gz", &[0x1f, 0x8b, 8, 0]), "it is compressed; unpack it first");
        assert_eq!(error("a.csv", b"seconds,mbps\n0,\xff\n"), "line 2, column 3: this is no text in UTF-8");
    }

    #[test]
    fn where_nobody_can_be_asked_nothing_is_guessed() {
        let place = tempfile::tempdir().unwrap();
        let read = |content: &[u8]| {
            let path = place.path().join("a.csv");
            std::fs::write(&path, content).unwrap();
            read_surely(&path).map_err(|error| format!("{error}; {}", error.form()))
        };
        assert!(read(b"seconds,mbps\n0,1\n1,0\n").is_ok());
        let error = read(b"seconds,rate\n0,1e6\n1,1e6\n").unwrap_err();
        assert!(
            error.starts_with("it is only a guess that its unit of rates are bit/s")
                && error.contains("`weir trace import "),
            "{error}"
        );
        assert!(
            read(&CAPTURES[0]).unwrap_err().starts_with("this is a capture of packets; `weir trace import ")
        );
    }

    #[test]
    fn rates_are_written_as_they_were_read() {
        let imported = of("a.csv", b"seconds,mbps\n10,1.2345\n10.25,2\n", &Asked::default()).unwrap();
        let bin = TimeDelta::from_millis(100);
        let text = imported.write(TraceForm::Csv, bin).unwrap();
        assert_eq!(text, "seconds,bits_per_second\n0,1234500\n0.25,2000000\n0.5,0\n");
        assert_eq!(of("b.csv", text.as_bytes(), &Asked::default()).unwrap().trace, imported.trace);
        let json = imported.write(TraceForm::Json, bin).unwrap();
        assert_eq!(of("b.json", json.as_bytes(), &Asked::default()).unwrap().rates, imported.rates);
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
            let _: Result<Imported, FormError> = of(name, &[&begin[..], &rest].concat(), &Asked::default());
        }
    }
}
