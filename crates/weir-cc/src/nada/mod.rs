//! NADA, network-assisted dynamic adaptation: RFC 8698, and in modules of their own its earlier forms.
//!
//! | variant | as defined by | module |
//! |---|---|---|
//! | `nada` | RFC 8698, 2020 | this one |
//! | `nada-2016` | the comparison with GCC of 2016, on draft-zhu-rmcat-nada-06 and draft-ietf-rmcat-nada-01 | [`v2016`] |
//! | `nada-dccc` | the comparison with DCCC of 2017, on draft-zhu-rmcat-nada-03 | [`zhu_03`] |
//!
//! The variants share the log of the path, the shell of the sender (`sender.rs`) with its shaping buffer, and the
//! gradual update. A variant adds its observer and its rule.
//!
//! The receiver condenses queuing delay, loss and ECN marks into one number in milliseconds, the aggregate
//! congestion signal `x_curr`, and reports it every 100 ms. The sender moves its reference rate `r_ref` until
//! `x_curr = PRIO·XREF·RMAX/r_ref`; while the path is empty it ramps up faster, by the receive rate. A flow in
//! competition with loss-based ones sees long queues *and* losses. Its long delays are warped into small numbers,
//! so that it is not starved.
//!
//! Source: RFC 8698 (February 2020), with its receiver computations at the receiver ([`NadaObserver`] mounted with
//! [`AtReceiver`](crate::AtReceiver)) or, over per-packet feedback, at the sender ([`at_sender()`]). Blocks:
//! [`NadaObserver`] (§4.2, §5.1) and [`Nada`] (§4.3, §5.2), the reaction of both to each of their inputs; the equations
//! stand apart from the state. `RMIN` and `RMAX` are the sender's [`RateLimits`]. Every constant is in [`Config`].
//!
//! Deliberate divergences and readings of what the RFC leaves open:
//!
//! 1. `x_curr` is bounded at 500 ms, as in the authors' ns-3 model; [`CongestionBound`] selects the wire's 3276.7 ms
//!    or none. The RFC's loss term has no bound: 45 % of loss makes `x_curr` 20 s, the factor of the gradual update
//!    falls to about −39, and the rate cycles between `RMIN` and `RMAX` as the term grows and decays. Below a fiftieth of
//!    `RMAX` that bound would let the rate rise whatever is lost, so the value at which it stands ends at 300 ms
//!    ([`Config::equilibrium_bound`]), which is that of a loss of 5.5 %. With a maximum of 50 Mbit/s on 500 kbit/s, a queue
//!    of 300 ms, from 20 s on 385 kbit/s of payload arrive and 8.6 % are lost, where it was 52 %. Below a thirtieth of
//!    `RMAX` nothing moves the rates of several flows towards each other any more.
//! 2. The age of a loss is measured in loss intervals averaged over the closed ones alone. RFC 5348 §5.4, to which
//!    the RFC refers, takes the open interval `I_0` into the average; as that average is never below `I_0/6`, the
//!    condition `I_0 ≥ 7·loss_int` can then never hold, and one loss warps the delay for ever. After a capacity
//!    drop that alone can keep the rate cycling. [`LossAverage`] selects the literal form, which the authors' C++ has, too.
//!    On 16 records of feedback to that code (`data/nada-rmcat`) the mean rate of the default is 0.82 to 1.08 of its
//!    own, and below 0.98 in six of them; that of [`Config::ns3_rmcat`] is 0.94 to 1.08, and below 0.98 in two.
//! 3. Each gap in the numbers is one loss event, whatever its length (ns-3 model); the interval before the first
//!    loss counts as one. An interval counts the packets that arrived in it; RFC 5348 §5.3 counts numbers, from the
//!    first lost one on. After the expiry the warped delay fades into the plain one over a further loss interval, in
//!    a straight line: §4.2 recommends it without a formula.
//! 4. `p_loss` and `p_mark` are smoothed once per report (ns-3 model). §4.2 lists the update per packet, which would
//!    make its time constant depend on the rate.
//! 5. With fewer than five packets in `LOGWIN` a loss does not raise `p_loss` and a mark does not raise `p_mark`, but
//!    a clean window still lowers them. The ns-3 model keeps the old value, which at a low rate would hold a flow
//!    down for ever.
//! 6. A receiver that got nothing for `LOGWIN` is silent until packets come again: it knows nothing new. It forgets
//!    the filter and the window, and keeps the base delay (divergence 13) and the loss intervals. The ns-3
//!    model forgets those too; then a pause of half a second beside a standing queue would take the queue for
//!    propagation.
//! 7. A raw queuing delay of 10 s or more is a clock that was set, not a queue: the base delay is learnt anew.
//! 8. A report's distance from the one before counts at most `TAU` in the gradual update, and the first report
//!    after a silence or a change of route has `x_diff = 0`. The RFC has no cap: the offset term would grow with
//!    the silence.
//! 9. One second without a report halves the rate, and so does each further second in which something leaves. The
//!    RFC has no rule. The clock runs from the first packet that is sent after a report: a source without data is not
//!    punished.
//! 10. A change of route lowers the rate to the start rate, and an observer that is told of it
//!     ([`Observer::on_route_changed`](crate::Observer::on_route_changed)) begins anew. One that is not told learns a
//!     longer route's base delay when the minutes of the shorter one have left, three minutes later. The RFC has no rule.
//! 11. `RMIN` is above 0. The RFC allows 0 where the encoder's range is unknown, and would then divide by zero in
//!     `x_offset`.
//! 12. The length of the shaping buffer is the least since the report before: a frame captured a moment ago is about to
//!     leave. Reports each 100 ms meet every third frame of 30 per second in the same phase for ever; where that is just
//!     after its capture a whole frame counts, the encoder gets 5 % less for ever, and at long round-trip times the ramp-up
//!     grows by hardly more than that: with 300 ms one way 746 of 3000 kbit/s in the second minute, and 2845 this way.
//!     [`ShapingBuffer`] selects.
//! 13. Where the round-trip time has not come near its least for a minute ([`Config::drain_after`]), the sender halves what
//!     it sends for five round trips, as SCReAM's implementation does, holds `r_ref` until the news of that is over, and the
//!     base delay is that of three minutes. The RFC asks for a base delay over tens of minutes and has no rule for its
//!     end: NADA's queue never drains, so that ten minutes later the queue is taken for propagation, and another one is
//!     built on top. On 3 Mbit/s with a maximum of 5 the queue climbed from 17 to 202 ms in two hours, and stays at 17;
//!     with a receiver's clock that is 50 ppm fast or slow it is 10 and 19 ms after an hour, where it was 1735 kbit/s and
//!     220 ms.
//!
//!     Two more things change the base delay where the queue is drained. If the least delays of four whole minutes rise from each to the
//!     next, the base delay rises as slowly as the slowest of these rises, by 500 ppm at most, so that a clock
//!     that is 200 ppm fast is followed after four minutes. And if the delay rises by
//!     20 ms or more within two reports, and then stays within 4 ms for two seconds although a tenth less arrives, the path is
//!     longer or the clock was set: the base delay is learnt anew, at most once in 30 s.
//!
//! [`Config::rfc_literal`] is the RFC's text without 1, 2, 4, 5, 8, 12 and 13. [`Config::ns3_rmcat`] is the authors' C++
//! (cisco/ns3-rmcat, commit adb3f8e of 2020): without 2, 13 and the bound at equilibrium of 1.
//!
//! A consequence of the RFC's own rule, not of this implementation: the ramp-up demands that every raw delay of the
//! last 500 ms is below `QEPS`. Jitter above 10 ms practically switches it off. Another one: the report does not
//! split `x_curr` into its terms. The sender therefore reports every gradual update as limited by delay, losses and
//! marks included.

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
