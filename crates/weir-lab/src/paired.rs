//! Tables with the value of every run: means, intervals, what is best and what contestants differ in come from them.

use serde::{Deserialize, Serialize};
use weir_measure::results::Value;
use weir_measure::results::stats::{Estimate, paired_difference};

use crate::page::{Best, Cell, Column, Row, RowKind, SummaryTable};
use crate::registry;

/// A row per controller, a column per metric, in each cell a value per run, in the order of the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTable {
    /// The metrics.
    pub columns: Vec<Column>,
    /// The controllers.
    pub rows: Vec<RunRow>,
}

/// A controller in every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// The controller's name.
    pub name: String,
    /// The law that it is, by its name in the registry; empty where it is none, as that of a flow.
    #[serde(default)]
    pub law: String,
    /// For each column a value per run; `None` where the metric is not defined.
    pub values: Vec<Vec<Value>>,
}

impl RunTable {
    /// Means and intervals over runs, and which of them are not worse than the best.
    pub fn summary(&self) -> SummaryTable {
        let mut table = SummaryTable { columns: self.columns.clone(), rows: Vec::new() };
        for row in &self.rows {
            let cells = row.values.iter().map(|values| estimate(values).map(Cell::from)).collect();
            table
                .rows
                .push(Row { is_yardstick: registry::is_yardstick(&row.law), ..Row::of(&row.name, cells) });
        }
        for position in 0..self.columns.len() {
            let values: Vec<&[Value]> = self.rows.iter().map(|row| row.values[position].as_slice()).collect();
            mark_best(&mut table, position, &values);
        }
        table
    }

    /// The name of a row that has not a value for each column, or for each run; `None` where all have.
    pub fn uneven(&self) -> Option<&str> {
        let runs = self.rows.iter().flat_map(|row| &row.values).map(Vec::len).max().unwrap_or(0);
        let even = |row: &&RunRow| {
            row.values.len() == self.columns.len() && row.values.iter().all(|own| own.len() == runs)
        };
        self.rows.iter().find(|row| !even(row)).map(|row| row.name.as_str())
    }

    /// What variants of one law differ in, for each law that has several rows. Nothing of single runs.
    pub fn differences(&self) -> Vec<Differences> {
        let mut all: Vec<Differences> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let first = self.rows[..at].iter().find(|other| other.law == row.law);
            let Some(first) = first.filter(|first| first.values.iter().any(|runs| runs.len() > 1)) else {
                continue;
            };
            let less = less(&self.columns, row, first);
            match all.iter_mut().find(|own| own.first == first.name) {
                Some(own) => own.table.rows.push(less),
                None => all.push(Differences {
                    first: first.name.clone(),
                    table: SummaryTable { columns: self.columns.clone(), rows: vec![less] },
                }),
            }
        }
        let known = all.into_iter().map(|own| Differences { table: known(own.table), ..own });
        known.filter(|own| !own.table.rows.is_empty()).collect()
    }

    /// The same without the columns in which no run has a value.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let used =
            |position: usize| self.rows.iter().any(|row| row.values[position].iter().any(Option::is_some));
        let used: Vec<bool> = (0..self.columns.len()).map(used).collect();
        keep(&mut self.columns, &used);
        self.rows.iter_mut().for_each(|row| keep(&mut row.values, &used));
        self
    }
}

/// How variants of a law differ from the first of them, run by run: what two runs of one seed differ in is not the network or the
/// video.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// The name of the first.
    pub first: String,
    /// A row for each of the others; a cell is marked where the 95 % interval excludes zero.
    pub table: SummaryTable,
}

/// What `own` has beyond `other`, run by run, in each of `columns`; a cell is marked where the 95 % interval excludes zero.
pub(crate) fn less(columns: &[Column], own: &RunRow, other: &RunRow) -> Row {
    let cell = |(at, column): (usize, &Column)| {
        let estimate = difference(own.values.get(at)?, other.values.get(at)?)?;
        let (sure, mean) = (estimate.excludes_zero(), estimate.mean);
        let better = match column.best {
            Best::Neither => None,
            Best::Highest => Some(mean > 0.0),
            Best::Lowest => Some(mean < 0.0),
        };
        Some(Cell {
            best: sure && better != Some(false),
            worse: sure && better == Some(false),
            ..estimate.into()
        })
    };
    let cells = columns.iter().enumerate().map(cell).collect();
    Row { kind: RowKind::Difference, ..Row::of(&own.name, cells) }
}

/// The same without rows and columns of which nothing is known.
pub(crate) fn known(mut table: SummaryTable) -> SummaryTable {
    table.rows.retain(|row| row.cells.iter().any(Option::is_some));
    let used: Vec<bool> =
        (0..table.columns.len()).map(|at| table.rows.iter().any(|row| row.cells[at].is_some())).collect();
    keep(&mut table.columns, &used);
    table.rows.iter_mut().for_each(|row| keep(&mut row.cells, &used));
    table
}

/// Those of `items` that are `used`.
fn keep<T>(items: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    items.retain(|_| used.next().is_some_and(|&used| used));
}

/// Mean and interval of what is defined; `None` if nothing is.
pub(crate) fn estimate(values: &[Value]) -> Option<Estimate> {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    Estimate::of(&known)
}

/// What `a` is beyond `b`, run by run, over the runs in which both are defined.
pub fn difference(a: &[Value], b: &[Value]) -> Option<Estimate> {
    let (a, b): (Vec<f64>, Vec<f64>) = a.iter().zip(b).filter_map(|(&a, &b)| a.zip(b)).unzip();
    paired_difference(&a, &b)
}

/// Marks in a column every contestant that is not worse than the one with the best mean: the 95 % interval of their
/// differences, run by run, includes zero. Of single runs it marks what looks like the best. Where that holds of all,
/// or of a single one, nothing is marked. `values` are those of each row's runs.
pub fn mark_best(table: &mut SummaryTable, position: usize, values: &[&[Value]]) {
    let Some(column) = table.columns.get(position) else { return };
    let (decimals, sign) = match column.best {
        Best::Highest => (column.decimals, 1.0),
        Best::Lowest => (column.decimals, -1.0),
        Best::Neither => return,
    };
    let mean = |row: &Row| row.cells[position].map(|cell| cell.mean).filter(|mean| mean.is_finite());
    let contestants: Vec<(usize, f64)> = table
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.is_yardstick)
        .filter_map(|(index, row)| Some((index, mean(row)?)))
        .collect();
    let Some(&(best, highest)) = contestants.iter().max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)))
    else {
        return;
    };
    let alike = |&(index, mean): &(usize, f64)| {
        let looks_alike = format!("{mean:.decimals$}") == format!("{highest:.decimals$}");
        let lag = difference(values[index], values[best]);
        looks_alike || lag.is_some_and(|lag| lag.half_width.is_some() && !lag.excludes_zero())
    };
    let marked: Vec<usize> = contestants.iter().filter(|own| alike(own)).map(|&(index, _)| index).collect();
    if marked.len() == contestants.len() {
        return;
    }
    for index in marked {
        if let Some(cell) = &mut table.rows[index].cells[position] {
            cell.best = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(best: Best, rows: &[(&str, &[f64])]) -> RunTable {
        let column = Column {
            label: "rate".to_owned(),
            unit: String::new(),
            definition: String::new(),
            decimals: 1,
            best,
        };
        let row = |(name, values): &(&str, &[f64])| RunRow {
            name: (*name).to_owned(),
            law: name.split('{').next().unwrap_or_default().to_owned(),
            values: vec![values.iter().copied().map(Some).collect()],
        };
        RunTable { columns: vec![column], rows: rows.iter().map(row).collect() }
    }

    fn marked(best: Best, rows: &[(&str, &[f64])]) -> Vec<String> {
        let rows = table(best, rows).summary().rows;
        rows.into_iter()
            .filter(|row| row.cells[0].is_some_and(|cell| cell.best))
            .map(|row| row.name)
            .collect()
    }

    #[test]
    fn whoever_is_not_worse_than_the_best_run_by_run_is_marked() {
        // b is 1 below a in each run, though both scatter widely; c is 1.5 below at times and above at others.
        let rows: [(&str, &[f64]); 3] =
            [("a", &[10.0, 20.0, 30.0]), ("b", &[9.0, 19.0, 29.1]), ("c", &[8.5, 21.0, 29.0])];
        assert_eq!(marked(Best::Highest, &rows), ["a", "c"]);
        // The lowest mean is that of b, 19.03; c lies 0.47 above it, ± 3.3, and a 0.97 ± 0.14.
        assert_eq!(marked(Best::Lowest, &rows), ["b", "c"]);
        assert!(marked(Best::Neither, &rows).is_empty());
    }

    #[test]
    fn where_all_are_alike_or_alone_none_is_marked() {
        assert!(marked(Best::Highest, &[("a", &[1.0, 2.0]), ("b", &[2.0, 1.0])]).is_empty());
        assert!(marked(Best::Highest, &[("a", &[1.0, 2.0])]).is_empty());
    }

    #[test]
    fn of_single_runs_what_looks_like_the_best_is() {
        let rows: [(&str, &[f64]); 3] = [("a", &[1.04]), ("b", &[1.0]), ("c", &[0.2])];
        assert_eq!(marked(Best::Highest, &rows), ["a", "b"]);
        assert_eq!(marked(Best::Lowest, &rows), ["c"]);
    }

    #[test]
    fn a_yardstick_is_nobodys_best() {
        let rows: [(&str, &[f64]); 3] =
            [("nada", &[1.0, 1.1]), ("gcc", &[0.2, 0.3]), ("omniscient", &[9.0, 9.0])];
        assert_eq!(marked(Best::Highest, &rows), ["nada"]);
        // By its law, whatever it is called.
        let mut table = table(Best::Highest, &rows);
        (table.rows[2].name, table.rows[0].name) = ("ceiling".to_owned(), "fixed".to_owned());
        let best: Vec<bool> = table.summary().rows.iter().map(|row| row.cells[0].unwrap().best).collect();
        assert_eq!(best, [true, false, false]);
    }

    #[test]
    fn variants_are_less_the_first_of_their_law_run_by_run() {
        let rows: [(&str, &[f64]); 5] = [
            ("a", &[10.0, 20.0]),
            ("b", &[1.0, 2.0]),
            ("a{x=1}", &[12.0, 22.0]),
            ("c", &[9.0, 9.0]),
            ("b{x=1}", &[2.0, 1.0]),
        ];
        let lower = table(Best::Lowest, &rows).differences();
        let cells: Vec<(&str, &str, Cell)> = lower
            .iter()
            .map(|own| (own.first.as_str(), &own.table.rows[0]))
            .map(|(first, row)| (first, row.name.as_str(), row.cells[0].unwrap()))
            .collect();
        let [(a, of_a, sure), (b, of_b, unsure)] = cells.as_slice() else { panic!("{lower:?}") };
        assert_eq!([*a, *of_a, *b, *of_b], ["a", "a{x=1}", "b", "b{x=1}"]);
        assert_eq!((sure.mean, sure.ci95, sure.best, sure.worse), (2.0, Some(0.0), false, true));
        assert_eq!((unsure.mean, unsure.best, unsure.worse), (0.0, false, false));
        let higher = table(Best::Highest, &rows).differences();
        assert!(higher[0].table.rows[0].cells[0].unwrap().best, "the same is for the better here");
    }

    #[test]
    fn single_runs_and_laws_that_are_alone_have_no_differences() {
        let single: [(&str, &[f64]); 2] = [("a", &[1.0]), ("a{x=1}", &[2.0])];
        assert!(table(Best::Highest, &single).differences().is_empty());
        let several: [(&str, &[f64]); 2] = [("a", &[1.0, 2.0]), ("b", &[2.0, 4.0])];
        assert!(table(Best::Highest, &several).differences().is_empty());
        let variants: [(&str, &[f64]); 2] = [("a", &[1.0, 2.0]), ("a{x=1}", &[2.0, 4.0])];
        assert_eq!(table(Best::Highest, &variants).differences().len(), 1);
    }

    #[test]
    fn runs_in_which_one_is_not_defined_tell_nothing_of_the_difference() {
        let lag = difference(&[Some(1.0), None, Some(3.0)], &[Some(0.0), Some(7.0), Some(2.0)]).unwrap();
        assert_eq!((lag.mean, lag.half_width), (1.0, Some(0.0)));
        assert_eq!(difference(&[None], &[Some(1.0)]), None);
    }

    #[test]
    fn columns_without_a_value_go() {
        let mut table = table(Best::Highest, &[("a", &[1.0])]);
        table.columns.push(Column { label: "empty".to_owned(), ..table.columns[0].clone() });
        table.rows[0].values.push(vec![None]);
        let kept = table.without_empty_columns();
        assert_eq!((kept.columns.len(), kept.rows[0].values.len()), (1, 1));
    }
}
