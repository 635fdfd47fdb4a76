//! Arguments of `weir emulate`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::value_parser;
use weir_units::{DataRate, TimeDelta};

use super::{DataArgs, Priority};

/// Longest delay and longest queue of a link.
const LONGEST: TimeDelta = TimeDelta::from_secs(600);

/// Arguments of `weir emulate`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "weir emulate LINKS [OPTIONS] [--far CMD] -- CMD...\n       \
                      weir emulate LINKS [OPTIONS] --udp LISTEN=PEER\n       \
                      LINKS: SCENARIO | FORWARD_TRACE BACK_TRACE | --rate RATE",
    after_help = "CMD runs in a network namespace of its own as 10.84.1.1, the far end is 10.84.2.1: $WEIR_NEAR and $WEIR_FAR, with \
                  IPv6 also $WEIR_NEAR6 and $WEIR_FAR6. All packets between them cross the path; no other network is there. \
                  Without --far the kernel at the far end answers pings and refuses connections. CMD runs as the user who called \
                  sudo, and everything that it started ends with it.\n\n\
                  Exit codes: that of CMD (128 and the number of a signal that ended it); 2 the input is wrong, or the machine lacks \
                  what is needed."
)]
pub(crate) struct EmulateArgs {
    /// A scenario, of which the links on the path of its first flow count; or two traces, forward and back.
    #[arg(num_args = 0..=2)]
    pub(crate) links: Vec<String>,
    /// The program at the near end, with its arguments.
    #[arg(last = true, value_name = "CMD")]
    pub(crate) program: Vec<OsString>,
    /// Program at the far end, for the shell; CMD starts once it listens, or after 3 s. It is ended 1 s after CMD.
    #[arg(long, value_name = "CMD")]
    pub(crate) far: Option<OsString>,
    /// Forward datagrams that arrive at LISTEN to PEER, and answers to the latest sender, without privileges; until Ctrl-C.
    #[arg(long, value_name = "LISTEN=PEER", conflicts_with_all = ["far", "program", "pcap"])]
    pub(crate) udp: Option<String>,
    #[command(flatten)]
    pub(crate) forward: ForwardArgs,
    #[command(flatten)]
    pub(crate) back: BackArgs,
    /// Seed of random losses and delays.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: u64,
    /// Write the packets before and behind the bottleneck of each direction as pcapng.
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Scheduling of the emulator.
    #[arg(long, value_name = "KIND", default_value = "realtime")]
    pub(crate) priority: Priority,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print the report as JSON: one line on standard output, behind the output of CMD.
    #[arg(long)]
    pub(crate) json: bool,
    /// Neither live line nor report.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The link to the far end, without a scenario.
#[derive(Debug, clap::Args)]
pub(crate) struct ForwardArgs {
    /// Rate of the link to the far end.
    #[arg(long, value_parser = rate)]
    pub(crate) rate: Option<DataRate>,
    /// Its propagation delay [default: 25ms].
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub(crate) delay: Option<TimeDelta>,
    /// Longest wait in its drop-tail queue [default: 300ms].
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub(crate) queue: Option<TimeDelta>,
    /// Its random loss, such as 1% [default: none].
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub(crate) loss: Option<f64>,
}

/// The link back, without a scenario.
#[derive(Debug, clap::Args)]
pub(crate) struct BackArgs {
    /// Rate of the link back [default: --rate].
    #[arg(id = "back-rate", long = "back-rate", value_name = "RATE", value_parser = rate, requires = "rate")]
    pub(crate) rate: Option<DataRate>,
    /// Its propagation delay [default: --delay].
    #[arg(id = "back-delay", long = "back-delay", value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub(crate) delay: Option<TimeDelta>,
    /// Longest wait in its drop-tail queue [default: --queue].
    #[arg(id = "back-queue", long = "back-queue", value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub(crate) queue: Option<TimeDelta>,
    /// Its random loss [default: --loss].
    #[arg(id = "back-loss", long = "back-loss", value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub(crate) loss: Option<f64>,
}

/// A rate above zero.
pub(super) fn rate(text: &str) -> Result<DataRate, String> {
    let rate: DataRate = text.parse().map_err(|error: weir_units::ParseUnitError| error.to_string())?;
    if rate.is_zero() { Err("must be above zero".to_owned()) } else { Ok(rate) }
}

/// A time from zero to [`LONGEST`].
pub(super) fn span(text: &str) -> Result<TimeDelta, String> {
    let time: TimeDelta = text.parse().map_err(|error: weir_units::ParseUnitError| error.to_string())?;
    let possible = TimeDelta::ZERO <= time && time <= LONGEST;
    if possible { Ok(time) } else { Err(format!("must be from 0s to {LONGEST}")) }
}

/// A share from 0 to 1, or in percent.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
    let share = number.parse().map(|number: f64| number / unit);
    share
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "must be a share from 0% to 100%".to_owned())
}
