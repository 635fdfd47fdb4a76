//! Arguments of `weir infer`.

use std::path::PathBuf;

use clap::{ValueEnum, value_parser};
use weir_replay::infer::PathEnd;

use super::import::CallSourceArgs;

/// Arguments of `weir infer`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Capacity is known in the seconds in which packets of the call queued. Elsewhere the recording gives a lower bound: \
                        compare controllers on both ends, or let --check do it."
)]
pub(crate) struct InferArgs {
    #[command(flatten)]
    pub(crate) source: CallSourceArgs,
    /// File for the scenario [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Capacity where no packet queued: the lower end of the band, the figures nearby, or the upper end.
    #[arg(long, value_name = "END", default_value = "middle")]
    pub(crate) end: WrittenEnd,
    /// Open upper ends, as a multiple of what is known nearby.
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = factor)]
    pub(crate) open_end: f64,
    /// Bytes per packet on the wire that the recording does not count [default: 10 for event logs, the tag of SRTP, else 0].
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u32).range(..=1000))]
    pub(crate) extra_bytes: Option<u32>,
    /// Run gcc, nada and scream-v2 on both ends, and say whether the same one leads.
    #[arg(long)]
    pub(crate) check: bool,
    /// Number of threads [default: one per core]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024), requires = "check")]
    pub(crate) jobs: Option<u32>,
    /// Print the inferred path as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The end of the band that a scenario takes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WrittenEnd {
    /// The lower end.
    Low,
    /// The figures nearby, within the band.
    Middle,
    /// The upper end.
    High,
}

impl From<WrittenEnd> for PathEnd {
    fn from(end: WrittenEnd) -> Self {
        match end {
            WrittenEnd::Low => Self::Low,
            WrittenEnd::Middle => Self::Middle,
            WrittenEnd::High => Self::High,
        }
    }
}

/// A factor from 1 to 100.
fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| (1.0..=100.0).contains(factor));
    factor.ok_or_else(|| "a number from 1 to 100, such as 2".to_owned())
}
