//! The table of decisions as comma-separated values (RFC 4180), written and read.

use std::io::{self, Write};

use weir_cc::LimitingFactor;
use weir_net::Time;
use weir_units::DataRate;

use super::recorder::names;
use super::{DecidingSignal, DecisionReason, Decisions, FlowNames, MAX_SIGNALS, RecordedDecision};
use crate::csv_fields::{fields, quoted};
use crate::metrics::plan::MeasurePlan;
use crate::metrics::series::read::ReadSeriesError;

/// A column of the table of decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionColumn {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty for text, and for values that have the unit of their signal.
    pub unit: &'static str,
    /// Meaning of its values.
    pub definition: &'static str,
}

const fn column(name: &'static str, unit: &'static str, definition: &'static str) -> DecisionColumn {
    DecisionColumn { name, unit, definition }
}

const SIGNAL: &str = "a signal that the decision went by, by its name in the controller's paper, in ASCII";
const VALUE: &str = "the signal's value, in its unit";
const THRESHOLD: &str = "what the controller compares the signal with; empty if with nothing";

/// The columns of the table of decisions, in their order.
pub const DECISION_COLUMNS: [DecisionColumn; 15] = [
    column("time", "s", "when the controller decided, in seconds of the run"),
    column("flow", "", "the flow's name"),
    column("from", "bit/s", "the rate by the decision recorded before"),
    column("to", "bit/s", "the rate by this decision"),
    column("reason", "", "what changed the rate"),
    column("limiting_factor", "", "what keeps the rate from rising over the next second"),
    column("signal", "", SIGNAL),
    column("value", "", VALUE),
    column("threshold", "", THRESHOLD),
    column("signal_2", "", SIGNAL),
    column("value_2", "", VALUE),
    column("threshold_2", "", THRESHOLD),
    column("signal_3", "", SIGNAL),
    column("value_3", "", VALUE),
    column("threshold_3", "", THRESHOLD),
];
/// Number of columns before those of the signals.
const BEFORE_SIGNALS: usize = 6;
/// Number of columns of each signal.
const PER_SIGNAL: usize = 3;

impl Decisions {
    /// Writes a line for each decision, with the columns of [`DECISION_COLUMNS`].
    ///
    /// # Errors
    /// An error of `out`, or of the storage of a long run.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", DECISION_COLUMNS.map(|column| column.name).join(","))?;
        self.each(|row| {
            write!(out, "{},{}", row.time.secs_f64(), quoted(self.flow(row.flow)))?;
            write!(out, ",{},{}", row.from.bps(), row.to.bps())?;
            write!(out, ",{},{}", row.reason.name(), row.limiting_factor.name())?;
            for signal in &row.signals {
                match signal {
                    None => write!(out, ",,,")?,
                    Some(DecidingSignal { signal, value, threshold }) => {
                        write!(out, ",{}", quoted(self.signal_in_files(row.flow, *signal)))?;
                        write!(out, ",{value},")?;
                        if let Some(threshold) = threshold {
                            write!(out, "{threshold}")?;
                        }
                    }
                }
            }
            writeln!(out)
        })
    }

    /// The decisions of a run by `plan` from the output of [`Self::write_csv`].
    ///
    /// # Errors
    /// A text in another form.
    pub fn read_csv(text: &str, plan: &MeasurePlan) -> Result<Self, ReadSeriesError> {
        let mut lines = text.lines();
        let head = fields(lines.next().unwrap_or_default());
        for (at, column) in DECISION_COLUMNS.iter().enumerate() {
            if head.get(at).is_none_or(|name| name != column.name) {
                return Err(ReadSeriesError::Column(column.name.to_owned()));
            }
        }
        let flows = names(&plan.flows);
        let read = |(at, line): (usize, &str)| read_row(&fields(line), at + 2, &flows);
        let rows = lines.enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { rows: rows.into(), flows })
    }
}

fn read_row(cells: &[String], line: usize, flows: &[FlowNames]) -> Result<RecordedDecision, ReadSeriesError> {
    if cells.len() != DECISION_COLUMNS.len() {
        return Err(ReadSeriesError::Length { line });
    }
    let wrong = |at: usize| ReadSeriesError::Cell { line, text: cells[at].clone() };
    let finite = |at: usize| cells[at].parse().ok().filter(|value: &f64| value.is_finite());
    let number = |at: usize| finite(at).ok_or_else(|| wrong(at));
    let rate = |at: usize| cells[at].parse().map(DataRate::from_bps).map_err(|_| wrong(at));
    let flow = flows.iter().position(|flow| flow.name == cells[1]).ok_or_else(|| wrong(1))?;
    let mut signals = [None; MAX_SIGNALS];
    for (slot, at) in signals.iter_mut().zip((BEFORE_SIGNALS..).step_by(PER_SIGNAL)) {
        if cells[at].is_empty() {
            continue;
        }
        // Earlier versions wrote the names of papers.
        let FlowNames { signals: of_papers, in_files, .. } = &flows[flow];
        let signal = [in_files, of_papers]
            .into_iter()
            .find_map(|names| names.iter().position(|own| *own == cells[at]));
        let threshold = if cells[at + 2].is_empty() { None } else { Some(number(at + 2)?) };
        *slot = Some(DecidingSignal {
            signal: signal.ok_or_else(|| wrong(at))?,
            value: number(at + 1)?,
            threshold,
        });
    }
    Ok(RecordedDecision {
        time: time(&cells[0]).ok_or_else(|| wrong(0))?,
        flow,
        from: rate(2)?,
        to: rate(3)?,
        reason: DecisionReason::all().find(|reason| reason.name() == cells[4]).ok_or_else(|| wrong(4))?,
        limiting_factor: LimitingFactor::ALL
            .into_iter()
            .find(|factor| factor.name() == cells[5])
            .ok_or_else(|| wrong(5))?,
        signals,
    })
}

/// The time of so many seconds, to the millisecond.
fn time(seconds: &str) -> Option<Time> {
    const LATEST: f64 = (u64::MAX / 1_000_000) as f64;
    let millis = (seconds.parse::<f64>().ok()? * 1e3).round();
    (0.0..LATEST).contains(&millis).then(|| Time::from_millis(millis as u64))
}
