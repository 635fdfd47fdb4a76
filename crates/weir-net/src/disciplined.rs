//! An active link of any discipline. Calls are not inlined, so that the common passive link keeps its place in the
//! code of a simulator's engine.

use weir_units::{DataRate, TimeDelta};

use crate::active::Active;
use crate::backlog::Backlog;
use crate::changes::LinkChange;
use crate::config::LinkConfig;
use crate::packet::{Dropped, Exit, Packet};
use crate::queue::{CoDelQueue, Discipline, DualPi2Queue, FqCoDelQueue, Overflow, PieQueue, Plain, RedQueue};
use crate::time::Time;

/// An active link with its queue.
#[derive(Clone, Debug)]
pub(crate) enum Disciplined<P> {
    Plain(Box<Active<P, Plain>>),
    CoDel(Box<Active<P, CoDelQueue>>),
    FqCoDel(Box<Active<P, FqCoDelQueue>>),
    Pie(Box<Active<P, PieQueue>>),
    Red(Box<Active<P, RedQueue>>),
    DualPi2(Box<Active<P, DualPi2Queue>>),
}

/// The same call, whatever the discipline.
macro_rules! each {
    ($disciplined:expr, $link:ident => $call:expr) => {
        match $disciplined {
            Self::Plain($link) => $call,
            Self::CoDel($link) => $call,
            Self::FqCoDel($link) => $call,
            Self::Pie($link) => $call,
            Self::Red($link) => $call,
            Self::DualPi2($link) => $call,
        }
    };
}

impl<P: Packet> Disciplined<P> {
    /// An idle link by a description that is valid.
    pub(crate) fn new(config: &LinkConfig, seed: u64) -> Self {
        let plain = |overflow| Self::Plain(Box::new(Active::new(config, seed, |_, _| Plain::new(overflow))));
        match config.queue.discipline {
            Discipline::DropTail => plain(Overflow::Tail),
            Discipline::DropHead => plain(Overflow::Head),
            Discipline::CoDel(codel) => {
                Self::CoDel(Box::new(Active::new(config, seed, |rate, _| CoDelQueue::new(codel, rate))))
            }
            Discipline::FqCoDel(codel) => Self::FqCoDel(Box::new(Active::new(config, seed, |rate, rng| {
                FqCoDelQueue::new(codel, rate, rng)
            }))),
            Discipline::Pie(pie) => {
                Self::Pie(Box::new(Active::new(config, seed, |_, rng| PieQueue::new(pie, rng))))
            }
            Discipline::Red(red) => {
                Self::Red(Box::new(Active::new(config, seed, |rate, rng| RedQueue::new(red, rate, rng))))
            }
            Discipline::DualPi2(pi2) => {
                Self::DualPi2(Box::new(Active::new(config, seed, |_, _| DualPi2Queue::new(pi2))))
            }
        }
    }

    #[inline(never)]
    pub(crate) fn enqueue(&mut self, now: Time, packet: P) -> Result<(), Dropped<P>> {
        each!(self, link => link.enqueue(now, packet))
    }

    #[inline(never)]
    pub(crate) fn next_departure(&self) -> u64 {
        each!(self, link => link.next_departure())
    }

    #[inline(never)]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Exit<P>> {
        each!(self, link => link.pop(now))
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: DataRate) {
        each!(self, link => link.set_rate(now, rate));
    }

    pub(crate) fn apply(&mut self, change: &LinkChange, seed: u64) {
        each!(self, link => link.apply(change, seed));
    }

    pub(crate) fn backlog(&self, now: Time) -> Backlog {
        each!(self, link => link.backlog(now))
    }

    pub(crate) fn len(&self) -> usize {
        each!(self, link => link.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        each!(self, link => link.is_empty())
    }

    pub(crate) fn propagation(&self) -> TimeDelta {
        each!(self, link => link.propagation())
    }
}
