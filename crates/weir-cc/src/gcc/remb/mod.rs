//! The receiver-side form of GCC: gcc-2016, "the REMB form".
//!
//! The receiver runs the delay-based controller per video frame and sends its rate `A_r` in REMB messages. The sender
//! runs the loss-based controller on receiver reports and sends at `A = min(A_s, A_r)`.
//!
//! Source: Carlucci, De Cicco, Holmer, Mascolo, "Analysis and Design of the Google Congestion Control for Web Real-time
//! Communication (WebRTC)", MMSys 2016 ("gcc-2016"). Constants that it does not print come from draft-ietf-rmcat-gcc-02
//! or libwebrtc, and are marked in [`Config`].
//!
//! Deliberate divergences, and readings of what the paper leaves open:
//!
//! 1. The gradient is multiplied by the number of samples, at most 60, before the comparison with γ, because the paper's
//!    constants come from code that does so. Without this factor no gradient of a real path exceeds γ ≥ 6 ms.
//! 2. The noise variance is at least 1 ms² (draft-ietf-rmcat-gcc-02).
//! 3. γ stays within 6 to 600 ms and ignores outliers (draft-ietf-rmcat-gcc-02). A gap counts as at most 100 ms
//!    (libwebrtc).
//! 4. A decrease never raises `A_r`. Eq. (3) read literally could, if the receive rate exceeds `A_r`.
//! 5. `A_s` grows on receiver reports only, and a REMB recomputes the minimum. The paper names both as triggers, which
//!    doubles the growth; [`GrowOn`] selects.
//! 6. Fast start: until the first decrease `A` follows `A_r`. The paper does not describe the start. A decrease is
//!    detected by a REMB of at most `α` times the previous one, or by more than 10 % loss.
//! 7. Three seconds without feedback halve the rate, and so does each further second. The paper has no rule.
//! 8. `A_r` is compared with the REMB *sent* last, as in libwebrtc.
//! 9. Two seconds without a packet restart grouping and the gradient estimate (libwebrtc). So does a receiver's clock that
//!    was set back by more. γ, the noise variance and `A_r` are kept. REMBs stop until a packet arrives, so that the sender
//!    slows down if nothing arrives. The paper has no rule.
//! 10. A change of route resets both ends ([`Receiver::on_route_changed`](crate::Receiver::on_route_changed) at the
//!     receiver): `A_r` to the start rate, `A` to the start rate or to its lower value, and with a fast start. The paper has
//!     no rule.
//! 11. The receiver is not informed of allocations by coupling. A share above the receiver's ceiling raises that ceiling by
//!     a factor, and a ceiling that falls towards a lower share is no decrease. A decrease computed from data received
//!     before the allocation counts on the scale of that time, and ends the factor.
//! 12. The part of `A` that the encoder does not use stays free, unless [`Config::padding`] fills it. By §3.5 padding or FEC
//!     might be added; by §6.1 the encoder's highest rate bounds the flow. There is no FEC.

mod config;
mod receiver;
mod sender;

#[cfg(test)]
mod closed_loop;

pub use super::blocks::rate_control::IncreasePer;
pub use config::{Config, GrowOn};
pub use receiver::GccReceiver;
pub use sender::GccSender;
