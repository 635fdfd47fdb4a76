//! LEDBAT, low extra delay background transport: RFC 6817.
//!
//! The sender measures the one-way queuing delay of each packet and moves its window in proportion to the distance
//! from a target. An empty queue opens it by `GAIN` packets per round trip, a queue of twice the target closes it
//! by as much, and a loss halves it. Alone it keeps the queue at the target; beside a loss-based flow with a long
//! queue it gives way.
//!
//! Source: RFC 6817 (December 2012). [`Config::dccc_2017`] has the settings of the comparison in the DCCC paper.
//! Blocks: the queuing delay with its base history and current filter, the flight, and [`Ledbat`], the window. The
//! receiver half is [`PacketFeedback`] ([`receiver`]). Every constant is in
//! [`Config`].
//!
//! The window as a media controller: encoder and pacer get `cwnd/SRTT`, of which the payload's share counts.
//! [`Target::window`](crate::Target::window) bounds the bytes in flight at `cwnd`.
//!
//! Deliberate divergences and readings of what the RFC leaves open:
//!
//! 1. Until the first round-trip time the rate is the start rate, and the window then begins at what that rate has in
//!    flight, but not below `INIT_CWND`. There is no slow start, as §2.2 leaves open.
//! 2. The RFC sends as the window opens. Frames of a video would leave as bursts of a window: the pacer lets them go at
//!    1.25 times the rate (RFC 9002 §7.7), and the encoder makes room for what then waits.
//! 3. `flightsize` is the most that was sent within a round trip of the last two, and counts 1.1 times
//!    (`MAX_BYTES_IN_FLIGHT_HEAD_ROOM` of RFC 8298): between two frames little is in flight without the source being
//!    idle. Losing a report does not change it.
//! 4. A packet is lost when one sent three later has arrived; it is not sent again. A mark by ECN is a loss (§1.3): behind
//!    CoDel on 2 Mbit/s, ECT(0) set, the median queue is 5 ms; while marks did not reach it, 99 ms.
//! 5. A congestion timeout leaves one packet of window (§2.4.2) or half of what there was, the smaller one, so that
//!    each further timeout halves the rate; `CTO` ends at 4 s.
//! 6. Acknowledgements are reports each 10 ms, not one per packet; all their delay samples count, in order of number, of
//!    1/1024 s each (RFC 8888). §2.4.1 asks for one per round trip at least. A round-trip sample is the mean time in
//!    flight of the packets of a report, its wait included: so `cwnd/SRTT` is what the window lets through.
//! 7. A queuing delay of 10 s or more is a clock that was set: the base delay is learnt anew. Minutes of the base
//!    history count from the first packet, by the receiver's clock.
//! 8. The window is bounded by what the maximum rate has in flight, and one packet.
//! 9. A change of route goes back to the start rate and forgets delays and missing packets; what left before it tells
//!    nothing of the new route. The RFC has no rule.
//! 10. The rate for encoder and pacer is `cwnd/SRTT` less headers, by the share of payload in the packet sent last before
//!     the report: it changes with reports and timeouts only.
//! 11. However small the window is, it lets through what the pacer lets go at the least rate: with exactly that rate what
//!     once waited would wait for ever (beside CUBIC in a queue of 1 s, at a least rate of 150 kbit/s, frames 3.5 s late
//!     in the median instead of 0.9).
//!
//! A latecomer mistakes a standing queue for propagation delay and starves the flow that keeps it (RFC 6817 §4.4).
//! A flow alone forgets the empty path after the ten minutes of `BASE_HISTORY` and puts its target on top of its
//! own queue, again and again. The queue is 99 ms in the fifth minute on 3 Mbit/s, 1177 ms after two hours. Both
//! follow from the RFC's own rules.

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
