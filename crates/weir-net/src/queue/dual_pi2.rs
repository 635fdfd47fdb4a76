//! Two coupled queues for low latency, low loss and scalable throughput (RFC 9332, appendix A: DualPI2).
//!
//! Differences: probabilities become drops and marks by accumulation, without randomness (the `recur` of the RFC's
//! appendix A.2). The controller's timer runs from the start of the run. The limit that both queues share is checked by the
//! queue around them.

use weir_units::TimeDelta;

use super::{Fifo, WaitingPackets, long_enough, positive, probability};
use crate::error::{ConfigError, not_negative};
use crate::packet::DropReason;
use crate::records::{LinkRecord, Records};

/// Parameters of DualPI2. The default is that of RFC 9332, appendix A.1, with weighted round robin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2 {
    /// target: delay of the Classic queue to hold, at least 100 µs; 15 ms.
    pub target: TimeDelta,
    /// RTT_max: largest round-trip time for which the controller is stable, at least 300 µs; 100 ms.
    pub max_rtt: TimeDelta,
    /// k, above 0: coupling of the L4S marking probability to the root of the Classic one; 2.
    pub coupling: f64,
    /// minTh: delay of the L4S queue from which its packets are marked; 800 µs.
    pub ramp_from: TimeDelta,
    /// range: over how much more delay its marking rises to all; 400 µs.
    pub ramp_range: TimeDelta,
    /// Rule that chooses the queue to serve.
    pub scheduler: Scheduler,
    /// Whether ECN-capable Classic packets are marked instead of dropped.
    pub ecn: bool,
}

/// How DualPI2 chooses between its queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheduler {
    /// Weighted round robin (RFC 9332 §4.2.2) by bytes.
    Weighted {
        /// Share of the Classic queue while both have packets, in [0, 1].
        classic: f64,
    },
    /// The queue whose first packet has waited longer, the L4S queue with this head start (time-shifted FIFO).
    TimeShifted {
        /// The head start.
        shift: TimeDelta,
    },
}

impl Default for DualPi2 {
    fn default() -> Self {
        Self {
            target: TimeDelta::from_millis(15),
            max_rtt: TimeDelta::from_millis(100),
            coupling: 2.0,
            ramp_from: TimeDelta::from_micros(800),
            ramp_range: TimeDelta::from_micros(400),
            scheduler: Scheduler::Weighted { classic: 1.0 / 16.0 },
            ecn: true,
        }
    }
}

impl DualPi2 {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        long_enough("DualPI2 target", self.target)?;
        long_enough("third of DualPI2's maximum RTT", self.max_rtt / 3)?;
        not_negative("start of DualPI2's ramp", Some(self.ramp_from))?;
        positive("coupling of DualPI2", self.coupling)?;
        positive("ramp of DualPI2", self.ramp_range.nanos() as f64)?;
        match self.scheduler {
            Scheduler::Weighted { classic } => probability("Classic share of DualPI2", classic),
            Scheduler::TimeShifted { shift } => not_negative("time shift of DualPI2", Some(shift)),
        }
    }

    /// Tupdate = min(target, RTT_max/3), in ns.
    fn update_period(&self) -> u64 {
        (self.target.nanos().min(self.max_rtt.nanos() / 3)).max(1) as u64
    }
}

/// From the delay to the base probability, and from that to those of the queues. Times in seconds.
#[derive(Clone, Debug)]
struct DualPi2Controller {
    alpha: f64,
    beta: f64,
    coupling: f64,
    target: f64,
    /// Delay at the last update.
    previous: f64,
    /// p'.
    base: f64,
}

impl DualPi2Controller {
    fn new(config: &DualPi2) -> Self {
        let (max_rtt, update) = (config.max_rtt.secs_f64(), config.update_period() as f64 / 1e9);
        Self {
            alpha: 0.1 * update / (max_rtt * max_rtt),
            beta: 0.3 / max_rtt,
            coupling: config.coupling,
            target: config.target.secs_f64(),
            previous: 0.0,
            base: 0.0,
        }
    }

    /// RFC 9332, figure 6.
    fn update(&mut self, delay: f64) {
        let step = self.alpha * (delay - self.target) + self.beta * (delay - self.previous);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.previous = delay;
    }

    /// p_CL: marking probability of the L4S queue that the Classic queue causes.
    fn coupled(&self) -> f64 {
        self.coupling * self.base
    }

    /// p_C: drop probability of the Classic queue.
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// p_Cmax: from this Classic probability on the queue is overloaded.
    fn classic_max(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }
}

/// Two queues under DualPI2. Times in ns.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2Queue {
    config: DualPi2,
    l4s: Fifo,
    classic: Fifo,
    controller: DualPi2Controller,
    next_update: u64,
    /// Accumulated probability of each queue.
    l4s_count: f64,
    classic_count: f64,
    /// Credit of the Classic queue in weighted bytes.
    credit: f64,
}

/// Adds to a count of probabilities; whether it has passed one.
#[inline]
fn recur(count: &mut f64, probability: f64) -> bool {
    *count += probability;
    let due = *count > 1.0;
    if due {
        *count -= 1.0;
    }
    due
}

impl DualPi2Queue {
    pub(crate) fn new(config: DualPi2) -> Self {
        Self {
            config,
            l4s: Fifo::default(),
            classic: Fifo::default(),
            controller: DualPi2Controller::new(&config),
            next_update: config.update_period(),
            l4s_count: 0.0,
            classic_count: 0.0,
            credit: 0.0,
        }
    }

    /// Computes every probability that was due up to `now`.
    #[inline]
    fn catch_up(&mut self, now: u64, records: &Records) {
        if now < self.next_update {
            return;
        }
        let period = self.config.update_period();
        while self.next_update <= now {
            let at = self.next_update;
            let delay = oldest(&self.classic, at, records).max(oldest(&self.l4s, at, records));
            // Nothing changes any more until a packet arrives.
            if delay == 0
                && self.controller.base == 0.0
                && self.controller.previous == 0.0
                && records.waiting() == 0
            {
                self.next_update += (now - at) / period * period + period;
                return;
            }
            self.controller.update(delay as f64 / 1e9);
            self.next_update += period;
        }
    }

    fn chooses_l4s(&self, now: u64, records: &Records) -> bool {
        if self.l4s.is_empty() || self.classic.is_empty() {
            return !self.l4s.is_empty();
        }
        match self.config.scheduler {
            // The Classic queue is served while it has credit.
            Scheduler::Weighted { .. } => self.credit <= 0.0,
            Scheduler::TimeShifted { shift } => {
                let l4s = oldest(&self.l4s, now, records).saturating_add_signed(shift.nanos());
                l4s >= oldest(&self.classic, now, records)
            }
        }
    }

    /// A packet of the L4S queue, and whether it is to be dropped.
    fn take_l4s(&mut self, now: u64, records: &mut Records) -> Option<(u32, bool)> {
        // The queue's own ramp never marks a packet without another one behind it.
        let alone = self.l4s.len() <= 1;
        let place = self.l4s.pop(records)?;
        let packet = &mut records[place];
        let native = if alone { 0.0 } else { self.ramp(now.saturating_sub(packet.arrival)) };
        let dropped = self.drops_l4s(packet, native);
        if let Scheduler::Weighted { classic } = self.config.scheduler
            && !dropped
            && !self.classic.is_empty()
        {
            self.credit += f64::from(packet.size) * classic;
        }
        Some((place, dropped))
    }

    /// Whether a packet of the L4S queue is dropped, for which its own queue has the probability `native`; marks it
    /// if need be (RFC 9332, figure 5).
    fn drops_l4s(&mut self, packet: &mut LinkRecord, native: f64) -> bool {
        let coupled = self.controller.coupled();
        if coupled < 1.0 {
            if recur(&mut self.l4s_count, native.max(coupled)) {
                packet.mark();
            }
            return false;
        }
        // Overload: drops as in the Classic queue.
        if recur(&mut self.l4s_count, self.controller.classic()) {
            return true;
        }
        packet.mark();
        false
    }

    /// p'_L: the L4S queue's own marking probability.
    fn ramp(&self, sojourn: u64) -> f64 {
        let above = sojourn as f64 - self.config.ramp_from.nanos() as f64;
        (above / self.config.ramp_range.nanos() as f64).clamp(0.0, 1.0)
    }

    /// A packet of the Classic queue, and whether it is to be dropped.
    fn take_classic(&mut self, records: &mut Records) -> Option<(u32, bool)> {
        let place = self.classic.pop(records)?;
        let packet = &mut records[place];
        let dropped = self.drops_classic(packet);
        if let Scheduler::Weighted { classic } = self.config.scheduler
            && !dropped
            && !self.l4s.is_empty()
        {
            self.credit -= f64::from(packet.size) * (1.0 - classic);
        }
        Some((place, dropped))
    }

    /// Whether a packet of the Classic queue is dropped; marks it instead if it is ECN-capable.
    fn drops_classic(&mut self, packet: &mut LinkRecord) -> bool {
        let probability = self.controller.classic();
        if !recur(&mut self.classic_count, probability) {
            return false;
        }
        let marks = self.config.ecn && probability < self.controller.classic_max();
        !(marks && packet.mark())
    }
}

impl WaitingPackets for DualPi2Queue {
    #[inline]
    fn enqueue(&mut self, now: u64, place: u32, records: &mut Records) -> Result<(), DropReason> {
        self.catch_up(now, records);
        let fifo = if records[place].l4s { &mut self.l4s } else { &mut self.classic };
        fifo.push(place, records);
        Ok(())
    }

    #[inline]
    fn dequeue(&mut self, now: u64, records: &mut Records) -> Option<u32> {
        self.catch_up(now, records);
        loop {
            let l4s = self.chooses_l4s(now, records);
            let taken = if l4s { self.take_l4s(now, records) } else { self.take_classic(records) };
            match taken? {
                (place, true) => records.drop(place, DropReason::Aqm),
                (place, false) => return Some(place),
            }
        }
    }

    #[inline]
    fn pass(&mut self, now: u64, place: u32, records: &mut Records) -> Result<Option<u32>, DropReason> {
        self.catch_up(now, records);
        let packet = &mut records[place];
        let dropped = if packet.l4s { self.drops_l4s(packet, 0.0) } else { self.drops_classic(packet) };
        if dropped {
            records.drop(place, DropReason::Aqm);
        }
        Ok((!dropped).then_some(place))
    }

    #[inline]
    fn may_drop(&self, _from: u64, until: u64) -> bool {
        self.controller.base > 0.0 || self.next_update <= until
    }
}

/// How long the first packet of `fifo` has waited at `now`, ns.
fn oldest(fifo: &Fifo, now: u64, records: &Records) -> u64 {
    fifo.front(records).map_or(0, |first| now.saturating_sub(first.arrival))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MS, Tested, capable, packet};
    use super::*;
    use crate::records::LinkRecord;

    fn queue(config: DualPi2) -> Tested<DualPi2Queue> {
        Tested::new(DualPi2Queue::new(config))
    }

    fn l4s(arrival: u64) -> LinkRecord {
        LinkRecord { l4s: true, ..capable(arrival, 1000) }
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn the_gains_follow_from_the_largest_round_trip_time() {
        // Tupdate = min(15, 100/3) ms = 15 ms: alpha = 0.1·0.015/0.1² = 0.15, beta = 0.3/0.1 = 3.
        let mut controller = DualPi2Controller::new(&DualPi2::default());
        assert_near(controller.alpha, 0.15, 1e-12);
        assert_near(controller.beta, 3.0, 1e-12);
        // From 0 to 25 ms: 0.15·0.010 + 3·0.025 = 0.0765.
        controller.update(0.025);
        assert_near(controller.base, 0.0765, 1e-12);
    }

    #[test]
    fn the_queues_are_coupled_by_a_square() {
        let mut controller = DualPi2Controller::new(&DualPi2::default());
        controller.base = 0.1;
        assert_near(controller.coupled(), 0.2, 1e-12);
        assert_near(controller.classic(), 0.01, 1e-12);
        assert_near(controller.classic_max(), 0.25, 1e-12);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let before = TimeDelta::from_nanos(-1);
        let wrong = [
            DualPi2 { target: TimeDelta::from_nanos(1), ..DualPi2::default() },
            DualPi2 { max_rtt: TimeDelta::from_micros(299), ..DualPi2::default() },
            DualPi2 { ramp_from: before, ..DualPi2::default() },
            DualPi2 { scheduler: Scheduler::TimeShifted { shift: before }, ..DualPi2::default() },
        ];
        assert!(wrong.iter().all(|config| config.validate().is_err()));
    }

    #[test]
    fn the_ramp_of_the_l4s_queue_rises_from_0_8_to_1_2_ms() {
        let ramp = |micros: u64| queue(DualPi2::default()).queue.ramp(micros * 1000);
        assert_eq!([0, 800, 1000, 1200, 5000].map(ramp), [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    /// Drops and marks of 10 000 packets from a standing queue of either kind under a fixed base probability.
    fn signals(base: f64, packet: LinkRecord, sojourn: u64) -> (usize, usize) {
        let mut queue = queue(DualPi2::default());
        queue.queue.next_update = u64::MAX;
        queue.queue.controller.base = base;
        for _ in 0..10_001 {
            queue.enqueue(packet).unwrap();
        }
        let mut marked = 0;
        while queue.records.waiting() > 1 {
            marked += usize::from(queue.dequeue(sojourn).unwrap().marked);
        }
        (queue.dropped().len(), marked)
    }

    #[test]
    fn each_queue_is_signalled_at_its_own_probability() {
        let near = |count: usize, expected: usize| count.abs_diff(expected) <= 1;
        // p' = 0.1: 20 % of L4S packets are marked, 1 % of Classic ones dropped, or marked if they can be.
        let (dropped, marked) = signals(0.1, l4s(0), MS / 2);
        assert!(dropped == 0 && near(marked, 2000), "{marked}");
        let (dropped, marked) = signals(0.1, packet(0, 1000), MS);
        assert!(near(dropped, 100) && marked == 0, "{dropped}");
        let (dropped, marked) = signals(0.1, capable(0, 1000), MS);
        assert!(dropped == 0 && near(marked, 100), "{marked}");
        // At 1 ms in the L4S queue the ramp gives 50 %, more than the coupling.
        let (_, marked) = signals(0.1, l4s(0), MS);
        assert!(near(marked, 5000), "{marked}");
    }

    #[test]
    fn under_overload_both_queues_drop_alike_and_the_rest_of_l4s_is_marked() {
        // p_C = p'^2, drops capable or not; p_CL = 2·p' is above 1.
        for (base, expected) in [(0.5, 2500), (0.6, 3600), (0.8, 6400)] {
            let (dropped, _) = signals(base, capable(0, 1000), MS);
            assert!(dropped.abs_diff(expected) <= 1, "Classic at {base}: {dropped}");
            let (dropped, marked) = signals(base, l4s(0), MS);
            assert!(dropped.abs_diff(expected) <= 1, "L4S at {base}: {dropped}");
            assert!((10_000 - expected).abs_diff(marked) <= 1, "L4S at {base}: {marked} marked");
        }
    }

    #[test]
    fn the_probability_follows_the_longer_wait_of_both_queues_every_15_ms() {
        let mut queue = queue(DualPi2::default());
        queue.enqueue(packet(0, 1000)).unwrap();
        queue.enqueue(l4s(5 * MS)).unwrap();
        queue.enqueue(packet(16 * MS, 1000)).unwrap();
        // At 15 ms Classic has waited 15 ms, L4S 10: 0.15·0 + 3·0.015 = 0.045.
        assert_near(queue.queue.controller.base, 0.045, 1e-12);
        // The first Classic packet leaves; at 30 ms L4S has waited 25 ms, Classic 14: 0.15·0.010 + 3·0.010 more.
        queue.queue.take_classic(&mut queue.records).unwrap();
        queue.enqueue(packet(30 * MS, 1000)).unwrap();
        assert_near(queue.queue.controller.base, 0.0765, 1e-12);
    }

    #[test]
    fn the_classic_queue_keeps_its_share_by_either_scheduler() {
        let served = |scheduler| {
            let mut queue = queue(DualPi2 { scheduler, ..DualPi2::default() });
            queue.queue.next_update = u64::MAX;
            for _ in 0..2000 {
                queue.enqueue(l4s(0)).unwrap();
                queue.enqueue(packet(0, 1000)).unwrap();
            }
            let classic = (0..1600).filter(|_| !queue.dequeue(0).unwrap().l4s).count();
            assert!(queue.dropped().is_empty());
            classic
        };
        let weighted = served(Scheduler::Weighted { classic: 1.0 / 16.0 });
        assert!((99..=101).contains(&weighted), "{weighted}");
        assert_eq!(served(Scheduler::TimeShifted { shift: TimeDelta::from_millis(50) }), 0);
    }

    #[test]
    fn a_head_start_is_used_up_by_waiting_longer() {
        let scheduler = Scheduler::TimeShifted { shift: TimeDelta::from_millis(50) };
        let mut queue = queue(DualPi2 { scheduler, ..DualPi2::default() });
        queue.queue.next_update = u64::MAX;
        queue.enqueue(packet(0, 1000)).unwrap();
        queue.enqueue(l4s(51 * MS)).unwrap();
        assert!(!queue.queue.chooses_l4s(60 * MS, &queue.records));
        queue.queue.classic = Fifo::default();
        queue.enqueue(packet(2 * MS, 1000)).unwrap();
        assert!(queue.queue.chooses_l4s(60 * MS, &queue.records));
    }

    #[test]
    fn a_drop_is_possible_while_there_is_a_probability_or_one_is_due() {
        let mut queue = queue(DualPi2::default()).queue;
        assert!(!queue.may_drop(0, 15 * MS - 1) && queue.may_drop(0, 15 * MS));
        queue.controller.base = 0.01;
        assert!(queue.may_drop(0, 1));
    }

    #[test]
    fn the_probability_is_computed_every_third_of_a_short_round_trip() {
        let update = |max_rtt| {
            DualPi2 { max_rtt: TimeDelta::from_millis(max_rtt), ..DualPi2::default() }.update_period()
        };
        // min(15 ms, RTT/3).
        assert_eq!([100, 45, 30].map(update), [15 * MS, 15 * MS, 10 * MS]);
    }

    #[test]
    fn an_idle_hour_costs_nothing_and_changes_nothing() {
        let mut queue = queue(DualPi2::default());
        queue.enqueue(packet(3_600_000 * MS, 1000)).unwrap();
        assert_eq!((queue.queue.next_update, queue.queue.controller.base), (3_600_015 * MS, 0.0));
    }

    #[test]
    fn alone_the_l4s_packet_is_not_marked_by_its_own_wait() {
        let marks = |packets: usize| {
            let mut queue = queue(DualPi2::default());
            queue.queue.next_update = u64::MAX;
            (0..packets).for_each(|_| queue.enqueue(l4s(0)).unwrap());
            (0..packets).filter(|_| queue.dequeue(2 * MS).unwrap().marked).count()
        };
        // At 2 ms the ramp gives a probability of 1 each; the count has to pass one. The last one is alone.
        assert_eq!((marks(1), marks(2), marks(3)), (0, 0, 1));
    }
}
