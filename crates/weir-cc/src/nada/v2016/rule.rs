//! The rate of nada-2016: accelerated ramp-up or gradual update. Rates are in bit/s, congestion in ms.

use weir_units::TimeDelta;

use super::config::{Config, OffsetForm};
use super::congestion::whole;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, RateLimits, Signal};
use crate::nada::config::ShapingBuffer;
use crate::nada::rate::{Gains, Gradual, Shaping, gamma};
use crate::nada::sender::{NadaVariant, Present, RateUpdate, Sender, SenderVariant};
use crate::report::{NativeReport, ReportKind};
use crate::time::SendTime;

/// The sender half of nada-2016.
pub type Nada2016 = Sender<Rule2016>;

impl Nada2016 {
    /// A sender half that begins at the start rate; `R_min` and `R_max` are those of `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let habits = SenderVariant {
            pacing: config.pacing,
            shaping: config.shaping(),
            feedback_timeout: config.feedback_timeout,
            log_window: config.log_window,
            buffer: ShapingBuffer::Present,
            drain_after: None,
        };
        Ok(Self::by(Rule2016::new(config), habits, limits))
    }
}

/// Rule of nada-2016 from reports to rates.
#[derive(Debug)]
pub struct Rule2016 {
    config: Config,
    /// `x_n` of the newest report in ms, unless the next report is not comparable with it.
    x_n: Option<f64>,
    /// `x_o` and `x_d` in ms; NaN where the last update had none.
    x_o: f64,
    x_d: f64,
    updated: Option<SendTime>,
    /// Minima of the framework's code, from which γ follows.
    least: LeastTimes,
}

/// The least round-trip time and the least interval between reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeastTimes {
    rtt: TimeDelta,
    interval: TimeDelta,
}

impl LeastTimes {
    /// Assumptions of the framework's code before it has measured.
    const ASSUMED: Self = Self { rtt: TimeDelta::from_millis(100), interval: TimeDelta::from_millis(200) };
}

impl Config {
    /// The shaping buffer, without a limit of its effect (nada-vs-gcc-2016 §II-A, divergence 5).
    pub(super) fn shaping(&self) -> Shaping {
        Shaping {
            sending_gain: self.shaping_gain,
            media_gain: self.shaping_gain,
            frame_rate: self.frame_rate,
            cap: f64::INFINITY,
        }
    }

    /// Accelerated ramp-up from the receive rate, which takes effect after `reaction`. zhu-06 eq. (4), divergence 1.
    fn ramp_up(&self, receive_rate: f64, reaction: TimeDelta) -> f64 {
        let whole_kbps = |rate: f64| if self.framework { 1000.0 * whole(rate / 1000.0) } else { rate };
        whole_kbps((1.0 + gamma(self.gamma_max, self.queue_bound, reaction)) * whole_kbps(receive_rate))
    }

    /// Gradual update from `rate` above 0; `elapsed` is the time since the previous update.
    fn gradual(&self, rate: f64, limits: &RateLimits, elapsed: TimeDelta, x_n: f64, x_d: f64) -> Gradual {
        let x_ref = self.priority * self.reference_congestion.millis_f64();
        let (min, max) = (limits.min().bps_f64(), limits.max().bps_f64());
        let gains = Gains { kappa: self.kappa, eta: self.eta, tau: self.tau, longest: self.tau };
        let (offset, step) = match self.offset_form {
            OffsetForm::Paper => {
                let update = gains.gradual(rate, max / rate * x_ref, elapsed, x_n, x_d);
                (update.offset, update.rate - rate)
            }
            // zhu-06 eqs. (5) to (7): the step is in proportion to R − R_min, of which x̂ and θ are per unit.
            OffsetForm::Zhu06 => {
                let above = (rate - min).max(1.0);
                let update = gains.gradual(above, (max - min) / above * x_ref, elapsed, x_n, x_d);
                (update.offset, update.rate - above)
            }
        };
        // The framework's code truncates the step plus a half: a negative one loses up to a kbit/s.
        let step = if self.framework { 1000.0 * libm::trunc(step / 1000.0 + 0.5) } else { step };
        Gradual { offset, rate: rate + step }
    }
}

impl Rule2016 {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "x_n", unit: "ms", meaning: "aggregated congestion signal of the last report" },
        Signal { name: "x_o", unit: "ms", meaning: "x_n above its value at equilibrium" },
        Signal { name: "x_d", unit: "ms", meaning: "change of x_n since the report before" },
        Signal { name: "R_n", unit: "bit/s", meaning: "target rate" },
    ];

    fn new(config: Config) -> Self {
        let x_n = (!config.framework).then_some(0.0);
        Self { config, x_n, x_o: f64::NAN, x_d: f64::NAN, updated: None, least: LeastTimes::ASSUMED }
    }

    /// Time from a step of the ramp-up until the sender can react to it.
    fn reaction(&self, rtt: Option<TimeDelta>) -> TimeDelta {
        if self.config.framework {
            self.least.rtt + self.least.interval
        } else {
            rtt.unwrap_or_default() + self.config.feedback_interval
        }
    }
}

impl NadaVariant for Rule2016 {
    const ACCEPTED_REPORT: ReportKind = ReportKind::Nada;

    fn on_report(&mut self, now: SendTime, report: &NativeReport, present: &Present) -> Option<RateUpdate> {
        let NativeReport::Nada(report) = report else { return None };
        let config = self.config;
        let x_n = report.congestion.millis_f64().max(0.0);
        self.x_d = x_n - self.x_n.replace(x_n).unwrap_or(x_n); // eq. (5)
        let elapsed = self.updated.replace(now).map_or(config.feedback_interval, |last| now - last);
        let elapsed = elapsed.max(TimeDelta::ZERO);
        let rtt = present.rtt.map(|rtt| rtt.max(TimeDelta::ZERO));
        self.least.interval = self.least.interval.min(elapsed);
        self.least.rtt = self.least.rtt.min(rtt.unwrap_or(TimeDelta::MAX));
        if report.ramp_up && x_n < config.ramp_threshold.millis_f64() {
            self.x_o = f64::NAN;
            let received = report.receive_rate.bps_f64() * present.rescaled;
            let ramped = config.ramp_up(received, self.reaction(rtt));
            // An unknown receive rate leaves the rate as it is.
            return Some(RateUpdate::RampUp(if received > 0.0 { ramped } else { present.rate }));
        }
        let update = config.gradual(present.rate, &present.limits, elapsed, x_n, self.x_d);
        self.x_o = update.offset;
        Some(RateUpdate::Gradual(update.rate))
    }

    fn forget_congestion(&mut self) {
        self.x_n = None;
        self.updated = None;
        self.x_o = f64::NAN;
        self.x_d = f64::NAN;
    }

    fn forget_path(&mut self) {
        self.forget_congestion();
        self.least = LeastTimes::ASSUMED;
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, rate: f64, out: &mut [f64]) {
        let values = [self.x_n.unwrap_or(f64::NAN), self.x_o, self.x_d, rate];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self) -> [Option<Evidence>; 3] {
        let equilibrium = self.x_n.unwrap_or(f64::NAN) - self.x_o;
        [Evidence::against("x_n", equilibrium), Evidence::against("x_d", 0.0), None]
    }
}

#[cfg(test)]
mod tests;
