//! A run of real packets: hosts on sockets, the links of the run between them.

mod parts;
mod places;
mod transfers;

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::time::ClockId;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::host::host_owner;
use weir_world::{ClockSpec, FlowSpec, Monitor, RunSpec, Side, Traffic};

use crate::clock::{RunClock, nanos_of};
use crate::conclusive::{Evidence, Reason, reasons};
use crate::drive::{DriveOptions, Driven};
use crate::emulator::{Emulator, EmulatorError};
use crate::hosts::Inbox;
use crate::hosts::senders::Hosted;
use crate::hosts::tcp::{self, TcpTrace};
use crate::lateness::Lateness;
use crate::log::HostLog;
use crate::merge::{self, Route};
use crate::realtime::EMULATOR_PRIORITY;

use parts::Parts;
use places::Places;
use transfers::Transfers;

/// Most hosts of a run on the TUN face.
pub const MOST_HOSTS: usize = 16;
/// Lateness of timers for which the pacers of media flows make up.
pub const PACER_LATENESS: TimeDelta = TimeDelta::from_millis(1);
/// Time from the readiness of all threads to the start of the run.
const LEAD: TimeDelta = TimeDelta::from_millis(100);
/// Time after the end of the run in which the threads must have stopped.
const STOPPING: TimeDelta = TimeDelta::from_secs(5);

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
