//! Tables of times and rates: a header and columns, between which stand commas, semicolons or tabs.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::asked::{Asked, Finding};
use super::dates::seconds_of_date;
use super::error::{FormError, MOST_BINS};
use super::estimates::is_estimate;
use super::rates::{RateFrom, close, trace_of};
use super::units::{Hint, RateUnit, TimeUnit, rate_hint, time_hint};
use weir_net::Trace;

/// From so many bit/s on, rates without a unit are taken for bit/s.
const SURELY_BITS: f64 = 1e5;
/// Seconds since 1970, in years 1973 to 5138.
const EPOCH: std::ops::Range<f64> = 1e8..1e11;

/// A table that was read.
#[derive(Debug)]
pub(super) struct Table {
    /// Its rates; the last is 0.
    pub(super) rates: Vec<RateFrom>,
    pub(super) trace: Trace,
}

/// A value and the line where it stands.
struct Row {
    line: usize,
    seconds: f64,
    rate: f64,
}

/// Reads a table.
///
/// # Errors
/// The place of what is wrong, or what of it can be read in more than one way.
pub(super) fn read(text: &str, asked: &Asked, findings: &mut Vec<Finding>) -> Result<Table, FormError> {
    let delimiter = delimiter(text, asked)?;
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter as u8).has_headers(false).flexible(true).trim(Trim::All);
    let mut records = builder.from_reader(text.as_bytes()).into_records();
    let first = match records.next() {
        None => return Err(wrong(1, 1, "the file is empty")),
        Some(record) => record.map_err(|error| not_csv(&error))?,
    };
    let columns = Columns::of(&first, asked, findings)?;
    let header = if columns.named { None } else { Some(Ok(first.clone())) };
    let mut rows = Vec::new();
    let mut dates = None;
    for record in header.into_iter().chain(records) {
        let record = record.map_err(|error| not_csv(&error))?;
        rows.push(columns.row(&record, text, asked, &mut dates)?);
        if rows.len() as u64 > MOST_BINS {
            let line = rows.last().map_or(0, |row| row.line);
            return Err(wrong(line, 1, format!("{MOST_BINS} lines are the most; take longer intervals")));
        }
    }
    let time_unit = columns.time_unit(asked, dates == Some(true), &rows, findings)?;
    let rate_unit = columns.rate_unit(asked, &rows, findings)?;
    let mut rates = in_units(&rows, time_unit, rate_unit, findings);
    close(&mut rates);
    let line = |index: usize| rows.get(index).or(rows.last()).map_or(1, |row| row.line);
    let trace = trace_of(&rates, |index, problem| wrong(line(index), 1, problem))?;
    Ok(Table { rates, trace })
}

fn wrong(line: usize, column: usize, problem: impl Into<String>) -> FormError {
    FormError::Rates { line, column, problem: problem.into() }
}

/// The line where a record begins; the reader counts from behind the one before, empty lines included.
fn line_of(position: &csv::Position, text: &str) -> usize {
    let rest = text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
    let between = rest.iter().take_while(|byte| b"\r\n".contains(byte));
    position.line() as usize + between.filter(|byte| **byte == b'\n').count()
}

fn not_csv(error: &csv::Error) -> FormError {
    let line = error.position().map_or(1, |position| position.line() as usize);
    wrong(line, 1, error.to_string())
}

/// What stands between the columns of the first lines.
fn delimiter(text: &str, asked: &Asked) -> Result<char, FormError> {
    if let Some(delimiter) = asked.delimiter {
        return Ok(delimiter);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let count = |line: &str, delimiter| line.matches(delimiter).count();
    let mut found: Vec<char> = [',', ';', '\t'].into_iter().filter(|&d| count(first, d) > 0).collect();
    if found.len() > 1 {
        found.retain(|&d| count(first, d) == count(second, d));
    }
    match found.as_slice() {
        [only] => Ok(*only),
        [] if count(first, ',') + count(first, ';') + count(first, '\t') == 0 => {
            let problem = "a table needs two columns, a time and a rate, with a comma, a semicolon or a tab between them";
            Err(wrong(1, 1, problem))
        }
        _ => Err(FormError::undecided(
            "commas, semicolons or tabs could stand between the columns",
            "say which with --delimiter",
        )),
    }
}

/// Which columns count.
struct Columns {
    time: usize,
    rate: usize,
    /// What they are called.
    names: [String; 2],
    /// Whether the first line names them.
    named: bool,
    delimiter_len: usize,
}

impl Columns {
    fn of(first: &StringRecord, asked: &Asked, findings: &mut Vec<Finding>) -> Result<Self, FormError> {
        let names: Vec<&str> = first.iter().map(|name| name.trim_start_matches('\u{feff}').trim()).collect();
        let named = !names.iter().all(|name| name.parse::<f64>().is_ok());
        let time = asked.time.as_deref().map(|column| position(&names, column, "--time")).transpose()?;
        let rate = asked.rate.as_deref().map(|column| position(&names, column, "--rate")).transpose()?;
        if !named && (time.is_none() || rate.is_none()) {
            return Err(FormError::undecided(
                "the first line names no columns",
                "say which they are by their numbers, such as `--time 1 --rate 2`, with --time-unit and --rate-unit",
            ));
        }
        let by_time = |hint: &Hint<TimeUnit>| !matches!(hint, Hint::None);
        let times = candidates(&names, |name| by_time(&time_hint(name)));
        let units =
            candidates(&names, |name| matches!(rate_hint(name), Hint::Unit(unit) if !unit.per_interval));
        let others = candidates(&names, |name| !matches!(rate_hint(name), Hint::None));
        let rates = if units.is_empty() { others } else { units };
        let only_other =
            |known: Option<usize>| known.filter(|_| names.len() == 2).map(|known| vec![1 - known]);
        let sole = |of: &[usize]| if let [only] = of { Some(*only) } else { None };
        let known_time = time.or(sole(&times));
        let rates = if rates.is_empty() { only_other(known_time).unwrap_or_default() } else { rates };
        let times =
            if times.is_empty() { only_other(rate.or(sole(&rates))).unwrap_or_default() } else { times };
        let time = choose(&names, time, &times, "time", "--time")?;
        let rate = choose(&names, rate, &rates, "rate", "--rate")?;
        if time == rate {
            return Err(FormError::undecided(
                format!("`{}` cannot be both time and rate", names[time]),
                "say which they are with --time and --rate",
            ));
        }
        if is_estimate(names[rate]) {
            let problem = format!(
                "`{}` is what a sender estimated or aimed at, not what the link could carry; name a column of received bytes or rates \
                 with --rate, or import a capture of a bulk transfer",
                names[rate]
            );
            return Err(FormError::whole(problem));
        }
        let called =
            |column: usize| if named { format!("`{}`", names[column]) } else { (column + 1).to_string() };
        let why = |asked: &Option<String>| if asked.is_some() { "as asked" } else { "by the header" };
        findings.push(Finding::sure("time", format!("column {}", called(time)), why(&asked.time)));
        findings.push(Finding::sure("rate", format!("column {}", called(rate)), why(&asked.rate)));
        let names = [names[time].to_owned(), names[rate].to_owned()];
        Ok(Self { time, rate, names, named, delimiter_len: 1 })
    }

    fn row(
        &self,
        record: &StringRecord,
        text: &str,
        asked: &Asked,
        dates: &mut Option<bool>,
    ) -> Result<Row, FormError> {
        let line = record.position().map_or(1, |position| line_of(position, text));
        let needed = self.time.max(self.rate) + 1;
        if record.len() < needed {
            let problem = format!("this line has {} columns, and column {needed} counts", record.len());
            return Err(wrong(line, 1, problem));
        }
        let place = |column: usize| {
            let before = record.iter().take(column).map(|field| field.chars().count() + self.delimiter_len);
            before.sum::<usize>() + 1
        };
        let number = |column: usize| {
            let text = record[column].trim();
            let plain = if asked.decimal_comma { text.replace(',', ".") } else { text.to_owned() };
            plain.parse::<f64>().map_err(|_| {
                let comma = text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok();
                let hint =
                    if comma { "; if its comma is a decimal one, say so with --decimal-comma" } else { "" };
                wrong(line, place(column), format!("`{text}` is not a number{hint}"))
            })
        };
        let is_date = *dates.get_or_insert_with(|| match asked.time_unit {
            Some(unit) => unit == TimeUnit::Iso,
            None => number(self.time).is_err() && seconds_of_date(&record[self.time]).is_some(),
        });
        let seconds = if is_date {
            let text = &record[self.time];
            let problem = || format!("`{text}` is not a date such as 2026-05-01T12:30:00.25Z");
            seconds_of_date(text).ok_or_else(|| wrong(line, place(self.time), problem()))?
        } else {
            number(self.time)?
        };
        Ok(Row { line, seconds, rate: number(self.rate)? })
    }

    fn time_unit(
        &self,
        asked: &Asked,
        dates: bool,
        rows: &[Row],
        findings: &mut Vec<Finding>,
    ) -> Result<TimeUnit, FormError> {
        let finding = |sure: bool, unit: TimeUnit, why: &str| {
            let make = if sure { Finding::sure } else { Finding::guess };
            make("unit of times", unit.to_string(), why)
        };
        if let Some(unit) = asked.time_unit {
            findings.push(finding(true, unit, "as asked"));
            return Ok(unit);
        }
        if dates {
            findings.push(finding(true, TimeUnit::Iso, "its values are such"));
            return Ok(TimeUnit::Iso);
        }
        if let (Hint::Unit(unit), true) = (time_hint(&self.names[0]), self.named) {
            findings.push(finding(true, unit, "the header names it"));
            return Ok(unit);
        }
        let first = rows.first().map_or(0.0, |row| row.seconds);
        let since_1970 = [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos];
        if let Some(unit) = since_1970.into_iter().find(|unit| EPOCH.contains(&(first * unit.seconds()))) {
            findings.push(finding(false, unit, "its values are such since 1970"));
            return Ok(unit);
        }
        let mut steps: Vec<f64> = rows.windows(2).map(|pair| pair[1].seconds - pair[0].seconds).collect();
        steps.sort_by(f64::total_cmp);
        match steps.get(steps.len() / 2) {
            Some(0.0..=1.0) => {
                findings.push(finding(
                    false,
                    TimeUnit::Seconds,
                    "a column without unit with steps up to 1 is in s",
                ));
                Ok(TimeUnit::Seconds)
            }
            Some(100.0..=10_000.0) => {
                findings.push(finding(
                    false,
                    TimeUnit::Millis,
                    "a column without unit with steps from 100 on is in ms",
                ));
                Ok(TimeUnit::Millis)
            }
            _ => Err(FormError::undecided(
                format!("nothing tells the unit of the times in `{}`", self.names[0]),
                format!("say it with --time-unit: {}", TimeUnit::names().collect::<Vec<_>>().join(", ")),
            )),
        }
    }

    fn rate_unit(
        &self,
        asked: &Asked,
        rows: &[Row],
        findings: &mut Vec<Finding>,
    ) -> Result<RateUnit, FormError> {
        let what = "unit of rates";
        if let Some(unit) = asked.rate_unit {
            findings.push(Finding::sure(what, unit.to_string(), "as asked"));
            return Ok(unit);
        }
        let units =
            || format!("say it with --rate-unit: {}", RateUnit::names().collect::<Vec<_>>().join(", "));
        if let (Hint::Unit(unit), true) = (rate_hint(&self.names[1]), self.named) {
            let rising = rows.len() > 3 && rows.windows(2).all(|pair| pair[0].rate < pair[1].rate);
            if unit.per_interval && rising {
                let problem =
                    format!("`{}` only rises: it could count bytes since the beginning", self.names[1]);
                let remedy = "write what came in each interval, or say that it is so with --rate-unit bytes";
                return Err(FormError::undecided(problem, remedy));
            }
            let why =
                if unit.per_interval { "the header names bytes, and no time" } else { "the header names it" };
            let make = if unit.per_interval { Finding::guess } else { Finding::sure };
            findings.push(make(what, unit.to_string(), why.to_owned()));
            return Ok(unit);
        }
        let mut values: Vec<f64> = rows.iter().map(|row| row.rate).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2).copied().unwrap_or_default();
        if middle >= SURELY_BITS {
            let why = format!("a column without unit with values around {middle:.0} is in bit/s");
            findings.push(Finding::guess(what, "bit/s", why));
            return Ok(RateUnit::BITS);
        }
        let problem = format!("nothing tells the unit of the rates in `{}`, around {middle}", self.names[1]);
        Err(FormError::undecided(problem, units()))
    }
}

fn candidates(names: &[&str], is: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&column| is(names[column])).collect()
}

/// The column that is asked for by its name or number.
fn position(names: &[&str], column: &str, option: &str) -> Result<usize, FormError> {
    let by_name = names.iter().position(|name| name.eq_ignore_ascii_case(column.trim()));
    let by_number = || column.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
    by_name.or_else(|| by_number().map(|number| number - 1)).ok_or_else(|| {
        let problem = format!("{option} {column}: there is no such column");
        FormError::undecided(problem, format!("the first line has {}", listed(names, 0..names.len())))
    })
}

fn listed(names: &[&str], columns: impl IntoIterator<Item = usize>) -> String {
    columns.into_iter().map(|column| format!("`{}`", names[column])).collect::<Vec<_>>().join(", ")
}

fn choose(
    names: &[&str],
    asked: Option<usize>,
    found: &[usize],
    what: &str,
    option: &str,
) -> Result<usize, FormError> {
    match (asked, found) {
        (Some(column), _) => Ok(column),
        (None, [column]) => Ok(*column),
        (None, []) => Err(FormError::undecided(
            format!("no column of {} is one of {what}s", listed(names, 0..names.len())),
            format!("name it with {option}"),
        )),
        (None, several) => Err(FormError::undecided(
            format!("{} could be the {what}", listed(names, several.iter().copied())),
            format!("say which with {option}"),
        )),
    }
}

/// The rates in bit/s, from 0 s on.
fn in_units(rows: &[Row], time: TimeUnit, rate: RateUnit, findings: &mut Vec<Finding>) -> Vec<RateFrom> {
    let first = rows.first().map_or(0.0, |row| row.seconds);
    if first != 0.0 {
        findings.push(Finding::sure("beginning", format!("at {first}, which is 0 s"), "the first time"));
    }
    // To the microsecond, as differences of dates in f64 are.
    let since = |row: &Row| ((row.seconds - first) * time.seconds() * 1e6).round() / 1e6;
    let lasts = |index: usize| {
        let next = index.min(rows.len().saturating_sub(2));
        rows.get(next + 1).map_or(0.0, |row| since(row) - since(&rows[next]))
    };
    let bits = |(index, row): (usize, &Row)| {
        let per = if rate.per_interval { lasts(index) } else { 1.0 };
        RateFrom {
            seconds: since(row),
            bits_per_second: if per > 0.0 { row.rate * rate.bits / per } else { 0.0 },
        }
    };
    rows.iter().enumerate().map(bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (Vec<(f64, f64)>, Vec<Finding>);

    fn told(text: &str, asked: &Asked) -> Result<Told, FormError> {
        let mut findings = Vec::new();
        let table = read(text, asked, &mut findings)?;
        Ok((table.rates.iter().map(|rate| (rate.seconds, rate.bits_per_second)).collect(), findings))
    }

    fn is_sure(findings: &[Finding]) -> bool {
        findings.iter().all(|finding| finding.sure)
    }

    #[test]
    fn headers_tell_columns_and_units() {
        let expected = vec![(0.0, 1e6), (0.5, 2e6), (1.0, 0.0)];
        for text in [
            "seconds,bits_per_second\n0,1e6\n0.5,2e6\n1,0\n",
            "seconds,bits_per_second\n0,1e6\n0.5,2e6\n",
            "Time (ms);loss;Throughput (Mbit/s)\r\n500;0;1\r\n1000;1;2\r\n",
            "rtt_ms\tDL rate kbps\telapsed_ms\n20\t1000\t0\n30\t2000\t500\n",
            "timestamp_s,\"MB/s\"\n1700000000.25,0.125\n1700000000.75,0.25\n",
            "date,rate_kbps\n2026-05-01T12:30:00.5Z,1000\n2026-05-01T12:30:01Z,2000\n",
        ] {
            let (rates, findings) =
                told(text, &Asked::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((rates, is_sure(&findings)), (expected.clone(), true), "{text}: {findings:?}");
        }
    }

    #[test]
    fn what_is_only_probable_is_a_guess() {
        for (text, what) in [
            ("time_s,throughput\n0,1000000\n1,2000000\n", "unit of rates"),
            ("time,rate_bps\n0,1000000\n1,2000000\n", "unit of times"),
            ("timestamp,rate_bps\n1700000000000,1000000\n1700000001000,2000000\n", "unit of times"),
            ("time_s,bytes\n0,125000\n1,250000\n", "unit of rates"),
        ] {
            let (rates, findings) = told(text, &Asked::default()).unwrap();
            assert_eq!(rates, [(0.0, 1e6), (1.0, 2e6), (2.0, 0.0)], "{text}");
            let guessed: Vec<_> = findings.iter().filter(|finding| !finding.sure).map(|f| f.what).collect();
            assert_eq!(guessed, [what], "{text}");
        }
    }

    #[test]
    fn what_is_ambiguous_is_refused_with_the_option_that_decides_it() {
        let asked = |time_unit: &str, rate_unit: &str| Asked {
            time_unit: time_unit.parse().ok(),
            rate_unit: rate_unit.parse().ok(),
            ..Asked::default()
        };
        let column = |time: &str, rate: &str| Asked {
            time: Some(time.to_owned()),
            rate: Some(rate.to_owned()),
            ..asked("s", "Mbit/s")
        };
        let comma = Asked { decimal_comma: true, ..Asked::default() };
        for (text, said, remedy, decided) in [
            (
                "time_s,rate\n0,5\n1,6\n",
                "the unit of the rates in `rate`",
                "--rate-unit",
                asked("", "Mbit/s"),
            ),
            ("t,bps\n0,5e6\n10,6e6\n", "the unit of the times in `t`", "--time-unit", asked("ms", "")),
            (
                "s,DL Mbps,UL Mbps\n0,5,1\n1,6,1\n",
                "`DL Mbps`, `UL Mbps` could be",
                "--rate",
                column("s", "dl mbps"),
            ),
            (
                "a,b,c\n0,5,1\n1,6,1\n",
                "no column of `a`, `b`, `c` is one of times",
                "--time",
                column("1", "2"),
            ),
            ("0,5\n1,6\n", "the first line names no columns", "--time 1 --rate 2", column("1", "2")),
            (
                "s,rx_bytes\n0,100000\n1,200000\n2,300000\n3,400000\n",
                "`rx_bytes` only rises",
                "--rate-unit bytes",
                asked("", "bytes"),
            ),
            (
                "s;mbps,x\n0;1,2\n1;1,3\n",
                "could stand between",
                "--delimiter",
                Asked { delimiter: Some(';'), ..column("s", "2") },
            ),
            ("s;mbps\n0;1,5\n1;1,5\n", "`1,5` is not a number", "", comma),
        ] {
            let error = told(text, &Asked::default()).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
            assert!(matches!(error, FormError::Undecided { .. }) != remedy.is_empty(), "{text}: {error}");
            assert!(error.form().contains(remedy), "{text}: {}", error.form());
            let decided = told(text, &decided);
            let only_comma = said.contains("between");
            assert!(decided.is_ok() || only_comma, "{text}: {decided:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let error = |text: &str| told(text, &Asked::default()).unwrap_err().to_string();
        let table = |rows: &str| error(&format!("seconds,x,rate_kbps\n{rows}"));
        assert_eq!(table("0,1,10\n1,2,fast\n"), "line 3, column 5: `fast` is not a number");
        assert_eq!(
            table("0,1,10\n\n1,2\n"),
            "line 4, column 1: this line has 2 columns, and column 3 counts"
        );
        assert_eq!(
            error(""),
            "line 1, column 1: a table needs two columns, a time and a rate, with a comma, a semicolon or a tab between them"
        );
        assert!(
            table("0,1,10\n1e18,2,10\n")
                .starts_with("line 3, column 1: 1000000000000000000 s: times must begin")
        );
        assert!(table("0,1,10\n").starts_with("line 2, column 1: a trace needs two rates"));
        assert!(table("5,1,10\n4,1,10\n").starts_with("line 3, column 1: -1 s: times must"));
    }
}
