//! The server of a link: serves one packet after the other and says in advance when each is done.

mod constant;
mod opportunities;
mod steps;

use crate::service::{NANOBITS_PER_BYTE, Service};
pub(crate) use constant::Constant;
use opportunities::Opportunities;
use steps::Steps;

/// A time in nanoseconds at which nothing happens any more.
pub(crate) const NEVER: u64 = u64::MAX;

/// When and how a packet is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// When its last bit leaves, in ns; [`NEVER`] while a rate of zero holds it.
    pub(crate) departure: u64,
    /// Its queuing delay, in ns.
    pub(crate) wait: u64,
    /// Where its service ends in the trace's opportunities laid end to end, in bytes; 0 without a trace.
    pub(crate) position: u64,
}

/// A first-in first-out server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    curve: Curve,
    /// When the last packet taken is done, in ns.
    free_at: u64,
    /// The position at which that one is done.
    position: u64,
}

#[derive(Clone, Debug)]
enum Curve {
    Constant(Constant),
    Steps(Steps),
    Opportunities(Opportunities),
}

impl Server {
    /// An idle server.
    pub(crate) fn new(service: &Service) -> Self {
        let curve = match service {
            Service::Constant(rate) => Curve::Constant(Constant::new(*rate)),
            Service::Steps(steps) => Curve::Steps(Steps::new(steps)),
            Service::Trace { trace, offset, repeat } => {
                Curve::Opportunities(Opportunities::new(trace, *offset, *repeat))
            }
        };
        Self { curve, free_at: 0, position: 0 }
    }

    /// A server of constant rate, busy until `free_at`.
    pub(crate) fn constant(constant: Constant, free_at: u64) -> Self {
        Self { curve: Curve::Constant(constant), free_at, position: 0 }
    }

    /// How a packet of `size` bytes that arrives at `arrival` behind all others would be served; `None` if never.
    #[inline]
    pub(crate) fn offer(&mut self, arrival: u64, size: u32) -> Option<Slot> {
        let start = arrival.max(self.free_at);
        match &mut self.curve {
            Curve::Constant(constant) => Some(constant.serve(arrival, start, work(size))),
            Curve::Steps(steps) => steps.serve(arrival, start, work(size)),
            Curve::Opportunities(opportunities) => {
                // An opportunity that came after the packet may still have room for it.
                let used = if self.free_at > arrival { self.position } else { opportunities.past(arrival) };
                opportunities.serve(arrival, used, size)
            }
        }
    }

    /// Takes the packet that was offered.
    #[inline]
    pub(crate) fn take(&mut self, slot: &Slot) {
        self.free_at = slot.departure;
        self.position = slot.position;
    }

    /// How much work on a packet is left at `now`, in nanobits, given that `owed` was left at `since`. The packet is
    /// the only one served in between.
    pub(crate) fn left(&self, owed: u64, since: u64, now: u64, position: u64) -> u64 {
        match &self.curve {
            Curve::Constant(constant) => owed.saturating_sub(constant.done(since, now)),
            Curve::Steps(steps) => owed.saturating_sub(steps.done(since, now)),
            Curve::Opportunities(opportunities) => {
                let bytes = position.saturating_sub(opportunities.past(now));
                bytes.saturating_mul(NANOBITS_PER_BYTE).min(owed)
            }
        }
    }
}

/// The work on a packet, in nanobits. Saturates for packets above 2 GB.
#[inline]
pub(crate) fn work(size: u32) -> u64 {
    u64::from(size).saturating_mul(NANOBITS_PER_BYTE)
}
