//! First in, first out, with drop-tail or drop-head when the buffer is full.

use super::{Fifo, Overflow, WaitingPackets};
use crate::packet::DropReason;
use crate::records::Records;

/// A queue without active management.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    fifo: Fifo,
    overflow: Overflow,
}

impl Plain {
    pub(crate) fn new(overflow: Overflow) -> Self {
        Self { fifo: Fifo::default(), overflow }
    }
}

impl WaitingPackets for Plain {
    #[inline]
    fn enqueue(&mut self, _now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.fifo.push(place, records);
        Ok(())
    }

    fn may_drop(&self, _from: u64, _until: u64) -> bool {
        false
    }

    #[inline]
    fn dequeue(&mut self, _now: u64, records: &mut Records) -> Option<u32> {
        self.fifo.pop(records)
    }

    #[inline]
    fn pass(&mut self, _now: u64, place: u32, _records: &mut Records) -> Result<Option<u32>, DropReason> {
        Ok(Some(place))
    }

    #[inline]
    fn overflow(&self) -> Overflow {
        self.overflow
    }

    fn make_room(&mut self, reason: DropReason, records: &mut Records) -> bool {
        let oldest = self.fifo.pop(records);
        if let Some(place) = oldest {
            records.drop(place, reason);
        }
        oldest.is_some()
    }
}
