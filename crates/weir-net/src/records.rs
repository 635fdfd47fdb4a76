//! The state of a packet that a link's queue and server need. The packets themselves stay in one place meanwhile.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use crate::packet::DropReason;

/// State of a packet on an active link. Times in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkRecord {
    pub(crate) arrival: u64,
    /// Bytes it counts with.
    pub(crate) size: u32,
    /// The flow that the packet belongs to.
    pub(crate) flow: u32,
    /// Whether it is ECN-capable.
    pub(crate) ecn_capable: bool,
    /// Whether it carries the identifier of L4S.
    pub(crate) l4s: bool,
    /// Whether this link has marked it.
    pub(crate) marked: bool,
    /// Its queuing delay, once it is served.
    pub(crate) wait: u64,
}

impl LinkRecord {
    /// Marks it instead of dropping it, if it is ECN-capable.
    #[inline]
    pub(crate) fn mark(&mut self) -> bool {
        self.marked |= self.ecn_capable;
        self.ecn_capable
    }
}

/// Records by place. A place is used again once its packet is gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    all: Vec<LinkRecord>,
    vacant: Vec<u32>,
    dropped: VecDeque<(u32, DropReason)>,
    /// Packets that wait in queues, and their bytes.
    waiting: usize,
    waiting_bytes: u64,
}

impl Records {
    /// Keeps `record`; returns its place.
    #[inline]
    pub(crate) fn insert(&mut self, record: LinkRecord) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self[place] = record;
            return place;
        }
        self.all.push(record);
        (self.all.len() - 1) as u32
    }

    /// The packet at `place` is gone.
    #[inline]
    pub(crate) fn vacate(&mut self, place: u32) {
        self.vacant.push(place);
    }

    /// A queue drops the packet at `place` after having taken it.
    pub(crate) fn drop(&mut self, place: u32, reason: DropReason) {
        self.dropped.push_back((place, reason));
    }

    /// Whether a packet that a queue has dropped is still to be handed out.
    #[inline]
    pub(crate) fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// The first packet that a queue has dropped and that has not been handed out.
    #[inline]
    pub(crate) fn next_dropped(&mut self) -> Option<(u32, DropReason)> {
        self.dropped.pop_front()
    }

    /// Packets that wait in queues.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Bytes that wait in queues.
    #[inline]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// The packet at `place` enters a queue; returns its bytes.
    #[inline]
    pub(crate) fn enter_queue(&mut self, place: u32) -> u64 {
        let size = u64::from(self[place].size);
        self.waiting += 1;
        self.waiting_bytes += size;
        size
    }

    /// The packet at `place` leaves its queue; returns its bytes.
    #[inline]
    pub(crate) fn leave_queue(&mut self, place: u32) -> u64 {
        let size = u64::from(self[place].size);
        self.waiting -= 1;
        self.waiting_bytes -= size;
        size
    }

    /// How many packets there are, waiting, served or dropped.
    pub(crate) fn len(&self) -> usize {
        self.all.len() - self.vacant.len()
    }
}

impl Index<u32> for Records {
    type Output = LinkRecord;

    #[inline]
    fn index(&self, place: u32) -> &LinkRecord {
        &self.all[place as usize]
    }
}

impl IndexMut<u32> for Records {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut LinkRecord {
        &mut self.all[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut records = Records::default();
        let of_size = |size| LinkRecord { size, ..LinkRecord::default() };
        assert_eq!([1, 2, 3].map(|size| records.insert(of_size(size))), [0, 1, 2]);
        records.vacate(1);
        assert_eq!((records.len(), records.insert(of_size(4)), records.insert(of_size(5))), (2, 1, 3));
        assert_eq!([0, 1, 2, 3].map(|place| records[place].size), [1, 4, 3, 5]);
        assert_eq!(records.len(), 4);
    }
}
