//! LEDBAT, low extra delay background transport: RFC 6817.
//!
//! The sender measures the one-way queuing delay of each packet and changes its window in proportion to the distance
//! from a target. An empty queue opens the window by `GAIN` packets per round trip, a queue of twice the target closes it
//! by as much, and a loss halves it. Alone it keeps the queue at the target; beside a loss-based flow with a long queue it
//! yields.
//!
//! Source: RFC 6817 (December 2012). [`Config::dccc_2017`] has the settings of the comparison in the DCCC paper.
//!
//! Blocks: the queuing delay with its base history and current filter, the flight, and [`Ledbat`], which sets the window.
//! The receiver half is [`PacketFeedback`] ([`receiver`]). Every constant is in [`Config`]. For media the window becomes a
//! rate: encoder and pacer get `cwnd/SRTT`, of which the payload's share counts.
//! [`Target::window`](crate::Target::window) limits the bytes in flight to `cwnd`.
//!
//! Deliberate divergences, and readings of what the RFC leaves open:
//!
//! 1. Until the first round-trip time the rate is the start rate. The window then begins with the data that this rate has
//!    in flight, but at least `INIT_CWND`. There is no slow start, which §2.2 leaves open.
//! 2. The RFC sends when the window opens. Frames of a video would leave as bursts of a window. Therefore the pacer sends
//!    at 1.25 times the rate (RFC 9002 §7.7), and the encoder's rate is reduced for the data that waits in the pacer.
//! 3. `flightsize` is the greatest amount sent within one of the last two round trips, and counts 1.1 times
//!    (`MAX_BYTES_IN_FLIGHT_HEAD_ROOM` of RFC 8298). Between two frames little is in flight although the source is not
//!    idle. The loss of a report does not change it.
//! 4. A packet is lost when a packet sent three later has arrived. It is not retransmitted. An ECN mark counts as a loss
//!    (§1.3): with ECT(0) behind CoDel on 2 Mbit/s the median queue is 5 ms; if marks do not reach LEDBAT it is 99 ms.
//! 5. A congestion timeout reduces the window to one packet (§2.4.2) or to half, whichever is less, so that each further
//!    timeout halves the rate. `CTO` is at most 4 s.
//! 6. Acknowledgements are reports every 10 ms, not one per packet. All their delay samples count, in order of number, with
//!    a resolution of 1/1024 s (RFC 8888); §2.4.1 requires at least one per round trip. A round-trip sample is the mean time
//!    in flight of the packets of a report, the wait for the report included, so that `cwnd/SRTT` is the rate that the window
//!    permits.
//! 7. A queuing delay of 10 s or more means that a clock was set, and the base delay is measured again. Minutes of the base
//!    history count from the first packet, by the receiver's clock.
//! 8. The window is at most the data that the maximum rate has in flight, plus one packet.
//! 9. A change of route resets the rate to the start rate, and clears delays and missing packets. Packets that left before
//!    it say nothing about the new route. The RFC has no rule.
//! 10. The rate for encoder and pacer is `cwnd/SRTT` less headers, by the share of payload in the last packet before the
//!     report. It changes with reports and timeouts only.
//! 11. However small the window is, it permits the data that the pacer sends at the least rate. With exactly the least rate
//!     a backlog would never drain. Beside CUBIC in a queue of 1 s, with a least rate of 150 kbit/s, the median frame would
//!     be 3.5 s late instead of 0.9 s.
//!
//! A later flow mistakes a standing queue for propagation delay and starves the flow that keeps it (RFC 6817 §4.4). A
//! flow that is alone loses the delay of the empty path after the ten minutes of `BASE_HISTORY`, and adds its target to its
//! own queue, again and again. On 3 Mbit/s the queue is 99 ms in the fifth minute, and 1177 ms after two hours. Both follow
//! from the RFC's own rules.

mod config;
mod delay;
mod flight;
mod sender;

#[cfg(test)]
mod closed_loop;

use crate::config_error::ConfigError;
use crate::packet_feedback::PacketFeedback;

pub use config::{Config, CurrentFilter};
pub use sender::Ledbat;

/// The receiver half: the fate of each packet at the configured interval.
///
/// # Errors
/// The first constant of `config` out of its range.
pub fn receiver(config: &Config) -> Result<PacketFeedback, ConfigError> {
    config.validate()?;
    Ok(PacketFeedback::new(config.feedback_interval))
}
