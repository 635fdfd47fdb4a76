//! The files of the results of a reproduction.

use std::io;

use serde::Serialize;

use crate::experiments::{self, ClaimResult, Experiment, PaperSummary, PlotResult, Provenance, Reproduced};
use crate::output::{Files, OutputDirectory, OutputError, TableFormat, add_table, json_file};
use crate::testbed::LiveRun;

/// Name of the file with the report.
pub const REPORT: &str = "index.html";
/// Name of the file with the claims.
const CLAIMS: &str = "claims.json";
/// Name of the file with the plots.
const PLOTS: &str = "plots.json";

/// Claims with their provenance: the output of `weir reproduce --json`, and the content of `claims.json`.
#[derive(Debug, Serialize)]
pub struct ClaimsDocument<'a> {
    provenance: &'a Provenance,
    summary: Vec<PaperSummary>,
    claims: &'a [ClaimResult],
    /// Records of real runs.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    runs: &'a [LiveRun],
}

/// Content of `plots.json`.
#[derive(Serialize)]
struct PlotsDocument<'a> {
    provenance: &'a Provenance,
    plots: &'a [PlotResult],
}

impl<'a> ClaimsDocument<'a> {
    /// The document of `claims`, and of the records of real `runs` on which they rest.
    pub fn new(provenance: &'a Provenance, claims: &'a [ClaimResult], runs: &'a [LiveRun]) -> Self {
        Self { provenance, summary: experiments::summary(claims), claims, runs }
    }
}

/// Writes the files of the results: the report on the rows `experiments`, claims and plots as data, the numbers of grids, and, in this
/// format, the table of all runs.
///
/// # Errors
/// A file cannot be written; then none is.
pub fn write(
    reproduced: &Reproduced,
    experiments: &[Experiment],
    provenance: &Provenance,
    directory: &mut OutputDirectory,
    format: Option<TableFormat>,
) -> Result<(), OutputError> {
    add_table(directory, format, &reproduced.runs.axes(), reproduced.runs.table_runs())?;
    let failed = |source: io::Error| OutputError::Write { path: directory.path(CLAIMS), source };
    let files = files(reproduced, experiments, provenance).map_err(failed)?;
    directory.write(&files)
}

fn files(reproduced: &Reproduced, experiments: &[Experiment], provenance: &Provenance) -> io::Result<Files> {
    let Reproduced { claims, plots, tables, .. } = reproduced;
    let page = experiments::report(experiments, claims, plots, provenance).into_bytes();
    let plots = serde_json::to_vec(&PlotsDocument { provenance, plots })?;
    let claims = json_file(&ClaimsDocument::new(provenance, claims, &[]))?;
    let named = [(REPORT, page), (CLAIMS, claims), (PLOTS, plots)];
    let mut files: Files = named.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
    for table in tables {
        let mut content = Vec::new();
        table.write_parquet(&mut content)?;
        files.push((format!("{}.parquet", table.row.replace('/', "-")), content));
    }
    Ok(files)
}
