//! Runs that a directory keeps, so that interrupted runs continue and machines divide them: the runs of papers'
//! rows, of sweeps and of suites.

use std::io::Write;
use std::path::PathBuf;

use weir_import::traces::TraceStore;
use weir_study::runs::{NoStore, ResultLog, RunError, Shardable};

use crate::args::ShardArgs;
use crate::effective::threads;
use crate::failure::Failure;
use crate::output::{OutputDirectory, RUNS};
use crate::progress::{self, Lines};
use crate::terminal;

/// Options of runs that may be kept.
pub(crate) struct ResultStore<'a> {
    pub(crate) parts: &'a ShardArgs,
    pub(crate) jobs: Option<u32>,
    pub(crate) quiet: bool,
    /// Name of the runs in the progress bar.
    pub(crate) what: &'a str,
}

impl ResultStore<'_> {
    /// Makes the runs that `directory` does not keep yet. Returns `None` after the runs of a shard, with a
    /// message.
    pub(crate) fn run<D: Shardable>(
        &self,
        all: &D,
        store: &TraceStore,
        directory: Option<&OutputDirectory>,
    ) -> Result<Option<D::Whole>, Failure> {
        let &Self { parts, quiet, what, .. } = self;
        let others: Vec<PathBuf> = parts.merge.iter().map(|directory| directory.join(RUNS)).collect();
        let log = directory.map(|directory| ResultLog::open(&directory.path(RUNS), &others));
        let log = log.transpose().map_err(RunError::from)?;
        let runs = parts.shard.map_or_else(|| all.runs(), |shard| all.runs_of(shard));
        let bar = progress::bar(quiet);
        progress::expect(&bar, what, runs);
        let lines = Lines::beside_a_bar(quiet);
        let done = || {
            bar.inc(1);
            lines.report(&bar);
        };
        let jobs = threads(self.jobs);
        let whole = match (&log, parts.shard) {
            (Some(log), Some(shard)) => {
                all.run_shard(shard, jobs, store, log, &done)?;
                None
            }
            (Some(log), None) => Some(all.run(jobs, store, log, &done)?),
            (None, _) => Some(all.run(jobs, store, &NoStore, &done)?),
        };
        bar.finish_and_clear();
        let Some(log) = log else { return Ok(whole) };
        log.in_order().map_err(RunError::from)?;
        if let (None, Some(shard)) = (&whole, parts.shard) {
            let mut out = terminal::stdout();
            writeln!(out, "{runs} runs, those of shard {shard}, are kept; --merge takes them from there")?;
        } else if (log.taken() > 0 || !parts.merge.is_empty()) && !quiet {
            // If standard output is closed, the results still count.
            let _: std::io::Result<()> = writeln!(
                terminal::stderr(),
                "{} of {runs} runs were there, of a command built from the same sources, and not made again",
                log.taken()
            );
        }
        Ok(whole)
    }
}
