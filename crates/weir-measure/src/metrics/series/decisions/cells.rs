//! The table of decisions as columns, those of the CSV file.

use std::io;

use super::csv::DECISION_COLUMNS;
use super::{Decisions, MAX_SIGNALS, RecordedDecision};
use crate::metrics::series::table::Column;

impl Decisions {
    /// Calls `take` with the columns of each block in turn, in the order of [`DECISION_COLUMNS`].
    ///
    /// # Errors
    /// An error of `take`, or of the storage of a long run.
    pub fn each_table<E: From<io::Error>>(
        &self,
        mut take: impl FnMut(&[(String, Column<'_>)]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rows.each_block(|rows| take(&BlockCells::of(self, rows).columns()))
    }
}

/// The cells of a block, column by column.
struct BlockCells<'a> {
    time: Vec<f64>,
    rates: [Vec<f64>; 2],
    flow: Vec<Option<&'a str>>,
    reason: Vec<Option<&'a str>>,
    factor: Vec<Option<&'a str>>,
    signals: [SignalCells<'a>; MAX_SIGNALS],
}

/// The cells of one of the signals of each decision.
struct SignalCells<'a> {
    name: Vec<Option<&'a str>>,
    value: Vec<f64>,
    threshold: Vec<f64>,
}

impl<'a> BlockCells<'a> {
    fn of(all: &'a Decisions, rows: &[RecordedDecision]) -> Self {
        let numbers = |value: &dyn Fn(&RecordedDecision) -> f64| rows.iter().map(value).collect();
        let signal = |at: usize| {
            let name = |row: &RecordedDecision| Some(all.signal_in_files(row.flow, row.signals[at]?.signal));
            let value = numbers(&|row| row.signals[at].map_or(f64::NAN, |own| own.value));
            let threshold = numbers(&|row| row.signals[at].and_then(|own| own.threshold).unwrap_or(f64::NAN));
            SignalCells { name: rows.iter().map(name).collect(), value, threshold }
        };
        Self {
            time: numbers(&|row| row.time.secs_f64()),
            rates: [numbers(&|row| row.from.bps_f64()), numbers(&|row| row.to.bps_f64())],
            flow: rows.iter().map(|row| Some(all.flow(row.flow))).collect(),
            reason: rows.iter().map(|row| Some(row.reason.name())).collect(),
            factor: rows.iter().map(|row| Some(row.limiting_factor.name())).collect(),
            signals: core::array::from_fn(signal),
        }
    }

    /// The columns with their names.
    fn columns(&self) -> Vec<(String, Column<'_>)> {
        let mut columns = vec![
            Column::Numbers(&self.time),
            Column::Words(&self.flow),
            Column::Numbers(&self.rates[0]),
            Column::Numbers(&self.rates[1]),
            Column::Words(&self.reason),
            Column::Words(&self.factor),
        ];
        for SignalCells { name, value, threshold } in &self.signals {
            columns.extend([Column::Words(name), Column::Numbers(value), Column::Numbers(threshold)]);
        }
        DECISION_COLUMNS.iter().map(|column| column.name.to_owned()).zip(columns).collect()
    }
}
