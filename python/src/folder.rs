//! Directories of results, and the runs that they keep.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use weir_import::traces::TraceStore;
use weir_scenario::registry::Registry;
use weir_study::output::{OutputDirectory, OutputError, RUNS, TableFormat};
use weir_study::runs::{NoStore, ResultLog, Shardable};

use crate::error;
use crate::waiting::CallProgress;
use crate::world::SupervisedSimulator;

/// A directory of results with the log of its runs. A log that was made for it goes again if it keeps no run and no file was written.
#[derive(Debug)]
pub(crate) struct ResultFolder {
    directory: OutputDirectory,
    log: ResultLog,
    /// Whether the log, or a file of results, is there to stay.
    stays: bool,
}

impl ResultFolder {
    /// The directory at `path`, which is made if it is not there.
    pub(crate) fn open(path: &Path, registry: &Registry) -> PyResult<Self> {
        let stays = path.join(RUNS).exists();
        let directory = OutputDirectory::prepare(path, registry).map_err(error::output)?;
        let log = ResultLog::open(&directory.path(RUNS), &[]).map_err(|error| error::run(error.into()))?;
        Ok(Self { directory, log, stays })
    }

    /// The log of the runs.
    pub(crate) fn log(&self) -> &ResultLog {
        &self.log
    }

    /// Puts the log in order, and writes files.
    pub(crate) fn write(
        &mut self,
        files: impl FnOnce(&mut OutputDirectory) -> Result<(), OutputError>,
    ) -> PyResult<()> {
        self.log.in_order().map_err(|error| error::run(error.into()))?;
        files(&mut self.directory).map_err(error::output)?;
        self.stays = true;
        Ok(())
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        if !self.stays && self.log.is_empty() {
            // A log that cannot be removed is an empty file.
            let _ = std::fs::remove_file(self.directory.path(RUNS));
        }
    }
}

/// The format of the files of the table: `parquet` or `csv`, or none.
pub(crate) fn table_format(name: &str) -> PyResult<Option<TableFormat>> {
    match name {
        "parquet" => Ok(Some(TableFormat::Parquet)),
        "csv" => Ok(Some(TableFormat::Csv)),
        "none" => Ok(None),
        other => Err(PyValueError::new_err(format!("table is 'parquet', 'csv' or 'none', not {other:?}"))),
    }
}

/// Makes all runs in the `world` that they are planned for; those in the log of `folder` are not made again.
pub(crate) fn make<D: Shardable + Sync>(
    py: Python<'_>,
    (all, world): (&D, &SupervisedSimulator),
    (traces, jobs): (&TraceStore, usize),
    folder: Option<&ResultFolder>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<D::Whole>
where
    D::Whole: Send,
{
    let progress = CallProgress { function: progress, all: all.runs() };
    let jobs = world.jobs(jobs);
    let made = world.supervise(py, &progress, |done| match folder {
        Some(folder) => all.run(jobs, traces, folder.log(), done),
        None => all.run(jobs, traces, &NoStore, done),
    })?;
    made.map_err(error::run)
}
