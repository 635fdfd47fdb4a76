//! NADA as it was compared with GCC in 2016: `nada-2016`.
//!
//! Differences from RFC 8698 (the module above): the delay goes through a median of five and an exponential filter
//! instead of a minimum of fifteen. The delay is always warped, by a fourth power. Loss costs in proportion, 1 s at
//! a ratio of 1. The sender decides by itself whether to ramp up, and a ramp-up may lower the rate.
//!
//! Source: Carlucci, De Cicco, Ilharco, Mascolo, *Congestion Control for Real-time Communications: a comparison
//! between NADA and GCC*, 2016 ("nada-vs-gcc-2016"), completed from the drafts it builds on:
//! draft-zhu-rmcat-nada-06 of March 2015 ("zhu-06") and draft-ietf-rmcat-nada-01 of October 2015 ("ietf-01").
//!
//! Configurations: [`Config::nada_2016`], the printed values; [`Config::reproduction`], the one that fits the
//! paper's tables; [`Config::framework`], the arithmetic and the constants of the code in the WebRTC simulation
//! framework, which the paper names as its tool. Blocks: [`Nada2016Observer`] is the receiver, [`Nada2016`] the
//! sender.
//!
//! Deliberate divergences and readings of what the sources leave open:
//!
//! 1. Ramp-up goes by the received rate `R_r`, as zhu-06 eq. (4) has it. The paper's eq. (2) prints the old rate `R_n`
//!    and defines an `R_r` that it then does not use.
//! 2. `K1 = κ·δ/τ²` and `K2 = κ·η/τ`: zhu-06 eqs. (5) to (7) solved for them, with the values of ietf-01. The paper only
//!    calls them positive constants.
//! 3. `x_ref` is 20 ms as printed. The paper's own tables look like 10 ms (at equilibrium `R_n·x_n = R_max·x_ref`), which
//!    is what the framework's code has; [`Config::reproduction`] takes that.
//! 4. The equilibrium is that of the paper's eq. (9); [`OffsetForm::Zhu06`] selects that of zhu-06, which counts rates
//!    from `R_min` on.
//! 5. The shaping buffer works over a frame of 1/30 s (ietf-01 eqs. (11), (12)). The paper prints `β·b_l` without a time.
//! 6. A delay above 400 ms, and one from 166 ms on without loss, gives `x_n` below 10 ms: the literal rules then ramp up
//!    against a long queue. [`Config::ramp_guard`] asks for a filtered delay below 10 ms as well, as zhu-06 §5.1 has it
//!    in mind; it is off in the paper's configurations.
//! 7. The report is RFC 8698's. What zhu-06 reports besides is not needed: `x'_n` follows from `x_n`, and what the
//!    filtered delay is for, the guard, is decided at the receiver and told in the bit of the ramp-up.
//! 8. Packets that come late stay lost, and enter the filter in the order of their arrival.
//! 9. Ten minutes of base delay, silence of the receiver, a clock that was set, the first report after a silence, δ of
//!    at most τ, missing reports and a change of route: as divergences 6 to 10 of the [module above](super).
//!
//! [`Config::framework`] differs from that code in two points. The framework's base delay starts at 10 s, here at
//! the first delay, because clocks may be hours apart. A change of route forgets the least round-trip time.

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
