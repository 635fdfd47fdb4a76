//! The sender: feedback → RTT, prices → rate.

use weir_units::{DataSize, TimeDelta};

use super::config::{Config, DelayThreshold};
use super::law::mismatch;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::packet::{SendState, SentPacket, Stamp};
use crate::parts::backlog::media_rate;
use crate::parts::base_delay::BaseDelay;
use crate::parts::drain::Drains;
use crate::parts::feedback_timeout::{self, FeedbackTimeout};
use crate::parts::path_step::PathSteps;
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{DcccReport, Feedback, NativeReport, ReportKind};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Time without a report that is a feedback timeout while the RTT is unknown.
const FIRST_SILENCE: TimeDelta = TimeDelta::from_secs(1);
const FIRST_CLOCK: FeedbackTimeout = FeedbackTimeout::with_step(FIRST_SILENCE, FIRST_SILENCE);
/// From this share of the marginal utility on, prices limit the rate.
const LIMITING_PRICE: f64 = 0.5;
/// Weight of the newest window in the part of `g` that exceeds the growth of the delay. Over some 16 windows the
/// jitter of single packets cancels out, and losses do not.
const LOST_WEIGHT: f64 = 1.0 / 16.0;
/// Receive rate, as a share of the earlier one, up to which an unchanged delay proves a longer path. Two joining flows
/// leave more and keep the queue.
const STEP_RATE_SHARE: f64 = 0.3;
/// Share of lost packets above which a rise of the delay counts as a queue, and not as a longer path.
const STEP_MAX_LOSS: f64 = 0.05;
/// Upper bound of the rate over the rate that was sent, while the source is application-limited.
const MOST_OVER_SENT: f64 = 2.0;

/// The sender half of DCCC.
pub type Dccc = RateController<PriceRule>;

/// dccc-2017 eq. (25): the frame's rate is `x`.
#[derive(Debug)]
pub struct PriceRule {
    config: Config,
    /// The smallest delay reported.
    minimum: BaseDelay,
    /// The delay of the last report, and when it was made.
    delay: Option<(ApparentDelay, ArrivalTime)>,
    /// Smoothed difference of `g` and the growth of the delay: the share that was lost.
    lost: Option<f64>,
    /// Sent and received rates, smoothed by eq. (49).
    smoothed: Option<PacketRates>,
    prices: Option<Prices>,
    /// Time of the last report's arrival.
    reported_at: Option<SendTime>,
    drains: Drains,
    /// Drains the queue and detects longer paths.
    steps: Option<PathSteps>,
    /// The payload of the last packet.
    packet: DataSize,
    spacing: Spacing,
}

/// The longest time between departures in the last second or two.
#[derive(Clone, Copy, Debug, Default)]
struct Spacing {
    last: Option<SendTime>,
    /// Longest time of the present second, and of the one before.
    longest: TimeDelta,
    before: TimeDelta,
    /// Beginning of the present second.
    turned: Option<SendTime>,
}

impl Spacing {
    const TURN: TimeDelta = TimeDelta::from_secs(1);

    fn on_sent(&mut self, at: SendTime) {
        let turned = *self.turned.get_or_insert(at);
        if !(TimeDelta::ZERO..Self::TURN).contains(&(at - turned)) {
            (self.before, self.longest, self.turned) = (self.longest, TimeDelta::ZERO, Some(at));
        }
        if let Some(last) = self.last.replace(at) {
            self.longest = self.longest.max((at - last).min(Self::TURN));
        }
    }

    fn get(&self) -> TimeDelta {
        self.longest.max(self.before)
    }
}

/// Rates of the same packets in bit/s.
#[derive(Clone, Copy, Debug)]
struct PacketRates {
    sent: f64,
    received: f64,
}

/// Inputs of the last update; `v` is the price of delay, `g` that of the mismatch of rates.
#[derive(Clone, Copy, Debug)]
struct Prices {
    /// `e − T`.
    excess: TimeDelta,
    v: f64,
    g: f64,
}

impl Dccc {
    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let rule = PriceRule {
            config,
            minimum: config.base_delay(),
            delay: None,
            lost: None,
            smoothed: None,
            prices: None,
            reported_at: None,
            drains: Drains::new(config.drains()),
            steps: config.drains().map(|_| PathSteps::new(STEP_RATE_SHARE)),
            packet: DataSize::ZERO,
            spacing: Spacing::default(),
        };
        Ok(Self::new_by(rule, FlowContext::with_silence(limits, Some(FIRST_CLOCK))))
    }
}

impl PriceRule {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "e - T", unit: "ms", meaning: "one-way delay above the threshold" },
        Signal { name: "v", unit: "", meaning: "price of delay" },
        Signal { name: "g", unit: "", meaning: "(x_sent - x_recv)/x_recv: gradient of the delay, or loss" },
        Signal { name: "h/x", unit: "", meaning: "marginal utility, the price at which the rate stands" },
        Signal { name: "RTT", unit: "ms", meaning: "one-way delays there and back" },
        Signal { name: "x", unit: "bit/s", meaning: "sending rate" },
    ];

    /// dccc-2017 appendix C-A, on feedback packet received. Returns `None` if the report carries no rates.
    fn on_report(
        &mut self,
        now: SendTime,
        report: &DcccReport,
        rtt: Option<TimeDelta>,
        limited: bool,
        frame: &mut FlowContext,
    ) -> Option<Computed> {
        let now = SendTime::from_nanos(self.config.stamped(now.nanos()));
        // RTT = e + e_b, e_b from the time of the report until now: the clocks' offset cancels. Eq. (9).
        let rtt = rtt.unwrap_or_else(|| report.delay - ApparentDelay::between(now, report.at));
        if rtt <= TimeDelta::ZERO {
            return None;
        }
        frame.set_rtt(Some(rtt));
        let interval = self.config.interval(rtt);
        let sparse = if self.config.source_is_ideal() { TimeDelta::ZERO } else { self.spacing.get() };
        if let Some(silence) = frame.silence() {
            silence.set_times(self.config.silence(interval.max(sparse)), interval);
        }
        let drained = self.drains.on_rtt(now, rtt);
        if self.reported_at.is_some_and(|reported_at| {
            !(TimeDelta::ZERO..self.config.relearn_after).contains(&(now - reported_at))
        }) {
            self.forget_delays();
        }
        self.reported_at = Some(now);
        let excess = self.excess(report);
        let before = self.delay.replace((report.delay, report.at));
        let received = report.receive_rate()?;
        let rates = self.smooth(report.sending_rate.bps_f64(), received);
        let v = self.config.delay_price(excess, rtt);
        let g = mismatch(rates.sent, rates.received);
        self.prices = Some(Prices { excess, v, g });
        let growth = before.map(|before| Growth::since(before, report, rtt));
        let is_loss = self.is_loss(v, g, growth, frame.rate());
        self.find_step(report, received, g - growth.unwrap_or_default().per_second);
        let why = match is_loss {
            false => ChangeReason::Delay,
            // The stamps carry the rate that the controller allowed, not the rate that was sent.
            true if limited && self.config.source_is_ideal() => ChangeReason::Application,
            true => ChangeReason::Loss,
        };
        let present = frame.rate();
        // The rate is not limited while the prices are far below the utility.
        let limits = v + g >= LIMITING_PRICE * self.config.marginal_utility(present);
        let limited_by = limits.then_some(if is_loss { LimitingFactor::Loss } else { LimitingFactor::Delay });
        let most = match drained {
            true => present,
            false if self.config.source_is_ideal() => f64::INFINITY,
            false => present.max(MOST_OVER_SENT * rates.sent),
        };
        Some(Computed { rate: self.config.step(present, v, g).min(most), why, limited_by })
    }

    /// Forgets the base delay where the path has become longer; `lost` is the share that was lost.
    fn find_step(&mut self, report: &DcccReport, received: f64, lost: f64) {
        if let Some(steps) = &mut self.steps {
            steps.on_delay(report.delay);
            if steps.on_report(report.at, received, lost > STEP_MAX_LOSS).is_some() {
                self.minimum.restart();
            }
        }
    }

    /// Whether `g` stands for losses: neither for a growing queue, which the delay would show as fast, nor for the
    /// jitter of a window.
    fn is_loss(&mut self, v: f64, g: f64, growth: Option<Growth>, rate: f64) -> bool {
        let growth = growth.unwrap_or_default();
        let lost = g - growth.per_second;
        let lost = self.lost.map_or(lost, |old| old + LOST_WEIGHT * (lost - old));
        self.lost = Some(lost);
        let significant = lost > LIMITING_PRICE * self.config.marginal_utility(rate);
        v < g && growth.per_rtt < g / 2.0 && significant
    }

    /// `e − T`. Appendix B.
    fn excess(&mut self, report: &DcccReport) -> TimeDelta {
        let delay = report.delay;
        if self.minimum.get().is_some_and(|minimum| delay - minimum >= self.config.clock_step) {
            self.minimum.restart();
        }
        let minimum = self.minimum.on_arrival(report.at, delay);
        match self.config.threshold {
            DelayThreshold::Fixed(t) => delay.assuming_synchronised_clocks() - t,
            DelayThreshold::AtLeastMinimum(t) => {
                (delay.assuming_synchronised_clocks() - t).min(delay - minimum)
            }
            DelayThreshold::AboveMinimum(margin) => delay - minimum - margin,
        }
    }

    fn smooth(&mut self, sent: f64, received: f64) -> PacketRates {
        let old = self.smoothed;
        let rates = PacketRates {
            sent: self.config.smoothed(old.map(|rates| rates.sent), sent),
            received: self.config.smoothed(old.map(|rates| rates.received), received),
        };
        self.smoothed = Some(rates);
        rates
    }

    /// The path is another one, or its queues may have drained since: estimates of its delay do not hold.
    fn forget_delays(&mut self) {
        self.minimum.restart();
        self.steps = self.config.drains().map(|_| PathSteps::new(STEP_RATE_SHARE));
        self.delay = None;
        self.lost = None;
        self.smoothed = None;
        self.prices = None;
    }
}

/// Growth of the delay since the report before.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    /// Over the round-trip time.
    per_rtt: f64,
    /// In seconds per second between the reports.
    per_second: f64,
}

impl Growth {
    fn since((delay, at): (ApparentDelay, ArrivalTime), report: &DcccReport, rtt: TimeDelta) -> Self {
        let (grown, passed) = ((report.delay - delay).secs_f64(), report.at - at);
        let passed = if passed > TimeDelta::ZERO { passed } else { rtt };
        Self { per_rtt: grown / rtt.secs_f64(), per_second: grown / passed.secs_f64() }
    }
}

impl Rule for PriceRule {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState, _frame: &FlowContext) {
        self.packet = packet.payload;
        self.spacing.on_sent(packet.at);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Dccc
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Native { report: NativeReport::Dccc(report), rtt } = feedback else {
            return FeedbackOutcome::Ignored;
        };
        frame.end_silence();
        self.on_report(now, report, *rtt, state.application_limited, frame)
            .map_or(FeedbackOutcome::NoUpdate, FeedbackOutcome::Rate)
    }

    fn on_silence(&mut self, _now: SendTime, frame: &mut FlowContext) -> f64 {
        self.drains.end();
        frame.rate() * feedback_timeout::FACTOR
    }

    fn on_pause(&mut self) {
        self.drains.end();
        self.spacing = Spacing::default();
    }

    fn forget_base_delay(&mut self) {
        self.forget_delays();
        self.drains.restart();
    }

    fn forget_path(&mut self, _now: SendTime, frame: &mut FlowContext) {
        self.drains.restart();
        if let Some(silence) = frame.silence() {
            *silence = FIRST_CLOCK;
        }
        self.forget_delays();
    }

    /// The prices are ratios of sent and received rates, which coupling does not change.
    fn scale(&mut self, _now: SendTime, _factor: f64, _frame: &FlowContext) {}

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let (limits, rate) = (frame.limits(), frame.data_rate());
        // One packet waits for its turn wherever packets are made as fast as they leave: it is no backlog.
        let backlog = frame.least_queued().saturating_sub(self.packet);
        let media_rate =
            self.config.drain_time.map_or(rate, |drain| media_rate(limits, rate, backlog, drain));
        let send_rates = SendRates { media_rate, ..SendRates::at(rate, Pacing::Exact(rate)) };
        self.drains.shape(send_rates, limits)
    }

    /// Appendix C-A, on media packet sending.
    fn stamp(&self, frame: &FlowContext) -> Option<Stamp> {
        let rate = self.send_rates(frame).sending_rate;
        Some(Stamp { rtt: frame.rtt().unwrap_or_default(), rate })
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        let price_of = |value: fn(&Prices) -> f64| self.prices.as_ref().map_or(f64::NAN, value);
        let values = [
            price_of(|prices| prices.excess.millis_f64()),
            price_of(|prices| prices.v),
            price_of(|prices| prices.g),
            self.config.marginal_utility(frame.rate()),
            frame.rtt().map_or(f64::NAN, TimeDelta::millis_f64),
            frame.rate(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, _why: ChangeReason, frame: &FlowContext) -> [Option<Evidence>; 3] {
        // The rate rises while both prices together are below the marginal utility.
        let utility = self.config.marginal_utility(frame.rate());
        [Evidence::against("v", utility), Evidence::against("g", utility), Evidence::against("e - T", 0.0)]
    }
}

#[cfg(test)]
mod tests;
