//! Observations and rewards: bounded values of the view of a sender. Logarithms are those of the crate `libm`, and divisions
//! those of IEEE 754: they have the same bits on every processor.

use weir_cc::{DataRate, RateLimits, TimeDelta};

use super::account::{StepAccount, StepView, bps, seconds_at};

/// Names of [`StepMeasures`], with their units.
pub(super) const MEASURES: [(&str, &str); 13] = [
    ("time", "s"),
    ("target", "bit/s"),
    ("sent", "bit/s"),
    ("received", "bit/s"),
    ("loss", "1"),
    ("delay", "s"),
    ("least_delay", "s"),
    ("gradient", "1"),
    ("rtt", "s"),
    ("marked", "1"),
    ("silence", "s"),
    ("queued", "s"),
    ("in_flight", "s"),
];

/// Values of a step in their units, in the order of [`MEASURES`].
pub(super) type StepMeasures = [f64; MEASURES.len()];

/// Names of the entries of an observation.
pub(super) const ENTRIES: [&str; 15] = [
    "target",
    "sent",
    "received",
    "received_long",
    "loss",
    "loss_long",
    "delay",
    "least_delay",
    "gradient",
    "rtt",
    "marked",
    "silence",
    "queued",
    "in_flight",
    "limited",
];

/// Entries in the order of [`ENTRIES`]: each from 0 to 1, the gradient from −1.
pub(super) type Observation = [f32; ENTRIES.len()];

/// The number of steps of the entries whose names end in `_long`.
const LONG: usize = 10;
/// The time that the entry 1/2 stands for.
const HALF: f64 = 0.1;

/// Weights of the default reward: rate − delay − loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct RewardWeights {
    /// Weight of the received rate, as its entry of the observation.
    pub(super) rate: f64,
    /// Weight of a second of delay.
    pub(super) delay: f64,
    /// Weight of the loss ratio.
    pub(super) loss: f64,
}

/// Scale of rates between two bounds, by logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateScale {
    limits: RateLimits,
    /// ln(max/min), above 0.
    width: f64,
}

impl RateScale {
    /// The scale of these limits, or `None` if the bounds are equal.
    pub(super) fn new(limits: RateLimits) -> Option<Self> {
        let width = libm::log(limits.max().bps_f64() / limits.min().bps_f64());
        (width > 0.0).then_some(Self { limits, width })
    }

    /// The rate of an action, which counts from −1 to 1: min · (max/min)^((action + 1) / 2).
    pub(super) fn rate(&self, action: f32) -> DataRate {
        let place = f64::midpoint(f64::from(action.clamp(-1.0, 1.0)), 1.0);
        self.limits.round(self.limits.min().bps_f64() * libm::exp(place * self.width))
    }

    /// ln(bps/min) / ln(max/min) from 0 to 1.
    fn place(&self, bps: f64) -> f64 {
        let ratio = bps / self.limits.min().bps_f64();
        if ratio <= 1.0 { 0.0 } else { (libm::log(ratio) / self.width).min(1.0) }
    }
}

/// A time from 0 to infinity as an entry from 0 to 1.
fn bounded(seconds: f64) -> f64 {
    let seconds = seconds.max(0.0);
    seconds / (seconds + HALF)
}

fn ratio(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { (f64::from(part) / f64::from(whole)).min(1.0) }
}

/// Packets that were lost, and those whose fate was reported first.
fn losses(account: &StepAccount) -> (u32, u32) {
    let lost = account.missing.saturating_sub(account.recovered);
    (lost, lost + account.packets)
}

/// The measures and the observation of the last step, and what lasts from one to the next.
#[derive(Clone, Debug)]
pub(super) struct StepObserver {
    scale: RateScale,
    interval: TimeDelta,
    /// The last steps, by number modulo [`LONG`].
    last: [StepAccount; LONG],
    steps: usize,
    pub(super) measures: StepMeasures,
    pub(super) observation: Observation,
}

impl StepObserver {
    pub(super) fn new(scale: RateScale, interval: TimeDelta) -> Self {
        let last = [StepAccount::default(); LONG];
        let (measures, mut observation) = ([0.0; MEASURES.len()], [0.0; ENTRIES.len()]);
        observation[0] = scale.place(scale.limits.start().bps_f64()) as f32;
        Self { scale, interval, last, steps: 0, measures, observation }
    }

    pub(super) const fn scale(&self) -> &RateScale {
        &self.scale
    }

    /// Takes the view at the end of a step at `rate`.
    pub(super) fn take(&mut self, rate: DataRate, view: &StepView) {
        let account = &view.account;
        let [_, _, _, _, _, last_delay, last_least, ..] = self.measures;
        self.last[self.steps % LONG] = *account;
        self.steps += 1;
        // Two arrivals close to each other say little about a rate.
        let least_span = self.interval / 2;
        let received =
            |bytes, span: TimeDelta| if bytes == 0 { 0.0 } else { bps(bytes, span.max(least_span)) };
        let delay = view.mean_delay().unwrap_or(last_delay);
        let gradient = if self.steps == 1 { 0.0 } else { (delay - last_delay) / self.interval.secs_f64() };
        let (lost, known) = losses(account);
        self.measures = [
            self.steps as f64 * self.interval.secs_f64(),
            rate.bps_f64(),
            bps(account.sent, self.interval),
            received(account.arrived, account.span),
            ratio(lost, known),
            delay,
            view.least_delay().unwrap_or(last_least),
            gradient,
            view.rtt.secs_f64(),
            ratio(account.marked, account.packets),
            view.silence.secs_f64(),
            seconds_at(view.state.queued.bytes(), rate),
            seconds_at(view.state.in_flight.bytes(), rate),
        ];
        let long = self.last.iter().fold((0, TimeDelta::ZERO, 0, 0), |(bytes, span, lost, known), step| {
            let (step_lost, step_known) = losses(step);
            (bytes + step.arrived, span + step.span, lost + step_lost, known + step_known)
        });
        let received_long = received(long.0, long.1);
        let [_, _, sent, received, loss, delay, least, gradient, rtt, marked, silence, queued, in_flight] =
            self.measures;
        let place = |bps| self.scale.place(bps);
        let entries = [
            place(rate.bps_f64()),
            place(sent),
            place(received),
            place(received_long),
            loss,
            ratio(long.2, long.3),
            bounded(delay),
            bounded(least),
            gradient.clamp(-1.0, 1.0),
            bounded(rtt),
            marked,
            bounded(silence),
            bounded(queued),
            bounded(in_flight),
            f64::from(u8::from(view.state.application_limited)),
        ];
        self.observation = entries.map(|entry| entry as f32);
    }

    /// The default reward of the last step.
    pub(super) fn reward(&self, weights: RewardWeights) -> f64 {
        let [_, _, _, received, loss, delay, ..] = self.measures;
        weights.rate * self.scale.place(received) - weights.delay * delay - weights.loss * loss
    }
}
