//! Series and distributions as comma-separated values (RFC 4180).

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter;

use weir_cc::ascii_name;
use weir_world::Side;

use super::columns::{CouplingSeries, FlowSeries, LinkSeries, Series, Share, SignalSeries};
use super::glossary::unit_of_column;
use super::recording::Recording;
use super::table::Column;
use crate::csv_fields::quoted;
use crate::metrics::histogram::Histogram;
use crate::results::ucum;

impl Recording {
    /// Writes one line per bin: the time in seconds, then a column per quantity, named `flow.quantity_unit`,
    /// `link.quantity_unit` or `coupling.quantity_unit`, signals `flow.sender.name.min` and so on. Empty where there is no value.
    ///
    /// # Errors
    /// An error of `out`, or of the storage of a block.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "time_s")?;
        for (name, _) in self.any_block().columns() {
            write!(out, ",{}", quoted(&name))?;
        }
        writeln!(out)?;
        self.each_block(|block| block.write_lines(out))
    }
}

/// Unit of a signal, by the index of its flow, its half and its name.
pub type SignalUnit<'a> = dyn Fn(usize, Side, &str) -> Option<&'static str> + 'a;

impl Recording {
    /// Each column of numbers with its unit, a UCUM code. `of_signal` has the units of the controllers' signals.
    pub fn column_units(&self, of_signal: &SignalUnit<'_>) -> Vec<(String, String)> {
        let block = self.any_block();
        let mut signals: BTreeMap<String, Option<&str>> = BTreeMap::new();
        for (index, flow) in block.flows.iter().enumerate() {
            for SignalSeries { name, side, .. } in &flow.signals {
                signals.insert(signal_column(&flow.name, *side, name), of_signal(index, *side, name));
            }
        }
        let unit = |name: &str| {
            let signal = name.strip_suffix(".min").or(name.strip_suffix(".max"));
            match signal.and_then(|signal| signals.get(signal)) {
                Some(unit) => *unit,
                None => unit_of_column(name),
            }
        };
        let numbers = block.columns().into_iter().filter(|(_, column)| matches!(column, Column::Numbers(_)));
        let names = iter::once("time_s".to_owned()).chain(numbers.map(|(name, _)| name));
        names.filter_map(|name| unit(&name).map(|unit| (name.clone(), ucum(unit).to_owned()))).collect()
    }
}

impl Series {
    fn write_lines(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.columns();
        for (row, time) in self.time_s.iter().enumerate() {
            write!(out, "{time}")?;
            for (_, column) in &columns {
                column.write_cell(out, row)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// All columns but the time, with their names.
    pub(super) fn columns(&self) -> Vec<(String, Column<'_>)> {
        let flows = self.flows.iter().flat_map(FlowSeries::columns);
        let links = self.links.iter().flat_map(LinkSeries::columns);
        flows.chain(links).chain(self.couplings.iter().flat_map(CouplingSeries::columns)).collect()
    }
}

/// Writes the cumulative distribution of each named delay, at most `max_points` of each: lines of
/// `name,delay_ms,share`.
///
/// # Errors
/// An error of `out`.
pub fn write_cdf_csv<'a>(
    out: &mut impl Write,
    delays: impl IntoIterator<Item = (&'a str, &'a Histogram)>,
    max_points: usize,
) -> io::Result<()> {
    writeln!(out, "name,delay_ms,share")?;
    for (name, histogram) in delays {
        let name = quoted(name);
        for point in histogram.cdf(max_points) {
            writeln!(out, "{name},{},{}", point.delay_ms, point.share)?;
        }
    }
    Ok(())
}

impl FlowSeries {
    fn columns(&self) -> Vec<(String, Column<'_>)> {
        let numbers = [
            ("send_rate_bps", &self.send_rate_bps),
            ("receive_rate_bps", &self.receive_rate_bps),
            ("target_rate_bps", &self.target_rate_bps),
            ("loss_ratio", &self.loss_ratio),
            ("owd_excess_mean_ms", &self.owd_excess_mean_ms),
            ("owd_excess_max_ms", &self.owd_excess_max_ms),
            ("frame_delay_max_ms", &self.frame_delay_max_ms),
        ];
        let mut columns = named(&self.name, &numbers);
        columns
            .push((format!("{}.limiting_factor", self.name), Column::LimitingFactors(&self.limiting_factor)));
        columns.extend(self.share.iter().flat_map(|share| match share {
            Share::Rate(rates) => named(&self.name, &[("share_bps", rates)]),
            Share::Window(windows) => named(&self.name, &[("share_segments", windows)]),
        }));
        columns.extend(self.signals.iter().flat_map(|signal| signal.columns(&self.name)));
        columns
    }
}

impl SignalSeries {
    fn columns(&self, flow: &str) -> Vec<(String, Column<'_>)> {
        named(&signal_column(flow, self.side, &self.name), &[("min", &self.min), ("max", &self.max)])
    }
}

impl LinkSeries {
    fn columns(&self) -> Vec<(String, Column<'_>)> {
        let numbers = [
            ("capacity_bps", &self.capacity_bps),
            ("rate_bps", &self.rate_bps),
            ("queue_mean_ms", &self.queue_mean_ms),
            ("queue_max_ms", &self.queue_max_ms),
        ];
        named(&self.name, &numbers)
    }
}

impl CouplingSeries {
    fn columns(&self) -> Vec<(String, Column<'_>)> {
        let aggregate = if self.windows { "aggregate_bytes" } else { "aggregate_bps" };
        let numbers = [
            ("send_rate_bps", &self.send_rate_bps),
            ("receive_rate_bps", &self.receive_rate_bps),
            (aggregate, &self.aggregate),
            ("groups", &self.groups),
        ];
        named(&self.name, &numbers)
    }
}

/// The columns of a signal without `.min` and `.max`: the name in ASCII behind flow and half.
fn signal_column(flow: &str, side: Side, signal: &str) -> String {
    let side = match side {
        Side::Sender => "sender",
        Side::Receiver => "receiver",
    };
    format!("{flow}.{side}.{}", ascii_name(signal))
}

fn named<'a>(owner: &str, columns: &[(&str, &'a Vec<f64>)]) -> Vec<(String, Column<'a>)> {
    columns.iter().map(|(name, values)| (format!("{owner}.{name}"), Column::Numbers(values))).collect()
}
