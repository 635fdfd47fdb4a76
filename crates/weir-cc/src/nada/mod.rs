//! NADA, network-assisted dynamic adaptation: RFC 8698, and in modules of their own its earlier forms.
//!
//! | variant | as defined by | module |
//! |---|---|---|
//! | `nada` | RFC 8698, 2020 | this one |
//! | `nada-2016` | the comparison with GCC of 2016, on draft-zhu-rmcat-nada-06 and draft-ietf-rmcat-nada-01 | [`v2016`] |
//! | `nada-dccc` | the comparison with DCCC of 2017, on draft-zhu-rmcat-nada-03 | [`zhu_03`] |
//!
//! The variants share the log of the path, the frame of the sender (`sender.rs`) with its shaping buffer, and the
//! gradual update. A variant adds its observer and its rule.
//!
//! The receiver combines queuing delay, loss and ECN marks to one number in milliseconds, the aggregate congestion signal
//! `x_curr`, and reports it every 100 ms. The sender changes its reference rate `r_ref` until
//! `x_curr = PRIO·XREF·RMAX/r_ref`. While the path is empty it ramps up faster, based on the receive rate. A flow beside
//! loss-based flows has long queues *and* losses. Its long delays are warped to small values, so that it does not starve.
//!
//! Source: RFC 8698 (February 2020). Its receiver computations are at the receiver ([`NadaObserver`] mounted with
//! [`AtReceiver`](crate::AtReceiver)) or, with per-packet feedback, at the sender ([`at_sender()`]). Blocks:
//! [`NadaObserver`] (§4.2, §5.1) and [`Nada`] (§4.3, §5.2) react to each input; the equations are separate from the state.
//! `RMIN` and `RMAX` are the sender's [`RateLimits`]. Every constant is in [`Config`].
//!
//! Deliberate divergences, and readings of what the RFC leaves open:
//!
//! 1. `x_curr` is at most 500 ms, as in the authors' ns-3 model; [`CongestionBound`] selects the wire's 3276.7 ms or no
//!    bound. The RFC's loss term has no bound. 45 % of loss makes `x_curr` 20 s and the factor of the gradual update about
//!    −39, and the rate cycles between `RMIN` and `RMAX` as the term grows and decays. Below a fiftieth of `RMAX` the bound
//!    would let the rate rise at any loss. Therefore the equilibrium of `x_curr` is at most 300 ms
//!    ([`Config::equilibrium_bound`]), which is that of a loss of 5.5 %. With a maximum of 50 Mbit/s on 500 kbit/s and a
//!    queue of 300 ms, 385 kbit/s of payload arrive from 20 s on and 8.6 % are lost; without this rule 52 % are lost. Below a
//!    thirtieth of `RMAX` the rates of several flows no longer converge.
//! 2. The age of a loss is measured in loss intervals, averaged over the closed ones alone. RFC 5348 §5.4, to which the RFC
//!    refers, includes the open interval `I_0` in the average. As that average is never below `I_0/6`, the condition
//!    `I_0 ≥ 7·loss_int` could never hold, and one loss would warp the delay for ever. After a drop of the capacity that alone
//!    can keep the rate cycling. [`LossAverage`] selects the literal form, which the authors' C++ code has, too. On 16
//!    records of feedback to that code (`data/nada-rmcat`) the mean rate of the default is 0.82 to 1.08 of its rate, and
//!    below 0.98 in six of them. That of [`Config::ns3_rmcat`] is 0.94 to 1.08, and below 0.98 in two.
//! 3. Each gap in the numbers is one loss event, whatever its length (ns-3 model). The interval before the first loss
//!    counts as one. An interval counts the packets that arrived in it; RFC 5348 §5.3 counts numbers from the first lost one
//!    on. After the expiry the warped delay changes to the delay itself linearly over a further loss interval; §4.2
//!    recommends this without a formula.
//! 4. `p_loss` and `p_mark` are smoothed once per report (ns-3 model). §4.2 has the update per packet, with a time constant
//!    that depends on the rate.
//! 5. With fewer than five packets in `LOGWIN` a loss does not raise `p_loss` and a mark does not raise `p_mark`, but a window
//!    without them still lowers both. The ns-3 model keeps the old value, which would limit a flow with a low rate for ever.
//! 6. A receiver without packets for `LOGWIN` sends no report until packets arrive again. It clears the filter and the
//!    window, and keeps the base delay (divergence 13) and the loss intervals. The ns-3 model clears those, too; after a
//!    pause of half a second beside a standing queue, it would take the queue for propagation delay.
//! 7. A raw queuing delay of 10 s or more means that a clock was set, and the base delay is measured again.
//! 8. The interval between two reports counts at most `TAU` in the gradual update, and the first report after a silence or
//!    a change of route has `x_diff = 0`. The RFC has no limit, so that the offset term would grow with the silence.
//! 9. One second without a report halves the rate, and so does each further second in which a packet leaves. The RFC has no
//!    rule. The time counts from the first packet sent after a report, so that a source without data is not affected.
//! 10. A change of route lowers the rate to the start rate. An observer that is informed of it
//!     ([`Observer::on_route_changed`](crate::Observer::on_route_changed)) is reset. Otherwise it measures the base delay of a
//!     longer route once the minutes of the shorter one have expired, three minutes later. The RFC has no rule.
//! 11. `RMIN` is above 0. The RFC allows 0 if the encoder's range is unknown, and would then divide by zero in `x_offset`.
//! 12. The length of the shaping buffer is its least length since the previous report, because a frame just captured is
//!     about to leave. Reports every 100 ms meet every third frame of 30 per second in the same phase. Just after the
//!     capture, a whole frame would count each time: the encoder would get 5 % less, and at long round-trip times the ramp-up
//!     grows by hardly more than that. With 300 ms one-way delay the rate in the second minute would be 746 of 3000 kbit/s
//!     instead of 2845. [`ShapingBuffer`] selects.
//! 13. If the round-trip time has not been near its minimum for a minute ([`Config::drain_after`]), the sender halves its
//!     sending rate for five round trips, as SCReAM's implementation does. It holds `r_ref` until the reports on that time
//!     are over; the base delay is that of three minutes. The RFC requires a base delay over tens of minutes and has no rule
//!     for their end. NADA's queue never drains, so that after ten minutes it would be taken for propagation delay, with
//!     another queue on top. On 3 Mbit/s with a maximum of 5 Mbit/s the queue stays at 17 ms; without drains it grows to
//!     202 ms in two hours. With a receiver's clock that is 50 ppm fast or slow it is 10 and 19 ms after an hour; without
//!     drains the result is 1735 kbit/s and 220 ms.
//!
//!     Two more rules change the base delay if the queue is drained. If the least delays of four whole minutes rise from each
//!     minute to the next, the base delay rises as slowly as the slowest of these rises, at most 500 ppm. A clock that is
//!     200 ppm fast is then followed after four minutes. If the delay rises by 20 ms or more within two reports, and then
//!     stays within 4 ms for two seconds although a tenth less arrives, the path is longer or a clock was set. The base delay
//!     is then measured again, at most once in 30 s.
//!
//! [`Config::rfc_literal`] is the RFC's text without divergences 1, 2, 4, 5, 8, 12 and 13. [`Config::ns3_rmcat`] is the
//! authors' C++ code (cisco/ns3-rmcat, commit adb3f8e of 2020): without 2, 13 and the bound of the equilibrium in 1.
//!
//! Two consequences of the RFC's own rules: the ramp-up requires that every raw delay of the last 500 ms is below `QEPS`, so
//! that jitter above 10 ms practically disables it. The report does not divide `x_curr` into its terms, so that the sender
//! reports delay as the limiting factor of every gradual update, also with losses and marks.

mod config;
mod congestion;
mod log;
mod observer;
mod rate;
mod rule;
mod sender;
pub mod v2016;
mod window;
pub mod zhu_03;

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;

use crate::at_sender::{AtSender, join_signals};
use crate::config_error::ConfigError;
use crate::controller::{RateLimits, Signal};

pub use config::{Config, CongestionBound, LossAverage, NadaPacing, ShapingBuffer, SmoothedEach};
pub use observer::NadaObserver;
pub use rule::Nada;

/// NADA with both its parts at the sender (RFC 8698 §5.3, per-packet feedback); the receiver half is
/// [`PacketFeedback`](crate::packet_feedback::PacketFeedback).
///
/// # Errors
/// The first constant of `config` out of its range.
pub fn at_sender(config: Config, limits: RateLimits) -> Result<AtSender<NadaObserver, Nada>, ConfigError> {
    const SIGNALS: [Signal; 9] = join_signals(rule::Rfc8698::SIGNALS, NadaObserver::SIGNALS);
    Ok(AtSender::new(NadaObserver::new(config)?, Nada::new(config, limits)?, &SIGNALS))
}
