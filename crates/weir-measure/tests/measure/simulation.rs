//! The recorder in simulations with known results.

use weir_measure::metrics::{FlowPlan, LinkPlan, MeasurePlan, Recorder};
use weir_measure::results::{FlowKind, RunMetrics, Value};
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::{FlowSpec, LinkSpec, RunSpec, Traffic};

const DELAY: TimeDelta = TimeDelta::from_millis(25);
/// Packets that the queue holds, the one in service included.
const QUEUE: u32 = 20;

/// 60 s of packets of 1000 bytes at a constant rate over 1 Mbit/s, measured from 10 s to 50 s.
fn constant(kbps: u64, loss: f64) -> RunMetrics {
    run(kbps, loss, Vec::new())
}

/// The same at 3 Mbit/s in bursts of 100 ms with so many milliseconds between them.
fn bursts(apart: u64) -> RunMetrics {
    let period = 100 + apart;
    let pauses = (0..60_000 / period)
        .map(|burst| (Time::from_millis(burst * period + 100), Time::from_millis((burst + 1) * period)));
    run(3000, 0.0, pauses.collect())
}

/// Metrics of a constant flow of `kbps` over 1 Mbit/s, from 10 to 50 s.
fn run(kbps: u64, loss: f64, pauses: Vec<(Time, Time)>) -> RunMetrics {
    let end = Time::from_millis(60_000);
    let queue = QueueConfig { limit_packets: Some(QUEUE), ..QueueConfig::default() };
    let service = Service::Constant(DataRate::from_mbps(1));
    let loss = weir_net::LossModel::Bernoulli(loss);
    let config = LinkConfig { queue, loss, ..LinkConfig::new(service.clone(), DELAY) };
    let (rate, packet_size) = (DataRate::from_kbps(kbps), DataSize::from_bytes(1000));
    let flow = FlowSpec { pauses, ..FlowSpec::new("cross", Traffic::Constant { rate, packet_size }) };
    let flow = flow.over([0], []);
    let plan = MeasurePlan {
        window: (Time::from_millis(10_000), Time::from_millis(50_000)),
        queues: true,
        ..MeasurePlan::new(
            end,
            vec![FlowPlan { propagation: DELAY, ..FlowPlan::new(&flow.name, FlowKind::Constant) }],
            vec![LinkPlan { delay: TimeDelta::from_millis(25), ..LinkPlan::bottleneck("forward", service) }],
        )
    };
    let spec = RunSpec::over(vec![LinkSpec::bottleneck("forward", config)], end).with(flow);
    weir_measure::simulate(spec, Recorder::new(plan)).expect("a valid spec").finish().metrics
}

#[track_caller]
fn near(actual: Value, expected: f64, tolerance: f64) {
    let actual = actual.expect("a value");
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}

#[test]
fn below_capacity_packets_wait_for_nothing_but_their_own_service() {
    let metrics = constant(500, 0.0);
    let (flow, link) = (&metrics.flows[0], &metrics.links[0]);
    assert_eq!(flow.rate_bps, Some(500_000.0));
    assert_eq!(flow.loss_ratio, Some(0.0));
    // 8000 bits at 1 Mbit/s.
    assert_eq!((flow.owd_excess_ms.mean, flow.owd_excess_ms.max), (Some(8.0), Some(8.0)));
    assert_eq!((flow.queue_wait_ms.max, link.queue_ms.max), (Some(0.0), Some(0.0)));
    assert_eq!((link.queue_packets.mean, link.queue_packets.max), (Some(0.0), Some(0.0)));
    assert_eq!((link.overflows, link.failed_drains), (Some(0.0), Some(0.0)));
    near(link.utilisation.bits, 0.5, 1e-9);
    near(link.utilisation.time_mean, 0.5, 1e-9);
    near(link.utilisation.fair_share, 0.5 * 972.0 / 1000.0, 1e-9);
}

#[test]
fn above_capacity_the_queue_stays_full_and_the_excess_is_lost() {
    let metrics = constant(1500, 0.0);
    let (flow, link) = (&metrics.flows[0], &metrics.links[0]);
    near(flow.rate_bps, 1e6, 1.0);
    near(flow.loss_ratio, 1.0 / 3.0, 1e-3);
    near(flow.packet_loss_ratio, 1.0 / 3.0, 1e-3);
    near(link.loss_ratio, 1.0 / 3.0, 1e-3);
    near(link.utilisation.bits, 1.0, 1e-9);
    near(link.utilisation.time_sd, 0.0, 1e-9);
    // A packet is taken when fewer than 20 are there: it waits for the 18 behind the one in service and for the
    // rest of that one, which lasts between 0 and 8 ms.
    let wait = flow.queue_wait_ms.mean.expect("packets were received");
    assert!((18.0 * 8.0..=19.0 * 8.0).contains(&wait), "{wait}");
    near(flow.owd_excess_ms.mean, wait + 8.0, 1e-6);
    assert_eq!(flow.queue_wait_ms, link.queue_ms);
    // 125 packets/s come out; one overflow without end, so nothing could drain.
    near(link.queue_packets.mean, wait * 0.125, 0.01);
    assert_eq!(link.queue_packets.max, Some(f64::from(QUEUE - 1)));
    assert_eq!((link.overflows, link.failed_drains), (Some(0.0), Some(0.0)));
}

#[test]
fn a_queue_that_gets_empty_between_two_overflows_drains() {
    // 3 Mbit/s for 100 ms bring 37 packets, of which 12 are served meanwhile; the queue takes 20. In 400 ms it is empty.
    let link = &bursts(400).links[0];
    assert_eq!((link.overflows, link.failed_drains), (Some(80.0), Some(0.0)));
    assert_eq!(link.queue_packets.max, Some(f64::from(QUEUE - 1)));
    // In 100 ms 12 of 19 packets are served.
    let link = &bursts(100).links[0];
    assert_eq!((link.overflows, link.failed_drains), (Some(200.0), Some(200.0)));
}

#[test]
fn randomly_lost_packets_have_used_the_link() {
    let metrics = constant(500, 0.1);
    let (flow, link) = (&metrics.flows[0], &metrics.links[0]);
    // 2500 packets in 40 s; standard deviation of the ratio √(0.1 · 0.9 / 2500) = 0.006.
    near(flow.loss_ratio, 0.1, 0.024);
    // The link counts by the time of loss, the flow by that of sending: a packet may fall into one window only.
    near(link.loss_ratio, flow.loss_ratio.expect("packets were sent"), 2.0 / 2500.0);
    near(link.utilisation.bits, 0.5, 1e-9);
    near(flow.rate_bps, 500e3 * (1.0 - flow.loss_ratio.expect("packets were sent")), 400.0);
}
