//! A run of real packets: hosts on sockets, the links of the run between them.

mod alone;
mod parts;
mod places;
mod refusals;
mod run_log;
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
use weir_world::{FlowSpec, Monitor, RunSpec, Side};

use crate::caller::refuse_set_user_id;
use crate::capture::captured_links;
use crate::clock::{RunClock, nanos_of};
use crate::conclusive::{VerdictFigures, reasons};
use crate::copies::PacketCopies;
use crate::drive::{DriveOptions, Driven};
use crate::emulator::Emulator;
use crate::hosts::senders::Hosted;
use crate::inbox::Inbox;
use crate::log::HostLog;
use crate::merge::{self, Route};
use crate::realtime::{EMULATOR_PRIORITY, allow_many_files};
use crate::report::is_of_kernel;

pub use crate::report::{
    FaceKind, LiveError, LiveOptions, LiveReport, MOST_HOSTS, PACER_LATENESS, PacketCounts, TcpInfo, TcpTrace,
};
pub use alone::{HostFigures, run_hosts_alone};
use parts::Parts;
use places::Places;
use refusals::refuse_unreal;
use run_log::RunLog;
use transfers::Transfers;

/// Time from the readiness of all threads to the start of the run.
const LEAD: TimeDelta = TimeDelta::from_millis(100);
/// Time between two calls of the observer of the progress.
const PROGRESS_INTERVAL: TimeDelta = TimeDelta::from_millis(100);
/// Time in which packets that a stopped thread has sent reach their host.
const LAST_PACKETS: Duration = Duration::from_millis(20);
/// Time after the end of the run in which the threads must have stopped.
const STOPPING: TimeDelta = TimeDelta::from_secs(5);

fn system(what: &'static str) -> impl Fn(io::Error) -> LiveError {
    move |error| LiveError::System { what, error }
}

/// Runs `spec` in real time and shows it to `monitor` afterwards. `progress` is called ten times a second with the time of
/// the run. If it returns `false`, the run ends early, and the report says when.
///
/// # Errors
/// A flow or link that cannot be real, a right that is missing, or an error of the system.
pub fn run<M: Monitor>(
    spec: RunSpec,
    options: LiveOptions,
    monitor: M,
    mut progress: impl FnMut(Time) -> bool,
) -> Result<LiveReport<M>, LiveError> {
    refuse_set_user_id().map_err(system("no real packets"))?;
    allow_many_files();
    let face = options.face.unwrap_or_else(|| FaceKind::needed(&spec));
    refuse_unreal(&spec, face, options.ipv6)?;
    let emulator = Emulator::of_run(&spec)?;
    let bottlenecks: Vec<bool> = spec.links.iter().map(|link| link.bottleneck).collect();
    let owners: Vec<usize> = (0..spec.flows.len()).map(|flow| host_owner(&spec.flows, flow)).collect();
    let mut places = Places::of(&spec, face, options.ipv6, &owners)?;
    let mut routes = routes(&spec.flows, options.ipv6);
    let end = spec.end;
    let captured = captured_links(&spec);

    let mut parts = Parts::build(spec, &mut places, &owners, &monitor)?;
    let clock = RunClock::from_origin(nanos_of(ClockId::CLOCK_MONOTONIC) + LEAD.nanos());
    let drive = DriveOptions {
        priority: options.realtime.then_some(EMULATOR_PRIORITY),
        end: end + STOPPING,
        log: 1 << 18,
        buffers: 1 << 12,
    };
    let copies = options.capture.map(|to| PacketCopies::new(captured, to, places.ends_of_routes()));
    let log = RunLog { events: Vec::with_capacity(drive.log), copies };
    let driver = places.drive(emulator, clock, drive, log).map_err(system("the emulator does not start"))?;
    let stop = Stop::new().map_err(system("no flag for the threads"))?;
    let (senders, receivers) = (parts.senders, parts.receivers);
    let flag = Arc::clone(&stop.senders);
    let senders = spawn("weir-senders", move || senders.serve(Inbox::new(clock), &flag, options.realtime))?;
    let flag = Arc::clone(&stop.receivers);
    let receivers =
        spawn("weir-receivers", move || receivers.serve(Inbox::new(clock), &flag, options.realtime))?;
    let transfers = core::mem::take(&mut parts.transfers);
    let tcp = Transfers::start(transfers, &places, clock)?;

    let mut goes_on = true;
    while goes_on && clock.now() < end {
        let left = clock.until(end).clamp(TimeDelta::ZERO, PROGRESS_INTERVAL);
        thread::sleep(Duration::from_nanos(left.nanos() as u64));
        goes_on = driver.is_running() && progress(clock.now().min(end));
    }
    let ended = clock.now().min(end);
    // Senders, sinks, emulator: a sink may wait for a packet that a stopped emulator no longer carries.
    stop.senders().map_err(system("the senders do not stop"))?;
    let senders = join(senders)?;
    let tcp = tcp.stop()?;
    thread::sleep(LAST_PACKETS);
    stop.receivers().map_err(system("the receivers do not stop"))?;
    let receivers = join(receivers)?;
    thread::sleep(LAST_PACKETS);
    let driven = driver.stop().map_err(system("the emulator failed"))?;
    let mut tcp_log = HostLog::new(&monitor, 0);
    tcp_log.add_tcp(&tcp);
    finish((face, ended), &driven, [senders, receivers], tcp_log, (&bottlenecks, &mut routes), monitor)
        .map(|report| LiveReport { tcp, ..report })
}

/// The routes of the flows, without their packets.
fn routes(flows: &[FlowSpec], ipv6: bool) -> Vec<Route> {
    let of_flow = |(index, flow): (usize, &FlowSpec)| {
        let by_kernel = is_of_kernel(&flow.traffic);
        [Side::Sender, Side::Receiver].map(|from| Route::new(index, from, by_kernel, ipv6))
    };
    flows.iter().enumerate().flat_map(of_flow).collect()
}

fn finish<M: Monitor>(
    (face, ended): (FaceKind, Time),
    driven: &Driven<RunLog>,
    hosts: [Hosted; 2],
    tcp: HostLog,
    (bottlenecks, routes): (&[bool], &mut [Route]),
    mut monitor: M,
) -> Result<LiveReport<M>, LiveError> {
    let events = driven.log.events.as_slice();
    let mut counted = driven.lost_outside();
    let [senders, receivers] = hosts.each_ref().map(|hosted| hosted.lateness.clone());
    let not_realtime = driven.not_realtime.clone().or_else(|| hosts[0].not_realtime.clone());
    // What the emulator hands over reaches its host somewhat later than the event says.
    let late = driven.lateness.max();
    let [at_senders, at_receivers] = hosts.each_ref().map(|hosted| hosted.stopped - late);
    let mut clock = [driven.clock_steps, driven.stamps_discarded];
    let mut logs = vec![tcp];
    for Hosted { network, clock: [steps, discarded], .. } in hosts {
        if let Some(error) = network.error {
            return Err(LiveError::System { what: "a host's socket failed", error });
        }
        counted += network.lost().map_err(system("no counters of a socket"))?;
        clock = [clock[0].max(steps), clock[1] + discarded];
        let mut log: HostLog = network.log;
        let (sent, arrived) = log.take_packets();
        for (route, (sent, arrived)) in routes.iter_mut().zip(sent.into_iter().zip(arrived)) {
            route.sent.extend(sent);
            route.arrived.extend(arrived);
        }
        logs.push(log);
    }
    // The counters and the logs see the same losses: the counters those of TCP, too, the logs those without a counter.
    let lost_outside = counted.max(merge::lost_outside(events, routes, [at_receivers, at_senders]));
    merge::show(ended, bottlenecks, events, routes, &logs, &mut monitor);
    let evidence =
        VerdictFigures { emulator: driven.lateness.clone(), senders: senders.clone(), lost_outside };
    Ok(LiveReport {
        monitor,
        face,
        ended,
        packets: PacketCounts {
            entered: driven.entered,
            delivered: driven.delivered,
            dropped: driven.dropped,
            inside: driven.inside,
            lost_outside,
            unknown: driven.unknown,
            foreign: driven.foreign,
        },
        emulator: driven.lateness.clone(),
        senders,
        receivers,
        clock_steps: clock[0],
        stamps_discarded: clock[1],
        emulator_cpu: driven.cpu,
        reasons: reasons(&evidence),
        not_realtime,
        not_captured: driven.log.copies.as_ref().map_or(0, PacketCopies::missing),
        tcp: Vec::new(),
    })
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
