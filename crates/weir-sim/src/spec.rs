//! What a simulation consists of, in plain values. Whoever builds them (a scenario file, a test) resolves names,
//! routes and controllers first: the simulator knows no algorithm and no file.

use core::fmt;
use std::sync::Arc;

use weir_cc::window::WindowLaw;
use weir_cc::{Controller, Receiver};
use weir_media::MediaConfig;
use weir_net::{LinkConfig, Time, WifiConfig, WifiLink};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::tcp::TcpConfig;
use crate::web::Web;

/// A whole simulation.
#[derive(Debug)]
pub struct SimSpec {
    /// Seed of the run; each component draws from its own stream, derived from this and its name.
    pub seed: u64,
    /// When the run ends.
    pub end: Time,
    /// The links; flows refer to them by index.
    pub links: Vec<LinkSpec>,
    /// The Wi-Fi cells that carry some of the links.
    pub cells: Vec<CellSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

/// One directed link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name, also the name of its random stream.
    pub name: String,
    /// Rate, queue, delay, jitter, loss.
    pub config: LinkConfig,
    /// Whether waiting here counts as a packet's queuing delay (`queue_wait`).
    pub bottleneck: bool,
}

/// A Wi-Fi cell and its links, which have no server of their own: of their configuration the cell takes nothing.
#[derive(Clone, Debug)]
pub struct CellSpec {
    /// Name, also the name of its random stream.
    pub name: String,
    /// What its links have in common.
    pub config: WifiConfig,
    /// Its links: the index of each among all links, and what it is in the cell. A link is in one cell at most.
    pub links: Vec<(usize, WifiLink)>,
}

/// One flow: two hosts and the way between them.
#[derive(Debug)]
pub struct FlowSpec {
    /// Name, also the name of its random streams.
    pub name: String,
    /// Indices of the links from the sender to the receiver, at least one.
    pub forward: Vec<usize>,
    /// Indices of the links back; empty only for flows without feedback.
    pub reverse: Vec<usize>,
    /// When it starts.
    pub start: Time,
    /// When it stops sending; [`Time::MAX`] for never.
    pub stop: Time,
    /// When it pauses: each from the first time, included, to the second, excluded. TCP does not pause.
    pub pauses: Vec<(Time, Time)>,
    /// The sender's clock.
    pub sender_clock: ClockSpec,
    /// The receiver's clock.
    pub receiver_clock: ClockSpec,
    /// What it carries.
    pub traffic: Traffic,
}

/// What a flow carries.
#[derive(Debug)]
pub enum Traffic {
    /// Video under a controller.
    Media {
        /// The sender half.
        controller: Box<dyn Controller>,
        /// The receiver half.
        receiver: Box<dyn Receiver>,
        /// Encoder, packetiser, RTCP.
        config: MediaConfig,
    },
    /// Packets of one size at a constant rate, without feedback.
    Constant {
        /// Rate on the wire.
        rate: DataRate,
        /// Size of a packet on the wire.
        packet_size: DataSize,
    },
    /// Packets of one size at a rate that changes, without feedback.
    Unresponsive(Unresponsive),
    /// A bulk TCP transfer.
    Tcp {
        /// The window law.
        law: Box<dyn WindowLaw>,
        /// The endpoints.
        config: TcpConfig,
        /// How much to transfer; `None` for a long-lived flow.
        size: Option<DataSize>,
    },
    /// A bulk transfer by the TCP of the WebRTC project's simulator, which has a window law of its own.
    ChromiumTcp {
        /// The endpoints; only the sizes of segments and headers matter.
        config: TcpConfig,
        /// How much to transfer; `None` for a long-lived flow.
        size: Option<DataSize>,
    },
    /// Short TCP flows: downloads with idle times between them, each over a connection of its own.
    Downloads {
        /// The window laws of the connections.
        laws: WindowLaws,
        /// The endpoints.
        config: TcpConfig,
        /// How much and how often.
        downloads: Downloads,
    },
    /// Web-like traffic: requests from the receiver's end, answered over TCP.
    Web {
        /// The window laws of the connections.
        laws: WindowLaws,
        /// The endpoints.
        config: TcpConfig,
        /// What is asked for, and how often.
        web: Web,
    },
}

/// Downloads with idle times between them (RFC 8868 §4.1's short-lived TCP flows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downloads {
    /// A download's size is drawn uniformly from this …
    pub smallest: DataSize,
    /// … to this.
    pub largest: DataSize,
    /// Mean of the idle time that follows a download's completion; it is exponentially distributed.
    pub idle: TimeDelta,
    /// Whether it begins with an idle time and not with a download.
    pub begins_idle: bool,
}

/// Makes a window law for each connection of a flow.
#[derive(Clone)]
pub struct WindowLaws(Arc<dyn Fn() -> Box<dyn WindowLaw> + Send + Sync>);

impl WindowLaws {
    /// Laws as `make` makes them.
    pub fn new(make: impl Fn() -> Box<dyn WindowLaw> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// A law for a new connection.
    pub fn make(&self) -> Box<dyn WindowLaw> {
        (self.0)()
    }
}

impl fmt::Debug for WindowLaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WindowLaws").field(&self.make()).finish()
    }
}

/// Packets of one size at a rate that changes at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Unresponsive {
    /// Rates on the wire and from when on each holds, in order; none before the first.
    pub steps: Vec<(Time, DataRate)>,
    /// Size of a packet on the wire.
    pub packet_size: DataSize,
    /// Bytes of a packet that are headers and not payload.
    pub headers: u32,
}

/// A host's clock: what it reads as a function of true time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockSpec {
    /// Its reading at the start of the run.
    pub offset: TimeDelta,
    /// How much too fast it runs, in parts per million.
    pub drift_ppm: f64,
    /// Readings are multiples of this; zero for nanoseconds.
    pub resolution: TimeDelta,
}
