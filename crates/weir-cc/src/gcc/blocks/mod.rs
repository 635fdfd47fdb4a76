//! The parts that the variants of GCC compose:
//!
//! * [`bursts`]: packets to samples, one per burst (draft-ietf-rmcat-gcc-02 §5.1, §5.2);
//! * [`frames`]: arrivals to samples, one per video frame (gcc-2016 §3.3, eq. (4));
//! * [`kalman`]: the gradient estimate (gcc-2016 §4.1); [`two_state`]: the one that also estimates the capacity
//!   (nada-vs-gcc-2016 eq. (7)); [`noise`]: the noise variance of either;
//! * [`trendline`]: the slope of the delay (libwebrtc);
//! * [`threshold`]: the threshold γ, adaptive or static (gcc-2016 §4.2);
//! * [`detector`]: over-use, normal, under-use (gcc-2016 §3.3, fig. 3);
//! * [`rate_control`]: the remote rate controller (gcc-2016 §3.3, fig. 4, eq. (3));
//! * [`aimd`]: the rate controller at the sender (draft-ietf-rmcat-gcc-02 §5.5, libwebrtc);
//! * [`link_capacity`]: the capacity estimate at over-use (draft-ietf-rmcat-gcc-02 §5.5, libwebrtc);
//! * [`throughput`]: the acknowledged rate (libwebrtc);
//! * [`loss`]: the loss-based controller (gcc-2016 §3.2, eq. (5)); [`loss_based_v1`]: the same as libwebrtc has it;
//!   [`loss_count`]: the loss ratio by per-packet feedback;
//!   [`loss_based_v2`]: the one by maximum likelihood (libwebrtc);
//! * [`rtt_backoff`]: back-off where the round-trip time is far too long; [`push_back`]: fewer frames where too
//!   many bytes are in flight (libwebrtc);
//! * [`alr`], [`probe_controller`], [`probe_estimator`]: application-limited regions, times of probes, and their
//!   results (libwebrtc).

pub(super) mod aimd;
#[cfg(test)]
mod aiortc_kalman;
pub(super) mod alr;
pub(super) mod bursts;
pub(super) mod detector;
pub(super) mod frames;
pub(super) mod kalman;
pub(super) mod link_capacity;
pub(super) mod loss;
pub(super) mod loss_based_v1;
pub(super) mod loss_based_v2;
pub(super) mod loss_count;
pub(super) mod noise;
pub(super) mod probe_controller;
pub(super) mod probe_estimator;
pub(super) mod push_back;
pub(super) mod rate_control;
pub(super) mod rtt_backoff;
pub(super) mod threshold;
pub(super) mod throughput;
pub(super) mod trendline;
pub(super) mod two_state;
