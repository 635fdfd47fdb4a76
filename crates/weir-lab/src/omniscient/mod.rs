//! The omniscient sender: what could be sent by one who knows the network as it was one round trip ago.
//!
//! A yardstick, not a law: it hears nothing of reports, marks and losses and has no window, but has the encoder, the
//! packetiser, a pacer at 2.5 times its target, the skip rule and the feedback traffic of any other sender. Each 100 ms its
//! target for all it sends is a·S̄ − Q/T within the flow's limits. S̄ is the mean, over the window W that ended one base
//! round trip ago, of the flow's max-min share, the yardstick of rates in suites. Q are its own bits that wait at the sender
//! now and waited in queues one base round trip ago. `docs/suites.md` says what it is for.
//!
//! The simplest form has T = 300 ms, the flow's highest rate as the target wherever that limits its share, and the points
//! (a 0.95, W 200 ms) and (0.8, 100 ms). No law may give viewers more than 1.05 times as much at no more frame delay; beside
//! that form there are 65 pairs of a law and a case in which one does, of all laws and all cases of all suites with five seeds,
//! and none as it is. So each difference is there by experiment; with one of them undone:
//!
//! 1. **T is 1 s**, and 2 s at the steady point. With 300 ms there are 66 pairs of a law and a case: the statistical
//!    encoder answers a change of its target by more than a tenth with a frame of 13.5 kB, and who answers these bits with
//!    another target asks for the next one. In rfc8869's 3.1 off-on `gcc` then gives 1439 kbit/s, the omniscient sender 604.
//! 2. **Where its highest rate limits its share**, a of what it would have if no call had a highest rate stands for a·S̄, up
//!    to that rate, and Q/T is taken off that. With the highest rate itself there are 6 pairs, all in gaming's wifi upload
//!    (`tfrc` 39.4 Mbit/s beside 30.7): a cell's capacity is derived and not always there. With a·S̄ there are 12, as
//!    it then leaves what nobody else can use (in 3.2 N=12 `gcc` gives 17.1 Mbit/s beside 15.3).
//! 3. **A steady point**, (0.7, 2 s). Without it there are 13 pairs: in 2.2 up 1/2 the share changes by a tenth nearly every
//!    100 ms, and `nada` gives 286 kbit/s beside 150; in wifi upload `tfrc` 39.4 Mbit/s beside 31.6.
//! 4. **The cautious point is (0.9, 200 ms)**. With 0.85 there are 2 pairs, in 3.2 tcp (`gcc` 14.9 Mbit/s beside 13.3);
//!    without it where capacities are given one, in 6.3 (`scream-v2` 2.38 Mbit/s in 170 ms beside 1.98 in 181).
//!
//! The bold point, (0.95, 200 ms), is for capacities that are given. Without it no law is ahead, but in gaming's beside cubic
//! `gcc` gives 1.07 times as much in 0.1 ms more: who takes its fair share there is ahead of who takes 0.9 of it. Where a
//! capacity is a trace's or a cell's the cautious point does as well, and suites are to be quick.
//!
//! Short transfers leave what they have not taken on average so far, shared by the calls: their share is not a plan's but a
//! matter of chance, and over W alone it tells nothing of what follows (in 5.7 it gives 375 kbit/s at the cautious point
//! then, instead of 911).

mod controller;
mod sight;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::TimeDelta;

pub(crate) use controller::Omniscient;
pub(crate) use sight::Overview;

/// Its name where a controller is named.
pub(crate) const NAME: &str = "omniscient";
/// The name of its second [`Point`].
pub(crate) const CAUTIOUS: &str = "cautious";
/// The name of its third one.
pub(crate) const STEADY: &str = "steady";

/// How it aims: at most of its share, or with room for what it cannot foresee.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Point {
    /// a: the part of its share that it aims at.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub(crate) share: f64,
    /// W: over how long its share is averaged.
    pub(crate) window: TimeDelta,
    /// T: what waits is to be gone after so long.
    pub(crate) drained_within: TimeDelta,
}

impl Default for Point {
    fn default() -> Self {
        let (window, drained_within) = (TimeDelta::from_millis(200), TimeDelta::from_secs(1));
        Self { share: 0.95, window, drained_within }
    }
}

impl Point {
    /// The second one, with more room.
    pub(crate) fn cautious() -> Self {
        Self { share: 0.9, ..Self::default() }
    }

    /// The third one, with much room and so slow that an encoder can follow.
    pub(crate) const fn steady() -> Self {
        Self { share: 0.7, window: TimeDelta::from_secs(2), drained_within: TimeDelta::from_secs(2) }
    }

    /// The point, unless it is out of range.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn checked(self) -> Result<Self, String> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err("`share` must be in (0, 1]".to_owned());
        }
        if self.window <= TimeDelta::ZERO {
            return Err("`window` must be above 0".to_owned());
        }
        if self.drained_within <= TimeDelta::ZERO {
            return Err("`drained_within` must be above 0".to_owned());
        }
        Ok(self)
    }
}
