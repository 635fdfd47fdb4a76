//! Flow queuing with controlled delay (RFC 8290).
//!
//! Differences: by default each flow has a queue of its own, so that no two flows ever share one (the RFC hashes them
//! to 1024 queues; `queues` does so). CoDel's test for a backlog of one packet counts all queues (RFC 8289 §4.4).

use std::collections::VecDeque;

use rand::Rng;
use rand_pcg::Pcg64;
use weir_units::{DataRate, DataSize};

use super::codel::{CoDel, Control};
use super::{Fifo, MTU, PerFlow, Queued, Refuse, positive};
use crate::config::ConfigError;
use crate::packet::{DropReason, Packet};

/// Parameters of FQ-CoDel. The default is that of the RFC and of Linux, but for the queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDel {
    /// CoDel in each queue.
    pub codel: CoDel,
    /// Bytes that a queue may send in a round, above 0; 1514 B (RFC 8290 §5.2.4).
    pub quantum: DataSize,
    /// How many queues flows are hashed to, with a salt from the link's seed (1024 in RFC 8290 §5.2.3); `None` for one
    /// queue per flow without collisions.
    pub queues: Option<u32>,
}

impl Default for FqCoDel {
    fn default() -> Self {
        Self { codel: CoDel::default(), quantum: DataSize::from_bytes(1514), queues: None }
    }
}

/// More queues than this are a mistake.
const MOST_QUEUES: u32 = 65_536;
/// Most packets that are dropped at a time when there is no room (RFC 8290 §4.1).
const DROP_BATCH: usize = 64;

impl FqCoDel {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.codel.validate()?;
        positive("FQ-CoDel quantum", self.quantum.bytes() as f64)?;
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
struct FlowQueue<P> {
    fifo: Fifo<P>,
    control: Control,
    credits: i64,
    /// Whether it is in one of the lists.
    listed: bool,
}

/// Which queue a packet goes to.
#[derive(Clone, Debug)]
enum Classifier {
    PerFlow(PerFlow<u32>),
    Hashed { salt: u64 },
}

/// Queues under FQ-CoDel.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDelQueue<P> {
    config: FqCoDel,
    rate: DataRate,
    classifier: Classifier,
    queues: Vec<FlowQueue<P>>,
    /// Queues that have become active since the last round.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
}

impl<P: Packet> FqCoDelQueue<P> {
    pub(super) fn new(config: FqCoDel, rate: DataRate, mut rng: Pcg64) -> Self {
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
            packets: 0,
            bytes: 0,
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

    #[inline]
    pub(super) fn enqueue(&mut self, packet: Queued<P>) {
        let index = self.classify(packet.packet.flow());
        (self.packets, self.bytes) = (self.packets + 1, self.bytes + u64::from(packet.size));
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(packet);
        if !queue.listed {
            (queue.listed, queue.credits) = (true, self.config.quantum.bytes() as i64);
            self.new.push_back(index);
        }
    }

    #[inline]
    pub(super) fn dequeue(&mut self, now: u64, refuse: &mut Refuse<P>) -> Option<Queued<P>> {
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
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let served = queue.control.dequeue(&mut queue.fifo, now, self.bytes - bytes, refuse);
            self.packets -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            if let Some(packet) = served {
                queue.credits -= i64::from(packet.size);
                return Some(packet);
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

    fn leave_front(&mut self, from_new: bool) {
        let list = if from_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }

    /// Half of the queue with the most bytes goes, from its head, but at most a batch.
    pub(super) fn drop_from_longest(&mut self, reason: DropReason, refuse: &mut Refuse<P>) -> bool {
        let Some(longest) = self.queues.iter_mut().rev().max_by_key(|queue| queue.fifo.bytes()) else {
            return false;
        };
        let count = longest.fifo.len().div_ceil(2).min(DROP_BATCH);
        for packet in (0..count).filter_map(|_| longest.fifo.pop()) {
            (self.packets, self.bytes) = (self.packets - 1, self.bytes - u64::from(packet.size));
            refuse.push_back((packet, reason));
        }
        count > 0
    }

    pub(super) fn packets(&self) -> usize {
        self.packets
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
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

    use super::super::testing::{MS, Probe, probe, queued};
    use super::*;

    fn queue(config: FqCoDel) -> FqCoDelQueue<Probe> {
        FqCoDelQueue::new(config, DataRate::from_mbps(10), Pcg64::seed_from_u64(1))
    }

    fn of_flow(flow: u32) -> Probe {
        Probe { flow, ..probe(0) }
    }

    fn flows_served(queue: &mut FqCoDelQueue<Probe>, count: usize) -> Vec<u32> {
        let mut refuse = Refuse::new();
        (0..count).map(|_| queue.dequeue(0, &mut refuse).unwrap().packet.flow).collect()
    }

    #[test]
    fn greedy_flows_share_bytes_whatever_the_size_of_their_packets() {
        let mut queue = queue(FqCoDel::default());
        for _ in 0..5000 {
            queue.enqueue(queued(0, 1500, of_flow(1)));
            queue.enqueue(queued(0, 300, of_flow(2)));
        }
        let served = flows_served(&mut queue, 3000);
        let large = served.iter().filter(|&&flow| flow == 1).count() as f64 * 1500.0;
        let small = served.iter().filter(|&&flow| flow == 2).count() as f64 * 300.0;
        assert!((large / small - 1.0).abs() < 0.01, "{large} and {small} bytes");
    }

    #[test]
    fn a_flow_that_sends_little_is_served_first() {
        let mut queue = queue(FqCoDel::default());
        for _ in 0..10 {
            queue.enqueue(queued(0, 1500, of_flow(1)));
        }
        // Its first packet leaves 14 credits, its second ends its time as a new queue.
        assert_eq!(flows_served(&mut queue, 3), [1, 1, 1]);
        queue.enqueue(queued(0, 200, of_flow(2)));
        assert_eq!(flows_served(&mut queue, 2), [2, 1]);
        queue.enqueue(queued(0, 200, of_flow(2)));
        // Emptied while new it has become old: it waits for its turn behind flow 1, which has 28 credits left.
        let served = flows_served(&mut queue, 3);
        assert!(served.contains(&2), "{served:?}");
    }

    #[test]
    fn the_longest_queue_makes_room_from_its_head() {
        let mut queue = queue(FqCoDel::default());
        for n in 0..200 {
            queue.enqueue(queued(0, 1000, Probe { number: n, ..of_flow(1) }));
        }
        queue.enqueue(queued(0, 1500, of_flow(2)));
        let mut refuse = Refuse::new();
        assert!(queue.drop_from_longest(DropReason::QueuePackets, &mut refuse));
        assert_eq!(refuse.len(), 64);
        assert!(refuse.iter().enumerate().all(|(i, (packet, _))| packet.packet.number == i as u32));
        assert_eq!((queue.packets(), queue.bytes()), (137, 136 * 1000 + 1500));
    }

    #[test]
    fn each_flow_is_under_a_control_of_its_own() {
        // Flow 1 fills its queue, flow 2 sends a packet each 10 ms; only flow 1 loses any.
        let mut queue = queue(FqCoDel::default());
        let mut refuse = Refuse::new();
        for ms in 0..1000 {
            for _ in 0..2 {
                queue.enqueue(queued(ms * MS, 1000, of_flow(1)));
            }
            if ms % 10 == 0 {
                queue.enqueue(queued(ms * MS, 200, of_flow(2)));
            }
            queue.dequeue(ms * MS, &mut refuse).unwrap();
        }
        assert!(refuse.len() > 10, "{}", refuse.len());
        assert!(refuse.iter().all(|(packet, _)| packet.packet.flow == 1));
    }

    #[test]
    fn hashed_flows_spread_over_the_queues() {
        let config = FqCoDel { queues: Some(1024), ..FqCoDel::default() };
        let mut queue = queue(config);
        let mut used: Vec<u32> = (0..100).map(|flow| queue.classify(flow)).collect();
        assert!(used.iter().all(|&index| index < 1024));
        used.sort_unstable();
        used.dedup();
        // 100 of 1024: 1024·(1 - (1 - 1/1024)^100) = 95.3 distinct ones on average.
        assert!((88..=100).contains(&used.len()), "{}", used.len());
        let none = FqCoDel { queues: Some(0), ..config };
        assert!(none.validate().is_err());
    }
}
