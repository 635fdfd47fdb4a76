//! NADA as DCCC was compared with it in 2017: `nada-dccc`.
//!
//! This is the first form of NADA. The receiver smooths the absolute one-way delay, with a penalty of 200 ms for a marked
//! packet and 1 s for a lost one. The sender sets its rate in inverse proportion, `R = R_min + w·(R_max − R_min)·x_ref/x̂`,
//! with a prediction of the delay. There is no warping, ramp-up mode, loss ratio or shaping buffer.
//!
//! Source: draft-zhu-rmcat-nada-03, March 2014 ("zhu-03"), with the constants that the DCCC paper of 2017 prints in its
//! Appendix C-B ("dccc-2017"). Blocks: [`Zhu03Observer`] is the receiver, [`NadaZhu03`] the sender.
//!
//! The control law is a ratio of delays and requires synchronised clocks, because an unknown offset in both delays changes
//! it. With [`Reference::Assumed`] the propagation delay is a constant of the configuration instead, and clocks may differ.
//!
//! Deliberate divergences, and readings of what the sources leave open:
//!
//! 1. zhu-03 prints the indicator of a mark on the penalties of both marks and losses, an evident misprint.
//! 2. A lost packet has no delay. Its sample is the delay of the newest packet before it, plus the penalty. All losses of a
//!    gap are counted when the gap is detected.
//! 3. `τ_0 = 0.1` of dccc-2017 is taken as seconds; zhu-03 has 200 ms.
//! 4. Reports are sent every 100 ms, for which neither source has a value.
//! 5. `x_ref` is the least delay of the last ten minutes (zhu-03 §6.3: a long horizon), measured at the receiver and
//!    reported with `x_n`.
//! 6. Slow start (zhu-03 §6.5) takes 10 s from the first packet on; the draft prints no time. Zero switches it off.
//! 7. A report less than 1 ms after the previous one counts as 1 ms after it. There is no prediction at the first report
//!    after a silence or a change of route.
//! 8. For silence of the receiver, a clock that was set, missing reports and a change of route, divergences 6, 7, 9 and 10
//!    of the [module above](super) hold.
//! 9. Packets leave equally spaced at the target rate, as from the ideal generator of dccc-2017.

mod config;
mod observer;
mod rule;

#[cfg(test)]
mod closed_loop;

pub use config::{Config, Reference};
pub use observer::Zhu03Observer;
pub use rule::NadaZhu03;
