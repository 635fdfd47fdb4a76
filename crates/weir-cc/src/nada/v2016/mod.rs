//! NADA as it was compared with GCC in 2016: `nada-2016`.
//!
//! Differences from RFC 8698 (the module above): the delay is filtered by a median of five and an exponential filter,
//! instead of a minimum of fifteen. The delay is always warped, by a fourth power. The loss penalty is proportional, 1 s at
//! a ratio of 1. The sender itself decides whether to ramp up, and a ramp-up may lower the rate.
//!
//! Source: Carlucci, De Cicco, Ilharco, Mascolo, *Congestion Control for Real-time Communications: a comparison
//! between NADA and GCC*, 2016 ("nada-vs-gcc-2016"), completed from the drafts on which it is based:
//! draft-zhu-rmcat-nada-06 of March 2015 ("zhu-06") and draft-ietf-rmcat-nada-01 of October 2015 ("ietf-01").
//!
//! Configurations: [`Config::nada_2016`] has the printed values, and [`Config::reproduction`] those that fit the paper's
//! tables. [`Config::framework`] has the arithmetic and the constants of the code in the WebRTC simulation framework, which
//! the paper names as its tool. Blocks: [`Nada2016Observer`] is the receiver, [`Nada2016`] the sender.
//!
//! Deliberate divergences, and readings of what the sources leave open:
//!
//! 1. Ramp-up is based on the received rate `R_r`, as in zhu-06 eq. (4). The paper's eq. (2) has the old rate `R_n`, and
//!    defines an `R_r` that it does not use.
//! 2. `K1 = κ·δ/τ²` and `K2 = κ·η/τ` follow from zhu-06 eqs. (5) to (7), with the values of ietf-01. The paper only calls
//!    them positive constants.
//! 3. `x_ref` is 20 ms as printed. The paper's tables agree with 10 ms (at equilibrium `R_n·x_n = R_max·x_ref`), which is
//!    also the value of the framework's code; [`Config::reproduction`] has it.
//! 4. The equilibrium is that of the paper's eq. (9). [`OffsetForm::Zhu06`] selects that of zhu-06, with rates counted from
//!    `R_min` on.
//! 5. The shaping buffer has a time of one frame, 1/30 s (ietf-01 eqs. (11), (12)). The paper prints `β·b_l` without a time.
//! 6. A delay above 400 ms, and one from 166 ms on without loss, gives `x_n` below 10 ms. By the literal rules the rate then
//!    ramps up although the queue is long. [`Config::ramp_guard`] also requires a filtered delay below 10 ms, as zhu-06 §5.1
//!    intends; it is off in the paper's configurations.
//! 7. The report is that of RFC 8698. The other fields of zhu-06 are not needed: `x'_n` follows from `x_n`, and the guard,
//!    which needs the filtered delay, is evaluated at the receiver and reported in the ramp-up bit.
//! 8. Late packets stay lost, and enter the filter in the order of arrival.
//! 9. For ten minutes of base delay, silence of the receiver, a clock that was set, the first report after a silence, δ of
//!    at most τ, missing reports and a change of route, divergences 6 to 10 of the [module above](super) hold.
//!
//! [`Config::framework`] differs from that code in two points. The framework's base delay starts at 10 s, here at the first
//! delay, because clocks may be hours apart. A change of route resets the least round-trip time.

mod config;
mod congestion;
mod observer;
mod rule;

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;

use crate::at_sender::{AtSender, join_signals};
use crate::config_error::ConfigError;
use crate::controller::{RateLimits, Signal};

pub use config::{Config, OffsetForm};
pub use observer::Nada2016Observer;
pub use rule::Nada2016;

/// Both its parts at the sender; the receiver half is [`PacketFeedback`](crate::packet_feedback::PacketFeedback).
///
/// # Errors
/// The first constant of `config` out of its range.
pub fn at_sender(
    config: Config,
    limits: RateLimits,
) -> Result<AtSender<Nada2016Observer, Nada2016>, ConfigError> {
    const SIGNALS: [Signal; 8] = join_signals(rule::Rule2016::SIGNALS, Nada2016Observer::SIGNALS);
    Ok(AtSender::new(Nada2016Observer::new(config)?, Nada2016::new(config, limits)?, &SIGNALS))
}
