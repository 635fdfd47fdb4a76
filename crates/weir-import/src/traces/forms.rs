//! File formats of traces: opportunities as in Mahimahi, or rates over time as CSV or JSON.

use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_net::Trace;
use weir_units::TimeDelta;

use super::error::{BinError, FormError, MAX_BINS};
use super::options::ReadOptions;
use super::rates::{RateFrom, close, trace_of};
use super::table;

/// A file format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceForm {
    /// A line per opportunity of 1500 bytes: its time in whole milliseconds. The last one is the end of the trace.
    Mahimahi,
    /// The line `seconds,bits_per_second`, then a line per time from which a rate holds. The last line is the end of the
    /// trace; its rate is 0.
    Csv,
    /// `{"rates": [{"seconds": …, "bits_per_second": …}, …]}`, otherwise as [`TraceForm::Csv`].
    Json,
}

/// The first line of the CSV form.
const HEADER: &str = "seconds,bits_per_second";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RateTable {
    rates: Vec<RateFrom>,
}

impl TraceForm {
    /// The format for the end of a file name: `.csv`, `.json`, else Mahimahi's.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Self::Csv,
            Some("json") => Self::Json,
            _ => Self::Mahimahi,
        }
    }

    /// The format for the end of a file name when writing, or `None` where the end belongs to another kind of file.
    pub fn to_write(path: &Path) -> Option<Self> {
        let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
        match end.as_deref() {
            None | Some("up" | "down" | "mahi") => Some(Self::Mahimahi),
            Some("csv" | "json") => Some(Self::of(path)),
            Some(_) => None,
        }
    }

    /// Reads a trace, and the rates that it is made of where the form has them. Of rates over time, opportunity n comes when
    /// their integral reaches n · 12 000 bits, rounded up to a millisecond.
    ///
    /// # Errors
    /// The text is no trace of this form.
    pub fn read(self, text: &str) -> Result<(Option<Vec<RateFrom>>, Trace), FormError> {
        match self {
            Self::Mahimahi => Ok((None, Trace::parse(text)?)),
            Self::Csv => {
                let (rates, trace) = table::read(text, &ReadOptions::default(), &mut Vec::new())?;
                Ok((Some(rates), trace))
            }
            Self::Json => {
                let RateTable { mut rates } =
                    serde_json::from_str(text).map_err(|error| FormError::Rates {
                        line: error.line(),
                        column: error.column(),
                        problem: error.to_string(),
                    })?;
                let last = rates.len();
                close(&mut rates);
                let trace = trace_of(&rates, |index, problem| FormError::Entry {
                    list: "rates",
                    number: (index + 1).min(last),
                    problem,
                })?;
                Ok((Some(rates), trace))
            }
        }
    }

    /// The text of a trace; rates are means over `bin`, whole milliseconds, of which only the last may be shorter. In
    /// Mahimahi's form silence after the last opportunity is lost.
    ///
    /// # Errors
    /// A bin of another length, or too many of them.
    pub fn write(self, trace: &Trace, bin: TimeDelta) -> Result<String, BinError> {
        let mut text = String::new();
        match self {
            Self::Mahimahi => {
                for at in trace.opportunities() {
                    let _ = writeln!(text, "{}", at.nanos() / 1_000_000);
                }
            }
            Self::Csv | Self::Json => text = self.write_rates(rates(trace, bin)?),
        }
        Ok(text)
    }

    /// The text of rates, which Mahimahi's form does not have.
    pub(super) fn write_rates(self, rates: Vec<RateFrom>) -> String {
        if self == Self::Json {
            // Serialisation of numbers and names does not fail.
            let mut text = serde_json::to_string_pretty(&RateTable { rates }).unwrap_or_default();
            text.push('\n');
            return text;
        }
        let mut text = format!("{HEADER}\n");
        for rate in rates {
            let _ = writeln!(text, "{},{}", rate.seconds, rate.bits_per_second);
        }
        text
    }
}

/// The mean rates of a trace in bins, and its end.
fn rates(trace: &Trace, bin: TimeDelta) -> Result<Vec<RateFrom>, BinError> {
    if bin < TimeDelta::from_millis(1) || bin.nanos() % 1_000_000 != 0 {
        return Err(BinError::Length);
    }
    let bin = bin.nanos() as u64 / 1_000_000;
    let end = trace.duration().nanos() as u64 / 1_000_000;
    let bins = end.div_ceil(bin);
    if bins > MAX_BINS {
        return Err(BinError::TooMany { duration: trace.duration(), bins });
    }
    let mut counts = vec![0_u64; bins as usize];
    for at in trace.opportunities() {
        // An opportunity ends the millisecond in which its bits came together; one at 0 belongs to the first.
        let bin = (at.nanos() / 1_000_000).saturating_sub(1) / bin;
        counts[bin as usize] += 1;
    }
    let rate = |(index, &count): (usize, &u64)| {
        let from = index as u64 * bin;
        let seconds = (end.min(from + bin) - from) as f64 / 1e3;
        let bits = (count * 8 * Trace::OPPORTUNITY.bytes()) as f64;
        // Rounded up, so that no opportunity is lost for a fraction of a bit.
        RateFrom { seconds: from as f64 / 1e3, bits_per_second: (bits / seconds).ceil() }
    };
    let end = RateFrom { seconds: end as f64 / 1e3, bits_per_second: 0.0 };
    Ok(counts.iter().enumerate().map(rate).chain([end]).collect())
}

/// The mean rate of each bin in bit/s; the last one may be shorter.
///
/// # Errors
/// A bin that is not a number of whole milliseconds, or too many of them.
pub fn rates_over_time(trace: &Trace, bin: TimeDelta) -> Result<Vec<f64>, BinError> {
    let mut rates: Vec<f64> = rates(trace, bin)?.into_iter().map(|rate| rate.bits_per_second).collect();
    rates.pop();
    Ok(rates)
}

/// The shortest multiple of `least`, whole milliseconds, that gives no more bins than the limit.
pub fn bin_from(trace: &Trace, least: TimeDelta) -> TimeDelta {
    let span = least.nanos().max(1).unsigned_abs().saturating_mul(MAX_BINS);
    least * trace.duration().nanos().unsigned_abs().div_ceil(span).max(1) as i64
}

#[cfg(test)]
mod tests {
    use weir_units::DataRate;

    use super::*;

    const BIN: TimeDelta = TimeDelta::from_millis(100);

    fn read(form: TraceForm, text: &str) -> Result<Trace, FormError> {
        form.read(text).map(|(_, trace)| trace)
    }

    fn trace() -> Trace {
        // 1.2 Mbit/s are an opportunity each 10 ms; then 0.3 s without any; then 2.4 Mbit/s.
        let times = (1..=20).map(|n| 10 * n).chain((0..=40).map(|n| 500 + 5 * n));
        Trace::from_millis(times).unwrap()
    }

    #[test]
    fn the_name_determines_the_form() {
        let of = |name: &str| TraceForm::of(Path::new(name));
        assert_eq!(
            (of("a.csv"), of("b.JSON"), of("c.up"), of("d")),
            (TraceForm::Csv, TraceForm::Json, TraceForm::Mahimahi, TraceForm::Mahimahi)
        );
    }

    #[test]
    fn opportunities_survive_as_they_are_and_rates_as_means() {
        let trace = trace();
        assert_eq!(
            read(TraceForm::Mahimahi, &TraceForm::Mahimahi.write(&trace, BIN).unwrap()).unwrap(),
            trace
        );
        for form in [TraceForm::Csv, TraceForm::Json] {
            let text = form.write(&trace, BIN).unwrap();
            let again = read(form, &text).unwrap();
            assert_eq!((again.len(), again.duration()), (trace.len(), trace.duration()), "{text}");
            assert_eq!(form.write(&again, BIN).unwrap(), text);
        }
        let expected = [1.2e6, 1.2e6, 0.0, 0.0, 12e3 * 10.0, 2.4e6, 2.4e6];
        assert_eq!(rates_over_time(&trace, BIN).unwrap(), expected);
    }

    #[test]
    fn the_last_bin_may_be_shorter() {
        let trace = Trace::from_millis([10, 20, 30, 40, 50]).unwrap();
        // 4 opportunities in 40 ms, one in 10.
        assert_eq!(rates_over_time(&trace, TimeDelta::from_millis(40)).unwrap(), [1.2e6, 1.2e6]);
    }

    #[test]
    fn a_bin_is_of_whole_milliseconds_and_there_are_not_too_many() {
        let long = Trace::from_millis([u32::MAX]).unwrap();
        assert_eq!(
            TraceForm::Csv.write(&long, TimeDelta::from_millis(1)).unwrap_err().to_string(),
            "a trace of 4294967.295s has 4294967295 bins of this length, and 10000000 is the most; take longer ones"
        );
        assert_eq!(rates_over_time(&long, TimeDelta::from_secs(3600)).map(|rates| rates.len()), Ok(1194));
        for bin in [TimeDelta::from_micros(1500), TimeDelta::ZERO] {
            assert_eq!(rates_over_time(&long, bin), Err(BinError::Length));
        }
        // 4 294 967.295 s are 8 589 935 times 0.5 s, and more than ten million times 0.4 s.
        assert_eq!(bin_from(&long, BIN), TimeDelta::from_millis(500));
        assert_eq!(bin_from(&trace(), BIN), BIN);
    }

    #[test]
    fn silence_at_the_end_is_kept() {
        let rows = "0,1200000\n1,0\n10,0\n";
        let trace = read(TraceForm::Csv, &format!("{HEADER}\n{rows}")).unwrap();
        assert_eq!((trace.len(), trace.duration()), (100, TimeDelta::from_secs(10)));
        assert_eq!(trace.mean_rate(), DataRate::from_kbps(120));
        let text = TraceForm::Csv.write(&trace, TimeDelta::from_secs(1)).unwrap();
        assert_eq!(read(TraceForm::Csv, &text), Ok(trace));
        assert!(text.ends_with("\n9,0\n10,0\n"), "{text}");
    }

    #[test]
    fn traces_that_do_not_fit_into_memory_are_refused_before_they_are_made() {
        let csv = |rows: &str| read(TraceForm::Csv, &format!("{HEADER}\n{rows}")).unwrap_err().to_string();
        assert_eq!(
            csv("0,1e6\n1,1e9\n86400,0\n"),
            "line 4, column 1: 86400 s: until then there are more than 100000000 opportunities of 1500 bytes; make the \
             trace shorter or slower"
        );
        assert!(csv("0,1e11\n600,0\n").starts_with("line 3, column 1: 600 s: until then"));
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        let error = |form: TraceForm, text: &str| read(form, text).unwrap_err().to_string();
        let csv = |rows: &str| error(TraceForm::Csv, &format!("{HEADER}\n{rows}"));
        assert_eq!(csv("0,1e6\n1;2\n"), "line 3, column 1: this line has 1 columns, and column 2 counts");
        assert_eq!(csv("0,1e6\n1,fast\n"), "line 3, column 3: `fast` is not a number");
        assert!(
            csv("0,1e6\n0,0\n").starts_with("line 3, column 1: 0 s: times must begin with 0 and increase")
        );
        assert!(csv("0,-1\n1,0\n").starts_with("line 2, column 1: -1 bit/s: a rate must lie between 0"));
        assert!(csv("0,NaN\n1,0\n").contains("a rate must lie between"));
        assert!(csv("0,1e6\n").contains("two rates at least"));
        assert!(csv("0,10\n1,0\n").contains("too low for a single opportunity"));
        let json =
            r#"{"rates": [{"seconds": 0, "bits_per_second": 1e6}, {"seconds": 0, "bits_per_second": 0}]}"#;
        assert_eq!(
            error(TraceForm::Json, json),
            "entry 2 of `rates`: 0 s: times must begin with 0 and increase, to 4294967.295 at most"
        );
        assert!(error(TraceForm::Json, "{\"rates\": [}").starts_with("line 1, column 12"));
        assert!(error(TraceForm::Json, "{\"rates\": [], \"x\": 1}").contains("unknown field `x`"));
    }
}
