//! Errors of a receiving endpoint.

use core::fmt;

use weir_cc::ArrivalTime;
use weir_units::TimeDelta;
use weir_wire::ParseError;

/// A configuration that a receiving endpoint cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigRefusal {
    /// An ID of a header extension that is 0, or that two extensions have.
    ExtensionId(u8),
    /// A mean time between receiver reports that is not positive.
    RtcpInterval(TimeDelta),
    /// A spread of the report intervals outside of [0, 1).
    RtcpSpread,
    /// A clock rate of zero.
    ClockRate,
    /// A source identifier that a stream has already.
    SourceTaken(u32),
    /// A payload type above 127.
    PayloadType(u8),
    /// Key frame requests by frame markings without the extension.
    FrameMarking,
}

impl fmt::Display for ConfigRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ExtensionId(id) => {
                write!(f, "extension ID {id} is 0 or used twice, IDs must be distinct and within 1 to 255")
            }
            Self::RtcpInterval(interval) => {
                write!(f, "the mean time between receiver reports is {interval:?}, it must be more than zero")
            }
            Self::RtcpSpread => f.write_str("the spread of report intervals must be within 0 and below 1"),
            Self::ClockRate => f.write_str("the clock rate of a stream must be more than zero"),
            Self::SourceTaken(ssrc) => write!(f, "a stream has the source identifier {ssrc} already"),
            Self::PayloadType(found) => {
                write!(f, "payload type {found} of retransmissions, it must be within 0 to 127")
            }
            Self::FrameMarking => f.write_str(
                "key frame requests by frame markings need the ID of that extension in the endpoint's configuration",
            ),
        }
    }
}

impl core::error::Error for ConfigRefusal {}

/// A call that a receiving endpoint refuses. It has no effect beside a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReceivingError {
    /// The bytes are malformed.
    Malformed(ParseError),
    /// RTCP in the place of an RTP packet (RFC 5761 §4).
    RtcpPacket,
    /// A time that runs back: it is before that of an earlier call.
    TimeWentBack {
        /// The time given.
        now: ArrivalTime,
        /// The latest time before.
        latest: ArrivalTime,
    },
    /// [`ArrivalTime::MAX`], which means never.
    NoTime,
}

impl From<ParseError> for ReceivingError {
    fn from(error: ParseError) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for ReceivingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::RtcpPacket => f.write_str("an RTCP packet in the place of an RTP packet"),
            Self::NoTime => f.write_str("the time means never, it must be a reading of a clock"),
            Self::TimeWentBack { now, latest } => write!(
                f,
                "the time {} ns is before {} ns of an earlier call, times must not run back",
                now.nanos(),
                latest.nanos()
            ),
        }
    }
}

impl core::error::Error for ReceivingError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Malformed(error) => Some(error),
            _ => None,
        }
    }
}
