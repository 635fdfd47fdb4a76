//! Arguments of `weir testbed`.

use std::path::PathBuf;

use clap::{ValueEnum, value_parser};
use weir_live::run::FaceKind;
use weir_study::testbed::MOST_TOGETHER;

use super::{Changes, DataArgs, SeriesForm};

/// Arguments of `weir testbed`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(
    after_help = "Exit codes: 0 done; 1 a real run differs from the simulated ones (--compare); 2 the input is wrong, or the machine \
                  lacks what the scenario needs; 3 a run was inconclusive twice."
)]
pub(crate) struct TestbedArgs {
    /// A shipped scenario (see `weir list scenarios`) or a file.
    pub(crate) scenario: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Sockets of UDP without privileges, or a network namespace with a TUN device for each host [default: what the
    /// scenario needs].
    #[arg(long, value_name = "FACE")]
    pub(crate) face: Option<FaceArg>,
    /// IPv6 instead of IPv4. Its headers are 20 bytes longer than those that the simulator counts.
    #[arg(long, conflicts_with = "compare")]
    pub(crate) ipv6: bool,
    /// Runs at a time [default: as many as keep the emulators below half of a core].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=i64::from(MOST_TOGETHER)))]
    pub(crate) together: Option<u32>,
    /// Scheduling of emulator and hosts.
    #[arg(long, value_name = "KIND", default_value = "realtime")]
    pub(crate) priority: Priority,
    /// Simulate each run's own seed twenty times with hosts that are late as the real ones were, and judge each quantity.
    #[arg(long)]
    pub(crate) compare: bool,
    /// Also write call-CONTROLLER-FLOW.call.json for each run: packets, feedback and targets of each media flow.
    #[arg(long)]
    pub(crate) record: bool,
    /// Write the packets before and behind the bottlenecks of each run as pcapng; of several runs in a file each, with controller and
    /// seed behind the name.
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Directory for report, results, series and the scenario as it was run [default: weir-out/NAME-live].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Open the report once it is written.
    #[arg(long)]
    pub(crate) open: bool,
    /// Form of the time series.
    #[arg(long, value_name = "FORM", value_delimiter = ',', default_value = "csv")]
    pub(crate) series: Vec<SeriesForm>,
    /// Print the results as JSON, and write files only with --out.
    #[arg(long)]
    pub(crate) json: bool,
    /// No live line.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FaceArg {
    /// Sockets of UDP.
    Udp,
    /// Network namespaces with TUN devices.
    Tun,
}

impl From<FaceArg> for FaceKind {
    fn from(face: FaceArg) -> Self {
        match face {
            FaceArg::Udp => Self::Udp,
            FaceArg::Tun => Self::Tun,
        }
    }
}

/// Scheduling of the threads of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Priority {
    /// Real-time scheduling where the process may.
    Realtime,
    /// As any other process.
    Normal,
}
