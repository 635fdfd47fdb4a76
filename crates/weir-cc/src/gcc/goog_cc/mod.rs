//! libwebrtc's send-side controller, goog_cc, as browsers run it today: `gcc`.
//!
//! Each feedback updates the parts in this order: acknowledged rate and probe results; bursts, trend of the delay and
//! detector; the delay-based rate; the loss controller. The target follows, which is the least of these rates, and then
//! probes. A tick every 25 ms applies the rules that depend on time alone. The receiver half is
//! [`PacketFeedback`](crate::packet_feedback::PacketFeedback) at an interval of 50 ms.
//!
//! Source: libwebrtc of June 2025 (`modules/congestion_controller/goog_cc`), and of December 2024 in its port, the crate
//! `goog_cc` 0.1.4. Variants: [`Config::libwebrtc_2025`], the default, and [`Config::libwebrtc_2024_12`].
//!
//! Differences from libwebrtc follow. Unless another call is named, figures are of the demo (useful rate and 95th
//! percentile of the frame delay; 481 kbit/s and 1302 ms with all of these) and of `quality/steady` (share used; 91 %).
//!
//! 1. Minimum, start and maximum are those of the embedder, also for the delay-based rate. libwebrtc bounds that rate at
//!    5 kbit/s from below, and not from above. As a start rate is given, libwebrtc's rule for a missing one is not needed.
//!    Within the bounds this has no effect.
//! 2. Rates count payload, as targets do. libwebrtc counts whole packets, or packets and their headers, depending on its
//!    configuration. Data in flight counts with its RTP header, 2 % more than the window of the target. Not measured.
//! 3. If no receiver report arrives within 5 s of the first feedback (`report_patience`), round-trip time and loss ratio
//!    are those of feedback. The loss ratio is also taken from feedback if later reports cover no packet for 5 s. libwebrtc
//!    did so until June 2025 in its mode for embedders without reports. Today its round-trip time then stays at 200 ms, and
//!    its loss controllers are never used. With receiver reports this has no effect. Before the second report there is
//!    no response to loss, as in libwebrtc. From 4 Mbit/s on a link of 1 Mbit/s with a queue of 60 ms, 29 % of the packets
//!    of 20 s are lost. Without reports it is 52 %, and 21 % with a patience of zero. With a patience of zero and with
//!    reports it is 18 %; but in the oracle's call with 20 % of random loss, 5.5 % of the link are used where goog_cc uses
//!    8.0 %. The round-trip back-off depends on feedback and the packets sent since, not on receiver reports, as in
//!    libwebrtc. A REMB only bounds the target; libwebrtc also takes it as the start rate.
//! 4. If a long round-trip time consists of missing feedback alone, the back-off halves the rate every second; libwebrtc
//!    reduces it by a fifth (`rtt_backoff.silence_factor`; with 0.8: 483 kbit/s and 1262 ms; `quality/steady` is the same).
//!    The wait begins with the first packet sent after the last feedback, not with that feedback. A source that had nothing
//!    to send for seconds is thus not mistaken for a silent receiver.
//! 5. Rates are not rounded to bit/s. They are in kbit/s where libwebrtc has it so: in the objective of the loss controller,
//!    the link capacity, and the rate that a source must fill. Arrivals count in whole milliseconds in any feedback format,
//!    in libwebrtc only in transport-wide feedback (`whole_arrivals`; without: 481 kbit/s, 1302 ms; 91 %).
//! 6. The first probes are requested when the streams are declared, as in libwebrtc before the first frame, which is
//!    then sent as the first probe. If an embedder declares no streams, they are requested with the first packet, one frame
//!    later, and ticks begin there. In the oracle's call that starts at four times the capacity, with the constants of June
//!    2025, the queue of the start stands to the end in most calls of either implementation. The relative phase of ticks
//!    and frames determines these calls.
//! 7. If a clock at either end is set back by more than a few seconds, the parts that compare times are reset.
//! 8. Reports are sent every 50 ms, not at 5 % of the rate every 50 to 250 ms (`feedback_interval`; with 100 ms: 485 kbit/s,
//!    1287 ms; 93 %).
//! 9. Reports on packets more than 5 s old are ignored; libwebrtc's limit is 60 s. Sixty seconds of packets in a lost report
//!    would be a megabyte at 5 Mbit/s. A queue of more than 5 s has the effect of missing feedback.
//! 10. The older loss controller and the round-trip back-off each have a time of their last reduction; in libwebrtc they
//!     share one. Not measured. The share of frames to leave out is updated with each packet and tick; in libwebrtc when
//!     target, loss or round-trip time change. With libwebrtc's updates and the factor of 4, the result on the oracle's LTE
//!     uplink is 532 kbit/s and 1315 ms, with goog_cc 536 and 1293, and as built 522 and 1322.
//! 11. The pacer does not send faster after packets have waited for long; libwebrtc's pacer sends them within 2 s. To leave
//!     out frames keeps the size of the others; libwebrtc lowers the encoder's rate by the same share, which is equivalent.
//! 12. Left out: separate detectors for audio; the stable target; the Bayesian rate estimator; sorting and capping of the
//!     trend; network state estimates; bytes outside of feedback. All of these are off, or have no counterpart, in a call
//!     with transport-wide feedback for every packet. Left out as well is the padding up to the next simulcast stream: a
//!     second stream that the target does not reach by growth and the first probes stays off.
//! 13. An allocation by coupling scales by one factor: target, delay-based estimate, loss model, hold, window of growth,
//!     push-back window, the rates of the last second and the estimate for probing. Times of growth and of the wait after a
//!     change continue.
//! 14. A change of route also clears the push-back window and its share of the rate, the longest rounds of the last
//!     feedbacks, and the application-limited region. libwebrtc keeps them. Not measured.
//! 15. If a flow has two streams, the counts of their reports are summed. A stream that is reported later than the other
//!     counts from its beginning; in libwebrtc each counts from its second report. Late and impossible reports are
//!     ignored; libwebrtc uses them. On one stream with reports in order this has no effect.
//! 16. libwebrtc's pacer collects packets for 5 ms, or for the time of three packets, and has a debt of at most 500 ms. If the
//!     rate rises so far that the packets sent would not have filled the burst, it continues at once, instead of when the
//!     debt is paid. Its encoder pauses while more than 2 s wait for the pacer; here the application decides that
//!     (`skip_above`). Not measured.
//! 17. A packet that arrives more than half a second after packets with higher numbers were reported is not reported;
//!     libwebrtc reports it, and reports packets that it has forgotten since as missing, although they were reported as
//!     arrived. In the measured calls this has no effect.

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
