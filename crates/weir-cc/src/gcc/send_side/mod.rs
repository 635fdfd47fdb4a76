//! The sender-side form of GCC: the receiver sends per-packet feedback, and the sender runs the controllers.
//!
//! The receiver reports which packets arrived and when
//! ([`PacketFeedback`](crate::packet_feedback::PacketFeedback)). The sender groups them into bursts and estimates the
//! queuing delay gradient with a Kalman filter. The comparison of the gradient with an adaptive threshold controls the
//! rate `A_r`. A loss-based controller bounds it by `A_s`; the sender sends at `A = min(A_s, A_r)`.
//!
//! Source: Holmer, Lundin, Carlucci, De Cicco, Mascolo, "A Google Congestion Control Algorithm for Real-Time
//! Communication", draft-ietf-rmcat-gcc-02, 2016. Variants: [`Config::draft_02`], the draft;
//! [`Config::nada_vs_gcc_2016`], the GCC that Carlucci, De Cicco, Ilharco and Mascolo compared with NADA in 2016.
//! Constants that neither source prints come from the libwebrtc of that time, and are marked in [`Config`].
//!
//! Deliberate divergences, and readings of what the draft leaves open:
//!
//! 1. The gradient is multiplied by the number of samples, at most 60, before the comparison with the threshold, because
//!    the draft's constants come from code that does so. Without this factor no gradient of a real path exceeds 6 ms.
//! 2. Over-use requires more than `overuse_time_th` (in the draft: at least) and two samples. Half of the time before the
//!    first of them counts. A gap counts as at most 100 ms for the threshold. All of this is as in libwebrtc.
//! 3. `χ` is 0.01 for 300 samples, then 0.002; `K` is 60 and `var_v(0)` 50 ms² (libwebrtc). The draft gives a range for
//!    `χ` and no value for the others. A sample that left together with the previous one does not count for `f_max`, which
//!    would be infinite.
//! 4. A burst whose arrivals ran backwards gives no sample. If the time between arrivals exceeds that between departures
//!    by 3 s, the receiver's clock was set, and grouping restarts (libwebrtc). The draft has neither rule: by its filter such
//!    a jump is a gradient that lasts for half a minute, and each sample that does not lower it is over-use. A shorter jump
//!    still has this effect. Grouping also restarts at a packet that left 3 s before the burst, because the sender's clock
//!    was set back. Two seconds without feedback, by the sender's clock, restart grouping, filter, detector and the count
//!    of losses; threshold, rates and capacity are kept.
//! 5. The signal of a feedback is over-use if any of its samples was, else that of the last sample: the state machine runs
//!    once per feedback.
//! 6. While over-use lasts, the rate falls at most once per round-trip time, limited to 10 to 200 ms (libwebrtc). An
//!    unknown receive rate neither lowers nor bounds the rate, and a decrease never raises it.
//! 7. The loss ratio is that of RFC 3550 between the highest numbers of two reports, in 1/256, among reported packets.
//!    Packets of a lost report do not count as lost; the framework of [`Config::nada_vs_gcc_2016`] counts them. The first
//!    report initialises the ratio. [`LossForm::LibwebrtcV1`] counts the reported fates until there are 20. The rate is
//!    updated with each feedback, not every 25 ms.
//! 8. Three seconds without a reported arrival halve the rate, and so does each further second. The draft has no rule.
//! 9. The pacer is that of the endpoint. It sends at `A`, and does not collect packets for 5 ms first. It never exceeds
//!    `A`, so that packets that wait when `A` falls wait for long; [`Config::pacing`] may be a larger factor.
//! 10. A change of route resets the rate to the start rate, and all other state. The draft has no rule.

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
