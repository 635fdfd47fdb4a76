//! Errors of an endpoint.

use weir_cc::SendTime;

/// Error of a call of an [`Endpoint`](crate::Endpoint). The call has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointError {
    /// The time of the call is before that of an earlier call.
    TimeWentBack {
        /// Time of the call.
        now: SendTime,
        /// The latest time of an earlier call.
        latest: SendTime,
    },
    /// The endpoint has no such stream.
    UnknownStream,
    /// The endpoint has no such encoder.
    UnknownEncoder,
    /// The source identifier belongs to another stream of the endpoint.
    SourceTaken {
        /// The source identifier.
        ssrc: u32,
    },
    /// The endpoint is paused, by the application or by a circuit breaker.
    Paused,
    /// As many packets wait as [`EndpointConfig::most_packets`](crate::EndpointConfig::most_packets) allows.
    QueueFull,
    /// The payload is longer than an RTP packet may be.
    PayloadTooLong {
        /// Length in bytes.
        bytes: usize,
    },
    /// The buffer is shorter than the packet.
    BufferTooSmall {
        /// Bytes of the packet.
        needed: usize,
        /// Bytes of the buffer.
        available: usize,
    },
    /// The call needs another [`EndpointConfig::numbering`](crate::EndpointConfig::numbering).
    WrongNumbering,
    /// The given number does not follow the number before it.
    NumberWentBack {
        /// The given number.
        number: u16,
    },
}

impl core::fmt::Display for EndpointError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TimeWentBack { now, latest } => {
                let (now, latest) = (now.nanos(), latest.nanos());
                write!(f, "the time {now} ns is before {latest} ns, the time of an earlier call")
            }
            Self::UnknownStream => f.write_str("the endpoint has no such stream"),
            Self::UnknownEncoder => f.write_str("the endpoint has no such encoder"),
            Self::SourceTaken { ssrc } => write!(f, "another stream has the source identifier {ssrc}"),
            Self::Paused => f.write_str("the endpoint is paused: call `resume` first"),
            Self::QueueFull => f.write_str("the queue is full: more than `most_packets` would wait"),
            Self::PayloadTooLong { bytes } => {
                write!(f, "a payload of {bytes} bytes is longer than {LONGEST_PAYLOAD}, the most of a packet")
            }
            Self::BufferTooSmall { needed, available } => {
                write!(f, "a packet of {needed} bytes does not fit into a buffer of {available}")
            }
            Self::WrongNumbering => f.write_str("the call does not fit `numbering` of the configuration"),
            Self::NumberWentBack { number } => {
                write!(f, "the number {number} does not follow the number before it")
            }
        }
    }
}

impl core::error::Error for EndpointError {}

/// Longest payload of a packet in bytes: the history counts 16 383 bytes with the header.
pub(super) const LONGEST_PAYLOAD: usize = 16_000;
