//! Numbers of refused messages.

use crate::coupled::coupler::Refusal;

/// Numbers of refused messages, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusedMessages {
    /// Messages of flows that have not joined.
    pub unknown_flow: u64,
    /// Joins of flows that have joined already.
    pub joined_already: u64,
    /// Priorities that are not positive and finite.
    pub priority: u64,
    /// Rates of zero, and impossible windows.
    pub amount: u64,
    /// Flows of a kind that this coupler cannot couple.
    pub kind: u64,
}

impl RefusedMessages {
    pub(super) fn count(&mut self, refusal: Refusal) {
        let counter = match refusal {
            Refusal::UnknownFlow(_) => &mut self.unknown_flow,
            Refusal::JoinedAlready(_) => &mut self.joined_already,
            Refusal::Priority(_) => &mut self.priority,
            Refusal::Amount(_) => &mut self.amount,
            Refusal::Kind(_) => &mut self.kind,
        };
        *counter = counter.saturating_add(1);
    }
}
