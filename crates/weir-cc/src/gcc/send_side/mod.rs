//! The sender-side form of GCC: per-packet feedback, everything else at the sender.
//!
//! The receiver reports which packets arrived and when
//! ([`PacketFeedback`](crate::packet_feedback::PacketFeedback)). The sender groups them into bursts and estimates
//! the queuing delay gradient by a Kalman filter. The gradient is compared with an adaptive threshold, which
//! controls the rate `A_r`. A loss-based controller bounds it by `A_s`; the sender sends at `A = min(A_s, A_r)`.
//!
//! Source: Holmer, Lundin, Carlucci, De Cicco, Mascolo, "A Google Congestion Control Algorithm for Real-Time
//! Communication", draft-ietf-rmcat-gcc-02, 2016. Variants: [`Config::draft_02`], the draft;
//! [`Config::nada_vs_gcc_2016`], the GCC that Carlucci, De Cicco, Ilharco and Mascolo compared with NADA in 2016.
//! Constants that neither prints come from the libwebrtc of the time and are marked in [`Config`].
//!
//! Deliberate divergences and readings of what the draft leaves open:
//!
//! 1. The gradient is multiplied by the number of samples, at most 60, before it is compared with the threshold: the
//!    draft's constants come from code that does so. Unscaled, no gradient of a real path ever passes 6 ms.
//! 2. Over-use takes more than `overuse_time_th` (the draft: at least) and two samples; of the time before the first
//!    of them one half counts; a gap counts at most 100 ms for the threshold (all libwebrtc).
//! 3. `χ` is 0.01 for 300 samples, then 0.002, `K` is 60 and `var_v(0)` 50 ms² (libwebrtc); the draft gives a range,
//!    nothing and nothing. Samples that left together with the one before do not count for `f_max`: it would be
//!    infinite.
//! 4. A burst whose arrivals ran backwards makes no sample, and arrivals that leap by 3 s more than passed at the sender
//!    begin grouping anew (libwebrtc): the receiver's clock was set. The draft has neither, and by its filter such a
//!    leap is a gradient that takes half a minute to forget, while each sample that does not lower it is over-use. A
//!    shorter leap is one still. A packet that left 3 s before the burst begins grouping anew too: the sender's clock was
//!    set back. Two seconds without feedback, by the sender's clock, restart grouping, filter, detector and the count of
//!    losses; threshold, rates and capacity are kept.
//! 5. The signal of a feedback is over-use if any of its samples was, else that of the last one: the state machine runs
//!    once per feedback.
//! 6. While over-use lasts the rate falls at most once per round trip, that bounded by 10 and 200 ms (libwebrtc). It
//!    neither falls nor is bounded by a receive rate that is not known, and a decrease never raises it.
//! 7. The loss ratio is that of RFC 3550 between the highest numbers of two reports, in 1/256, of the packets of which
//!    reports told: what a lost report covered is not lost. The framework of [`Config::nada_vs_gcc_2016`] counts that
//!    too. The first report initialises the ratio. [`LossForm::LibwebrtcV1`] counts the fates that are told until there are 20, and the rate is updated
//!    with each feedback, not each 25 ms.
//! 8. Three seconds without feedback that tells of an arrival halve the rate, then each further second. The draft has
//!    no rule.
//! 9. The pacer is that of the endpoint: it drains at `A`, and does not collect packets for 5 ms first. Nothing lets it
//!    catch up, so that what waits in it when `A` falls waits long; [`Config::pacing`] may be a larger factor.
//! 10. A change of route goes back to the start rate and forgets all else. The draft has no rule.

mod config;
mod delay;
mod sender;

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use super::blocks::bursts::BurstSample;
pub use super::blocks::detector::BandwidthUsage;
pub use super::blocks::loss_count::LossDefinition;
pub use super::blocks::two_state::TwoStateKalman;
pub use config::{Config, ControlForm, DelayOf, FilterForm, LossForm, SampleGrouping, SendSidePacing};
pub use sender::SendSideGcc;
