//! A run of real packets: hosts on sockets, the links of the run between them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::time::ClockId;
use weir_media::SenderSeeds;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::host::{Clock, ConstantSource, Couplings, Life, MediaSink, MediaSource, host_owner};
use weir_world::{ClockSpec, FlowSpec, Monitor, RunSpec, Side, Traffic, purpose, stream};

use crate::clock::{RunClock, nanos_of};
use crate::conclusive::{Evidence, Reason, reasons};
use crate::drive::{DriveOptions, Driven, Driver};
use crate::emulator::{Emulator, EmulatorError};
use crate::face::tun::{TunFace, TunFlow};
use crate::face::udp::{UdpFace, prepare};
use crate::hosts::receivers::Receivers;
use crate::hosts::senders::{Hosted, Sender, Senders};
use crate::hosts::tcp::{self, TcpTrace, Transfer};
use crate::hosts::{HostSocket, Inbox, LiveNetwork};
use crate::lateness::Lateness;
use crate::log::HostLog;
use crate::merge::{self, Route};
use crate::namespace::Namespace;
use crate::realtime::EMULATOR_PRIORITY;

/// Most hosts of a run on the TUN face.
pub const MOST_HOSTS: usize = 16;
/// Time from the readiness of all threads to the start of the run.
const LEAD: TimeDelta = TimeDelta::from_millis(100);
/// Lateness of timers for which the pacers of media flows make up.
const PACER_LATENESS: TimeDelta = TimeDelta::from_millis(1);
/// Time after the end of the run in which the threads must have stopped.
const STOPPING: TimeDelta = TimeDelta::from_secs(5);
/// First port of the sending ends, and of the receiving ends.
const FIRST_PORTS: [u16; 2] = [40_000, 50_000];

/// The sockets or devices between hosts and emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceKind {
    /// Sockets of UDP on the loopback interface; no privileges are needed.
    Udp,
    /// A network namespace with a TUN device for each host.
    Tun,
}

impl FaceKind {
    /// Its name: `udp` or `tun`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tun => "tun",
        }
    }

    /// The face that the flows need: TUN for the kernel's TCP, else UDP.
    pub fn needed(spec: &RunSpec) -> Self {
        let by_kernel = spec.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Tcp { .. }));
        if by_kernel { Self::Tun } else { Self::Udp }
    }
}

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    /// The face; `None` takes the one that the flows need.
    pub face: Option<FaceKind>,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// Whether threads try to get real-time priority.
    pub realtime: bool,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { face: None, ipv6: false, realtime: true }
    }
}

/// Why a run cannot be made of real packets.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The links or routes.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// A flow that real hosts do not have.
    #[error("the flow `{flow}` cannot be made of real packets: {reason}")]
    Flow {
        /// Name of the flow.
        flow: String,
        /// The reason.
        reason: String,
    },
    /// Too many hosts for the TUN face.
    #[error("the run has {0} hosts, and at most {MOST_HOSTS} can have a network namespace")]
    TooManyHosts(usize),
    /// The face does not carry the flows.
    #[error("the UDP face carries no TCP: the flow `{0}` needs the TUN face")]
    NeedsTun(String),
    /// The system.
    #[error("{what}: {error}")]
    System {
        /// The step that failed.
        what: &'static str,
        /// The error.
        error: io::Error,
    },
}

fn system(what: &'static str) -> impl Fn(io::Error) -> LiveError {
    move |error| LiveError::System { what, error }
}

/// Packets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Entered the emulator.
    pub entered: u64,
    /// Handed to a host.
    pub delivered: u64,
    /// Dropped by a link.
    pub dropped: u64,
    /// Still in a link at the end.
    pub inside: u64,
    /// Lost outside of the links.
    pub lost_outside: u64,
    /// Of no flow.
    pub unknown: u64,
}

/// The result of a run.
#[derive(Debug)]
pub struct LiveReport<M> {
    /// The observer.
    pub monitor: M,
    /// The face.
    pub face: FaceKind,
    /// Packets by their fate.
    pub packets: PacketCounts,
    /// Lateness of the emulator's deliveries.
    pub emulator: Lateness,
    /// Lateness of the hosts' timers at the senders.
    pub senders: Lateness,
    /// Processor time of the emulator.
    pub emulator_cpu: TimeDelta,
    /// Why the run is inconclusive; empty for a conclusive run.
    pub reasons: Vec<Reason>,
    /// Why threads had no real-time priority.
    pub not_realtime: Option<String>,
    /// Connections of the kernel's TCP.
    pub tcp: Vec<TcpTrace>,
}

/// Runs `spec` in real time and shows it to `monitor` afterwards. `progress` is called each second with the time of the
/// run; the run ends early if it returns `false`.
///
/// # Errors
/// A flow or link that cannot be real, a right that is missing, or an error of the system.
pub fn run<M: Monitor>(
    spec: RunSpec,
    options: LiveOptions,
    monitor: M,
    mut progress: impl FnMut(Time) -> bool,
) -> Result<LiveReport<M>, LiveError> {
    let face = options.face.unwrap_or_else(|| FaceKind::needed(&spec));
    refuse_unreal(&spec, face)?;
    let emulator = Emulator::of_run(&spec)?;
    let bottlenecks: Vec<bool> = spec.links.iter().map(|link| link.bottleneck).collect();
    let owners: Vec<usize> = (0..spec.flows.len()).map(|flow| host_owner(&spec.flows, flow)).collect();
    let mut places = Places::of(&spec, face, options.ipv6, &owners)?;
    let mut routes = routes(&spec.flows);
    let end = spec.end;

    let mut parts = Parts::build(spec, &mut places, &owners, monitor.wants_signals())?;
    let clock = RunClock::from_origin(nanos_of(ClockId::CLOCK_MONOTONIC) + LEAD.nanos());
    let drive = DriveOptions {
        priority: options.realtime.then_some(EMULATOR_PRIORITY),
        end: end + STOPPING,
        log: 1 << 18,
        buffers: 1 << 12,
    };
    let driver = places.drive(emulator, clock, drive).map_err(system("the emulator does not start"))?;
    let stop = Stop::new().map_err(system("no flag for the threads"))?;
    let (senders, receivers) = (parts.senders, parts.receivers);
    let flag = Arc::clone(&stop.senders);
    let senders = spawn("weir-senders", move || senders.serve(Inbox::new(clock), &flag, options.realtime))?;
    let flag = Arc::clone(&stop.receivers);
    let receivers =
        spawn("weir-receivers", move || receivers.serve(Inbox::new(clock), &flag, options.realtime))?;
    let transfers = core::mem::take(&mut parts.transfers);
    let tcp = Transfers::start(transfers, &places, clock)?;

    let mut second = Time::ZERO;
    while clock.now() < end {
        second = (second + TimeDelta::from_secs(1)).min(end);
        let left = (second - clock.now()).max(TimeDelta::ZERO);
        thread::sleep(Duration::from_nanos(left.nanos() as u64));
        if !driver.is_running() || !progress(clock.now().min(end)) {
            break;
        }
    }
    // Senders, sinks, emulator: a sink may wait for a packet that a stopped emulator no longer carries.
    stop.senders().map_err(system("the senders do not stop"))?;
    let senders = join(senders)?;
    let tcp = tcp.stop()?;
    thread::sleep(Duration::from_millis(20));
    stop.receivers().map_err(system("the receivers do not stop"))?;
    let receivers = join(receivers)?;
    let driven = driver.stop().map_err(system("the emulator failed"))?;
    finish(face, end, &driven, [senders, receivers], (&bottlenecks, &mut routes), monitor)
        .map(|report| LiveReport { tcp, ..report })
}

/// The routes of the flows, without their packets.
fn routes(flows: &[FlowSpec]) -> Vec<Route> {
    let of_flow = |(index, flow): (usize, &FlowSpec)| {
        let by_kernel = matches!(flow.traffic, Traffic::Tcp { .. });
        [Side::Sender, Side::Receiver].map(|from| Route::new(index, from, by_kernel))
    };
    flows.iter().enumerate().flat_map(of_flow).collect()
}

fn finish<M: Monitor>(
    face: FaceKind,
    end: Time,
    driven: &Driven,
    hosts: [Hosted; 2],
    (bottlenecks, routes): (&[bool], &mut [Route]),
    mut monitor: M,
) -> Result<LiveReport<M>, LiveError> {
    let mut lost_outside = driven.lost_outside();
    let senders = hosts[0].lateness.clone();
    let not_realtime = driven.not_realtime.clone().or_else(|| hosts[0].not_realtime.clone());
    let mut logs = Vec::new();
    for Hosted { network, .. } in hosts {
        if let Some(error) = network.error {
            return Err(LiveError::System { what: "a host's socket failed", error });
        }
        lost_outside += network.refused;
        for own in &network.sockets {
            lost_outside +=
                crate::sys::socket_drops(&own.socket).map_err(system("no counters of a socket"))?;
        }
        let mut log: HostLog = network.log;
        let (sent, arrived) = log.take_packets();
        for (route, (sent, arrived)) in routes.iter_mut().zip(sent.into_iter().zip(arrived)) {
            route.sent.extend(sent);
            route.arrived.extend(arrived);
        }
        logs.push(log);
    }
    merge::show(end, bottlenecks, &driven.log, routes, &logs, &mut monitor);
    let evidence = Evidence { emulator: driven.lateness.clone(), senders: senders.clone(), lost_outside };
    Ok(LiveReport {
        monitor,
        face,
        packets: PacketCounts {
            entered: driven.entered,
            delivered: driven.delivered,
            dropped: driven.dropped,
            inside: driven.inside,
            lost_outside,
            unknown: driven.unknown,
        },
        emulator: driven.lateness.clone(),
        senders,
        emulator_cpu: driven.cpu,
        reasons: reasons(&evidence),
        not_realtime,
        tcp: Vec::new(),
    })
}

/// Refuses what real hosts do not have.
fn refuse_unreal(spec: &RunSpec, face: FaceKind) -> Result<(), LiveError> {
    for flow in &spec.flows {
        let refuse =
            |reason: &str| Err(LiveError::Flow { flow: flow.name.clone(), reason: reason.to_owned() });
        let drifts = |clock: &ClockSpec| clock.drift_ppm != 0.0 || clock.step.is_some();
        if drifts(&flow.sender_clock) || drifts(&flow.receiver_clock) {
            return refuse("the machine has one clock, without drift and steps");
        }
        match &flow.traffic {
            Traffic::Media(_) | Traffic::Constant { .. } | Traffic::Unresponsive(_) => {}
            Traffic::Tcp { name, .. } => {
                if flow.coupled.is_some() {
                    return refuse("the kernel's TCP takes no allocations, so it cannot be coupled");
                }
                if tcp::kernel_name(name).is_none() {
                    return refuse(&format!("the kernel has no congestion control `{name}`"));
                }
                if face == FaceKind::Udp {
                    return Err(LiveError::NeedsTun(flow.name.clone()));
                }
            }
            Traffic::ChromiumTcp { .. } => return refuse("`chromium-2015` is a TCP of a simulator"),
            Traffic::Downloads { .. } => return refuse("downloads with idle times are simulated alone"),
            Traffic::Web { .. } => return refuse("web traffic is a model without real endpoints"),
        }
    }
    Ok(())
}

/// Places of the ends of flows: sockets of the loopback interface, or namespaces.
enum Places {
    Udp {
        face: UdpFace,
        sockets: Vec<[Option<UdpSocket>; 2]>,
    },
    Tun {
        hosts: Vec<Arc<Namespace>>,
        of_end: Vec<[usize; 2]>,
        ends: Vec<[SocketAddr; 2]>,
        flows: Vec<TunFlow>,
    },
}

impl Places {
    fn of(spec: &RunSpec, face: FaceKind, ipv6: bool, owners: &[usize]) -> Result<Self, LiveError> {
        match face {
            FaceKind::Udp => Self::loopback(spec.flows.len(), ipv6),
            FaceKind::Tun => Self::namespaces(spec, ipv6, owners),
        }
    }

    fn loopback(flows: usize, ipv6: bool) -> Result<Self, LiveError> {
        let address: IpAddr = if ipv6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        let open = || -> io::Result<UdpSocket> {
            let socket = UdpSocket::bind((address, 0))?;
            prepare(&socket)?;
            Ok(socket)
        };
        let pairs = (0..flows).map(|_| Ok([open()?, open()?]));
        let pairs: Vec<[UdpSocket; 2]> =
            pairs.collect::<io::Result<_>>().map_err(system("no socket of the loopback interface"))?;
        let ends = pairs.iter().map(|[near, far]| Ok([near.local_addr()?, far.local_addr()?]));
        let ends = ends.collect::<io::Result<_>>().map_err(system("no address of a socket"))?;
        let face = UdpFace::new(ends).map_err(system("no socket for the emulator"))?;
        Ok(Self::Udp { face, sockets: pairs.into_iter().map(|pair| pair.map(Some)).collect() })
    }

    fn namespaces(spec: &RunSpec, ipv6: bool, owners: &[usize]) -> Result<Self, LiveError> {
        // The flows of one call share a host at either end.
        let mut owning: Vec<usize> = owners.to_vec();
        owning.sort_unstable();
        owning.dedup();
        if 2 * owning.len() > MOST_HOSTS {
            return Err(LiveError::TooManyHosts(2 * owning.len()));
        }
        let hosts = (0..2 * owning.len()).map(|number| Namespace::new(number as u8 + 1).map(Arc::new));
        let hosts: Vec<_> =
            hosts.collect::<io::Result<_>>().map_err(system("no network namespace for a host"))?;
        let (mut of_end, mut ends, mut flows) = (Vec::new(), Vec::new(), Vec::new());
        for (flow, owner) in owners.iter().enumerate() {
            let first = 2 * owning.binary_search(owner).unwrap_or(0);
            let own = [first, first + 1];
            let address = |side: usize| {
                let ip = hosts[own[side]].address(ipv6).ok_or_else(|| LiveError::System {
                    what: "no address of a host",
                    error: io::Error::new(io::ErrorKind::Unsupported, "the kernel has no IPv6"),
                })?;
                Ok::<_, LiveError>(SocketAddr::new(ip, FIRST_PORTS[side] + flow as u16))
            };
            let mut both: [SocketAddr; 2] = [address(0)?, address(1)?];
            let by_kernel = matches!(spec.flows[flow].traffic, Traffic::Tcp { .. });
            of_end.push(own);
            ends.push(both);
            if by_kernel {
                // The kernel chooses the port of a connection's sender.
                both[0].set_port(0);
            }
            flows.push(TunFlow { hosts: own, ends: both, protocol: Some(if by_kernel { 6 } else { 17 }) });
        }
        Ok(Self::Tun { hosts, of_end, ends, flows })
    }

    /// The socket of the end of `flow` at `side`.
    fn socket(&mut self, flow: usize, side: Side) -> io::Result<HostSocket> {
        let end = side as usize;
        match self {
            Self::Udp { face, sockets } => {
                let socket = sockets[flow][end].take();
                let socket = socket.ok_or_else(|| io::Error::other("the end of a flow was taken twice"))?;
                Ok(HostSocket { socket, peer: Some(face.address(flow)) })
            }
            Self::Tun { hosts, of_end, ends, .. } => {
                let own = ends[flow][end];
                let socket = hosts[of_end[flow][end]].enter(|| {
                    let socket = UdpSocket::bind(own)?;
                    prepare(&socket)?;
                    Ok(socket)
                })?;
                Ok(HostSocket { socket, peer: Some(ends[flow][1 - end]) })
            }
        }
    }

    /// Starts the emulator between the ends.
    fn drive(&mut self, emulator: Emulator, clock: RunClock, options: DriveOptions) -> io::Result<Driver> {
        match self {
            Self::Udp { face, .. } => {
                let face = core::mem::replace(face, UdpFace::new(Vec::new())?);
                Driver::start(emulator, face, clock, options)
            }
            Self::Tun { hosts, flows, .. } => {
                Driver::start(emulator, TunFace::new(hosts.clone(), flows.clone())?, clock, options)
            }
        }
    }
}

/// The hosts of a run, by the threads that serve them.
struct Parts {
    senders: Senders,
    receivers: Receivers,
    transfers: Vec<(Life, String, Option<weir_units::DataSize>)>,
}

impl Parts {
    fn build(
        spec: RunSpec,
        places: &mut Places,
        owners: &[usize],
        wants_signals: bool,
    ) -> Result<Self, LiveError> {
        let RunSpec { seed, flows, couplings, .. } = spec;
        let count = flows.len();
        let log = || HostLog::new(wants_signals, 2 * count);
        let couplings = Couplings::new(couplings, &flows);
        let mut senders = Senders {
            hosts: Vec::new(),
            of_flow: vec![None; count],
            network: LiveNetwork::new(2 * count, couplings, log()),
        };
        let mut receivers = Receivers {
            hosts: Vec::new(),
            of_flow: vec![None; count],
            network: LiveNetwork::new(2 * count, Couplings::default(), log()),
        };
        let mut transfers = Vec::new();
        let socket = |places: &mut Places, flow, side| {
            places.socket(flow, side).map_err(system("no socket for a host"))
        };
        for (flow, spec) in flows.into_iter().enumerate() {
            let life = Life::of(flow, &spec);
            let random = |purpose| stream(seed, &spec.name, purpose);
            let constant = match spec.traffic {
                Traffic::Media(mut media) => {
                    media.config.pacer_lateness = PACER_LATENESS;
                    if let Some(controller) = media.sender {
                        let host = senders.of_flow[owners[flow]].unwrap_or_else(|| {
                            senders.hosts.push(Sender::Media(Box::new(MediaSource::new(Clock::new(
                                spec.sender_clock,
                            )))));
                            senders.hosts.len() - 1
                        });
                        senders.of_flow[flow] = Some(host);
                        let seeds = SenderSeeds {
                            encoder: random(purpose::ENCODER),
                            rtcp: random(purpose::SENDER_RTCP),
                        };
                        if let Sender::Media(source) = &mut senders.hosts[host] {
                            source.add(life, controller, &media.config, seeds, spec.pauses, spec.coupled);
                        }
                        senders.network.add(flow, Side::Sender, socket(places, flow, Side::Sender)?);
                    }
                    if let Some(receiver) = media.receiver {
                        let host = receivers.of_flow[owners[flow]].unwrap_or_else(|| {
                            receivers.hosts.push(MediaSink::new(Clock::new(spec.receiver_clock)));
                            receivers.hosts.len() - 1
                        });
                        receivers.of_flow[flow] = Some(host);
                        receivers.hosts[host].add(
                            life,
                            receiver,
                            &media.config,
                            random(purpose::RECEIVER_RTCP),
                        );
                        receivers.network.add(flow, Side::Receiver, socket(places, flow, Side::Receiver)?);
                    }
                    continue;
                }
                Traffic::Constant { rate, packet_size } => {
                    ConstantSource::steady(life, rate, packet_size, spec.pauses)
                }
                Traffic::Unresponsive(traffic) => ConstantSource::new(life, &traffic, spec.pauses),
                Traffic::Tcp { name, size, .. } => {
                    transfers.push((life, name, size));
                    continue;
                }
                // Refused before.
                Traffic::ChromiumTcp { .. } | Traffic::Downloads { .. } | Traffic::Web { .. } => continue,
            };
            senders.of_flow[flow] = Some(senders.hosts.len());
            senders.hosts.push(Sender::Constant(constant));
            senders.network.add(flow, Side::Sender, socket(places, flow, Side::Sender)?);
            receivers.network.add(flow, Side::Receiver, socket(places, flow, Side::Receiver)?);
        }
        Ok(Self { senders, receivers, transfers })
    }
}

/// The flags that stop the threads of hosts.
struct Stop {
    senders: Arc<EventFd>,
    receivers: Arc<EventFd>,
}

impl Stop {
    fn new() -> io::Result<Self> {
        let flag = || -> io::Result<Arc<EventFd>> {
            Ok(Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?))
        };
        Ok(Self { senders: flag()?, receivers: flag()? })
    }

    fn senders(&self) -> io::Result<()> {
        self.senders.write(1).map(drop).map_err(io::Error::from)
    }

    fn receivers(&self) -> io::Result<()> {
        self.receivers.write(1).map(drop).map_err(io::Error::from)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        // Where the run has failed, its threads stop, too. The flags cannot be full.
        let _senders = self.senders();
        let _receivers = self.receivers();
    }
}

type Thread<T> = JoinHandle<io::Result<T>>;

fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<Thread<T>, LiveError> {
    thread::Builder::new().name(name.to_owned()).spawn(body).map_err(system("no thread for hosts"))
}

fn join<T>(thread: Thread<T>) -> Result<T, LiveError> {
    let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    result.map_err(system("a thread of hosts failed"))
}

/// The threads of the kernel's transfers.
struct Transfers {
    stop_senders: Arc<AtomicBool>,
    stop_sinks: Arc<AtomicBool>,
    #[expect(clippy::type_complexity, reason = "what the two threads of a transfer return")]
    threads: Vec<(usize, Thread<Vec<(Time, crate::sys::TcpInfo)>>, Thread<(u64, Option<Time>)>)>,
}

impl Transfers {
    fn start(
        transfers: Vec<(Life, String, Option<weir_units::DataSize>)>,
        places: &Places,
        clock: RunClock,
    ) -> Result<Self, LiveError> {
        let (stop_senders, stop_sinks) = (Arc::default(), Arc::default());
        let mut all = Self { stop_senders, stop_sinks, threads: Vec::new() };
        let Places::Tun { hosts, of_end, ends, .. } = places else { return Ok(all) };
        for (life, algorithm, size) in transfers {
            let [near, far] = of_end[life.flow];
            let to = ends[life.flow][1];
            let transfer = Transfer { life, algorithm, size, to };
            let listener = hosts[far].enter(|| tcp::listen_at(to)).map_err(system("no listener for TCP"))?;
            let socket = hosts[near].enter(|| tcp::sending_socket(&transfer.algorithm, to));
            let socket = socket.map_err(system("no socket for TCP"))?;
            let stop = Arc::clone(&all.stop_sinks);
            let sink = spawn("weir-tcp-sink", move || tcp::receive(&listener, size, clock, &stop))?;
            let stop = Arc::clone(&all.stop_senders);
            let sender = spawn("weir-tcp-source", move || tcp::send(&transfer, socket, clock, &stop))?;
            all.threads.push((life.flow, sender, sink));
        }
        Ok(all)
    }

    fn stop(mut self) -> Result<Vec<TcpTrace>, LiveError> {
        self.stop_senders.store(true, Ordering::Relaxed);
        let mut traces = Vec::new();
        for (flow, sender, sink) in self.threads.drain(..) {
            let states = join(sender)?;
            self.stop_sinks.store(true, Ordering::Relaxed);
            let (received, completed) = join(sink)?;
            traces.push(TcpTrace { flow, states, received, completed });
        }
        Ok(traces)
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.stop_senders.store(true, Ordering::Relaxed);
        self.stop_sinks.store(true, Ordering::Relaxed);
    }
}
