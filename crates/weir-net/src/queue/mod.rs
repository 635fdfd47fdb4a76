//! Queues: what waits, in which order it is served, and what is dropped or marked on the way in and out.

mod codel;
mod dual_pi2;
mod fifo;
mod fq_codel;
mod per_flow;
mod pie;
mod red;

use rand_pcg::Pcg64;
use weir_units::DataRate;

use crate::config::ConfigError;
use crate::packet::{DropReason, Dropped, Packet};
pub use codel::CoDel;
use codel::CoDelQueue;
use dual_pi2::DualPi2Queue;
pub use dual_pi2::{DualPi2, Scheduler};
pub(crate) use fifo::{Fifo, Queued, Refuse};
pub use fq_codel::FqCoDel;
use fq_codel::FqCoDelQueue;
pub(crate) use per_flow::PerFlow;
pub use pie::Pie;
use pie::PieQueue;
pub use red::Red;
use red::RedQueue;

/// Bytes of a packet of full size.
pub(crate) const MTU: u64 = 1500;

/// What drops, marks and orders the packets of a queue within its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// First in, first out; a packet for which there is no room is dropped.
    #[default]
    DropTail,
    /// First in, first out; packets are dropped from the head until there is room.
    DropHead,
    /// Controlled delay (RFC 8289), one queue.
    CoDel(CoDel),
    /// A queue with CoDel for each flow, served by turns (RFC 8290). When a limit is exceeded, the longest queue loses
    /// packets from its head.
    FqCoDel(FqCoDel),
    /// Proportional integral controller enhanced (RFC 8033).
    Pie(Pie),
    /// Random early detection (Floyd and Jacobson 1993).
    Red(Red),
    /// Two coupled queues for L4S (RFC 9332, appendix A).
    DualPi2(DualPi2),
}

impl Discipline {
    /// Whether its parameters are in range.
    ///
    /// # Errors
    /// The first parameter that is not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::DropTail | Self::DropHead => Ok(()),
            Self::CoDel(config) => config.validate(),
            Self::FqCoDel(config) => config.validate(),
            Self::Pie(config) => config.validate(),
            Self::Red(config) => config.validate(),
            Self::DualPi2(config) => config.validate(),
        }
    }
}

/// A packet that is dropped when a queue is told to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The arriving one.
    Tail,
    /// The oldest one.
    Head,
    /// Some of the longest queue, after the arriving one has been taken.
    Longest,
}

/// A queue with its discipline. Times in ns.
#[derive(Clone, Debug)]
pub(crate) enum Queue<P> {
    Fifo { fifo: Fifo<P>, overflow: Overflow },
    CoDel(CoDelQueue<P>),
    FqCoDel(FqCoDelQueue<P>),
    Pie(PieQueue<P>),
    Red(RedQueue<P>),
    DualPi2(DualPi2Queue<P>),
}

impl<P: Packet> Queue<P> {
    /// An empty queue before a server of `rate`, which draws from `rng`.
    pub(crate) fn new(discipline: &Discipline, rate: DataRate, rng: Pcg64) -> Self {
        let fifo = Fifo::default();
        match *discipline {
            Discipline::DropTail => Self::Fifo { fifo, overflow: Overflow::Tail },
            Discipline::DropHead => Self::Fifo { fifo, overflow: Overflow::Head },
            Discipline::CoDel(config) => Self::CoDel(CoDelQueue::new(config, rate)),
            Discipline::FqCoDel(config) => Self::FqCoDel(FqCoDelQueue::new(config, rate, rng)),
            Discipline::Pie(config) => Self::Pie(PieQueue::new(config, rng)),
            Discipline::Red(config) => Self::Red(RedQueue::new(config, rate, rng)),
            Discipline::DualPi2(config) => Self::DualPi2(DualPi2Queue::new(config)),
        }
    }

    /// A packet arrives, for which there is room.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: u64, packet: Queued<P>) -> Result<(), Dropped<P>> {
        match self {
            Self::Fifo { fifo, .. } => fifo.push(packet),
            Self::CoDel(queue) => queue.enqueue(packet),
            Self::FqCoDel(queue) => queue.enqueue(packet),
            Self::Pie(queue) => return queue.enqueue(now, packet),
            Self::Red(queue) => return queue.enqueue(now, packet),
            Self::DualPi2(queue) => queue.enqueue(now, packet),
        }
        Ok(())
    }

    /// The packet to be served next; what is dropped in its place goes to `refuse`.
    #[inline]
    pub(crate) fn dequeue(&mut self, now: u64, refuse: &mut Refuse<P>) -> Option<Queued<P>> {
        match self {
            Self::Fifo { fifo, .. } => fifo.pop(),
            Self::CoDel(queue) => queue.dequeue(now, refuse),
            Self::FqCoDel(queue) => queue.dequeue(now, refuse),
            Self::Pie(queue) => queue.dequeue(now),
            Self::Red(queue) => queue.dequeue(now),
            Self::DualPi2(queue) => queue.dequeue(now, refuse),
        }
    }

    /// Who gives way when there is no room.
    #[inline]
    pub(crate) fn overflow(&self) -> Overflow {
        match self {
            Self::Fifo { overflow, .. } => *overflow,
            Self::FqCoDel(_) => Overflow::Longest,
            Self::CoDel(_) | Self::Pie(_) | Self::Red(_) | Self::DualPi2(_) => Overflow::Tail,
        }
    }

    /// Drops for want of room what [`Self::overflow`] says; `false` if there is nothing to drop.
    pub(crate) fn make_room(&mut self, reason: DropReason, refuse: &mut Refuse<P>) -> bool {
        match self {
            Self::Fifo { fifo, .. } => {
                let Some(oldest) = fifo.pop() else { return false };
                refuse.push_back((oldest, reason));
                true
            }
            Self::FqCoDel(queue) => queue.drop_from_longest(reason, refuse),
            Self::CoDel(_) | Self::Pie(_) | Self::Red(_) | Self::DualPi2(_) => false,
        }
    }

    /// Whether [`Self::dequeue`] may drop.
    #[inline]
    pub(crate) fn drops_late(&self) -> bool {
        matches!(self, Self::CoDel(_) | Self::FqCoDel(_) | Self::DualPi2(_))
    }

    /// Packets that wait.
    #[inline]
    pub(crate) fn packets(&self) -> usize {
        match self {
            Self::Fifo { fifo, .. } => fifo.len(),
            Self::CoDel(queue) => queue.fifo.len(),
            Self::FqCoDel(queue) => queue.packets(),
            Self::Pie(queue) => queue.fifo.len(),
            Self::Red(queue) => queue.fifo.len(),
            Self::DualPi2(queue) => queue.packets(),
        }
    }

    /// Bytes that wait.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Fifo { fifo, .. } => fifo.bytes(),
            Self::CoDel(queue) => queue.fifo.bytes(),
            Self::FqCoDel(queue) => queue.bytes(),
            Self::Pie(queue) => queue.fifo.bytes(),
            Self::Red(queue) => queue.fifo.bytes(),
            Self::DualPi2(queue) => queue.bytes(),
        }
    }
}

/// Checks that `value` is a number in [0, 1].
fn probability(name: &'static str, value: f64) -> Result<(), ConfigError> {
    let valid = (0.0..=1.0).contains(&value);
    if valid { Ok(()) } else { Err(ConfigError::OutOfRange { name, must: "between 0 and 1" }) }
}

/// Checks that `value` is a number above 0.
fn positive(name: &'static str, value: f64) -> Result<(), ConfigError> {
    let valid = value > 0.0 && value.is_finite();
    if valid { Ok(()) } else { Err(ConfigError::OutOfRange { name, must: "above 0" }) }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// A packet for the tests of disciplines.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Probe {
        pub(super) number: u32,
        pub(super) flow: u32,
        pub(super) ect: bool,
        pub(super) l4s: bool,
    }

    impl Packet for Probe {
        fn wire_size(&self) -> u32 {
            1000
        }
        fn mark_ce(&mut self) -> bool {
            self.ect
        }
        fn is_l4s(&self) -> bool {
            self.l4s
        }
        fn flow(&self) -> u32 {
            self.flow
        }
    }

    pub(super) fn probe(number: u32) -> Probe {
        Probe { number, flow: 0, ect: false, l4s: false }
    }

    pub(super) fn queued(arrival: u64, size: u32, packet: Probe) -> Queued<Probe> {
        Queued { arrival, size, marked: false, packet }
    }

    pub(super) const MS: u64 = 1_000_000;
}
