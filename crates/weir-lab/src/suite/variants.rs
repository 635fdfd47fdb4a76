//! What variants of one law differ in, check by check and run by run.

use super::results::{CaseResult, CheckResult, ControllerResult, decimals};
use super::told::Less;
use crate::page::{Best, Cell, Column};
use crate::paired::{Differences, RunRow, RunTable};

impl CaseResult {
    /// What variants of one law differ in: a column for each check, of what is written as `NAME{OPTIONS}` and as `NAME`.
    pub fn differences(&self) -> Vec<Differences> {
        let checks = self.controllers.first().map_or(&[][..], |first| &first.checks);
        let row = |own: &ControllerResult| RunRow {
            name: own.name.clone(),
            law: law_of(&own.name).to_owned(),
            values: own.checks.iter().map(|check| check.values.clone()).collect(),
        };
        let rows = self.controllers.iter().map(row).collect();
        RunTable { columns: checks.iter().map(column).collect(), rows }.differences()
    }

    /// The same with these differences in the checks of each variant.
    pub(super) fn with_differences(mut self) -> Self {
        for Differences { first, table } in self.differences() {
            for row in &table.rows {
                let Some(own) = self.controllers.iter_mut().find(|own| own.name == row.name) else {
                    continue;
                };
                for (column, cell) in table.columns.iter().zip(&row.cells) {
                    let check = own.checks.iter_mut().find(|check| check.name == column.label);
                    let (Some(check), Some(Cell { mean, ci95, .. })) = (check, *cell) else { continue };
                    check.less.insert(first.clone(), Less { mean, ci95 });
                }
            }
        }
        self
    }
}

/// The law of a contestant: its name without options.
fn law_of(name: &str) -> &str {
    name.split('{').next().unwrap_or_default().trim_end()
}

fn column(check: &CheckResult) -> Column {
    Column {
        label: check.name.clone(),
        unit: check.unit.clone(),
        definition: check.limit_in_words(),
        decimals: decimals(check.limit) + 1,
        best: if check.higher_is_better { Best::Highest } else { Best::Lowest },
    }
}
