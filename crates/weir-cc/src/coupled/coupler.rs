//! The interface of every coupler.

use alloc::boxed::Box;
use core::fmt::{self, Debug};

use crate::coupled::message::{CouplerAction, CouplingMessage, FlowId};
use crate::time::SendTime;

/// Coupler of flows. It has its own clock, because it may run on another host than the flows.
///
/// It takes messages and makes actions: call [`Self::poll_action`] until `None` after each message and each timeout.
/// No call blocks, allocates in steady state or panics, whatever the input.
pub trait Coupler: Send + Sync + Debug {
    /// Takes a message from a flow's host.
    ///
    /// # Errors
    /// An invalid message, with the reason. It changes nothing, and its sender still gets its present action.
    fn on_message(&mut self, now: SendTime, member: FlowId, message: &CouplingMessage)
    -> Result<(), Refusal>;

    /// The next action; call until `None`.
    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)>;

    /// When [`Self::on_timeout`] is to be called next.
    fn next_timeout(&self) -> Option<SendTime> {
        None
    }

    /// Handles the timeout of [`Self::next_timeout`]. An early or repeated call has no effect.
    fn on_timeout(&mut self, _now: SendTime) {}

    /// The group of a flow and the sum of the group, or `None` for a flow in no group.
    fn aggregate(&self, member: FlowId) -> Option<Aggregate>;
}

impl<C: Coupler + ?Sized> Coupler for Box<C> {
    fn on_message(
        &mut self,
        now: SendTime,
        member: FlowId,
        message: &CouplingMessage,
    ) -> Result<(), Refusal> {
        (**self).on_message(now, member, message)
    }

    fn poll_action(&mut self) -> Option<(FlowId, CouplerAction)> {
        (**self).poll_action()
    }

    fn next_timeout(&self) -> Option<SendTime> {
        (**self).next_timeout()
    }

    fn on_timeout(&mut self, now: SendTime) {
        (**self).on_timeout(now);
    }

    fn aggregate(&self, member: FlowId) -> Option<Aggregate> {
        (**self).aggregate(member)
    }
}

/// A coupler whose groups are formed outside of it, such as by [shared bottleneck
/// detection](crate::coupled::sbd::Detected).
pub trait Grouped: Coupler {
    /// Puts a flow that has joined into this group and no other. The caller chooses the numbers and never uses one
    /// again for another group.
    fn set_group(&mut self, now: SendTime, member: FlowId, group: u32);
}

/// Number of a group of flows, and its sum.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Aggregate {
    /// `FGI`, the number of the group.
    pub group: u32,
    /// `S_CR` in bit/s, or the sum of windows in bytes.
    pub sum: f64,
}

/// Reasons for which a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Refusal {
    /// The flow has not joined, or has left.
    UnknownFlow(FlowId),
    /// The flow has joined already.
    JoinedAlready(FlowId),
    /// A priority has to be positive and finite.
    Priority(FlowId),
    /// A rate has to be above zero, and a window finite.
    Amount(FlowId),
    /// This coupler cannot couple a flow of this kind.
    Kind(FlowId),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFlow(FlowId(flow)) => write!(f, "flow {flow} has not joined: send its join first"),
            Self::JoinedAlready(FlowId(flow)) => {
                write!(f, "flow {flow} has joined already: send its pause or leave before it joins again")
            }
            Self::Priority(FlowId(flow)) => {
                write!(f, "flow {flow} has no acceptable priority: it must be above 0 and finite")
            }
            Self::Amount(FlowId(flow)) => {
                write!(
                    f,
                    "flow {flow} reported a rate of zero or a window that is no number: it must be above 0"
                )
            }
            Self::Kind(FlowId(flow)) => {
                write!(f, "flow {flow} is of a kind that this coupler cannot couple")
            }
        }
    }
}

impl core::error::Error for Refusal {}
