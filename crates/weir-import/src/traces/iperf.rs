//! Import of the rates in the output of `iperf3 --json` and `iperf3 --json-stream`.

use serde::Deserialize;
use serde_json::{Deserializer, Value};

use super::error::FormError;
use super::options::{ImportFinding, ReadOptions};
use super::rates::{RateFrom, close, trace_of};
use weir_net::Trace;

/// The parts of an iperf3 report that are read.
#[derive(Debug, Default, Deserialize)]
struct IperfFile {
    #[serde(default)]
    intervals: Vec<IperfInterval>,
    #[serde(default)]
    end: End,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct IperfInterval {
    sum: Option<Sum>,
    sum_bidir_reverse: Option<Sum>,
    #[serde(default)]
    streams: Vec<Stream>,
}

/// A stream of an interval. In the end section it contains both sides.
#[derive(Debug, Default, Deserialize)]
struct Stream {
    #[serde(default)]
    sender: Option<Value>,
    /// Round-trip time in µs.
    #[serde(default)]
    rtt: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Sum {
    start: Option<f64>,
    end: Option<f64>,
    seconds: Option<f64>,
    bytes: Option<f64>,
    bits_per_second: Option<f64>,
    #[serde(default)]
    omitted: bool,
    sender: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
struct End {
    #[serde(default)]
    streams: Vec<Stream>,
}

/// Result of reading a report.
#[derive(Debug)]
pub(super) struct IperfReport {
    /// Rates of the intervals; the last is 0.
    pub(super) rates: Vec<RateFrom>,
    pub(super) trace: Trace,
    /// Least round-trip time in s.
    pub(super) round_trip: Option<f64>,
}

const INTERVALS: &str = "intervals";
/// Length in s below which an interval is ignored.
const MIN_INTERVAL: f64 = 1e-3;

/// A line of `iperf3 --json-stream`. A whole report after the last line has no event.
#[derive(Debug, Deserialize)]
struct Event {
    event: Option<String>,
    #[serde(default)]
    data: Value,
}

impl IperfFile {
    /// The report that is the whole `text`, or of which its lines are the parts.
    fn of(text: &str) -> Result<Self, FormError> {
        let wrong = |error: serde_json::Error| FormError::Rates {
            line: error.line(),
            column: error.column(),
            problem: error.to_string(),
        };
        let mut events = Deserializer::from_str(text).into_iter::<Event>().peekable();
        if !matches!(events.peek(), Some(Ok(Event { event: Some(_), .. }))) {
            return serde_json::from_str(text).map_err(wrong);
        }
        let mut report = Self::default();
        for event in events {
            let Event { event, data } = event.map_err(wrong)?;
            match event.as_deref() {
                Some("interval") => {
                    let number = report.intervals.len() + 1;
                    let problem = |error: serde_json::Error| error.to_string();
                    let interval = serde_json::from_value(data).map_err(problem);
                    let interval =
                        interval.map_err(|problem| FormError::Entry { list: INTERVALS, number, problem })?;
                    report.intervals.push(interval);
                }
                Some("end") => {
                    let wrong = |error| FormError::whole(format!("its event `end`: {error}"));
                    report.end = serde_json::from_value(data).map_err(wrong)?;
                }
                Some("error") => {
                    report.error = Some(data.as_str().map_or_else(|| data.to_string(), str::to_owned));
                }
                _ => {}
            }
        }
        Ok(report)
    }
}

/// Reads a report.
///
/// # Errors
/// The place of the problem, or a choice between several readings.
pub(crate) fn read(
    text: &str,
    options: &ReadOptions,
    findings: &mut Vec<ImportFinding>,
) -> Result<IperfReport, FormError> {
    let report = IperfFile::of(text)?;
    if let Some(error) = &report.error {
        return Err(FormError::whole(format!("iperf3 says that it failed: {error}")));
    }
    let reverse = direction(&report, options, findings)?;
    let wrong = |number: usize, problem: String| FormError::Entry { list: INTERVALS, number, problem };
    let mut sums = Vec::new();
    for (index, interval) in report.intervals.iter().enumerate() {
        let sum = if reverse { &interval.sum_bidir_reverse } else { &interval.sum };
        let sum = sum.as_ref().ok_or_else(|| wrong(index + 1, "it has no `sum`".to_owned()))?;
        if !sum.omitted {
            sums.push((index + 1, sum));
        }
    }
    if sums.is_empty() {
        return Err(FormError::whole(
            "the report has no interval; run iperf3 without `--omit` of all, and `-i 0.1`",
        ));
    }
    let (mut spans, mut entries): (Vec<IntervalSpan>, Vec<usize>) = (Vec::new(), Vec::new());
    // Bits of intervals before the first that counts.
    let mut bits_before = 0.0;
    for (number, sum) in &sums {
        let span = IntervalSpan::of(sum).map_err(|problem| wrong(*number, problem.to_owned()))?;
        match spans.last_mut() {
            Some(last) if span.is_short() => last.extend(span.to, span.bits),
            None if span.is_short() => bits_before += span.bits,
            _ => {
                entries.push(*number);
                spans.push(span);
            }
        }
    }
    let Some((first, last)) = spans.first_mut().zip(entries.last()) else {
        let problem =
            format!("all intervals are shorter than {} ms; run iperf3 with `-i 0.1`", 1e3 * MIN_INTERVAL);
        return Err(FormError::whole(problem));
    };
    let (since, last) = (first.from, *last);
    first.extend(first.to, bits_before);
    let mut rates: Vec<RateFrom> = spans
        .iter()
        .map(|span| RateFrom { seconds: micros(span.from - since), bits_per_second: span.rate })
        .collect();
    let end = spans.last().map_or(0.0, |span| micros(span.to - since));
    rates.push(RateFrom { seconds: end, bits_per_second: 0.0 });
    close(&mut rates);
    let entry = |index: usize| entries.get(index).copied().unwrap_or(last);
    let trace = trace_of(&rates, |index, problem| wrong(entry(index), problem))?;
    let counted = sums.iter().find_map(|(_, sum)| sum.sender);
    findings.extend(
        counted.map(|sender| {
            ImportFinding::new("counted by", if sender { "the sender" } else { "the receiver" })
        }),
    );
    Ok(IperfReport { rates, trace, round_trip: round_trip(&report, reverse) })
}

/// Whether the rates are those of the return direction of `--bidir`.
fn direction(
    report: &IperfFile,
    options: &ReadOptions,
    findings: &mut Vec<ImportFinding>,
) -> Result<bool, FormError> {
    let both = report.intervals.iter().any(|interval| interval.sum_bidir_reverse.is_some());
    let reverse = match options.rate.as_deref() {
        Some("sum") => false,
        Some("sum_bidir_reverse") if both => true,
        Some(other) => {
            let problem = format!("--rate {other}: the report has no such rates");
            let has = if both { "`sum` and `sum_bidir_reverse`" } else { "`sum`" };
            return Err(FormError::undecided(problem, format!("it has {has}")));
        }
        None if both => {
            let problem = "the report has rates of both directions";
            return Err(FormError::undecided(
                problem,
                "say which with --rate sum or --rate sum_bidir_reverse",
            ));
        }
        None => false,
    };
    let name = if reverse { "intervals[].sum_bidir_reverse" } else { "intervals[].sum" };
    findings.push(ImportFinding::new("rates", format!("{name}, in bit/s")));
    Ok(reverse)
}

/// An interval.
#[derive(Clone, Copy, Debug)]
struct IntervalSpan {
    /// Begin and end of the interval, in s.
    from: f64,
    to: f64,
    bits: f64,
    /// Rate in bit/s.
    rate: f64,
}

impl IntervalSpan {
    fn of(sum: &Sum) -> Result<Self, &'static str> {
        let from = sum.start.ok_or("its `sum` has no `start`")?;
        let to = sum.end.or(sum.seconds.map(|seconds| from + seconds)).ok_or("its `sum` has no `end`")?;
        let bits = sum.bytes.map(|bytes| bytes * 8.0);
        let rate = sum.bits_per_second.or(bits.map(|bits| bits / sum.seconds.unwrap_or(to - from)));
        let rate = rate.ok_or("its `sum` has neither `bits_per_second` nor `bytes`")?;
        // A rate over no time is no number of bits.
        let by_rate = if to > from { rate * (to - from) } else { 0.0 };
        Ok(Self { from, to, bits: bits.unwrap_or(by_rate), rate })
    }

    /// Whether the interval is too short for a rate. The last interval of iperf3 has the remaining time of the test.
    fn is_short(&self) -> bool {
        (0.0..MIN_INTERVAL).contains(&(self.to - self.from))
    }

    /// Adds the bits transferred until `to`.
    fn extend(&mut self, to: f64, bits: f64) {
        if (to, bits) != (self.to, 0.0) {
            self.bits += bits;
            self.to = to.max(self.to);
            self.rate = self.bits / (self.to - self.from);
        }
    }
}

fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// The least round-trip time in s that TCP's sender reports.
fn round_trip(report: &IperfFile, reverse: bool) -> Option<f64> {
    if reverse {
        return None;
    }
    let least = |streams: &[Stream]| streams.iter().filter_map(|stream| stream.rtt).collect::<Vec<_>>();
    let of_end =
        report.end.streams.iter().filter_map(|stream| stream.sender.as_ref()?.get("min_rtt")?.as_f64());
    let all = report.intervals.iter().flat_map(|interval| least(&interval.streams)).chain(of_end);
    all.filter(|micros| *micros > 0.0).min_by(f64::total_cmp).map(|micros| micros / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(protocol: &str, sums: &str, more: &str) -> String {
        format!(
            "{{\"start\": {{\"version\": \"iperf 3.16\", \"test_start\": {{\"protocol\": \"{protocol}\"}}}}, \
             \"intervals\": [{sums}], \"end\": {{{more}}}}}"
        )
    }

    fn sum(start: f64, bytes: f64, more: &str) -> String {
        let end = start + 1.0;
        let streams = format!("[{{\"socket\": 5, \"rtt\": {}, \"sender\": true}}]", 20_000.0 + 1e3 * start);
        format!(
            "{{\"streams\": {streams}, \"sum\": {{\"start\": {start}, \"end\": {end}, \"seconds\": 1, \"bytes\": {bytes}, \
             \"bits_per_second\": {}{more}}}}}",
            8.0 * bytes
        )
    }

    fn report_of(text: &str) -> (IperfReport, Vec<ImportFinding>) {
        let mut findings = Vec::new();
        let reported =
            read(text, &ReadOptions::default(), &mut findings).unwrap_or_else(|error| panic!("{error}"));
        (reported, findings)
    }

    #[test]
    fn rates_of_tcp_are_those_of_the_sums_and_what_was_omitted_is_left_out() {
        let sums = [sum(0.0, 9e9, ", \"omitted\": true"), sum(1.0, 125e3, ""), sum(2.0, 250e3, "")].join(",");
        let (reported, findings) =
            report_of(&report("TCP", &sums, "\"streams\": [{\"sender\": {\"min_rtt\": 18000}}]"));
        let expected = [(0.0, 1e6), (1.0, 2e6), (2.0, 0.0)];
        assert_eq!(
            reported.rates.iter().map(|r| (r.seconds, r.bits_per_second)).collect::<Vec<_>>(),
            expected
        );
        assert_eq!((reported.trace.len(), reported.round_trip), (250, Some(0.018)));
        assert_eq!(findings.len(), 1, "{findings:?}");
        let (_, findings) =
            report_of(&report("TCP", &sums.replace("1000000}", "1000000, \"sender\": false}"), ""));
        assert_eq!(findings[1], ImportFinding::new("counted by", "the receiver"));
    }

    fn pairs(reported: &IperfReport) -> Vec<(f64, f64)> {
        reported.rates.iter().map(|rate| (rate.seconds, rate.bits_per_second)).collect()
    }

    fn short(start: f64, end: f64, bytes: f64) -> String {
        let seconds = end - start;
        format!(
            "{{\"sum\": {{\"start\": {start}, \"end\": {end}, \"seconds\": {seconds}, \"bytes\": {bytes}, \
             \"bits_per_second\": {}}}}}",
            if seconds > 0.0 { 8.0 * bytes / seconds } else { 0.0 }
        )
    }

    #[test]
    fn intervals_of_no_time_are_left_out_and_their_bytes_are_not() {
        let whole = [sum(0.0, 125e3, ""), sum(1.0, 125e3, "")];
        let [one, two] = &whole;
        let of = |sums: &[&str]| pairs(&report_of(&report("TCP", &sums.join(","), "")).0);
        let expected = [(0.0, 1e6), (1.0, 1e6), (2.0, 0.0)];
        assert_eq!(of(&[one, two, &short(2.0, 2.0, 0.0)]), expected, "at the end");
        assert_eq!(of(&[&short(0.0, 0.0, 0.0), one, two]), expected, "at the begin");
        // 65 536 bytes in 19 µs would be 27.6 Gbit/s.
        let last = of(&[one, two, &short(2.0, 2.000_019, 65_536.0)]);
        assert_eq!((last.len(), last[2]), (3, (2.000_019, 0.0)));
        assert!((last[1].1 - (1e6 + 8.0 * 65_536.0) / 1.000_019).abs() < 1.0, "{last:?}");
        let first = of(&[&short(0.0, 0.0, 1000.0), one, two]);
        assert_eq!(first[0], (0.0, 1.008e6));
        let error = read(&report("TCP", &short(0.0, 0.0, 9.0), ""), &ReadOptions::default(), &mut Vec::new());
        assert!(error.unwrap_err().to_string().starts_with("all intervals are shorter than 1 ms"));
    }

    #[test]
    fn a_stream_of_events_is_the_same_report() {
        let sums = [sum(0.0, 125e3, ""), sum(1.0, 250e3, "")];
        let end = "\"streams\": [{\"sender\": {\"min_rtt\": 18000}}]";
        let (whole, findings) = report_of(&report("TCP", &sums.join(","), end));
        let event = |name: &str, data: &str| format!("{{\"event\":\"{name}\",\"data\":{data}}}\n");
        let begin = event("start", "{\"test_start\": {\"protocol\": \"TCP\"}}");
        let intervals: String = sums.iter().map(|sum| event("interval", sum)).collect();
        let stream = format!("{begin}{intervals}{}", event("end", &format!("{{{end}}}")));
        for stream in [stream.clone(), format!("{stream}{}", report("TCP", &sums.join(","), end))] {
            let (streamed, of_stream) = report_of(&stream);
            assert_eq!((pairs(&streamed), of_stream), (pairs(&whole), findings.clone()));
            assert_eq!(streamed.round_trip, Some(0.018));
        }
        let error =
            |text: &str| read(text, &ReadOptions::default(), &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(
            error(&(begin.clone() + &event("error", "\"unable to connect\""))),
            "iperf3 says that it failed: unable to connect"
        );
        assert!(
            error(&(begin.clone() + &event("interval", "{\"sum\": 3}")))
                .starts_with("entry 1 of `intervals`: ")
        );
        assert!(error(&(begin + "{\"event\":")).starts_with("line 2, column "));
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        let error =
            |text: &str| read(text, &ReadOptions::default(), &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(
            error("{\"error\": \"unable to connect\", \"intervals\": []}"),
            "iperf3 says that it failed: unable to connect"
        );
        assert!(error(&report("TCP", "", "")).starts_with("the report has no interval"));
        assert_eq!(error(&report("TCP", "{\"streams\": []}", "")), "entry 1 of `intervals`: it has no `sum`");
        let backwards = [sum(1.0, 1e5, ""), sum(0.0, 1e5, "")].join(",");
        assert!(
            error(&report("TCP", &backwards, "")).starts_with("entry 2 of `intervals`: -1 s: times must")
        );
        let twice = sum(0.0, 1e5, "")
            .replace("\"sum\"", "\"sum_bidir_reverse\": {\"start\": 0, \"end\": 1}, \"sum\"");
        let both = report("TCP", &twice, "");
        assert_eq!(error(&both), "the report has rates of both directions");
        let options = ReadOptions { rate: Some("sum".to_owned()), ..ReadOptions::default() };
        assert!(read(&both, &options, &mut Vec::new()).is_ok());
        let endless = sum(0.0, 1e5, "").replace("\"end\": 1,", "\"end\": 1e18,");
        assert!(
            error(&report("TCP", &endless, "")).contains("1000000000000000000 s: times must begin with 0")
        );
    }
}
