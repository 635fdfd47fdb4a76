//! DCCC, delay-constrained congestion control: dccc-2017.
//!
//! The sender moves its rate `x` until the marginal utility `h/x` equals the price of the path. The price is that of
//! delay, `β·(e − T)/RTT` while the one-way delay `e` is above the threshold `T`, plus `g`, by how much more was sent
//! than received: while the queue moves that is the delay's gradient, while it is full it is the loss. The delay price
//! never exceeds `β`, so that a queue filled by others cannot push a flow below `h/β`.
//!
//! Source: D'Aronco, Toni, Mena, Zhu, Frossard, "Improved Utility-based Congestion Control for Delay-Constrained
//! Communication", 2017 ("dccc-2017"). Blocks: [`DcccObserver`] (appendix C-A, media packets to feedback, mounted with
//! [`AtReceiver`](crate::AtReceiver) or, over per-packet feedback, at the sender ([`at_sender()`])) and [`Dccc`]
//! (feedback to rate, eq. (25)); the equations stand apart from the state. Every constant is in [`Config`].
//!
//! Variants are the three ways to choose `T` (appendix B, [`DelayThreshold`]):
//!
//! * [`Config::default`]: `T` is the smallest delay observed plus a margin. It needs differences of delays only and
//!   works with clocks that are hours apart, as they usually are. A latecomer takes the queue it finds for propagation.
//! * [`Config::dccc_2017`]: a fixed `T`, as in the paper's simulations. It needs synchronised clocks.
//! * [`DelayThreshold::AtLeastMinimum`]: a fixed `T`, but never below the smallest delay observed. It needs
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
//!    it is unknown, and `k_r = η/T_s`. The first packet is reported at once, so that the sender learns the RTT.
//! 6. The smallest delay is that of the reported means over the whole session: a minimum over ten minutes would forget
//!    the path, whose queue never drains at equilibrium, and raise `T` again and again. It is learnt anew on another
//!    route, after [`Config::relearn_after`] without a report, and where the delay leaps by [`Config::clock_step`] or
//!    more, which is a clock that was set. A receiver's clock that runs fast by 20 ppm looks like 72 ms more delay
//!    after an hour.
//! 7. A gap of [`Config::silence_intervals`] intervals or more between arrivals is a pause of the source or an outage,
//!    not an interarrival time. For an outage the sender pays by the next rule.
//! 8. So many intervals without a report halve the rate, and so does each further interval. The clock runs from the
//!    first packet that is sent after a report. The paper has no rule.
//! 9. Smoothing (49) smoothes what was sent like what was received: both describe the same packets.
//! 10. The paper does not say at what rate a flow begins: it is the start rate of the
//!     [`RateLimits`](crate::RateLimits). A change of route lowers the rate to it.
//! 11. The RTT is that of the newest packet by the report's echo, where there is one, instead of the mean delay `e` plus
//!     the report's own way back: header extensions carry a departure modulo 64 s, so that with clocks that are apart
//!     the sum is off by a multiple of that.
//!
//! A consequence of the law's own rule: with no price the rate rises by `η·h`, 8 kbit/s, per round trip whatever the
//! rate is. There is no faster start.

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

pub use config::{Config, DelayThreshold, Interarrival};
pub use observer::DcccObserver;
pub use sender::{Dccc, PriceRule};

/// DCCC with both its parts at the sender, over per-packet feedback; the receiver half is
/// [`PacketFeedback`](crate::packet_feedback::PacketFeedback). It reports at least as often as the law's shortest
/// interval, [`Config::min_interval`], so that no interval is longer than `T_s` and none looks like a silence.
///
/// # Errors
/// The first constant of `config` out of its range.
pub fn at_sender(config: Config, limits: RateLimits) -> Result<AtSender<DcccObserver, Dccc>, ConfigError> {
    const SIGNALS: [Signal; 10] = join_signals(PriceRule::SIGNALS, DcccObserver::SIGNALS);
    Ok(AtSender::new(DcccObserver::new(config)?, Dccc::new(config, limits)?, &SIGNALS))
}
