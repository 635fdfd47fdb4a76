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
use crate::conclusive::{VerdictFigures, reasons};
use crate::drive::{DriveOptions, Driven};
use crate::emulator::Emulator;
use crate::hosts::Inbox;
use crate::hosts::senders::Hosted;
use crate::hosts::tcp;
use crate::log::HostLog;
use crate::merge::{self, Route};
use crate::realtime::EMULATOR_PRIORITY;

pub use crate::report::{
    FaceKind, LiveError, LiveOptions, LiveReport, MOST_HOSTS, PACER_LATENESS, PacketCounts, TcpInfo, TcpTrace,
};
use parts::Parts;
use places::Places;
use transfers::Transfers;

/// Time from the readiness of all threads to the start of the run.
const LEAD: TimeDelta = TimeDelta::from_millis(100);
/// Time after the end of the run in which the threads must have stopped.
const STOPPING: TimeDelta = TimeDelta::from_secs(5);

fn system(what: &'static str) -> impl Fn(io::Error) -> LiveError {
    move |error| LiveError::System { what, error }
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

    let mut parts = Parts::build(spec, &mut places, &owners, &monitor)?;
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
    let evidence =
        VerdictFigures { emulator: driven.lateness.clone(), senders: senders.clone(), lost_outside };
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
