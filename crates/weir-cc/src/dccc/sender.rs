//! The sender: feedback → RTT, prices → rate.

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, DelayThreshold};
use super::law::mismatch;
use crate::config_error::ConfigError;
use crate::controller::{Cause, Controller, Decision, Pacing, PathEvent, RateLimits, Share, Signal, Target};
use crate::packet::{SendState, SentPacket, Stamp};
use crate::parts::silence::{self, Silence};
use crate::report::{DcccReport, Feedback, LawReport};
use crate::time::{ApparentDelay, SendTime};

/// Without a report for so long is a silence while the RTT is unknown.
const FIRST_SILENCE: TimeDelta = TimeDelta::from_secs(1);
/// From this share of the marginal utility on, prices limit the rate.
const LIMITING_PRICE: f64 = 0.5;

/// The sender half of DCCC: dccc-2017 eq. (25).
#[derive(Debug)]
pub struct Dccc {
    config: Config,
    limits: RateLimits,
    /// `x` in bit/s.
    rate: f64,
    rtt: Option<TimeDelta>,
    /// The smallest delay reported.
    minimum: Option<ApparentDelay>,
    /// The delay of the last report.
    delay: Option<ApparentDelay>,
    /// What was sent and received, smoothed by eq. (49).
    smoothed: Option<Rates>,
    prices: Option<Prices>,
    cause: Cause,
    application_limited: bool,
    /// When the last report came.
    heard: Option<SendTime>,
    silence: Silence,
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
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "e - T", unit: "ms", meaning: "one-way delay above the threshold" },
        Signal { name: "v", unit: "", meaning: "price of delay" },
        Signal { name: "g", unit: "", meaning: "(x_sent - x_recv)/x_recv: gradient of the delay, or loss" },
        Signal { name: "h/x", unit: "", meaning: "marginal utility, the price at which the rate stands" },
        Signal { name: "RTT", unit: "ms", meaning: "one-way delays there and back" },
        Signal { name: "x", unit: "bit/s", meaning: "sending rate" },
    ];

    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            limits,
            rate: limits.start().bps_f64(),
            rtt: None,
            minimum: None,
            delay: None,
            smoothed: None,
            prices: None,
            cause: Cause::RampUp,
            application_limited: false,
            heard: None,
            silence: Silence::with_step(FIRST_SILENCE, FIRST_SILENCE),
        })
    }

    fn rate(&self) -> DataRate {
        DataRate::from_bps_f64(self.rate)
    }

    /// dccc-2017 appendix C-A, on feedback packet received. `None` if the report says nothing of rates.
    fn on_report(&mut self, now: SendTime, report: &DcccReport, rtt: Option<TimeDelta>) -> Option<()> {
        let now = SendTime::from_nanos(self.config.stamped(now.nanos()));
        // RTT = e + e_b, e_b from the making of the report until now: the clocks' offset cancels. Eq. (9).
        let rtt = rtt.unwrap_or_else(|| report.delay - ApparentDelay::between(now, report.at));
        if rtt <= TimeDelta::ZERO {
            return None;
        }
        self.rtt = Some(rtt);
        let interval = self.config.interval(rtt);
        self.silence.set_times(self.config.silence(interval), interval);
        if self
            .heard
            .is_some_and(|heard| !(TimeDelta::ZERO..self.config.relearn_after).contains(&(now - heard)))
        {
            self.forget_path();
        }
        self.heard = Some(now);
        let excess = self.excess(report.delay);
        let growth = self.delay.replace(report.delay).map_or(TimeDelta::ZERO, |last| report.delay - last);
        let received = report.receive_rate()?;
        let rates = self.smooth(report.sending_rate.bps_f64(), received);
        let v = self.config.delay_price(excess, rtt);
        let g = mismatch(rates.sent, rates.received);
        self.prices = Some(Prices { excess, v, g });
        self.cause = self.limiting(v, g, growth.secs_f64() / rtt.secs_f64());
        self.rate = self.limits.clamp_bps(self.config.step(self.rate, v, g));
        Some(())
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

    /// What limits the rate: nothing while the prices are far below the utility; else delay, also while it grows by
    /// most of `g` (`gradient`, in seconds per second); else loss, for which `g` stands when the delay does not grow.
    fn limiting(&self, v: f64, g: f64, gradient: f64) -> Cause {
        if v + g < LIMITING_PRICE * self.config.marginal_utility(self.rate) {
            Cause::RampUp
        } else if v >= g || gradient >= g / 2.0 {
            Cause::Delay
        } else {
            Cause::Loss
        }
    }

    /// The path is another one, or its queues may have drained since: what was learnt of its delay does not hold.
    fn forget_path(&mut self) {
        self.minimum = None;
        self.delay = None;
        self.smoothed = None;
        self.prices = None;
    }

    fn decision(&self, base: DataRate) -> Decision {
        Decision { rate: self.rate(), base, cause: self.limited_by(), rtt: self.rtt }
    }

    /// A bound, else the source, else what the law found.
    fn limited_by(&self) -> Cause {
        let cause = if self.application_limited { Cause::Application } else { self.cause };
        self.limits.cause(self.rate(), cause)
    }
}

impl Controller for Dccc {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        self.silence.on_sent(packet.at);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let Feedback::Law { report: LawReport::Dccc(report), rtt } = feedback else {
            return None;
        };
        let base = self.rate();
        self.application_limited = state.application_limited;
        self.silence.end();
        self.on_report(now, report, *rtt)?;
        Some(self.decision(base))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        let base = self.rate();
        self.rate = self.limits.clamp_bps(self.rate * silence::FACTOR);
        self.cause = Cause::Receiver;
        Some(self.decision(base))
    }

    fn on_event(&mut self, _now: SendTime, event: PathEvent) -> Option<Decision> {
        let base = self.rate();
        match event {
            PathEvent::Limits(limits) => {
                self.limits = limits;
                self.rate = limits.clamp_bps(self.rate);
            }
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence.end();
                return None;
            }
            PathEvent::RouteChanged => {
                self.rate = self.rate.min(self.limits.start().bps_f64());
                self.rtt = None;
                self.silence = Silence::with_step(FIRST_SILENCE, FIRST_SILENCE);
                self.cause = Cause::RampUp;
                self.forget_path();
            }
        }
        Some(self.decision(base))
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        let rate = self.rate();
        Target {
            media_rate: rate,
            sending_rate: rate,
            pacing: Pacing::Exact(rate),
            window: None,
            padding: DataRate::ZERO,
            cause: self.limited_by(),
        }
    }

    /// Appendix C-A, on media packet sending.
    fn stamp(&self) -> Option<Stamp> {
        Some(Stamp { rtt: self.rtt.unwrap_or_default(), rate: self.rate() })
    }

    fn adopt(&mut self, _now: SendTime, share: Share) {
        self.rate = self.limits.clamp_bps(share.rate.bps_f64());
        self.cause = Cause::Coupling;
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let of = |value: fn(&Prices) -> f64| self.prices.as_ref().map_or(f64::NAN, value);
        let values = [
            of(|prices| prices.excess.millis_f64()),
            of(|prices| prices.v),
            of(|prices| prices.g),
            self.config.marginal_utility(self.rate),
            self.rtt.map_or(f64::NAN, TimeDelta::millis_f64),
            self.rate,
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
