//! Arguments of `weir import`.

use std::path::PathBuf;

use clap::ValueEnum;
use weir_units::TimeDelta;

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The recording: an RTC event log of Chromium, or a call that was imported before, also compressed by gzip.
    /// A measurement of a link is imported by `weir trace import`.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The file to write [default: FILE.call.json here].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The media of a recording with both directions [default: those with more bytes].
    #[arg(long, value_name = "DIRECTION")]
    pub(crate) direction: Option<CallDirection>,
    /// The source (SSRC) of a stream of the call that is imported.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) ssrc: Option<u32>,
    /// Identifier of a header extension in a capture, such as `transport-cc=3` or `abs-send-time=2`; may be given often.
    #[arg(long, value_name = "NAME=ID")]
    pub(crate) extension_id: Vec<ExtensionId>,
    /// Interval of the feedback that is made for two captures, such as `50ms`.
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub(crate) feedback_interval: Option<TimeDelta>,
    /// Print the properties as JSON.
    #[arg(long)]
    pub(crate) json: bool,
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
