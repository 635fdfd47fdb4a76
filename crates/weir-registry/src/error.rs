//! Errors of the registry.

use weir_cc::LimitsOutOfOrder;

/// The reason why a controller, coupler or algorithm cannot be built or added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is unknown.
    #[error("there is no {what} `{name}`; {advice}")]
    Unknown {
        /// The kind of the name: a controller, a coupling algorithm, a window algorithm.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The name that was probably meant, or all names.
        advice: String,
    },
    /// Two controllers have one name.
    #[error("two controllers are called `{name}`; give one another name")]
    Twice {
        /// The name.
        name: String,
    },
    /// A controller has the name of a TCP algorithm, which would be taken where both are valid.
    #[error("`{name}` is a TCP algorithm; give the controller another name")]
    WindowAlgorithm {
        /// The name.
        name: String,
    },
    /// The controller does not go by per-packet feedback.
    #[error("`{name}` measures at the receiver, and per-packet feedback is not its report; {advice}")]
    NotByPackets {
        /// The controller.
        name: String,
        /// Its twin at the sender, or the controllers that go by packets.
        advice: String,
    },
    /// The rates are out of order: for callers that make the limits.
    #[error(transparent)]
    Limits(#[from] LimitsOutOfOrder),
    /// The controller or coupler does not take these options.
    #[error("`{name}` does not take these options: {reason}")]
    Options {
        /// The controller or coupler.
        name: String,
        /// The option and the values that would be right.
        reason: String,
    },
}
