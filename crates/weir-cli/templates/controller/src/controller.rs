//! The controller `mine`: the rate grows while packets arrive without delay and loss, and falls otherwise. Replace
//! its rule with yours; the rest makes it a controller of Weir.
//!
//! Each report covers packets that arrived or are missing, and a round-trip time. Once in a round-trip time the
//! rate is multiplied. The factor is `decrease` if the round-trip time is `threshold` above its least or more than
//! 2 % of the packets are missing. Otherwise it is the part of `growth` for the time since.

use weir_registry::schemars::JsonSchema;
use weir_registry::serde::{Deserialize, Serialize};
use weir_registry::weir_cc::packet_feedback::PacketFeedback;
use weir_registry::weir_cc::rate_controller::{
    Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates, WindowedMin,
};
use weir_registry::weir_cc::{
    ChangeReason, Controller, Feedback, LimitingFactor, Pacing, PacketFate, RateLimits, Receiver, SendState,
    SendTime, Signal, TimeDelta,
};
use weir_registry::{ControllerInfo, ControllerKind, Half};

/// Its constants: options of the same names in scenarios and behind `--controller`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, crate = "weir_registry::serde")]
#[schemars(crate = "weir_registry::schemars")]
pub struct Config {
    /// Factor of a decrease, in (0, 1).
    pub decrease: f64,
    /// Factor of the rate in a second without congestion, above 1.
    pub growth: f64,
    /// Excess of the round-trip time over its least from which on the path is congested. The excess includes the
    /// time for which the receiver held the packet before its report, up to 25 ms.
    pub threshold: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self { decrease: 0.85, growth: 1.15, threshold: TimeDelta::from_millis(60) }
    }
}

/// The least round-trip time is that of so many decisions: a path may change, and one wrong report must not spoil it for ever.
const ROUND_TRIPS: usize = 100;
/// Interval of the receiver's reports on packets.
const REPORTS: TimeDelta = TimeDelta::from_millis(25);

/// Entry of the controller in the registry.
#[derive(Debug)]
pub struct Mine;

impl ControllerKind for Mine {
    type Config = Config;

    fn info() -> ControllerInfo {
        ControllerInfo {
            name: "mine".into(),
            summary: "grows without delay and loss, falls with them".into(),
            source: "a controller of one's own".into(),
            placement: "sender".into(),
            feedback: "per packet".into(),
            ..ControllerInfo::default()
        }
    }

    fn sender(config: Config, limits: RateLimits) -> Half<dyn Controller> {
        Ok(Box::new(sender(config, limits)?))
    }

    fn receiver(_: Config, _: RateLimits) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(REPORTS)))
    }
}

/// The sender half.
///
/// # Errors
/// A message if a constant is out of its range.
pub fn sender(config: Config, limits: RateLimits) -> Result<RateController<MineRule>, String> {
    if !(config.decrease > 0.0 && config.decrease < 1.0) {
        return Err("`decrease` must be in (0, 1)".to_owned());
    }
    if !(config.growth > 1.0 && config.growth <= 10.0) {
        return Err("`growth` must be above 1, at most 10".to_owned());
    }
    if config.threshold <= TimeDelta::ZERO {
        return Err("`threshold` must be above 0s".to_owned());
    }
    // Without feedback for a second the rate falls.
    let frame = FlowContext::new(limits, Some(TimeDelta::from_secs(1)));
    let round_trips = WindowedMin::new(ROUND_TRIPS);
    Ok(RateController::new_by(MineRule { config, round_trips, decided: None, packets: 0, missing: 0 }, frame))
}

/// State of the path; the frame holds the rate itself.
#[derive(Debug)]
pub struct MineRule {
    config: Config,
    /// The last round-trip times, one for each decision.
    round_trips: WindowedMin<TimeDelta>,
    /// When the rate was computed last.
    decided: Option<SendTime>,
    /// Packets reported since then, and those of them that are missing.
    packets: u32,
    missing: u32,
}

/// Factor of the rate at which packets may leave the pacer.
const PACING: Pacing = Pacing::Factor(1.5);

impl Rule for MineRule {
    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        _: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Packets { results, rtt, .. } = *feedback else { return FeedbackOutcome::Ignored };
        // Feedback has arrived: the feedback timeout of `FlowContext::new` ends.
        frame.end_silence();
        let missing = results.iter().filter(|result| result.fate == PacketFate::Missing).count() as u32;
        self.missing = self.missing.saturating_add(missing);
        self.packets = self.packets.saturating_add(results.len() as u32);
        let Some(rtt) = rtt else { return FeedbackOutcome::NoUpdate };
        frame.set_rtt(Some(rtt));
        let Some(before) = self.decided else {
            self.decided = Some(now);
            return FeedbackOutcome::NoUpdate;
        };
        // An earlier time than the last one comes from a clock that was set back.
        if now >= before && now - before < rtt {
            return FeedbackOutcome::NoUpdate;
        }
        self.round_trips.push(rtt);
        let least = self.round_trips.min().unwrap_or(rtt);
        let elapsed = (now - before).secs_f64().clamp(0.0, 1.0);
        let lossy = f64::from(self.missing) > 0.02 * f64::from(self.packets);
        (self.decided, self.packets, self.missing) = (Some(now), 0, 0);
        let (factor, why, limited_by) = if lossy {
            (self.config.decrease, ChangeReason::Loss, Some(LimitingFactor::Loss))
        } else if rtt - least > self.config.threshold {
            (self.config.decrease, ChangeReason::Delay, Some(LimitingFactor::Delay))
        } else {
            (1.0 + (self.config.growth - 1.0) * elapsed, ChangeReason::Growth, None)
        };
        FeedbackOutcome::Rate(Computed { rate: factor * frame.rate(), why, limited_by })
    }

    fn forget_path(&mut self, _: SendTime, _: &mut FlowContext) {
        self.round_trips.clear();
        (self.decided, self.packets, self.missing) = (None, 0, 0);
    }

    /// No rate or window of its own beside the frame's.
    fn scale(&mut self, _: SendTime, _: f64, _: &FlowContext) {}

    /// A rule that needs more on the wire than the encoder makes requests it here, by `padding`; `FlowContext::share`
    /// is the allocation of a coupler.
    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        SendRates::at(frame.data_rate(), PACING)
    }

    fn signals(&self) -> &'static [Signal] {
        &[Signal { name: "least_rtt", unit: "ms", meaning: "the least round-trip time" }]
    }

    fn read_signals(&self, _: &FlowContext, out: &mut [f64]) {
        out[0] = self.round_trips.min().map_or(f64::NAN, TimeDelta::millis_f64);
    }
}

#[cfg(test)]
mod tests {
    use weir_cc::testing::{TestedController, controller_tests, halves};

    use super::*;

    // Properties of every controller, a test for each; a property that this one cannot have by its design is named
    // in its line.
    controller_tests!(
        properties,
        TestedController::new("mine", |limits| {
            halves(sender(Config::default(), limits).unwrap(), PacketFeedback::new(REPORTS))
        })
        // A wrong round-trip time is forgotten after 100 more, and then the rate climbs to 50 times its value in 30 s.
        // A cut takes 15 % in a round trip, too little for a start far above the path.
        .recovering_within(500)
        .starting_at_most(10_000)
        .cutting_to(0.85)
    );
}
