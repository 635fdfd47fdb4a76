//! Measured values at each point of a grid, as columns.

use std::io::{self, Write};

use super::harvest::Harvests;
use super::plan::PlannedRow;
use super::read::Formulas;
use crate::judge::formula::{Harvested, Leaf};
use weir_report::parquet;

/// Numbers of a row with a grid: a line for each seed at each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `PAPER/ROW`.
    pub row: String,
    /// Columns with their names: `seed`, the sweeps, then the numbers that formulas of the row name as `VARIANT:PATH`.
    /// A missing value is NaN.
    pub columns: Vec<(String, Vec<f64>)>,
}

impl Table {
    /// Table of a row, or `None` for a row without a grid.
    pub(super) fn of(row: &PlannedRow, harvests: &Harvests<'_>) -> Option<Self> {
        let experiment = &row.experiment;
        if !experiment.has_a_grid() {
            return None;
        }
        let seeds = 0..row.seeds as usize;
        let points = || (0..row.places.len()).flat_map(|place| seeds.clone().map(move |seed| (place, seed)));
        let mut columns = vec![("seed".to_owned(), points().map(|(_, seed)| seed as f64 + 1.0).collect())];
        for (name, _) in experiment.row.sweeps.iter() {
            let at = |(place, _): (usize, usize)| row.places[place].get(name).copied().unwrap_or(f64::NAN);
            columns.push((name.to_owned(), points().map(at).collect()));
        }
        let mut leaves: Vec<&Leaf> = experiment.formulas.iter().flat_map(Formulas::leaves).collect();
        leaves.sort();
        leaves.dedup();
        for leaf in leaves {
            let number = |(place, seed): (usize, usize)| {
                let case = row.cases[place].get(&leaf.variant);
                match case.and_then(|&case| harvests.get(case, seed, &leaf.path)) {
                    Some(Harvested::Number(number)) => *number,
                    _ => f64::NAN,
                }
            };
            columns.push((format!("{}:{}", leaf.variant, leaf.path), points().map(number).collect()));
        }
        Some(Self { row: experiment.name.clone(), columns })
    }

    /// Writes the table as Apache Parquet, with quantities as DOUBLE and missing values as null.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_parquet(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let columns = self.columns.iter().map(|(name, values)| (name.clone(), values.as_slice()));
        parquet::write_columns(out, "grid", columns)
    }
}
