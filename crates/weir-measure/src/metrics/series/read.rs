//! Reader of time series from comma-separated values.

use std::collections::BTreeMap;

use weir_cc::{LimitingFactor, ascii_name};
use weir_world::Side;

use super::columns::{CouplingSeries, FlowSeries, LinkSeries, Series, Share, SignalSeries};
use crate::csv_fields::fields;
use crate::metrics::histogram::CdfPoint;
use crate::metrics::plan::{CouplingPlan, FlowPlan, LinkPlan, MeasurePlan};

/// Error of a table that is not the series of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadSeriesError {
    /// A cell holds a value of the wrong kind.
    Cell {
        /// The line, from 1.
        line: usize,
        /// Content of the cell.
        text: String,
    },
    /// A line has more or fewer cells than the first.
    Length {
        /// The line, from 1.
        line: usize,
    },
    /// The run has a column that is missing in the table.
    Column(String),
}

impl core::fmt::Display for ReadSeriesError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cell { line, text } => write!(f, "line {line}: `{text}` is no value of its column"),
            Self::Length { line } => write!(f, "line {line} has more or fewer cells than the first"),
            Self::Column(name) => write!(f, "there is no column `{name}`"),
        }
    }
}

impl core::error::Error for ReadSeriesError {}

impl Series {
    /// The series of a run by `plan` from the output of [`Recording::write_csv`](super::Recording::write_csv).
    /// Signals that have no column are left out.
    ///
    /// # Errors
    /// A text in another form.
    pub fn read_csv(text: &str, plan: &MeasurePlan) -> Result<Self, ReadSeriesError> {
        let columns = NamedColumns::read(text)?;
        Ok(Self {
            time_s: columns.numbers("time_s".to_owned())?,
            flows: plan.flows.iter().map(|flow| columns.flow(flow, plan)).collect::<Result<_, _>>()?,
            links: plan.links.iter().map(|link| columns.link(link)).collect::<Result<_, _>>()?,
            couplings: plan
                .couplings
                .iter()
                .map(|coupling| columns.coupling(coupling))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// The distribution of the delay `name` from the output of [`write_cdf_csv`](super::write_cdf_csv); empty if it is
/// missing.
///
/// # Errors
/// A text in another form.
pub fn read_cdf_csv(text: &str, name: &str) -> Result<Vec<CdfPoint>, ReadSeriesError> {
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let cells = fields(line);
        let [own, delay, share] = cells.as_slice() else {
            return Err(ReadSeriesError::Length { line: number + 1 });
        };
        let value = |text: &String| {
            text.parse().map_err(|_| ReadSeriesError::Cell { line: number + 1, text: text.clone() })
        };
        if own == name {
            points.push(CdfPoint { delay_ms: value(delay)?, share: value(share)? });
        }
    }
    Ok(points)
}

/// The columns by their names.
struct NamedColumns(BTreeMap<String, Vec<CellValue>>);

#[derive(Clone, Copy)]
enum CellValue {
    Number(f64),
    LimitingFactor(LimitingFactor),
}

impl NamedColumns {
    fn read(text: &str) -> Result<Self, ReadSeriesError> {
        let mut lines = text.lines();
        let names = fields(lines.next().unwrap_or_default());
        let mut columns: Vec<Vec<CellValue>> = vec![Vec::new(); names.len()];
        for (number, line) in lines.enumerate() {
            let mut cells = line.split(',');
            for column in &mut columns {
                let text = cells.next().ok_or(ReadSeriesError::Length { line: number + 2 })?;
                let cell = CellValue::read(text);
                column.push(
                    cell.ok_or_else(|| ReadSeriesError::Cell { line: number + 2, text: text.to_owned() })?,
                );
            }
            if cells.next().is_some() {
                return Err(ReadSeriesError::Length { line: number + 2 });
            }
        }
        Ok(Self(names.into_iter().zip(columns).collect()))
    }

    fn cells(&self, name: String) -> Result<&[CellValue], ReadSeriesError> {
        self.0.get(&name).map(Vec::as_slice).ok_or(ReadSeriesError::Column(name))
    }

    fn numbers(&self, name: String) -> Result<Vec<f64>, ReadSeriesError> {
        let number = |cell: &CellValue| match cell {
            CellValue::Number(number) => *number,
            CellValue::LimitingFactor(_) => f64::NAN,
        };
        Ok(self.cells(name)?.iter().map(number).collect())
    }

    fn flow(&self, plan: &FlowPlan, all: &MeasurePlan) -> Result<FlowSeries, ReadSeriesError> {
        let name = &plan.name;
        let numbers = |quantity: &str| self.numbers(format!("{name}.{quantity}"));
        let factor = |cell: &CellValue| match cell {
            CellValue::LimitingFactor(factor) => Some(*factor),
            CellValue::Number(_) => None,
        };
        let index = all.flows.iter().position(|flow| flow.name == *name);
        let coupled =
            all.couplings.iter().any(|coupling| coupling.flows.iter().any(|&flow| Some(flow) == index));
        let share = if coupled {
            // The coupler gives either rates or windows; the columns show which.
            let rate = numbers("share_bps").map(Share::Rate);
            Some(rate.or_else(|_| numbers("share_segments").map(Share::Window))?)
        } else {
            None
        };
        let signals_of = |side: Side, names: &[String]| -> Vec<SignalSeries> {
            let half = if side == Side::Sender { "sender" } else { "receiver" };
            let signal = |signal: &String| {
                // Earlier versions wrote the names of papers.
                let column = |end: &str| {
                    let ascii = numbers(&format!("{half}.{}.{end}", ascii_name(signal)));
                    ascii.or_else(|_| numbers(&format!("{half}.{signal}.{end}"))).ok()
                };
                Some(SignalSeries { name: signal.clone(), side, min: column("min")?, max: column("max")? })
            };
            names.iter().filter_map(signal).collect()
        };
        let mut signals = signals_of(Side::Sender, &plan.sender_signals);
        signals.extend(signals_of(Side::Receiver, &plan.receiver_signals));
        Ok(FlowSeries {
            name: name.clone(),
            send_rate_bps: numbers("send_rate_bps")?,
            receive_rate_bps: numbers("receive_rate_bps")?,
            target_rate_bps: numbers("target_rate_bps")?,
            limiting_factor: self.cells(format!("{name}.limiting_factor"))?.iter().map(factor).collect(),
            loss_ratio: numbers("loss_ratio")?,
            owd_excess_mean_ms: numbers("owd_excess_mean_ms")?,
            owd_excess_max_ms: numbers("owd_excess_max_ms")?,
            frame_delay_max_ms: numbers("frame_delay_max_ms")?,
            signals,
            share,
        })
    }

    fn link(&self, plan: &LinkPlan) -> Result<LinkSeries, ReadSeriesError> {
        let numbers = |quantity: &str| self.numbers(format!("{}.{quantity}", plan.name));
        Ok(LinkSeries {
            name: plan.name.clone(),
            capacity_bps: numbers("capacity_bps")?,
            rate_bps: numbers("rate_bps")?,
            queue_mean_ms: numbers("queue_mean_ms")?,
            queue_max_ms: numbers("queue_max_ms")?,
        })
    }

    fn coupling(&self, plan: &CouplingPlan) -> Result<CouplingSeries, ReadSeriesError> {
        let numbers = |quantity: &str| self.numbers(format!("{}.{quantity}", plan.name));
        Ok(CouplingSeries {
            name: plan.name.clone(),
            flows: plan.flows.clone(),
            send_rate_bps: numbers("send_rate_bps")?,
            receive_rate_bps: numbers("receive_rate_bps")?,
            aggregate: numbers(if plan.windows { "aggregate_bytes" } else { "aggregate_bps" })?,
            windows: plan.windows,
            groups: numbers("groups")?,
        })
    }
}

impl CellValue {
    /// An empty cell is a missing number.
    fn read(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Number(f64::NAN));
        }
        let factor =
            || LimitingFactor::ALL.into_iter().find(|factor| factor.name() == text).map(Self::LimitingFactor);
        text.parse().ok().map(Self::Number).or_else(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::FlowKind;

    #[test]
    fn a_distribution_is_that_of_its_name() {
        let text = "name,delay_ms,share\na,1.5,0.25\n\"b,c\",2,0.5\na,3,1\n";
        let own = read_cdf_csv(text, "a").unwrap();
        assert_eq!(own, [CdfPoint { delay_ms: 1.5, share: 0.25 }, CdfPoint { delay_ms: 3.0, share: 1.0 }]);
        assert_eq!(read_cdf_csv(text, "b,c").unwrap().len(), 1);
        assert_eq!(read_cdf_csv("name,delay_ms,share\na,1\n", "a"), Err(ReadSeriesError::Length { line: 2 }));
    }

    #[test]
    fn a_malformed_series_is_refused_with_its_place() {
        let plan = |flows: Vec<FlowPlan>| MeasurePlan {
            record: false,
            end: weir_net::Time::ZERO,
            window: (weir_net::Time::ZERO, weir_net::Time::ZERO),
            flows,
            links: Vec::new(),
            series: true,
            windows: Vec::new(),
            couplings: Vec::new(),
            queues: false,
            viewed_from: weir_net::Time::ZERO,
            media_receipts: false,
        };
        let error = |text: &str, flows| Series::read_csv(text, &plan(flows)).unwrap_err().to_string();
        assert_eq!(error("time_s\n0\nx\n", vec![]), "line 3: `x` is no value of its column");
        assert_eq!(error("time_s,a\n0\n", vec![]), "line 2 has more or fewer cells than the first");
        assert_eq!(error("time_s\n0\n1,2\n", vec![]), "line 3 has more or fewer cells than the first");
        let video = FlowPlan::new("video", FlowKind::Media);
        assert_eq!(error("time_s\n0\n", vec![video]), "there is no column `video.send_rate_bps`");
    }
}
