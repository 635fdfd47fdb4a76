//! From names and options to controllers.

use weir_cc::{Controller, LimitsOutOfOrder, Receiver};
use weir_media::PacketFormat;

mod controllers;
mod couplers;
mod law;
mod laws;
mod tcp_profile;
#[cfg(test)]
mod tests;
mod windows;
mod yardsticks;

pub use controllers::Registry;
pub(crate) use couplers::coupler_options_shape;
pub use couplers::{
    CouplerInfo, Setting as CouplerSetting, Steers, coupler, coupler_info, couplers, find_coupler,
};
pub use law::{Half, Law, Preset};
pub use tcp_profile::TcpProfile;
pub use weir_world::Side;
pub use windows::{WindowLawInfo, window_law, window_laws, window_laws_of};
pub(crate) use yardsticks::omniscient_point;
pub use yardsticks::{is_yardstick, yardsticks};

/// What is known of a controller, for whoever has to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerInfo {
    /// Its name in scenarios and on the command line.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The paper or RFC that it implements.
    pub source: &'static str,
    /// Which half computes the rate.
    pub placement: &'static str,
    /// What the receiver tells the sender.
    pub feedback: &'static str,
    /// Named configurations besides the default, for the option `preset`.
    pub presets: Vec<PresetInfo>,
}

/// A named configuration of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
}

/// How a controller answers to marks by ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkResponse {
    /// Marks do not reach it, or it does not heed them: its packets may not ask for any.
    None,
    /// A mark counts as a loss or nearly so, once in a round trip (RFC 3168 §5).
    Classic,
    /// It yields by the share of marks, so that they come no more seldom at a higher rate (RFC 9331 §4.3).
    Scalable,
}

/// The two halves of a controller.
#[derive(Debug)]
pub struct Halves {
    /// The sender half.
    pub controller: Box<dyn Controller>,
    /// The receiver half.
    pub receiver: Box<dyn Receiver>,
    /// The RTCP form in which the receiver half tells the fate of single packets, if it does.
    pub packet_format: PacketFormat,
}

/// Why there is no such controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is not known.
    #[error("there is no {what} `{name}`; {advice}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// What may have been meant.
        advice: String,
    },
    /// Two laws have one name.
    #[error("two controllers are called `{name}`; give one another name")]
    Twice {
        /// The name.
        name: &'static str,
    },
    /// The rates are out of order.
    #[error(transparent)]
    Limits(#[from] LimitsOutOfOrder),
    /// The controller or coupler does not take these options.
    #[error("`{name}` does not take these options: {reason}")]
    Options {
        /// The controller or coupler.
        name: &'static str,
        /// Why not.
        reason: String,
    },
}
