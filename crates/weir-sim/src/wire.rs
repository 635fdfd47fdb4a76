//! Packets as somebody on the way sees them.

use weir_cc::Ecn;
use weir_net::Time;
use weir_wire::media::MediaHeader;

use crate::monitor::Side;
use crate::packet::{Body, RtcpPool, SimPacket, WebPart};
use crate::tcp::{Acknowledgement, Segment};

/// A packet on a link, with all that its headers say.
#[derive(Clone, Copy, Debug)]
pub struct WirePacket<'a> {
    /// Its flow, by its index in the spec.
    pub flow: usize,
    /// The end that sent it.
    pub from: Side,
    /// When it left there.
    pub sent_at: Time,
    /// Bytes on the wire, headers of all layers included.
    pub wire_size: u32,
    /// The ECN field of its IP header, as it is now.
    pub ecn: Ecn,
    /// Which of the flow's clients it belongs to; 0 unless the flow has several.
    pub client: u32,
    /// Which of the client's connections, in the order in which they are opened; 0 unless there are several.
    pub connection: u32,
    /// What it carries.
    pub content: WireContent<'a>,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum WireContent<'a> {
    /// Unresponsive traffic.
    Constant,
    /// RTP: a header before media or padding.
    Media(&'a MediaHeader),
    /// RTCP packets, as bytes.
    Rtcp(&'a [u8]),
    /// A TCP segment.
    Segment(&'a Segment),
    /// A TCP acknowledgement.
    Acknowledgement(&'a Acknowledgement),
    /// A client's request, which is in one packet and no part of a TCP connection.
    Request,
}

impl<'a> WirePacket<'a> {
    /// `packet`, which `from` has sent, with its ECN field as it is by now.
    pub(crate) fn new(packet: &'a SimPacket, from: Side, ecn: Ecn, rtcp: &'a RtcpPool) -> Self {
        let SimPacket { meta, flow, body } = packet;
        let (client, connection, content) = match body {
            Body::Constant => (0, 0, WireContent::Constant),
            Body::Media { header, .. } => (0, 0, WireContent::Media(header)),
            Body::Rtcp { slot } => (0, 0, WireContent::Rtcp(rtcp.bytes(*slot))),
            Body::Segment(segment) => (0, 0, WireContent::Segment(segment)),
            Body::Acknowledgement(ack) => (0, 0, WireContent::Acknowledgement(ack)),
            Body::NumberedSegment { connection, segment } => (0, *connection, WireContent::Segment(segment)),
            Body::NumberedAcknowledgement { connection, ack } => {
                (0, *connection, WireContent::Acknowledgement(ack))
            }
            Body::Web { client, request, part } => (*client, *request, WireContent::of(part)),
        };
        let (flow, sent_at, wire_size) = (*flow as usize, meta.sent_at, meta.wire_size);
        Self { flow, from, sent_at, wire_size, ecn, client, connection, content }
    }
}

impl<'a> WireContent<'a> {
    fn of(part: &'a WebPart) -> Self {
        match part {
            WebPart::Request { .. } => Self::Request,
            WebPart::Segment(segment) => Self::Segment(segment),
            WebPart::Acknowledgement(ack) => Self::Acknowledgement(ack),
        }
    }
}
