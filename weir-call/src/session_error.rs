//! Refusals of a call's inputs.

use std::fmt;
use std::net::SocketAddr;

use weir_registry::RegistryError;

use crate::path::PathSettingError;

/// A refusal of an input of a call.
#[derive(Debug)]
pub enum SessionError {
    /// The text is no offer of a session.
    Offer,
    /// The offer has no video that a call can send.
    NoVideo,
    /// The address of the socket cannot be one of ICE.
    Address(SocketAddr),
    /// The controller cannot be built.
    Controller(RegistryError),
    /// A setting of the path is out of its range.
    Path(PathSettingError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offer => f.write_str("the offer is no session description"),
            Self::NoVideo => f.write_str(
                "the offer must ask for video in VP8 with transport-wide feedback, and receive it",
            ),
            Self::Address(address) => {
                write!(
                    f,
                    "{} cannot be the address of a call; name one that the browser can reach",
                    address.ip()
                )
            }
            Self::Controller(error) => error.fmt(f),
            Self::Path(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<PathSettingError> for SessionError {
    fn from(error: PathSettingError) -> Self {
        Self::Path(error)
    }
}
