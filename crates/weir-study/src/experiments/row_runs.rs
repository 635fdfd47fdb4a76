//! The runs of rows with all of their metrics.

use super::harvest::Harvests;
use super::plan::RunPlan;
use super::values::GridPoint;
use crate::runs::{StoredMetrics, TableRun};
use weir_measure::results::{AxisKind, AxisValue, TableAxis};

/// Metrics of the runs of rows: row by row, place by place, variant by variant, seed by seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowRuns {
    /// The variants at their places.
    variants: Vec<PlacedVariant>,
    /// Runs of each case, in the order of seeds; without metrics for an analysis.
    cases: Vec<Vec<Option<Box<StoredMetrics>>>>,
}

/// A variant of a row at a place.
#[derive(Clone, Debug, PartialEq)]
struct PlacedVariant {
    row: String,
    variant: String,
    place: GridPoint,
    case: usize,
}

/// A run of a variant at a place.
pub(super) struct PlacedRun<'r> {
    pub(super) row: &'r str,
    pub(super) variant: &'r str,
    pub(super) place: &'r GridPoint,
    pub(super) seed: u64,
    pub(super) stored: &'r StoredMetrics,
}

impl RowRuns {
    /// The runs of `plan`, with the metrics in `harvests`.
    pub(super) fn of(plan: &RunPlan, harvests: Harvests<'_>) -> Self {
        let mut variants = Vec::new();
        for row in &plan.rows {
            for (place, cases) in row.places.iter().zip(&row.cases) {
                variants.extend(cases.iter().map(|(variant, &case)| PlacedVariant {
                    row: row.experiment.name.clone(),
                    variant: variant.clone(),
                    place: place.clone(),
                    case,
                }));
            }
        }
        Self { variants, cases: harvests.into_metrics() }
    }

    /// The runs that have metrics, in order.
    pub(super) fn placed(&self) -> impl Iterator<Item = PlacedRun<'_>> {
        self.variants.iter().flat_map(|PlacedVariant { row, variant, place, case }| {
            let seeds = self.cases[*case].iter().zip(1..);
            let runs = seeds.filter_map(|(stored, seed)| Some((stored.as_deref()?, seed)));
            runs.map(move |(stored, seed)| PlacedRun { row, variant, place, seed, stored })
        })
    }

    /// The sweeps of the rows, each once, without a unit: formulas of a row give its numbers their meaning.
    pub fn axes(&self) -> Vec<TableAxis> {
        let mut axes: Vec<TableAxis> = Vec::new();
        for key in self.variants.iter().flat_map(|own| own.place.keys()) {
            if !axes.iter().any(|axis| axis.key == *key) {
                axes.push(TableAxis { key: key.clone(), kind: AxisKind::Numbers(None) });
            }
        }
        axes
    }

    /// The runs with metrics, each with its values on [`Self::axes`].
    pub fn table_runs(&self) -> impl Iterator<Item = TableRun<'_>> {
        let axes = self.axes();
        self.placed().map(move |PlacedRun { row, variant, place, seed, stored }| {
            let value = |axis: &TableAxis| match place.get(&axis.key) {
                Some(&value) => AxisValue::Number(value),
                None => AxisValue::Missing,
            };
            let StoredMetrics { controller, metrics } = stored;
            let at = axes.iter().map(value).collect();
            TableRun { scenario: row, variant, controller, seed, at, metrics }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_of_rows_are_numbers_without_a_unit() {
        let variant = |row: &str, keys: &[&str]| PlacedVariant {
            row: row.to_owned(),
            variant: "own".to_owned(),
            place: keys.iter().map(|key| ((*key).to_owned(), 2.0)).collect(),
            case: 0,
        };
        let variants = vec![variant("a", &["link"]), variant("b", &["link", "priority"])];
        let axis = |key: &str| TableAxis { key: key.to_owned(), kind: AxisKind::Numbers(None) };
        assert_eq!(RowRuns { variants, cases: Vec::new() }.axes(), [axis("link"), axis("priority")]);
    }
}
