//! Active queues with responsive sources: each holds the delay that its RFC promises.

use crate::common::{constant, flow, gcc_2016, spec, tcp};
use weir_cc::{Ecn, TimeDelta};
use weir_net::{CoDel, Discipline, DropReason, DualPi2, FqCoDel, Pie, QueueConfig, Red, Time};
use weir_sim::Simulation;
use weir_world::{FlowSpec, Loss, Monitor, PacketMeta, RunSpec, Traffic};

const WARM_UP: Time = Time::from_millis(10_000);

/// Queuing delays and losses at the bottleneck by flow, after the warm-up.
#[derive(Debug, Default)]
struct Waits {
    flows: Vec<Flow>,
    early: u64,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    ms: Vec<f64>,
    bytes: u64,
}

impl Monitor for Waits {
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        if now < WARM_UP || packet.control {
            return;
        }
        self.flows.resize(self.flows.len().max(flow + 1), Flow::default());
        self.flows[flow].ms.push(packet.wait.millis_f64());
        self.flows[flow].bytes += u64::from(packet.wire_size);
    }

    fn dropped(&mut self, _now: Time, _flow: usize, _link: usize, _packet: &PacketMeta, loss: Loss) {
        self.early += u64::from(loss == Loss::Queue(DropReason::Aqm));
    }
}

impl Waits {
    /// Mean and 95th percentile of the queuing delay of these flows, in ms.
    fn of(&self, flows: impl IntoIterator<Item = usize>) -> (f64, f64) {
        let mut all: Vec<f64> = flows.into_iter().flat_map(|flow| self.flows[flow].ms.clone()).collect();
        all.sort_by(f64::total_cmp);
        (all.iter().sum::<f64>() / all.len() as f64, all[all.len() * 95 / 100])
    }

    /// Bits per second of these flows, after the warm-up of a run of 60 s.
    fn rate(&self, flows: impl IntoIterator<Item = usize>) -> f64 {
        flows.into_iter().map(|flow| self.flows[flow].bytes as f64 * 8.0).sum::<f64>() / 50.0
    }
}

/// A minute on a bottleneck of `kbps` and 50 ms of round-trip time.
fn run(kbps: u64, discipline: Discipline, flows: Vec<FlowSpec>) -> Waits {
    let mut spec: RunSpec = spec(kbps, 60, flows);
    spec.links[0].config.queue =
        QueueConfig { limit_packets: Some(1000), discipline, ..QueueConfig::default() };
    Simulation::new(spec, Waits::default()).expect("a valid spec").run()
}

/// TCP transfers that start 100 ms apart.
fn bulk(count: usize) -> Vec<FlowSpec> {
    let staggered =
        |n: usize| FlowSpec { start: Time::from_millis(100 * n as u64), ..flow(&format!("bulk-{n}"), tcp()) };
    (0..count).map(staggered).collect()
}

#[test]
fn drop_tail_fills_its_queue_and_codel_does_not() {
    let (_, full) = run(20_000, Discipline::DropTail, bulk(5)).of(0..5);
    // 1000 packets of 1500 bytes take 600 ms.
    assert!(full > 500.0, "{full} ms");
    let codel = run(20_000, Discipline::CoDel(CoDel::default()), bulk(5));
    let (mean, most) = codel.of(0..5);
    println!(
        "CoDel, 5 × NewReno on 20 Mbit/s: mean {mean:.1} ms, 95 % {most:.1} ms, {:.2e} bit/s",
        codel.rate(0..5)
    );
    assert!((4.5..8.5).contains(&mean) && most < 17.0, "mean {mean} ms, 95 % {most} ms");
    assert!(codel.rate(0..5) > 0.85 * 20e6, "{}", codel.rate(0..5));
    assert!(codel.early > 100, "{}", codel.early);
    // The queuing delay is held by the target.
    let lax = CoDel { target: TimeDelta::from_millis(20), ..CoDel::default() };
    let (mean, _) = run(20_000, Discipline::CoDel(lax), bulk(5)).of(0..5);
    assert!((12.0..26.0).contains(&mean), "{mean} ms at a target of 20 ms");
}

#[test]
fn pie_holds_its_target_of_15_ms() {
    for (count, kbps) in [(5, 10_000), (10, 20_000), (30, 20_000)] {
        let pie = run(kbps, Discipline::Pie(Pie::default()), bulk(count));
        let (mean, most) = pie.of(0..count);
        println!("PIE, {count} × NewReno on {kbps} kbit/s: mean {mean:.1} ms, 95 % {most:.1} ms");
        assert!((12.5..20.0).contains(&mean), "{count} flows: mean {mean} ms");
        assert!(most < 42.0, "{count} flows: 95 % {most} ms");
        assert!(pie.rate(0..count) > 0.85 * 1000.0 * kbps as f64, "{}", pie.rate(0..count));
    }
    let lax = Pie { target: TimeDelta::from_millis(30), ..Pie::default() };
    let (mean, _) = run(20_000, Discipline::Pie(lax), bulk(10)).of(0..10);
    assert!((24.0..39.0).contains(&mean), "{mean} ms at a target of 30 ms");
}

#[test]
fn dualpi2_holds_classic_traffic_at_its_target_and_l4s_traffic_near_zero() {
    let mut flows = bulk(10);
    let Traffic::Media(mut media) = gcc_2016() else { unreachable!() };
    media.config.ecn = Ecn::Ect1;
    flows.push(flow("video", Traffic::Media(media)));
    let dual = run(20_000, Discipline::DualPi2(DualPi2::default()), flows);
    let (classic, _) = dual.of(0..10);
    let (l4s, most) = dual.of([10]);
    println!(
        "DualPI2, 10 × NewReno and a call on 20 Mbit/s: Classic {classic:.1} ms, L4S {l4s:.2} ms, 95 % {most:.2} ms"
    );
    assert!((12.0..19.5).contains(&classic), "{classic} ms");
    assert!(l4s < 0.5 && most < 1.0, "mean {l4s} ms, 95 % {most} ms");
}

#[test]
fn fq_codel_keeps_a_call_out_of_the_queue_of_its_neighbours() {
    let mut flows = bulk(3);
    flows.push(flow("video", gcc_2016()));
    flows.push(flow("flood", constant(9000)));
    let fq = run(12_000, Discipline::FqCoDel(FqCoDel::default()), flows);
    let (video, most) = fq.of([3]);
    let shares: Vec<f64> = (0..3).map(|flow| fq.rate([flow])).collect();
    println!("FQ-CoDel, 12 Mbit/s: call {video:.1} ms, 95 % {most:.1} ms; NewReno at {shares:.0?} bit/s");
    assert!(video < 8.0, "{video} ms");
    // The call takes 2 Mbit/s, less than a fair share: the other four share 10.
    assert!(shares.iter().all(|share| (2.1e6..2.7e6).contains(share)), "{shares:?}");
}

#[test]
fn red_keeps_the_average_queue_between_its_thresholds() {
    let red = Red { weight: 0.002, mean_packet: weir_cc::DataSize::from_bytes(1500), ..Red::default() };
    let waits = run(20_000, Discipline::Red(red), bulk(10));
    let (mean, _) = waits.of(0..10);
    println!("RED 5..15 packets, 10 × NewReno on 20 Mbit/s: mean {mean:.1} ms");
    // 5 to 15 packets of 1500 bytes at 20 Mbit/s are 3 to 9 ms.
    assert!((3.0..9.0).contains(&mean), "{mean} ms");
}
