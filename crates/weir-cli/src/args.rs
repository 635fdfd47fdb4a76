//! The arguments of the command line.

mod attack;
mod call;
mod emulate;
mod import;
mod infer;
mod new;
mod packets;
mod peer;
mod report;
mod reproduce;
mod schema;
mod suite;
mod table_form;
mod testbed;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;
use weir_form::Varied;
use weir_import::traces::TraceStore;
use weir_scenario::registry::{self, Registry};
use weir_study::pairs;
use weir_study::runs::Shard;
use weir_theory::analysis;
use weir_units::TimeDelta;

pub(crate) use attack::AttackArgs;
pub(crate) use call::CallArgs;
pub(crate) use emulate::EmulateArgs;
pub(crate) use import::{
    CallDirection, CallSourceArgs, ExplainCallArgs, ExtensionName, ImportArgs, PageOutputArgs, ReplayArgs,
};
pub(crate) use infer::InferArgs;
pub(crate) use new::{NewCommand, NewControllerArgs};
pub(crate) use packets::PacketArgs;
pub(crate) use peer::{FlowArgs, KeygenArgs, RecvArgs, SendArgs, SessionArgs};
pub(crate) use report::{ReportArgs, VariantPair};
pub(crate) use reproduce::ReproduceArgs;
pub(crate) use schema::{SchemaArgs, SchemaOf};
pub(crate) use suite::{GateArgs, SuiteArgs, SuiteCommand, SuiteDiffArgs, SuiteSource};
pub(crate) use table_form::TableForm;
pub(crate) use testbed::{Priority, TestbedArgs};
pub(crate) use trace::{
    TraceCommand, TraceConvertArgs, TraceCutArgs, TraceImportArgs, TraceShowArgs, TraceSource,
};

/// Judge congestion controllers for real-time media.
#[derive(Debug, Parser)]
#[command(name = "weir", version, about, propagate_version = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// The command alone, for its version: the tree below it takes more time than all else.
    pub(crate) fn bare_command() -> clap::Command {
        clap::Command::new("weir").version(env!("CARGO_PKG_VERSION"))
    }

    /// The command, whose `--controller` takes the controllers of `registry`.
    pub(crate) fn command_with(registry: &Registry) -> clap::Command {
        let algorithms = PossibleValuesParser::new(pairs::controllers(registry).map(str::to_owned));
        let takes_algorithms = |command: clap::Command| {
            command.mut_arg("controller", |arg| arg.value_parser(algorithms.clone()))
        };
        let controllers = PossibleValuesParser::new(registry.controller_names().map(str::to_owned));
        let takes_controllers = |command: clap::Command| {
            command.mut_arg("controller", |arg| arg.value_parser(controllers.clone()))
        };
        Self::command()
            .mut_subcommand("pairs", takes_algorithms)
            .mut_subcommand("detection", takes_algorithms)
            .mut_subcommand("attack", takes_controllers)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario; without one the demo: a call from a moving car, under each controller.
    Run(RunArgs),
    /// Run a scenario in real time over real sockets, beside the kernel's own TCP (Linux).
    Testbed(TestbedArgs),
    /// Run any program behind an emulated path, and another at its far end (Linux).
    Emulate(EmulateArgs),
    /// Call a browser on this machine under any controller: a page with the picture, a chart and each decision.
    Call(CallArgs),
    /// Send media flows to another machine, where `weir recv` runs (Linux).
    Send(SendArgs),
    /// Receive the media flows of `weir send` (Linux).
    Recv(RecvArgs),
    /// Write a new key for `weir send` and `weir recv`.
    Keygen(KeygenArgs),
    /// Run a scenario file each time it is saved, and show what that changed; Ctrl-C ends it.
    Watch(WatchArgs),
    /// Draw the report of a run again, or of two runs side by side: this version against that one.
    Report(ReportArgs),
    /// Explain a controller's rate at a moment of a run, or where it fell most.
    Why(WhyArgs),
    /// Put controllers side by side in a handful of scenarios: a row each, to choose by.
    Compare(CompareArgs),
    /// Put controllers through standard test cases: a verdict for each, and what changed since an earlier time.
    Suite(SuiteArgs),
    /// Couple every two controllers, and leave them alone: fairness, queue and utilisation of each pair.
    Pairs(PairsArgs),
    /// How well shared bottleneck detection (RFC 8382) finds which flows share a bottleneck, over a grid of pairs.
    Detection(DetectionArgs),
    /// Attack each controller with forged feedback: its rates meanwhile, and the time until it is back.
    Attack(AttackArgs),
    /// Run the claims of papers, and judge them: the paper's number beside ours, and a verdict.
    Reproduce(ReproduceArgs),
    /// Infer the path behind a recorded call, as a scenario that runs.
    Infer(InferArgs),
    /// Compute results of the theory; without a name, list the analyses.
    Analyse(AnalyseArgs),
    /// List controllers, couplers, scenarios, suites or traces.
    List(ListArgs),
    /// Look at traces of links, and make them from others.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Read a recording of a call of your own, such as an event log of Chromium; for a link's trace: `weir trace import`.
    Import(ImportArgs),
    /// Replay a recorded call under other controllers: their decisions beside the recorded rate.
    Replay(ReplayArgs),
    /// Explain a recorded call: each fall of its rate with what came first, freezes, the moments to look at.
    ExplainCall(ExplainCallArgs),
    /// Explain a metric, by the name of a column or of a key of the results; without a name, list them.
    Explain(ExplainArgs),
    /// Print a JSON Schema.
    Schema(SchemaArgs),
    /// Begin a project of your own.
    #[command(subcommand)]
    New(NewCommand),
    /// Check a scenario file without running it.
    Check(CheckArgs),
    /// Print the script by which a shell completes these commands.
    Completions(CompletionsArgs),
    /// Print the manual page; with --out, write one for each command.
    Man(ManArgs),
}

/// Places of recorded traces.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// Directory with recorded traces in `traces/`; several are searched in their order, then those of $WEIR_DATA,
    /// the nearest `data/`, and those that ship.
    #[arg(long, value_name = "DIR", value_parser = directory)]
    data: Vec<PathBuf>,
}

/// Whether the command has controllers of its own, as one that is built out of Weir's tree.
static HAS_OWN: AtomicBool = AtomicBool::new(false);

/// Registers controllers of the command's own: it then finds the traces in Weir's sources wherever it is built.
pub(crate) fn has_own_controllers() {
    HAS_OWN.store(true, Ordering::Relaxed);
}

fn data_of_sources() -> Option<PathBuf> {
    let has_own = HAS_OWN.load(Ordering::Relaxed);
    has_own.then(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data"))
}

impl DataArgs {
    /// The traces there.
    pub(crate) fn store(&self) -> TraceStore {
        TraceStore::find_besides(&self.data, data_of_sources())
    }

    /// The directories that were named.
    pub(crate) fn given(&self) -> &[PathBuf] {
        &self.data
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// A shipped scenario (see `weir list scenarios`) or a file.
    pub(crate) scenario: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Vary a key, such as `links.forward.delay=10ms,50ms,1s`, `1ms..100ms/5log` or words: a table, and with --out curves or maps; may
    /// be given often, all with all.
    #[arg(long, value_name = "PATH=V,V", requires = "scenario")]
    pub(crate) sweep: Vec<Varied>,
    /// Parts of a sweep.
    #[command(flatten)]
    pub(crate) parts: ShardArgs,
    /// Number of threads [default: one per core]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Directory for report, results, series and the scenario as it was run [default: weir-out/NAME; of a sweep weir-out/NAME-sweep].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) packets: PacketArgs,
    /// Open the report once it is written.
    #[arg(long)]
    pub(crate) open: bool,
    /// Form of the time series.
    #[arg(long, value_name = "FORM", value_delimiter = ',', default_value = "csv")]
    pub(crate) series: Vec<SeriesForm>,
    /// Form of the table of all runs, `table/part-*` [default: parquet for a sweep, else none].
    #[arg(long, value_name = "FORM")]
    pub(crate) table: Option<TableForm>,
    /// Print the results as JSON, and write files only with --out.
    #[arg(long)]
    pub(crate) json: bool,
    /// Let hosts be late as in a real run: a file host-noise-*.json of `weir testbed --out`.
    #[arg(long, value_name = "LOG", requires = "scenario", conflicts_with = "pcap")]
    pub(crate) host_noise: Option<PathBuf>,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Changes of the command line to a scenario.
#[derive(Debug, clap::Args)]
pub(crate) struct Changes {
    /// Controllers to compare, such as `gcc,nada` or `gcc,gcc{trendline.window=40}`: each takes over all media flows, over the
    /// same network and the same video.
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Vec<String>,
    /// Runs per controller, each with a seed of its own [default: that of the scenario].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Seed of the first run; the others follow it [default: that of the scenario, else 1].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Duration of each run, such as `30s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,
    /// Change a value of the scenario, such as `links.forward.delay=40ms`; may be given often.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// The file.
    pub(crate) scenario: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Number of threads [default: one per core]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// End after the first run that has another before it.
    #[arg(long)]
    pub(crate) once: bool,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("when").required(true))]
pub(crate) struct WhyArgs {
    /// The directory of a run, as `weir run --out` writes it.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The media flow [default: the first].
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// The controller; needed where several were compared.
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Option<String>,
    /// The moment, such as 42s.
    #[arg(long, value_name = "TIME", group = "when")]
    pub(crate) at: Option<TimeDelta>,
    /// The deepest falls of the rate.
    #[arg(long, group = "when")]
    pub(crate) falls: bool,
    /// Seed of the run, which is made again [default: the first, as it was written].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeriesForm {
    /// series-CONTROLLER.csv and decisions-CONTROLLER.csv.
    Csv,
    /// series-CONTROLLER.parquet and decisions-CONTROLLER.parquet.
    Parquet,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Controllers, with options of their own in braces, such as `gcc,gcc{trendline.window=40}` [default: all].
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Vec<String>,
    /// Runs per controller and scenario [default: those of the scenarios].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Also measure the cost of a packet in the sender half, on this machine.
    #[arg(long)]
    pub(crate) cost: bool,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Creation and output of a table of many runs.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Number of threads [default: one per core]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Form of the table.
    #[arg(long, value_name = "FORM", default_value = "table")]
    format: Format,
    /// Print JSON, as --format json does.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl TableArgs {
    /// The form of the table.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct PairsArgs {
    /// Controllers and algorithms of TCP; each meets itself and each of the others [default: all].
    #[arg(long, alias = "law", value_name = "NAME", value_delimiter = ',')]
    pub(crate) controller: Vec<String>,
    /// Coupling algorithm.
    #[arg(long, value_name = "NAME", default_value = pairs::ALGORITHM)]
    #[arg(value_parser = PossibleValuesParser::new(registry::couplers().map(|coupler| coupler.name)))]
    pub(crate) algorithm: String,
    /// Runs per pair, coupled and left alone, each with a seed of its own.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DetectionArgs {
    /// Controllers and algorithms of TCP; both flows of a pair have the same [default: gcc,nada,cubic].
    #[arg(long, alias = "law", value_name = "NAME", value_delimiter = ',')]
    pub(crate) controller: Vec<String>,
    /// Runs per case, each with a seed of its own.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// Change a parameter of detection, such as `sampling=25ms` or `stability.join=0.9`; may be given often.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AnalyseArgs {
    /// The analysis to compute.
    #[arg(value_parser = PossibleValuesParser::new(analysis::all().map(analysis::Entry::name)))]
    #[arg(hide_possible_values = true)]
    pub(crate) name: Option<String>,
    /// Change a parameter, such as `rate=2Mbps`, or take a preset, such as `preset=parking-lot`; may be given often.
    #[arg(long, value_name = "KEY=VALUE", requires = "name")]
    pub(crate) set: Vec<String>,
    /// Print as JSON: an object with parameters and results; without a name, the schemas of all.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of many runs for one of several machines, and all of them together.
#[derive(Debug, clap::Args)]
pub(crate) struct ShardArgs {
    /// Make the I-th of N parts of the runs without a verdict: a job of an array on a cluster.
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with_all = ["merge", "json"])]
    pub(crate) shard: Option<Shard>,
    /// Use the runs in these directories, those of shards, and make only the missing ones.
    #[arg(long, value_name = "DIR", requires = "out", num_args = 1..)]
    pub(crate) merge: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Columns that align.
    Table,
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The kind of items to list.
    pub(crate) what: Listing,
    /// Only this one, in full: a controller or coupler with every option, a scenario, a suite.
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Listing {
    /// Controllers of media flows.
    Controllers,
    /// Algorithms that couple flows.
    Couplers,
    /// Scenarios that ship with weir.
    Scenarios,
    /// Suites of test cases.
    Suites,
    /// Traces that can be found.
    Traces,
}

/// An existing directory.
fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".to_owned()) }
}

impl Listing {
    /// The value as on the command line.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The metric, such as `useful rate` or `owd_excess_ms.p95`.
    #[arg(num_args = 0..)]
    pub(crate) metric: Vec<String>,
    /// Print as JSON: an array with an object for each meaning.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// A scenario file, or the name of a shipped one.
    pub(crate) scenario: String,
    /// Change a value of the scenario before checking it.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print the scenario, or its errors, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Directory for weir.1, weir-run.1 and so on.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
