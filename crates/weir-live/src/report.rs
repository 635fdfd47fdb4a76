//! Options and results of a run, on every system.

use std::io;
use std::sync::mpsc::SyncSender;

use weir_net::Time;
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::TCP_SIGNALS;
use weir_world::{RunSpec, Traffic};

use crate::NEEDS_LINUX;
use crate::capture::CapturedPacket;
use crate::conclusive::Reason;
use crate::emulator::EmulatorError;
use crate::lateness::Lateness;

/// Most hosts of a run on the TUN face.
pub const MOST_HOSTS: usize = 16;
/// Lateness of timers for which the pacers of media flows make up.
pub const PACER_LATENESS: TimeDelta = TimeDelta::from_millis(1);

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
        if spec.flows.iter().any(|flow| is_of_kernel(&flow.traffic)) { Self::Tun } else { Self::Udp }
    }
}

/// Whether the kernel's TCP carries the traffic.
pub(crate) const fn is_of_kernel(traffic: &Traffic) -> bool {
    matches!(traffic, Traffic::Tcp { .. } | Traffic::Downloads { .. })
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// The face; `None` takes the one that the flows need.
    pub face: Option<FaceKind>,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// Whether threads try to get real-time priority.
    pub realtime: bool,
    /// Receiver of a copy of each packet at either side of the [captured links](crate::capture::captured_links). Copies for which it has no room
    /// are lost.
    pub capture: Option<SyncSender<CapturedPacket>>,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { face: None, ipv6: false, realtime: true, capture: None }
    }
}

/// Why a run cannot be made of real packets.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// A system other than Linux.
    #[error("{NEEDS_LINUX}")]
    NeedsLinux,
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
    /// Packets of no known flow.
    pub unknown: u64,
    /// Of other sources or to other destinations; they are ignored.
    pub foreign: u64,
}

/// The result of a run.
#[derive(Debug)]
pub struct LiveReport<M> {
    /// The observer.
    pub monitor: M,
    /// The face.
    pub face: FaceKind,
    /// The time of the run when it ended: that of its description, or earlier if it was stopped.
    pub ended: Time,
    /// Packets by their fate.
    pub packets: PacketCounts,
    /// Lateness of the emulator's deliveries.
    pub emulator: Lateness,
    /// Lateness of the senders: of their timers, and of reading reports.
    pub senders: Lateness,
    /// Lateness of the receivers' timers.
    pub receivers: Lateness,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Receive stamps that were discarded in favour of the time of reading.
    pub stamps_discarded: u64,
    /// Processor time of the emulator.
    pub emulator_cpu: TimeDelta,
    /// Why the run is inconclusive; empty for a conclusive run.
    pub reasons: Vec<Reason>,
    /// Why threads had no real-time priority.
    pub not_realtime: Option<String>,
    /// Packets that the capture lacks.
    pub not_captured: u64,
    /// Connections of the kernel's TCP.
    pub tcp: Vec<TcpTrace>,
}

/// State of a connection over time.
#[derive(Clone, Debug, Default)]
pub struct TcpTrace {
    /// Index of the flow.
    pub flow: usize,
    /// Number of the connection among those of its flow, from 1; 0 where the flow has one alone.
    pub connection: u32,
    /// When the connection was opened.
    pub started: Time,
    /// Bytes of the transfer, if it has an end.
    pub size: Option<DataSize>,
    /// The state at the sender, each 100 ms.
    pub states: Vec<(Time, TcpInfo)>,
    /// Bytes that the receiver has read.
    pub received: u64,
    /// When the whole transfer had arrived, if it has an end.
    pub arrived: Option<Time>,
    /// When the whole transfer was acknowledged, if it has an end.
    pub completed: Option<Time>,
}

/// State of a TCP connection of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window in segments.
    pub window: u32,
    /// Slow start threshold in segments.
    pub threshold: u32,
    /// Largest segment.
    pub segment: u32,
    /// Smoothed round-trip time.
    pub rtt: TimeDelta,
    /// Segments in flight.
    pub unacked: u32,
    /// Segments sent again so far.
    pub retransmitted: u32,
    /// Bytes acknowledged so far.
    pub acked: u64,
    /// Bytes received so far.
    pub received: u64,
    /// Bytes that wait for being sent the first time.
    pub unsent: u32,
    /// Segments delivered with "congestion experienced".
    pub marked: u32,
}

impl TcpInfo {
    /// Values of [`TCP_SIGNALS`]. The kernel reports the smoothed round-trip time alone.
    pub fn signals(&self) -> [f64; TCP_SIGNALS.len()] {
        // The kernel's largest number stands for no threshold.
        let threshold =
            if self.threshold >= i32::MAX as u32 { f64::INFINITY } else { f64::from(self.threshold) };
        // One byte more than the data is acknowledged, that of the handshake.
        let acked = self.acked.saturating_sub(1);
        [f64::from(self.window), threshold, self.rtt.millis_f64(), acked as f64]
    }
}
