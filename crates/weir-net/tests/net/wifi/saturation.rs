//! Throughput of a cell when there is always enough to send.

use super::*;

/// Rate of all links together in Mbit/s, and the packets that arrived on each.
fn total(config: &WifiConfig, links: &[WifiLink], size: u32, seconds: u64) -> (f64, Vec<u64>) {
    let carried = saturated(&mut cell(config, links), &vec![size; links.len()], seconds);
    let arrived: Vec<u64> = carried.iter().map(|link| link.arrived).collect();
    (mbps(arrived.iter().sum(), size, seconds), arrived)
}

#[test]
fn a_lone_station_carries_what_its_exchanges_take() {
    // AIFS 43 µs, 7.5 slots of 9 µs, preamble 40, bits in symbols of 4, SIFS 16, ACK 28.
    // 1500 bytes: 43 + 67.5 + 40 + 240 + 44 = 434.5 µs for 12 000 bits: 27.62 Mbit/s.
    let (rate, _) = total(&WifiConfig::default(), &[link(0)], 1500, 10);
    assert_within(rate, 27.618, 0.01);
    // 1000 bytes of media in packets of 1052: 8720 + 22 bits are 43 symbols; 366.5 µs for 8000 bits of media:
    // 21.83 Mbit/s, the "about 20 Mbps" of RFC 8869 §3.2.
    let (rate, _) = total(&WifiConfig::default(), &[link(0)], 1052, 10);
    assert_within(rate * 1000.0 / 1052.0, 21.828, 0.01);
}

#[test]
fn aggregates_leave_little_besides_the_bits() {
    // 16 frames of 1544 bytes: 197 654 bits are 951 symbols: 43 + 67.5 + 40 + 3804 + 48 = 4002.5 µs for 192 000 bits.
    let config = WifiConfig { frames: 16, ..WifiConfig::default() };
    let (rate, _) = total(&config, &[link(0)], 1500, 10);
    assert_within(rate, 47.970, 0.01);
}

/// Bianchi's model (2000, eq. 7, 9, 13) of `n` transmitters with packets of 1500 bytes, in Mbit/s.
fn bianchi(n: u32) -> f64 {
    let (window, stages, n) = (16.0, 6.0, f64::from(n));
    let attempt = |p: f64| {
        let doubling = p * window * (1.0 - libm::pow(2.0 * p, stages)) / (1.0 - 2.0 * p);
        2.0 / (1.0 + window + doubling)
    };
    // Bisection to the fixed point between the probabilities of an attempt and of a collision.
    let (mut low, mut high) = (0.0, 0.499);
    for _ in 0..60 {
        let p = f64::midpoint(low, high);
        if 1.0 - libm::pow(1.0 - attempt(p), n - 1.0) > p { low = p } else { high = p }
    }
    let tau = attempt(low);
    let some = 1.0 - libm::pow(1.0 - tau, n);
    let one = n * tau * libm::pow(1.0 - tau, n - 1.0);
    // A busy slot: transmission 280, response 44, AIFS 43 µs; an idle one 9.
    12_000.0 * one / ((1.0 - some) * 9.0 + some * 367.0)
}

#[test]
fn many_stations_carry_what_the_model_of_bianchi_says() {
    for n in [2, 5, 10, 20] {
        let links: Vec<WifiLink> = (0..n).map(link).collect();
        let (rate, arrived) = total(&WifiConfig::default(), &links, 1500, 120);
        println!("{n}: {rate:.2} Mbit/s, Bianchi {:.2}", bianchi(n as u32));
        assert_within(rate, bianchi(n as u32), 0.05);
        let computed = WifiConfig::default().saturation_rate(&link(0), 1500, n as u32).bps_f64() / 1e6;
        assert_within(computed, bianchi(n as u32), 1e-6);
        // And all have the same.
        let mean = arrived.iter().sum::<u64>() as f64 / n as f64;
        assert!(arrived.iter().all(|&own| (own as f64 / mean - 1.0).abs() < 0.1), "{arrived:?}");
    }
}

#[test]
fn an_access_point_contends_like_a_station_and_shares_what_it_gets() {
    // Three uplinks, and three downlinks of one transmitter: it gets a quarter, each of its links a twelfth.
    let links = [link(0), link(1), link(2), link(3), link(3), link(3)];
    let (rate, arrived) = total(&WifiConfig::default(), &links, 1500, 120);
    assert_within(rate, bianchi(4), 0.05);
    let all = arrived.iter().sum::<u64>() as f64;
    arrived[..3].iter().for_each(|&up| assert_within(up as f64 / all, 0.25, 0.03));
    arrived[3..].iter().for_each(|&down| assert_within(down as f64 / all, 1.0 / 12.0, 0.03));
}

#[test]
fn a_slow_station_slows_the_others_down_to_its_rate() {
    // The anomaly of Heusse et al. (2003): as many packets each. At 6.5 Mbit/s 12 326 bits take 1900 µs (475 symbols),
    // at 52 Mbit/s 240 µs; a transmission of both takes 2·(40 + 44 + 43) + 2140 µs, and some slots.
    let links = [link(0), WifiLink::new(1, DataRate::from_kbps(6500))];
    let (rate, arrived) = total(&WifiConfig::default(), &links, 1500, 30);
    assert_within(arrived[0] as f64, arrived[1] as f64, 0.03);
    // With two transmitters 7.5 slots between two transmissions are less; collisions take more: bounds of both.
    assert!(rate < 24_000.0 / 2394.0 && rate > 24_000.0 / (2394.0 * 1.2), "{rate}");
}
