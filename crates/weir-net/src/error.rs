//! Errors in the description of a link.

use core::fmt;

use weir_units::TimeDelta;

use crate::time::Time;

/// Reason for which a description is no valid link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A time is negative that must not be.
    Negative {
        /// Name of the parameter.
        name: &'static str,
    },
    /// The loss probability is not in [0, 1].
    LossOutOfRange,
    /// A mean burst of losses is shorter than one packet, or so short that the mean loss cannot be reached.
    LossBurstTooShort,
    /// A number is out of its range.
    OutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// The valid range.
        must: &'static str,
    },
    /// The trace of jitter has no delay.
    EmptyJitterTrace,
    /// A token bucket that packets of full size can never pass.
    BurstBelowMtu,
    /// The link never has a rate.
    NoRate,
    /// The first rate step does not begin at time zero, or there is none.
    StepsNotFromZero,
    /// A rate step does not begin later than the one before it.
    StepsNotIncreasing {
        /// Time at which the step begins.
        at: Time,
    },
    /// A change of a link does not happen later than the one before it.
    ChangesNotIncreasing {
        /// Time of the change.
        at: Time,
    },
    /// The trace has no delivery opportunity.
    EmptyTrace,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative { name } => write!(f, "the {name} must not be negative"),
            Self::LossOutOfRange => f.write_str("the loss probability must lie between 0 and 1"),
            Self::LossBurstTooShort => f.write_str(
                "the mean burst of losses must be at least 1 packet, and long enough for the mean loss",
            ),
            Self::OutOfRange { name, must } => write!(f, "the {name} must be {must}"),
            Self::EmptyJitterTrace => f.write_str("the jitter trace has no delay"),
            Self::BurstBelowMtu => f.write_str("the token bucket must hold a packet of 1500 bytes"),
            Self::NoRate => f.write_str("the link needs a rate above zero"),
            Self::StepsNotFromZero => f.write_str("the first rate step must begin at time 0"),
            Self::StepsNotIncreasing { at } => {
                write!(
                    f,
                    "rate steps must be in order of time: the step at {at} is not later than the one before"
                )
            }
            Self::ChangesNotIncreasing { at } => {
                write!(
                    f,
                    "changes must be in order of time: the change at {at} is not later than the one before"
                )
            }
            Self::EmptyTrace => f.write_str("the trace has no delivery opportunity"),
        }
    }
}

impl core::error::Error for ConfigError {}

pub(crate) fn not_negative(name: &'static str, span: Option<TimeDelta>) -> Result<(), ConfigError> {
    if span.is_some_and(TimeDelta::is_negative) { Err(ConfigError::Negative { name }) } else { Ok(()) }
}
