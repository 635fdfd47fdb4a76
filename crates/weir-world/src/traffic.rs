//! Traffic of flows.

use core::fmt;
use std::sync::Arc;

use weir_cc::window::WindowAlgorithm;
use weir_cc::{Controller, Receiver};
use weir_media::MediaConfig;
use weir_net::Time;
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::tcp::TcpConfig;
use crate::web::WebTraffic;

/// Traffic of a flow.
#[derive(Debug)]
pub enum Traffic {
    /// Video under a controller.
    Media(MediaSpec),
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
        /// Name of the window algorithm, by which a kernel or a table knows it: `cubic`, `reno`.
        name: String,
        /// The window algorithm.
        algorithm: Box<dyn WindowAlgorithm>,
        /// The endpoints.
        config: TcpConfig,
        /// Size of the transfer; a long-lived flow has none.
        size: Option<DataSize>,
    },
    /// A bulk transfer by the TCP of the WebRTC project's simulator, which has a window algorithm of its own.
    ChromiumTcp {
        /// The endpoints; only the sizes of segments and headers matter.
        config: TcpConfig,
        /// Size of the transfer; a long-lived flow has none.
        size: Option<DataSize>,
    },
    /// Short TCP flows: downloads with idle times between them, each over a connection of its own.
    Downloads {
        /// The window algorithms of the connections.
        algorithms: WindowAlgorithms,
        /// The endpoints.
        config: TcpConfig,
        /// Sizes and idle times of the downloads.
        downloads: DownloadTraffic,
    },
    /// Web-like traffic: requests from the receiver's end, answered over TCP.
    Web {
        /// The window algorithms of the connections.
        algorithms: WindowAlgorithms,
        /// The endpoints.
        config: TcpConfig,
        /// Sizes and times of the requests.
        web: WebTraffic,
    },
}

/// A media flow. A process that runs only one of its ends needs only that half.
#[derive(Debug)]
pub struct MediaSpec {
    /// The sender half of the controller, where the sending end is.
    pub sender: Option<Box<dyn Controller>>,
    /// The receiver half, where the receiving end is.
    pub receiver: Option<Box<dyn Receiver>>,
    /// Encoder, packetiser, RTCP.
    pub config: MediaConfig,
}

impl MediaSpec {
    /// A flow with both ends.
    pub fn new(sender: Box<dyn Controller>, receiver: Box<dyn Receiver>, config: MediaConfig) -> Self {
        Self { sender: Some(sender), receiver: Some(receiver), config }
    }
}

/// Downloads with idle times between them (RFC 8868 §4.1's short-lived TCP flows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadTraffic {
    /// Smallest size of a download, which is drawn uniformly.
    pub smallest: DataSize,
    /// Largest size of a download.
    pub largest: DataSize,
    /// Mean of the idle time that follows a download's completion; it is exponentially distributed.
    pub idle: TimeDelta,
    /// Whether the flow begins with an idle time instead of a download.
    pub begins_idle: bool,
}

/// Factory of a window algorithm for each connection of a flow.
#[derive(Clone)]
pub struct WindowAlgorithms {
    name: String,
    make: Arc<dyn Fn() -> Box<dyn WindowAlgorithm> + Send + Sync>,
}

impl WindowAlgorithms {
    /// Algorithms of the name `name`, made by `make`.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> Box<dyn WindowAlgorithm> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), make: Arc::new(make) }
    }

    /// Name of the algorithm: `cubic`, `reno`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An algorithm for a new connection.
    pub fn make(&self) -> Box<dyn WindowAlgorithm> {
        (self.make)()
    }
}

impl fmt::Debug for WindowAlgorithms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WindowAlgorithms").field(&self.name).finish()
    }
}

/// Packets of one size at a rate that changes at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Unresponsive {
    /// Rates on the wire, each with the time from which on it holds, in order; zero before the first.
    pub steps: Vec<(Time, DataRate)>,
    /// Size of a packet on the wire.
    pub packet_size: DataSize,
    /// Header bytes of a packet, which are not payload.
    pub headers: u32,
}

impl Unresponsive {
    /// Steps of a source that sends at `peak` in bursts, with a gap before each, until `to`. The lengths of both are
    /// exponentially distributed about these means; `uniform` draws from [0, 1).
    pub fn bursts(
        peak: DataRate,
        [burst, gap]: [TimeDelta; 2],
        [from, to]: [Time; 2],
        mut uniform: impl FnMut() -> f64,
    ) -> Vec<(Time, DataRate)> {
        let mut span =
            |mean: TimeDelta| TimeDelta::from_secs_f64(-libm::log(1.0 - uniform()) * mean.secs_f64());
        let (mut steps, mut at) = (Vec::new(), from + span(gap));
        while at < to {
            steps.push((at, peak));
            at = (at + span(burst)).min(to);
            steps.push((at, DataRate::ZERO));
            at += span(gap);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_and_gaps_alternate_and_end_in_time() {
        let (peak, [from, to]) = (DataRate::from_mbps(3), [1000, 4500].map(Time::from_millis));
        // Each length is ln 2 of its mean: 0.693 s of bursts, 1.386 s of gaps.
        let means = [1, 2].map(TimeDelta::from_secs);
        let steps = Unresponsive::bursts(peak, means, [from, to], || 0.5);
        let steps_ms: Vec<_> = steps.iter().map(|&(at, rate)| (at.nanos() / 1_000_000, rate)).collect();
        assert_eq!(steps_ms, [(2386, peak), (3079, DataRate::ZERO), (4465, peak), (4500, DataRate::ZERO)]);
    }
}
