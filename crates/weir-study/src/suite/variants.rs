//! Differences of the variants of one controller, check by check and run by run.

use super::result_parts::Less;
use super::results::{CaseResult, CheckResult, ControllerResult, decimals};
use crate::paired::{RunRow, RunTable};
use weir_report::page::{Best, Differences, SummaryCell, SummaryColumn};

impl CaseResult {
    /// Differences of the variants of one controller: a column for each check, a row for each variant after the first.
    pub fn differences(&self) -> Vec<Differences> {
        let checks = self.controllers.first().map_or(&[][..], |first| &first.checks);
        let row = |controller_result: &ControllerResult| RunRow {
            name: controller_result.name.clone(),
            law: controller_result.controller.clone(),
            values: controller_result.checks.iter().map(|check| check.values.clone()).collect(),
        };
        let rows = self.controllers.iter().map(row).collect();
        RunTable { columns: checks.iter().map(column).collect(), rows }.differences()
    }

    /// Copy with these differences in the checks of each variant.
    pub(super) fn with_differences(mut self) -> Self {
        for Differences { first, table } in self.differences() {
            for row in &table.rows {
                let Some(controller_result) =
                    self.controllers.iter_mut().find(|controller| controller.name == row.name)
                else {
                    continue;
                };
                for (column, cell) in table.columns.iter().zip(&row.cells) {
                    let check = controller_result.checks.iter_mut().find(|check| check.name == column.label);
                    let (Some(check), Some(SummaryCell { mean, ci95, .. })) = (check, *cell) else {
                        continue;
                    };
                    check.less.insert(first.clone(), Less { mean, ci95 });
                }
            }
        }
        self
    }
}

fn column(check: &CheckResult) -> SummaryColumn {
    SummaryColumn {
        label: check.name.clone(),
        unit: check.unit.clone(),
        definition: check.limit_in_words(),
        decimals: decimals(check.limit) + 1,
        best: if check.higher_is_better { Best::Highest } else { Best::Lowest },
    }
}
