//! Hosts over loopback without an emulator: how much one process carries.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::time::ClockId;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::host::host_owner;
use weir_world::{RunSpec, Unwatched};

use super::parts::Parts;
use super::places::Places;
use super::refusals::refuse_unreal;
use super::{FaceKind, LAST_PACKETS, LEAD, LiveError, Stop, join, spawn, system};
use crate::clock::{RunClock, nanos_of};
use crate::inbox::Inbox;
use crate::lateness::Lateness;
use crate::realtime::allow_many_files;

/// Figures of hosts without an emulator: of the senders' thread, and of the receivers'.
#[derive(Clone, Debug, Default)]
pub struct HostFigures {
    /// Lateness.
    pub lateness: [Lateness; 2],
    /// Processor time.
    pub cpu: [TimeDelta; 2],
    /// Packets that hosts sent, feedback included.
    pub sent: u64,
    /// Packets that hosts read.
    pub arrived: u64,
    /// Packets that the system did not take, or dropped.
    pub lost: u64,
}

/// Runs the flows of `spec` between sockets of the loopback interface, with neither links nor an observer.
///
/// # Errors
/// A flow that real hosts do not have or that needs TCP, or an error of the system.
pub fn run_hosts_alone(spec: RunSpec, realtime: bool) -> Result<HostFigures, LiveError> {
    allow_many_files();
    refuse_unreal(&spec, FaceKind::Udp, false)?;
    let owners: Vec<usize> = (0..spec.flows.len()).map(|flow| host_owner(&spec.flows, flow)).collect();
    let mut places = Places::direct(spec.flows.len())?;
    let end = spec.end;
    let Parts { senders, receivers, .. } = Parts::build(spec, &mut places, &owners, &Unwatched)?;
    let clock = RunClock::from_origin(nanos_of(ClockId::CLOCK_MONOTONIC) + LEAD.nanos());
    let stop = Stop::new().map_err(system("no flag for the threads"))?;
    let flags = (Arc::clone(&stop.senders), Arc::clone(&stop.receivers));
    let senders = spawn("weir-senders", move || senders.serve(Inbox::new(clock), &flags.0, realtime))?;
    let receivers = spawn("weir-receivers", move || receivers.serve(Inbox::new(clock), &flags.1, realtime))?;
    thread::sleep(Duration::from_nanos(clock.until(end).max(TimeDelta::ZERO).nanos() as u64));
    stop.senders().map_err(system("the senders do not stop"))?;
    let senders = join(senders)?;
    thread::sleep(LAST_PACKETS);
    stop.receivers().map_err(system("the receivers do not stop"))?;
    let mut figures = HostFigures::default();
    for (side, mut hosted) in [senders, join(receivers)?].into_iter().enumerate() {
        figures.lateness[side] = hosted.lateness;
        figures.cpu[side] = hosted.cpu;
        let count = |of: &[usize]| of.iter().sum::<usize>() as u64;
        let (sent, arrived) = hosted.network.log.take_packets();
        figures.sent += count(&sent.iter().map(Vec::len).collect::<Vec<_>>());
        figures.arrived += count(&arrived.iter().map(Vec::<Time>::len).collect::<Vec<_>>());
        figures.lost += hosted.network.lost().map_err(system("no counters of a socket"))?;
    }
    Ok(figures)
}
