//! The table of all runs, in parts of a fixed number of runs.

use weir_measure::results::TableAxis;
use weir_report::parquet;

use super::directory::{OutputDirectory, TABLE_FOLDER};
use super::error::OutputError;
use crate::runs::{TableRun, tidy_table};

/// Runs of a part: the cut depends on the grid alone, so that it is the same however the runs were made.
const RUNS_PER_PART: u32 = 1000;

/// Format of the files of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values.
    Csv,
}

impl TableFormat {
    /// End of the names of its files.
    const fn end(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
        }
    }
}

/// Adds the table of `runs` to the files of the directory, if a table is wanted.
///
/// # Errors
/// A file of the table cannot be written.
pub fn add_table<'r>(
    directory: &mut OutputDirectory,
    format: Option<TableFormat>,
    axes: &[TableAxis],
    runs: impl Iterator<Item = TableRun<'r>>,
) -> Result<(), OutputError> {
    let Some(format) = format else { return Ok(()) };
    let mut runs = runs.peekable();
    let mut part = 0;
    while runs.peek().is_some() {
        let table = tidy_table(axes, part * RUNS_PER_PART, runs.by_ref().take(RUNS_PER_PART as usize));
        directory.stream_with(
            format!("{TABLE_FOLDER}/part-{part:05}.{}", format.end()),
            |out| match format {
                TableFormat::Csv => table.write_csv(out),
                TableFormat::Parquet => parquet::write_table(&table, out),
            },
        )?;
        part += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use weir_measure::results::{Jain, Pooled, RunMetrics};
    use weir_scenario::registry::Registry;

    use super::super::directory::Files;
    use super::*;

    #[test]
    fn a_part_has_a_thousand_runs_of_the_grid() {
        let metrics = RunMetrics {
            flows: Vec::new(),
            media: Pooled::default(),
            links: Vec::new(),
            jain: Jain::default(),
            windows: BTreeMap::new(),
        };
        let run = |seed| TableRun {
            scenario: "call",
            variant: "gcc",
            controller: "gcc",
            seed,
            at: Vec::new(),
            metrics: &metrics,
        };
        let root = tempfile::tempdir().unwrap();
        let write = |runs: u64, form| {
            let mut directory = OutputDirectory::prepare(root.path(), &Registry::standard()).unwrap();
            add_table(&mut directory, form, &[], (1..=runs).map(run)).unwrap();
            directory.write(&Files::new()).unwrap();
        };
        let parts = || {
            let folder = fs::read_dir(root.path().join(TABLE_FOLDER)).into_iter().flatten();
            let mut names: Vec<String> =
                folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        write(2001, Some(TableFormat::Csv));
        assert_eq!(parts(), ["part-00000.csv", "part-00001.csv", "part-00002.csv"]);
        let part = |number: u32| {
            fs::read_to_string(root.path().join(format!("table/part-0000{number}.csv"))).unwrap()
        };
        let first = |number| part(number).lines().nth(1).unwrap().to_owned();
        assert!(
            first(1).starts_with("1000,call,gcc,gcc,1001,")
                && first(2).starts_with("2000,call,gcc,gcc,2001,")
        );
        assert_eq!(part(0).lines().count() - 1, 1000 * (part(2).lines().count() - 1));
        // Parts that an earlier table had besides go, and a file of somebody else stays.
        fs::write(root.path().join("table/mine.csv"), "mine").unwrap();
        write(1, Some(TableFormat::Parquet));
        assert_eq!(parts(), ["mine.csv", "part-00000.parquet"]);
        write(1, None);
        assert_eq!(parts(), ["mine.csv"]);
        fs::remove_file(root.path().join("table/mine.csv")).unwrap();
        write(1, None);
        assert!(!root.path().join(TABLE_FOLDER).exists());
    }
}
