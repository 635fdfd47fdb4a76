//! Service by delivery opportunities.
//!
//! Lay the opportunities of a trace end to end, as bytes: number n reaches from n · 1500 to (n + 1) · 1500. The
//! service of a packet starts where the packet before it ended, or at the first opportunity after its arrival if
//! that is later. The packet departs at the opportunity that holds its last byte.

use std::sync::Arc;

use weir_units::{DataRate, TimeDelta};

use super::Slot;
use crate::trace::{MOMENT, OPPORTUNITY_BYTES, Trace, over_a_moment};

/// A server that follows a trace.
#[derive(Clone, Debug)]
pub(super) struct Opportunities {
    trace: Arc<Trace>,
    /// How far into the trace the run begins, in ns.
    offset: u64,
    repeat: bool,
}

impl Opportunities {
    pub(super) fn new(trace: &Arc<Trace>, offset: TimeDelta, repeat: bool) -> Self {
        Self { trace: Arc::clone(trace), offset: offset.nanos().max(0) as u64, repeat }
    }

    /// The position behind all opportunities that lie at or before `now`.
    pub(super) fn past(&self, now: u64) -> u64 {
        let count = self.trace.count_until(now.saturating_add(self.offset), self.repeat);
        count.saturating_mul(OPPORTUNITY_BYTES)
    }

    /// Serves `size` bytes from the position `begin` on; returns `None` if the trace ends before.
    pub(super) fn serve(&self, arrival: u64, begin: u64, size: u32) -> Option<Slot> {
        let position = begin.checked_add(u64::from(size))?;
        let (first, last) = (begin / OPPORTUNITY_BYTES, (position - 1) / OPPORTUNITY_BYTES);
        let departure = self.time_of(last)?;
        let begun = if first == last { departure } else { self.time_of(first)? };
        Some(Slot { departure, wait: begun.saturating_sub(arrival), position })
    }

    /// When the opportunity comes that holds the byte at `position`.
    pub(super) fn opportunity(&self, position: u64) -> Option<u64> {
        self.time_of(position / OPPORTUNITY_BYTES)
    }

    /// The rate of the last 100 ms, at the start of a run of the first 100 ms.
    pub(super) fn rate_at(&self, now: u64) -> DataRate {
        let until = now.max(MOMENT).saturating_add(self.offset);
        let count = |nanos| self.trace.count_until(nanos, self.repeat);
        over_a_moment(count(until).saturating_sub(count(until - MOMENT)))
    }

    fn time_of(&self, number: u64) -> Option<u64> {
        self.trace.time_of(number, self.repeat)?.checked_sub(self.offset)
    }
}
