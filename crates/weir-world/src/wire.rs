//! Packets as seen on a link.

use weir_cc::Ecn;
use weir_net::Time;
use weir_wire::media::MediaHeader;

use crate::flow::Side;
use crate::tcp::{Acknowledgement, Segment};

/// Connection of a flow that a packet belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionKey {
    /// Number of the client; 0 unless the flow has several.
    pub client: u32,
    /// Number of the client's connection, in the order in which they are opened; 0 unless there are several.
    pub connection: u32,
}

/// A packet on a link, with the content of its headers.
#[derive(Clone, Copy, Debug)]
pub struct WirePacket<'a> {
    /// Its flow, by its index in the spec.
    pub flow: usize,
    /// The end that sent it.
    pub from: Side,
    /// Time at which it left there.
    pub sent_at: Time,
    /// Bytes on the wire, headers of all layers included.
    pub wire_size: u32,
    /// The ECN field of its IP header, as it is now.
    pub ecn: Ecn,
    /// Connection of the flow that it belongs to.
    pub key: ConnectionKey,
    /// Content of the packet.
    pub content: WireContent<'a>,
}

/// Content of a packet.
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
