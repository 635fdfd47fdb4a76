//! RTCP (RFC 3550 §6): iteration over the packets of a datagram, and the messages in them.
//!
//! ```
//! # let datagram = [0x80, 201, 0, 1, 0, 0, 0, 7];
//! use weir_wire::rtcp::{self, Message};
//!
//! for message in rtcp::messages(&datagram) {
//!     match message {
//!         Ok(Message::ReceiverReport(report)) => assert_eq!(report.ssrc, 7),
//!         Ok(_) => {}
//!         Err(error) => eprintln!("{error}"),
//!     }
//! }
//! ```

mod ccfb;
mod compound;
mod dccc;
mod nack;
mod nada;
mod nada_delay;
mod own;
mod pli;
mod remb;
mod report;
mod sbd;
mod tfrc;
mod twcc;

pub use ccfb::{Blocks, Ccfb, CcfbBlock, CcfbWriter, MetricBlock, Metrics};
pub use compound::{Compound, RtcpPacket, compound};
pub use dccc::DcccFeedback;
pub use nack::Nack;
pub use nada::NadaFeedback;
pub use nada_delay::NadaDelay;
pub use own::ControllerReport;
pub use pli::Pli;
pub use remb::Remb;
pub use report::{ReceiverReport, ReportBlock, SenderInfo, SenderReport, fraction_lost};
pub use sbd::Sbd;
pub use tfrc::TfrcFeedback;
pub use twcc::{PacketStatus, Statuses, Twcc, TwccHeader, WrittenSize};

/// Whether a datagram of a session that multiplexes RTP and RTCP on one port is RTCP (RFC 5761 §4).
pub const fn is_rtcp(datagram: &[u8]) -> bool {
    datagram.len() > 1 && matches!(datagram[1], 192..=223)
}

use crate::error::ParseError;

/// Packet type of a sender report.
pub const SENDER_REPORT: u8 = 200;
/// Packet type of a receiver report.
pub const RECEIVER_REPORT: u8 = 201;
/// Packet type of a message defined by an application (APP).
pub const APPLICATION: u8 = 204;
/// Packet type of transport-layer feedback (RFC 4585 §6.1).
pub const TRANSPORT_FEEDBACK: u8 = 205;
/// Packet type of payload-specific feedback (RFC 4585 §6.1).
pub const PAYLOAD_FEEDBACK: u8 = 206;
/// Feedback message type of application-layer feedback (RFC 4585 §6.4), which REMB is.
pub const APPLICATION_FEEDBACK: u8 = 15;

/// A parsed RTCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message<'a> {
    /// SR.
    SenderReport(SenderReport<'a>),
    /// RR.
    ReceiverReport(ReceiverReport<'a>),
    /// Receiver estimated maximum bitrate.
    Remb(Remb<'a>),
    /// A picture loss indication: a request for a key frame.
    Pli(Pli),
    /// A generic negative acknowledgement: a request for packets.
    Nack(Nack<'a>),
    /// NADA's report.
    Nada(NadaFeedback),
    /// TFRC's feedback.
    Tfrc(TfrcFeedback),
    /// Transport-wide feedback.
    Twcc(Twcc<'a>),
    /// Congestion control feedback (RFC 8888).
    Ccfb(Ccfb<'a>),
    /// DCCC's feedback.
    Dccc(DcccFeedback),
    /// The report of NADA's first drafts.
    NadaDelay(NadaDelay),
    /// Statistics for shared bottleneck detection.
    Sbd(Sbd),
    /// A report of another controller, with a name of its own.
    Own(ControllerReport<'a>),
    /// Any other packet.
    Other(RtcpPacket<'a>),
}

impl<'a> Message<'a> {
    /// Source identifier of the sender; zero for packets of unknown types.
    pub fn ssrc(&self) -> u32 {
        match self {
            Self::SenderReport(report) => report.ssrc,
            Self::ReceiverReport(report) => report.ssrc,
            Self::Remb(remb) => remb.sender_ssrc,
            Self::Pli(request) => request.ssrc,
            Self::Nack(request) => request.ssrc,
            Self::Nada(report) => report.ssrc,
            Self::Tfrc(report) => report.ssrc,
            Self::Twcc(feedback) => feedback.ssrc,
            Self::Ccfb(feedback) => feedback.ssrc,
            Self::Dccc(report) => report.ssrc,
            Self::NadaDelay(report) => report.ssrc,
            Self::Sbd(report) => report.ssrc,
            Self::Own(report) => report.ssrc,
            Self::Other(_) => 0,
        }
    }

    /// The message in `packet`.
    ///
    /// # Errors
    /// If it is of a type known here and its content does not fit.
    pub fn parse(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        match (packet.packet_type, packet.count) {
            (SENDER_REPORT, _) => SenderReport::parse(packet).map(Self::SenderReport),
            (RECEIVER_REPORT, _) => ReceiverReport::parse(packet).map(Self::ReceiverReport),
            (PAYLOAD_FEEDBACK, APPLICATION_FEEDBACK) => {
                Self::or_other(Remb::parse(packet).map(Self::Remb), packet)
            }
            (PAYLOAD_FEEDBACK, pli::FORMAT) => Pli::parse(packet).map(Self::Pli),
            (APPLICATION, 0) => Self::application(packet),
            (TRANSPORT_FEEDBACK, nack::FORMAT) => Nack::parse(packet).map(Self::Nack),
            (TRANSPORT_FEEDBACK, twcc::FORMAT) => Twcc::parse(packet).map(Self::Twcc),
            (TRANSPORT_FEEDBACK, ccfb::FORMAT) => Ccfb::parse(packet).map(Self::Ccfb),
            (APPLICATION, nada_delay::SUBTYPE) => {
                Self::or_other(NadaDelay::parse(packet).map(Self::NadaDelay), packet)
            }
            (APPLICATION, own::SUBTYPE) => ControllerReport::parse(packet).map(Self::Own),
            _ => Ok(Self::Other(*packet)),
        }
    }

    /// An APP packet by its name: each controller's format is tried.
    fn application(packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        let unknown = |parsed: &Result<Self, ParseError>| matches!(parsed, Err(ParseError::Name { .. }));
        let mut parsed = NadaFeedback::parse(packet).map(Self::Nada);
        if unknown(&parsed) {
            parsed = DcccFeedback::parse(packet).map(Self::Dccc);
        }
        if unknown(&parsed) {
            parsed = TfrcFeedback::parse(packet).map(Self::Tfrc);
        }
        if unknown(&parsed) {
            parsed = Sbd::parse(packet).map(Self::Sbd);
        }
        Self::or_other(parsed, packet)
    }

    /// Another application's name is no error: the packet becomes [`Message::Other`].
    fn or_other(parsed: Result<Self, ParseError>, packet: &RtcpPacket<'a>) -> Result<Self, ParseError> {
        match parsed {
            Err(ParseError::Name { .. }) => Ok(Self::Other(*packet)),
            parsed => parsed,
        }
    }
}

/// The messages of a datagram. An error in a packet's content does not stop the iteration; an error in its header
/// or length ends it.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = Result<Message<'_>, ParseError>> {
    compound(datagram).map(|packet| Message::parse(&packet?))
}

#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn each_packet_of_a_compound_is_understood_by_its_type() {
        let bytes = hex(concat!(
            "80 c8 00 06 0a 0b 0c 0d b4 4d b7 05 20 00 00 00 00 01 5f 90 00 00 00 64 00 01 d4 c0 ",
            "80 c9 00 01 00 00 00 07 ",
            "8f ce 00 04 00 00 00 00 00 00 00 00 52 45 4d 42 00 ff ff ff ",
            "8f ce 00 03 00 00 00 00 00 00 00 00 4f 54 48 52 ",
            "80 cc 00 06 00 00 00 01 4e 41 44 41 80 64 00 05 00 0f 42 40 00 00 07 d0 00 00 00 02 ",
            "80 cc 00 0b 00 00 00 01 44 43 43 43 00 00 00 00 07 1b 4e 30 00 00 00 00 c4 65 36 00 ",
            "00 5b 8d 80 00 16 e3 60 04 00 00 05 00 00 07 d0 00 00 00 02 ",
            "80 cc 00 07 00 00 00 01 54 46 52 43 04 00 00 00 00 0f 42 40 00 00 07 d0 00 05 00 00 00 00 00 02 ",
            "80 cc 00 02 00 00 00 01 4f 54 48 52 ",
            "80 cc 00 08 00 00 00 01 53 42 44 31 01 05 00 07 00 00 00 02 f0 00 19 9a 00 00 21 34 01 48 00 23 ",
            "00 00 9c 40 ",
            "81 cc 00 07 00 00 00 01 4e 41 44 41 00 01 9a 28 00 00 61 a8 00 00 00 05 00 00 07 d0 00 00 00 02 ",
            "82 cc 00 02 00 00 00 01 4e 41 44 41 ",
            "87 cc 00 06 00 00 00 01 4e 41 44 41 00 00 00 02 00 00 07 d0 00 05 00 02 a1 a2 00 00 ",
            "81 cb 00 01 00 00 00 01 ",
            "8f cd 00 04 9a cb 04 42 00 00 00 00 00 00 00 00 00 00 00 00 ",
            "8b cd 00 02 00 00 00 01 00 00 00 01 ",
            "81 cd 00 02 00 00 00 01 00 00 00 01 ",
            "81 ce 00 02 00 00 00 01 00 00 00 01",
        ));
        let kinds: Vec<u8> = messages(&bytes)
            .map(|message| match message.unwrap() {
                Message::SenderReport(_) => b's',
                Message::ReceiverReport(_) => b'r',
                Message::Remb(_) => b'b',
                Message::Pli(_) => b'p',
                Message::Nack(_) => b'N',
                Message::Nada(_) => b'n',
                Message::Dccc(_) => b'd',
                Message::Tfrc(_) => b'f',
                Message::Twcc(_) => b't',
                Message::Ccfb(_) => b'c',
                Message::NadaDelay(_) => b'e',
                Message::Sbd(_) => b'S',
                Message::Own(_) => b'o',
                Message::Other(_) => b'?',
            })
            .collect();
        assert_eq!(kinds, b"srb?ndf?Se?o?tcNp");
    }

    #[test]
    fn a_message_that_does_not_fit_does_not_hide_the_next() {
        // The header announces one report block, and none follows.
        let bytes = hex("81 c9 00 01 00 00 00 07 80 c9 00 01 00 00 00 08");
        let found: Vec<_> = messages(&bytes).collect();
        assert_eq!(found[0], Err(ParseError::TooShort { offset: 8, needed: 24, available: 0 }));
        assert!(matches!(found[1], Ok(Message::ReceiverReport(ReceiverReport { ssrc: 8, .. }))));
        assert_eq!(found.len(), 2);
    }
}
