//! Both halves over a bottleneck of the simplest kind, in simulated time.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, CongestionBound, LossAverage, Nada, NadaObserver};
use crate::controller::{AtReceiver, Controller, RateLimits, Receiver};
use crate::packet::{Arrival, Ecn, SendState, SentPacket, Stamp};
use crate::report::{Feedback, LawReport, NadaReport, Report};
use crate::time::{ArrivalTime, SendTime};

const TICK: TimeDelta = TimeDelta::from_millis(1);
const PROPAGATION: TimeDelta = TimeDelta::from_millis(25);
/// What the queue holds, at the present capacity.
const QUEUE: TimeDelta = TimeDelta::from_millis(300);
const PACKET: DataSize = DataSize::from_bytes(1200);
/// Between the clocks of the hosts.
const OFFSET: TimeDelta = TimeDelta::from_secs(7200);

/// A report on its way back.
#[derive(Debug)]
struct Underway {
    due: SendTime,
    report: LawReport,
    rtt: TimeDelta,
}

/// A source that fills its target, a pacer, a FIFO queue with drop-tail, a receiver and a silent way back.
#[derive(Debug)]
struct Loop {
    sender: Nada,
    receiver: AtReceiver<NadaObserver>,
    capacity: DataRate,
    now: SendTime,
    /// Bits in the pacer, and bits that may leave it.
    paced: f64,
    credit: f64,
    link_free: SendTime,
    sent: Vec<SendTime>,
    flying: VecDeque<Arrival>,
    reports: VecDeque<Underway>,
    feedback_cut: bool,
}

impl Loop {
    fn new(config: Config, capacity: DataRate) -> Self {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
        Self {
            sender: Nada::new(config, limits).unwrap(),
            receiver: AtReceiver::new(NadaObserver::new(config).unwrap()),
            capacity,
            now: SendTime::ZERO,
            paced: 0.0,
            credit: 0.0,
            link_free: SendTime::ZERO,
            sent: Vec::new(),
            flying: VecDeque::new(),
            reports: VecDeque::new(),
            feedback_cut: false,
        }
    }

    /// The reference rate after each ms of the next `span`, in bit/s.
    fn run(&mut self, span: TimeDelta) -> Vec<f64> {
        let ticks = span.nanos() / TICK.nanos();
        (0..ticks)
            .map(|_| {
                self.tick();
                self.signal("r_ref")
            })
            .collect()
    }

    fn tick(&mut self) {
        self.now += TICK;
        self.arrive();
        self.report();
        self.hear();
        self.send();
    }

    fn state(&self) -> SendState {
        SendState { queued: DataSize::from_bytes_f64(self.paced / 8.0), ..SendState::default() }
    }

    fn send(&mut self) {
        let target = self.sender.target();
        self.paced += target.media_rate.bps_f64() * TICK.secs_f64();
        self.credit += target.sending_rate.bps_f64() * TICK.secs_f64();
        let bits = PACKET.bits_f64();
        while self.credit >= bits && self.paced >= bits {
            self.credit -= bits;
            self.paced -= bits;
            self.transmit();
        }
        self.credit = self.credit.min(bits);
    }

    fn transmit(&mut self) {
        let id = self.sent.len() as u64;
        self.sent.push(self.now);
        let packet = SentPacket { id, at: self.now, size: PACKET, padding: false };
        self.sender.on_sent(&packet, &self.state());
        let begin = self.link_free.max(self.now);
        if begin - self.now > QUEUE {
            return;
        }
        self.link_free = begin + PACKET / self.capacity;
        let delay = self.link_free + PROPAGATION - SendTime::ZERO;
        self.flying.push_back(Arrival {
            id,
            departure: self.now,
            at: ArrivalTime::ZERO + OFFSET + delay,
            size: PACKET,
            ecn: Ecn::NotEct,
            media_time: 0,
            marker: false,
            stamp: Stamp::default(),
        });
    }

    fn receiver_clock(&self) -> ArrivalTime {
        ArrivalTime::ZERO + OFFSET + (self.now - SendTime::ZERO)
    }

    fn arrive(&mut self) {
        let clock = self.receiver_clock();
        while let Some(packet) = self.flying.front()
            && packet.at <= clock
        {
            self.receiver.on_arrival(packet);
            self.flying.pop_front();
        }
    }

    fn report(&mut self) {
        let clock = self.receiver_clock();
        while let Some(Report::Law { report, echo }) = self.receiver.poll_report(clock) {
            let newest = (0..self.sent.len()).rev().find(|&id| id as u16 == echo.sequence).unwrap();
            let due = self.now + PROPAGATION;
            let rtt = due - self.sent[newest] - echo.held;
            if !self.feedback_cut {
                self.reports.push_back(Underway { due, report, rtt });
            }
        }
    }

    fn hear(&mut self) {
        let state = self.state();
        while let Some(&Underway { due, report, rtt }) = self.reports.front()
            && due <= self.now
        {
            self.reports.pop_front();
            self.sender.on_feedback(self.now, &Feedback::Law { report, rtt: Some(rtt) }, &state);
        }
        if self.sender.next_timeout().is_some_and(|due| due <= self.now) {
            self.sender.on_timeout(self.now, &state);
        }
    }

    fn signal(&self, name: &str) -> f64 {
        let signals = self.sender.signals();
        let mut values = vec![0.0; signals.len()];
        self.sender.read_signals(&mut values);
        values[signals.iter().position(|signal| signal.name == name).unwrap()]
    }
}

/// The longest stretch in ms for which `rates` stay above `bound`.
fn longest_above(rates: &[f64], bound: f64) -> usize {
    rates.split(|&rate| rate <= bound).map(<[f64]>::len).max().unwrap_or(0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

const HIGH: DataRate = DataRate::from_kbps(2500);
const LOW: DataRate = DataRate::from_kbps(600);

#[test]
fn an_empty_path_is_filled_within_seconds() {
    let mut path = Loop::new(Config::default(), HIGH);
    let rates = path.run(TimeDelta::from_secs(5));
    // gamma = 50/(50 + 220) at best: each 100 ms by a fifth of the rate of half a second ago.
    assert!(rates[4999] > 2.2e6, "{} bit/s", rates[4999]);
    assert_eq!(longest_above(&rates, 2.5e6), 0);
}

/// Rates in the minute after the capacity has fallen from 2.5 to 0.6 Mbit/s.
fn after_a_drop(config: Config) -> Vec<f64> {
    let mut path = Loop::new(config, HIGH);
    path.run(TimeDelta::from_secs(30));
    path.capacity = LOW;
    path.run(TimeDelta::from_secs(60))
}

fn millis_above(rates: &[f64], bound: f64) -> usize {
    rates.iter().filter(|&&rate| rate > bound).count()
}

#[test]
fn after_a_capacity_drop_the_target_falls_within_a_second_and_does_not_run_away() {
    let rates = after_a_drop(Config::default());
    let above = longest_above(&rates, 1.2 * LOW.bps_f64());
    assert!(above <= 1000, "above 1.2 × capacity for {above} ms");
    // Once it has fallen it never comes above again.
    assert_eq!(millis_above(&rates, 1.2 * LOW.bps_f64()), above);
}

#[test]
fn without_a_bound_the_rate_cycles_between_minimum_and_maximum() {
    let rates = after_a_drop(Config { congestion_bound: CongestionBound::Unbounded, ..Config::default() });
    let last = &rates[50_000..];
    assert!(last.contains(&2.5e6) && last.contains(&50e3));
    assert!(millis_above(last, 1.2 * LOW.bps_f64()) > 2000);
}

#[test]
fn at_the_bound_of_the_wire_it_cycles_only_while_losses_never_expire() {
    let wire = Config { congestion_bound: CongestionBound::Wire, ..Config::default() };
    let cycling = after_a_drop(Config { loss_average: LossAverage::WithOpen, ..wire });
    assert!(millis_above(&cycling[30_000..], 1.2 * LOW.bps_f64()) > 5000);
    assert_eq!(millis_above(&after_a_drop(wire)[30_000..], 1.2 * LOW.bps_f64()), 0);
}

#[test]
fn the_rate_converges_to_the_equilibrium() {
    let mut path = Loop::new(Config::default(), HIGH);
    path.run(TimeDelta::from_secs(30));
    path.capacity = LOW;
    path.run(TimeDelta::from_secs(60));
    let mut signals = Vec::new();
    let rates: Vec<f64> = (0..100)
        .flat_map(|_| {
            signals.push(path.signal("x_curr"));
            path.run(TimeDelta::from_millis(100))
        })
        .collect();
    let (rate, x) = (mean(&rates), mean(&signals));
    assert!((rate / 600e3 - 1.0).abs() < 0.03, "{rate} bit/s");
    // PRIO·XREF·RMAX/r = 10 · 2500/600 = 41.7 ms.
    assert!((x - 41.7).abs() < 4.0, "{x} ms");
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = Loop::new(Config::default(), HIGH);
    path.run(TimeDelta::from_secs(10));
    let before = path.signal("r_ref");
    path.feedback_cut = true;
    let silent = path.run(TimeDelta::from_secs(5));
    // Halved 1, 2, 3 and 4 s after the last report.
    assert!(silent[4999] < before / 12.0, "{} of {before} bit/s", silent[4999]);
    path.feedback_cut = false;
    let after = path.run(TimeDelta::from_secs(10));
    assert!(after[9999] > 0.85 * before, "{} of {before} bit/s", after[9999]);
}

#[test]
fn a_report_says_what_the_path_does() {
    let mut path = Loop::new(Config::default(), DataRate::from_mbps(100));
    let mut reports: Vec<NadaReport> = Vec::new();
    for _ in 0..2000 {
        path.tick();
        if let Some(Underway { report: LawReport::Nada(report), .. }) = path.reports.back() {
            reports.push(*report);
        }
    }
    assert!(reports.iter().all(|report| report.ramp_up && report.congestion < TimeDelta::from_millis(1)));
    let last = reports.last().unwrap().receive_rate.bps_f64();
    assert!(last > 0.6 * path.signal("r_ref"), "{last} bit/s");
}
