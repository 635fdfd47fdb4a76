//! TFRC, TCP-friendly rate control: RFC 5348.
//!
//! The receiver measures the loss event rate `p`, the inverse of a weighted average of the packets between loss
//! events. Its reports carry `p` and the receive rate once per round trip. The sender sends at TCP's average rate
//! for that loss event rate and round-trip time. Before the first loss it doubles its rate each round trip.
//!
//! Source: RFC 5348 (September 2008); [`Config::ns2`] has the choices of ns-2.35 that affect the steady state.
//! Blocks: [`TfrcObserver`] (§5, §6) with its loss history, [`Tfrc`] (§4) with `X_recv_set`, the round-trip time
//! and the data-limited intervals; the throughput equation (§3.1) and its inverse stand apart (`equation.rs`).
//! Every constant is in [`Config`].
//!
//! Deliberate divergences and readings of what the RFC leaves open:
//!
//! 1. Until the first feedback the rate is the start rate, not one packet per second (§4.2). The first feedback sets
//!    it to `W_init/R` as the RFC says, whatever the start rate was.
//! 2. `s` is the average payload, exponentially weighted at each end. §4.1 has the mean over the last loss intervals,
//!    which only the receiver knows. Rates are rates of payload, as all targets are.
//! 3. The encoder's rate is `X_inst`, less what the pacer's backlog needs to leave within half a second. The RFC
//!    paces a source that has always a packet; frames come in all sizes.
//! 4. The nofeedback timer is at most 2 s (§4.3: four round trips or two packets, without a bound), and an expiry never
//!    raises the rate: `Update_Limits` could after coupling had lowered it.
//! 5. At an expiry with packets sent, oscillation prevention begins anew (§4.5 does not say what becomes of it in
//!    silence); what the last round trip took off the rate stays off.
//! 6. Whether the sender is limited by its data (§8.2.1) is the endpoint's word, and the echoed time stamp is taken
//!    as one round trip ago. A report with the same `p` and a new loss event equals one without.
//! 7. A packet that comes after it was declared lost stays lost; §5.1 lets the receiver recompute. Which numbers count is
//!    decided before, by RFC 3550 §A.1 ([`AtReceiver`](crate::AtReceiver)); a leap of more than 3000 is a new beginning.
//! 8. Round-trip samples count within 1 ms and 10 s, and at the receiver, where they are a timer, within 2 s.
//! 9. A change of route goes back to the start rate and to the first feedback's `W_init/R`. The loss history is the
//!    receiver's: it begins anew where the receiving end gets notice of the change, else it goes on, and slow start follows
//!    only if it is empty. The RFC has no rule.
//!
//! Coupling's allocation becomes `X` and scales `X_recv_set`. The equation's rate is a function of the receiver's
//! measurements, and forgets an allocation with the next report, as coupled-rtp-2014 has it. A factor on that rate
//! would keep the allocation, but flows coupled in this way lose more and carry less.
//!
//! [`Config::ns2`] is compared with ns-2.35's own figures (`data/ns2`). Some parts of ns-2 are not taken over. They
//! are slow start spread over the packets of a round trip, the round counter, loss times by the sender's clock, 300
//! bytes/s before the first report, and a receive rate in packets.

mod config;
mod data_limited;
mod equation;
mod losses;
mod receive_set;
mod receiver;
mod round_trip;
mod sender;
mod tick_estimate;

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;

pub use config::{Config, Increase, RetransmissionTimeout, TimeoutTerm};
pub use receiver::TfrcObserver;
pub use sender::Tfrc;
