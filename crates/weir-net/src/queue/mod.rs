//! Queues: the waiting packets, their order of service, and drops and marks on the way in and out.

mod codel;
mod dual_pi2;
mod fifo;
mod fq_codel;
mod per_flow;
mod pie;
mod plain;
mod red;

use weir_units::TimeDelta;

use crate::error::ConfigError;
use crate::packet::DropReason;
use crate::records::Records;
pub use codel::CoDel;
pub(crate) use codel::CoDelQueue;
pub(crate) use dual_pi2::DualPi2Queue;
pub use dual_pi2::{DualPi2, Scheduler};
use fifo::Fifo;
pub use fq_codel::FqCoDel;
pub(crate) use fq_codel::FqCoDelQueue;
pub(crate) use per_flow::PerFlow;
pub use pie::Pie;
pub(crate) use pie::PieQueue;
pub(crate) use plain::Plain;
pub use red::Red;
pub(crate) use red::RedQueue;

/// Bytes of a packet of full size.
pub(crate) const MTU: u64 = 1500;

/// Queue discipline: drops, marks and order of the packets of a queue within its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// First in, first out; a packet that does not fit is dropped.
    #[default]
    DropTail,
    /// First in, first out; packets are dropped from the head until the new one fits.
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

/// The packet that is dropped when the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The arriving one.
    Tail,
    /// The oldest one.
    Head,
    /// Packets of the longest queue, after the arriving one has been taken.
    Longest,
}

/// Packets that wait, by their places. Times in ns.
pub(crate) trait WaitingPackets {
    /// The packet at `place` arrives, and fits.
    ///
    /// # Errors
    /// Why it is dropped.
    fn enqueue(&mut self, now: u64, place: u32, records: &mut Records) -> Result<(), DropReason>;

    /// The packet to be served next; `records` keep the packets dropped in its place.
    fn dequeue(&mut self, now: u64, records: &mut Records) -> Option<u32>;

    /// The packet at `place` arrives at an empty queue before an idle server: as [`Self::enqueue`] followed by
    /// [`Self::dequeue`], without queuing the packet.
    ///
    /// # Errors
    /// Why it is dropped.
    #[inline]
    fn pass(&mut self, now: u64, place: u32, records: &mut Records) -> Result<Option<u32>, DropReason> {
        self.enqueue(now, place, records)?;
        Ok(self.dequeue(now, records))
    }

    /// The packets dropped when the buffer is full.
    fn overflow(&self) -> Overflow {
        Overflow::Tail
    }

    /// Drops the packets that [`Self::overflow`] names because the buffer is full; `false` if there is nothing to
    /// drop.
    fn make_room(&mut self, _reason: DropReason, _records: &mut Records) -> bool {
        false
    }

    /// Whether [`Self::dequeue`] may drop anything from `from` to `until`, if nothing else is called meanwhile.
    fn may_drop(&self, from: u64, until: u64) -> bool;
}

/// Checks that `value` is a number in [0, 1].
fn probability(name: &'static str, value: f64) -> Result<(), ConfigError> {
    let valid = (0.0..=1.0).contains(&value);
    if valid { Ok(()) } else { Err(ConfigError::OutOfRange { name, must: "between 0 and 1" }) }
}

/// Checks that `span`, a period of events, is not so short that the run would take too long.
fn long_enough(name: &'static str, span: TimeDelta) -> Result<(), ConfigError> {
    if span >= TimeDelta::from_micros(100) {
        Ok(())
    } else {
        Err(ConfigError::OutOfRange { name, must: "at least 100 µs" })
    }
}

/// Checks that `value` is a number above 0.
fn positive(name: &'static str, value: f64) -> Result<(), ConfigError> {
    let valid = value > 0.0 && value.is_finite();
    if valid { Ok(()) } else { Err(ConfigError::OutOfRange { name, must: "above 0" }) }
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::records::LinkRecord;

    /// A queue with the records of its packets.
    pub(super) struct Tested<Q> {
        pub(super) queue: Q,
        pub(super) records: Records,
    }

    impl<Q: WaitingPackets> Tested<Q> {
        pub(super) fn new(queue: Q) -> Self {
            Self { queue, records: Records::default() }
        }

        /// A packet arrives, at the time that it carries.
        pub(super) fn enqueue(&mut self, packet: LinkRecord) -> Result<(), DropReason> {
            let place = self.records.insert(packet);
            self.queue.enqueue(packet.arrival, place, &mut self.records)
        }

        pub(super) fn dequeue(&mut self, now: u64) -> Option<LinkRecord> {
            self.queue.dequeue(now, &mut self.records).map(|place| self.records[place])
        }

        /// Packets dropped since the last call.
        pub(super) fn dropped(&mut self) -> Vec<LinkRecord> {
            let next = || self.records.next_dropped().map(|(place, _)| self.records[place]);
            std::iter::from_fn(next).collect()
        }
    }

    /// A packet of the first flow that cannot be marked.
    pub(super) fn packet(arrival: u64, size: u32) -> LinkRecord {
        LinkRecord { arrival, size, ..LinkRecord::default() }
    }

    /// A packet of the first flow that can be marked.
    pub(super) fn capable(arrival: u64, size: u32) -> LinkRecord {
        LinkRecord { ecn_capable: true, ..packet(arrival, size) }
    }

    pub(super) const MS: u64 = 1_000_000;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;
    use weir_units::{DataRate, TimeDelta};

    use super::testing::{MS, Tested};
    use super::*;
    use crate::records::LinkRecord;

    /// Packets in bursts, served a millisecond each; the first of a burst passes an idle server, by `pass` or through
    /// the queue. Returns what was served, dropped and refused, in order.
    fn fates<Q: WaitingPackets>(
        queue: Q,
        packets: &[(u64, LinkRecord)],
        through: bool,
    ) -> Vec<(u64, u32, bool, u8)> {
        let mut tested = Tested::new(queue);
        let (mut now, mut free_at, mut fates) = (0, 0, Vec::new());
        for (number, &(gap, packet)) in packets.iter().enumerate() {
            now += gap;
            while free_at <= now && tested.records.waiting() > 0 {
                let served = tested.dequeue(free_at);
                fates.extend(served.map(|p| (p.arrival, p.size, p.marked, 0)));
                free_at += MS * u64::from(served.is_some());
            }
            fates.extend(tested.dropped().iter().map(|p| (p.arrival, p.size, p.marked, 1)));
            // The size distinguishes packets.
            let packet = LinkRecord { arrival: now, size: 1000 + number as u32, ..packet };
            let entered = if free_at <= now && !through {
                let Tested { queue, records } = &mut tested;
                let place = records.insert(packet);
                queue.pass(now, place, records).map(|place| place.map(|place| records[place]))
            } else {
                let entered = tested.enqueue(packet);
                entered.map(|()| if free_at <= now { tested.dequeue(now) } else { None })
            };
            match entered {
                Err(_) => fates.push((now, packet.size, false, 2)),
                Ok(served) => {
                    fates.extend(served.map(|p| (p.arrival, p.size, p.marked, 0)));
                    free_at = if served.is_some() { now + MS } else { free_at };
                }
            }
        }
        fates
    }

    /// Checks that both ways of emptying the queue give the same fates.
    fn same<Q: WaitingPackets>(
        make: impl Fn() -> Q,
        packets: &[(u64, LinkRecord)],
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(fates(make(), packets, false), fates(make(), packets, true));
        Ok(())
    }

    proptest! {
        #[test]
        fn to_pass_an_empty_queue_is_to_enter_and_to_leave_it(
            packets in prop::collection::vec(
                (prop_oneof![Just(0), 0..4 * MS, 100 * MS..300 * MS], 0_u32..3, any::<bool>(), any::<bool>())
                    .prop_map(|(gap, flow, ecn_capable, l4s)| {
                        (gap, LinkRecord { flow, ecn_capable, l4s: l4s && ecn_capable, ..LinkRecord::default() })
                    }),
                0..400,
            ),
            seed: u64,
        ) {
            let rate = DataRate::from_mbps(8);
            let rng = || Pcg64::seed_from_u64(seed);
            same(|| Plain::new(Overflow::Tail), &packets)?;
            let codel = CoDel { target: TimeDelta::from_micros(500), ..CoDel::default() };
            same(|| CoDelQueue::new(codel, rate), &packets)?;
            same(|| FqCoDelQueue::new(FqCoDel { codel, ..FqCoDel::default() }, rate, rng()), &packets)?;
            same(|| PieQueue::new(Pie { target: codel.target, ..Pie::default() }, rng()), &packets)?;
            same(|| RedQueue::new(Red { weight: 0.3, min_threshold: 1.0, ..Red::default() }, rate, rng()), &packets)?;
            same(|| DualPi2Queue::new(DualPi2::default()), &packets)?;
        }
    }
}
