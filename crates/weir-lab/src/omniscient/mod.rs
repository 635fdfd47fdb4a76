//! The omniscient sender: what could be sent by one who knows the network as it was one round trip ago.
//!
//! A yardstick, not a law: it hears nothing of reports, marks and losses and has no window, but has the encoder, the
//! packetiser, a pacer at 2.5 times its target, the skip rule and the feedback traffic of any other sender. Each 100 ms its
//! target for all it sends is a·S̄ − (Q − S̄ · D)⁺ / 0.3 s within the flow's limits. S̄ is the mean, over the window W that
//! ended one base round trip ago, of the flow's max-min share, the yardstick of rates in suites; where the flow's own highest
//! rate limits its share, a of what it would have without stands for a·S̄, up to that rate. Q are its own bits that wait at
//! the sender now and waited in queues one base round trip ago; what its share carries in D may wait. `docs/suites.md` says what it is for.

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
/// The name of its third one, for capacities that change faster than an encoder follows.
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
    /// D: what its share carries in so long may wait. A statistical encoder answers an abrupt change of its target with a
    /// large frame, which goes by itself; who answers that with another target asks for the next one.
    pub(crate) spared: TimeDelta,
}

impl Default for Point {
    fn default() -> Self {
        Self { share: 0.95, window: TimeDelta::from_millis(200), spared: TimeDelta::from_millis(100) }
    }
}

impl Point {
    /// The second point, with more room.
    pub(crate) const fn cautious() -> Self {
        Self { share: 0.8, window: TimeDelta::from_millis(100), spared: TimeDelta::from_millis(100) }
    }

    /// The third point, whose target changes so little from one decision to the next that an encoder can follow.
    pub(crate) const fn steady() -> Self {
        Self { share: 0.8, window: TimeDelta::from_secs(1), spared: TimeDelta::from_secs(1) }
    }

    /// The same for an encoder that follows any change without a large frame: all that waits is too much.
    pub(crate) fn sparing_nothing(self) -> Self {
        Self { spared: TimeDelta::ZERO, ..self }
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
        if self.spared < TimeDelta::ZERO {
            return Err("`spared` must not be below 0".to_owned());
        }
        Ok(self)
    }
}
