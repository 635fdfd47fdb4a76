//! TCP flows on links of the simulator against the theory of their shares, windows and queues.

use crate::common::{flow, link};
use crate::long;
use weir_cc::window::{
    Cubic, Dctcp, HyStart, HyStartConfig, NewReno, Rules, Westwood, WestwoodEstimator, WindowAlgorithm,
};
use weir_net::{LossModel, QueueConfig, Time};
use weir_sim::Simulation;
use weir_units::TimeDelta;
use weir_world::tcp::{EcnMode, TcpConfig};
use weir_world::{FlowSpec, LinkSpec, Loss, Monitor, PacketMeta, RunSpec, Side, Traffic};

/// Bytes of a full segment on the wire.
const SEGMENT: f64 = 1500.0;

/// Counts of arrivals after a warm-up.
#[derive(Debug, Default)]
struct Meter {
    from: Time,
    /// Segments per flow.
    segments: Vec<f64>,
    waited: TimeDelta,
    dropped: u64,
    windows: Vec<WindowMean>,
}

/// The mean of a flow's congestion window over time.
#[derive(Clone, Copy, Debug, Default)]
struct WindowMean {
    since: Time,
    now: f64,
    /// Integral of the window over time, in segments times seconds.
    area: f64,
}

impl Monitor for Meter {
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        if !packet.control && now >= self.from {
            self.segments[flow] += f64::from(packet.wire_size) / SEGMENT;
            self.waited += packet.wait;
        }
    }

    fn wants_signals(&self) -> bool {
        true
    }

    fn signals(&mut self, now: Time, flow: usize, _side: Side, values: &[f64]) {
        let window = &mut self.windows[flow];
        window.area += window.now * (now.max(self.from) - window.since.max(self.from)).secs_f64();
        (window.since, window.now) = (now, values[0]); // `cwnd` is the first of TCP's signals
    }

    fn dropped(&mut self, now: Time, _flow: usize, _link: usize, packet: &PacketMeta, _loss: Loss) {
        self.dropped += u64::from(!packet.control && now >= self.from);
    }
}

impl Meter {
    fn total(&self) -> f64 {
        self.segments.iter().sum()
    }

    fn mean_wait(&self) -> TimeDelta {
        self.waited.scale(1.0 / self.total())
    }
}

/// Runs `flows` for `seconds` and measures from `warm_up` seconds on.
fn measure(links: Vec<LinkSpec>, flows: Vec<FlowSpec>, warm_up: u64, seconds: u64) -> Meter {
    let from = Time::from_millis(1000 * warm_up);
    let windows = vec![WindowMean::default(); flows.len()];
    let meter = Meter { from, segments: vec![0.0; flows.len()], windows, ..Meter::default() };
    let spec = RunSpec::over(links, Time::from_millis(1000 * seconds)).with_all(flows);
    Simulation::new(spec, meter).expect("a valid spec").run()
}

fn tcp(algorithm: impl WindowAlgorithm + 'static) -> Traffic {
    tcp_with(TcpConfig::default(), algorithm)
}

fn tcp_with(config: TcpConfig, algorithm: impl WindowAlgorithm + 'static) -> Traffic {
    Traffic::Tcp { name: "reno".to_owned(), algorithm: Box::new(algorithm), config, size: None }
}

/// A link forward and back, 25 ms each: `forward` of `kbps` with a queue of `queue`, the other practically without
/// queuing.
fn path(kbps: u64, queue: TimeDelta) -> Vec<LinkSpec> {
    let mut forward = link("forward", kbps);
    forward.config.queue = QueueConfig { limit_time: Some(queue), ..QueueConfig::default() };
    vec![forward, link("reverse", 1_000_000)]
}

const fn ms(ms: i64) -> TimeDelta {
    TimeDelta::from_millis(ms)
}

#[test]
fn two_cubic_flows_share_alike_though_one_comes_later() {
    for algorithm in
        [Cubic::new(), Cubic::with_rules(Rules::linux(), Some(HyStart::new(HyStartConfig::linux())))]
    {
        let mut flows = vec![flow("a", tcp(algorithm.clone())), flow("b", tcp(algorithm))];
        flows[1].start = Time::from_millis(5000);
        let meter = measure(path(20_000, ms(50)), flows, 60, 360);
        let share = meter.segments[0] / meter.total();
        assert!((share - 0.5).abs() <= 0.05, "{share}");
    }
}

/// The rate of a NewReno flow with a round trip of 50 ms over that of one with 200 ms.
fn rtt_unfairness(mut links: Vec<LinkSpec>, seconds: u64) -> f64 {
    let mut far = link("far", 1_000_000);
    far.config.delay = ms(150);
    links.push(far);
    let mut flows = vec![flow("near", tcp(NewReno::new())), flow("far", tcp(NewReno::new()))];
    flows[1].forward = vec![2, 0];
    let meter = measure(links, flows, 60, seconds);
    meter.segments[0] / meter.segments[1]
}

#[test]
fn under_random_loss_rates_go_with_the_inverse_round_trip_time() {
    // The square-root law (Mathis et al. 1997): both windows are alike, so the rates are as 200 to 50.
    let mut links = path(1_000_000, ms(50));
    links[0].config.loss = LossModel::Bernoulli(0.002);
    let ratio = rtt_unfairness(links, 1200);
    assert!((ratio / 4.0 - 1.0).abs() < 0.1, "{ratio}");
}

#[test]
fn at_a_full_queue_short_round_trips_gain_more_than_their_inverse() {
    // Lakshman and Madhow 1997: with losses at the same time the rates go with RTT^-a, a between 1 and 2. A queue of up
    // to 20 ms makes the round trips 50..70 and 200..220 ms.
    let ratio = rtt_unfairness(path(20_000, ms(20)), 1200);
    assert!(ratio > 3.0 && ratio < 16.0, "{ratio}");
}

/// Segments per second (Padhye et al. 1998, eq. (30) with b = 1, and no limit of the receiver).
fn padhye_law(p: f64, rtt: f64, rto: f64) -> f64 {
    let timeouts = (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (rtt * (2.0 * p / 3.0).sqrt() + rto * timeouts)
}

#[test]
fn fifty_reno_flows_under_random_loss_have_the_windows_of_theory() {
    // The lowest probability takes two thirds of the time, and is for full length.
    for p in if long() { &[0.001, 0.005, 0.01][..] } else { &[0.005, 0.01] } {
        let p = *p;
        let mut links = path(10_000_000, ms(50));
        links[0].config.loss = LossModel::Bernoulli(p);
        let flows = (0..50).map(|n| flow(&format!("flow-{n}"), tcp(NewReno::new()))).collect();
        let meter = measure(links, flows, 10, 110);
        // Round trips last 50 ms; the timeout is 200 ms longer.
        let expected = padhye_law(p, 0.05, 0.25) * 0.05;
        let carried = meter.total() / 50.0 / 100.0 * 0.05;
        let window = meter.windows.iter().map(|window| window.area).sum::<f64>() / 50.0 / 100.0;
        for mean in [carried, window] {
            assert!(
                (mean / expected - 1.0).abs() < 0.1,
                "p = {p}: {carried} and {window} instead of {expected}"
            );
        }
    }
}

#[test]
fn random_loss_costs_westwood_plus_less_than_newreno_and_westwood_per_ack_more() {
    let goodput = |algorithm: Box<dyn WindowAlgorithm>| {
        let mut links = path(10_000, ms(50));
        links[0].config.loss = LossModel::Bernoulli(0.01);
        let traffic =
            Traffic::Tcp { name: "reno".to_owned(), algorithm, config: TcpConfig::default(), size: None };
        measure(links, vec![flow("tcp", traffic)], 10, 130).total()
    };
    let newreno = goodput(Box::new(NewReno::new()));
    for estimator in [WestwoodEstimator::Linux, WestwoodEstimator::Ns3, WestwoodEstimator::Ns3AckSpacing] {
        let plus = goodput(Box::new(Westwood::with_rules(estimator, Rules::default())));
        assert!(plus > 1.5 * newreno, "{estimator:?}: {plus} against {newreno}");
    }
    let per_ack = goodput(Box::new(Westwood::with_rules(WestwoodEstimator::Ns3PerAck, Rules::default())));
    assert!(per_ack < newreno, "{per_ack} against {newreno}");
}

#[test]
fn dctcp_keeps_the_queue_at_the_marking_threshold_and_the_link_busy() {
    // RFC 8257 §4.1: a threshold of at least a seventh of the round trip, here of 50 ms and the queue itself.
    let threshold = ms(10);
    let marked = |ecn, algorithm: Box<dyn WindowAlgorithm>| {
        let mut links = path(50_000, ms(300));
        links[0].config.queue.mark_above = Some(threshold);
        let config = TcpConfig { ecn, ..TcpConfig::default() };
        measure(
            links,
            vec![flow("tcp", Traffic::Tcp { name: "reno".to_owned(), algorithm, config, size: None })],
            20,
            80,
        )
    };
    let capacity = 60.0 * 50e6 / 8.0 / SEGMENT;
    let dctcp = marked(EcnMode::Accurate, Box::new(Dctcp::new()));
    assert_eq!(dctcp.dropped, 0);
    let wait = dctcp.mean_wait();
    assert!(wait > threshold / 2 && wait < threshold * 5 / 4, "{wait}");
    assert!(dctcp.total() > 0.99 * capacity, "{}", dctcp.total() / capacity);
    // A window that is halved at the same threshold empties the queue and leaves the link idle.
    let reno = marked(EcnMode::Classic, Box::new(NewReno::new()));
    assert!(reno.total() < 0.95 * capacity, "{}", reno.total() / capacity);
}

#[test]
fn hystart_leaves_slow_start_before_the_queue_overflows() {
    let dropped =
        |algorithm: Cubic| measure(path(20_000, ms(100)), vec![flow("tcp", tcp(algorithm))], 0, 5).dropped;
    let rules = Rules::linux();
    let without = dropped(Cubic::with_rules(rules, None));
    let with = dropped(Cubic::with_rules(rules, Some(HyStart::new(HyStartConfig::linux()))));
    assert!(without > 50 && with == 0, "{without} and {with}");
}

#[test]
fn pacing_takes_the_bursts_out_of_the_queue() {
    // A window limited to half of the bandwidth-delay product: paced segments find the queue empty.
    let wait = |pacing| {
        let config = TcpConfig { pacing, receive_window: 40, ..TcpConfig::default() };
        measure(path(20_000, ms(100)), vec![flow("tcp", tcp_with(config, NewReno::new()))], 5, 35).mean_wait()
    };
    let (bursts, paced) = (wait(false), wait(true));
    assert!(paced * 2 < bursts, "{paced} against {bursts}");
}
