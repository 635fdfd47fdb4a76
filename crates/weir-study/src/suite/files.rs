//! The files of a suite's results.

use std::io;
use std::path::PathBuf;

use super::page::page;
use super::run::SuiteRun;
use crate::output::{OutputDirectory, OutputError, TableFormat, add_table, json_file};
use crate::runs::table_axes;
use weir_form::Varied;

/// Name of the file with the result.
pub const RESULT: &str = "suite.json";
/// Name of the file with the matrix.
pub const MATRIX: &str = "suite.html";

/// First words of the command that repeats a suite: its name or file, `further` options, the directories of traces, and whether
/// stand-ins for missing traces are accepted.
pub fn command_words(suite: &str, further: Vec<String>, data: &[PathBuf], stand_ins: bool) -> Vec<String> {
    let data = data.iter().flat_map(|data| ["--data".to_owned(), data.to_string_lossy().into_owned()]);
    let stand_ins = stand_ins.then(|| "--allow-stand-ins".to_owned());
    let words = ["weir", "suite", suite].map(str::to_owned);
    words.into_iter().chain(further).chain(data).chain(stand_ins).collect()
}

impl SuiteRun {
    /// Writes the files of the results: the matrix, which has `title` and the [first words](command_words) of its command, the result,
    /// and, in this format, the table of all runs with a column for each key `varied`.
    ///
    /// # Errors
    /// A file cannot be written; then none is.
    pub fn write(
        &self,
        directory: &mut OutputDirectory,
        format: Option<TableFormat>,
        varied: &[Varied],
        (title, begun): (&str, &[String]),
    ) -> Result<(), OutputError> {
        add_table(directory, format, &table_axes(varied), self.runs.table_runs(varied))?;
        let failed = |source: io::Error| OutputError::Write { path: directory.path(RESULT), source };
        let result = json_file(&self.result).map_err(failed)?;
        let page = page(title, self, begun).into_bytes();
        directory.write(&vec![(MATRIX.to_owned(), page), (RESULT.to_owned(), result)])
    }
}
