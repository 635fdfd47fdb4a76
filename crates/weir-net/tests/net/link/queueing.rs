//! Queues against their theory.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use weir_net::{Discipline, Link, LinkConfig, Order, QueueConfig, Red, Time};
use weir_units::{DataRate, TimeDelta};

use super::{Numbered, at, bare, constant, packet};

/// Passes the wait of each packet that has left by `now`, in seconds.
fn pop_due(link: &mut Link<Numbered>, now: Time, mut each: impl FnMut(f64)) {
    while let Some(exit) = link.pop(now) {
        each(exit.wait.secs_f64());
    }
}

#[test]
fn random_arrivals_wait_as_the_formula_of_pollaczek_and_khinchine_says() {
    // M/D/1: mean wait = ρ / (2·μ·(1 - ρ)). 1250 bytes at 10 Mbit/s: μ = 1000 per s. With ρ = 0.7:
    // 0.7 / (2 · 1000 · 0.3) = 1.16667 ms.
    const PACKETS: u64 = 2_000_000;
    let mut link = bare(constant(DataRate::from_mbps(10)));
    let mut rng = Pcg64::seed_from_u64(42);
    let (mut now, mut waited, mut popped) = (0.0, 0.0, 0);
    for number in 0..PACKETS {
        now -= libm::log(1.0 - rng.random::<f64>()) / 700.0;
        let time = Time::from_nanos((now * 1e9) as u64);
        pop_due(&mut link, time, |wait| {
            waited += wait;
            popped += 1;
        });
        link.enqueue(time, packet(number, 1250)).unwrap();
    }
    let mean = waited / f64::from(popped);
    let theory = 0.7 / (2.0 * 1000.0 * 0.3);
    assert!((mean / theory - 1.0).abs() < 0.02, "mean wait {mean} s, theory {theory} s");
}

/// The slope of queuing delay over arrival time for a constant-rate flow of `load` times the capacity of 1 Mbit/s.
/// A burst has filled the queue with 1 s before.
fn slope(load: f64) -> f64 {
    let mut link = bare(constant(DataRate::from_mbps(1)));
    for number in 0..1000 {
        link.enqueue(at(0), packet(number, 125)).unwrap();
    }
    let gap = 125.0 * 8.0 / (load * 1e6);
    let arrivals: Vec<Time> = (0..500).map(|k| Time::from_nanos((f64::from(k) * gap * 1e9) as u64)).collect();
    for (k, &arrival) in arrivals.iter().enumerate() {
        link.enqueue(arrival, packet(1000 + k as u64, 125)).unwrap();
    }
    let mut waits = Vec::new();
    pop_due(&mut link, at(10_000), |wait| waits.push(wait));
    let waits = &waits[1000..];
    assert_eq!(waits.len(), arrivals.len());
    (waits[499] - waits[0]) / (arrivals[499] - arrivals[0]).secs_f64()
}

#[test]
fn queuing_delay_grows_by_the_excess_of_rate_over_capacity() {
    // d T_q / dt = (r - C) / C: -0.5 at r = 0.5·C, 0 at C, 0.5 at 1.5·C.
    for (load, expected) in [(0.5, -0.5), (1.0, 0.0), (1.5, 0.5)] {
        let slope = slope(load);
        assert!((slope - expected).abs() < 0.01, "load {load}: slope {slope}, expected {expected}");
    }
}

/// Poisson arrivals of 800 per s at a server of 1000 per s (10 Mbit/s). Sizes are exponentially distributed with a
/// mean of 1250 bytes: ρ = 0.8. The mean wait in s and the share of packets dropped.
fn markovian(queue: QueueConfig, order: Order, packets: u64) -> (f64, f64) {
    let service = constant(DataRate::from_mbps(10));
    let config = LinkConfig { queue, order, ..LinkConfig::new(service, TimeDelta::ZERO) };
    let mut link = Link::new(&config, 1).unwrap();
    let mut rng = Pcg64::seed_from_u64(9);
    let (mut now, mut waited, mut popped, mut dropped) = (0.0, 0.0, 0, 0);
    for number in 0..packets {
        now -= libm::log(1.0 - rng.random::<f64>()) / 800.0;
        let time = Time::from_nanos((now * 1e9) as u64);
        pop_due(&mut link, time, |wait| {
            waited += wait;
            popped += 1;
        });
        let size = -libm::log(1.0 - rng.random::<f64>()) * 1250.0;
        dropped += u64::from(link.enqueue(time, packet(number, size.round() as u32)).is_err());
    }
    (waited / f64::from(popped), dropped as f64 / packets as f64)
}

#[test]
fn exponential_service_makes_packets_wait_as_in_m_m_1() {
    // M/M/1: mean wait = ρ / (μ - λ) = 0.8 / (1000 - 800) = 4 ms, in either kind of link.
    for order in [Order::Link, Order::None] {
        let (wait, dropped) = markovian(QueueConfig::default(), order, 4_000_000);
        assert!((wait / 0.004 - 1.0).abs() < 0.02, "{order:?}: mean wait {wait} s");
        assert_eq!(dropped, 0.0);
    }
}

#[test]
fn a_limit_of_packets_drops_as_in_m_m_1_k() {
    // M/M/1/K with K = 10 in the system: (1 - ρ)·ρ^K / (1 - ρ^(K+1)) = 0.2·0.107374 / (1 - 0.0858993) = 0.0234929.
    for order in [Order::Link, Order::None] {
        let queue = QueueConfig { limit_packets: Some(10), ..QueueConfig::default() };
        let (_, dropped) = markovian(queue, order, 2_000_000);
        assert!((dropped / 0.023_492_9 - 1.0).abs() < 0.03, "{order:?}: dropped {dropped}");
    }
}

#[test]
fn overload_under_red_is_dropped_at_the_rate_the_average_calls_for() {
    // 1000 bytes each 0.8 ms into 8 Mbit/s, one per 1 ms: a fifth has to go. RED drops 2·p_b, so p_b = 0.1, which is
    // max_p·(avg - min)/(max - min) at avg = 5 + 10·0.1/0.2 = 10 packets.
    let red = Red { max_probability: 0.2, ..Red::default() };
    let queue = QueueConfig { discipline: Discipline::Red(red), ..QueueConfig::default() };
    let config = LinkConfig { queue, ..LinkConfig::new(constant(DataRate::from_mbps(8)), TimeDelta::ZERO) };
    let mut link = Link::new(&config, 3).unwrap();
    let (mut dropped, mut waited, mut popped) = (0, 0.0, 0);
    for number in 0..500_000 {
        let now = Time::from_nanos(800_000 * number);
        pop_due(&mut link, now, |wait| {
            waited += wait;
            popped += 1;
        });
        let incapable = Numbered { ecn_capable: false, ..packet(number, 1000) };
        dropped += u32::from(link.enqueue(now, incapable).is_err());
    }
    let (share, wait) = (f64::from(dropped) / 500_000.0, waited / f64::from(popped));
    assert!((share - 0.2).abs() < 0.002, "{share}");
    // The queue holds 10 packets on average as packets meet it: a wait of 10 ms and half a service.
    assert!((wait - 0.0105).abs() < 0.001, "{wait} s");
}
