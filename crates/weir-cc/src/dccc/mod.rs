//! DCCC, delay-constrained congestion control: dccc-2017.
//!
//! The sender moves its rate `x` until the marginal utility `h/x` equals the price of the path. The price is that
//! of delay, `β·(e − T)/RTT` while the one-way delay `e` is above the threshold `T`, plus `g`. `g` is the relative
//! excess of the sent over the received rate: the delay's gradient while the queue moves, the loss while it is
//! full. The delay price never exceeds `β`, so that a queue filled by others cannot push a flow below `h/β`.
//!
//! Source: D'Aronco, Toni, Mena, Zhu, Frossard, "Improved Utility-based Congestion Control for Delay-Constrained
//! Communication", 2017 ("dccc-2017"). Blocks: [`DcccObserver`] (appendix C-A, media packets to feedback, mounted with
//! [`AtReceiver`](crate::AtReceiver) or, over per-packet feedback, at the sender ([`at_sender()`])) and [`Dccc`]
//! (feedback to rate, eq. (25)); the equations stand apart from the state. Every constant is in [`Config`].
//!
//! Variants are the three methods of choosing `T` (appendix B, [`DelayThreshold`]):
//!
//! * [`Config::default`]: `T` is the smallest delay observed plus a margin. This needs differences of delays only
//!   and works with clocks that are hours apart, as they usually are. A latecomer mistakes the standing queue for
//!   propagation delay.
//! * [`Config::dccc_2017`]: a fixed `T`, as in the paper's simulations. This needs synchronised clocks.
//! * [`DelayThreshold::AtLeastMinimum`]: a fixed `T`, but never below the smallest delay observed. This needs
//!   synchronised clocks as well.
//!
//! Deliberate divergences and readings of what the paper leaves open:
//!
//! 1. Eq. (25) is printed without the sign between the delay price and the fraction, and without the projection of
//!    eq. (16). Both prices are subtracted, as in eq. (15), and below `T` delay is free
//!    ([`Config::clamp_delay_price`]).
//! 2. The delay price is at most `β`. With synchronised clocks it cannot be more; with clocks apart a fixed `T` would
//!    otherwise stop the flow.
//! 3. Packets differ in size: the report carries their mean size, and `x_recv` is in bit/s. Rates are rates of payload,
//!    as everywhere here; the paper's packets of equal size make no difference between bytes and packets.
//! 4. The mean interarrival time goes by time stamps, from the last packet of one window to the last of the next. The
//!    paper counts packets in a window, whose error is one packet ([`Interarrival`] selects).
//! 5. `T_s` is the RTT of the newest stamp within [`Config::min_interval`] and [`Config::max_interval`], 100 ms while
//!    it is unknown, and `k_r = η/T_s`. The first packet is reported at once, so that the sender learns the RTT. Below the
//!    50 ms that table I begins with a window holds few packets: the law multiplies by `1 − η·g`, and what jitter makes of
//!    `g`, by turns above and below zero, costs `η²·var(g)/2` a step, more than the utility gives. [`Config::dccc_2017`], whose
//!    packets are evenly spaced, begins at 10 ms.
//! 6. The smallest delay is that of the reported means of the last three minutes, and where the round-trip time has not
//!    come near its least for a minute ([`Config::drain_after`]) the sender halves what it sends for five round trips and
//!    does not rise by these reports: at equilibrium the queue never drains. A minimum of the whole session takes
//!    the skew of two clocks for a queue: a receiver's clock that is 50 ppm fast left 214 of 3000 kbit/s after an hour, one
//!    that is slow a queue of 250 ms; so it is all of the rate, and 52 and 59 ms beside 57 at none. It is learnt anew on
//!    another route, after [`Config::relearn_after`] without a report, and where the delay leaps by
//!    [`Config::clock_step`] or more, which is a clock that was set. It follows a fast clock, and believes a longer path, as
//!    [NADA's](crate::nada) base delay does (divergence 13 there); less than a third of the rate must arrive, because flows that join
//!    leave the queue as it was. A fixed threshold needs none of it.
//! 7. A delay that leaps by [`Config::silence_intervals`] intervals or more from one packet to the next is an outage, and
//!    the time before it no interarrival time; for it the sender pays by the next rule. Where the source pauses, or its
//!    packets are sparse, nothing departs either, and nothing is taken for congestion. By stamps ([`SendingRate::Stamped`])
//!    any such gap between arrivals is a pause: a flow whose packets are further apart than that never leaves its rate.
//! 8. So many intervals without a report halve the rate, and so does each further interval. The clock runs from the
//!    first packet that is sent after a report; where packets leave further apart than `T_s`, by so many of their gaps (not
//!    by stamps, whose source is ideal). The paper has no rule.
//! 9. Smoothing (49) smoothes what was sent like what was received: both describe the same packets.
//! 10. The paper does not say at what rate a flow begins: it is the start rate of the
//!     [`RateLimits`]. A change of route lowers the rate to it.
//! 11. The RTT is that of the newest packet by the report's echo, where there is one, instead of the mean delay `e` plus
//!     the report's own way back: header extensions carry a departure modulo 64 s, so that with clocks that are apart
//!     the sum is off by a multiple of that.
//! 12. The sending rate of a window goes by the departures and numbers of its packets, lost ones included
//!     ([`SendingRate`] selects). The paper's ideal source sends what the law allows, which it stamps on its packets; an
//!     encoder does not, and what it makes too little of looks like loss. On an empty link of 5 Mbit/s with a round trip of
//!     10 ms that, and short windows (5), left 169 of 1578 kbit/s with the encoder `statistical`; so it is 96 % of what
//!     the same source sends under a fixed target. As `g` is then no longer above zero while the source offers less, the
//!     rate grows to at most twice what was sent. By stamps there is no such bound.
//! 13. The encoder yields to what waits at the sender ([`Config::drain_time`]), but for one packet and what leaves before
//!     the next report: where packets leave at exactly the rate at which frames are made, a backlog would stay for ever. Four
//!     minutes after a fall from 5 to 0.5 Mbit/s frames took 399 ms in the median beside a queue of 109, and 220 beside
//!     135 this way. In the paper's configuration it does not: its source keeps no backlog.
//! 14. The paper says that the price is divided by the round-trip time for the sake of fairness and stability.
//!     [`Config::price_time`] takes one time for all paths in its place, to see what that is worth.
//!
//! A consequence of the paper's control law: with no price the rate rises by `η·h`, 8 kbit/s, per round trip
//! whatever the rate is. There is no slow start.

mod config;
mod law;
mod observer;
mod sender;

#[cfg(test)]
mod bottleneck;
#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod properties;

use crate::at_sender::{AtSender, join_signals};
use crate::config_error::ConfigError;
use crate::controller::{RateLimits, Signal};

pub use config::{Config, DelayThreshold, Interarrival, SendingRate};
pub use law::mismatch;
pub use observer::DcccObserver;
pub use sender::Dccc;

/// DCCC with both its parts at the sender, over per-packet feedback; the receiver half is
/// [`PacketFeedback`](crate::packet_feedback::PacketFeedback). Reports come at least as often as the controller's
/// shortest interval, [`Config::min_interval`]. So no interval is longer than `T_s`, and none looks like a feedback
/// timeout.
///
/// # Errors
/// The first constant of `config` out of its range.
pub fn at_sender(config: Config, limits: RateLimits) -> Result<AtSender<DcccObserver, Dccc>, ConfigError> {
    const SIGNALS: [Signal; 10] = join_signals(sender::PriceRule::SIGNALS, DcccObserver::SIGNALS);
    Ok(AtSender::new(DcccObserver::new(config)?, Dccc::new(config, limits)?, &SIGNALS))
}
