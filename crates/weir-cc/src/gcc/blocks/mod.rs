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

pub mod aimd;
pub mod alr;
pub mod bursts;
pub mod detector;
pub mod frames;
pub mod kalman;
pub mod link_capacity;
pub mod loss;
pub mod loss_based_v1;
pub mod loss_based_v2;
pub mod loss_count;
pub mod noise;
pub mod probe_controller;
pub mod probe_estimator;
pub mod push_back;
pub mod rate_control;
pub mod rtt_backoff;
pub mod threshold;
pub mod throughput;
pub mod trendline;
pub mod two_state;
