//! The omniscient sender: what could be sent by one who knows the network as it was one round trip ago.
//!
//! A yardstick and no controller: reports, marks and losses change nothing of its target. It has the encoder, the packetiser, a pacer at
//! 2.5 times its target, the skip rule and the feedback traffic of any other sender. Each 100 ms its target for all it sends is
//! a·S̄ − Q/T within the flow's limits, and S̄·(R + D) may be in flight. S̄ is the mean, over the window W that ended one base round
//! trip ago, of the flow's max-min share, the yardstick of rates in suites. Q are its own bits that wait at the sender now and waited
//! in queues one base round trip R ago. `docs/suites.md` says what it is for.
//!
//! 1. **T is 1 s and more.** The statistical encoder answers a change of its target by more than a tenth with a frame of 13.5 kB. A
//!    sender that answers these bits with another target asks for the next such frame.
//! 2. **Where its highest rate limits its share**, a of what it would have if no call had a highest rate stands for a·S̄, up
//!    to that rate, and Q/T is taken off that. A cell's capacity is derived and not always there; and a part of a share that nobody
//!    else can use would be left over.
//! 3. **A window.** Where a capacity goes within a round trip, what is in flight then is all that waits in the queue. Later frames
//!    wait at the sender, which skips what is too old. D has the interval of reports in it.
//! 4. **A steady point.** Where a share changes by a tenth nearly every 100 ms, an encoder that follows makes a large frame of each
//!    change.
//!
//! Short transfers leave what they have not taken on average so far, shared by the calls: their share is not a plan's but a
//! matter of chance, and over W alone it says nothing of what follows.

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
pub(crate) const CAREFUL: &str = "careful";
/// The name of its fourth one.
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
    /// D: in flight may be what its share carries in a base round trip and so long; any amount unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) in_flight: Option<TimeDelta>,
}

impl Default for Point {
    fn default() -> Self {
        let (window, drained_within) = (TimeDelta::from_millis(200), TimeDelta::from_secs(1));
        Self { share: 0.95, window, drained_within, in_flight: Some(TimeDelta::from_millis(200)) }
    }
}

impl Point {
    /// The second one, with more room.
    pub(crate) fn cautious() -> Self {
        Self { share: 0.9, in_flight: Some(TimeDelta::from_millis(100)), ..Self::default() }
    }

    /// The third one, for short queues.
    pub(crate) fn careful() -> Self {
        Self { share: 0.6, ..Self::cautious() }
    }

    /// The fourth one, so slow that an encoder can follow.
    pub(crate) fn steady() -> Self {
        let two = TimeDelta::from_secs(2);
        Self { share: 0.9, window: two, drained_within: two, ..Self::default() }
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
        if self.in_flight.is_some_and(|beyond| beyond < TimeDelta::ZERO) {
            return Err("`in_flight` must not be below 0".to_owned());
        }
        Ok(self)
    }
}
