//! A sender of one rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{
    AllocatedRate, Controller, DataRate, Decision, Feedback, LimitingFactor, Pacing, PathEvent, RateLimits,
    Receiver, SendState, SendTime, Target, TimeDelta,
};
use weir_registry::{ControllerInfo, ControllerKind, Half};

/// The pacing rate over the target rate, as for most controllers.
const PACING: f64 = 2.5;
/// The interval of the receiver's reports, which the sender ignores.
const REPORTS: TimeDelta = TimeDelta::from_millis(100);

pub(super) struct Fixed;

/// No options.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoOptions {}

impl ControllerKind for Fixed {
    type Config = NoOptions;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "fixed".into(),
            summary: "sends the start rate whatever happens, without congestion control".into(),
            source: "a reference sender, no controller".into(),
            placement: "sender".into(),
            feedback: "ignored".into(),
            ..ControllerInfo::default()
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

    fn apply_allocation(&mut self, _: SendTime, _: AllocatedRate) -> DataRate {
        self.rate
    }
}
