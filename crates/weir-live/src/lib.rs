//! Real packets through emulated links: the simulator's links, driven by the clock.
//!
//! An [`Emulator`](emulator::Emulator) has the [links](weir_net::Link) and routes of a run and neither sockets nor a clock: it is stepped by
//! time. On Linux a driver serves it in a thread of its own, between the sockets of a *face*:
//!
//! * The UDP face is one socket per flow on the loopback interface, without privileges.
//! * The TUN face is one unnamed network namespace per host, with a TUN device in each. Any protocol of the kernel
//!   crosses it, TCP too. Root is needed, or a user namespace where `/dev/net/tun` is open to all.
//!
//! A run on a busy machine may be disturbed. [`conclusive`] judges from the driver's own figures whether it was.
//!
//! ```
//! use weir_live::emulator::{Emulator, EventKind, Transit};
//! use weir_net::{LinkConfig, Service, Time};
//! use weir_units::{DataRate, TimeDelta};
//! use weir_world::LinkSpec;
//!
//! let config = LinkConfig::new(Service::Constant(DataRate::from_mbps(1)), TimeDelta::from_millis(20));
//! let mut emulator = Emulator::new(1, &[LinkSpec::bottleneck("forward", config)], &[[0]])?;
//! emulator.enqueue(Time::ZERO, Transit { wire_size: 1250, ..Transit::default() });
//! let events: Vec<_> = std::iter::from_fn(|| emulator.poll(Time::from_millis(100))).collect();
//! // 10 000 bits at 1 Mbit/s take 10 ms, and propagation 20 ms.
//! assert_eq!(events.last().map(|event| event.at), Some(Time::from_millis(30)));
//! assert!(matches!(events.last().unwrap().kind, EventKind::Delivered { marked: false, .. }));
//! # Ok::<(), weir_live::emulator::EmulatorError>(())
//! ```

#[cfg(target_os = "linux")]
pub mod caller;
pub mod capabilities;
pub mod capture;
pub mod clock;
pub mod conclusive;
#[cfg(target_os = "linux")]
mod copies;
#[cfg(target_os = "linux")]
pub mod drive;
#[cfg(target_os = "linux")]
pub mod emulate;
pub mod emulator;
#[cfg(target_os = "linux")]
pub mod face;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
pub mod inbox;
#[cfg(target_os = "linux")]
pub mod interrupts;
pub mod lateness;
#[cfg(target_os = "linux")]
mod log;
#[cfg(target_os = "linux")]
mod merge;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod realtime;
pub mod report;
#[cfg(target_os = "linux")]
pub mod run;
#[cfg(not(target_os = "linux"))]
#[path = "run_elsewhere.rs"]
pub mod run;
#[cfg(target_os = "linux")]
pub mod sys;

/// The sentence of every entry point on a system other than Linux.
pub const NEEDS_LINUX: &str = "real packets need Linux";
