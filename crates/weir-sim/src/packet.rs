//! Packets as the simulated network carries them.

use weir_cc::Ecn;
use weir_net::Time;
use weir_units::DataSize;
use weir_wire::media::MediaHeader;
use weir_world::host::packet_meta;
use weir_world::tcp::{Acknowledgement, Segment};
use weir_world::{ConnectionKey, PacketMeta, Side, WireContent, WirePacket};

/// A packet: its content, and its metadata for measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimPacket {
    pub(crate) meta: PacketMeta,
    pub(crate) flow: u32,
    pub(crate) body: Body,
}

/// A packet as links carry it: slot in the pool, next hop in the table of routes, size on the wire and ECN field. The
/// two integers stay in registers: narrow fields that are written one by one and copied together stall the copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    /// Slot, and the hop above it.
    place: u64,
    /// Size, and the ECN field above it.
    load: u64,
}

/// ECN fields in the order of their numbers in a ticket.
const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];

impl Ticket {
    #[inline]
    pub(crate) fn new(slot: u32, hop: u32, wire_size: u32, ecn: Ecn) -> Self {
        let place = u64::from(slot) | u64::from(hop) << 32;
        Self { place, load: u64::from(wire_size) | (ecn as u64) << 32 }
    }

    /// The packet's slot in the pool.
    #[inline]
    pub(crate) fn slot(self) -> u32 {
        self.place as u32
    }

    /// Index of its next hop in the table of routes.
    #[inline]
    pub(crate) fn hop(self) -> u32 {
        (self.place >> 32) as u32
    }

    /// The ticket for the hop after this one.
    #[inline]
    pub(crate) fn onwards(self) -> Self {
        Self { place: self.place + (1 << 32), ..self }
    }

    #[inline]
    pub(crate) fn ecn(self) -> Ecn {
        ECN[(self.load >> 32) as usize & 3]
    }
}

impl weir_net::Packet for Ticket {
    #[inline]
    fn wire_size(&self) -> u32 {
        self.load as u32
    }

    #[inline]
    fn is_ecn_capable(&self) -> bool {
        self.ecn() != Ecn::NotEct
    }

    #[inline]
    fn mark_ce(&mut self) {
        self.load |= (Ecn::Ce as u64) << 32;
    }

    #[inline]
    fn is_l4s(&self) -> bool {
        matches!(self.ecn(), Ecn::Ect1 | Ecn::Ce)
    }

    /// The hop identifies the flow and direction of a packet at one link, as no other flow uses it.
    #[inline]
    fn flow(&self) -> u32 {
        self.hop()
    }
}

/// All packets in flight. The slot of a packet is reused once the packet has been delivered or dropped.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    packets: Vec<SimPacket>,
    free: Vec<u32>,
}

impl PacketPool {
    /// Inlined, so that the packet's fields go from registers to their place in the pool. A copy right after single
    /// writes would wait for the last of them.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see above")]
    pub(crate) fn insert(&mut self, packet: SimPacket) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        self.packets[slot as usize] = packet;
        slot
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        self.packets.push(SimPacket {
            meta: packet_meta(Time::ZERO, 0, 0, false),
            flow: 0,
            body: Body::Constant,
        });
        self.packets.len() as u32 - 1
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut SimPacket {
        &mut self.packets[slot as usize]
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &SimPacket {
        &self.packets[slot as usize]
    }

    /// Removes a packet from the pool; it may be read until the next one is inserted.
    #[inline]
    pub(crate) fn release(&mut self, slot: u32) -> &SimPacket {
        self.free.push(slot);
        &self.packets[slot as usize]
    }

    /// Removes a packet from the pool, with the ECN field it arrives with.
    #[inline]
    pub(crate) fn take(&mut self, slot: u32, arrived: Ecn) -> SimPacket {
        // Reading a field of the pool right after a write to its neighbours would stall.
        let mut packet = *self.release(slot);
        match &mut packet.body {
            Body::Media { ecn, .. } => *ecn = arrived,
            Body::Segment(_, segment) => segment.ecn = arrived,
            Body::Constant | Body::Rtcp { .. } | Body::Acknowledgement(..) | Body::Request(..) => {}
        }
        packet
    }
}

/// Content of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// Unresponsive traffic.
    Constant,
    /// A media packet with `payload` bytes behind its header; in flight its ECN field is in the ticket.
    Media { header: MediaHeader, payload: u16, ecn: Ecn },
    /// RTCP bytes in a slot of the pool.
    Rtcp { slot: u32 },
    /// TCP data; in flight its ECN field is in the ticket.
    Segment(ConnectionKey, Segment),
    /// A TCP acknowledgement.
    Acknowledgement(ConnectionKey, Acknowledgement),
    /// A client's request for a response of this size.
    Request(ConnectionKey, DataSize),
}

impl Body {
    fn key(&self) -> ConnectionKey {
        match self {
            Self::Segment(key, _) | Self::Acknowledgement(key, _) | Self::Request(key, _) => *key,
            Self::Constant | Self::Media { .. } | Self::Rtcp { .. } => ConnectionKey::default(),
        }
    }

    /// The ECN field it leaves with.
    pub(crate) fn ecn(&self) -> Ecn {
        match self {
            Self::Media { ecn, .. } => *ecn,
            Self::Segment(_, segment) => segment.ecn,
            Self::Constant | Self::Rtcp { .. } | Self::Acknowledgement(..) | Self::Request(..) => Ecn::NotEct,
        }
    }
}

impl SimPacket {
    /// The packet as observed at a link. `from` is the end that sent it, `ecn` its present ECN field.
    pub(crate) fn on_wire<'a>(&'a self, from: Side, ecn: Ecn, rtcp: &'a RtcpPool) -> WirePacket<'a> {
        let Self { meta, flow, body } = self;
        let content = match body {
            Body::Constant => WireContent::Constant,
            Body::Media { header, .. } => WireContent::Media(header),
            Body::Rtcp { slot } => WireContent::Rtcp(rtcp.bytes(*slot)),
            Body::Segment(_, segment) => WireContent::Segment(segment),
            Body::Acknowledgement(_, ack) => WireContent::Acknowledgement(ack),
            Body::Request(..) => WireContent::Request,
        };
        let (flow, sent_at, wire_size) = (*flow as usize, meta.sent_at, meta.wire_size);
        WirePacket { flow, from, sent_at, wire_size, ecn, key: body.key(), content }
    }
}

/// Largest RTCP packet that is sent: 1500 bytes without the headers of UDP over IPv4.
pub(crate) const RTCP_CAPACITY: usize = 1500 - weir_wire::media::UDP_IPV4_OVERHEAD;

/// Size of the short slots in bytes, enough for nearly all reports.
const SHORT_SIZE: usize = 128;
/// The bit in a slot's number that marks a slot for long packets.
const LONG_BIT: u32 = 1 << 31;

/// RTCP packets in flight. Each is written into one buffer, and then stored in a short or a long slot.
#[derive(Debug)]
pub(crate) struct RtcpPool {
    buffer: Box<[u8]>,
    short: Slots<SHORT_SIZE>,
    long: Slots<RTCP_CAPACITY>,
}

impl Default for RtcpPool {
    fn default() -> Self {
        let buffer = vec![0; RTCP_CAPACITY].into_boxed_slice();
        Self { buffer, short: Slots::default(), long: Slots::default() }
    }
}

impl RtcpPool {
    /// Buffer for an RTCP packet, which [`Self::store`] then stores.
    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// Stores the first `length` bytes of the buffer, an RTCP packet, in a slot; returns the slot.
    pub(crate) fn store(&mut self, length: usize) -> u32 {
        let bytes = &self.buffer[..length];
        if length <= SHORT_SIZE { self.short.store(bytes) } else { self.long.store(bytes) | LONG_BIT }
    }

    pub(crate) fn bytes(&self, slot: u32) -> &[u8] {
        if slot & LONG_BIT == 0 { self.short.bytes(slot) } else { self.long.bytes(slot ^ LONG_BIT) }
    }

    pub(crate) fn release(&mut self, slot: u32) {
        if slot & LONG_BIT == 0 { self.short.free.push(slot) } else { self.long.free.push(slot ^ LONG_BIT) }
    }
}

/// Slots of `BYTES` bytes each. A free slot is reused.
#[derive(Debug, Default)]
struct Slots<const BYTES: usize> {
    slots: Vec<([u8; BYTES], u16)>,
    free: Vec<u32>,
}

impl<const BYTES: usize> Slots<BYTES> {
    fn store(&mut self, bytes: &[u8]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(([0; BYTES], 0));
            self.slots.len() as u32 - 1
        });
        let (place, length) = &mut self.slots[slot as usize];
        place[..bytes.len()].copy_from_slice(bytes);
        *length = bytes.len() as u16;
        slot
    }

    fn bytes(&self, slot: u32) -> &[u8] {
        let (bytes, length) = &self.slots[slot as usize];
        &bytes[..usize::from(*length)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_made_where_it_is_understood_and_arrives_with_the_packet() {
        use weir_net::Packet;
        let mut ticket = Ticket::new(7, 3, 1, Ecn::Ect1);
        assert!(ticket.is_ecn_capable() && !Ticket::new(7, 3, 1, Ecn::NotEct).is_ecn_capable());
        ticket.mark_ce();
        let ticket = ticket.onwards();
        assert_eq!((ticket.slot(), ticket.hop(), ticket.wire_size(), ticket.ecn()), (7, 4, 1, Ecn::Ce));
        for (number, ecn) in ECN.into_iter().enumerate() {
            assert_eq!((ecn as usize, Ticket::new(0, 0, u32::MAX, ecn).ecn()), (number, ecn));
        }
        let meta = packet_meta(Time::ZERO, 1, 1, false);
        let media = Body::Media { header: MediaHeader::default(), payload: 1, ecn: Ecn::Ect1 };
        let packet = SimPacket { meta, flow: 0, body: media };
        assert_eq!(packet.body.ecn(), Ecn::Ect1);
        let mut pool = PacketPool::default();
        let slot = pool.insert(packet);
        assert_eq!(pool.take(slot, Ecn::Ce).body.ecn(), Ecn::Ce);
        let slot = pool.insert(SimPacket { body: Body::Constant, ..packet });
        assert_eq!(pool.take(slot, Ecn::Ce).body.ecn(), Ecn::NotEct);
    }

    #[test]
    fn packets_stay_small_values() {
        assert!(size_of::<SimPacket>() <= 88, "{}", size_of::<SimPacket>());
        assert_eq!(size_of::<Ticket>(), 16);
    }

    #[test]
    fn packets_leave_the_pool_once() {
        let mut pool = PacketPool::default();
        let packet = |flow| {
            let meta = packet_meta(Time::ZERO, 1, 1, false);
            SimPacket { meta, flow, body: Body::Constant }
        };
        let (first, second) = (pool.insert(packet(1)), pool.insert(packet(2)));
        assert_eq!((pool.take(first, Ecn::NotEct).flow, pool.get_mut(second).flow), (1, 2));
        assert_eq!(pool.insert(packet(3)), first);
        assert_eq!(pool.packets.len(), 2);
    }

    #[test]
    fn slots_are_used_again() {
        let mut pool = RtcpPool::default();
        let store = |pool: &mut RtcpPool, byte, length| {
            pool.buffer()[0] = byte;
            pool.store(length)
        };
        let (first, second) = (store(&mut pool, 1, 1), store(&mut pool, 2, 1));
        let (long, short) = (store(&mut pool, 3, SHORT_SIZE + 1), store(&mut pool, 4, SHORT_SIZE));
        assert_eq!((pool.bytes(first), pool.bytes(second)), (&[1][..], &[2][..]));
        assert_eq!((pool.bytes(long).len(), pool.bytes(long)[0]), (SHORT_SIZE + 1, 3));
        assert_eq!((pool.bytes(short).len(), pool.bytes(short)[0]), (SHORT_SIZE, 4));
        pool.release(first);
        pool.release(long);
        assert_eq!((store(&mut pool, 5, 1), store(&mut pool, 6, 1000)), (first, long));
        assert_eq!((pool.short.slots.len(), pool.long.slots.len()), (3, 1));
    }
}
