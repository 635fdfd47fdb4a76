//! Copies of a law over one bottleneck lose nothing by being coupled.

use weir_units::{DataRate, TimeDelta};

use super::coupling::flow;
use super::{LAWS, Law, usual_limits};
use crate::closed_loop::{Loop, Source};
use crate::controller::{AtReceiver, RateLimits};
use crate::decision::Decision;
use crate::tfrc::{self, Tfrc, TfrcObserver};
use crate::time::SendTime;

/// Flows over one bottleneck, each of which starts some ms after the one before, so that their frames do not meet.
struct Copies {
    flows: Vec<Loop>,
    rates: Vec<DataRate>,
    stagger: usize,
    ticks: usize,
    link_free: SendTime,
}

impl Copies {
    fn new(flows: Vec<Loop>, start: DataRate, stagger: usize) -> Self {
        Self { rates: vec![start; flows.len()], flows, stagger, ticks: 0, link_free: SendTime::ZERO }
    }

    /// A millisecond passes; `couple` hears each decision, with the sum of the rates, and answers with a share for all.
    fn tick(&mut self, mut couple: impl FnMut(&Decision, DataRate) -> Option<DataRate>) {
        let started = (self.ticks / self.stagger + 1).min(self.flows.len());
        self.ticks += 1;
        for n in 0..started {
            let flow = &mut self.flows[n];
            // Its clock began when it started.
            let began = TimeDelta::from_millis((n * self.stagger) as i64);
            flow.link_free = self.link_free - began;
            flow.tick();
            self.link_free = flow.link_free + began;
            let Some(decision) = flow.take_decision() else { continue };
            self.rates[n] = decision.rate;
            if let Some(share) = couple(&decision, self.sum()) {
                let told = self.flows.iter_mut().map(|flow| flow.adopt(share));
                self.rates.iter_mut().zip(told).for_each(|(rate, taken)| *rate = taken);
            }
        }
    }

    fn sum(&self) -> DataRate {
        self.rates.iter().copied().sum()
    }

    fn total(&self, of: impl Fn(&Loop) -> f64) -> f64 {
        self.flows.iter().map(of).sum()
    }
}

/// The simplest coupling: the sum of what was decided, in equal shares, told to all at each decision.
fn equal_shares(n: usize, coupled: bool) -> impl FnMut(&Decision, DataRate) -> Option<DataRate> {
    move |_, sum| coupled.then(|| DataRate::from_bps(sum.bps() / n as u64))
}

fn copies(law: &Law, n: usize, capacity: DataRate, stagger: usize) -> Copies {
    let flows = (0..n).map(|_| flow(law, usual_limits(), Source::VIDEO, capacity)).collect();
    Copies::new(flows, usual_limits().start(), stagger)
}

/// The mean sum of the rates in the second before 10, 30 and 60 s, over ways to interleave their frames.
fn growth(law: &Law, n: usize, staggers: &[usize], coupled: bool) -> [f64; 3] {
    let capacity = usual_limits().max().scale(1.2 * n as f64);
    let mut means = [0.0; 3];
    for &stagger in staggers {
        let mut copies = copies(law, n, capacity, stagger);
        for second in 1..=60 {
            let place = [10, 30, 60].iter().position(|&end| end == second);
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

#[test]
fn on_a_wide_link_copies_grow_as_fast_as_without_coupling() {
    let mut broken = Vec::new();
    for law in LAWS {
        // Many flows interleave in many ways by themselves.
        for (n, staggers) in [(3, &[5, 13, 29][..]), (10, &[13])] {
            let (alone, coupled) = (growth(law, n, staggers, false), growth(law, n, staggers, true));
            let ratios = [0, 1, 2].map(|place| coupled[place] / alone[place]);
            if ratios.iter().any(|&ratio| ratio < 0.95) {
                broken.push(format!("{n} copies of {}: {ratios:.3?} of {alone:.0?}", law.name));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn on_a_narrow_link_copies_carry_as_much_as_without_coupling() {
    let mut broken = Vec::new();
    for law in LAWS {
        let capacity = usual_limits().max().scale(0.6 * 3.0);
        let carried = |coupled| {
            let mut copies = copies(law, 3, capacity, 13);
            (0..60_000).for_each(|_| copies.tick(equal_shares(3, coupled)));
            copies.total(Loop::delivered_bits)
        };
        let ratio = carried(true) / carried(false);
        if ratio < 0.95 {
            broken.push(format!("{}: {ratio:.3}", law.name));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Algorithm 2 of coupled-rtp-2014 as printed: a decrease by congestion scales the sum and is the only one for two round
/// trips. A decrease for another reason changes nothing.
fn algorithm_2(n: usize, start: DataRate) -> impl FnMut(&Decision, SendTime) -> DataRate {
    let (mut sum, mut expiry) = (start.bps_f64() * n as f64, SendTime::ZERO);
    move |decision, now| {
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        if now >= expiry && rate < base && decision.why.is_congestion() {
            sum *= rate / base;
            expiry = now + decision.rtt.unwrap_or(TimeDelta::from_millis(100)) * 2;
        } else if now >= expiry && rate > base {
            sum += rate - base;
        }
        DataRate::from_bps_f64(sum / n as f64)
    }
}

/// What a dumbbell of 10 Mbit/s, 100 ms and 62 packets carried, and its mean queue.
#[derive(Clone, Copy, Debug)]
struct Dumbbell {
    utilisation: f64,
    queued_packets: f64,
}

impl Dumbbell {
    fn of(law: &Law, n: usize, coupled: bool) -> Self {
        let kbps = DataRate::from_kbps;
        let (start, capacity) = (kbps(200), DataRate::from_mbps(10));
        let limits = RateLimits::new(kbps(10), start, kbps(100_000)).unwrap();
        let packet = TimeDelta::from_micros(960);
        let flows = (0..n).map(|_| {
            let mut path = flow(law, limits, Source::STEADY, capacity);
            path.queue = packet * 62;
            path.propagation = TimeDelta::from_millis(100);
            path
        });
        let mut copies = Copies::new(flows.collect(), start, 13);
        let mut shares = algorithm_2(n, start);
        let (mut waits, mut before) = (0.0, 0.0);
        for tick in 0..120_000 {
            let now = SendTime::from_millis(tick);
            copies.tick(|decision, _| coupled.then(|| shares(decision, now)));
            if tick < 20_000 {
                before = copies.total(Loop::delivered_bits);
            } else {
                waits += (copies.link_free - now).max(TimeDelta::ZERO).secs_f64();
            }
        }
        let carried = copies.total(Loop::delivered_bits) - before;
        Self {
            utilisation: carried / 100.0 / capacity.bps_f64(),
            queued_packets: waits / 100_000.0 / packet.secs_f64(),
        }
    }
}

/// TFRC as the paper had it.
fn tfrc_of_ns2(limits: RateLimits) -> super::Halves {
    let config = tfrc::Config::ns2();
    let observer = TfrcObserver::new(config).unwrap();
    super::halves(Tfrc::new(config, limits).unwrap(), AtReceiver::new(observer))
}

/// A factor on the equation's rate, which would keep a share, misses both.
#[test]
fn tfrc_under_algorithm_2_uses_the_link_with_two_thirds_of_the_queue() {
    let tfrc = Law::new("tfrc of ns-2", tfrc_of_ns2);
    for n in [2, 5, 10] {
        let (alone, coupled) = (Dumbbell::of(&tfrc, n, false), Dumbbell::of(&tfrc, n, true));
        assert!(coupled.utilisation >= 0.97, "{n} flows: {coupled:?}");
        assert!(coupled.queued_packets <= 0.7 * alone.queued_packets, "{n} flows: {coupled:?} of {alone:?}");
    }
}
