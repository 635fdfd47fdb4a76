//! What can be said on the command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum, value_parser};
use weir_lab::registry;

/// Judge congestion controllers for real-time media.
#[derive(Debug, Parser)]
#[command(name = "weir", version, about, propagate_version = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario; without one the demo: a call from a moving car, under each controller.
    Run(RunArgs),
    /// Put controllers side by side in a handful of scenarios: a row each, to choose by.
    Compare(CompareArgs),
    /// List what there is.
    List(ListArgs),
    /// Print a JSON Schema.
    Schema(SchemaArgs),
    /// Check a scenario file without running it.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// A shipped scenario (see `weir list scenarios`) or a file.
    pub(crate) scenario: Option<String>,
    /// Controllers to compare: each takes over all media flows, over the same network and the same video.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(registry::controller_names()))]
    pub(crate) controller: Vec<String>,
    /// Runs per controller, each with a seed of its own [default: what the scenario says].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Seed of the first run; the others follow it [default: what the scenario says, else 1].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Threads [default: one per core]; results do not depend on them.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// How long each run lasts, such as `30s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,
    /// Change a value of the scenario, such as `links.forward.delay=40ms`; may be given often.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Directory for report, results, series and the scenario as it was run [default: weir-out/NAME].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Directory with recorded traces in `traces/` [default: $WEIR_DATA, else the nearest `data/`].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print the results as JSON, and write files only with --out.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Controllers [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(registry::controller_names()))]
    pub(crate) controller: Vec<String>,
    /// Runs per controller and scenario [default: what the scenarios say].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Threads [default: one per core]; results do not depend on them.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Also measure what a packet costs the sender half, on this machine.
    #[arg(long)]
    pub(crate) cost: bool,
    /// Form of the table.
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
    /// Directory with recorded traces in `traces/` [default: $WEIR_DATA, else the nearest `data/`].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Columns that align.
    Table,
    /// Markdown, with the definition of each column.
    Markdown,
    /// JSON.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// What to list.
    pub(crate) what: Listing,
    /// Directory with recorded traces in `traces/`.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Listing {
    /// Controllers of media flows.
    Controllers,
    /// Scenarios that ship with weir.
    Scenarios,
    /// Traces that can be found.
    Traces,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Of what.
    #[arg(default_value = "scenario")]
    pub(crate) what: SchemaOf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Scenario files.
    Scenario,
    /// The output of `weir run --json`.
    Results,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// A scenario file, or the name of a shipped one.
    pub(crate) scenario: String,
    /// Change a value of the scenario before checking it.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Directory with recorded traces in `traces/`.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}
