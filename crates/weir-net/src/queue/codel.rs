//! Controlled delay (RFC 8289).
//!
//! Differences from its pseudocode: packets that are ECN-capable are marked in place of being dropped, with the same
//! bookkeeping, and are served (as Linux does; the RFC leaves it out).

use weir_units::{DataRate, TimeDelta};

use super::{Fifo, MTU, WaitingPackets, positive};
use crate::error::ConfigError;
use crate::packet::DropReason;
use crate::records::Records;

/// Parameters of CoDel. The default is that of the RFC, with ECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDel {
    /// TARGET: acceptable standing queue delay, above 0; 5 ms (RFC 8289 §4.3).
    pub target: TimeDelta,
    /// INTERVAL: how long the delay may be above the target before it counts, above 0; 100 ms (RFC 8289 §4.3).
    pub interval: TimeDelta,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Whether the target is at least the time of 1.5 packets of 1500 bytes at the link's highest rate, for slow
    /// links. Off by default (RFC 8290 §5.2.1 asks for at least one packet).
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

    /// The next packet of `fifo` and whether it is time to drop it.
    #[inline]
    fn take(&mut self, fifo: &mut Fifo, now: u64, records: &mut Records) -> (Option<u32>, bool) {
        let Some(place) = fifo.pop(records) else {
            self.first_above = 0;
            return (None, false);
        };
        let sojourn = now.saturating_sub(records[place].arrival);
        // Below the target, or at most a packet of full size queued: the interval starts anew.
        if sojourn < self.target || fifo.bytes() <= MTU {
            self.first_above = 0;
            return (Some(place), false);
        }
        // The delay has just exceeded the target, and must stay there for an interval.
        if self.first_above == 0 {
            self.first_above = now + self.interval;
            return (Some(place), false);
        }
        let due = now >= self.first_above;
        (Some(place), due)
    }

    /// The delay is below the target: a packet has not waited at all.
    #[inline]
    pub(super) fn rest(&mut self) {
        (self.first_above, self.dropping) = (0, false);
    }

    /// When a packet may be dropped at the soonest, if the delay is not yet above the target at `from`.
    #[inline]
    pub(super) fn soonest(&self, from: u64) -> u64 {
        from.saturating_add(self.interval)
    }

    /// Whether the delay is above the target. Drops begin only after an interval in this state.
    #[inline]
    pub(super) fn is_above(&self) -> bool {
        self.first_above != 0
    }

    /// CoDel's control law (RFC 8289 §3.3): the time after `from` at which the next packet is dropped.
    fn next(&self, from: u64) -> u64 {
        from + (self.interval as f64 / f64::from(self.count.max(1)).sqrt()) as u64
    }

    /// The packet to serve (RFC 8289 §5.5).
    #[inline]
    pub(super) fn dequeue(&mut self, fifo: &mut Fifo, now: u64, records: &mut Records) -> Option<u32> {
        let (place, due) = self.take(fifo, now, records);
        let mut place = place?;
        if self.dropping {
            self.dropping = due;
            // At high drop rates the next drop may already be due, hence the loop (RFC 8289 §5.5).
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                // A mark has the effect of a drop, but the packet is served.
                if self.ecn && records[place].mark() {
                    self.drop_next = self.next(self.drop_next);
                    break;
                }
                records.drop(place, DropReason::Aqm);
                let (following, due) = self.take(fifo, now, records);
                self.dropping = due;
                if due {
                    self.drop_next = self.next(self.drop_next);
                }
                place = following?;
            }
        } else if due {
            let mut kept = Some(place);
            if !(self.ecn && records[place].mark()) {
                records.drop(place, DropReason::Aqm);
                kept = self.take(fifo, now, records).0;
            }
            self.begin_dropping(now);
            return kept;
        }
        Some(place)
    }

    /// The dropping state begins, at the rate of the last time if that was not long ago.
    fn begin_dropping(&mut self, now: u64) {
        self.dropping = true;
        // Soon after the last dropping state, its drop rate is a good start (RFC 8289 §5.5).
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.saturating_sub(self.drop_next) < 16 * self.interval;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.next(now);
        self.last_count = self.count;
    }
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub(crate) struct CoDelQueue {
    fifo: Fifo,
    control: Control,
}

impl CoDelQueue {
    pub(crate) fn new(config: CoDel, rate: DataRate) -> Self {
        Self { fifo: Fifo::default(), control: Control::new(&config, rate) }
    }
}

impl WaitingPackets for CoDelQueue {
    #[inline]
    fn enqueue(&mut self, _now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.fifo.push(place, records);
        Ok(())
    }

    #[inline]
    fn dequeue(&mut self, now: u64, records: &mut Records) -> Option<u32> {
        self.control.dequeue(&mut self.fifo, now, records)
    }

    #[inline]
    fn pass(&mut self, _now: u64, place: u32, _records: &mut Records) -> Result<Option<u32>, DropReason> {
        self.control.rest();
        Ok(Some(place))
    }

    #[inline]
    fn may_drop(&self, from: u64, until: u64) -> bool {
        until >= if self.control.is_above() { self.control.first_above } else { self.control.soonest(from) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MS, Tested, packet};
    use super::*;
    use crate::records::LinkRecord;

    fn queue(config: CoDel) -> Tested<CoDelQueue> {
        Tested::new(CoDelQueue::new(config, DataRate::from_mbps(10)))
    }

    /// A packet of 1000 bytes arrives each millisecond, and a packet is served each two. Returns the time of each
    /// drop or mark in ms.
    fn signals(ect: bool, until: u64) -> Vec<u64> {
        let mut queue = queue(CoDel::default());
        let mut times = Vec::new();
        for ms in 0..until {
            let packet = LinkRecord { ecn_capable: ect, ..packet(ms * MS, 1000) };
            queue.enqueue(packet).unwrap();
            if ms % 2 == 0 {
                let served = queue.dequeue(ms * MS).unwrap();
                let signals = queue.dropped().len() + usize::from(served.marked);
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
        for _ in 0..200 {
            queue.enqueue(packet(0, 1000)).unwrap();
        }
        // 99 ms above the target, then everything leaves at once.
        for ms in 5..104 {
            queue.dequeue(ms * MS).unwrap();
        }
        while queue.dequeue(104 * MS).is_some() {}
        queue.enqueue(packet(104 * MS, 1000)).unwrap();
        queue.dequeue(105 * MS).unwrap();
        // Another 99 ms above the target: without the calm in between, they would be too many.
        for _ in 0..200 {
            queue.enqueue(packet(105 * MS, 1000)).unwrap();
        }
        for ms in 111..210 {
            queue.dequeue(ms * MS).unwrap();
        }
        assert!(queue.dropped().is_empty());
    }

    #[test]
    fn a_backlog_of_at_most_a_packet_is_never_dropped() {
        let mut queue = queue(CoDel::default());
        // Each packet waits 50 ms, and behind it is one of 1500 bytes.
        queue.enqueue(packet(0, 1500)).unwrap();
        for n in 1..100 {
            queue.enqueue(packet(50 * MS * n - MS, 1500)).unwrap();
            queue.dequeue(50 * MS * n).unwrap();
        }
        assert!(queue.dropped().is_empty());
    }

    #[test]
    fn the_drop_rate_of_the_last_time_is_remembered_for_16_intervals() {
        let count_after = |nanos: u64| {
            let mut control = Control::new(&CoDel::default(), DataRate::from_mbps(10));
            (control.count, control.last_count, control.drop_next) = (10, 1, 1000 * MS);
            control.begin_dropping(1000 * MS + nanos);
            (control.count, control.drop_next - control.drop_next.min(1000 * MS + nanos))
        };
        // RFC 8289 §5.4, §5.5: nine drops more than when the state began; 100/√9 ms to the next.
        assert_eq!(count_after(1600 * MS - 1), (9, 33_333_333));
        assert_eq!(count_after(1600 * MS), (1, 100 * MS));
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
