//! Coupled windows: ctrlTCP and its relatives.
//!
//! Source: draft-welzl-tcp-ccc-00 (2016), with draft-welzl-irtf-iccrg-tcp-in-udp-00 where it is clearer; the aims of
//! coupling-2018 §III.B. [`CtrlTcp`] lets one flow at a time coordinate: its growth is the aggregate's, and every flow
//! has the share of the aggregate that its priority gives. All losses of a round trip, of any flows, are one loss
//! event. A flow's retransmission timer only retransmits while others are acknowledged. A flow takes its share with its
//! own next acknowledgement; a newcomer's share is released by the others' ([`Newcomer::Clocked`]). The window that a
//! congestion controller computed is scaled, and no constant of a controller is known here. The factors of NewReno
//! (0.5) and CUBIC (0.7) are both taken from it.
//!
//! A flow that is alone follows its own controller, and the aggregate is its window: bit by bit as without coupling.
//!
//! Where the draft contradicts itself:
//!
//! | | taken |
//! |---|---|
//! | P1 | the operators that the text version lost: `sum_cwnd + cwnd`, `P · sum_cwnd / sum_p` |
//! | P2 | a join keeps the sum (prose), [`Newcomer::AddsWindow`] adds the newcomer's window (pseudo-code) |
//! | P3 | shares are evaluated at each message of a flow |
//! | P4 | the flow that sees a loss coordinates, unless a loss event is in progress |
//! | P5 | in slow start the sum grows in the coordinator's proportion |
//! | P6 | after a timeout of all, `sum_ssthresh` is taken before the sum collapses, and is two segments at least |
//! | P7 | the next coordinator is not in trouble itself |
//! | P8 | `ssbits` is cleared by an acknowledgement outside of recovery |
//! | P9 | every flow's timeout sets it |
//! | P10 | a timeout of one flow is a loss event of all ([`Config::rto_counts_as_loss`]) |
//! | P11 | an idle, silent or application-limited coordinator hands over |
//! | P12 | a coordinator that leaves in recovery leaves its reduction |
//!
//! Deliberate divergences from the resolved algorithm. Figures are of NewReno over 10 Mbit/s, 100 ms, 83 packets, all starting
//! within a second, 60 s from the start on, means of ten seeds, of 2, 5 and 10 flows: what is built has 0.41, 0.39, 0.35 %
//! loss and 9.43, 9.54, 9.51 Mbit/s goodput (uncoupled 0.40, 0.69, 1.42 % and 9.52, 9.50, 9.58).
//! 1. The sum stays at a join, and the ACK clock is on. With [`Newcomer::AddsWindow`] 0.48, 0.64, 0.80 % are lost; with
//!    [`Newcomer::Ramped`] goodput is 9.51, 9.50, 9.44.
//! 2. What a loss event takes is said when it begins, by the law's threshold over its window, and never more than half: the
//!    window with which recovery ends depends on how many were lost, and on how full it was. By that window these
//!    runs are the same within 0.01 points and 0.01 Mbit/s.
//! 3. What arrives within a round trip after a flow's own last acknowledgement does not make its timeout an isolated one: it
//!    may have been sent before a path failed for all. Without it these runs are the same.
//! 4. An isolated flow begins again with three segments, and comes to its share by its own acknowledgements. At once with
//!    its share: the same within 0.01 points of loss and 0.02 Mbit/s.
//! 5. What a removed flow had goes with it. No flow of these runs is removed.
//! 6. Of a newcomer's share one segment leaves by its window, the others by the clock.
//! 7. A loss belongs to the last event until a smoothed round-trip time after it: nobody tells when what was lost was sent.
//!    Without that time goodput is 9.34, 9.46, 9.36.
//! 8. Where all flows are application-limited, all keep their shares.
//! 9. In a hypervisor's form ([`Tenants`]) what a tenant leaves goes to all others at once, not to its own flows first; the
//!    windows are the flows' own, and no guest is clamped from outside.
//! 10. In slow start everyone's acknowledgements open the aggregate, as they would one connection's window. By those of the
//!     coordinator, times the aggregate over its window, the sum comes in lumps to 440 segments where 150 have room: 0.50,
//!     0.44, 0.41 % are lost, and goodput is 9.42, 9.41, 9.37.
//! 11. A loss event's reduction takes effect when the first flow leaves recovery, not when the flow that saw it first does:
//!     otherwise the others go on with their parts of the whole sum while retransmissions are in the queue. Without it 0.50,
//!     0.60, 0.53 % are lost, goodput is 9.42, 9.48, 9.38, and there are two to four times as many timeouts.
//!
//! Delay-based controllers ([`CouplingMessage::Update`](super::CouplingMessage::Update) with a window) are coupled
//! alike, additive in both directions; with TCPs they lead ([`CoordinatorSelection`]). The least base delay of all is
//! not shared: no action carries it. The guard of `delay_leads` against background traffic that fills the queue is not
//! built.
//!
//! Built relatives: [`ETcp`], [`Efcm`], [`Rfc2140`]. The Congestion Manager (RFC 3124) is not built: it replaces the
//! connections' congestion control instead of coupling it.

mod clock;
mod config;
mod e_tcp;
mod efcm;
mod ensemble;
mod episode;
mod flow;
mod group;
mod rfc2140;
mod shares;
mod tenants;

pub use config::{Config, CoordinatorSelection, Newcomer};
pub use e_tcp::ETcp;
pub use efcm::Efcm;
pub use group::CtrlTcp;
pub use rfc2140::Rfc2140;
pub use tenants::Tenants;

#[cfg(test)]
mod tests;
