//! First in, first out: the building block of every queue.

use std::collections::VecDeque;

use crate::records::{LinkRecord, Records};

/// Packets in order of arrival, by their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo {
    waiting: VecDeque<u32>,
    bytes: u64,
}

impl Fifo {
    #[inline]
    pub(super) fn push(&mut self, place: u32, records: &mut Records) {
        self.bytes += records.enter_queue(place);
        self.waiting.push_back(place);
    }

    #[inline]
    pub(super) fn pop(&mut self, records: &mut Records) -> Option<u32> {
        let place = self.waiting.pop_front()?;
        self.bytes -= records.leave_queue(place);
        Some(place)
    }

    #[inline]
    pub(super) fn front<'r>(&self, records: &'r Records) -> Option<&'r LinkRecord> {
        self.waiting.front().map(|&place| &records[place])
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
