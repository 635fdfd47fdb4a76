//! Controlled delay (RFC 8289).
//!
//! Differences from its pseudocode: packets that are ECN-capable are marked in place of being dropped, with the same
//! bookkeeping, and are served (as Linux does; the RFC leaves it out).

use weir_units::{DataRate, TimeDelta};

use super::{Fifo, MTU, Queued, Refuse, positive};
use crate::config::ConfigError;
use crate::packet::{DropReason, Packet};

/// Parameters of CoDel. The default is that of the RFC, with ECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDel {
    /// TARGET: acceptable standing queue delay, above 0; 5 ms (RFC 8289 §4.3).
    pub target: TimeDelta,
    /// INTERVAL: how long the delay may be above the target before it counts, above 0; 100 ms (RFC 8289 §4.3).
    pub interval: TimeDelta,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Whether the target is at least the time of 1.5 packets of 1500 bytes at the link's highest rate, for slow links
    /// (RFC 8290 §5.2.1 asks for at least one packet); off by default.
    pub raise_target: bool,
}

impl Default for CoDel {
    fn default() -> Self {
        Self {
            target: TimeDelta::from_millis(5),
            interval: TimeDelta::from_millis(100),
            ecn: true,
            raise_target: false,
        }
    }
}

impl CoDel {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        positive("CoDel target", self.target.nanos() as f64)?;
        positive("CoDel interval", self.interval.nanos() as f64)
    }
}

/// The state of one CoDel queue without its packets. Times in ns.
#[derive(Clone, Debug)]
pub(super) struct Control {
    target: u64,
    interval: u64,
    ecn: bool,
    /// When the delay will have been above the target for an interval; 0 while it is below.
    first_above: u64,
    drop_next: u64,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Control {
    pub(super) fn new(config: &CoDel, rate: DataRate) -> Self {
        let mut target = config.target.nanos().max(0) as u64;
        if config.raise_target && !rate.is_zero() {
            target = target.max(MTU * 12 * 1_000_000_000 / rate.bps());
        }
        Self {
            target,
            interval: config.interval.nanos().max(0) as u64,
            ecn: config.ecn,
            first_above: 0,
            drop_next: 0,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// The next packet of `fifo` and whether it is time to drop it. `others` are the bytes of other queues that share
    /// the server (RFC 8289 §4.4).
    #[inline]
    fn take<P>(&mut self, fifo: &mut Fifo<P>, now: u64, others: u64) -> (Option<Queued<P>>, bool) {
        let Some(packet) = fifo.pop() else {
            self.first_above = 0;
            return (None, false);
        };
        let sojourn = now.saturating_sub(packet.arrival);
        if sojourn < self.target || fifo.bytes() + others <= MTU {
            self.first_above = 0;
            return (Some(packet), false);
        }
        if self.first_above == 0 {
            self.first_above = now + self.interval;
            return (Some(packet), false);
        }
        let due = now >= self.first_above;
        (Some(packet), due)
    }

    /// The control law: the time after `from` at which the next packet is dropped.
    fn next(&self, from: u64) -> u64 {
        from + (self.interval as f64 / f64::from(self.count.max(1)).sqrt()) as u64
    }

    /// The packet to serve (RFC 8289 §5.5).
    #[inline]
    pub(super) fn dequeue<P: Packet>(
        &mut self,
        fifo: &mut Fifo<P>,
        now: u64,
        others: u64,
        refuse: &mut Refuse<P>,
    ) -> Option<Queued<P>> {
        let (packet, due) = self.take(fifo, now, others);
        let mut packet = packet?;
        if self.dropping {
            self.dropping = due;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if self.ecn && packet.mark() {
                    self.drop_next = self.next(self.drop_next);
                    break;
                }
                refuse.push_back((packet, DropReason::Aqm));
                let (following, due) = self.take(fifo, now, others);
                self.dropping = due;
                if due {
                    self.drop_next = self.next(self.drop_next);
                }
                packet = following?;
            }
        } else if due {
            let mut kept = Some(packet);
            if !(self.ecn && kept.as_mut().is_some_and(Queued::mark)) {
                refuse.extend(kept.map(|packet| (packet, DropReason::Aqm)));
                kept = self.take(fifo, now, others).0;
            }
            self.begin_dropping(now);
            return kept;
        }
        Some(packet)
    }

    /// The dropping state begins, at the rate of the last time if that was not long ago.
    fn begin_dropping(&mut self, now: u64) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_sub(self.drop_next) < 16 * self.interval;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.next(now);
        self.last_count = self.count;
    }
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub(crate) struct CoDelQueue<P> {
    pub(super) fifo: Fifo<P>,
    control: Control,
}

impl<P: Packet> CoDelQueue<P> {
    pub(super) fn new(config: CoDel, rate: DataRate) -> Self {
        Self { fifo: Fifo::default(), control: Control::new(&config, rate) }
    }

    #[inline]
    pub(super) fn enqueue(&mut self, packet: Queued<P>) {
        self.fifo.push(packet);
    }

    pub(super) fn dequeue(&mut self, now: u64, refuse: &mut Refuse<P>) -> Option<Queued<P>> {
        self.control.dequeue(&mut self.fifo, now, 0, refuse)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MS, Probe, probe, queued};
    use super::*;

    fn queue(config: CoDel) -> CoDelQueue<Probe> {
        CoDelQueue::new(config, DataRate::from_mbps(10))
    }

    /// One packet of 1000 bytes arrives each millisecond, one is served each two; each drop's or mark's time in ms.
    fn signals(ect: bool, until: u64) -> Vec<u64> {
        let mut queue = queue(CoDel::default());
        let mut refuse = Refuse::new();
        let mut times = Vec::new();
        for ms in 0..until {
            queue.enqueue(queued(ms * MS, 1000, Probe { ect, ..probe(ms as u32) }));
            if ms % 2 == 0 {
                let served = queue.dequeue(ms * MS, &mut refuse).unwrap();
                let signals = refuse.drain(..).count() + usize::from(served.marked);
                times.extend(std::iter::repeat_n(ms, signals));
            }
        }
        times
    }

    #[test]
    fn drops_follow_the_control_law() {
        // Packet k is served at 2·k ms and waits k ms, from 10 ms on the target of 5 ms; an interval later, at 110 ms,
        // the first is dropped, 100 ms later the second (count 1 → 2), then 100/√2 = 70.71 ms, 57.74, 50, 44.72 ms
        // after the scheduled time of the one before: 210, 280.71, 338.45, 388.45, 433.17 ms, each seen at the next
        // even millisecond. Drops shorten the queue by a packet of 1 ms each, far from the target.
        assert_eq!(signals(false, 440)[..6], [110, 210, 282, 340, 390, 434]);
    }

    #[test]
    fn marks_follow_the_same_law_and_keep_the_packets() {
        assert_eq!(signals(true, 440)[..6], [110, 210, 282, 340, 390, 434]);
    }

    #[test]
    fn a_delay_that_falls_below_the_target_in_time_drops_nothing() {
        let mut queue = queue(CoDel::default());
        let mut refuse = Refuse::new();
        for n in 0..200 {
            queue.enqueue(queued(0, 1000, probe(n)));
        }
        // 99 ms above the target, then everything leaves at once.
        for ms in 5..104 {
            queue.dequeue(ms * MS, &mut refuse).unwrap();
        }
        queue.fifo = Fifo::default();
        queue.enqueue(queued(104 * MS, 1000, probe(0)));
        queue.dequeue(105 * MS, &mut refuse).unwrap();
        assert!(refuse.is_empty());
    }

    #[test]
    fn a_backlog_of_at_most_a_packet_is_never_dropped() {
        let mut queue = queue(CoDel::default());
        let mut refuse = Refuse::new();
        // Each packet waits 50 ms, and behind it is one of 1500 bytes.
        queue.enqueue(queued(0, 1500, probe(0)));
        for n in 1..100 {
            queue.enqueue(queued(50 * MS * u64::from(n) - MS, 1500, probe(n)));
            queue.dequeue(50 * MS * u64::from(n), &mut refuse).unwrap();
        }
        assert!(refuse.is_empty());
    }

    #[test]
    fn a_slow_link_may_raise_the_target() {
        let raised = |rate| {
            let config = CoDel { raise_target: true, ..CoDel::default() };
            Control::new(&config, DataRate::from_kbps(rate)).target
        };
        // 1.5 · 1500 · 8 bits at 1 Mbit/s are 18 ms, at 10 Mbit/s 1.8 ms.
        assert_eq!((raised(1000), raised(10_000)), (18 * MS, 5 * MS));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let wrong = CoDel { interval: TimeDelta::ZERO, ..CoDel::default() };
        assert_eq!(
            wrong.validate().map_err(|e| e.to_string()),
            Err("the CoDel interval must be above 0".into())
        );
    }
}
