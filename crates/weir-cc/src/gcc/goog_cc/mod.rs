//! libwebrtc's send-side controller, goog_cc, as browsers run it today: `gcc`.
//!
//! Each feedback updates, in this order: acknowledged rate and probe results; bursts, trend of the delay and
//! detector; the delay-based rate; the loss controller. Then follow the target, which is the least of them, and
//! probes. A tick each 25 ms applies the rules that depend on time alone. The receiver half is
//! [`PacketFeedback`](crate::packet_feedback::PacketFeedback) at an interval of 50 ms.
//!
//! Source: libwebrtc of June 2025 (`modules/congestion_controller/goog_cc`), and of December 2024 by its port, the crate
//! `goog_cc` 0.1.4. Variants: [`Config::libwebrtc_2025`], the default, and [`Config::libwebrtc_2024_12`].
//!
//! Where it differs from libwebrtc, by choice or by reading; what was measured is the demo (useful rate, 95th percentile of the
//! frame delay; 481 kbit/s, 1302 ms with all of these) and `quality/steady` (share used; 91 %) unless another call is named:
//!
//! 1. Minimum, start and maximum are those of the embedder, for the delay-based rate too; libwebrtc bounds that at 5 kbit/s from
//!    below and not from above. With a start rate given, its rule for a missing one falls away. Without effect within the bounds.
//! 2. Rates count payload, as targets do; libwebrtc counts whole packets, or those and their headers, by configuration. What is in
//!    flight counts with its RTP header, 2 % more than the window that the target makes. Not measured.
//! 3. Where an embedder hands on no receiver report for 5 s from the first feedback on (`report_patience`; zero where none
//!    will come), round-trip time and loss ratio are those of feedback (loss also where no report has told of a packet for
//!    5 s later on), as they were in libwebrtc's mode for such embedders until June 2025; libwebrtc stays at 200 ms and
//!    never uses its loss controllers. Without effect where receiver reports come. Until two of them have, nothing answers
//!    to loss, as in libwebrtc: from 4 Mbit/s on 1 Mbit/s with a queue of 60 ms 29 % of the packets of 20 s are lost,
//!    without reports 52 %, then with a patience of zero 21. With that also where reports come 18 %, but in the oracle's
//!    call with 20 % of random loss 5.5 % of the link are used where goog_cc uses 8.0. The round-trip back-off goes by
//!    feedback and the packets sent since, not by receiver reports: so it is in libwebrtc. A REMB bounds the target, and
//!    nothing more: libwebrtc also takes it for the rate to begin with.
//! 4. Silence: where a long round-trip time is made of waiting for feedback alone, the back-off halves the rate each second, where
//!    libwebrtc takes a fifth off (`rtt_backoff.silence_factor`; with 0.8: 483 kbit/s, 1262 ms; `quality/steady` the same). The wait
//!    begins with the first packet sent since the last feedback and not with that feedback: a source that had nothing to send
//!    for seconds is not taken for a silent receiver.
//! 5. Rates are not rounded to bit/s, but where libwebrtc counts in kbit/s: the objective of the loss controller, the link
//!    capacity, what a source has to fill. Arrivals count in whole milliseconds in any format of feedback, in libwebrtc where it
//!    is transport-wide (`whole_arrivals`; without: 481 kbit/s, 1302 ms; 91 %).
//! 6. The first probes are asked for when the streams are told, as in libwebrtc before the first frame, which leaves as the
//!    first probe; where an embedder tells none, with the first packet, one frame later, and ticks begin there. In the oracle's
//!    call that starts at four times the capacity, with the constants of June 2025, the queue of that start stands to the end
//!    in most calls of either; in which, ticks and frames decide by where they lie to each other.
//! 7. Clocks that are set back by more than a few seconds, at either end, begin anew what compares times.
//! 8. Reports come each 50 ms and not at 5 % of the rate, 50 to 250 ms (`feedback_interval`; with 100 ms: 485 kbit/s, 1287 ms;
//!    93 %).
//! 9. News of packets more than 5 s old is not heard, in libwebrtc up to 60 s: sixty seconds of packets of which a lost report
//!    told are a megabyte at 5 Mbit/s. A queue of more than 5 s looks like silence.
//! 10. The older loss controller and the round-trip back-off each know when they lowered the rate last; libwebrtc has one such time
//!     for both. Not measured. The share of frames to leave out is told with each packet and tick; libwebrtc's stack hears of it
//!     where target, loss or round-trip time changed (so, and with the factor of 4: 532 kbit/s and 1315 ms on the oracle's LTE
//!     uplink, goog_cc 536 and 1293; as it is 522 and 1322).
//! 11. The pacer does not drain faster what has waited for long; libwebrtc's sends within 2 s what waits. Frames are left out
//!     with frames of unchanged size between; libwebrtc lowers the encoder's rate by the same share, which comes to that.
//! 12. Left out: separate detectors for audio; the stable target; the Bayesian rate estimator; sorting and capping of the trend;
//!     network state estimates; bytes outside feedback. All are off, or have no counterpart, in a call that uses transport
//!     feedback for every packet. Also what an embedder of libwebrtc pads up to the next stream of a simulcast: a second stream
//!     that the target does not reach by growth and the first probes stays off.
//! 13. Coupling's word scales target, delay-based estimate, loss model, hold, window of growth, window of push-back, the rates of the
//!     last second and what probing goes by, each by the same factor; the times of growth and of the wait after a change run on.
//! 14. A change of route forgets the window of push-back and what it leaves of the rate, the longest rounds of the last
//!     feedbacks and the application-limited region too; libwebrtc keeps them. Not measured.
//! 15. Where a flow has two streams, what reports tell of both is summed, and of a stream that is first told of later than
//!     the other the report counts from its beginning; libwebrtc counts each from its second report. What comes late or
//!     cannot be is left out; libwebrtc takes it. Without effect on one stream whose reports are in order.
//! 16. The pacer: libwebrtc's gathers what may leave for 5 ms, or the time of three packets; owes the time of 500 ms at the
//!     most; and where the rate rises so far that what has left would not have filled the burst, goes on at once instead of
//!     when all is paid for. An encoder pauses there while more than 2 s wait for the pacer; here that is a matter of the
//!     application (`skip_above`). Not measured.
//! 17. A packet that comes more than half a second after what was told of those above it is told of no more; libwebrtc tells of it, and
//!     has what it has forgotten since missing, though it was told to have arrived. Without effect in the calls measured.

mod arrivals;
mod config;
mod delay;
mod reports;
mod sender;
mod target;

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use super::blocks::aimd::{Additive, AimdConfig, ReceiveRateBound};
pub use super::blocks::alr::AlrConfig;
pub use super::blocks::link_capacity::LinkCapacityConfig;
pub use super::blocks::loss_based_v1::LossV1Config;
pub use super::blocks::loss_based_v2::LossV2Config;
pub use super::blocks::probe_controller::{PeriodicProbes, ProbeControllerConfig, RecoveryConfig};
pub use super::blocks::probe_estimator::ProbeEstimatorConfig;
pub use super::blocks::push_back::PushBackConfig;
pub use super::blocks::rtt_backoff::RttBackoffConfig;
pub use super::blocks::throughput::ThroughputConfig;
pub use super::blocks::trendline::TrendlineConfig;
pub use config::Config;
pub use sender::GoogCc;
