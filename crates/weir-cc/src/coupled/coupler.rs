//! The interface that every coupler has.

use core::fmt::{self, Debug};

use crate::coupled::word::{Member, Order, Word};
use crate::time::SendTime;

/// Couples flows. Its clock is its own: it may be read on another host than those of the flows.
///
/// Words go in, orders come out: call [`Self::poll_order`] until `None` after each word and each timeout. No call blocks,
/// allocates in steady state or panics, whatever the input.
pub trait Coupler: Send + Sync + Debug {
    /// A flow's host has told something.
    ///
    /// # Errors
    /// What makes no sense changes nothing, and says why. Who sent it is still answered with what holds for it.
    fn on_word(&mut self, now: SendTime, member: Member, word: &Word) -> Result<(), Refusal>;

    /// The next order; call until `None`.
    fn poll_order(&mut self) -> Option<(Member, Order)>;

    /// When [`Self::on_timeout`] wants to be called.
    fn next_timeout(&self) -> Option<SendTime> {
        None
    }

    /// The time of [`Self::next_timeout`] has come; early or twice is harmless.
    fn on_timeout(&mut self, _now: SendTime) {}

    /// The group that a flow is in, and what the group has; `None` for a flow that is in none.
    fn aggregate(&self, member: Member) -> Option<Aggregate>;
}

/// A coupler whose groups somebody else makes, such as [shared bottleneck detection](crate::coupled::sbd::Detected).
pub trait Grouped: Coupler {
    /// The flow, which has joined, is in this group from now on, and in no other. Who calls gives the numbers, none of
    /// them to another group later.
    fn set_group(&mut self, now: SendTime, member: Member, group: u32);
}

/// What a group of flows has together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    /// `FGI`, the number of the group.
    pub group: u32,
    /// `S_CR` in bit/s, or the sum of windows in bytes.
    pub sum: f64,
}

/// Why a word was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The flow has not joined, or has left.
    UnknownFlow(Member),
    /// The flow has joined already.
    JoinedAlready(Member),
    /// A priority has to be positive and finite.
    Priority(Member),
    /// A rate has to be above zero, and a window finite.
    Amount(Member),
    /// This coupler cannot couple a flow of this kind.
    Kind(Member),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFlow(Member(flow)) => write!(f, "flow {flow} has not joined: tell its join first"),
            Self::JoinedAlready(Member(flow)) => {
                write!(f, "flow {flow} has joined already: tell its pause or leave before it joins again")
            }
            Self::Priority(Member(flow)) => {
                write!(f, "flow {flow} has no acceptable priority: it must be above 0 and finite")
            }
            Self::Amount(Member(flow)) => {
                write!(f, "flow {flow} told a rate of zero or a window that is no number: it must be above 0")
            }
            Self::Kind(Member(flow)) => {
                write!(f, "flow {flow} is of a kind that this coupler cannot couple")
            }
        }
    }
}

impl core::error::Error for Refusal {}
