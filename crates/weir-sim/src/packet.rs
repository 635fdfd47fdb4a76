//! Packets as the simulated network carries them.

use weir_cc::Ecn;
use weir_wire::media::MediaHeader;

use crate::monitor::PacketMeta;
use crate::tcp::{Acknowledgement, Segment};

/// A packet: what it carries, and what is measured of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimPacket {
    pub(crate) meta: PacketMeta,
    pub(crate) flow: u32,
    /// Index of its next hop in the table of routes.
    pub(crate) hop: u32,
    pub(crate) body: Body,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// Unresponsive traffic.
    Constant,
    /// A media packet.
    Media { header: MediaHeader, ecn: Ecn },
    /// RTCP bytes in a slot of the pool.
    Rtcp { slot: u32 },
    /// TCP data.
    Segment(Segment),
    /// A TCP acknowledgement.
    Acknowledgement(Acknowledgement),
}

impl weir_net::Packet for SimPacket {
    fn wire_size(&self) -> u32 {
        self.meta.wire_size
    }

    fn mark_ce(&mut self) -> bool {
        match &mut self.body {
            Body::Media { ecn, .. } if *ecn != Ecn::NotEct => {
                *ecn = Ecn::Ce;
                true
            }
            _ => false,
        }
    }
}

/// Largest RTCP packet that is sent.
pub(crate) const RTCP_CAPACITY: usize = 256;

/// RTCP bytes in flight.
#[derive(Debug, Default)]
pub(crate) struct RtcpPool {
    slots: Vec<([u8; RTCP_CAPACITY], u16)>,
    free: Vec<u32>,
}

impl RtcpPool {
    /// Stores what `write` puts into a buffer, if it writes anything.
    pub(crate) fn store(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<(u32, usize)> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(([0; RTCP_CAPACITY], 0));
            self.slots.len() as u32 - 1
        });
        let (bytes, len) = &mut self.slots[slot as usize];
        if let Some(written) = write(bytes) {
            *len = written as u16;
            Some((slot, written))
        } else {
            self.free.push(slot);
            None
        }
    }

    pub(crate) fn bytes(&self, slot: u32) -> &[u8] {
        let (bytes, len) = &self.slots[slot as usize];
        &bytes[..usize::from(*len)]
    }

    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again() {
        let mut pool = RtcpPool::default();
        let write = |byte| {
            move |out: &mut [u8]| {
                out[0] = byte;
                Some(1)
            }
        };
        let (first, _) = pool.store(write(1)).unwrap();
        let (second, _) = pool.store(write(2)).unwrap();
        assert_eq!((pool.bytes(first), pool.bytes(second)), (&[1][..], &[2][..]));
        pool.release(first);
        assert!(pool.store(|_| None).is_none());
        assert_eq!(pool.store(write(3)).unwrap().0, first);
        assert_eq!(pool.slots.len(), 2);
    }
}
