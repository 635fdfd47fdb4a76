//! Links through their public interface: departures, limits, marks, randomness, and results of queuing theory.

mod active;
mod buckets;
mod conservation;
mod departures;
mod limits;
mod oracles;
mod order;
mod queueing;
mod randomness;
mod rate_changes;

use std::sync::Arc;

use weir_net::{Exit, Link, LinkConfig, Packet, Service, Time, Trace};
use weir_units::{DataRate, TimeDelta};

/// A packet with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    number: u64,
    size: u32,
    ecn_capable: bool,
}

impl Packet for Numbered {
    fn wire_size(&self) -> u32 {
        self.size
    }

    fn is_ecn_capable(&self) -> bool {
        self.ecn_capable
    }
}

fn packet(number: u64, size: u32) -> Numbered {
    Numbered { number, size, ecn_capable: true }
}

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn micros(us: u64) -> Time {
    Time::from_nanos(us * 1000)
}

fn ms(ms: i64) -> TimeDelta {
    TimeDelta::from_millis(ms)
}

fn constant(rate: DataRate) -> Service {
    Service::Constant(rate)
}

fn trace(text: &str, offset: TimeDelta, repeat: bool) -> Service {
    Service::Trace { trace: Arc::new(Trace::parse(text).unwrap()), offset, repeat }
}

/// 1 Mbit/s for the first of these spans in ns, then the rate in bit/s beside each.
fn steps_of(pieces: Vec<(u64, u64)>) -> Vec<(Time, DataRate)> {
    let mut now = 0;
    let mut steps = vec![(Time::ZERO, DataRate::from_mbps(1))];
    for (span, bps) in pieces {
        now += span;
        steps.push((Time::from_nanos(now), DataRate::from_bps(bps)));
    }
    steps
}

/// The trace with opportunities at these milliseconds, in any order, and one a millisecond later.
fn trace_of(mut millis: Vec<u32>, offset: i64, repeat: bool) -> Service {
    millis.sort_unstable();
    millis.extend(millis.last().map(|last| last + 1));
    let lines: Vec<String> = millis.iter().map(u32::to_string).collect();
    trace(&lines.join("\n"), ms(offset), repeat)
}

/// A link without delay and limits.
fn bare(service: Service) -> Link<Numbered> {
    Link::new(&LinkConfig::new(service, TimeDelta::ZERO), 1).unwrap()
}

/// Takes out everything, with the time at which it comes.
fn drain(link: &mut Link<Numbered>) -> Vec<(Time, Exit<Numbered>)> {
    let mut exits = Vec::new();
    while let Some(due) = link.next_departure() {
        exits.push((due, link.pop(due).expect("a packet comes out when it is due")));
    }
    exits
}

/// Exit times and waits of everything on the link.
fn exits_and_waits(link: &mut Link<Numbered>) -> Vec<(Time, TimeDelta)> {
    drain(link).into_iter().map(|(due, exit)| (due, exit.wait)).collect()
}

/// Exit times of everything on the link.
fn exits(link: &mut Link<Numbered>) -> Vec<Time> {
    drain(link).into_iter().map(|(due, _)| due).collect()
}
