//! The sender: feedback → RTT, prices → rate.

use weir_units::TimeDelta;

use super::config::{Config, DelayThreshold};
use super::law::mismatch;
use crate::config_error::ConfigError;
use crate::controller::{Cause, Pacing, RateLimits, Signal};
use crate::decision::Why;
use crate::packet::{SendState, Stamp};
use crate::parts::silence::Silence;
use crate::rate_law::{Computed, Frame, Heard, Outlook, RateLaw, Rule};
use crate::report::{DcccReport, Feedback, LawReport};
use crate::time::{ApparentDelay, SendTime};

/// Without a report for so long is a silence while the RTT is unknown.
const FIRST_SILENCE: TimeDelta = TimeDelta::from_secs(1);
const FIRST_CLOCK: Silence = Silence::with_step(FIRST_SILENCE, FIRST_SILENCE);
/// From this share of the marginal utility on, prices limit the rate.
const LIMITING_PRICE: f64 = 0.5;

/// The sender half of DCCC.
pub type Dccc = RateLaw<PriceRule>;

/// dccc-2017 eq. (25): the frame's rate is `x`.
#[derive(Debug)]
pub struct PriceRule {
    config: Config,
    /// The smallest delay reported.
    minimum: Option<ApparentDelay>,
    /// The delay of the last report.
    delay: Option<ApparentDelay>,
    /// What was sent and received, smoothed by eq. (49).
    smoothed: Option<Rates>,
    prices: Option<Prices>,
    /// When the last report came.
    heard: Option<SendTime>,
}

/// Rates of the same packets in bit/s.
#[derive(Clone, Copy, Debug)]
struct Rates {
    sent: f64,
    received: f64,
}

/// What went into the last update.
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
        let rule =
            PriceRule { config, minimum: None, delay: None, smoothed: None, prices: None, heard: None };
        Ok(Self::new_by(rule, Frame::with_silence(limits, Some(FIRST_CLOCK))))
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

    /// dccc-2017 appendix C-A, on feedback packet received. `None` if the report says nothing of rates.
    fn on_report(
        &mut self,
        now: SendTime,
        report: &DcccReport,
        rtt: Option<TimeDelta>,
        limited: bool,
        frame: &mut Frame,
    ) -> Option<Computed> {
        let now = SendTime::from_nanos(self.config.stamped(now.nanos()));
        // RTT = e + e_b, e_b from the making of the report until now: the clocks' offset cancels. Eq. (9).
        let rtt = rtt.unwrap_or_else(|| report.delay - ApparentDelay::between(now, report.at));
        if rtt <= TimeDelta::ZERO {
            return None;
        }
        frame.set_rtt(Some(rtt));
        let interval = self.config.interval(rtt);
        if let Some(silence) = frame.silence() {
            silence.set_times(self.config.silence(interval), interval);
        }
        if self
            .heard
            .is_some_and(|heard| !(TimeDelta::ZERO..self.config.relearn_after).contains(&(now - heard)))
        {
            self.forget_delays();
        }
        self.heard = Some(now);
        let excess = self.excess(report.delay);
        let growth = self.delay.replace(report.delay).map_or(TimeDelta::ZERO, |last| report.delay - last);
        let received = report.receive_rate()?;
        let rates = self.smooth(report.sending_rate.bps_f64(), received);
        let v = self.config.delay_price(excess, rtt);
        let g = mismatch(rates.sent, rates.received);
        self.prices = Some(Prices { excess, v, g });
        let gradient = growth.secs_f64() / rtt.secs_f64();
        let why = match is_delay(v, g, gradient) {
            true => Why::Delay,
            // The stamps tell what the law allowed, not what was sent of it.
            false if limited => Why::Application,
            false => Why::Loss,
        };
        let cause = self.limiting(frame.rate(), v, g, gradient);
        Some(Computed { rate: self.config.step(frame.rate(), v, g), why, cause })
    }

    /// `e − T`. Appendix B.
    fn excess(&mut self, delay: ApparentDelay) -> TimeDelta {
        let known = self.minimum.filter(|&minimum| delay - minimum < self.config.clock_step);
        let minimum = known.map_or(delay, |minimum| minimum.min(delay));
        self.minimum = Some(minimum);
        match self.config.threshold {
            DelayThreshold::Fixed(t) => delay.assuming_synchronised_clocks() - t,
            DelayThreshold::AtLeastMinimum(t) => {
                (delay.assuming_synchronised_clocks() - t).min(delay - minimum)
            }
            DelayThreshold::AboveMinimum(margin) => delay - minimum - margin,
        }
    }

    fn smooth(&mut self, sent: f64, received: f64) -> Rates {
        let old = self.smoothed;
        let rates = Rates {
            sent: self.config.smoothed(old.map(|rates| rates.sent), sent),
            received: self.config.smoothed(old.map(|rates| rates.received), received),
        };
        self.smoothed = Some(rates);
        rates
    }

    /// What limits the `rate`: nothing while the prices are far below the utility.
    fn limiting(&self, rate: f64, v: f64, g: f64, gradient: f64) -> Cause {
        if v + g < LIMITING_PRICE * self.config.marginal_utility(rate) {
            Cause::RampUp
        } else if is_delay(v, g, gradient) {
            Cause::Delay
        } else {
            Cause::Loss
        }
    }

    /// The path is another one, or its queues may have drained since: what was learnt of its delay does not hold.
    fn forget_delays(&mut self) {
        self.minimum = None;
        self.delay = None;
        self.smoothed = None;
        self.prices = None;
    }
}

/// Whether the price is one of delay, also while that grows by most of `g` (`gradient`, in seconds per second); else it
/// is one of loss, for which `g` stands when the delay does not grow.
fn is_delay(v: f64, g: f64, gradient: f64) -> bool {
    v >= g || gradient >= g / 2.0
}

impl Rule for PriceRule {
    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
        frame: &mut Frame,
    ) -> Heard {
        let Feedback::Law { report: LawReport::Dccc(report), rtt } = feedback else { return Heard::Foreign };
        frame.end_silence();
        self.on_report(now, report, *rtt, state.application_limited, frame).map_or(Heard::Noted, Heard::Rate)
    }

    fn forget_path(&mut self, _now: SendTime, frame: &mut Frame) {
        if let Some(silence) = frame.silence() {
            *silence = FIRST_CLOCK;
        }
        self.forget_delays();
    }

    /// The prices are ratios of what was sent and received.
    fn scale(&mut self, _now: SendTime, _factor: f64, _frame: &Frame) {}

    fn outlook(&self, frame: &Frame) -> Outlook {
        Outlook::at(frame.data_rate(), Pacing::Exact(frame.data_rate()))
    }

    /// Appendix C-A, on media packet sending.
    fn stamp(&self, frame: &Frame) -> Option<Stamp> {
        Some(Stamp { rtt: frame.rtt().unwrap_or_default(), rate: frame.data_rate() })
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, frame: &Frame, out: &mut [f64]) {
        let of = |value: fn(&Prices) -> f64| self.prices.as_ref().map_or(f64::NAN, value);
        let values = [
            of(|prices| prices.excess.millis_f64()),
            of(|prices| prices.v),
            of(|prices| prices.g),
            self.config.marginal_utility(frame.rate()),
            frame.rtt().map_or(f64::NAN, TimeDelta::millis_f64),
            frame.rate(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
