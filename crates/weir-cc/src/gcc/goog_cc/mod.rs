//! libwebrtc's send-side controller, goog_cc, as browsers run it today: `gcc`.
//!
//! On each feedback: acknowledged rate and probe results; bursts, trend of the delay and detector; the delay-based rate;
//! the loss controller; the target, which is the least of them; probes. A tick each 25 ms does what time alone does.
//! The receiver half is [`PacketFeedback`](crate::packet_feedback::PacketFeedback) at an interval of 50 ms.
//!
//! Source: libwebrtc of June 2025 (`modules/congestion_controller/goog_cc`), and of December 2024 by its port, the crate
//! `goog_cc` 0.1.4. Variants: [`Config::libwebrtc_2025`], the default, and [`Config::libwebrtc_2024_12`].
//!
//! Deliberate divergences and readings:
//!
//! 1. Minimum, start and maximum are those of [`RateLimits`](crate::RateLimits), for the delay-based rate too; libwebrtc
//!    bounds that at 5 kbit/s from below and not from above. With a start rate given, its rule for a missing one falls
//!    away.
//! 2. Rates count payload, as targets do; libwebrtc counts whole packets, or those and their headers, by configuration.
//! 3. It runs as libwebrtc does where transport feedback is all there is: round-trip time and the older controller's loss
//!    ratio come from it, receiver reports are not used. A REMB bounds the target nevertheless, and nothing more:
//!    libwebrtc also takes it for the rate to begin with.
//! 4. Silence: where a long round-trip time is made of waiting for feedback alone, the back-off halves the rate each second,
//!    where libwebrtc takes a fifth off; [`RttBackoffConfig::silence_factor`](crate::gcc::blocks::rtt_backoff::RttBackoffConfig).
//!    The wait begins with the first packet sent since the last feedback and not with that feedback: a source that had
//!    nothing to send for seconds is not taken for a silent receiver.
//! 5. Times and rates are not rounded to milliseconds and bit/s.
//! 6. Over-use while the acknowledged rate is unknown halves the rate once per round-trip time, as libwebrtc's comment
//!    has it; its code does so with each feedback.
//! 7. Clocks that are set back by more than a few seconds, at either end, begin anew what compares times.
//! 8. Reports come each 50 ms and not at 5 % of the rate, 50 to 250 ms.
//! 9. Whether the newer loss controller decides in the first two seconds too (`UseInStartPhase`) was not to be had from
//!    a source of 2025; it is taken to be on, as the other values of the same launch are.
//! 10. Left out: the congestion window and its push-back; separate detectors for audio; the stable target; the Bayesian
//!     rate estimator; sorting and capping of the trend; network state estimates; bytes outside feedback. All but the
//!     window are off, or have no counterpart, in a call that uses transport feedback for every packet.
//! 11. Coupling's word scales target, delay-based estimate, loss model, hold, window of growth, the rates of the last second
//!     and what probing goes by, each by the same factor; the times of growth and of the wait after a change run on.

mod announced;
mod config;
mod delay;
mod round_trips;
mod sender;
mod target;

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use sender::GoogCc;
