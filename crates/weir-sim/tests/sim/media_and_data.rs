//! A call with delay-based media and loss-based data, uncoupled and coupled.

use crate::common::flow;
use weir_cc::coupled::Coupler;
use weir_cc::coupled::mixed::{Config, Mixed};
use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::ledbat::{self, Ledbat};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::scream::{ScreamReceiver, v1};
use weir_cc::window::{Cubic, NewReno, WindowAlgorithm};
use weir_cc::{AtReceiver, Controller, DataRate, RateLimits, Receiver, TimeDelta};
use weir_media::{EncoderConfig, MediaConfig, PacketFormat};
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_sim::Simulation;
use weir_world::{
    CoupledSpec, CouplingSpec, DesiredRate, FlowSpec, LinkSpec, MediaSpec, Monitor, PacketMeta, RunSpec,
    Traffic,
};

/// Rates in kbit/s and queues in packets; 50 ms in either direction.
const LINKS: [(u64, u32); 2] = [(2000, 60), (4000, 120)];
const DATA_FROM: u64 = 10;

/// Packets that passed the link, with their queuing delays.
#[derive(Debug, Default)]
struct Passed {
    /// Time, flow, bytes, and the queuing delay in ms.
    packets: Vec<(f64, usize, u32, f64)>,
    lost: usize,
}

impl Monitor for Passed {
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        if !packet.control {
            self.packets.push((now.secs_f64(), flow, packet.wire_size, packet.wait.millis_f64()));
        }
    }
    fn dropped(&mut self, _: Time, _: usize, _: usize, _: &PacketMeta, _: weir_world::Loss) {
        self.lost += 1;
    }
}

impl Passed {
    /// The waits of the packets from `from` to `to`, in increasing order.
    fn waits(&self, from: f64, to: f64) -> Vec<f64> {
        let mut waits: Vec<_> =
            self.packets.iter().filter(|(at, ..)| (from..to).contains(at)).map(|(.., wait)| *wait).collect();
        waits.sort_by(f64::total_cmp);
        waits
    }

    /// The 95th percentile of the queuing delay in ms.
    fn p95(&self, from: f64, to: f64) -> f64 {
        let waits = self.waits(from, to);
        waits.get(waits.len() * 95 / 100).copied().unwrap_or_default()
    }

    fn mbps(&self, of: usize, from: f64, to: f64) -> f64 {
        let bytes = self.packets.iter().filter(|(at, flow, ..)| *flow == of && (from..to).contains(at));
        bytes.map(|(_, _, bytes, _)| f64::from(*bytes)).sum::<f64>() * 8e-6 / (to - from)
    }

    /// Share of the link that both use.
    fn used(&self, link: (u64, u32), from: f64, to: f64) -> f64 {
        (self.mbps(0, from, to) + self.mbps(1, from, to)) * 1e3 / link.0 as f64
    }

    /// The data's share of the bytes.
    fn data_part(&self, from: f64, to: f64) -> f64 {
        let (media, data) = (self.mbps(0, from, to), self.mbps(1, from, to));
        data / (media + data)
    }

    /// The data's share in intervals of 10 s relative to `part`, where it is furthest from 1.
    fn worst_part(&self, part: f64, from: u64, to: u64) -> f64 {
        let parts = (from..to - 9).map(|at| self.data_part(at as f64, at as f64 + 10.0) / part);
        parts.max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs())).unwrap_or_default()
    }
}

/// A call under `controller` of at most `most` kbit/s.
fn media(controller: &str, most: u64) -> Traffic {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(most)).unwrap();
    let mut config = MediaConfig::new(limits, EncoderConfig::perfect());
    let (sender, receiver): (Box<dyn Controller>, Box<dyn Receiver>) = match controller {
        "gcc" => {
            let controller_config = goog_cc::Config::default();
            let receiver = PacketFeedback::new(controller_config.feedback_interval);
            (Box::new(GoogCc::new(controller_config, limits).unwrap()), Box::new(receiver))
        }
        "nada" => {
            let controller_config = nada::Config::default();
            let receiver = AtReceiver::new(NadaObserver::new(controller_config).unwrap());
            (Box::new(Nada::new(controller_config, limits).unwrap()), Box::new(receiver))
        }
        "scream" => {
            config.packet_format = PacketFormat::Rfc8888;
            let sender = v1::Scream::new(v1::Config::default(), limits).unwrap();
            (Box::new(sender), Box::new(ScreamReceiver::v1()))
        }
        _ => {
            let controller_config = ledbat::Config::default();
            let receiver = ledbat::receiver(&controller_config).unwrap();
            (Box::new(Ledbat::new(controller_config, limits).unwrap()), Box::new(receiver))
        }
    };
    Traffic::Media(MediaSpec::new(sender, receiver, config))
}

/// A TCP transfer without end.
fn data(algorithm: &str) -> Traffic {
    let algorithm: Box<dyn WindowAlgorithm> =
        if algorithm == "cubic" { Box::new(Cubic::new()) } else { Box::new(NewReno::new()) };
    Traffic::Tcp {
        name: "reno".to_owned(),
        algorithm,
        config: weir_world::tcp::TcpConfig::default(),
        size: None,
    }
}

struct Case {
    media: &'static str,
    data: Option<&'static str>,
    link: (u64, u32),
    seconds: u64,
    /// Priorities of media and data, and the coupler's configuration, if they are coupled.
    coupled: Option<(Config, f64, f64)>,
    pause: Option<(u64, u64)>,
}

impl Case {
    fn of(media: &'static str, data: &'static str, link: (u64, u32)) -> Self {
        Self { media, data: Some(data), link, seconds: 80, coupled: None, pause: None }
    }

    fn coupled(self, config: Config, media: f64, data: f64) -> Self {
        Self { coupled: Some((config, media, data)), ..self }
    }

    fn run(&self) -> Passed {
        Simulation::new(self.spec(), Passed::default()).unwrap().run()
    }

    /// The run of a call and its transfers over a link of 50 ms each way.
    fn spec(&self) -> RunSpec {
        let (kbps, packets) = self.link;
        let link = |name: &str| {
            let service = Service::Constant(DataRate::from_kbps(kbps));
            let mut config = LinkConfig::new(service, TimeDelta::from_millis(50));
            config.queue = QueueConfig { limit_packets: Some(packets), ..QueueConfig::default() };
            LinkSpec { name: name.to_owned(), config, bottleneck: name == "forward" }
        };
        let secs = |s| Time::from_millis(1000 * s);
        let mut spec = RunSpec::over(vec![link("forward"), link("reverse")], secs(self.seconds));
        let mut flows = vec![flow("media", media(self.media, kbps * 5 / 4))];
        if let Some((from, to)) = self.pause {
            flows = flows.into_iter().map(|flow| flow.pausing(secs(from), secs(to))).collect();
        }
        flows.extend(self.data.map(|algorithm| flow("data", data(algorithm)).from(secs(DATA_FROM))));
        if let Some((config, of_media, of_data)) = self.coupled {
            let coupler: Box<dyn Coupler> = Box::new(Mixed::new(config).unwrap());
            let delay = TimeDelta::ZERO;
            spec = spec.coupling(CouplingSpec { name: "call".to_owned(), coupler, delay });
            let couple = |(flow, priority): (FlowSpec, f64)| {
                let desired = DesiredRate::Limits;
                flow.coupled(CoupledSpec { desired, ..CoupledSpec::new(0).weighing(priority) })
            };
            flows = flows.into_iter().zip([of_media, of_data]).map(couple).collect();
        }
        spec.with_all(flows)
    }
}

/// Asserts the queuing delay, the data's share and the utilisation of a call with data on one link. The grid of links,
/// priorities and seeds is the row `weir/media-and-data`; here each controller has one place of it.
fn data_beside(controller: &'static str, data: &'static str, (of_media, of_data): (f64, f64)) {
    let narrow = LINKS[0];
    let alone = Case { data: None, ..Case::of(controller, "", narrow) }.run().p95(40.0, 80.0);
    let apart = Case::of(controller, data, narrow).run().p95(40.0, 80.0);
    assert!(apart > alone + 200.0, "{controller}, {data}: {apart} ms on their own, {alone} without data");
    let run = Case::of(controller, data, narrow).coupled(Config::default(), of_media, of_data).run();
    let queue = run.p95(40.0, 80.0);
    assert!(queue <= alone + 25.0, "{controller}, {data}: {queue} ms, {alone} without data");
    let part = run.worst_part(of_data / (of_media + of_data), 40, 80);
    assert!((part - 1.0).abs() <= 0.05, "{controller}, {data}: {part} of its part");
    let used = run.used(narrow, 40.0, 80.0);
    assert!(used >= 0.85, "{controller}, {data}: {used} used");
}

#[test]
fn data_beside_gcc_takes_its_part_and_fills_no_queue() {
    data_beside("gcc", "cubic", (2.0, 1.0));
}

#[test]
fn data_beside_nada_takes_its_part_and_fills_no_queue() {
    data_beside("nada", "cubic", (1.0, 1.0));
}

#[test]
fn data_beside_scream_takes_its_part_and_fills_no_queue() {
    data_beside("scream", "newreno", (1.0, 2.0));
}

/// With the smallest round-trip time a queue takes part of the data's share, and media with more than its share makes
/// the queue longer.
#[test]
fn windows_by_the_smallest_round_trip_time_miss_the_datas_part() {
    let run = Case::of("gcc", "newreno", LINKS[0]).coupled(Config::by_base_rtt(), 1.0, 1.0).run();
    let part = run.data_part(40.0, 80.0) / 0.5;
    assert!(part < 0.95, "{part} of its part");
}

#[test]
fn data_takes_the_link_while_media_pauses_and_yields_when_it_is_back() {
    for (controller, link) in [("nada", LINKS[0]), ("scream", LINKS[1])] {
        let mut case = Case::of(controller, "newreno", link).coupled(Config::default(), 1.0, 1.0);
        case.pause = Some((40, 60));
        let run = case.run();
        let used = run.used(link, 41.0, 45.0);
        assert!(used > 0.95, "{controller}: {used} used in the pause");
        let (before, pause, back) = (run.p95(25.0, 40.0), run.p95(41.0, 60.0), run.p95(62.0, 70.0));
        assert!(pause < 80.0, "{controller}: {pause} ms in the pause");
        assert!(back <= before + 25.0, "{controller}: {back} ms again, {before} before");
        assert_eq!(run.lost, 0, "{controller}");
    }
}

/// The mean queuing delay and the utilisation of LEDBAT beside TCP with a queue of four times its target.
fn beside_ledbat(config: Config) -> (f64, f64) {
    let link = (2000, 80);
    let run = Case::of("ledbat", "newreno", link).coupled(config, 1.0, 1.0).run();
    let waits = run.waits(50.0, 80.0);
    (waits.iter().sum::<f64>() / waits.len() as f64, run.used(link, 50.0, 80.0))
}

#[test]
fn ledbat_keeps_its_target_for_a_tcp_too() {
    let (wait, used) = beside_ledbat(Config::ledbat());
    assert!((75.0..=125.0).contains(&wait) && used >= 0.9, "{wait} ms, {used} used");
    // A segment more in each round trip, and a segment less: twice the target.
    let (wait, used) = beside_ledbat(Config::ledbat_sum_all());
    assert!((180.0..=240.0).contains(&wait) && used >= 0.9, "{wait} ms, {used} used");
}
