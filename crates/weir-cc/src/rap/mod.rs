//! RAP, the rate adaptation protocol: additive increase and multiplicative decrease of the gap between packets.
//!
//! Each round trip without a loss the rate grows by one packet per round trip; a loss halves it. There is no window
//! and no slow start. RAP stands for the loss-based AIMD rate control of its time, and is one of the two
//! controllers in the first tests of coupled RTP flows.
//!
//! Source: Rejaie, Handley, Estrin, "RAP: An end-to-end rate-based congestion control mechanism for realtime streams in
//! the Internet", INFOCOM 1999, in the form of ns-2.35's RAP agent with its constants. Every constant is in [`Config`].
//!
//! Blocks: the round-trip time with the timeout and the fine-grained factor, and [`Rap`], which sets the gap. The
//! receiver half is [`PacketFeedback`] ([`receiver`]).
//!
//! Deliberate divergences and readings:
//!
//! 1. The flow begins at the start rate, and the first step ends a round trip after the first acknowledgement. ns-2
//!    sends a packet every two seconds, then one per round trip. Its first step ends after two seconds, whatever the
//!    round-trip time is; [`Config::ns2`] does the same. ns-2 shares the first round-trip sample among all agents of a
//!    simulation; here it is per flow.
//! 2. Acknowledgements are reports on single packets every 10 ms. ns-2 acknowledges each packet, and names the last
//!    hole. In [`Config::ns2`] reports are at least 1 ms apart, so that a packet that follows later than that has a
//!    report of its own. Each packet of a report is a round-trip sample, less the time it waited at the receiver where
//!    the format carries it. RFC 8888 carries it, transport-wide feedback does not. The timeout is longer by the
//!    interval of reports.
//! 3. The data sent in a step is counted in bytes, not in packets, because packets of video differ in size.
//! 4. The timer detects a loss when it is due, not when the next packet arrives. The sender does not suppress the
//!    packet that is due then, because the pacer decides when packets leave.
//! 5. The timeout has an upper bound, so that five seconds of silence halve the rate twice; ns-2 has no bound. The
//!    bound of 2.4 s exceeds the round trip over a queue of 2 s. With ns-2's first timeout of 2 s, as in
//!    [`Config::ns2`], the timeout determines the rate in such a queue for ever. Alone on 3 Mbit/s the flow then
//!    reaches 2935 kbit/s at 1319 ms instead of 2999 kbit/s at 1091 ms.
//! 6. The rate grows only if a report came since it last grew. In ns-2 a flow without acknowledgements keeps growing
//!    between timeouts and never falls below two packets per round trip.
//! 7. When a report comes, the encoder's rate is reduced for the data that waits in the pacer, a frame just captured
//!    included. With the least queue over a frame, 1264 instead of 1307 kbit/s are useful in `quality/steady`, and
//!    2 kbit/s more are sent on short round trips. In ns-2 the source always has a packet.
//! 8. An ECN mark counts as a loss; ns-2's RAP knows no marks. With ECT(0) behind CoDel on 2 Mbit/s, the median queue
//!    is 3 ms and nothing is lost. If marks do not reach the algorithm, it is 1336 ms and 7 % are lost.
//! 9. A step ends within the present round-trip time, also if that was longer when the step began. In ns-2, and in
//!    [`Config::ns2`], the timer of the step runs on.
//! 10. A change of route sets the start rate again. Packets that left before it say nothing about the new route. ns-2
//!     has no rule.

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
