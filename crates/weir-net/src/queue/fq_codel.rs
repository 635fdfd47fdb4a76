//! Flow queuing with controlled delay (RFC 8290).
//!
//! Differences: by default each flow has a queue of its own, so that no two flows ever share one (the RFC hashes them
//! to 1024 queues; `queues` does so). CoDel's test for a backlog of one packet counts the packet's own queue, as Linux
//! does (RFC 8289 §4.4 would count all of them).

use std::collections::VecDeque;

use rand::Rng;
use rand_pcg::Pcg64;
use weir_units::{DataRate, DataSize};

use super::codel::{CoDel, Control};
use super::{Fifo, MTU, Overflow, PerFlow, WaitingPackets};
use crate::error::ConfigError;
use crate::packet::DropReason;
use crate::records::Records;

/// Parameters of FQ-CoDel. The default is that of the RFC and of Linux, but for the queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDel {
    /// CoDel in each queue.
    pub codel: CoDel,
    /// Bytes that a queue may send in a round, 1 B to 1 GB; 1514 B (RFC 8290 §5.2.4).
    pub quantum: DataSize,
    /// Number of queues to which flows are hashed, with a salt from the link's seed (1024 in RFC 8290 §5.2.3).
    /// `None` is one queue per flow without collisions.
    pub queues: Option<u32>,
}

impl Default for FqCoDel {
    fn default() -> Self {
        Self { codel: CoDel::default(), quantum: DataSize::from_bytes(1514), queues: None }
    }
}

/// More queues than this are a mistake.
const MOST_QUEUES: u32 = 65_536;
const LARGEST_QUANTUM: u64 = 1_000_000_000;
/// Most packets that are dropped at a time when the buffer is full (RFC 8290 §4.1).
const DROP_BATCH: usize = 64;

impl FqCoDel {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.codel.validate()?;
        if !(1..=LARGEST_QUANTUM).contains(&self.quantum.bytes()) {
            return Err(ConfigError::OutOfRange { name: "FQ-CoDel quantum", must: "from 1 byte to 1 GB" });
        }
        if self.queues.is_some_and(|queues| queues == 0 || queues > MOST_QUEUES) {
            return Err(ConfigError::OutOfRange {
                name: "number of FQ-CoDel queues",
                must: "from 1 to 65536",
            });
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct FlowQueue {
    fifo: Fifo,
    control: Control,
    credits: i64,
    /// Whether the queue is in one of the lists.
    listed: bool,
}

/// Assignment of packets to queues.
#[derive(Clone, Debug)]
enum Classifier {
    PerFlow(PerFlow<u32>),
    Hashed { salt: u64 },
}

/// Queues under FQ-CoDel.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDelQueue {
    config: FqCoDel,
    rate: DataRate,
    classifier: Classifier,
    queues: Vec<FlowQueue>,
    /// Queues that have become active since the last round.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Queues whose delay is above the target.
    above: u32,
}

impl FqCoDelQueue {
    pub(crate) fn new(config: FqCoDel, rate: DataRate, mut rng: Pcg64) -> Self {
        let classifier = match config.queues {
            None => Classifier::PerFlow(PerFlow::default()),
            Some(_) => Classifier::Hashed { salt: rng.next_u64() },
        };
        let mut all = Self {
            config,
            rate,
            classifier,
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            above: 0,
        };
        for _ in 0..config.queues.unwrap_or(0) {
            all.add_queue();
        }
        all
    }

    fn add_queue(&mut self) {
        let control = Control::new(&self.config.codel, self.rate);
        self.queues.push(FlowQueue { fifo: Fifo::default(), control, credits: 0, listed: false });
    }

    #[inline]
    fn classify(&mut self, flow: u32) -> u32 {
        let count = self.queues.len() as u32;
        match &mut self.classifier {
            Classifier::Hashed { salt } => (mix(u64::from(flow) ^ *salt) % u64::from(count)) as u32,
            Classifier::PerFlow(known) => {
                let index = *known.entry(flow, || count);
                if index == count {
                    self.add_queue();
                }
                index
            }
        }
    }

    fn leave_front(&mut self, from_new: bool) {
        let list = if from_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

impl WaitingPackets for FqCoDelQueue {
    #[inline]
    fn enqueue(&mut self, _now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        let index = self.classify(records[place].flow);
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(place, records);
        if !queue.listed {
            (queue.listed, queue.credits) = (true, self.config.quantum.bytes() as i64);
            self.new.push_back(index);
        }
        Ok(())
    }

    #[inline]
    fn dequeue(&mut self, now: u64, records: &mut Records) -> Option<u32> {
        loop {
            let from_new = !self.new.is_empty();
            let index = if from_new { *self.new.front()? } else { *self.old.front()? };
            let queue = &mut self.queues[index as usize];
            if queue.credits <= 0 {
                // RFC 8290 §4.2: its turn is over; Linux compares with zero included.
                queue.credits += self.config.quantum.bytes() as i64;
                self.leave_front(from_new);
                self.old.push_back(index);
                continue;
            }
            self.above -= u32::from(queue.control.is_above());
            let served = queue.control.dequeue(&mut queue.fifo, now, records);
            self.above += u32::from(queue.control.is_above());
            if let Some(place) = served {
                queue.credits -= i64::from(records[place].size);
                return served;
            }
            if from_new {
                // A queue cannot stay new by emptying itself.
                self.old.push_back(index);
            } else {
                queue.listed = false;
            }
            self.leave_front(from_new);
        }
    }

    fn overflow(&self) -> Overflow {
        Overflow::Longest
    }

    #[inline]
    fn pass(&mut self, now: u64, place: u32, records: &mut Records) -> Result<Option<u32>, DropReason> {
        let index = self.classify(records[place].flow);
        let queue = &mut self.queues[index as usize];
        if self.new.len() + self.old.len() > usize::from(queue.listed) {
            // Empty queues that are listed have their turns first.
            self.enqueue(now, place, records)?;
            return Ok(self.dequeue(now, records));
        }
        let quantum = self.config.quantum.bytes() as i64;
        if !queue.listed {
            (queue.listed, queue.credits) = (true, quantum);
            self.new.push_back(index);
        } else if queue.credits <= 0 {
            // Alone in its round, it has turn after turn.
            queue.credits += quantum * ((quantum - queue.credits) / quantum);
            if let Some(index) = self.new.pop_front() {
                self.old.push_back(index);
            }
        }
        queue.credits -= i64::from(records[place].size);
        self.above -= u32::from(queue.control.is_above());
        queue.control.rest();
        Ok(Some(place))
    }

    /// Drops half of the queue with the most bytes from its head, but at most a batch.
    fn make_room(&mut self, reason: DropReason, records: &mut Records) -> bool {
        let Some(longest) = self.queues.iter_mut().rev().max_by_key(|queue| queue.fifo.bytes()) else {
            return false;
        };
        let count = longest.fifo.len().div_ceil(2).min(DROP_BATCH);
        for _ in 0..count {
            let Some(place) = longest.fifo.pop(records) else { break };
            records.drop(place, reason);
        }
        count > 0
    }

    /// Each queue drops after an interval above its target; the queue served next is not looked up.
    #[inline]
    fn may_drop(&self, from: u64, until: u64) -> bool {
        let interval = self.config.codel.interval.nanos().max(0) as u64;
        self.above > 0 || until >= from.saturating_add(interval)
    }
}

/// The mixer of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const _: () = assert!(MTU <= 1514, "a quantum lets a packet of full size pass");

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::testing::{MS, Tested, packet};
    use super::*;
    use crate::records::LinkRecord;

    fn queue(config: FqCoDel) -> Tested<FqCoDelQueue> {
        Tested::new(FqCoDelQueue::new(config, DataRate::from_mbps(10), Pcg64::seed_from_u64(1)))
    }

    fn of_flow(flow: u32, arrival: u64, size: u32) -> LinkRecord {
        LinkRecord { flow, ..packet(arrival, size) }
    }

    fn flows_served(queue: &mut Tested<FqCoDelQueue>, count: usize) -> Vec<u32> {
        (0..count).map(|_| queue.dequeue(0).unwrap().flow).collect()
    }

    #[test]
    fn greedy_flows_share_bytes_whatever_the_size_of_their_packets() {
        let mut queue = queue(FqCoDel::default());
        for _ in 0..5000 {
            queue.enqueue(of_flow(1, 0, 1500)).unwrap();
            queue.enqueue(of_flow(2, 0, 300)).unwrap();
        }
        let served = flows_served(&mut queue, 3000);
        let large = served.iter().filter(|&&flow| flow == 1).count() as f64 * 1500.0;
        let small = served.iter().filter(|&&flow| flow == 2).count() as f64 * 300.0;
        assert!((large / small - 1.0).abs() < 0.01, "{large} and {small} bytes");
    }

    #[test]
    fn a_flow_that_sends_little_is_served_first_but_cannot_stay_new_by_emptying_itself() {
        let mut queue = queue(FqCoDel::default());
        for flow in [1, 3] {
            for _ in 0..10 {
                queue.enqueue(of_flow(flow, 0, 1500)).unwrap();
            }
        }
        // A packet each leaves 14 credits, a second one ends their time as new queues with -1486.
        assert_eq!(flows_served(&mut queue, 4), [1, 1, 3, 3]);
        queue.enqueue(of_flow(2, 0, 200)).unwrap();
        assert_eq!(flows_served(&mut queue, 1), [2]);
        // Found empty, flow 2 goes behind the old ones; flow 1 is served with 28 credits, flow 3 waits.
        assert_eq!(flows_served(&mut queue, 1), [1]);
        queue.enqueue(of_flow(2, 0, 200)).unwrap();
        assert_eq!(flows_served(&mut queue, 2), [3, 2]);
    }

    #[test]
    fn the_longest_queue_makes_room_from_its_head() {
        let mut queue = queue(FqCoDel::default());
        for n in 0..200 {
            queue.enqueue(of_flow(1, n, 1000)).unwrap();
        }
        queue.enqueue(of_flow(2, 0, 1500)).unwrap();
        assert!(queue.queue.make_room(DropReason::QueuePackets, &mut queue.records));
        let dropped: Vec<u64> = queue.dropped().iter().map(|packet| packet.arrival).collect();
        assert!(dropped.iter().copied().eq(0..64), "{dropped:?}");
        assert_eq!((queue.records.waiting(), queue.records.waiting_bytes()), (137, 136 * 1000 + 1500));
    }

    #[test]
    fn the_longest_queue_is_that_of_most_bytes() {
        // RFC 8290 §4.1: 20 packets of 1500 bytes, not 100 of 200.
        let mut queue = queue(FqCoDel::default());
        (0..100).for_each(|n| queue.enqueue(of_flow(1, n, 200)).unwrap());
        (0..20).for_each(|n| queue.enqueue(of_flow(2, n, 1500)).unwrap());
        assert!(queue.queue.make_room(DropReason::QueueBytes, &mut queue.records));
        let dropped = queue.dropped();
        assert_eq!(dropped.len(), 10);
        assert!(dropped.iter().all(|packet| packet.flow == 2));
    }

    #[test]
    fn each_flow_is_under_a_control_of_its_own() {
        // Flow 1 fills its queue, flow 2 sends a packet each 10 ms; only flow 1 loses any.
        let mut queue = queue(FqCoDel::default());
        for ms in 0..1000 {
            for _ in 0..2 {
                queue.enqueue(of_flow(1, ms * MS, 1000)).unwrap();
            }
            if ms % 10 == 0 {
                queue.enqueue(of_flow(2, ms * MS, 200)).unwrap();
            }
            queue.dequeue(ms * MS).unwrap();
        }
        let dropped = queue.dropped();
        assert!(dropped.len() > 10, "{}", dropped.len());
        assert!(dropped.iter().all(|packet| packet.flow == 1));
    }

    #[test]
    fn hashed_flows_spread_over_the_queues() {
        let config = FqCoDel { queues: Some(1024), ..FqCoDel::default() };
        let mut queue = queue(config);
        let mut used: Vec<u32> = (0..100).map(|flow| queue.queue.classify(flow)).collect();
        assert!(used.iter().all(|&index| index < 1024));
        used.sort_unstable();
        used.dedup();
        // 100 of 1024: 1024·(1 - (1 - 1/1024)^100) = 95.3 distinct ones on average.
        assert!((88..=100).contains(&used.len()), "{}", used.len());
        let none = FqCoDel { queues: Some(0), ..config };
        assert!(none.validate().is_err());
        let endless = FqCoDel { quantum: DataSize::from_bytes(u64::MAX), ..config };
        assert!(endless.validate().is_err());
    }
}
