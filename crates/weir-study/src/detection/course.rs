//! Simulated pairs of flows for shared bottleneck detection, and the statistics of each flow.

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

use weir_scenario::registry::{self, Registry, RegistryError, TcpProfile};

/// Length of a run, in seconds.
const SECONDS: u64 = 150;
const CAPACITY_BPS: u64 = 10_000_000;
const CAPACITY: DataRate = DataRate::from_bps(CAPACITY_BPS);
const QUEUE: TimeDelta = TimeDelta::from_millis(200);
/// Highest rate of a call of the pair; the pair uses a tenth of the capacity.
const MAX_RATE: DataRate = DataRate::from_kbps(500);
/// Load of the pair itself. TCP flows use all remaining capacity; the same load is assumed for them.
const OWN_LOAD: f64 = 0.1;
/// Number of independent sources of background traffic on each link. The mean lengths of their bursts and gaps
/// follow.
const SOURCES: u32 = 10;
const BURST: TimeDelta = TimeDelta::from_secs(1);
const GAP: TimeDelta = TimeDelta::from_secs(2);
/// Packet size of the background traffic, in bytes.
const PACKET_BYTES: u64 = 1000;
/// Serialisation time of a background packet. A packet that waits longer has met a queue, and not only a packet in
/// service.
const SERVICE_TIME: TimeDelta = TimeDelta::from_micros((8_000_000 * PACKET_BYTES / CAPACITY_BPS) as i64);

/// Whether two flows share a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Single link that both flows pass.
    Shared,
    /// Two links, each with one flow and background traffic of its own.
    Separate,
}

/// Queue management at a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Management {
    /// Drop-tail queue without further management.
    DropTail,
    /// Queue managed by CoDel.
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

/// Pair of flows and its paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case<'l> {
    /// Controller of both flows, or their TCP algorithm.
    pub(super) controller: &'l str,
    /// Whether they share a bottleneck.
    pub(super) kind: Kind,
    /// Additional one-way delay of the second flow to its bottleneck.
    pub(super) lag: TimeDelta,
    /// Mean offered load as a share of the capacity, of the pair and of background traffic.
    pub(super) load: f64,
    /// Queue management.
    pub(super) queue: Management,
    /// Seed of the run.
    pub(super) seed: u64,
}

/// Statistics of both flows of a case, interval by interval.
#[derive(Clone, Debug)]
pub(super) struct CaseSeries<'l> {
    /// The case.
    pub(super) case: Case<'l>,
    /// Statistics of each flow.
    pub(super) intervals: [Vec<IntervalStatistics>; 2],
}

/// Statistics of a flow in one interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalStatistics {
    pub(super) statistics: Statistics,
    /// Packets that arrived in the interval.
    pub(super) packets: u32,
    /// Packets that met a queue.
    pub(super) queued: u32,
    /// Bytes that the flow sent since the last statistics.
    pub(super) sent: u64,
}

/// Runs a case.
///
/// # Errors
/// An unknown controller or TCP algorithm.
///
/// # Panics
/// Never: the network is valid.
pub(super) fn run<'l>(
    registry: &Registry,
    config: &Config,
    case: &Case<'l>,
) -> Result<CaseSeries<'l>, RegistryError> {
    let flows = [traffic(registry, case.controller)?, traffic(registry, case.controller)?];
    let watch = PairMonitor { flows: [FlowMonitor::new(config), FlowMonitor::new(config)] };
    let watch = Simulation::new(spec(case, flows), watch).expect("the network is valid").run();
    Ok(CaseSeries { case: *case, intervals: watch.flows.map(|flow| flow.intervals) })
}

fn traffic(registry: &Registry, controller: &str) -> Result<Traffic, RegistryError> {
    if registry::window_algorithms().iter().any(|info| info.name == controller) {
        let algorithm = registry::window_algorithm(controller, TcpProfile::Plain, false)?;
        return Ok(Traffic::Tcp {
            name: controller.to_owned(),
            algorithm,
            config: TcpConfig::default(),
            size: None,
        });
    }
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(150), kbps(300), MAX_RATE)?;
    let halves = registry.build(controller, None, limits, 1.0)?;
    let config = MediaConfig::new(limits, EncoderConfig::rfc8867());
    let config =
        MediaConfig { packet_format: halves.packet_format, leave_out: None, breakers: false, ..config };
    Ok(Traffic::Media(MediaSpec::new(halves.controller, halves.receiver, config)))
}

/// Links 0 and 1 are the bottlenecks, 2 leads the second flow to its bottleneck, 3 is the return path.
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

/// Bursts and gaps of one source, exponentially distributed. The mean load of all sources and the pair is `load`.
fn bursts(case: &Case<'_>, name: &str) -> Traffic {
    let mut random = Pcg64Mcg::seed_from_u64(stream(case.seed, name, "bursts"));
    let duty = BURST.secs_f64() / (BURST + GAP).secs_f64();
    let peak = CAPACITY.scale((case.load - OWN_LOAD) / (f64::from(SOURCES) * duty));
    let span = [Time::ZERO, Time::from_millis(1000 * SECONDS)];
    let steps = Unresponsive::bursts(peak, [BURST, GAP], span, || random.random());
    Traffic::Unresponsive(Unresponsive { steps, packet_size: DataSize::from_bytes(PACKET_BYTES), headers: 0 })
}

/// Monitor of the packets of both flows of the pair.
#[derive(Debug)]
struct PairMonitor {
    flows: [FlowMonitor; 2],
}

#[derive(Debug)]
struct FlowMonitor {
    statistics: FlowStatistics,
    /// Departure times of lost packets that no later arrival has confirmed yet.
    lost: VecDeque<SendTime>,
    packets: u32,
    queued: u32,
    sent: u64,
    intervals: Vec<IntervalStatistics>,
}

impl FlowMonitor {
    fn new(config: &Config) -> Self {
        let statistics = FlowStatistics::new(*config).expect("the configuration is valid");
        Self { statistics, lost: VecDeque::new(), packets: 0, queued: 0, sent: 0, intervals: Vec::new() }
    }

    fn on_arrival(&mut self, now: Time, packet: &PacketMeta) {
        let sent = SendTime::from_nanos(packet.sent_at.nanos() as i64);
        // A loss is reported once a later packet has arrived, as per-packet feedback would show it.
        while let Some(&lost) = self.lost.front().filter(|lost| **lost <= sent) {
            self.lost.pop_front();
            self.statistics.on_loss(lost);
        }
        self.statistics.on_arrival(sent, ArrivalTime::from_nanos(now.nanos() as i64));
        if let Some(intervals) = self.statistics.poll() {
            self.intervals.push(IntervalStatistics {
                statistics: intervals,
                packets: self.packets,
                queued: self.queued,
                sent: self.sent,
            });
            (self.packets, self.queued, self.sent) = (0, 0, 0);
        }
        self.packets += 1;
        self.queued += u32::from(packet.wait > SERVICE_TIME);
    }
}

impl Monitor for PairMonitor {
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
