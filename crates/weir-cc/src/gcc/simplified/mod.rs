//! The simplified GCC of dccc-2017: "gcc-dccc".
//!
//! D'Aronco et al. compared DCCC with it. An ideal source replaces the encoder, so that the gradient of the delay can be
//! measured from one packet to the next without a filter. The threshold is fixed. The receiver sends its rate in REMB
//! messages, and the sender sends evenly spaced packets at that rate.
//!
//! Source: D'Aronco, Toni, Mena, Zhu, Frossard, "Improved Utility-based Congestion Control for Delay-Constrained
//! Communication", 2017 ("dccc-2017"), appendix C-B: `η = 1.2`, `α = 0.9`, `γ = 0.4 ms`, a REMB every second. For all
//! else it refers to draft-alvestrand-rmcat-congestion-02 ("alv-02"). Blocks: [`SimplifiedGccReceiver`], which has the
//! detector (`blocks/detector.rs`) and the rate controller (`blocks/rate_control.rs`) of GCC, and [`SimplifiedGccSender`].
//!
//! Readings of what the paper leaves open, and deliberate divergences:
//!
//! 1. `η` is a factor per second; per packet it would double the rate in four packets. The state machine runs for each
//!    packet and the rate grows in between ([`UpdateTimes::Continuous`]), or both happen once per REMB
//!    ([`UpdateTimes::Tick`]), by the newest packet.
//! 2. A REMB is sent at once when the rate has fallen by more than 3 %, as in gcc-2016; alv-02 requires it without a
//!    figure. [`Config::remb_drop`] can switch it off.
//! 3. The state machine is that of alv-02: after over-use it holds the rate once the queue stops growing. By the paper's
//!    §V-D the rate falls until under-use; [`Config::strict_under`] does that.
//! 4. The receive rate is measured over 500 ms, and bounds the rate at 1.5 times its value (alv-02).
//! 5. The paper's packets are of one size. A larger packet takes longer to transmit, which looks like a growing queue. Only
//!    packets whose sizes differ by 1 % or less are compared, so that a source with packets of all sizes gives no gradient.
//!    Packets that arrive out of order are ignored, except in the receive rate. After two seconds without a packet, or if
//!    the clock was set back by as much, the next packet counts as the first. Without packets REMBs stop, so that the
//!    sender slows down if nothing arrives.
//! 6. The loss-based controller is left out, because the paper compares delays alone.
//! 7. Three seconds without a REMB halve the rate, and so does each further second. The paper has no rule.
//! 8. A change of route resets both ends to the start rate or less. The paper has no rule.
//!
//! A consequence of the fixed threshold: packets of 1 kB on 4 Mbit/s are 2 ms apart, so that 0.4 ms are an overload of a
//! fifth. The faster the path, the larger an overload or underload must be to be detected.

mod config;
mod receiver;
mod sender;

#[cfg(test)]
mod closed_loop;

pub use super::blocks::rate_control::IncreasePer;
pub use config::{Config, UpdateTimes};
pub use receiver::SimplifiedGccReceiver;
pub use sender::SimplifiedGccSender;
