//! The sender half whose rate comes from outside, at the begin of each step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{
    AllocatedRate, ChangeReason, Controller, DataRate, Decision, Feedback, LimitingFactor, Pacing, PathEvent,
    RateLimits, Receiver, ReportKind, SendState, SendTime, SentPacket, Target, TimeDelta,
};
use weir_registry::{ControllerFactory, ControllerInfo, Half, Options};

use super::account::{PathAccount, StepView};

/// The controller's name in results.
pub(super) const NAME: &str = "environment";
/// The pacing rate over the target rate, as for most controllers.
const PACING: f64 = 2.5;

/// The values that the environment and the sender half pass to each other.
#[derive(Debug, Default)]
pub(super) struct StepExchange {
    /// The rate of the next step; none before the first.
    pub(super) rate: Option<DataRate>,
    /// The view at the end of the last step.
    pub(super) view: Option<StepView>,
}

/// A [`StepExchange`] of two owners. No owner panics while it has the lock.
pub(super) type SharedExchange = Arc<Mutex<StepExchange>>;

pub(super) fn lock(exchange: &SharedExchange) -> MutexGuard<'_, StepExchange> {
    exchange.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maker of the sender half, and of a receiver half with per-packet reports.
pub(super) struct EnvironmentFactory {
    info: ControllerInfo,
    exchange: SharedExchange,
    /// Length of a step.
    interval: TimeDelta,
    /// Interval of reports.
    reports: TimeDelta,
}

impl EnvironmentFactory {
    pub(super) fn new(exchange: SharedExchange, interval: TimeDelta, reports: TimeDelta) -> Self {
        let info = ControllerInfo {
            name: NAME.into(),
            summary: "sends at the rate that the environment's caller sets for each step".into(),
            source: "weir.gym".into(),
            placement: "sender".into(),
            feedback: "per packet, at an interval".into(),
            ..ControllerInfo::default()
        };
        Self { info, exchange, interval, reports }
    }
}

impl ControllerFactory for EnvironmentFactory {
    fn info(&self) -> &ControllerInfo {
        &self.info
    }

    fn sender(&self, _: Option<&Options>, limits: RateLimits, _: f64) -> Half<dyn Controller> {
        Ok(Box::new(SteppedSender {
            exchange: Arc::clone(&self.exchange),
            interval: self.interval,
            rate: limits.start(),
            account: PathAccount::default(),
            begin: None,
            is_ending: false,
        }))
    }

    fn receiver(&self, _: Option<&Options>, _: RateLimits, _: f64) -> Half<dyn Receiver> {
        Ok(Box::new(PacketFeedback::new(self.reports)))
    }
}

/// Sends at the rate that the exchange has at the begin of a step, and leaves its view there at the end.
///
/// A step that begins at t ends at t + interval − 1 ns: the caller runs up to there, reads the view, and sets the next rate.
#[derive(Debug)]
struct SteppedSender {
    exchange: SharedExchange,
    interval: TimeDelta,
    rate: DataRate,
    account: PathAccount,
    /// Begin of the next step, or of the present one if that is about to end; `None` before the flow starts.
    begin: Option<SendTime>,
    is_ending: bool,
}

impl SteppedSender {
    /// Begins a step at the rate of the exchange.
    fn begin_step(&mut self) -> Decision {
        self.is_ending = true;
        let base = self.rate;
        self.rate = lock(&self.exchange).rate.unwrap_or(base);
        let why = if self.rate < base { ChangeReason::Ceiling } else { ChangeReason::Growth };
        Decision { rate: self.rate, base, why, rtt: None }
    }

    fn end_step(&mut self, now: SendTime, state: &SendState) {
        self.is_ending = false;
        self.begin = self.begin.map(|begin| begin + self.interval);
        lock(&self.exchange).view = Some(self.account.end_step(now, state));
    }
}

impl Controller for SteppedSender {
    fn on_sent(&mut self, packet: &SentPacket, _: &SendState) {
        self.account.on_sent(packet);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Packets
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        self.account.on_feedback(now, feedback);
        None
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        let mut decision = None;
        self.begin.get_or_insert(now);
        while self.next_timeout().is_some_and(|due| due <= now) {
            if self.is_ending {
                self.end_step(now, state);
            } else {
                decision = Decision::merged(decision, Some(self.begin_step()));
            }
        }
        decision
    }

    fn on_event(&mut self, _: SendTime, event: PathEvent) -> Option<Decision> {
        if event == PathEvent::RouteChanged {
            self.account.on_route_changed();
        }
        None
    }

    fn next_timeout(&self) -> Option<SendTime> {
        let end = |begin| begin + self.interval - TimeDelta::from_nanos(1);
        Some(match self.begin {
            None => SendTime::ZERO,
            Some(begin) if self.is_ending => end(begin),
            Some(begin) => begin,
        })
    }

    fn target(&self) -> Target {
        Target::at(self.rate, Pacing::Factor(PACING), LimitingFactor::Maximum)
    }

    /// A coupling cannot change the rate of the environment's caller.
    fn apply_allocation(&mut self, _: SendTime, _: AllocatedRate) -> DataRate {
        self.rate
    }
}
