//! One pair of flows on its way, and what it told.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::coupled::Statistics;
use weir_cc::coupled::sbd::{Config, FlowStatistics};
use weir_cc::{ArrivalTime, RateLimits, SendTime};
use weir_media::{EncoderConfig, MediaConfig};
use weir_net::{LinkConfig, QueueConfig, Service, Time};
use weir_sim::Simulation;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;
use weir_world::{
    FlowSpec, LinkSpec, Loss, MediaSpec, Monitor, PacketMeta, RunSpec, Traffic, Unresponsive, stream,
};

use crate::registry::{self, RegistryError};

/// How long a course lasts.
pub const SECONDS: u64 = 120;
const CAPACITY: DataRate = DataRate::from_mbps(6);
const QUEUE: TimeDelta = TimeDelta::from_millis(200);
/// Mean length of a burst, and of the gap behind it.
const BURST_SECONDS: f64 = 1.0;

/// Whether two flows share a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Both pass one link.
    Shared,
    /// Each passes a link of its own, with its own traffic of others.
    Separate,
}

/// A pair of flows and its paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The law of both flows: a controller or a window law.
    pub law: &'static str,
    /// Whether they share a bottleneck.
    pub kind: Kind,
    /// By how much longer the second flow takes to its bottleneck.
    pub lag: TimeDelta,
    /// Traffic of others during a burst, of the capacity.
    pub load: f64,
    /// Seed of the run.
    pub seed: u64,
}

/// What both flows of a case told, interval by interval.
#[derive(Clone, Debug)]
pub struct Course {
    /// The case.
    pub case: Case,
    /// Of each flow: statistics, and the part of the interval's packets that found the queue not empty.
    pub told: [Vec<(Statistics, f64)>; 2],
}

/// Runs a case.
///
/// # Errors
/// A law that is not known.
///
/// # Panics
/// Never: the network is valid.
pub fn run(case: &Case) -> Result<Course, RegistryError> {
    let flows = [traffic(case.law)?, traffic(case.law)?];
    let watch = Watch { flows: [Fates::new(), Fates::new()] };
    let watch = Simulation::new(spec(case, flows), watch).expect("the network is valid").run();
    Ok(Course { case: *case, told: watch.flows.map(|flow| flow.told) })
}

fn traffic(law: &str) -> Result<Traffic, RegistryError> {
    if registry::window_laws().iter().any(|info| info.name == law) {
        let law = registry::window_law(law, None, false)?;
        return Ok(Traffic::Tcp { law, config: TcpConfig::default(), size: None });
    }
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(150), kbps(300), kbps(2500))?;
    let halves = registry::build(law, None, limits, 1.0)?;
    let config = MediaConfig::new(limits, EncoderConfig::rfc8867());
    let config = MediaConfig { packet_format: halves.packet_format, ..config };
    Ok(Traffic::Media(MediaSpec::new(halves.controller, halves.receiver, config)))
}

/// Links 0 and 1 are the bottlenecks, 2 leads the second flow to its one, 3 is the way back.
fn spec(case: &Case, [first, second]: [Traffic; 2]) -> RunSpec {
    let wide = || Service::Constant(DataRate::from_mbps(1000));
    let bottleneck = |name: &str| {
        let mut config = LinkConfig::new(Service::Constant(CAPACITY), TimeDelta::from_millis(20));
        config.queue = QueueConfig { limit_time: Some(QUEUE), ..QueueConfig::default() };
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
    let others = |name: &str, link: usize| FlowSpec::new(name, bursts(case, name)).over([link], []);
    RunSpec { seed: case.seed, ..RunSpec::over(links, Time::from_millis(1000 * SECONDS)) }
        .with(FlowSpec::new("a", first).over([0], [3]))
        .with(FlowSpec::new("b", second).over([2, second_bottleneck], [3]))
        .with(others("others of the first", 0))
        .with(others("others of the second", 1))
}

/// Bursts and gaps, exponentially distributed.
fn bursts(case: &Case, name: &str) -> Traffic {
    let mut random = Pcg64Mcg::seed_from_u64(stream(case.seed, name, "bursts"));
    let mut span = || TimeDelta::from_secs_f64(-libm::log(1.0 - random.random::<f64>()) * BURST_SECONDS);
    let (mut steps, mut at) = (Vec::new(), Time::ZERO);
    while at < Time::from_millis(1000 * SECONDS) {
        steps.push((at, CAPACITY.scale(case.load)));
        at += span();
        steps.push((at, DataRate::ZERO));
        at += span();
    }
    Traffic::Unresponsive(Unresponsive { steps, packet_size: DataSize::from_bytes(1000), headers: 0 })
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
    told: Vec<(Statistics, f64)>,
}

impl Fates {
    fn new() -> Self {
        let statistics = FlowStatistics::new(Config::default()).expect("the defaults are valid");
        Self { statistics, lost: VecDeque::new(), packets: 0, queued: 0, told: Vec::new() }
    }

    fn on_arrival(&mut self, now: Time, packet: &PacketMeta) {
        let sent = SendTime::from_nanos(packet.sent_at.nanos() as i64);
        while let Some(&lost) = self.lost.front().filter(|lost| **lost <= sent) {
            self.lost.pop_front();
            self.statistics.on_loss(lost);
        }
        self.statistics.on_arrival(sent, ArrivalTime::from_nanos(now.nanos() as i64));
        if let Some(told) = self.statistics.poll() {
            self.told.push((told, f64::from(self.queued) / f64::from(self.packets.max(1))));
            (self.packets, self.queued) = (0, 0);
        }
        self.packets += 1;
        self.queued += u32::from(packet.wait > TimeDelta::ZERO);
    }
}

impl Monitor for Watch {
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
