//! The receiver-side form of GCC: gcc-2016, "the REMB form".
//!
//! The receiver runs the delay-based controller per video frame and sends its rate `A_r` in REMB messages. The
//! sender runs the loss-based controller on receiver reports and sends at `A = min(A_s, A_r)`.
//!
//! Source: Carlucci, De Cicco, Holmer, Mascolo, MMSys 2016 ("gcc-2016"); constants that it does not print come from
//! draft-ietf-rmcat-gcc-02 or libwebrtc and are marked in [`Config`].
//!
//! Deliberate divergences and readings of what the paper leaves open:
//!
//! 1. The gradient is multiplied by the number of samples, at most 60, before it is compared with γ: the paper's
//!    constants come from code that does so. Unscaled, no gradient of a real path ever passes γ ≥ 6 ms.
//! 2. The noise variance has a floor of 1 ms² (draft-ietf-rmcat-gcc-02).
//! 3. γ stays within 6 to 600 ms and ignores outliers (draft-ietf-rmcat-gcc-02); a gap counts at most 100 ms
//!    (libwebrtc).
//! 4. A decrease never raises `A_r` (eq. (3) read literally could, where the receive rate exceeds `A_r`).
//! 5. `A_s` grows on receiver reports only; a REMB recomputes the minimum. The paper names both as triggers, which
//!    doubles the growth; [`GrowOn`] selects.
//! 6. Fast start: until the first decrease `A` follows `A_r`. The paper is silent about the start. A decrease is
//!    known by a REMB of at most `α` times the one before, or by more than 10 % loss.
//! 7. Three seconds without feedback halve the rate, then each further second. The paper has no rule.
//! 8. REMB compares with the last value *sent*, as libwebrtc does.
//! 9. Two seconds without a packet restart grouping and the gradient estimate (libwebrtc), and so does a receiver's
//!    clock that was set back by more; γ, the noise variance and `A_r` are kept. REMBs end until a packet comes, so that
//!    the sender slows down where nothing arrives. The paper has no rule.
//! 10. A change of route begins both ends anew ([`Receiver::on_route_changed`](crate::Receiver::on_route_changed) at
//!     the receiver): `A_r` and `A` from the start rate, `A` from less if it was less, and with a fast start. The paper
//!     has no rule.
//! 11. The receiver does not hear coupling's word: a share above its ceiling raises that by a factor, and a ceiling that
//!     comes down to a lesser share is no decrease. A decrease by what was received before the word counts on its scale,
//!     and ends the factor.
//! 12. The rate that the encoder leaves of `A` stays free unless [`Config::padding`] fills it. By §3.5 padding or FEC might be added;
//!     by §6.1 the encoder's highest rate bounds the flow. There is no FEC.

mod config;
mod receiver;
mod sender;

#[cfg(test)]
mod closed_loop;

pub use super::blocks::rate_control::IncreasePer;
pub use config::{Config, GrowOn};
pub use receiver::GccReceiver;
pub use sender::GccSender;
