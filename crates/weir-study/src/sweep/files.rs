//! The files of the results of a sweep.

use std::io;

use serde_json::{Map, Value, json};
use weir_report::page::Row;

use crate::differences::less;
use crate::experiments::{self, Reproduced, SweepRequest, Swept};
use crate::output::{Files, OutputDirectory, OutputError, TableFormat, add_table, json_file};
use crate::paired::RunRow;
use crate::runs::table_axes;

/// Name of the file with the plots.
pub const REPORT: &str = "index.html";
/// Name of the file with the numbers.
pub const RESULTS: &str = "sweep.json";

impl SweepRequest {
    /// Writes the files of the results: the plots, `content` ([`json`]) and, in this format, the table of all runs.
    ///
    /// # Errors
    /// A file cannot be written; then none is.
    pub fn write(
        &self,
        results: &Reproduced,
        directory: &mut OutputDirectory,
        format: Option<TableFormat>,
        content: &Value,
    ) -> Result<(), OutputError> {
        let numbers = self.numbers(results);
        add_table(directory, format, &table_axes(&self.varied), self.table_runs(results))?;
        let source = format!("{}: {} runs at each place", self.source.name, self.runs);
        let page = experiments::figures(&self.title, &source, &results.plots, &self.tables(&numbers));
        let failed = |source: io::Error| OutputError::Write { path: directory.path(RESULTS), source };
        let content = json_file(content).map_err(failed)?;
        let files: Files = vec![(REPORT.to_owned(), page.into_bytes()), (RESULTS.to_owned(), content)];
        directory.write(&files)
    }
}

/// The content of [`RESULTS`]: an object for each controller at each place. That of a variant has its differences from the first
/// of its controller. Where the executable does not contain a controller, each object says that it is not reproducible.
pub fn json(request: &SweepRequest, numbers: &[Swept]) -> Value {
    let objects = |swept: &Swept| {
        let at: Map<String, Value> = request
            .varied
            .iter()
            .zip(&swept.at)
            .map(|(varied, &value)| (varied.path.clone(), json!(varied.text_at(value))))
            .collect();
        let (summary, differences) = (swept.values.with_intervals(), swept.values.differences());
        let object = |(runs, row): (&RunRow, &Row)| {
            let mut object = Map::from_iter([
                ("at".to_owned(), Value::Object(at.clone())),
                ("controller".to_owned(), json!(row.name)),
            ]);
            for ((column, cell), values) in summary.columns.iter().zip(&row.cells).zip(&runs.values) {
                let (mean, ci95) = (cell.map(|cell| cell.mean), cell.and_then(|cell| cell.ci95));
                let known = values.iter().flatten().count();
                object.insert(
                    column.label.clone(),
                    json!({ "mean": mean, "ci95": ci95, "runs": known, "unit": column.unit }),
                );
            }
            object.extend(less(&differences, &row.name));
            if !request.reproducible {
                object.insert("reproducible".to_owned(), json!(false));
            }
            Value::Object(object)
        };
        swept.values.rows.iter().zip(&summary.rows).map(object).collect::<Vec<_>>()
    };
    numbers.iter().flat_map(objects).collect()
}
