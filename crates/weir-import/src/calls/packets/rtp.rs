//! RTP and RTCP in datagrams that may be cut or encrypted.

use weir_wire::rtp::RtpPacket;
use weir_world::recorded::RtpDeparture;

use super::datagram::FileDatagram;
use crate::calls::ExtensionOverrides;

/// Bytes of the RTP header before sources and extensions.
const FIXED_HEADER: usize = 12;

/// An RTP packet of the file, by the part that is clear also in SRTP.
#[derive(Clone, Copy, Debug)]
pub(super) struct RtpRecord {
    pub(super) ssrc: u32,
    pub(super) sequence: u16,
    pub(super) timestamp: u32,
    pub(super) marker: bool,
    pub(super) transport_number: Option<u16>,
    /// Absolute send time in units of 2⁻¹⁸ s.
    pub(super) send_time: Option<u32>,
    header_bytes: u16,
    /// Bytes behind the header.
    pub(super) behind: u32,
    /// Bytes of padding, if the packet is not encrypted.
    padding: u8,
}

impl RtpRecord {
    /// The packet in a datagram of RTP, with the header extensions of these identifiers.
    pub(super) fn read(datagram: &FileDatagram<'_>, ids: ExtensionOverrides) -> Option<Self> {
        let bytes = datagram.bytes;
        let &[first, second, sequence0, sequence1, ref rest @ ..] = bytes else { return None };
        let (time, rest) = rest.split_first_chunk::<4>()?;
        let (ssrc, _) = rest.split_first_chunk::<4>()?;
        let mut header = FIXED_HEADER + 4 * usize::from(first & 0xF);
        if first & 0x10 != 0 {
            let length = bytes.get(header + 2..header + 4)?;
            header += 4 + 4 * usize::from(u16::from_be_bytes([length[0], length[1]]));
        }
        let behind = datagram.length.checked_sub(header as u32)?;
        let captured = bytes.len() as u64 >= u64::from(datagram.length);
        let padding = match bytes.last() {
            Some(&count) if first & 0x20 != 0 && captured && u32::from(count) <= behind => count,
            _ => 0,
        };
        let (mut transport_number, mut send_time) = (None, None);
        if ids != ExtensionOverrides::default() {
            // Without the padding bit, which is about bytes that may be cut or encrypted.
            let mut clear = bytes.get(..header)?.to_vec();
            clear[0] &= !0x20;
            let packet = RtpPacket::parse(&clear).ok()?;
            let content = |id: Option<u8>| packet.extension(id?);
            transport_number = content(ids.transport_sequence)
                .and_then(|number| Some(u16::from_be_bytes(number.try_into().ok()?)));
            send_time = content(ids.abs_send_time).and_then(|stamp| {
                let &[high, middle, low] = stamp else { return None };
                Some(u32::from_be_bytes([0, high, middle, low]))
            });
        }
        Some(Self {
            ssrc: u32::from_be_bytes(*ssrc),
            sequence: u16::from_be_bytes([sequence0, sequence1]),
            timestamp: u32::from_be_bytes(*time),
            marker: second & 0x80 != 0,
            transport_number,
            send_time,
            header_bytes: u16::try_from(header).ok()?,
            behind,
            padding,
        })
    }

    /// The packet as a call has it. Padding of an encrypted packet counts as payload.
    pub(super) fn departure(&self, encrypted: bool) -> RtpDeparture {
        let padding = if encrypted { 0 } else { self.padding };
        RtpDeparture {
            ssrc: self.ssrc,
            sequence: self.sequence,
            timestamp: self.timestamp,
            marker: self.marker,
            transport_number: self.transport_number,
            header_bytes: self.header_bytes,
            payload_bytes: self.behind - u32::from(padding),
            padding_bytes: u16::from(padding),
            probe: None,
        }
    }
}

/// Whether the datagram is RTCP by its first bytes (RFC 5761 §4).
pub(super) const fn is_rtcp(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80..=0xBF, 192..=223, ..])
}

/// Whether RTCP is clear: its packets fill the datagram, each with a known type. SRTCP has other bytes behind the
/// first source.
pub(super) fn is_clear(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let [first, kind, high, low, ..] = *rest {
        let length = 4 + 4 * usize::from(u16::from_be_bytes([high, low]));
        if first >> 6 != 2 || !(192..=223).contains(&kind) || rest.len() < length {
            return false;
        }
        rest = &rest[length..];
    }
    rest.is_empty() && !bytes.is_empty()
}

/// The sender of an RTCP datagram, which is clear also in SRTCP.
pub(super) fn rtcp_sender(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(4..)?.first_chunk()?))
}
