//! Replay of a call: the decisions that another controller would have made on the recorded feedback.
//!
//! The loop is open: the packets are those of the recording, whatever the controller decides. The controller sees their
//! departures, the feedback and the round trips at the recorded times. Its rate is comparable with the recorded one as long as
//! the two are close; behind a large difference it answers to packets that it would not have sent. A controller with a
//! congestion window depends on its own bytes in flight: its curve ends at its first difference of 20 %, and it gets no statistic.

mod compare;
mod departures;
mod feed;
mod page;
mod schedule;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;
use weir_cc::{DataRate, RateLimits, TimeDelta};
use weir_registry::{FeedbackSource, Options, Registry, RegistryError};
use weir_world::RecordedCall;

use crate::clock::{CallTooLong, require_one_day};

pub use compare::{Parting, RateAgreement, SETTLED_US};
pub use page::OPEN_LOOP;
pub use page::replay_page;

pub(crate) use compare::{rate_at, recorded_rate};
use feed::Feed;
use schedule::ReplaySchedule;

/// Options of a replay.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOptions {
    /// Bounds of the rate, and the rate to begin with.
    pub limits: RateLimits,
    /// Interval of the reports that are made where the recording has none; 50 ms by default.
    pub feedback_interval: Option<TimeDelta>,
}

/// Highest rate of a replay unless given.
const DEFAULT_MAXIMUM: DataRate = DataRate::from_mbps(10);
/// Lowest rate of a replay unless given.
const DEFAULT_MINIMUM: DataRate = DataRate::from_kbps(30);
/// Start rate of a call without any recorded rate.
const DEFAULT_START: DataRate = DataRate::from_kbps(300);

impl ReplayOptions {
    /// The recorded start rate, 30 kbit/s to 10 Mbit/s, or more where the recording is faster.
    ///
    /// # Errors
    /// `start` or `maximum` leaves no range.
    pub fn of(
        call: &RecordedCall,
        start: Option<DataRate>,
        maximum: Option<DataRate>,
    ) -> Result<Self, weir_cc::LimitsOutOfOrder> {
        let recorded = recorded_rate(call);
        let fastest = recorded.iter().map(|point| point.bps).max().map_or(DataRate::ZERO, DataRate::from_bps);
        let first = recorded.first().map_or(DEFAULT_START, |point| DataRate::from_bps(point.bps));
        let maximum = maximum.unwrap_or(DEFAULT_MAXIMUM.max(fastest.scale(2.0)));
        let start = start.unwrap_or(first.max(DEFAULT_MINIMUM));
        let limits = RateLimits::new(DEFAULT_MINIMUM.min(start), start, maximum)?;
        Ok(Self { limits, feedback_interval: None })
    }
}

/// A rate from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplayPoint {
    /// Time in µs from the begin of the call.
    pub time_us: i64,
    /// Rate in bit/s.
    pub bps: u64,
}

/// A signal that a decision rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SignalValue {
    /// Its name in the controller's paper.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// Its meaning, as a phrase.
    pub meaning: &'static str,
    /// Its value.
    pub value: f64,
    /// The value that it is compared with, if there is one.
    pub threshold: Option<f64>,
}

/// A decision of a replayed controller that changed its rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReplayDecision {
    /// Time in µs from the begin of the call.
    pub time_us: i64,
    /// Rate before, in bit/s.
    pub from_bps: u64,
    /// Rate from then on, in bit/s.
    pub bps: u64,
    /// Reason of the change.
    pub reason: &'static str,
    /// The signals that it rests on.
    pub signals: Vec<SignalValue>,
}

/// A controller's decisions on a recorded call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ControllerReplay {
    /// Name of the controller.
    pub controller: String,
    /// Its rate, at each change.
    pub rate: Vec<ReplayPoint>,
    /// Its decisions that changed the rate.
    pub decisions: Vec<ReplayDecision>,
    /// Time in µs from which its rate depends on packets that it would not have sent: for a controller with a window, the first
    /// difference of 20 % from the recorded rate.
    pub diverged_us: Option<i64>,
    /// Agreement with the recorded estimate; absent without one, and for a controller with a window.
    pub agreement: Option<RateAgreement>,
    /// Spans in which the rate differs from the recorded estimate, the longest first.
    pub partings: Vec<Parting>,
    /// Remarks for the reader of the result.
    pub remarks: Vec<String>,
}

/// Why a call cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording lacks packets with times.
    #[error("{0}")]
    Lacking(String),
    /// The recording spans more than a day.
    #[error(transparent)]
    TooLong(#[from] CallTooLong),
    /// The controller is unknown or its options are wrong.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Replays `call` under the controller `name`. A controller whose receiver half makes reports of its own is replaced by its sender-side
/// twin, or gets reports made from the arrivals.
///
/// # Errors
/// The recording lacks packets; the controller is unknown, or its options are wrong.
pub fn replay(
    call: &RecordedCall,
    registry: &Registry,
    (name, controller_options): (&str, Option<&Options>),
    options: &ReplayOptions,
) -> Result<ControllerReplay, ReplayError> {
    if let Some(obstacle) = call.replay_obstacle() {
        return Err(ReplayError::Lacking(obstacle.to_owned()));
    }
    require_one_day(call)?;
    let mut remarks = Vec::new();
    // A controller at the receiver without a twin gets reports of its own receiver half.
    let used = registry.by_packets(name).unwrap_or(name).to_owned();
    if used != name {
        remarks.push(format!(
            "{name} measures at the receiver; {used} is the same controller on per-packet feedback."
        ));
    }
    let controller = registry.build_sender(&used, controller_options, options.limits, 1.0)?;
    let own_receiver = registry.feedback_source(&used) != Some(FeedbackSource::Packets);
    let receiver = if own_receiver {
        remarks.push(
            "Its reports are made from the arrivals; each takes half of the shortest round trip.".to_owned(),
        );
        Some(registry.build_receiver(&used, controller_options, options.limits, 1.0)?)
    } else {
        None
    };
    if !own_receiver && !call.has_feedback() {
        let interval = options.feedback_interval.map_or(50.0, TimeDelta::millis_f64);
        remarks.push(format!(
            "The recording has no per-packet feedback: reports are made from the arrivals each {interval} ms."
        ));
    }
    let schedule = ReplaySchedule::of(call, options.feedback_interval, own_receiver);
    let Feed { points, decisions, .. } = Feed::new(call, &schedule, controller, receiver).run();
    let recorded = recorded_rate(call);
    let has_window = registry.has_window(&used);
    let diverged_us = has_window
        .then(|| {
            // Without a recorded rate no part of the curve is known to be close.
            let begin = recorded.is_empty().then_some(0);
            begin.or_else(|| compare::first_divergence(&recorded, &points, call.duration_us))
        })
        .flatten();
    let comparable = !has_window;
    let agreement = comparable.then(|| compare::agreement(&recorded, &points, call.duration_us)).flatten();
    if has_window {
        remarks.push(
            "It has no statistic, as its rate depends on its own bytes in flight, which are not those of the recording."
                .to_owned(),
        );
    } else if recorded.is_empty() {
        remarks.push("It has no statistic, as the recording has no rate.".to_owned());
    } else if agreement.is_none() {
        remarks.push("It has no statistic: that begins ten seconds after the begin of the call.".to_owned());
    }
    if diverged_us.is_some() {
        remarks.push(
            "From its first difference of 20 % on, its rate answers to packets that it would not have sent."
                .to_owned(),
        );
    }
    let partings =
        if comparable { compare::partings(call, &recorded, &points, &decisions) } else { Vec::new() };
    Ok(ControllerReplay {
        controller: used,
        rate: points,
        decisions,
        diverged_us,
        agreement,
        partings,
        remarks,
    })
}
