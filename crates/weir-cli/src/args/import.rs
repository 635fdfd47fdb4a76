//! Arguments of the commands for recorded calls.

use std::path::PathBuf;

use clap::ValueEnum;
use weir_units::{DataRate, TimeDelta};

/// The recording of a call, and its interpretation.
#[derive(Debug, clap::Args)]
pub(crate) struct CallSourceArgs {
    /// The recording: an RTC event log, webrtc-internals or getStats, a capture of RTP, a table, or a call that was imported before;
    /// also compressed by gzip. Two captures are that of the sender, then that of the receiver.
    #[arg(value_name = "CALL", required = true, num_args = 1..=2)]
    pub(crate) files: Vec<PathBuf>,
    /// The media of a recording with both directions [default: those with more bytes].
    #[arg(long, value_name = "DIRECTION")]
    pub(crate) direction: Option<CallDirection>,
    /// The source (SSRC) of a stream of the call.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) ssrc: Option<u32>,
    /// Identifier of an RTP header extension in a capture, such as `transport-cc=3` or `abs-send-time=2`; may be given often.
    #[arg(long, value_name = "NAME=ID")]
    pub(crate) extension_id: Vec<ExtensionId>,
    /// Interval of the feedback that is made where a recording has none, such as `50ms`.
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub(crate) feedback_interval: Option<TimeDelta>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(crate) source: CallSourceArgs,
    /// The file to write [default: CALL.call.json here]. A measurement of a link is imported by `weir trace import`.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the properties as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The output of a command that writes a page about a call.
#[derive(Debug, clap::Args)]
pub(crate) struct PageOutputArgs {
    /// Directory of the page and the results [default: weir-out/NAME-replay, weir-out/NAME-explained].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Open the page once it is written.
    #[arg(long)]
    pub(crate) open: bool,
    /// Print the results as JSON, and write files only with --out.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) source: CallSourceArgs,
    /// Controllers.
    #[arg(long, alias = "law", value_name = "NAME", value_delimiter = ',', required = true)]
    pub(crate) controller: Vec<String>,
    /// Rate to begin with [default: the first recorded one].
    #[arg(long, value_name = "RATE")]
    pub(crate) start: Option<DataRate>,
    /// Highest rate [default: 10Mbps, or twice the highest recorded one].
    #[arg(long, value_name = "RATE")]
    pub(crate) max: Option<DataRate>,
    #[command(flatten)]
    pub(crate) output: PageOutputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainCallArgs {
    #[command(flatten)]
    pub(crate) source: CallSourceArgs,
    #[command(flatten)]
    pub(crate) output: PageOutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallDirection {
    /// Media that the recording end sends.
    Sent,
    /// Media that the recording end receives.
    Received,
}

/// A header extension whose identifier can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtensionName {
    TransportSequence,
    AbsSendTime,
}

/// A header extension and its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtensionId {
    pub(crate) name: ExtensionName,
    pub(crate) id: u8,
}

impl std::str::FromStr for ExtensionId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, id) = text.split_once('=').ok_or("it must be NAME=ID, such as transport-cc=3")?;
        let name = match name {
            "transport-cc" => ExtensionName::TransportSequence,
            "abs-send-time" => ExtensionName::AbsSendTime,
            _ => {
                return Err(format!(
                    "there is no extension `{name}` here; use transport-cc or abs-send-time"
                ));
            }
        };
        let id =
            id.parse().ok().filter(|&id| id > 0).ok_or("the identifier must be a number from 1 to 255")?;
        Ok(Self { name, id })
    }
}

/// A positive time.
fn interval(text: &str) -> Result<TimeDelta, String> {
    let time: TimeDelta = text.parse().map_err(|error: weir_units::ParseUnitError| error.to_string())?;
    if time > TimeDelta::ZERO { Ok(time) } else { Err("must be positive".to_owned()) }
}
