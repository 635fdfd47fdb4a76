//! Tables with the value of every run, from which means, intervals, marks and differences are computed.

use serde::{Deserialize, Serialize};
use weir_measure::results::Value;
use weir_measure::results::ranking::{Better, MARGIN, beats};
use weir_measure::results::stats::{Estimate, mean, paired_difference};

use weir_report::page::{Best, Differences, Row, RowKind, SummaryCell, SummaryColumn, SummaryTable};
use weir_scenario::registry;

/// A row per controller, a column per metric, in each cell a value per run, in the order of the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTable {
    /// The metrics.
    pub columns: Vec<SummaryColumn>,
    /// The controllers.
    pub rows: Vec<RunRow>,
}

/// A controller in every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// The controller's name.
    pub name: String,
    /// Name of its controller in the registry; empty where there is none, as for a flow.
    #[serde(default, rename = "controller", alias = "law")]
    pub law: String,
    /// For each column a value per run, or `None` where the metric is not defined.
    pub values: Vec<Vec<Value>>,
}

impl RunTable {
    /// Means and intervals over runs, with a mark on values that no other beats. Where all runs are alike there are no intervals.
    pub fn summary(&self) -> SummaryTable {
        let mut table = self.with_intervals();
        if self.runs_are_alike() {
            table.rows.iter_mut().flat_map(|row| &mut row.cells).flatten().for_each(|cell| cell.ci95 = None);
        }
        table
    }

    /// [`Self::summary`] with intervals in any case, for tables that stand beside others.
    pub fn with_intervals(&self) -> SummaryTable {
        let mut table = SummaryTable { columns: self.columns.clone(), rows: Vec::new() };
        let cell = |(values, column): (&Vec<Value>, &SummaryColumn)| {
            let known: Vec<f64> = values.iter().copied().flatten().collect();
            let spread = column.spread_width().and_then(|width| width.ends(&known));
            estimate(values).map(|estimate| SummaryCell { spread, ..estimate.into() })
        };
        for row in &self.rows {
            let cells = row.values.iter().zip(&self.columns).map(cell).collect();
            table
                .rows
                .push(Row { is_reference: registry::is_reference(&row.law), ..Row::of(&row.name, cells) });
        }
        for position in 0..self.columns.len() {
            let values: Vec<&[Value]> = self.rows.iter().map(|row| row.values[position].as_slice()).collect();
            mark_best(&mut table, position, &values);
        }
        table
    }

    /// Whether there are several runs that are all alike. Alike are runs whose values differ in each row by less than is shown,
    /// or by at most 1 % of their mean. Hardly anything depends on the seed then, and an interval would only look like precision.
    pub fn runs_are_alike(&self) -> bool {
        let several = self.rows.iter().flat_map(|row| &row.values).any(|values| values.len() > 1);
        let of_row =
            |row: &RunRow| row.values.iter().zip(&self.columns).all(|(values, column)| alike(values, column));
        several && self.rows.iter().all(of_row)
    }

    /// The name of a row that lacks a value for a column or for a run, or `None` if no row does.
    pub fn uneven(&self) -> Option<&str> {
        let runs = self.rows.iter().flat_map(|row| &row.values).map(Vec::len).max().unwrap_or(0);
        let even = |row: &&RunRow| {
            row.values.len() == self.columns.len() && row.values.iter().all(|value| value.len() == runs)
        };
        self.rows.iter().find(|row| !even(row)).map(|row| row.name.as_str())
    }

    /// Differences between the variants of one controller, for each controller that has several rows. Single runs have no
    /// differences.
    pub fn differences(&self) -> Vec<Differences> {
        let mut all: Vec<Differences> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let first = self.rows[..at].iter().find(|other| other.law == row.law && !row.law.is_empty());
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

    /// The same table without the columns in which no run has a value.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let used =
            |position: usize| self.rows.iter().any(|row| row.values[position].iter().any(Option::is_some));
        let used: Vec<bool> = (0..self.columns.len()).map(used).collect();
        keep(&mut self.columns, &used);
        self.rows.iter_mut().for_each(|row| keep(&mut row.values, &used));
        self
    }
}

/// Whether all runs have the same value as far as the table shows it, or values within [`MARGIN`] of their mean.
fn alike(values: &[Value], column: &SummaryColumn) -> bool {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let (least, most) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| {
        (least.min(value), most.max(value))
    });
    let Some(mean) = mean(&known) else { return true };
    let shown = |value: f64| format!("{value:.*}", column.decimals);
    known.len() == values.len() && (shown(least) == shown(most) || most - least <= MARGIN * mean.abs())
}

/// The differences of `own` to `other`, run by run, in each of `columns`; a cell is marked where the 95 % interval excludes zero.
pub(crate) fn less(columns: &[SummaryColumn], own: &RunRow, other: &RunRow) -> Row {
    let cell = |(at, column): (usize, &SummaryColumn)| {
        let estimate = difference(own.values.get(at)?, other.values.get(at)?)?;
        let (sure, mean) = (estimate.excludes_zero(), estimate.mean);
        let better = match column.best {
            Best::Neither => None,
            Best::Highest => Some(mean > 0.0),
            Best::Lowest => Some(mean < 0.0),
        };
        Some(SummaryCell {
            best: sure && better != Some(false),
            worse: sure && better == Some(false),
            ..estimate.into()
        })
    };
    let cells = columns.iter().enumerate().map(cell).collect();
    Row { kind: RowKind::Difference, ..Row::of(&own.name, cells) }
}

/// The same table without rows and columns that have no value.
pub(crate) fn known(mut table: SummaryTable) -> SummaryTable {
    table.rows.retain(|row| row.cells.iter().any(Option::is_some));
    let used: Vec<bool> =
        (0..table.columns.len()).map(|at| table.rows.iter().any(|row| row.cells[at].is_some())).collect();
    keep(&mut table.columns, &used);
    table.rows.iter_mut().for_each(|row| keep(&mut row.cells, &used));
    table
}

/// Keeps the `items` that are `used`.
fn keep<T>(items: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    items.retain(|_| used.next().is_some_and(|&used| used));
}

/// Mean and interval of the defined values, or `None` if there are none.
pub(crate) fn estimate(values: &[Value]) -> Option<Estimate> {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    Estimate::of(&known)
}

/// The difference of `a` to `b`, run by run, over the runs in which both are defined.
pub fn difference(a: &[Value], b: &[Value]) -> Option<Estimate> {
    let (a, b): (Vec<f64>, Vec<f64>) = a.iter().zip(b).filter_map(|(&a, &b)| a.zip(b)).unzip();
    paired_difference(&a, &b)
}

/// Marks in a column every controller that no other beats ([`beats`]); where there is a single run, the ones whose shown value is
/// the best. If all candidates would be marked, or there is only one, no mark is set. `values` are those of each row's runs.
pub fn mark_best(table: &mut SummaryTable, position: usize, values: &[&[Value]]) {
    let Some(column) = table.columns.get(position) else { return };
    let decimals = column.decimals;
    let better = match column.best {
        Best::Highest => Better::Higher,
        Best::Lowest => Better::Lower,
        Best::Neither => return,
    };
    let whole = |(index, row): (usize, &Row)| {
        let runs: Option<Vec<f64>> =
            values[index].iter().map(|value| value.filter(|v| v.is_finite())).collect();
        Some((index, runs.filter(|runs| !row.is_reference && !runs.is_empty())?))
    };
    let candidates: Vec<(usize, Vec<f64>)> = table.rows.iter().enumerate().filter_map(whole).collect();
    let leads = |y: &[f64], x: &[f64]| match (y, x, better) {
        ([y], [x], Better::Higher) => y > x,
        ([y], [x], Better::Lower) => y < x,
        _ => beats(y, x, better, MARGIN),
    };
    let unbeaten = |own: &[f64]| !candidates.iter().any(|(_, other)| leads(other, own));
    let shown = |own: &[f64]| mean(own).map(|mean| format!("{mean:.decimals$}"));
    let best: Vec<Option<String>> =
        candidates.iter().filter(|(_, own)| unbeaten(own)).map(|(_, own)| shown(own)).collect();
    // A value that looks like a marked one is marked, too.
    let marked =
        |(index, own): &(usize, Vec<f64>)| (unbeaten(own) || best.contains(&shown(own))).then_some(*index);
    let marked: Vec<usize> = candidates.iter().filter_map(marked).collect();
    if marked.len() == candidates.len() {
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

    /// A table of one column, with the values of each controller per seed.
    fn table(best: Best, rows: &[(&str, &[f64])]) -> RunTable {
        let column = SummaryColumn {
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

    /// The rows whose cell is marked as best.
    fn marked(best: Best, rows: &[(&str, &[f64])]) -> Vec<String> {
        let rows = table(best, rows).summary().rows;
        rows.into_iter()
            .filter(|row| row.cells[0].is_some_and(|cell| cell.best))
            .map(|row| row.name)
            .collect()
    }

    #[test]
    fn a_controller_unbeaten_run_by_run_is_marked() {
        // b is 1 below a in each of five runs, though both scatter widely; c is 3 below at times and above at others; d, half of
        // a's margin of 0.3 below, cannot be distinguished from it.
        let (a, b) = ([10.0, 20.0, 30.0, 40.0, 50.0], [9.0, 19.0, 29.0, 39.0, 49.0]);
        let (c, d) = ([7.0, 23.0, 27.0, 43.0, 47.0], [9.85, 19.85, 29.85, 39.85, 49.85]);
        let rows: [(&str, &[f64]); 4] = [("a", &a), ("b", &b), ("c", &c), ("d", &d)];
        assert_eq!(marked(Best::Highest, &rows), ["a", "c", "d"]);
        assert_eq!(marked(Best::Lowest, &rows), ["b", "c"]);
        assert!(marked(Best::Neither, &rows).is_empty());
        let few: Vec<(&str, &[f64])> = rows.iter().map(|(name, runs)| (*name, &runs[..4])).collect();
        assert!(marked(Best::Highest, &few).is_empty(), "four runs are too few");
    }

    #[test]
    fn equal_or_single_values_are_not_marked_as_best() {
        let same = [1.0, 2.0, 1.0, 2.0, 1.0];
        assert!(marked(Best::Highest, &[("a", &same), ("b", &same)]).is_empty());
        assert!(marked(Best::Highest, &[("a", &same)]).is_empty());
    }

    #[test]
    fn runs_that_are_alike_have_no_interval() {
        let intervals = |rows: &[(&str, &[f64])]| -> Vec<Option<f64>> {
            table(Best::Highest, rows).summary().rows.iter().map(|row| row.cells[0].unwrap().ci95).collect()
        };
        assert_eq!(intervals(&[("a", &[3.0; 10]), ("b", &[4.0; 10])]), [None, None]);
        assert_eq!(intervals(&[("a", &[3.0; 3]), ("b", &[4.01, 4.0, 4.04])]), [None, None], "1 % of 4");
        assert_eq!(intervals(&[("a", &[0.0, 0.02])]), [None], "both show as 0.0");
        assert!(intervals(&[("a", &[3.0; 3]), ("b", &[4.0, 4.0, 7.0])]).iter().all(Option::is_some));
    }

    #[test]
    fn a_mean_that_hides_a_spread_comes_with_both_ends() {
        let mut rates = table(Best::Highest, &[("a", &[900.0, 1000.0, 1200.0]), ("b", &[1.0, 1.1, 1.2])]);
        let spreads = |table: &RunTable| -> Vec<Option<[f64; 2]>> {
            table.summary().rows.iter().map(|row| row.cells[0].unwrap().spread).collect()
        };
        assert_eq!(spreads(&rates), [None, None], "no rate, no wait, no loss");
        rates.columns[0].unit = "kbit/s".to_owned();
        assert_eq!(spreads(&rates), [Some([900.0, 1200.0]), None]);
        let differences = table(Best::Highest, &[("a", &[1.0, 2.0]), ("a{x=1}", &[9.0, 2.0])]).differences();
        assert_eq!(differences[0].table.rows[0].cells[0].unwrap().spread, None);
    }

    #[test]
    fn of_single_runs_what_looks_like_the_best_is() {
        let rows: [(&str, &[f64]); 3] = [("a", &[1.04]), ("b", &[1.0]), ("c", &[0.2])];
        assert_eq!(marked(Best::Highest, &rows), ["a", "b"]);
        assert_eq!(marked(Best::Lowest, &rows), ["c"]);
    }

    #[test]
    fn a_reference_sender_is_never_the_best() {
        let (nada, gcc, most) = ([1.0, 1.1, 1.0, 1.1, 1.0], [0.2, 0.3, 0.2, 0.3, 0.2], [9.0; 5]);
        let rows: [(&str, &[f64]); 3] = [("nada", &nada), ("gcc", &gcc), ("omniscient", &most)];
        assert_eq!(marked(Best::Highest, &rows), ["nada"]);
        // By its controller, whatever its name.
        let mut table = table(Best::Highest, &rows);
        (table.rows[2].name, table.rows[0].name) = ("ceiling".to_owned(), "fixed".to_owned());
        let best: Vec<bool> = table.summary().rows.iter().map(|row| row.cells[0].unwrap().best).collect();
        assert_eq!(best, [true, false, false]);
    }

    #[test]
    fn variants_are_less_the_first_of_their_controller_run_by_run() {
        let rows: [(&str, &[f64]); 5] = [
            ("a", &[10.0, 20.0]),
            ("b", &[1.0, 2.0]),
            ("a{x=1}", &[12.0, 22.0]),
            ("c", &[9.0, 9.0]),
            ("b{x=1}", &[2.0, 1.0]),
        ];
        let lower = table(Best::Lowest, &rows).differences();
        let cells: Vec<(&str, &str, SummaryCell)> = lower
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
    fn single_runs_and_controllers_that_are_alone_have_no_differences() {
        let single: [(&str, &[f64]); 2] = [("a", &[1.0]), ("a{x=1}", &[2.0])];
        assert!(table(Best::Highest, &single).differences().is_empty());
        let several: [(&str, &[f64]); 2] = [("a", &[1.0, 2.0]), ("b", &[2.0, 4.0])];
        assert!(table(Best::Highest, &several).differences().is_empty());
        let variants: [(&str, &[f64]); 2] = [("a", &[1.0, 2.0]), ("a{x=1}", &[2.0, 4.0])];
        assert_eq!(table(Best::Highest, &variants).differences().len(), 1);
    }

    #[test]
    fn runs_with_an_undefined_value_do_not_count_in_the_difference() {
        let lag = difference(&[Some(1.0), None, Some(3.0)], &[Some(0.0), Some(7.0), Some(2.0)]).unwrap();
        assert_eq!((lag.mean, lag.half_width), (1.0, Some(0.0)));
        assert_eq!(difference(&[None], &[Some(1.0)]), None);
    }

    #[test]
    fn columns_without_a_value_go() {
        let mut table = table(Best::Highest, &[("a", &[1.0])]);
        table.columns.push(SummaryColumn { label: "empty".to_owned(), ..table.columns[0].clone() });
        table.rows[0].values.push(vec![None]);
        let kept = table.without_empty_columns();
        assert_eq!((kept.columns.len(), kept.rows[0].values.len()), (1, 1));
    }
}
