//! Token buckets, worked by hand.

use proptest::prelude::*;
use weir_net::{ConfigError, DropReason, Link, LinkConfig, Service, Time, TokenBucket};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Numbered, at, bare, exits, micros, ms, packet};

fn bucket(rates: Vec<(Time, DataRate)>, burst: u64, peak: Option<u64>) -> Service {
    let peak = peak.map(DataRate::from_mbps);
    Service::TokenBucket(TokenBucket { rates, burst: DataSize::from_bytes(burst), peak })
}

fn one_mbps(burst: u64, peak: Option<u64>) -> Service {
    bucket(vec![(at(0), DataRate::from_mbps(1))], burst, peak)
}

/// A link with `count` packets of `size` bytes, all of 1 s.
fn filled(service: Service, count: u64, size: u32) -> Link<Numbered> {
    let mut link = bare(service);
    for number in 0..count {
        link.enqueue(at(1000), packet(number, size)).unwrap();
    }
    link
}

#[test]
fn after_a_long_idle_a_burst_leaves_at_once_and_the_rest_at_the_rate() {
    // 12 500 bytes are 10 packets of 1250; the 11th waits 10 ms for its tokens.
    let mut link = filled(one_mbps(12_500, None), 12, 1250);
    let exits = exits(&mut link);
    assert_eq!(exits[..10], [at(1000); 10]);
    assert_eq!(exits[10..], [at(1010), at(1020)]);
}

#[test]
fn tokens_that_come_while_nothing_waits_are_kept_up_to_the_burst() {
    let mut link = filled(one_mbps(12_500, None), 10, 1250);
    // 4 ms later there are 500 bytes of tokens: 750 more take 6 ms.
    link.enqueue(at(1004), packet(10, 1250)).unwrap();
    // A second later the bucket is full again, not fuller.
    for number in 11..22 {
        link.enqueue(at(2500), packet(number, 1250)).unwrap();
    }
    let exits = exits(&mut link);
    assert_eq!((exits[10], exits[20], exits[21]), (at(1010), at(2500), at(2510)));
}

#[test]
fn a_peak_rate_spaces_the_burst() {
    // The bucket of the peak rate holds 1500 bytes: one packet of 1500 leaves at once, the next after 1.2 ms at
    // 10 Mbit/s each, until the ten of the burst are out; the last comes at the token rate, 12 ms after the one before
    // less the tokens of the 10.8 ms spent so far: 12 - 10.8 + 10.8 = 12 ms after the start.
    let mut link = filled(one_mbps(15_000, Some(10)), 11, 1500);
    let exits = exits(&mut link);
    let expected: Vec<Time> = (0..10).map(|k| micros(1_000_000 + 1200 * k)).collect();
    assert_eq!(exits[..10], expected);
    assert_eq!(exits[10], at(1012));
}

#[test]
fn tokens_come_at_the_rate_of_the_moment() {
    // From 1010 ms on twice as fast: the 11th packet at 1010, the 12th 5 ms later.
    let rates = vec![(at(0), DataRate::from_mbps(1)), (at(1010), DataRate::from_mbps(2))];
    let mut link = filled(bucket(rates, 12_500, None), 12, 1250);
    assert_eq!(exits(&mut link)[10..], [at(1010), at(1015)]);
}

#[test]
fn a_packet_that_can_never_pass_is_refused() {
    let small = LinkConfig::new(one_mbps(1499, None), ms(0));
    let error = Link::<Numbered>::new(&small, 1).map(|_| ()).unwrap_err();
    assert_eq!(error, ConfigError::BurstBelowMtu);
    let mut link = bare(one_mbps(2000, None));
    assert_eq!(link.enqueue(at(0), packet(0, 2001)).unwrap_err().reason, DropReason::DeadLink);
    link.enqueue(at(0), packet(1, 2000)).unwrap();
}

proptest! {
    #[test]
    fn no_interval_lets_more_pass_than_its_rate_and_one_burst(
        arrivals in prop::collection::vec((0..5_000_000_u64, 1..1500_u32), 1..100),
        burst in 1500..20_000_u64,
    ) {
        let mut link = bare(one_mbps(burst, None));
        let mut now = Time::ZERO;
        for (number, &(gap, size)) in arrivals.iter().enumerate() {
            now += TimeDelta::from_nanos(gap as i64);
            link.enqueue(now, packet(number as u64, size)).unwrap();
        }
        let exits = exits(&mut link);
        for (first, &begin) in exits.iter().enumerate() {
            let mut bytes = 0;
            for (last, &end) in exits.iter().enumerate().skip(first) {
                bytes += u64::from(arrivals[last].1);
                // 1 Mbit/s is a byte per 8 µs; a nanosecond each is rounded up.
                let allowed = burst as f64 + ((end - begin).nanos() + 1) as f64 / 8000.0;
                prop_assert!(bytes as f64 <= allowed, "{bytes} bytes from {begin} to {end}");
            }
        }
    }
}
