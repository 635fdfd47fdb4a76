//! Arguments of `weir reproduce`.

use std::path::PathBuf;

use clap::value_parser;
use weir_study::experiments::Extent;
use weir_study::reproduce::ReproductionRequest;

use super::{DataArgs, ShardArgs, TableForm};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ReproduceArgs {
    /// The rows, such as `coupled-rtp-2014/fig7`, or files of your own that end in `.toml` [default: all that ship].
    #[arg(value_name = "ID")]
    pub(crate) rows: Vec<String>,
    /// All rows; the default without any selection.
    #[arg(long, conflicts_with_all = ["rows", "paper"])]
    pub(crate) all: bool,
    /// All rows of this paper.
    #[arg(long, value_name = "PAPER")]
    pub(crate) paper: Option<String>,
    #[command(flatten)]
    pub(crate) extent: ReproduceExtent,
    /// Number of threads [default: one per core]; results do not depend on it. With --live, runs at a time [default: as many as
    /// keep the emulators below half of a core].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) form: ReproduceForm,
    /// Directory for the report with the figures: index.html, claims.json and plots.json; some figures need runs of their own.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Form of the table of all runs, `table/part-*` in the directory.
    #[arg(long, value_name = "FORM", default_value = "parquet")]
    pub(crate) table: TableForm,
    #[command(flatten)]
    pub(crate) parts: ShardArgs,
    /// Lay a value over the scenarios of the rows that are named, after all settings of the rows, such as
    /// `flows.tcp.every=15s`; may be given often. No verdict is then one on the paper.
    #[arg(long, value_name = "PATH=VALUE", requires = "rows", conflicts_with = "baseline")]
    pub(crate) set: Vec<String>,
    /// Run the figures that rows have with settings changed, their `[[tried]]`, and print those that moved out of their ranges; exit
    /// with 1 if one did. Seeds and sweeps are those of each figure.
    #[arg(long, conflicts_with_all = ["full", "runs", "grid", "markdown", "out", "baseline", "set"])]
    pub(crate) tried: bool,
    /// Run over real sockets and the kernel's TCP in real time, as `weir testbed` does, and judge those runs. Claims beside others
    /// are left out where they need runs of their own. A run that is inconclusive twice leaves its seed out, and the exit code is 3.
    #[arg(long, requires = "rows", conflicts_with_all = ["tried", "grid", "out", "shard", "merge", "baseline"])]
    pub(crate) live: bool,
    /// Compare with an earlier output of `--json`; exit with 1 if a claim that was met there is so no longer.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) baseline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceExtent {
    /// The whole sweeps with all seeds, in place of the quick form.
    #[arg(long)]
    pub(crate) full: bool,
    /// Seeds, whatever the rows say.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) runs: Option<u32>,
    /// Points on each axis of a grid, such as that of `gcc-2016/fig8`, whatever the rows say.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..=1000))]
    pub(crate) grid: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceForm {
    /// Print as JSON: an object with the provenance of the results, a summary, and the claims.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print as Markdown: the tables of docs/reproduction.md.
    #[arg(long, conflicts_with_all = ["json", "shard"])]
    pub(crate) markdown: bool,
}

impl ReproduceArgs {
    /// The options on which results depend.
    pub(crate) fn request(&self) -> ReproductionRequest<'_> {
        let ReproduceExtent { full, runs, grid } = self.extent;
        ReproductionRequest {
            rows: if self.all { &[] } else { &self.rows },
            paper: self.paper.as_deref(),
            extent: Extent { full, runs, grid, plots: self.out.is_some() },
            set: &self.set,
            data: self.data.given(),
            tried: self.tried,
            live: self.live,
        }
    }
}
