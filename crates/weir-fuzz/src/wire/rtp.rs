//! RTP packets and the media header.

use weir_wire::rtp::{Extension, RtpHeader, demux, write_padding};
use weir_wire::seq::Unwrapper;
use weir_wire::{AbsSendTime, AbsSendTimeUnwrapper, ExtensionIds, MediaHeader, RtpPacket};

use super::answered;
use crate::input::Input;

pub(crate) fn run(data: &[u8]) {
    let _kind = demux(data);
    let Some(packet) = answered(data, RtpPacket::parse(data)) else { return };
    assert_eq!(packet.header_len() + packet.payload.len() + usize::from(packet.padding), data.len());
    write_again(&packet);
    check_unwrapping(packet.payload);
    let ids = [1, 2, 3, 4].map(|id| data.get(id).map_or(id as u8, |byte| byte % 14 + 1));
    for ids in [Some(ExtensionIds::default()), ExtensionIds::new(ids[0], ids[1], ids[2], ids[3]).ok()] {
        let Some(ids) = ids else { continue };
        let Some(header) = answered(data, MediaHeader::from_packet(&packet, &ids)) else { continue };
        let mut buffer = [0xEE; 64];
        let length = header.write(&ids, &mut buffer).expect("a media header has 32 bytes at most");
        assert_eq!(length, header.wire_len());
        let again = MediaHeader::parse(&buffer[..length], &ids).expect("what was written can be read");
        assert_eq!(again, header);
        assert!(header.write(&ids, &mut buffer[..length - 1]).is_err());
    }
}

/// Writes the parsed packet, parses the result, and checks that all fields, extensions and the payload are the same.
fn write_again(packet: &RtpPacket<'_>) {
    let csrcs: Vec<u32> = packet.csrcs().collect();
    let extensions: Vec<Extension<'_>> = packet.extensions().collect();
    let header = RtpHeader {
        padding: packet.padding > 0,
        marker: packet.marker,
        payload_type: packet.payload_type,
        sequence: packet.sequence,
        timestamp: packet.timestamp,
        ssrc: packet.ssrc,
        csrcs: &csrcs,
        extensions: &extensions,
    };
    let mut buffer = vec![0; header.wire_len()];
    // Elements that are longer in the two-byte form may no longer fit into a block.
    let Ok(length) = header.write(&mut buffer) else { return };
    assert_eq!(length, buffer.len());
    buffer.extend_from_slice(packet.payload);
    let end = buffer.len();
    buffer.resize(end + usize::from(packet.padding), 0);
    write_padding(&mut buffer[end..]).expect("padding that a byte counts");
    let again = RtpPacket::parse(&buffer).expect("what was written can be read");
    assert!(again.csrcs().eq(csrcs.iter().copied()));
    assert!(again.extensions().eq(extensions.iter().copied()), "{extensions:?}");
    assert_eq!((again.payload, again.padding), (packet.payload, packet.padding));
    let fixed = |packet: &RtpPacket<'_>| {
        (packet.marker, packet.payload_type, packet.sequence, packet.timestamp, packet.ssrc)
    };
    assert_eq!(fixed(&again), fixed(packet));
    for Extension { id, data } in &extensions {
        let first = extensions.iter().find(|extension| extension.id == *id).map(|first| first.data);
        assert_eq!(packet.extension(*id), first, "{data:?}");
    }
}

/// Unwraps sequence numbers and send times taken from the payload. Each result keeps the lower bits of its wire value. A
/// time without a clock beside it is within half the range of the wire value of the newest.
fn check_unwrapping(payload: &[u8]) {
    /// Half the range of the 24 bits of abs-send-time, in ns: 32 s.
    const HALF_RANGE_NANOS: u64 = 32_000_000_000;
    let mut input = Input::new(payload);
    let (mut numbers, mut times) = (Unwrapper::new(), AbsSendTimeUnwrapper::new());
    let mut newest = 0_i64;
    while !input.is_empty() {
        let number = input.u16();
        assert_eq!(numbers.unwrap(number) as u16, number);
        let time = AbsSendTime::from_ticks(input.u32() & 0xFF_FFFF);
        if input.seldom(4) {
            newest = newest.max(times.unwrap_after(time, input.u64() as i64));
        } else {
            let at = times.unwrap(time);
            assert!(at.abs_diff(newest) <= HALF_RANGE_NANOS, "{at} beside {newest}");
            newest = newest.max(at);
        }
    }
}
