//! What can be said of traces.

use std::path::PathBuf;

use clap::Subcommand;
use weir_units::TimeDelta;

use super::directory;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Its length, its rates, its gaps.
    Show(TraceShowArgs),
    /// Write it in another form: `.csv` and `.json` are rates over time, all else is Mahimahi's.
    Convert(TraceConvertArgs),
    /// Write a part of it.
    Cut(TraceCutArgs),
    /// Write it with so many times the rate.
    Scale(TraceScaleArgs),
    /// Draw its rate over time, as SVG.
    Plot(TraceConvertArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceSource {
    /// A trace (see `weir list traces`) or a file.
    pub(crate) trace: String,
    /// Directory with recorded traces in `traces/`; several are searched in their order, then those of $WEIR_DATA, the
    /// nearest `data/`, and what ships.
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) data: Vec<PathBuf>,
    /// Rates are means over this; whole milliseconds.
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
    /// Where it ends [default: the end of the trace].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) to: Option<TimeDelta>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceScaleArgs {
    #[command(flatten)]
    pub(crate) source: TraceSource,
    /// The file to write.
    pub(crate) out: PathBuf,
    /// So many times the rate, from 0.001 to 1000.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) rate: f64,
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
