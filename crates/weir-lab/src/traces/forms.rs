//! The forms in which traces are written: opportunities as Mahimahi has them, or rates over time as CSV or JSON.

use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_net::{Time, Trace, TraceError};
use weir_units::{DataRate, TimeDelta};

/// A form of a trace.
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
/// Longest trace in seconds that milliseconds in 32 bits can tell.
const LONGEST: f64 = u32::MAX as f64 / 1e3;
/// Highest rate.
const FASTEST: f64 = 1e11;
/// Most opportunities of a trace that is not written out as opportunities: each takes four bytes of memory.
pub(super) const MOST_OPPORTUNITIES: f64 = 1e8;
/// Most bins over which rates are told.
const MOST_BINS: u64 = 10_000_000;

/// From a time on, a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RateFrom {
    seconds: f64,
    bits_per_second: f64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    rates: Vec<RateFrom>,
}

/// Why a text is no trace in its form, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// Mahimahi's form.
    #[error(transparent)]
    Opportunities(#[from] TraceError),
    /// Rates over time.
    #[error("line {line}, column {column}: {problem}")]
    Rates {
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong there, and what would be right.
        problem: String,
    },
    /// Rates over time as JSON whose values are wrong.
    #[error("entry {number} of `rates`: {problem}")]
    Entry {
        /// Which of the rates, counted from 1.
        number: usize,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
}

impl FormError {
    /// What the form is that the text does not have.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Opportunities(_) => {
                "one line per delivery opportunity: its time in whole milliseconds, never falling"
            }
            Self::Rates { .. } | Self::Entry { .. } => {
                "times from which rates in bit/s hold, increasing from 0 s on; the last is the end of the trace, its rate 0"
            }
        }
    }
}

/// Why the rates of a trace cannot be told in bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BinError {
    /// Opportunities are told to the millisecond.
    #[error("a bin must be a whole number of milliseconds, 1 ms at least")]
    Length,
    /// There would be too many.
    #[error(
        "a trace of {duration} has {bins} bins of this length, and {MOST_BINS} is the most; take longer ones"
    )]
    TooMany {
        /// How long the trace is.
        duration: TimeDelta,
        /// How many there would be.
        bins: u64,
    },
}

fn wrong(line: usize, column: usize, problem: impl Into<String>) -> FormError {
    FormError::Rates { line, column, problem: problem.into() }
}

impl TraceForm {
    /// The form by the end of a file's name: `.csv`, `.json`, else Mahimahi's.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Self::Csv,
            Some("json") => Self::Json,
            _ => Self::Mahimahi,
        }
    }

    /// Reads a trace. Of rates over time, opportunity n comes when their integral reaches n · 12 000 bits, rounded up to
    /// a millisecond.
    ///
    /// # Errors
    /// The place of what is wrong: no number, times that do not increase from 0 on, negative rates, a rate after the end, no
    /// opportunity at all or more than 10⁸.
    pub fn read(self, text: &str) -> Result<Trace, FormError> {
        match self {
            Self::Mahimahi => Ok(Trace::parse(text)?),
            Self::Csv => from_rates(&read_csv(text)?, |index, problem| wrong(index + 2, 1, problem)),
            Self::Json => {
                let rates: Rates = serde_json::from_str(text)
                    .map_err(|error| wrong(error.line(), error.column(), error.to_string()))?;
                from_rates(&rates.rates, |index, problem| FormError::Entry { number: index + 1, problem })
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
            Self::Csv => {
                let _ = writeln!(text, "{HEADER}");
                for rate in rates(trace, bin)? {
                    let _ = writeln!(text, "{},{}", rate.seconds, rate.bits_per_second);
                }
            }
            Self::Json => {
                // Numbers and names are JSON for certain.
                text = serde_json::to_string_pretty(&Rates { rates: rates(trace, bin)? }).unwrap_or_default();
                text.push('\n');
            }
        }
        Ok(text)
    }
}

/// The rates, one in each line after the first.
fn read_csv(text: &str) -> Result<Vec<RateFrom>, FormError> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end_matches('\r')));
    match lines.next() {
        Some((_, HEADER)) => {}
        _ => return Err(wrong(1, 1, format!("the first line must be `{HEADER}`"))),
    }
    let number = |line: usize, column: usize, text: &str| {
        text.trim().parse::<f64>().map_err(|_| wrong(line, column, format!("`{text}` is not a number")))
    };
    let row = |(line, text): (usize, &str)| {
        let (seconds, rate) = text
            .split_once(',')
            .ok_or_else(|| wrong(line, 1, "a line must be two numbers with a comma between them"))?;
        let rate_column = seconds.chars().count() + 2;
        Ok(RateFrom { seconds: number(line, 1, seconds)?, bits_per_second: number(line, rate_column, rate)? })
    };
    lines.map(row).collect()
}

/// The trace of rates; `wrong` tells the place of one of them.
fn from_rates(rates: &[RateFrom], wrong: impl Fn(usize, String) -> FormError) -> Result<Trace, FormError> {
    let last = rates.len().saturating_sub(1);
    let Some(end) = rates.last().filter(|_| last > 0) else {
        let problem = "a trace needs two rates at least, the last one of which is its end";
        return Err(wrong(last, problem.to_owned()));
    };
    let mut before: Option<RateFrom> = None;
    let mut bits = 0.0;
    for (index, &rate) in rates.iter().enumerate() {
        let RateFrom { seconds, bits_per_second } = rate;
        let in_order = before.map_or(seconds == 0.0, |before| seconds > before.seconds);
        if !in_order || seconds > LONGEST {
            let problem = format!("{seconds} s: times must begin with 0 and increase, to {LONGEST} at most");
            return Err(wrong(index, problem));
        }
        if !(0.0..=FASTEST).contains(&bits_per_second) {
            let problem = format!("{bits_per_second} bit/s: a rate must lie between 0 and {FASTEST}");
            return Err(wrong(index, problem));
        }
        bits += before.map_or(0.0, |before| before.bits_per_second * (seconds - before.seconds));
        if bits > MOST_OPPORTUNITIES * Trace::OPPORTUNITY.bytes_f64() * 8.0 {
            let problem = format!(
                "{seconds} s: until then there are more than {MOST_OPPORTUNITIES} opportunities of 1500 bytes; make the \
                 trace shorter or slower"
            );
            return Err(wrong(index, problem));
        }
        before = Some(rate);
    }
    if end.bits_per_second > 0.0 {
        let problem = format!("{} bit/s: here the trace ends, so the rate must be 0", end.bits_per_second);
        return Err(wrong(last, problem));
    }
    let mut current = 0;
    let trace = Trace::from_rate(TimeDelta::from_secs_f64(end.seconds), |at| {
        let seconds = (at - Time::ZERO).secs_f64();
        while rates.get(current + 1).is_some_and(|next| next.seconds <= seconds) {
            current += 1;
        }
        DataRate::from_bps(rates[current].bits_per_second.round() as u64)
    });
    if trace.is_empty() {
        let problem = "the rates are too low for a single opportunity of 1500 bytes";
        return Err(wrong(last, problem.to_owned()));
    }
    Ok(trace)
}

/// The mean rates of a trace in bins, and its end.
fn rates(trace: &Trace, bin: TimeDelta) -> Result<Vec<RateFrom>, BinError> {
    if bin < TimeDelta::from_millis(1) || bin.nanos() % 1_000_000 != 0 {
        return Err(BinError::Length);
    }
    let bin = bin.nanos() as u64 / 1_000_000;
    let end = trace.duration().nanos() as u64 / 1_000_000;
    let bins = end.div_ceil(bin);
    if bins > MOST_BINS {
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

#[cfg(test)]
mod tests {
    use super::*;

    const BIN: TimeDelta = TimeDelta::from_millis(100);

    fn trace() -> Trace {
        // 1.2 Mbit/s are an opportunity each 10 ms; then 0.3 s of nothing; then 2.4 Mbit/s.
        let times = (1..=20).map(|n| 10 * n).chain((0..=40).map(|n| 500 + 5 * n));
        Trace::from_millis(times).unwrap()
    }

    #[test]
    fn the_name_tells_the_form() {
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
            TraceForm::Mahimahi.read(&TraceForm::Mahimahi.write(&trace, BIN).unwrap()).unwrap(),
            trace
        );
        for form in [TraceForm::Csv, TraceForm::Json] {
            let text = form.write(&trace, BIN).unwrap();
            let again = form.read(&text).unwrap();
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
    }

    #[test]
    fn silence_at_the_end_is_kept() {
        let rows = "0,1200000\n1,0\n10,0\n";
        let trace = TraceForm::Csv.read(&format!("{HEADER}\n{rows}")).unwrap();
        assert_eq!((trace.len(), trace.duration()), (100, TimeDelta::from_secs(10)));
        assert_eq!(trace.mean_rate(), DataRate::from_kbps(120));
        let text = TraceForm::Csv.write(&trace, TimeDelta::from_secs(1)).unwrap();
        assert_eq!(TraceForm::Csv.read(&text), Ok(trace));
        assert!(text.ends_with("\n9,0\n10,0\n"), "{text}");
    }

    #[test]
    fn what_does_not_fit_into_memory_is_told_before_it_is_made() {
        let csv = |rows: &str| TraceForm::Csv.read(&format!("{HEADER}\n{rows}")).unwrap_err().to_string();
        assert_eq!(
            csv("0,1e6\n1,1e9\n86400,0\n"),
            "line 4, column 1: 86400 s: until then there are more than 100000000 opportunities of 1500 bytes; make the \
             trace shorter or slower"
        );
        assert!(csv("0,1e11\n600,0\n").starts_with("line 3, column 1: 600 s: until then"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let error = |form: TraceForm, text: &str| form.read(text).unwrap_err().to_string();
        let csv = |rows: &str| error(TraceForm::Csv, &format!("{HEADER}\n{rows}"));
        assert_eq!(
            error(TraceForm::Csv, "time,rate\n"),
            "line 1, column 1: the first line must be `seconds,bits_per_second`"
        );
        assert_eq!(
            csv("0,1e6\n1;2\n"),
            "line 3, column 1: a line must be two numbers with a comma between them"
        );
        assert_eq!(csv("0,1e6\n1,fast\n"), "line 3, column 3: `fast` is not a number");
        assert!(
            csv("0,1e6\n0,1e6\n").starts_with("line 3, column 1: 0 s: times must begin with 0 and increase")
        );
        assert!(csv("0,-1\n1,0\n").starts_with("line 2, column 1: -1 bit/s: a rate must lie between 0"));
        assert!(csv("0,NaN\n1,0\n").contains("a rate must lie between"));
        assert!(csv("0,1e6\n").contains("two rates at least"));
        assert!(csv("0,10\n1,0\n").contains("too low for a single opportunity"));
        assert_eq!(
            csv("0,1e6\n1,5e5\n"),
            "line 3, column 1: 500000 bit/s: here the trace ends, so the rate must be 0"
        );
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
