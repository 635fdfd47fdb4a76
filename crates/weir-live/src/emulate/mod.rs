//! Any programs at the two ends of an emulated path.
//!
//! An [`Emulation`] is a path that packets cross both ways: between two network namespaces, where [`Program`]s run, or
//! between two sockets of UDP.

mod forward;
mod path;
mod path_log;
mod program;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use weir_net::Time;
use weir_units::TimeDelta;

use crate::caller::refuse_set_user_id;
use crate::capture::CapturedPacket;
use crate::clock::RunClock;
use crate::conclusive::{Reason, VerdictFigures, reasons};
use crate::drive::{DriveOptions, Driver};
use crate::emulator::{Emulator, EmulatorError};
use crate::face::tun::{TunFace, TunFlow};
use crate::lateness::Lateness;
use crate::namespace::Namespace;
use crate::realtime::EMULATOR_PRIORITY;

use forward::ForwardFace;
pub use path::Path;
pub use path_log::{DirectionNow, DirectionReport};
use path_log::{Live, PathLog};
pub use program::Program;

/// When an emulation ends by itself: after ten years.
const END: Time = Time::from_millis(10 * 365 * 24 * 3_600_000);
/// Options of an emulation.
#[derive(Debug)]
pub struct EmulateOptions {
    /// Seed of random losses and delays.
    pub seed: u64,
    /// Whether the emulator tries to get real-time priority.
    pub realtime: bool,
    /// Receiver of a copy of each packet before and behind the bottlenecks, first that of the way to the far end. Copies for which
    /// it has no room are lost.
    pub capture: Option<SyncSender<CapturedPacket>>,
}

/// Why an emulation cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// The links or routes.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// An address that cannot be used.
    #[error("{address} cannot be used: {error}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The error.
        error: io::Error,
    },
    /// A network namespace, or its device, cannot be made.
    #[error(transparent)]
    Namespace(io::Error),
    /// The system.
    #[error("{what}: {error}")]
    System {
        /// The step that failed.
        what: &'static str,
        /// The error.
        error: io::Error,
    },
}

fn system(what: &'static str) -> impl Fn(io::Error) -> EmulateError {
    move |error| EmulateError::System { what, error }
}

/// The result of an emulation.
#[derive(Debug)]
pub struct EmulateReport {
    /// Its duration.
    pub duration: TimeDelta,
    /// Packets to the far end, and back.
    pub directions: [DirectionReport; 2],
    /// Lateness of the deliveries.
    pub lateness: Lateness,
    /// Processor time of the emulator.
    pub cpu: TimeDelta,
    /// Packets lost outside of the links.
    pub lost_outside: u64,
    /// Packets to other addresses, which are ignored.
    pub unknown: u64,
    /// Packets that the capture lacks.
    pub not_captured: u64,
    /// Why the emulation is inconclusive; empty for a conclusive one.
    pub reasons: Vec<Reason>,
    /// Why the emulator had no real-time priority.
    pub not_realtime: Option<String>,
}

/// A running emulation, which ends when this value is dropped.
#[derive(Debug)]
pub struct Emulation {
    driver: Driver<PathLog>,
    live: Arc<Live>,
    clock: RunClock,
}

impl Emulation {
    /// A path between two new namespaces, the near one and the far one. Every packet between their addresses crosses it,
    /// of any protocol.
    ///
    /// # Errors
    /// A link that cannot be, or a right that is missing.
    pub fn between_namespaces(
        path: Path,
        options: &EmulateOptions,
    ) -> Result<(Self, [Arc<Namespace>; 2]), EmulateError> {
        refuse_set_user_id().map_err(EmulateError::Namespace)?;
        let log = PathLog::new(&path, options.capture.clone());
        let emulator = path.emulator(options.seed, 2)?;
        let host = |number| Namespace::new(number).map(Arc::new).map_err(EmulateError::Namespace);
        let hosts = [host(1)?, host(2)?];
        let flow = |ipv6| {
            let [near, far] = [0, 1].map(|host: usize| hosts[host].address(ipv6));
            let ends = [SocketAddr::new(near?, 0), SocketAddr::new(far?, 0)];
            Some(TunFlow { hosts: [0, 1], ends, protocol: None })
        };
        let flows = [false, true].into_iter().filter_map(flow).collect();
        let face = TunFace::new(hosts.to_vec(), flows).map_err(system("no devices"))?;
        Ok((Self::start(emulator, face, log, options.realtime)?, hosts))
    }

    /// A forwarder: datagrams that arrive at `listen` cross the path and go on to `peer`. Answers of `peer` cross it the
    /// other way, and go on to the latest sender. The result is the emulation and the address of `listen`.
    ///
    /// # Errors
    /// A link that cannot be, or an address that cannot be used.
    pub fn between_sockets(
        path: Path,
        listen: SocketAddr,
        peer: SocketAddr,
        options: &EmulateOptions,
    ) -> Result<(Self, SocketAddr), EmulateError> {
        refuse_set_user_id().map_err(EmulateError::Namespace)?;
        let log = PathLog::new(&path, options.capture.clone());
        let emulator = path.emulator(options.seed, 1)?;
        let face = ForwardFace::new(listen, peer)
            .map_err(|(address, error)| EmulateError::Address { address, error })?;
        let address = face.listens_at();
        Ok((Self::start(emulator, face, log, options.realtime)?, address))
    }

    fn start<F: crate::face::Face + Send + 'static>(
        emulator: Emulator,
        face: F,
        log: PathLog,
        realtime: bool,
    ) -> Result<Self, EmulateError> {
        let clock = RunClock::start();
        let drive = DriveOptions {
            priority: realtime.then_some(EMULATOR_PRIORITY),
            end: END,
            log: 0,
            buffers: 1 << 12,
        };
        let live = log.live();
        let driver = Driver::start_with(emulator, face, clock, drive, log)
            .map_err(system("the emulator does not start"))?;
        Ok(Self { driver, live, clock })
    }

    /// Time since the start.
    pub fn elapsed(&self) -> TimeDelta {
        self.clock.now() - Time::ZERO
    }

    /// State of each direction.
    pub fn now(&self) -> [DirectionNow; 2] {
        self.live.now()
    }

    /// Whether packets still cross the path. An error ends this, which [`Self::stop`] returns.
    pub fn is_running(&self) -> bool {
        self.driver.is_running()
    }

    /// Ends the emulation. Packets that are inside stay there.
    ///
    /// # Errors
    /// The error that ended it before.
    pub fn stop(self) -> Result<EmulateReport, EmulateError> {
        let duration = self.elapsed();
        let driven = self.driver.stop().map_err(system("the emulator failed"))?;
        let lost_outside = driven.lost_outside();
        let evidence =
            VerdictFigures { emulator: driven.lateness.clone(), senders: Lateness::default(), lost_outside };
        let not_captured = driven.log.not_captured();
        Ok(EmulateReport {
            duration,
            directions: driven.log.reports(duration),
            lateness: driven.lateness,
            cpu: driven.cpu,
            lost_outside,
            unknown: driven.foreign + driven.unknown,
            not_captured,
            reasons: reasons(&evidence),
            not_realtime: driven.not_realtime,
        })
    }
}
