//! Arguments of `weir send`, `weir recv` and `weir keygen`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::value_parser;
use weir_peer::offer::MOST_FLOWS;
use weir_scenario::registry;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::emulate::{rate, share, span};
use super::{DataArgs, Priority};

/// Exit codes of both commands.
const EXIT_CODES: &str = "Exit codes: 0 done; 1 a requirement is not met (--at-least, --delay-at-most, --loss-at-most); 2 the input \
                          is wrong, no peer answers, the other end refuses, or Ctrl-C; 3 inconclusive: the session broke off, or \
                          this machine was late.";

/// Arguments of `weir send`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SendArgs {
    /// The receiver, HOST:PORT; with --reverse the own address at which the receiver calls [default then: port 5004].
    #[arg(value_name = "HOST:PORT", required_unless_present = "reverse")]
    pub(crate) address: Option<String>,
    #[command(flatten)]
    pub(crate) flows: FlowArgs,
    /// Lowest rate of each flow.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) min_rate: Option<DataRate>,
    /// Rate to begin with; of `--source constant` the rate.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) start_rate: Option<DataRate>,
    /// Highest rate of each flow [default: that of the source].
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) max_rate: Option<DataRate>,
    /// Duration of the session [default: 10s, without end with --bytes].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<TimeDelta>,
    /// End after so many bytes, headers included, such as 10MB.
    #[arg(long, value_name = "SIZE")]
    pub(crate) bytes: Option<DataSize>,
    /// Write the first flow as a recorded call; further flows with their number before the ending.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Arguments of `weir recv`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RecvArgs {
    /// The own address [default: 127.0.0.1:5004, with --key or --open 0.0.0.0:5004]; with --reverse the sender, HOST:PORT.
    #[arg(value_name = "ADDR:PORT", required_if_eq("reverse", "true"))]
    pub(crate) address: Option<String>,
    /// Highest rate of all flows together.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) max_rate: Option<DataRate>,
    /// Longest duration of a session.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_duration: Option<TimeDelta>,
    /// Accept flows without congestion control, and flows with a lowest rate above 150 kbit/s.
    #[arg(long)]
    pub(crate) allow_unresponsive: bool,
    /// End after one session.
    #[arg(long)]
    pub(crate) once: bool,
    /// Write the first flow that this end sends as a recorded call; further flows, and those of further sessions, with their
    /// number before the ending.
    #[arg(long, value_name = "FILE", requires = "bidir")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flows: FlowArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Arguments of `weir keygen`.
#[derive(Debug, clap::Args)]
pub(crate) struct KeygenArgs {
    /// The file, which must not exist yet.
    pub(crate) file: PathBuf,
}

/// The flows that an end sends; of `weir recv` those of --bidir.
#[derive(Debug, clap::Args)]
pub(crate) struct FlowArgs {
    /// Controller of the flows, such as `nada` or `gcc{trendline.window=40}` [default: gcc, with --scenario that of the scenario].
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Option<String>,
    /// Source of the flows: an encoder of scenario files, such as `chromium` or `{ preset = "papers", max_rate = "4Mbps" }`, or
    /// `constant` for packets without congestion control.
    #[arg(long, value_name = "SOURCE", default_value = "papers")]
    pub(crate) source: String,
    /// Number of flows, which are flows of one call.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=MOST_FLOWS as i64))]
    pub(crate) flows: u32,
    /// Couple the flows by this algorithm.
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(registry::couplers().map(|coupler| coupler.name)))]
    pub(crate) coupler: Option<String>,
    /// Send the media and constant flows of a scenario instead, without its links.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["source", "flows", "coupler"])]
    pub(crate) scenario: Option<String>,
    /// Change a value of the scenario, or of the one that these options make: `flows.flow.audio={}`; may be given often.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of the sources.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Options of a session, the same at both ends.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SessionArgs {
    /// File with the key of both ends, which `weir keygen` writes.
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    pub(crate) key: Option<PathBuf>,
    /// Go without a key beyond this machine: only the return path is proved.
    #[arg(long)]
    pub(crate) open: bool,
    /// The receiver calls the sender, for receivers behind NAT; at both ends.
    #[arg(long, conflicts_with = "bidir")]
    pub(crate) reverse: bool,
    /// Both ends send; at both ends.
    #[arg(long)]
    pub(crate) bidir: bool,
    /// Time between two live lines.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    pub(crate) interval: TimeDelta,
    /// Require this received rate of all flows together.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) at_least: Option<DataRate>,
    /// Require this 95th percentile of the one-way delay above its least value.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) delay_at_most: Option<TimeDelta>,
    /// Require this share of lost packets, such as 1%.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) loss_at_most: Option<f64>,
    /// Write the packets of this end as pcapng, without their tags. The file is in its place at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Serve metrics for Prometheus at this address, such as 127.0.0.1:9100; a port alone is one of this machine.
    #[arg(long, value_name = "ADDR", value_parser = metrics_address)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Scheduling of this end.
    #[arg(long, value_name = "KIND", default_value = "realtime")]
    pub(crate) priority: Priority,
    /// Print the report as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// No live lines.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A time above zero.
fn duration(text: &str) -> Result<TimeDelta, String> {
    let time: TimeDelta = text.parse().map_err(|error: weir_units::ParseUnitError| error.to_string())?;
    if time < TimeDelta::from_millis(100) { Err("must be at least 100ms".to_owned()) } else { Ok(time) }
}

/// An address, or a port of the loopback interface.
fn metrics_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.trim_start_matches(':').parse::<u16>();
    match port {
        Ok(port) => Ok(([127, 0, 0, 1], port).into()),
        Err(_) => {
            text.parse().map_err(|_| "an address and a port, such as 127.0.0.1:9100, or a port".to_owned())
        }
    }
}
