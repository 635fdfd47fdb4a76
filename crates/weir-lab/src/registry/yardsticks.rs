//! What laws are measured against. Scenarios can name them as controllers; they are none, and no list of all has them.

mod omniscient;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{
    Controller, DataRate, Decision, Feedback, LimitingFactor, Pacing, PathEvent, RateLimits, Receiver,
    SendState, SendTime, Share, Target, TimeDelta,
};

use super::ControllerInfo;
use super::law::{Entry, Half, Law};
use omniscient::OmniscientSender;

pub(crate) use omniscient::omniscient_point;

/// Packets leave so many times faster than the rate, as those of most laws.
const PACING: f64 = 2.5;
/// How often the receiver tells of packets, which nobody heeds.
const REPORTS: TimeDelta = TimeDelta::from_millis(100);

/// In the order in which tables show them.
pub(super) static ENTRIES: LazyLock<Vec<Entry>> =
    LazyLock::new(|| vec![Entry::of::<Fixed>(), Entry::of::<OmniscientSender>()]);

/// What laws are measured against: names that a scenario can give as controllers, which are none and stand in no list of
/// all.
pub fn yardsticks() -> impl Iterator<Item = &'static ControllerInfo> {
    ENTRIES.iter().map(|entry| &entry.info)
}

/// Whether the law `name` is a yardstick. A variant is by the law that it is one of, which need not be in its name.
pub fn is_yardstick(name: &str) -> bool {
    yardsticks().any(|info| info.name == name)
}

struct Fixed;

/// There is nothing to choose.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoOptions {}

impl Law for Fixed {
    type Config = NoOptions;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "fixed",
            summary: "sends the start rate whatever happens, without congestion control",
            source: "a yardstick, no law",
            placement: "sender",
            feedback: "heeded by nobody",
            presets: Vec::new(),
        }
    }

    fn sender(_: NoOptions, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(FixedRate { rate: limits.start() }))
    }

    fn receiver(_: NoOptions, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(REPORTS)))
    }
}

/// Sends at one rate for ever.
#[derive(Clone, Copy, Debug)]
struct FixedRate {
    rate: DataRate,
}

impl Controller for FixedRate {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn target(&self) -> Target {
        Target::at(self.rate, Pacing::Factor(PACING), LimitingFactor::Maximum)
    }

    fn adopt(&mut self, _: SendTime, _: Share) -> DataRate {
        self.rate
    }
}
