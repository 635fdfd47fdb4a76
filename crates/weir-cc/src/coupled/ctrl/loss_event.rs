//! Loss events of a coupled group: all losses and marks of any flows within a round trip are one event.

use crate::coupled::message::FlowId;
use crate::time::SendTime;

/// The present loss event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LossEvent {
    lasts: EventEnd,
    /// Losses before this time belong to the last event, because their data was sent before its end.
    grace: SendTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventEnd {
    No,
    /// An event that lasts until this flow leaves recovery.
    AtRecoveryOf(FlowId),
    /// An event after a mark, until this time.
    Until(SendTime),
}

impl Default for LossEvent {
    fn default() -> Self {
        Self { lasts: EventEnd::No, grace: SendTime::from_nanos(i64::MIN) }
    }
}

impl LossEvent {
    /// Whether an event is in progress, in which the aggregate neither grows nor falls.
    pub(super) fn is_in_progress(&self, now: SendTime) -> bool {
        match self.lasts {
            EventEnd::No => false,
            EventEnd::AtRecoveryOf(_) => true,
            EventEnd::Until(end) => now < end,
        }
    }

    /// Whether a loss found now begins a new loss event.
    pub(super) fn begins_event(&self, now: SendTime) -> bool {
        !self.is_in_progress(now) && now >= self.grace
    }

    pub(super) fn is_of(&self, member: FlowId) -> bool {
        self.lasts == EventEnd::AtRecoveryOf(member)
    }

    /// Whether an event is in progress that lasts until a flow leaves recovery.
    pub(super) const fn is_recovery(&self) -> bool {
        matches!(self.lasts, EventEnd::AtRecoveryOf(_))
    }

    pub(super) const fn begin(&mut self, owner: FlowId) {
        self.lasts = EventEnd::AtRecoveryOf(owner);
    }

    /// Begins an event without recovery, which lasts until `end`.
    pub(super) const fn begin_until(&mut self, end: SendTime) {
        self.lasts = EventEnd::Until(end);
        self.grace = end;
    }

    /// Ends the event. Losses before `grace` belong to it.
    pub(super) const fn end(&mut self, grace: SendTime) {
        self.lasts = EventEnd::No;
        self.grace = grace;
    }

    /// Ends the event. Any later loss begins a new one.
    pub(super) const fn reset(&mut self) {
        self.lasts = EventEnd::No;
    }
}
