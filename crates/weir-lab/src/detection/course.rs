//! One pair of flows on its way, and what it told.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;
use weir_cc::coupled::Statistics;
use weir_cc::coupled::sbd::{Config, FlowStatistics};
use weir_cc::{ArrivalTime, RateLimits, SendTime};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::{CoDel, Discipline, LinkConfig, QueueConfig, Service, Time};
use weir_sim::Simulation;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;
use weir_world::{
    FlowSpec, LinkSpec, Loss, MediaSpec, Monitor, PacketMeta, RunSpec, Traffic, Unresponsive, stream,
};

use crate::registry::{self, Registry, RegistryError, TcpProfile};

/// How long a course lasts.
const SECONDS: u64 = 150;
const CAPACITY_BPS: u64 = 10_000_000;
const CAPACITY: DataRate = DataRate::from_bps(CAPACITY_BPS);
const QUEUE: TimeDelta = TimeDelta::from_millis(200);
/// What a call of the pair sends at most: the pair is a tenth of the capacity.
const MOST: DataRate = DataRate::from_kbps(500);
/// The pair's own part of the load. TCP flows take what is left, whatever it is; the same is reckoned for them.
const OWN_LOAD: f64 = 0.1;
/// Sources of others on each link, independent of each other, and the mean lengths of their bursts and gaps.
const SOURCES: u32 = 10;
const BURST: TimeDelta = TimeDelta::from_secs(1);
const GAP: TimeDelta = TimeDelta::from_secs(2);
/// Bytes of their packets.
const PACKET: u64 = 1000;
/// A packet that waits longer than one takes to be sent has found others in the queue, and not only in service.
const SERVICE: TimeDelta = TimeDelta::from_micros((8_000_000 * PACKET / CAPACITY_BPS) as i64);

/// Whether two flows share a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Both pass one link.
    Shared,
    /// Each passes a link of its own, with its own traffic of others.
    Separate,
}

/// How the queue of a bottleneck is managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Management {
    /// Not at all.
    DropTail,
    /// By CoDel.
    Codel,
}

impl Management {
    fn discipline(self) -> Discipline {
        match self {
            Self::DropTail => Discipline::DropTail,
            Self::Codel => Discipline::CoDel(CoDel::default()),
        }
    }
}

/// A pair of flows and its paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case<'l> {
    /// The law of both flows: a controller or a window law.
    pub(super) law: &'l str,
    /// Whether they share a bottleneck.
    pub(super) kind: Kind,
    /// By how much longer the second flow takes to its bottleneck.
    pub(super) lag: TimeDelta,
    /// Mean load that is offered, of the capacity: that of others and the pair's own.
    pub(super) load: f64,
    /// How the queues are managed.
    pub(super) queue: Management,
    /// Seed of the run.
    pub(super) seed: u64,
}

/// What both flows of a case told, interval by interval.
#[derive(Clone, Debug)]
pub(super) struct Course<'l> {
    /// The case.
    pub(super) case: Case<'l>,
    /// What each flow told.
    pub(super) told: [Vec<Told>; 2],
}

/// One interval of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) statistics: Statistics,
    /// Packets that arrived.
    pub(super) packets: u32,
    /// How many of them found others in the queue.
    pub(super) queued: u32,
    /// What the flow sent since it told last, in bytes.
    pub(super) sent: u64,
}

/// Runs a case.
///
/// # Errors
/// A law that is not known.
///
/// # Panics
/// Never: the network is valid.
pub(super) fn run<'l>(
    registry: &Registry,
    config: &Config,
    case: &Case<'l>,
) -> Result<Course<'l>, RegistryError> {
    let flows = [traffic(registry, case.law)?, traffic(registry, case.law)?];
    let watch = Watch { flows: [Fates::new(config), Fates::new(config)] };
    let watch = Simulation::new(spec(case, flows), watch).expect("the network is valid").run();
    Ok(Course { case: *case, told: watch.flows.map(|flow| flow.told) })
}

fn traffic(registry: &Registry, law: &str) -> Result<Traffic, RegistryError> {
    if registry::window_algorithms().iter().any(|info| info.name == law) {
        let law = registry::window_algorithm(law, TcpProfile::Plain, false)?;
        return Ok(Traffic::Tcp { law, config: TcpConfig::default(), size: None });
    }
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(150), kbps(300), MOST)?;
    let halves = registry.build(law, None, limits, 1.0)?;
    let config = MediaConfig::new(limits, EncoderConfig::rfc8867());
    let config =
        MediaConfig { packet_format: halves.packet_format, leave_out: None, breakers: false, ..config };
    Ok(Traffic::Media(MediaSpec::new(halves.controller, halves.receiver, config)))
}

/// Links 0 and 1 are the bottlenecks, 2 leads the second flow to its one, 3 is the way back.
fn spec(case: &Case<'_>, [first, second]: [Traffic; 2]) -> RunSpec {
    let wide = || Service::Constant(DataRate::from_mbps(1000));
    let bottleneck = |name: &str| {
        let mut config = LinkConfig::new(Service::Constant(CAPACITY), TimeDelta::from_millis(20));
        config.queue = QueueConfig {
            limit_time: Some(QUEUE),
            discipline: case.queue.discipline(),
            ..QueueConfig::default()
        };
        LinkSpec::bottleneck(name, config)
    };
    let links = vec![
        bottleneck("first"),
        bottleneck("second"),
        LinkSpec::new("lag", LinkConfig::new(wide(), case.lag)),
        LinkSpec::new("back", LinkConfig::new(wide(), TimeDelta::from_millis(20))),
    ];
    let second_bottleneck = match case.kind {
        Kind::Shared => 0,
        Kind::Separate => 1,
    };
    let spec = RunSpec { seed: case.seed, ..RunSpec::over(links, Time::from_millis(1000 * SECONDS)) }
        .with(FlowSpec::new("a", first).over([0], [3]))
        .with(FlowSpec::new("b", second).over([2, second_bottleneck], [3]));
    let others = (0..=second_bottleneck).flat_map(|link| (0..SOURCES).map(move |source| (link, source)));
    others.fold(spec, |spec, (link, source)| {
        let name = format!("source {source} of link {link}");
        let traffic = bursts(case, &name);
        spec.with(FlowSpec::new(&name, traffic).over([link], []))
    })
}

/// Bursts and gaps of one source, exponentially distributed. All of them together offer `load` in the mean.
fn bursts(case: &Case<'_>, name: &str) -> Traffic {
    let mut random = Pcg64Mcg::seed_from_u64(stream(case.seed, name, "bursts"));
    let duty = BURST.secs_f64() / (BURST + GAP).secs_f64();
    let peak = CAPACITY.scale((case.load - OWN_LOAD) / (f64::from(SOURCES) * duty));
    let span = [Time::ZERO, Time::from_millis(1000 * SECONDS)];
    let steps = Unresponsive::bursts(peak, [BURST, GAP], span, || random.random());
    Traffic::Unresponsive(Unresponsive { steps, packet_size: DataSize::from_bytes(PACKET), headers: 0 })
}

/// Hears the fates of the packets of flows 0 and 1.
#[derive(Debug)]
struct Watch {
    flows: [Fates; 2],
}

#[derive(Debug)]
struct Fates {
    statistics: FlowStatistics,
    /// When packets were sent that are lost and of which no later one has arrived yet.
    lost: VecDeque<SendTime>,
    packets: u32,
    queued: u32,
    sent: u64,
    told: Vec<Told>,
}

impl Fates {
    fn new(config: &Config) -> Self {
        let statistics = FlowStatistics::new(*config).expect("the configuration is valid");
        Self { statistics, lost: VecDeque::new(), packets: 0, queued: 0, sent: 0, told: Vec::new() }
    }

    fn on_arrival(&mut self, now: Time, packet: &PacketMeta) {
        let sent = SendTime::from_nanos(packet.sent_at.nanos() as i64);
        while let Some(&lost) = self.lost.front().filter(|lost| **lost <= sent) {
            self.lost.pop_front();
            self.statistics.on_loss(lost);
        }
        self.statistics.on_arrival(sent, ArrivalTime::from_nanos(now.nanos() as i64));
        if let Some(told) = self.statistics.poll() {
            self.told.push(Told {
                statistics: told,
                packets: self.packets,
                queued: self.queued,
                sent: self.sent,
            });
            (self.packets, self.queued, self.sent) = (0, 0, 0);
        }
        self.packets += 1;
        self.queued += u32::from(packet.wait > SERVICE);
    }
}

impl Monitor for Watch {
    fn sent(&mut self, _now: Time, flow: usize, packet: &PacketMeta) {
        if let Some(fates) = self.flows.get_mut(flow).filter(|_| !packet.control) {
            fates.sent += u64::from(packet.wire_size);
        }
    }

    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        if let Some(fates) = self.flows.get_mut(flow).filter(|_| !packet.control) {
            fates.on_arrival(now, packet);
        }
    }

    fn dropped(&mut self, _now: Time, flow: usize, _link: usize, packet: &PacketMeta, _loss: Loss) {
        if let Some(fates) = self.flows.get_mut(flow).filter(|_| !packet.control) {
            fates.lost.push_back(SendTime::from_nanos(packet.sent_at.nanos() as i64));
        }
    }
}
