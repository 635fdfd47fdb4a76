//! NADA as DCCC was compared with it in 2017: `nada-dccc`.
//!
//! The first form of NADA. The receiver smooths the absolute one-way delay, a marked packet counting 200 ms more
//! and a lost one 1 s. The sender sets its rate in inverse proportion, `R = R_min + w·(R_max − R_min)·x_ref/x̂`,
//! with a prediction of the delay. No warping, no ramp-up mode, no loss ratio, no shaping buffer.
//!
//! Source: draft-zhu-rmcat-nada-03, March 2014 ("zhu-03"), with the constants that the DCCC paper of 2017 prints in its
//! Appendix C-B ("dccc-2017"). Blocks: [`Zhu03Observer`] is the receiver, [`NadaZhu03`] the sender.
//!
//! Synchronised clocks are presumed: the control law is a ratio of delays, and an unknown offset in both of them
//! changes it. With [`Reference::Assumed`] the propagation delay is a constant of the configuration instead, and
//! clocks may be off.
//!
//! Deliberate divergences and readings of what the sources leave open:
//!
//! 1. zhu-03 prints the indicator of a mark on the penalties of both marks and losses, an evident misprint.
//! 2. A lost packet has no delay: its sample is the delay of the newest packet before it, plus the penalty. All losses
//!    of a gap are taken in when the gap shows.
//! 3. `τ_0 = 0.1` of dccc-2017 is taken as seconds; zhu-03 has 200 ms.
//! 4. Reports come every 100 ms. Neither source says.
//! 5. `x_ref` is the least delay of the last ten minutes (zhu-03 §6.3: a long horizon), measured at the receiver and
//!    reported with `x_n`.
//! 6. Slow start (zhu-03 §6.5) takes 10 s from the first packet on; the draft prints no time. Zero switches it off.
//! 7. A report less than 1 ms after the one before counts as 1 ms after it, and the first report after a silence or a
//!    change of route predicts nothing.
//! 8. Silence of the receiver, a clock that was set, missing reports and a change of route: as divergences 6, 7, 9 and
//!    10 of the [module above](super).
//! 9. Packets leave equally spaced at the target rate, as the ideal generator of dccc-2017 sends them.

mod config;
mod observer;
mod rule;

#[cfg(test)]
mod closed_loop;

pub use config::{Config, Reference};
pub use observer::Zhu03Observer;
pub use rule::NadaZhu03;
