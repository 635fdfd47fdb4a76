//! Coupled windows: ctrlTCP and its relatives.
//!
//! Source: draft-welzl-tcp-ccc-00 (2016), with draft-welzl-irtf-iccrg-tcp-in-udp-00 where it is clearer. The aims are
//! those of coupling-2018 §III.B.
//!
//! In [`CtrlTcp`] one flow at a time coordinates. The aggregate grows as the coordinator does, and each flow has the
//! share of the aggregate that its priority gives. All losses within a round trip, of any flows, are one loss event. A
//! flow's retransmission timer only retransmits while other flows are acknowledged. A flow takes its share with its own
//! next acknowledgement; a newcomer's share is released by acknowledgements of the others ([`Newcomer::Clocked`]).
//!
//! The coupler scales the windows that congestion controllers compute. It knows no constant of a controller: the
//! factors of NewReno (0.5) and CUBIC (0.7) both follow from their windows. A flow that is alone follows its own
//! controller exactly as without coupling, and the aggregate is its window.
//!
//! Where the draft contradicts itself, these rules hold:
//!
//! | | rule |
//! |---|---|
//! | P1 | The operators that the text version lost are `sum_cwnd + cwnd` and `P · sum_cwnd / sum_p`. |
//! | P2 | A join keeps the sum (prose). [`Newcomer::AddsWindow`] adds the newcomer's window (pseudo-code). |
//! | P3 | Shares are evaluated at each message of a flow. |
//! | P4 | The flow that detects a loss coordinates, unless a loss event is in progress. |
//! | P5 | In slow start the sum grows in the coordinator's proportion. |
//! | P6 | At a timeout of all flows, `sum_ssthresh` is computed before the sum collapses, and is at least two segments. |
//! | P7 | The next coordinator is a flow outside of loss recovery. |
//! | P8 | An acknowledgement outside of recovery clears `ssbits`. |
//! | P9 | The timeout of any flow sets `ssbits`. |
//! | P10 | A timeout of one flow is a loss event of all flows ([`Config::rto_counts_as_loss`]). |
//! | P11 | An idle, silent or application-limited coordinator hands over to another flow. |
//! | P12 | The reduction of a coordinator that leaves in recovery remains. |
//!
//! Deliberate divergences from the draft with these rules follow. Figures are for 2, 5 and 10 NewReno flows over 10 Mbit/s,
//! 100 ms and 83 packets of queue. All flows start within a second; figures are from 60 s on, means of ten seeds. As
//! built, loss is 0.41, 0.39, 0.35 % and goodput 9.43, 9.54, 9.51 Mbit/s. Uncoupled, it is 0.40, 0.69, 1.42 % and 9.52,
//! 9.50, 9.58 Mbit/s.
//!
//! 1. The sum stays at a join, and the ACK clock is on. With [`Newcomer::AddsWindow`] loss is 0.48, 0.64, 0.80 %. With
//!    [`Newcomer::Ramped`] goodput is 9.51, 9.50, 9.44 Mbit/s.
//! 2. The reduction of a loss event is determined at its beginning: the controller's threshold over its window, but at
//!    least one half. The window at the end of recovery depends on the number of losses, and on how full the window was.
//!    With that window these runs are the same within 0.01 points and 0.01 Mbit/s.
//! 3. An acknowledgement of another flow within a round trip of a flow's own last one does not make its timeout isolated.
//!    Its data may have been sent before the path failed for all flows. Without this rule these runs are the same.
//! 4. An isolated flow starts again with three segments, and reaches its share by its own acknowledgements. With its share
//!    at once, loss is the same within 0.01 points and goodput within 0.02 Mbit/s.
//! 5. The share of a removed flow is removed from the aggregate. In these runs no flow is removed.
//! 6. A newcomer's window allows one segment of its share; the ACK clock releases the others.
//! 7. A loss belongs to the last event until a smoothed round-trip time after its end, because the time at which lost data
//!    was sent is unknown. Without this time goodput is 9.34, 9.46, 9.36 Mbit/s.
//! 8. If all flows are application-limited, all keep their shares.
//! 9. In the form for a hypervisor ([`Tenants`]) the share that a tenant does not use is available to all other flows at
//!    once, not to its own flows first. Windows are those of the flows; no guest is limited from outside.
//! 10. In slow start the acknowledgements of every flow open the aggregate, as they would open one connection's window. If
//!     only those of the coordinator did, scaled by the aggregate over its window, the sum would jump to 440 segments
//!     where 150 fit. Loss is then 0.50, 0.44, 0.41 % and goodput 9.42, 9.41, 9.37 Mbit/s.
//! 11. The reduction of a loss event takes effect when the first flow leaves recovery, not when the flow that detected it
//!     does. Otherwise the others send their parts of the whole sum while retransmissions are in the queue. Loss is then
//!     0.50, 0.60, 0.53 %, goodput 9.42, 9.48, 9.38 Mbit/s, and there are two to four times as many timeouts.
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
mod flow;
mod group;
mod loss_event;
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
