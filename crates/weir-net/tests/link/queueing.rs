//! Queues against their theory.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use weir_net::{Link, Time};
use weir_units::DataRate;

use crate::{Numbered, at, bare, constant, packet};

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

/// The slope of queuing delay over arrival time for a constant-rate flow of `load` times the capacity of 1 Mbit/s,
/// after a burst has filled the queue with 1 s.
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
