//! The simplified GCC of dccc-2017: "gcc-dccc".
//!
//! The comparison that D'Aronco et al. made for DCCC. An ideal source replaces the encoder, so that the gradient of
//! the delay can be taken from one packet to the next without a filter. The threshold is fixed. The receiver sends
//! its rate in REMB messages; the sender sends at it, evenly spaced.
//!
//! Source: D'Aronco, Toni, Mena, Zhu, Frossard, "Improved Utility-based Congestion Control for Delay-Constrained
//! Communication", 2017 ("dccc-2017"), appendix C-B: `η = 1.2`, `α = 0.9`, `γ = 0.4 ms`, a REMB each second. For the
//! rest it refers to draft-alvestrand-rmcat-congestion-02 ("alv-02"). Blocks: [`SimplifiedGccReceiver`], which composes the
//! detector (`blocks/detector.rs`) and the rate controller (`blocks/rate_control.rs`) of GCC, and [`SimplifiedGccSender`].
//!
//! Readings of what the paper leaves open, and deliberate divergences:
//!
//! 1. `η` is a factor per second: per packet it would double the rate in four packets. The state machine moves with
//!    each packet and the rate grows in between ([`UpdateTimes::Continuous`]), or both happen once per REMB
//!    ([`UpdateTimes::Tick`]), by the newest packet.
//! 2. A REMB is sent at once when the rate has fallen by more than 3 %, as gcc-2016 has it; alv-02 asks for it without
//!    a figure. [`Config::remb_drop`] can switch it off.
//! 3. The state machine is that of alv-02: after over-use it holds the rate once the queue no longer grows. The paper's
//!    §V-D says that the rate falls until under-use; [`Config::strict_under`] does that.
//! 4. The receive rate is taken over 500 ms and bounds the rate at 1.5 times itself (alv-02).
//! 5. The paper's packets are of one size. A larger one takes longer to transmit, which looks like a growing queue: only
//!    packets whose sizes differ by 1 % or less are compared. A source whose packets all differ leaves the law blind.
//!    Packets that arrive out of order are ignored, except in the receive rate. Two seconds without a packet, or a clock
//!    set back by as much, make the next one a first one; after so long REMBs end until a packet comes, so that the
//!    sender slows down where nothing arrives.
//! 6. The loss-based controller is left out: the paper compares delays alone.
//! 7. Three seconds without a REMB halve the rate, then each further second. The paper has no rule.
//! 8. A change of route begins both ends anew, at the start rate or less. The paper has no rule.
//!
//! A consequence of the fixed threshold: packets of 1 kB on 4 Mbit/s are 2 ms apart, and 0.4 ms are then an
//! overload of a fifth. The faster the path, the larger an overload or underload must be to be detected.

mod config;
mod receiver;
mod sender;

#[cfg(test)]
mod closed_loop;

pub use super::blocks::rate_control::IncreasePer;
pub use config::{Config, UpdateTimes};
pub use receiver::SimplifiedGccReceiver;
pub use sender::SimplifiedGccSender;
