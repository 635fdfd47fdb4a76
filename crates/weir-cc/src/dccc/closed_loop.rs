//! DCCC over a bottleneck: the equilibria and the traces of the paper.

use weir_units::{DataRate, TimeDelta};

use super::bottleneck::{Bottleneck, Path};
use super::{Config, Dccc, DcccObserver, DelayThreshold, Interarrival};
use crate::at_receiver::AtReceiver;
use crate::testing::{Loop, PacketSource, usual_limits as limits};

const NEVER: f64 = 1e6;
const T: TimeDelta = TimeDelta::from_millis(100);

/// T = 100 ms by clocks without ticks.
fn exact() -> Config {
    Config { clock_resolution: None, ..Config::dccc_2017(T) }
}

/// 25 ms each way.
fn path(capacity_kbps: u64, buffer: usize, constant_kbps: u64) -> Path {
    let way = TimeDelta::from_millis(25);
    let (capacity, constant) = (DataRate::from_kbps(capacity_kbps), DataRate::from_kbps(constant_kbps));
    Path { capacity, there: way, back: way, buffer, constant }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean rate of each flow and mean delay of the first, from now until `end`.
fn means(bottleneck: &mut Bottleneck, end: f64, flows: usize) -> (Vec<f64>, f64) {
    let seen = bottleneck.run(end, |b| ((0..flows).map(|i| b.rate(i)).collect::<Vec<_>>(), b.delay(0)));
    let rate = |i: usize| mean(&seen.iter().map(|(rates, _)| rates[i]).collect::<Vec<_>>());
    ((0..flows).map(rate).collect(), mean(&seen.iter().map(|&(_, delay)| delay).collect::<Vec<_>>()))
}

fn near(value: f64, expected: f64, share: f64) -> bool {
    (value / expected - 1.0).abs() < share
}

#[test]
fn one_flow_climbs_to_the_capacity_and_settles_at_the_delay_of_equation_18() {
    let mut bottleneck = Bottleneck::new(&[exact()], path(1500, 10_000, 0), &[(0.0, NEVER)]);
    let rates = bottleneck.run(40.0, |b| b.rate(0));
    // 8 kbit/s with each of 163 round trips of 50 ms and a packet's 5.8 ms: 9.1 s; over a fluid, without packets,
    // the sampled control law takes 8.2 s. A packet's stamp is one packet ahead of the gap before it. While the
    // rate rises that looks like a growing queue, most of all at low rates.
    let reached = rates.iter().position(|&rate| rate >= 1500.0).unwrap() as f64 / 100.0;
    assert!((9.1..10.5).contains(&reached), "{reached} s");
    // The fluid's peak is 1523.9 kbit/s.
    let peak = rates.iter().copied().fold(0.0, f64::max);
    assert!(near(peak, 1524.0, 0.01), "{peak} kbit/s");
    let (rate, delay) = means(&mut bottleneck, 60.0, 1);
    assert!(near(rate[0], 1500.0, 0.002), "{rate:?}");
    assert!((delay - 119.23).abs() < 1.0, "{delay} ms");
}

#[test]
fn the_delay_at_equilibrium_follows_equation_18_at_other_rates() {
    // e = (e_b·a + T)/(1 − a) with a = 200/x, e_b = 25, T = 100.
    for (x, expected) in [(500, 183.33), (1000, 131.25), (3000, 108.93)] {
        let mut bottleneck = Bottleneck::new(&[exact()], path(x, 10_000, 0), &[(0.0, NEVER)]);
        bottleneck.run(60.0, |_| ());
        let (rate, delay) = means(&mut bottleneck, 80.0, 1);
        assert!(near(rate[0], x as f64, 0.005), "{rate:?}");
        assert!(near(delay, expected, 0.02), "{x} kbit/s: {delay} ms");
    }
}

#[test]
fn time_stamps_of_a_millisecond_and_counted_packets_lead_to_the_same_equilibrium() {
    let count = Config { interarrival: Interarrival::Count, ..exact() };
    for config in [Config::dccc_2017(T), count] {
        // On a path of 75 ms each way, so that a window holds several packets from the start.
        let way = TimeDelta::from_millis(75);
        let long = Path { there: way, back: way, ..path(1500, 10_000, 0) };
        let mut bottleneck = Bottleneck::new(&[config], long, &[(0.0, NEVER)]);
        bottleneck.run(80.0, |_| ());
        let (rate, delay) = means(&mut bottleneck, 120.0, 1);
        assert!(near(rate[0], 1500.0, 0.02), "{rate:?}");
        // (75·2/15 + 100)/(1 − 2/15).
        assert!(near(delay, 126.9, 0.05), "{delay} ms");
    }
}

/// The flows of figs. 5 and 6: two all the time, the third from 100 to 260 s.
const THREE: [(f64, f64); 3] = [(2.0, NEVER), (4.0, NEVER), (100.0, 260.0)];

#[test]
fn three_flows_share_a_long_queue_and_a_latecomer_gets_its_part() {
    let mut bottleneck = Bottleneck::new(&[exact()], path(3500, 130, 500), &THREE);
    bottleneck.run(80.0, |_| ());
    let (two, delay) = means(&mut bottleneck, 99.0, 2);
    assert!(two.iter().all(|&rate| near(rate, 1500.0, 0.03)), "{two:?}");
    assert!((delay - 119.23).abs() < 3.0, "{delay} ms");
    bottleneck.run(230.0, |_| ());
    let (three, delay) = means(&mut bottleneck, 255.0, 3);
    assert!(three.iter().all(|&rate| near(rate, 1000.0, 0.03)), "{three:?}");
    // Eq. (18) at 1000 kbit/s.
    assert!((delay - 131.25).abs() < 3.0, "{delay} ms");
    assert_eq!(bottleneck.lost, 0);
    // The two flows inherit the capacity of the third.
    bottleneck.run(265.0, |_| ());
    let (again, _) = means(&mut bottleneck, 300.0, 2);
    assert!(again.iter().all(|&rate| near(rate, 1500.0, 0.03)), "{again:?}");
}

#[test]
fn with_a_buffer_below_the_threshold_flows_share_by_their_losses() {
    let mut bottleneck = Bottleneck::new(&[exact()], path(3500, 25, 500), &THREE);
    bottleneck.run(70.0, |_| ());
    let (two, delay) = means(&mut bottleneck, 99.0, 2);
    // N·x² + (u − c)·x − N·h·c/N = 0: 1523.0 kbit/s each, of which 1.3 % are lost.
    assert!(near(mean(&two), 1523.0, 0.02), "{two:?}");
    assert!(two.iter().all(|&rate| near(rate, 1523.0, 0.1)), "{two:?}");
    assert!(delay < 100.0, "{delay} ms");
    bottleneck.run(200.0, |_| ());
    let (three, _) = means(&mut bottleneck, 255.0, 3);
    assert!(near(mean(&three), 1022.8, 0.02), "{three:?}");
    assert!(three.iter().all(|&rate| near(rate, 1022.8, 0.15)), "{three:?}");
}

#[test]
fn rates_are_in_proportion_to_the_weights() {
    let heavy = Config { utility_weight: DataRate::from_kbps(40), ..exact() };
    let both = [(0.0, NEVER), (1.0, NEVER)];
    let mut bottleneck = Bottleneck::new(&[heavy, exact()], path(1500, 10_000, 0), &both);
    bottleneck.run(100.0, |_| ());
    let (rates, _) = means(&mut bottleneck, 150.0, 2);
    assert!(near(rates[0] / rates[1], 2.0, 0.05), "{rates:?}");
}

/// Standard deviation of the rate in kbit/s from 120 to 150 s, at 1000 kbit/s.
fn swing(gain: f64) -> f64 {
    let mut bottleneck =
        Bottleneck::new(&[Config { gain, ..exact() }], path(1000, 10_000, 0), &[(0.0, NEVER)]);
    bottleneck.run(120.0, |_| ());
    let rates = bottleneck.run(150.0, |b| b.rate(0));
    let mean = mean(&rates);
    (rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / rates.len() as f64).sqrt()
}

#[test]
fn packets_swing_above_the_critical_gain_and_not_at_the_papers() {
    let (paper, high) = (swing(0.4), swing(1.2));
    assert!(paper < 20.0, "{paper} kbit/s");
    assert!(high > 100.0, "{high} kbit/s");
}

fn one_flow(config: Config, capacity: DataRate) -> Loop {
    let receiver = AtReceiver::new(DcccObserver::new(config).unwrap());
    Loop::new(Dccc::new(config, limits()).unwrap(), receiver, PacketSource::STEADY, capacity)
}

#[test]
fn with_clocks_two_hours_apart_the_queue_settles_above_the_margin() {
    let mut path = one_flow(Config::default(), DataRate::from_mbps(1));
    path.run(TimeDelta::from_secs(60), Loop::target_rate);
    let seen = path.run(TimeDelta::from_secs(30), |p| (p.target_rate(), p.queuing_delay().millis_f64()));
    let rate = mean(&seen.iter().map(|&(rate, _)| rate).collect::<Vec<_>>());
    let queue = mean(&seen.iter().map(|&(_, queue)| queue).collect::<Vec<_>>());
    assert!(near(rate, 1e6, 0.02), "{rate} bit/s");
    // Propagation of 50 ms on the forward path, 0 on the reverse path: (q − 50)/(50 + q) = a = 0.2 gives q = 75.
    assert!((queue - 75.0).abs() < 10.0, "{queue} ms");
}

#[test]
fn a_fixed_threshold_with_clocks_two_hours_apart_is_no_controller() {
    // The receiver's clock is ahead: the delay seems to be two hours, and the flow stands at h/β.
    let mut path = one_flow(exact(), DataRate::from_mbps(1));
    path.run(TimeDelta::from_secs(60), Loop::target_rate);
    assert!(near(path.target_rate(), 200e3, 0.02), "{}", path.target_rate());
}

#[test]
fn a_capacity_drop_is_followed_within_seconds() {
    let mut path = one_flow(Config::default(), DataRate::from_kbps(2000));
    path.run(TimeDelta::from_secs(60), Loop::target_rate);
    path.set_capacity(DataRate::from_kbps(600));
    path.run(TimeDelta::from_secs(5), Loop::target_rate);
    let rates = path.run(TimeDelta::from_secs(20), Loop::target_rate);
    assert!(near(mean(&rates), 600e3, 0.1), "{} bit/s", mean(&rates));
}

#[test]
fn after_five_seconds_without_feedback_the_rate_is_low_and_comes_back() {
    let mut path = one_flow(Config::default(), DataRate::from_mbps(1));
    path.run(TimeDelta::from_secs(30), Loop::target_rate);
    path.feedback_cut = true;
    let silent = path.run(TimeDelta::from_secs(5), Loop::target_rate);
    assert!(silent[4999] <= 50e3, "{} bit/s", silent[4999]);
    path.feedback_cut = false;
    // 8 kbit/s per round trip of 50 ms and more: 950/8 = 119 of them.
    let after = path.run(TimeDelta::from_secs(20), Loop::target_rate);
    assert!(near(mean(&after[15_000..]), 1e6, 0.05), "{} bit/s", mean(&after[15_000..]));
}

#[test]
fn a_threshold_below_the_propagation_delay_leaves_the_path_unused() {
    // p = 100 both ways, T = 50: x = h·RTT/(β·(e − T)) = 20·200/(0.1·50) = 800 kbit/s, whatever the capacity.
    let way = TimeDelta::from_millis(100);
    let unused = Path { there: way, back: way, ..path(2500, 10_000, 0) };
    let short = DelayThreshold::Fixed(TimeDelta::from_millis(50));
    let mut bottleneck = Bottleneck::new(&[Config { threshold: short, ..exact() }], unused, &[(0.0, NEVER)]);
    bottleneck.run(100.0, |_| ());
    assert!(near(bottleneck.rate(0), 800.0, 0.1), "{} kbit/s", bottleneck.rate(0));
    let open = DelayThreshold::AtLeastMinimum(TimeDelta::from_millis(50));
    let mut bottleneck = Bottleneck::new(&[Config { threshold: open, ..exact() }], unused, &[(0.0, NEVER)]);
    bottleneck.run(100.0, |_| ());
    assert!(near(bottleneck.rate(0), 2500.0, 0.02), "{} kbit/s", bottleneck.rate(0));
}

/// T = 100 ms on clocks that are exact, as by default.
fn by_departures() -> Config {
    Config { threshold: DelayThreshold::Fixed(T), ..Config::default() }
}

#[test]
fn beside_a_constant_flow_a_short_path_is_filled_too() {
    // 5 ms each way: the packets of the constant flow make the arrivals of a window uneven.
    let way = TimeDelta::from_millis(5);
    let short = Path { there: way, back: way, ..path(5000, 10_000, 500) };
    let mut bottleneck = Bottleneck::new(&[by_departures()], short, &[(0.0, NEVER)]);
    bottleneck.run(60.0, |_| ());
    let (rate, delay) = means(&mut bottleneck, 90.0, 1);
    assert!(near(rate[0], 4500.0, 0.02), "{rate:?}");
    // e = (e_b·a + T)/(1 − a), a = 200/4500, e_b = 5.
    assert!((delay - 104.9).abs() < 3.0, "{delay} ms");
}

#[test]
fn rates_by_departures_share_as_those_by_stamps_do() {
    let mut bottleneck = Bottleneck::new(&[by_departures()], path(3500, 130, 500), &THREE);
    bottleneck.run(80.0, |_| ());
    let (two, delay) = means(&mut bottleneck, 99.0, 2);
    assert!(two.iter().all(|&rate| near(rate, 1500.0, 0.03)), "{two:?}");
    assert!((delay - 119.23).abs() < 3.0, "{delay} ms");
    bottleneck.run(230.0, |_| ());
    let (three, _) = means(&mut bottleneck, 255.0, 3);
    assert!(three.iter().all(|&rate| near(rate, 1000.0, 0.03)), "{three:?}");
    assert_eq!(bottleneck.lost, 0);
}

#[test]
fn clocks_that_drift_apart_by_50_ppm_move_neither_rate_nor_queue_far() {
    // In twenty minutes by 60 ms.
    for ppm in [-50, 0, 50] {
        let mut path = one_flow(Config::default(), DataRate::from_mbps(1));
        path.clock_drift_ppm = ppm;
        path.run(TimeDelta::from_secs(1140), |_| ());
        let seen = path.run(TimeDelta::from_secs(60), |p| (p.target_rate(), p.queuing_delay().millis_f64()));
        let (rates, queues): (Vec<f64>, Vec<f64>) = seen.into_iter().unzip();
        assert!(near(mean(&rates), 1e6, 0.1), "{ppm} ppm: {} bit/s", mean(&rates));
        assert!((mean(&queues) - 75.0).abs() < 15.0, "{ppm} ppm: {} ms", mean(&queues));
    }
}
