//! Messages beside RTP and RTCP, as bytes without their trailer.
//!
//! ```text
//!  0                   1                   2                   3
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                            "Weir"                             |
//! |    version    |     kind      |  body; of a handshake: nonce of the caller (16 bytes), then the rest
//! ```
//!
//! The first byte of RTP and RTCP is 128 to 191 (RFC 7983), so that "W" distinguishes them. A hello has [`HELLO_LENGTH`] bytes; the space
//! behind its terms is zero.

use weir_units::TimeDelta;

use crate::cookie::COOKIE_LENGTH;
use crate::keys::{HandshakeNonce, NONCE_LENGTH};
use crate::offer::{MOST_FLOWS, SessionTerms};
use crate::protection::TRAILER_LENGTH;
use crate::wire::{WireReader, put_span, put_text};

pub use crate::wire::PEER_MTU;

/// Largest datagram: a packet of IPv6 without its headers.
pub const LARGEST_DATAGRAM: usize = PEER_MTU - 48;
/// Bytes of a hello with its trailer. No answer is larger.
pub const HELLO_LENGTH: usize = LARGEST_DATAGRAM;
/// Version of these messages.
pub const VERSION: u8 = 1;

const MAGIC: [u8; 4] = *b"Weir";
/// The echo of a status that echoes no other.
const NO_STATUS: u32 = u32::MAX;
/// Bytes of a refusal without a tag.
pub(crate) const BARE_REFUSAL: usize = 6 + NONCE_LENGTH + 1;
/// Longest text of a refusal.
const LONGEST_TEXT: usize = 240;

/// The kind of a message, as its sixth byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// The first message of a caller, and with a cookie the second.
    Hello = 1,
    /// A cookie of the listener.
    Retry = 2,
    /// The listener's consent, with its nonce and its terms.
    Accept = 3,
    /// The listener's refusal.
    Refuse = 4,
    /// Statistics of received flows.
    Status = 5,
    /// The end of a session.
    Bye = 6,
    /// Bytes that the peer sends back, as a proof that it receives at its address.
    Challenge = 7,
    /// The bytes of a challenge.
    Response = 8,
    /// A packet of a flow without congestion control.
    Constant = 9,
}

impl MessageKind {
    const ALL: [Self; 9] = [
        Self::Hello,
        Self::Retry,
        Self::Accept,
        Self::Refuse,
        Self::Status,
        Self::Bye,
        Self::Challenge,
        Self::Response,
        Self::Constant,
    ];
}

/// The beginning of a message of any version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageHead<'a> {
    pub(crate) version: u8,
    /// The kind, where this version has it.
    pub(crate) kind: Option<MessageKind>,
    pub(crate) body: WireReader<'a>,
}

impl<'a> MessageHead<'a> {
    /// The head of `bytes`; `None` if they are no message.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut body = WireReader::new(bytes);
        body.array().filter(|magic| *magic == MAGIC)?;
        let (version, kind) = (body.u8()?, body.u8()?);
        let kind = MessageKind::ALL.into_iter().find(|known| *known as u8 == kind);
        Some(Self { version, kind, body })
    }

    /// The body of a message of this version and of the kind `kind`.
    pub(crate) fn of(self, kind: MessageKind) -> Option<WireReader<'a>> {
        (self.version == VERSION && self.kind == Some(kind)).then_some(self.body)
    }
}

/// Begins a message in `out`.
pub(crate) fn begin(out: &mut Vec<u8>, kind: MessageKind) {
    out.clear();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, kind as u8]);
}

/// A hello of this version.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HelloMessage {
    pub(crate) nonce: HandshakeNonce,
    /// A cookie of the listener, and the caller's terms.
    pub(crate) proof: Option<([u8; COOKIE_LENGTH], SessionTerms)>,
}

impl HelloMessage {
    /// Writes the message. Terms that are too long are cut, and not readable then.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        begin(out, MessageKind::Hello);
        out.extend_from_slice(&self.nonce);
        out.push(u8::from(self.proof.is_some()));
        if let Some((cookie, terms)) = &self.proof {
            out.extend_from_slice(cookie);
            terms.write(out);
        }
        out.resize(HELLO_LENGTH - TRAILER_LENGTH, 0);
    }

    pub(crate) fn read(mut body: WireReader<'_>) -> Option<Self> {
        let nonce = body.array()?;
        let proof = match body.u8()? {
            0 => None,
            1 => Some((body.array()?, SessionTerms::read(&mut body)?)),
            _ => return None,
        };
        Some(Self { nonce, proof })
    }
}

/// Whether the terms fit into a hello.
pub fn fits_hello(terms: &SessionTerms) -> bool {
    let mut bytes = Vec::new();
    terms.write(&mut bytes);
    bytes.len() + 6 + 16 + 1 + COOKIE_LENGTH + TRAILER_LENGTH <= HELLO_LENGTH
}

/// A reason why a listener refuses a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallRefusal {
    /// The listener has another version.
    #[error(
        "it speaks version {0} of the protocol, and this is version {VERSION}; use the same release at both ends"
    )]
    Version(u8),
    /// The listener does not know the key.
    #[error("the keys of the two ends differ; give both the same --key FILE")]
    Key,
    /// The listener has a session with another caller.
    #[error("it is busy with another caller; wait, or use another port")]
    Busy,
    /// The terms do not fit.
    #[error("it refuses: {0}")]
    Terms(String),
}

impl CallRefusal {
    pub(crate) fn write(&self, nonce: &HandshakeNonce, out: &mut Vec<u8>) {
        begin(out, MessageKind::Refuse);
        out.extend_from_slice(nonce);
        match self {
            Self::Version(_) => out.push(0),
            Self::Key => out.push(1),
            Self::Busy => out.push(2),
            Self::Terms(text) => {
                out.push(3);
                let end = (0..=text.len().min(LONGEST_TEXT)).rfind(|&end| text.is_char_boundary(end));
                put_text(out, &text[..end.unwrap_or(0)]);
            }
        }
    }

    /// The refusal behind the nonce, in a message of this version.
    pub(crate) fn read(body: &mut WireReader<'_>) -> Option<Self> {
        match body.u8()? {
            0 => Some(Self::Version(VERSION)),
            1 => Some(Self::Key),
            2 => Some(Self::Busy),
            3 => body.text(LONGEST_TEXT).map(|text| Self::Terms(text.to_owned())),
            _ => None,
        }
    }
}

/// A reason for the end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByeReason {
    /// All was sent.
    Done,
    /// The user ended it.
    Interrupted,
    /// The receiver's ceiling of duration is reached.
    Duration,
    /// The sender does not keep to the receiver's ceiling of rate.
    Rate,
    /// The terms do not fit.
    Terms,
}

impl ByeReason {
    const ALL: [Self; 5] = [Self::Done, Self::Interrupted, Self::Duration, Self::Rate, Self::Terms];

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        begin(out, MessageKind::Bye);
        out.push(self as u8);
    }

    pub(crate) fn read(mut body: WireReader<'_>) -> Option<Self> {
        let code = body.u8()?;
        Self::ALL.into_iter().find(|reason| *reason as u8 == code)
    }
}

/// Statistics of a received flow since the start of its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivedFigures {
    /// Packets.
    pub packets: u64,
    /// Their bytes, headers of IP and UDP and trailers included.
    pub bytes: u64,
    /// Payload bytes of media.
    pub payload: u64,
    /// Packets that were sent before the newest one and have not come.
    pub lost: u64,
    /// Packets marked with "congestion experienced".
    pub marked: u64,
    /// One-way delay above the base: mean of the last interval.
    pub delay_now: TimeDelta,
    /// Its median.
    pub delay_p50: TimeDelta,
    /// Its 95th percentile.
    pub delay_p95: TimeDelta,
}

impl ReceivedFigures {
    /// The counters of both together, with the delays of `later`.
    pub(crate) fn and(self, later: &Self) -> Self {
        Self {
            packets: self.packets.saturating_add(later.packets),
            bytes: self.bytes.saturating_add(later.bytes),
            payload: self.payload.saturating_add(later.payload),
            lost: self.lost.saturating_add(later.lost),
            marked: self.marked.saturating_add(later.marked),
            ..*later
        }
    }
}

/// Statistics of all received flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusMessage {
    /// Its number, from zero.
    pub(crate) number: u32,
    /// Number of the peer's latest status, and time since its arrival.
    pub(crate) echo: Option<(u32, TimeDelta)>,
    /// Flows by their index in the session.
    pub(crate) flows: Vec<(u8, ReceivedFigures)>,
}

impl StatusMessage {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        begin(out, MessageKind::Status);
        out.extend_from_slice(&self.number.to_be_bytes());
        let (number, held) = self.echo.unwrap_or((NO_STATUS, TimeDelta::ZERO));
        out.extend_from_slice(&number.to_be_bytes());
        put_span(out, held);
        out.push(self.flows.len() as u8);
        for (flow, figures) in &self.flows {
            let ReceivedFigures { packets, bytes, payload, lost, marked, delay_now, delay_p50, delay_p95 } =
                figures;
            out.push(*flow);
            for number in [packets, bytes, payload, lost, marked] {
                out.extend_from_slice(&number.to_be_bytes());
            }
            for delay in [delay_now, delay_p50, delay_p95] {
                put_span(out, *delay);
            }
        }
    }

    pub(crate) fn read(mut body: WireReader<'_>) -> Option<Self> {
        let number = body.u32()?;
        let echo = (body.u32()?, body.span()?);
        let count = usize::from(body.u8()?);
        if count > MOST_FLOWS {
            return None;
        }
        let flow = |_| {
            let flow = body.u8()?;
            let figures = ReceivedFigures {
                packets: body.u64()?,
                bytes: body.u64()?,
                payload: body.u64()?,
                lost: body.u64()?,
                marked: body.u64()?,
                delay_now: body.span()?,
                delay_p50: body.span()?,
                delay_p95: body.span()?,
            };
            Some((flow, figures))
        };
        let flows = (0..count).map(flow).collect::<Option<_>>()?;
        Some(Self { number, echo: Some(echo).filter(|(number, _)| *number != NO_STATUS), flows })
    }
}

/// A packet of a flow without congestion control: head, flow, number, and departure as abs-send-time; zeros follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConstantMessage {
    pub(crate) flow: u8,
    pub(crate) number: u16,
    /// Departure in the ticks of abs-send-time.
    pub(crate) departure: u32,
}

impl ConstantMessage {
    /// Bytes of the message without zeros.
    pub(crate) const LENGTH: usize = 6 + 1 + 2 + 4;

    /// Writes the message with zeros up to `length`.
    pub(crate) fn write(self, length: usize, out: &mut Vec<u8>) {
        begin(out, MessageKind::Constant);
        out.push(self.flow);
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(&self.departure.to_be_bytes());
        out.resize(length.max(out.len()), 0);
    }

    pub(crate) fn read(mut body: WireReader<'_>) -> Option<Self> {
        Some(Self { flow: body.u8()?, number: body.u16()?, departure: body.u32()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer::tests::gcc;

    fn body(bytes: &[u8], kind: MessageKind) -> WireReader<'_> {
        MessageHead::read(bytes).and_then(|head| head.of(kind)).expect("a message of this kind")
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let mut out = Vec::new();
        let terms =
            SessionTerms { flows: vec![gcc(50, 300, 2500)], receives: true, ..SessionTerms::default() };
        for proof in [None, Some(([5; COOKIE_LENGTH], terms))] {
            let hello = HelloMessage { nonce: [3; 16], proof };
            hello.write(&mut out);
            assert_eq!(out.len(), HELLO_LENGTH - TRAILER_LENGTH);
            assert_eq!(HelloMessage::read(body(&out, MessageKind::Hello)), Some(hello));
        }
        for refusal in [
            CallRefusal::Key,
            CallRefusal::Busy,
            CallRefusal::Terms("no".to_owned()),
            CallRefusal::Version(VERSION),
        ] {
            refusal.write(&[3; 16], &mut out);
            let mut body = body(&out, MessageKind::Refuse);
            assert_eq!(body.array(), Some([3; 16]));
            assert_eq!(CallRefusal::read(&mut body), Some(refusal));
        }
        for reason in ByeReason::ALL {
            reason.write(&mut out);
            assert_eq!(ByeReason::read(body(&out, MessageKind::Bye)), Some(reason));
        }
        let figures = ReceivedFigures {
            packets: 1,
            bytes: 2,
            payload: 3,
            lost: 4,
            marked: 5,
            delay_now: TimeDelta::from_millis(6),
            delay_p50: TimeDelta::from_millis(7),
            delay_p95: TimeDelta::from_millis(8),
        };
        let echo = Some((3, TimeDelta::from_millis(4)));
        let status =
            StatusMessage { number: 9, echo, flows: vec![(0, figures), (7, ReceivedFigures::default())] };
        status.write(&mut out);
        assert_eq!(StatusMessage::read(body(&out, MessageKind::Status)), Some(status));
        let constant = ConstantMessage { flow: 2, number: 65_535, departure: 0xFF_FFFF };
        constant.write(100, &mut out);
        assert_eq!(
            (out.len(), ConstantMessage::read(body(&out, MessageKind::Constant))),
            (100, Some(constant))
        );
    }

    #[test]
    fn the_first_byte_distinguishes_messages_from_rtp() {
        for first in 128..=191 {
            assert!(MessageHead::read(&[first, b'e', b'i', b'r', VERSION, 1, 0]).is_none());
        }
        assert!(MessageHead::read(b"Weir").is_none());
        let newer = MessageHead::read(b"Weir\x02\x63").unwrap();
        assert_eq!((newer.version, newer.kind), (2, None));
    }

    #[test]
    fn the_longest_status_and_refusal_fit_into_a_datagram() {
        let mut out = Vec::new();
        StatusMessage {
            flows: vec![(0, ReceivedFigures::default()); MOST_FLOWS],
            ..StatusMessage::default()
        }
        .write(&mut out);
        assert!(out.len() + TRAILER_LENGTH <= LARGEST_DATAGRAM, "{}", out.len());
        CallRefusal::Terms("ä".repeat(500)).write(&[0; 16], &mut out);
        assert!(out.len() + TRAILER_LENGTH < HELLO_LENGTH, "{}", out.len());
    }

    #[test]
    fn eight_usual_flows_fit_into_a_hello() {
        assert!(fits_hello(&SessionTerms {
            flows: vec![gcc(50, 300, 2500); MOST_FLOWS],
            ..SessionTerms::default()
        }));
    }
}
