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
    /// The payload is longer than [`EndpointConfig::most_bytes`](crate::EndpointConfig::most_bytes) allows.
    PayloadTooLong {
        /// Length in bytes.
        bytes: usize,
        /// Most bytes of a payload.
        most: usize,
    },
    /// The embedder's own pacer sends the packets ([`EndpointConfig::foreign_pacer`](crate::EndpointConfig::foreign_pacer)).
    ForeignPacer,
    /// A payload type of the stream is above 127, or its clock has no ticks.
    InvalidStream {
        /// The source identifier.
        ssrc: u32,
    },
    /// [`SendTime::MAX`] is no time of a call.
    NoTime,
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
            Self::PayloadTooLong { bytes, most } => {
                write!(f, "a payload of {bytes} bytes is longer than {most}, the most by `most_bytes`")
            }
            Self::ForeignPacer => {
                f.write_str("packets are not queued with `foreign_pacer`: report them by `on_sent`")
            }
            Self::InvalidStream { ssrc } => {
                write!(f, "stream {ssrc}: a payload type is at most 127, and a clock has ticks")
            }
            Self::NoTime => f.write_str("`SendTime::MAX` is no time"),
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
