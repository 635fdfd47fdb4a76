//! Import of tables of times and rates (CSV): a line of names, then columns separated by commas.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::error::{FormError, MAX_BINS};
use super::options::{ImportFinding, ReadOptions};
use super::rates::{RateFrom, close, trace_of};
use weir_net::Trace;

/// Names of the columns that are read by default.
const TIME_COLUMN: &str = "seconds";
const RATE_COLUMN: &str = "bits_per_second";

/// A row of the table, in the table's units.
struct Row {
    line: usize,
    time: f64,
    rate: f64,
}

/// Reads a table: its rates, of which the last is 0, and the trace.
///
/// # Errors
/// The place of the problem, or a column that does not exist.
pub(crate) fn read(
    text: &str,
    options: &ReadOptions,
    findings: &mut Vec<ImportFinding>,
) -> Result<(Vec<RateFrom>, Trace), FormError> {
    let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| not_csv(&error))?.clone();
    if names.is_empty() {
        return Err(wrong(1, 1, "the file is empty"));
    }
    let columns = [
        column(&names, options.time.as_deref().unwrap_or(TIME_COLUMN), "--time")?,
        column(&names, options.rate.as_deref().unwrap_or(RATE_COLUMN), "--rate")?,
    ];
    let mut rows = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(|error| not_csv(&error))?;
        let row = row(&record, columns, text)?;
        if rows.len() as u64 == MAX_BINS {
            let problem = format!("{MAX_BINS} lines are the most; take longer intervals");
            return Err(wrong(row.line, 1, problem));
        }
        rows.push(row);
    }
    let (time_unit, rate_unit) =
        (options.time_unit.unwrap_or_default(), options.rate_unit.unwrap_or_default());
    findings.push(ImportFinding::new("times", format!("column `{}`, in {time_unit}", &names[columns[0]])));
    findings.push(ImportFinding::new("rates", format!("column `{}`, in {rate_unit}", &names[columns[1]])));
    let first = rows.first().map_or(0.0, |row| row.time);
    if first != 0.0 {
        findings
            .push(ImportFinding::new("beginning", format!("the first time, {first} {time_unit}, is 0 s")));
    }
    let in_units = |row: &Row| RateFrom {
        // To the microsecond, as differences of times since 1970 are no finer.
        seconds: ((row.time - first) * time_unit.seconds * 1e6).round() / 1e6,
        bits_per_second: row.rate * rate_unit.bits_per_second,
    };
    let mut rates: Vec<RateFrom> = rows.iter().map(in_units).collect();
    close(&mut rates);
    let line = |index: usize| rows.get(index).or(rows.last()).map_or(1, |row| row.line);
    let trace = trace_of(&rates, |index, problem| wrong(line(index), 1, problem))?;
    Ok((rates, trace))
}

fn wrong(line: usize, column: usize, problem: impl Into<String>) -> FormError {
    FormError::Rates { line, column, problem: problem.into() }
}

/// Number of the line in which a record begins. The reader's position is after the previous record, so that it
/// includes empty lines.
fn line_of(position: &csv::Position, text: &str) -> usize {
    let rest = text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
    let between = rest.iter().take_while(|byte| b"\r\n".contains(byte));
    position.line() as usize + between.filter(|byte| **byte == b'\n').count()
}

fn not_csv(error: &csv::Error) -> FormError {
    let line = error.position().map_or(1, |position| position.line() as usize);
    wrong(line, 1, error.to_string())
}

/// The only column of this name, which `option` can change.
fn column(names: &StringRecord, name: &str, option: &str) -> Result<usize, FormError> {
    let mut found = names.iter().enumerate().filter(|(_, known)| *known == name).map(|(index, _)| index);
    let problem = match (found.next(), found.next()) {
        (Some(column), None) => return Ok(column),
        (None, _) => format!("no column is called `{name}`"),
        (Some(_), Some(_)) => format!("several columns are called `{name}`"),
    };
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let remedy = format!(
        "the first line has {listed}, by commas; `weir trace import FILE {option} COLUMN` takes another column"
    );
    Err(FormError::undecided(problem, remedy))
}

fn row(record: &StringRecord, [time, rate]: [usize; 2], text: &str) -> Result<Row, FormError> {
    let line = record.position().map_or(1, |position| line_of(position, text));
    let needed = time.max(rate) + 1;
    if record.len() < needed {
        let problem = format!("this line has {} columns, and column {needed} counts", record.len());
        return Err(wrong(line, 1, problem));
    }
    let number = |column: usize| {
        record[column].parse::<f64>().map_err(|_| {
            let before = record.iter().take(column).map(|field| field.chars().count() + 1);
            wrong(line, before.sum::<usize>() + 1, format!("`{}` is not a number", &record[column]))
        })
    };
    Ok(Row { line, time: number(time)?, rate: number(rate)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(time: &str, rate: &str, time_unit: &str, rate_unit: &str) -> ReadOptions {
        let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ReadOptions {
            time: name(time),
            rate: name(rate),
            time_unit: time_unit.parse().ok(),
            rate_unit: rate_unit.parse().ok(),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn columns_and_units_are_those_that_are_named_or_those_of_weir() {
        let expected = vec![(0.0, 1e6), (0.5, 2e6), (1.0, 0.0)];
        for (text, options) in [
            ("seconds,bits_per_second\n0,1e6\n0.5,2e6\n1,0\n", ReadOptions::default()),
            ("seconds,bits_per_second\n0,1e6\n0.5,2e6\n", ReadOptions::default()),
            ("rtt,t, down\r\n20,500,1\r\n30,1000,2\r\n", options("t", "down", "ms", "Mbit/s")),
            ("seconds,\"MB/s\"\n1700000000.25,0.125\n1700000000.75,0.25\n", options("", "MB/s", "", "MB/s")),
        ] {
            let (rates, _) = read(text, &options, &mut Vec::new()).unwrap_or_else(|e| panic!("{text}: {e}"));
            let pairs: Vec<_> = rates.iter().map(|rate| (rate.seconds, rate.bits_per_second)).collect();
            assert_eq!(pairs, expected, "{text}");
        }
    }

    #[test]
    fn units_are_stated_also_where_the_user_named_none() {
        let mut findings = Vec::new();
        read("t,bits_per_second\n2,1e6\n3,1e6\n", &options("t", "", "", ""), &mut findings).unwrap();
        let said: Vec<&str> = findings.iter().map(|finding| finding.statement.as_str()).collect();
        let beginning = "the first time, 2 s, is 0 s";
        assert_eq!(said, ["column `t`, in s", "column `bits_per_second`, in bit/s", beginning]);
    }

    #[test]
    fn columns_that_are_not_there_are_refused_with_those_that_are() {
        for (text, said, remedy) in [
            ("time,bits_per_second\n0,1\n", "no column is called `seconds`", "`time`, `bits_per_second`"),
            ("seconds,rate\n0,1\n", "no column is called `bits_per_second`", "--rate COLUMN"),
            ("seconds;bits_per_second\n0;1\n", "no column is called `seconds`", "by commas"),
            ("0,1\n1,1\n", "no column is called `seconds`", "the first line has `0`, `1`"),
            ("seconds,seconds,x\n0,1\n", "several columns are called `seconds`", "--time COLUMN"),
        ] {
            let error = read(text, &ReadOptions::default(), &mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), said, "{text}");
            assert!(error.form().contains(remedy), "{text}: {}", error.form());
        }
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        let error = |text: &str| {
            let options = options("", "rate", "", "kbit/s");
            read(text, &options, &mut Vec::new()).unwrap_err().to_string()
        };
        let table = |rows: &str| error(&format!("seconds,x,rate\n{rows}"));
        assert_eq!(table("0,1,10\n1,2,fast\n"), "line 3, column 5: `fast` is not a number");
        assert_eq!(
            table("0,1,10\n\n1,2\n"),
            "line 4, column 1: this line has 2 columns, and column 3 counts"
        );
        assert_eq!(error(""), "line 1, column 1: the file is empty");
        assert!(
            table("0,1,10\n1e18,2,10\n")
                .starts_with("line 3, column 1: 1000000000000000000 s: times must begin")
        );
        assert!(table("0,1,10\n").starts_with("line 2, column 1: a trace needs two rates"));
        assert!(table("5,1,10\n4,1,10\n").starts_with("line 3, column 1: -1 s: times must"));
    }
}
