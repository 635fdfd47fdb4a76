//! RAP, the rate adaptation protocol: additive increase and multiplicative decrease of the gap between packets.
//!
//! Each round trip without a loss the rate grows by one packet per round trip; a loss halves it. There is no window
//! and no slow start. RAP stands for the loss-based AIMD rate control of its time, and is one of the two
//! controllers in the first tests of coupled RTP flows.
//!
//! Source: Rejaie, Handley, Estrin, "RAP: An end-to-end rate-based congestion control mechanism for realtime streams in
//! the Internet", INFOCOM 1999, in the form of ns-2.35's RAP agent, whose constants these are. Blocks: the round-trip
//! time with the timeout and the fine-grained factor, and [`Rap`], the gap. The receiver half is
//! [`PacketFeedback`] ([`receiver`]). Every constant is in [`Config`].
//!
//! Deliberate divergences and readings:
//!
//! 1. The flow begins at the start rate, and the first step ends a round trip after the first acknowledgement. ns-2
//!    sends a packet each two seconds, then one per round trip, and its first step ends after two seconds whatever the
//!    round-trip time is: [`Config::ns2`]. Its first sample, shared by all agents of a simulation, is per flow here.
//! 2. Acknowledgements are reports each 10 ms on single packets, not one per packet with the last hole. In [`Config::ns2`] they are
//!    1 ms apart at least: a packet that comes so long after the one before has a report of its own. Each packet in
//!    them is a round-trip sample, less the time it waited where the format tells it (RFC 8888 does, transport-wide feedback does not). The timeout is longer by that interval.
//! 3. What a step has used is counted in bytes, not in packets: those of a video differ in size.
//! 4. A packet is found lost by the timer when its time comes, not at the next packet's, and that packet is not
//!    suppressed: packets leave when the pacer says. The timeout of ns-2 has no end; here it has, so
//!    that five seconds of silence halve the rate twice. It is 2.4 s, above the round trip of a queue of 2 s: ended at 2 s, ns-2's
//!    first timeout, as in [`Config::ns2`], it sets the rate in such a queue for ever (alone on 3 Mbit/s 2935 kbit/s at
//!    1319 ms instead of 2999 at 1091).
//! 5. The rate grows only if a report came since it last grew. In ns-2 a flow without acknowledgements keeps growing
//!    between timeouts and never falls below two packets per round trip.
//! 6. The encoder makes room for what waits in the pacer when a report comes, a frame just captured included: by the least over
//!    a frame 1264 instead of 1307 kbit/s are useful in `quality/steady`, and 2 kbit/s more are sent on short round trips. ns-2's
//!    source has always a packet.
//! 7. A mark by ECN is a loss. ns-2's RAP knows none. Behind CoDel on 2 Mbit/s, ECT(0) set, the median queue is 3 ms and
//!    nothing is lost; while marks did not reach it, 1336 ms and 7 %.
//! 8. A step ends within the present round-trip time, also if it was longer when the step began. In ns-2, and in
//!    [`Config::ns2`], its timer runs on.
//! 9. A change of route goes back to the start rate; what left before it tells nothing of the new route. ns-2 has no
//!    rule.

mod config;
mod round_trip;
mod sender;

#[cfg(test)]
mod closed_loop;

use crate::config_error::ConfigError;
use crate::packet_feedback::PacketFeedback;

pub use config::Config;
pub use sender::Rap;

/// The receiver half: the fate of each packet at the configured interval.
///
/// # Errors
/// The first constant of `config` out of its range.
pub fn receiver(config: &Config) -> Result<PacketFeedback, ConfigError> {
    config.validate()?;
    Ok(PacketFeedback::new(config.feedback_interval))
}
