//! Loss events: all losses and marks within a round trip, of any flow, are one event.

use crate::coupled::message::FlowId;
use crate::time::SendTime;

/// The present loss event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    running: Running,
    /// Losses before this time are of data that was sent before the last event ended, and belong to it.
    grace: SendTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    No,
    /// Until this flow leaves recovery.
    Of(FlowId),
    /// After a mark.
    Until(SendTime),
}

impl Default for Episode {
    fn default() -> Self {
        Self { running: Running::No, grace: SendTime::from_nanos(i64::MIN) }
    }
}

impl Episode {
    /// Whether one is in progress: the aggregate neither grows nor falls.
    pub(super) fn is_running(&self, now: SendTime) -> bool {
        match self.running {
            Running::No => false,
            Running::Of(_) => true,
            Running::Until(end) => now < end,
        }
    }

    /// Whether a loss found now begins a new loss event.
    pub(super) fn begins_event(&self, now: SendTime) -> bool {
        !self.is_running(now) && now >= self.grace
    }

    pub(super) fn is_of(&self, member: FlowId) -> bool {
        self.running == Running::Of(member)
    }

    /// Whether one is in progress that lasts until a flow leaves recovery.
    pub(super) const fn is_recovery(&self) -> bool {
        matches!(self.running, Running::Of(_))
    }

    pub(super) const fn begin(&mut self, owner: FlowId) {
        self.running = Running::Of(owner);
    }

    /// Begins an event without recovery, which lasts until `end`.
    pub(super) const fn last_until(&mut self, end: SendTime) {
        self.running = Running::Until(end);
        self.grace = end;
    }

    /// Ends the event; losses before `grace` belong to it.
    pub(super) const fn end(&mut self, grace: SendTime) {
        self.running = Running::No;
        self.grace = grace;
    }

    /// Ends the event; any later loss begins a new one.
    pub(super) const fn forget(&mut self) {
        self.running = Running::No;
    }
}
