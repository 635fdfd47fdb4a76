//! Bytes that come from the network.

mod feedback;
mod rtcp;
mod rtp;
mod tcp_in_udp;

pub(crate) use feedback::run as feedback;
pub(crate) use rtcp::run as rtcp;
pub(crate) use rtp::run as rtp;
pub(crate) use tcp_in_udp::run as tcp_in_udp;

use core::fmt::Debug;

/// The value of `read`, the result of parsing all of `bytes`. For an error it checks that the offset lies within `bytes`
/// or at their end, and that the message is not empty.
fn answered<T: Debug>(bytes: &[u8], read: Result<T, weir_wire::ParseError>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error:?} in {} bytes", bytes.len());
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
