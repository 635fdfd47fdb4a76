//! Copies of a controller over one bottleneck lose nothing by coupling.

use alloc::vec;
use alloc::vec::Vec;

use weir_net::{Path, Sent, Time};
use weir_units::{DataRate, TimeDelta};

use super::coupling::flow;
use crate::decision::Decision;
use crate::testing::closed_loop::{FlightPacket, Loop, PacketSource};
use crate::testing::is_long;
use crate::testing::tested_controller::{TestedController, usual_limits};

/// Flows over one bottleneck, each of which starts some ms after the one before, so that their frames do not meet.
pub(crate) struct StaggeredFlows {
    flows: Vec<Loop>,
    rates: Vec<DataRate>,
    stagger: usize,
    ticks: usize,
    /// The bottleneck, with the packets of each flow.
    path: Path<(usize, FlightPacket), ()>,
}

impl StaggeredFlows {
    pub(crate) fn new(mut flows: Vec<Loop>, start: DataRate, stagger: usize) -> Self {
        let path = Path::new(flows[0].link(), 0, TimeDelta::ZERO).expect("the flows have such a link");
        flows.iter_mut().for_each(Loop::leave_link);
        Self { rates: vec![start; flows.len()], flows, stagger, ticks: 0, path }
    }

    /// The time on the clock of the bottleneck at which a flow starts, as its own clock begins then.
    fn start(&self, flow: usize) -> TimeDelta {
        TimeDelta::from_millis((flow * self.stagger) as i64)
    }

    fn now(&self) -> Time {
        Time::from_millis(self.ticks as u64)
    }

    /// Amount that waits at the bottleneck.
    #[cfg(test)]
    pub(crate) fn backlog(&mut self) -> weir_units::DataSize {
        let now = self.now();
        self.path.backlog(now).bytes
    }

    /// Advances all flows by a millisecond; `couple` gets each decision with the sum of the rates, and answers with a
    /// share for all.
    pub(crate) fn tick(&mut self, mut couple: impl FnMut(&Decision, DataRate) -> Option<DataRate>) {
        let started = (self.ticks / self.stagger + 1).min(self.flows.len());
        self.ticks += 1;
        let now = self.now();
        while let Some(arrived) = self.path.arrival(now) {
            let (n, flight) = arrived.packet;
            let at = arrived.at - self.start(n);
            self.flows[n].insert(at, flight);
        }
        for n in 0..started {
            let flow = &mut self.flows[n];
            flow.tick();
            for Sent { packet, size, ecn_capable, extra_delay } in flow.take_departures() {
                // The queue may drop it.
                let _ = self.path.send(now, Sent { packet: (n, packet), size, ecn_capable, extra_delay });
            }
            let Some(decision) = flow.take_decision() else { continue };
            self.rates[n] = decision.rate;
            if let Some(share) = couple(&decision, self.sum()) {
                let taken_rates = self.flows.iter_mut().map(|flow| flow.apply_allocation(share));
                self.rates.iter_mut().zip(taken_rates).for_each(|(rate, taken)| *rate = taken);
            }
        }
    }

    fn sum(&self) -> DataRate {
        self.rates.iter().copied().sum()
    }

    pub(crate) fn total(&self, of: impl Fn(&Loop) -> f64) -> f64 {
        self.flows.iter().map(of).sum()
    }
}

/// The simplest coupling: equal shares of the sum of the decided rates, sent to all flows at each decision.
fn equal_shares(n: usize, coupled: bool) -> impl FnMut(&Decision, DataRate) -> Option<DataRate> {
    move |_, sum| coupled.then(|| DataRate::from_bps(sum.bps() / n as u64))
}

fn copies(controller: &TestedController, n: usize, capacity: DataRate, stagger: usize) -> StaggeredFlows {
    let flows = (0..n).map(|_| flow(controller, usual_limits(), PacketSource::VIDEO, capacity)).collect();
    StaggeredFlows::new(flows, usual_limits().start(), stagger)
}

/// The mean sum of the rates in the second before 10, 30 and, at full length, 60 s, over several ways to interleave their
/// frames.
fn growth(controller: &TestedController, n: usize, staggers: &[usize], coupled: bool) -> Vec<f64> {
    let capacity = usual_limits().max().scale(1.2 * n as f64);
    let ends: &[i32] = if is_long() { &[10, 30, 60] } else { &[10, 30] };
    let mut means = vec![0.0; ends.len()];
    for &stagger in staggers {
        let mut copies = copies(controller, n, capacity, stagger);
        for second in 1..=ends[ends.len() - 1] {
            let place = ends.iter().position(|&end| end == second);
            for _ in 0..1000 {
                copies.tick(equal_shares(n, coupled));
                if let Some(place) = place {
                    means[place] += copies.sum().bps_f64() / (1000 * staggers.len()) as f64;
                }
            }
        }
    }
    means
}

/// Three and ten copies have equal shares on a link above all their maxima. After 10 and 30 s, at full length also after
/// 60 s, their sum is at least 0.95 of that of as many uncoupled ones.
pub fn on_a_wide_link_copies_grow_as_fast_as_without_coupling(controller: &TestedController) {
    // Many flows interleave in many ways by themselves.
    for (n, staggers) in [(3, &[5, 13, 29][..]), (10, &[13])] {
        let (alone, coupled) =
            (growth(controller, n, staggers, false), growth(controller, n, staggers, true));
        let ratios: Vec<f64> = coupled.iter().zip(&alone).map(|(coupled, alone)| coupled / alone).collect();
        let kept = ratios.iter().all(|&ratio| ratio >= 0.95);
        assert!(kept, "{n} copies of {}: {ratios:.3?} of {alone:.0?}", controller.name);
    }
}

/// Three copies have equal shares on a link of 0.6 of their maxima. Within a minute they carry at least 0.95 of the
/// amount of as many uncoupled ones.
pub fn on_a_narrow_link_copies_carry_as_much_as_without_coupling(controller: &TestedController) {
    let capacity = usual_limits().max().scale(0.6 * 3.0);
    let carried = |coupled| {
        let mut copies = copies(controller, 3, capacity, 13);
        (0..60_000).for_each(|_| copies.tick(equal_shares(3, coupled)));
        copies.total(Loop::delivered_bits)
    };
    let ratio = carried(true) / carried(false);
    assert!(ratio >= 0.95, "{}: {ratio:.3}", controller.name);
}
