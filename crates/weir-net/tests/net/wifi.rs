//! A Wi-Fi cell through its public interface: throughput, sharing, loss and order.

mod contention;
mod delivery;
mod properties;
mod saturation;

use weir_net::{Dropped, Exit, Fate, Packet, Time, WifiCell, WifiConfig, WifiLink};
use weir_units::DataRate;

/// A packet with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    number: u64,
    size: u32,
}

impl Packet for Numbered {
    fn wire_size(&self) -> u32 {
        self.size
    }
}

fn micros(us: u64) -> Time {
    Time::from_nanos(us * 1000)
}

/// A link at 52 Mbit/s.
fn link(transmitter: usize) -> WifiLink {
    WifiLink::new(transmitter, WifiLink::MCS_11)
}

fn cell(config: &WifiConfig, links: &[WifiLink]) -> WifiCell<Numbered> {
    WifiCell::new(config, links, 1).unwrap()
}

/// When and where a packet left.
type Left = (Time, usize, Exit<Numbered>);

/// Everything that leaves the cell by `until`, each with its link and the time.
fn drain(cell: &mut WifiCell<Numbered>, until: Time) -> Vec<Left> {
    let mut all = Vec::new();
    while let Some(now) = cell.next_wake().filter(|&now| now <= until) {
        while let Some((link, exit)) = cell.pop(now) {
            all.push((now, link, exit));
        }
    }
    all
}

/// Packets carried by links that always had enough to send.
#[derive(Clone, Debug, Default, PartialEq)]
struct Carried {
    arrived: u64,
    lost: u64,
}

/// Runs `seconds` in which each link always has 80 packets of its size to send.
fn saturated(cell: &mut WifiCell<Numbered>, sizes: &[u32], seconds: u64) -> Vec<Carried> {
    let mut carried = vec![Carried::default(); sizes.len()];
    for (link, &size) in sizes.iter().enumerate() {
        for number in 0..80 {
            cell.enqueue(Time::ZERO, link, Numbered { number, size }).expect("there is no limit");
        }
    }
    while let Some(now) = cell.next_wake().filter(|&now| now <= Time::from_millis(1000 * seconds)) {
        while let Some((link, exit)) = cell.pop(now) {
            match exit.fate {
                Fate::Arrived => carried[link].arrived += 1,
                Fate::Lost => carried[link].lost += 1,
                Fate::Dropped(reason) => panic!("dropped for {reason}"),
            }
            let next = Numbered { number: exit.packet.number + 80, ..exit.packet };
            cell.enqueue(now, link, next).expect("there is no limit");
        }
    }
    carried
}

/// Rate of the arrived packets in Mbit/s.
fn mbps(packets: u64, size: u32, seconds: u64) -> f64 {
    (packets * u64::from(size) * 8) as f64 / seconds as f64 / 1e6
}

fn assert_within(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value} is not within {share} of {expected}");
}
