//! The server of a link: serves one packet after the other, and computes each departure in advance.

mod bucket;
mod constant;
mod opportunities;
mod steps;

use weir_units::DataRate;

use crate::service::{NANOBITS_PER_BYTE, Service};
use bucket::BucketServer;
pub(crate) use constant::ConstantServer;
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
    /// Where its service ends in the trace's opportunities laid end to end, in bytes; with a token bucket when it
    /// leaves, in ns; else 0.
    pub(crate) position: u64,
}

/// Where the service of a packet that is yet to be chosen begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// When, in ns.
    pub(crate) start: u64,
    /// From where in the trace's opportunities laid end to end, in bytes; 0 without a trace.
    begin: u64,
}

/// A first-in first-out server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    curve: ServiceCurve,
    /// When the last packet taken is done, in ns.
    free_at: u64,
    /// The position at which that one is done.
    position: u64,
}

#[derive(Clone, Debug)]
enum ServiceCurve {
    Constant(ConstantServer),
    Steps(Box<Steps>),
    Opportunities(Box<Opportunities>),
    Bucket(Box<BucketServer>),
}

impl Server {
    /// An idle server.
    pub(crate) fn new(service: &Service) -> Self {
        let curve = match service {
            Service::Constant(rate) => ServiceCurve::Constant(ConstantServer::new(*rate)),
            Service::Steps(steps) => ServiceCurve::Steps(Box::new(Steps::new(steps))),
            Service::Trace { trace, offset, repeat } => {
                ServiceCurve::Opportunities(Box::new(Opportunities::new(trace, *offset, *repeat)))
            }
            Service::TokenBucket(config) => ServiceCurve::Bucket(Box::new(BucketServer::new(config))),
        };
        Self { curve, free_at: 0, position: 0 }
    }

    /// A server of constant rate, busy until `free_at`.
    pub(crate) fn constant(constant: ConstantServer, free_at: u64) -> Self {
        Self { curve: ServiceCurve::Constant(constant), free_at, position: 0 }
    }

    /// How a packet of `size` bytes that arrives at `arrival` behind all others would be served, or `None` if
    /// never.
    #[inline]
    pub(crate) fn offer(&mut self, arrival: u64, size: u32) -> Option<Slot> {
        let start = arrival.max(self.free_at);
        if let ServiceCurve::Constant(constant) = &mut self.curve {
            return Some(constant.serve(arrival, start, size));
        }
        // Field by field, so that the common case does not return its slot through memory.
        let Slot { departure, wait, position } = self.offer_variable(arrival, start, size)?;
        Some(Slot { departure, wait, position })
    }

    #[inline(never)]
    fn offer_variable(&mut self, arrival: u64, start: u64, size: u32) -> Option<Slot> {
        match &mut self.curve {
            ServiceCurve::Constant(constant) => Some(constant.serve(arrival, start, size)),
            ServiceCurve::Steps(steps) => steps.serve(arrival, start, work(size)),
            ServiceCurve::Opportunities(opportunities) => {
                // An opportunity that came after the packet may still have capacity for it.
                let used = if self.free_at > arrival { self.position } else { opportunities.past(arrival) };
                opportunities.serve(arrival, used, size)
            }
            ServiceCurve::Bucket(bucket) => bucket.serve(arrival, start, size),
        }
    }

    /// When it can begin with something that waits at `now`, or since the last departure if that is later, or
    /// `None` for never.
    #[inline]
    pub(crate) fn opening(&self, now: u64) -> Option<Opening> {
        match &self.curve {
            ServiceCurve::Constant(_) | ServiceCurve::Steps(_) | ServiceCurve::Bucket(_) => {
                Some(Opening { start: now.max(self.free_at), begin: 0 })
            }
            ServiceCurve::Opportunities(opportunities) => {
                let begin = if self.free_at > now { self.position } else { opportunities.past(now) };
                Some(Opening { start: opportunities.opportunity(begin)?, begin })
            }
        }
    }

    /// How a packet of `size` bytes that arrived at `arrival` is served from `opening` on, or `None` if never.
    #[inline]
    pub(crate) fn serve(&mut self, arrival: u64, opening: Opening, size: u32) -> Option<Slot> {
        if let ServiceCurve::Constant(constant) = &mut self.curve {
            return Some(constant.serve(arrival, opening.start, size));
        }
        let Slot { departure, wait, position } = self.serve_variable(arrival, opening, size)?;
        Some(Slot { departure, wait, position })
    }

    #[inline(never)]
    fn serve_variable(&mut self, arrival: u64, opening: Opening, size: u32) -> Option<Slot> {
        match &mut self.curve {
            ServiceCurve::Opportunities(opportunities) => opportunities.serve(arrival, opening.begin, size),
            ServiceCurve::Constant(constant) => Some(constant.serve(arrival, opening.start, size)),
            ServiceCurve::Steps(steps) => steps.serve(arrival, opening.start, work(size)),
            ServiceCurve::Bucket(bucket) => bucket.serve(arrival, opening.start, size),
        }
    }

    /// When `size` bytes would be served that follow what the server has taken, at `now`, or `None` if never.
    pub(crate) fn forecast(&mut self, now: u64, size: u32) -> Option<u64> {
        match &mut self.curve {
            // Packets larger than the bucket pass it one by one.
            ServiceCurve::Bucket(bucket) => bucket.forecast(now.max(self.free_at), size),
            _ => self.offer(now, size).map(|slot| slot.departure),
        }
    }

    /// The rate at `now`.
    pub(crate) fn rate_at(&self, now: u64) -> DataRate {
        match &self.curve {
            ServiceCurve::Constant(constant) => constant.rate(),
            ServiceCurve::Steps(steps) => steps.rate_at(now),
            ServiceCurve::Opportunities(opportunities) => opportunities.rate_at(now),
            ServiceCurve::Bucket(bucket) => bucket.rate_at(now),
        }
    }

    /// Whether it still serves what it has taken.
    #[inline]
    pub(crate) fn is_busy(&self, now: u64) -> bool {
        self.free_at > now
    }

    /// Takes the packet that was offered.
    #[inline]
    pub(crate) fn take(&mut self, slot: &Slot) {
        self.free_at = slot.departure;
        self.position = slot.position;
        if let ServiceCurve::Bucket(bucket) = &mut self.curve {
            bucket.take();
        }
    }

    /// How much work on a packet is left at `now`, in nanobits, given that `owed` was left at `since`. The packet is
    /// the only one served in between.
    pub(crate) fn left(&self, owed: u64, since: u64, now: u64, position: u64) -> u64 {
        match &self.curve {
            ServiceCurve::Constant(constant) => owed.saturating_sub(constant.done(since, now)),
            ServiceCurve::Steps(steps) => owed.saturating_sub(steps.done(since, now)),
            ServiceCurve::Opportunities(opportunities) => {
                let bytes = position.saturating_sub(opportunities.past(now));
                bytes.saturating_mul(NANOBITS_PER_BYTE).min(owed)
            }
            // A packet leaves a bucket at once.
            ServiceCurve::Bucket(_) if now >= position => 0,
            ServiceCurve::Bucket(_) => owed,
        }
    }
}

/// The work on a packet, in nanobits. Saturates for packets above 2 GB.
#[inline]
pub(crate) fn work(size: u32) -> u64 {
    u64::from(size).saturating_mul(NANOBITS_PER_BYTE)
}
