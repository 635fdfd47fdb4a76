//! Couplers, and the words and orders on their way.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_cc::coupled::{Aggregate, Coupler, Member, Order, Word};
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{CouplingSpec, FlowSpec, Monitor};

/// The couplers of a run.
#[derive(Debug, Default)]
pub(crate) struct Couplings {
    all: Vec<Coupling>,
    /// The coupling of each flow.
    of_flow: Vec<Option<u32>>,
    /// Whether something is on its way that takes no time.
    hurried: bool,
}

/// A coupler, and the words to it and orders from it on their way, in the order in which they arrive.
#[derive(Debug)]
struct Coupling {
    coupler: Box<dyn Coupler>,
    delay: TimeDelta,
    words: VecDeque<(Time, u32, Word)>,
    orders: VecDeque<(Time, Ordered)>,
}

/// An order that has reached a flow's host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered {
    pub(crate) flow: usize,
    pub(crate) order: Order,
    pub(crate) aggregate: Option<Aggregate>,
}

impl Couplings {
    pub(crate) fn new(specs: Vec<CouplingSpec>, flows: &[FlowSpec]) -> Self {
        let couplings = specs.into_iter().map(|spec| Coupling {
            coupler: spec.coupler,
            delay: spec.delay,
            words: VecDeque::new(),
            orders: VecDeque::new(),
        });
        let of_flow = flows.iter().map(|flow| flow.coupled.as_ref().map(|coupled| coupled.coupling as u32));
        Self { all: couplings.collect(), of_flow: of_flow.collect(), hurried: false }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether a word of `flow` is answered in the same instant.
    pub(crate) fn is_near(&self, flow: usize) -> bool {
        self.coupling_of(flow).is_some_and(|coupling| self.all[coupling].delay.nanos() == 0)
    }

    fn coupling_of(&self, flow: usize) -> Option<usize> {
        self.of_flow.get(flow).copied().flatten().map(|coupling| coupling as usize)
    }

    /// The host of `flow` tells `word`. The coupling, if there is any: it wakes at [`Self::next_wake`].
    pub(crate) fn tell(&mut self, now: Time, flow: usize, word: Word) -> Option<usize> {
        let index = self.coupling_of(flow)?;
        let coupling = &mut self.all[index];
        coupling.words.push_back((now + coupling.delay, flow as u32, word));
        self.hurried |= coupling.delay.nanos() == 0;
        Some(index)
    }

    /// The same, asked once.
    #[inline]
    pub(crate) fn take_hurry(&mut self) -> bool {
        core::mem::take(&mut self.hurried)
    }

    /// Whether something is on its way that takes no time.
    #[inline]
    pub(crate) fn is_hurried(&self) -> bool {
        self.hurried
    }

    /// The first coupler that somebody has told something in this instant.
    pub(crate) fn told_now(&self, now: Time) -> Option<usize> {
        self.all.iter().position(|coupling| coupling.words.front().is_some_and(|&(due, ..)| due <= now))
    }

    /// What has come to coupler `index` by `now` is heard, its timer included.
    pub(crate) fn hear<M: Monitor>(&mut self, now: Time, index: usize, monitor: &mut M) {
        let Coupling { coupler, delay, words, orders } = &mut self.all[index];
        let local = SendTime::from_nanos(now.nanos() as i64);
        let mut collect = |coupler: &mut Box<dyn Coupler>| {
            while let Some((Member(flow), order)) = coupler.poll_order() {
                let aggregate = coupler.aggregate(Member(flow));
                orders.push_back((now + *delay, Ordered { flow: flow as usize, order, aggregate }));
            }
        };
        if coupler.next_timeout().is_some_and(|due| due <= local) {
            coupler.on_timeout(local);
            collect(coupler);
        }
        while words.front().is_some_and(|&(due, ..)| due <= now) {
            let Some((_, flow, word)) = words.pop_front() else { break };
            let refused = coupler.on_word(local, Member(flow), &word).err();
            monitor.told(now, flow as usize, &word, refused);
            collect(coupler);
        }
    }

    /// The next order of coupler `index` that has reached its host.
    pub(crate) fn order(&mut self, now: Time, index: usize) -> Option<Ordered> {
        let orders = &mut self.all[index].orders;
        let due = orders.front().is_some_and(|&(due, _)| due <= now);
        if due { orders.pop_front().map(|(_, ordered)| ordered) } else { None }
    }

    /// When something happens next at coupler `index`, or with its orders.
    pub(crate) fn next_wake(&self, index: usize) -> Time {
        let Coupling { coupler, words, orders, .. } = &self.all[index];
        let word = words.front().map_or(Time::MAX, |&(due, ..)| due);
        let order = orders.front().map_or(Time::MAX, |&(due, _)| due);
        let timer =
            coupler.next_timeout().map_or(Time::MAX, |due| Time::from_nanos(due.nanos().max(0) as u64));
        word.min(order).min(timer)
    }
}
