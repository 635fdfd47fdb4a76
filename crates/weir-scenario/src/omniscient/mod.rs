//! The omniscient sender: the best sending rate with knowledge of the network as it was one round trip ago.
//!
//! A reference sender and no controller: reports, marks and losses do not change its target. The sender has the encoder, the
//! packetiser, a pacer at 2.5 times its target, the skip rule and the feedback traffic of any other sender. Each 100 ms its
//! target for all it sends is a·S̄ − Q/T within the flow's limits, and S̄·(R + D) may be in flight. S̄ is the mean of the flow's
//! max-min share, the reference of rates in suites, over the window W that ended one base round trip ago. Q are its own bits that
//! wait at the sender now and waited in queues one base round trip R ago. `docs/suites.md` explains its purpose.
//!
//! 1. **T is 1 s and more.** The statistical encoder answers a change of its target by more than a tenth with a frame of 13.5 kB. A
//!    sender that answers these bits with another target asks for the next such frame.
//! 2. **Where its highest rate limits its share**, the target is a·S′ up to that rate, less Q/T. S′ is the share that it would
//!    have if no call had a highest rate. With a·S̄, a part of the share that no other flow can use would be left over. Also, a
//!    cell's capacity is derived and not always available.
//! 3. **A window.** Where a capacity disappears within a round trip, only the data then in flight waits in the queue. Later
//!    frames wait at the sender, which skips frames that are too old. D includes the interval of reports.
//! 4. **A steady point.** Where a share changes by a tenth nearly every 100 ms, an encoder that follows makes a large frame of each
//!    change.
//!
//! Short transfers lower the share by the rate that they have taken on average so far, divided among the calls. Their demand is
//! random rather than planned, so that a short window W alone is no prediction.

mod controller;
mod network_view;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::TimeDelta;

pub use controller::Omniscient;
pub use network_view::Overview;

/// The name of the omniscient sender as a controller.
pub const NAME: &str = "omniscient";
/// The name of its second [`OperatingPoint`].
pub const CAUTIOUS: &str = "cautious";
/// The name of its third point.
pub const CAREFUL: &str = "careful";
/// The name of its fourth point.
pub const STEADY: &str = "steady";

/// The operating point of the omniscient sender: the share of the capacity it aims at, and its margins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OperatingPoint {
    /// a: the part of its share that is the target.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub(crate) share: f64,
    /// W: the window over which its share is averaged.
    pub(crate) window: TimeDelta,
    /// T: the time in which waiting bits are to be drained.
    pub(crate) drained_within: TimeDelta,
    /// D: the data in flight is limited to its share over a base round trip and this time; no limit unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) in_flight: Option<TimeDelta>,
}

impl Default for OperatingPoint {
    fn default() -> Self {
        let (window, drained_within) = (TimeDelta::from_millis(200), TimeDelta::from_secs(1));
        Self { share: 0.95, window, drained_within, in_flight: Some(TimeDelta::from_millis(200)) }
    }
}

impl OperatingPoint {
    /// The second point, with larger margins.
    pub(crate) fn cautious() -> Self {
        Self { share: 0.9, in_flight: Some(TimeDelta::from_millis(100)), ..Self::default() }
    }

    /// The third point, for short queues.
    pub(crate) fn careful() -> Self {
        Self { share: 0.6, ..Self::cautious() }
    }

    /// The fourth point, so slow that an encoder can follow.
    pub(crate) fn steady() -> Self {
        let two = TimeDelta::from_secs(2);
        Self { share: 0.9, window: two, drained_within: two, ..Self::default() }
    }

    /// The point, unless it is out of range.
    ///
    /// # Errors
    /// The error, as a sentence.
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
