//! A call whose media goes by delay and whose data goes by loss, on its own and coupled.

use crate::common::flow;
use weir_cc::coupled::Coupler;
use weir_cc::coupled::mixed::{Config, Mixed};
use weir_cc::gcc::goog_cc::{self, GoogCc};
use weir_cc::ledbat::{self, Ledbat};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::scream::{ScreamReceiver, v1};
use weir_cc::window::{Cubic, NewReno, WindowLaw};
use weir_cc::{AtReceiver, Controller, DataRate, RateLimits, Receiver, TimeDelta};
use weir_media::{EncoderConfig, MediaConfig, PacketFormat};
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_sim::Simulation;
use weir_world::{
    CoupledSpec, CouplingSpec, Desired, FlowSpec, LinkSpec, MediaSpec, Monitor, PacketMeta, RunSpec, Traffic,
};

/// Rates in kbit/s and queues in packets; 50 ms each way.
const LINKS: [(u64, u32); 3] = [(2000, 60), (4000, 120), (5000, 150)];
const DATA_FROM: u64 = 10;

/// What passed in each tenth of a second, and how long it had waited.
#[derive(Debug, Default)]
struct Passed {
    /// When, whose, how many bytes, and the wait in ms.
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
    fn waits(&self, from: f64, to: f64) -> Vec<f64> {
        let mut waits: Vec<_> =
            self.packets.iter().filter(|(at, ..)| (from..to).contains(at)).map(|(.., wait)| *wait).collect();
        waits.sort_by(f64::total_cmp);
        waits
    }

    /// The 95th percentile of the wait in ms.
    fn p95(&self, from: f64, to: f64) -> f64 {
        let waits = self.waits(from, to);
        waits.get(waits.len() * 95 / 100).copied().unwrap_or_default()
    }

    fn mbps(&self, of: usize, from: f64, to: f64) -> f64 {
        let bytes = self.packets.iter().filter(|(at, flow, ..)| *flow == of && (from..to).contains(at));
        bytes.map(|(_, _, bytes, _)| f64::from(*bytes)).sum::<f64>() * 8e-6 / (to - from)
    }

    /// The data's part of the bytes.
    fn data_part(&self, from: f64, to: f64) -> f64 {
        let (media, data) = (self.mbps(0, from, to), self.mbps(1, from, to));
        data / (media + data)
    }

    /// The parts of intervals of 10 s, the furthest from `part` over `part`.
    fn worst_part(&self, part: f64, from: u64, to: u64) -> f64 {
        let parts = (from..to - 9).map(|at| self.data_part(at as f64, at as f64 + 10.0) / part);
        parts.max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs())).unwrap_or_default()
    }
}

fn media(law: &str, most: u64) -> Traffic {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(most)).unwrap();
    let mut config = MediaConfig::new(
        limits,
        if std::env::var("PAPERS").is_err() { EncoderConfig::perfect() } else { EncoderConfig::papers() },
    );
    let (sender, receiver): (Box<dyn Controller>, Box<dyn Receiver>) = match law {
        "gcc" => {
            let own = goog_cc::Config::default();
            let receiver = PacketFeedback::new(own.feedback_interval);
            (Box::new(GoogCc::new(own, limits).unwrap()), Box::new(receiver))
        }
        "nada" => {
            let own = nada::Config::default();
            let receiver = AtReceiver::new(NadaObserver::new(own).unwrap());
            (Box::new(Nada::new(own, limits).unwrap()), Box::new(receiver))
        }
        "scream" => {
            config.packet_format = PacketFormat::Rfc8888;
            let sender = v1::Scream::new(v1::Config::default(), limits).unwrap();
            (Box::new(sender), Box::new(ScreamReceiver::v1()))
        }
        _ => {
            let own = ledbat::Config::default();
            let receiver = ledbat::receiver(&own).unwrap();
            (Box::new(Ledbat::new(own, limits).unwrap()), Box::new(receiver))
        }
    };
    Traffic::Media(MediaSpec::new(sender, receiver, config))
}

fn data(law: &str) -> Traffic {
    let law: Box<dyn WindowLaw> =
        if law == "cubic" { Box::new(Cubic::new()) } else { Box::new(NewReno::new()) };
    Traffic::Tcp { law, config: weir_world::tcp::TcpConfig::default(), size: None }
}

struct Case {
    media: &'static str,
    data: Option<&'static str>,
    link: (u64, u32),
    seconds: u64,
    /// Priorities of media and data, if coupled by this.
    coupled: Option<(Config, f64, f64)>,
    pause: Option<(u64, u64)>,
    seed: u64,
}

impl Case {
    fn of(media: &'static str, data: &'static str, link: (u64, u32)) -> Self {
        Self { media, data: Some(data), link, seconds: 120, coupled: None, pause: None, seed: 1 }
    }

    fn coupled(self, config: Config, media: f64, data: f64) -> Self {
        Self { coupled: Some((config, media, data)), ..self }
    }

    fn run(&self) -> Passed {
        Simulation::new(self.spec(), Passed::default()).unwrap().run()
    }

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
        spec.seed = self.seed;
        let mut flows = vec![flow("media", media(self.media, kbps * 5 / 4))];
        if let Some((from, to)) = self.pause {
            flows = flows.into_iter().map(|flow| flow.pausing(secs(from), secs(to))).collect();
        }
        flows.extend(self.data.map(|law| flow("data", data(law)).from(secs(DATA_FROM))));
        if let Some((config, of_media, of_data)) = self.coupled {
            let coupler: Box<dyn Coupler> = Box::new(Mixed::new(config).unwrap());
            let delay = TimeDelta::ZERO;
            spec = spec.coupling(CouplingSpec { name: "call".to_owned(), coupler, delay });
            let couple = |(flow, priority): (FlowSpec, f64)| {
                let desired = Desired::Limits;
                flow.coupled(CoupledSpec { desired, ..CoupledSpec::new(0).weighing(priority) })
            };
            flows = flows.into_iter().zip([of_media, of_data]).map(couple).collect();
        }
        spec.with_all(flows)
    }
}

#[test]
#[ignore = "prints a table"]
fn the_matrix() {
    let base = std::env::var("BASE").is_ok();
    for config in [if base { Config::by_base_rtt() } else { Config::default() }] {
        println!("{:?}", config.conversion);
        let laws = std::env::var("LAWS").unwrap_or("gcc nada scream".to_owned()).leak();
        for law in laws.split(' ') {
            for link in LINKS {
                let alone = Case { data: None, ..Case::of(law, "newreno", link) }.run();
                let (from, to) = (40, 120);
                let alone = (alone.p95(40.0, 120.0), alone.mbps(0, 40.0, 120.0) * 1e3 / link.0 as f64);
                for data in ["newreno", "cubic"] {
                    for seed in 1..=std::env::var("SEEDS").map_or(1, |s| s.parse().unwrap()) {
                        for (of_media, of_data) in [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0)] {
                            let un = Case { seed, ..Case::of(law, data, link) }.run();
                            let config = match std::env::var("LED").map(|v| v.parse::<i64>().unwrap()) {
                                Ok(0) => Config { led_queue: None, ..config },
                                Ok(ms) => Config { led_queue: Some(TimeDelta::from_millis(ms)), ..config },
                                _ => config,
                            };
                            let config = match std::env::var("SPR").map(|v| v.parse::<f64>().unwrap()) {
                                Ok(v) => Config { shrink_per_rtt: v, ..config },
                                _ => config,
                            };
                            let case =
                                Case { seed, ..Case::of(law, data, link) }.coupled(config, of_media, of_data);
                            let co = case.run();
                            let part = of_data / (of_media + of_data);
                            let (f, t) = (from as f64, to as f64);
                            let used = (co.mbps(0, f, t) + co.mbps(1, f, t)) * 1e3 / link.0 as f64;
                            let worst = co.worst_part(part, from, to);
                            let p95 = co.p95(f, t);
                            let bad = [p95 > alone.0 + 25.0, (worst - 1.0).abs() > 0.05, used < 0.85];
                            println!(
                                "{law:7} {data:8} {:4} {of_media}:{of_data} p95 alone {:5.1} un {:5.1} co {p95:5.1}; part/P un {:.2} mean {:.3} worst {worst:.3}; used alone {:.2} co {used:.3}; lost {} {}",
                                link.0,
                                alone.0,
                                un.p95(f, t),
                                un.data_part(f, t) / part,
                                co.data_part(f, t) / part,
                                alone.1,
                                co.lost,
                                ["QUEUE", "PART", "USED"]
                                    .iter()
                                    .zip(bad)
                                    .filter(|(_, bad)| *bad)
                                    .map(|(n, _)| *n)
                                    .collect::<Vec<_>>()
                                    .join(" "),
                            );
                        }
                    }
                }
            }
        }
    }
}

#[derive(Default)]
struct Trace {
    sum: f64,
    rate: f64,
    why: String,
    cwnd: f64,
    srtt: f64,
    bytes: [f64; 2],
    wait: f64,
    at: f64,
    lost: usize,
    whys: std::collections::BTreeMap<String, (usize, f64)>,
}
impl Monitor for Trace {
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        if packet.control {
            return;
        }
        self.bytes[flow] += f64::from(packet.wire_size);
        self.wait = packet.wait.millis_f64();
        if now.secs_f64() >= self.at + 0.2 {
            self.at += 0.2;
            println!(
                "{:6.1} S {:5.0} told {:5.0} sent {:5.0} {:5.0} cwnd {:5.1} srtt {:5.0} wait {:5.1} lost {} {:?}",
                self.at,
                self.sum / 1e3,
                self.rate,
                self.bytes[0] * 16e-3,
                self.bytes[1] * 16e-3,
                self.cwnd,
                self.srtt,
                self.wait,
                self.lost,
                self.whys
            );
            self.bytes = [0.0; 2];
            self.whys.clear();
        }
    }
    fn dropped(&mut self, _: Time, _: usize, _: usize, _: &PacketMeta, _: weir_world::Loss) {
        self.lost += 1;
    }
    fn told(
        &mut self,
        _now: Time,
        _f: usize,
        word: &weir_cc::coupled::Word,
        _r: Option<weir_cc::coupled::Refusal>,
    ) {
        match word {
            weir_cc::coupled::Word::Update(u) => {
                self.rate = u.decision.rate.bps_f64() / 1e3;
                let e = self.whys.entry(format!("{:?}", u.decision.why)).or_default();
                e.0 += 1;
                e.1 += (u.decision.rate.bps_f64() - u.decision.base.bps_f64()) / 1e3;
            }
            weir_cc::coupled::Word::Window(n) => {
                self.cwnd = n.after.cwnd;
                self.srtt = n.srtt.map_or(0.0, |s| s.millis_f64());
            }
            w => println!("{w:?}"),
        }
    }
    fn ordered(
        &mut self,
        _now: Time,
        _f: usize,
        _o: &weir_cc::coupled::Order,
        a: Option<weir_cc::coupled::Aggregate>,
    ) {
        if let Some(a) = a {
            self.sum = a.sum;
        }
    }
}

#[test]
#[ignore = "prints"]
fn trace() {
    let law: &'static str = std::env::var("LAW").unwrap().leak();
    let d: &'static str = std::env::var("DATA").unwrap_or("newreno".to_owned()).leak();
    let l: usize = std::env::var("LINK").unwrap().parse().unwrap();
    let m: f64 = std::env::var("PM").unwrap().parse().unwrap();
    let n: f64 = std::env::var("PD").unwrap().parse().unwrap();
    let mut case = Case::of(law, d, LINKS[l]).coupled(Config::default(), m, n);
    if std::env::var("PAUSE").is_ok() {
        case.pause = Some((60, 80));
    }
    Simulation::new(case.spec(), Trace::default()).unwrap().run();
}

#[test]
#[ignore = "prints"]
fn pauses() {
    for law in ["gcc", "nada", "scream"] {
        for link in LINKS {
            for d in ["newreno", "cubic"] {
                let mut case = Case::of(law, d, link).coupled(Config::default(), 1.0, 1.0);
                case.pause = Some((60, 80));
                let p = case.run();
                let c = link.0 as f64 / 1e3;
                println!(
                    "{law} {d} {link:?} data 60-65 by s: {:.2?} ; wait p95 50-60 {:.1} 61-80 {:.1} 80-82 {:.1} 82-84 {:.1} 84-90 {:.1}; media by s {:.2?} lost {}",
                    (60..66).map(|s| p.mbps(1, s as f64, s as f64 + 1.0) / c).collect::<Vec<_>>(),
                    p.p95(50.0, 60.0),
                    p.p95(61.0, 80.0),
                    p.p95(80.0, 82.0),
                    p.p95(82.0, 84.0),
                    p.p95(84.0, 90.0),
                    (80..86).map(|s| p.mbps(0, s as f64, s as f64 + 1.0) / c).collect::<Vec<_>>(),
                    p.lost
                );
            }
        }
    }
}

#[test]
#[ignore = "prints"]
fn ledbats() {
    for config in [
        Config::ledbat(),
        Config::ledbat_sum_all(),
        Config { conversion: weir_cc::coupled::mixed::Conversion::Base, ..Config::ledbat() },
    ] {
        for link in [(2000, 80), (5000, 200), (10_000, 400)] {
            for d in ["newreno", "cubic"] {
                let p = Case::of("ledbat", d, link).coupled(config, 1.0, 1.0).run();
                let mut w = p.waits(60.0, 120.0);
                let mean = w.iter().sum::<f64>() / w.len() as f64;
                w.dedup();
                println!(
                    "{:?} {:?} {d} {link:?} mean {mean:.1} p5 {:.1} p95 {:.1} used {:.3} part {:.3} lost {}",
                    config.lead,
                    config.conversion,
                    w[w.len() / 20],
                    p.p95(60.0, 120.0),
                    (p.mbps(0, 60.0, 120.0) + p.mbps(1, 60.0, 120.0)) * 1e3 / link.0 as f64,
                    p.data_part(60.0, 120.0),
                    p.lost
                );
            }
        }
    }
}
