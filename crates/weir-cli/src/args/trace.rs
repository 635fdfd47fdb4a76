//! Arguments of `weir trace`.

use std::path::PathBuf;

use clap::Subcommand;
use weir_import::traces::{RateUnit, TimeUnit};
use weir_units::TimeDelta;

use super::{DataArgs, directory};

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Its length, its rates, its gaps.
    Show(TraceShowArgs),
    /// Write it in another form: `.csv` and `.json` are rates over time, all else is Mahimahi's.
    Convert(TraceConvertArgs),
    /// Write a part of it.
    Cut(TraceCutArgs),
    /// Write it with its rate multiplied.
    Scale(TraceScaleArgs),
    /// Draw its rate over time, as SVG.
    Plot(TraceConvertArgs),
    /// Make one of a file of yours: CSV, `iperf3 --json`, a capture of a transfer, Mahimahi; for a call: `weir import`.
    Import(TraceImportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceSource {
    /// A trace (see `weir list traces`) or a file.
    pub(crate) trace: String,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Length over which rates are averaged; whole milliseconds.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = bin)]
    pub(crate) bin: TimeDelta,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceShowArgs {
    #[command(flatten)]
    pub(crate) source: TraceSource,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceConvertArgs {
    #[command(flatten)]
    pub(crate) source: TraceSource,
    /// The file to write.
    pub(crate) out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceCutArgs {
    #[command(flatten)]
    pub(crate) source: TraceSource,
    /// The file to write.
    pub(crate) out: PathBuf,
    /// Where the part begins.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    pub(crate) from: TimeDelta,
    /// End of the part [default: the end of the trace].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) to: Option<TimeDelta>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceScaleArgs {
    #[command(flatten)]
    pub(crate) source: TraceSource,
    /// The file to write.
    pub(crate) out: PathBuf,
    /// Factor of the rate, from 0.001 to 1000.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) rate: f64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceImportArgs {
    /// The file.
    pub(crate) file: PathBuf,
    /// The file to write, or a name under which the nearest data directory has it [default: FILE.trace.csv here].
    #[arg(long, value_name = "NAME_OR_PATH")]
    pub(crate) to: Option<PathBuf>,
    /// The name of the CSV column with the times [default: seconds].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// The name of the CSV column with the rates [default: bits_per_second]; of `iperf3 --bidir` `sum` or `sum_bidir_reverse`.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) rate: Option<String>,
    /// The unit of the times: s, ms, us or ns; the first time is the beginning [default: s].
    #[arg(long, value_name = "UNIT")]
    pub(crate) time_unit: Option<TimeUnit>,
    /// The unit of the rates: bit/s, kbit/s, Mbit/s, Gbit/s, byte/s, kB/s or MB/s [default: bit/s].
    #[arg(long, value_name = "UNIT")]
    pub(crate) rate_unit: Option<RateUnit>,
    /// The flow of a capture that has several: its number in the list that is printed without this option.
    #[arg(long, value_name = "NUMBER", value_parser = flow)]
    pub(crate) flow: Option<usize>,
    /// Directory in whose `traces/` a name is written [default: the nearest data directory].
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) data: Vec<PathBuf>,
    /// Print the properties as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The number of a flow.
fn flow(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "it must be a number from 1".to_owned())
}

/// A time that is not negative.
fn time(text: &str) -> Result<TimeDelta, String> {
    let time: TimeDelta = text.parse().map_err(|error: weir_units::ParseUnitError| error.to_string())?;
    if time.is_negative() { Err("must not be negative".to_owned()) } else { Ok(time) }
}

/// The length of a bin.
fn bin(text: &str) -> Result<TimeDelta, String> {
    let bin = time(text)?;
    let whole = bin > TimeDelta::ZERO && bin.nanos() % 1_000_000 == 0;
    if whole { Ok(bin) } else { Err("must be a whole number of milliseconds, 1 ms at least".to_owned()) }
}
