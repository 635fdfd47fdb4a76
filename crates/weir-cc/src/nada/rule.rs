//! NADA's rate by RFC 8698 §4.3.

use super::config::Config;
use super::sender::{NadaVariant, Present, RateUpdate, Sender, SenderVariant};
use crate::config_error::ConfigError;
use crate::controller::{Evidence, RateLimits, Signal};
use crate::report::{NativeReport, ReportKind};
use crate::time::SendTime;

/// The sender half of NADA: RFC 8698 §4.3 and §5.2.
pub type Nada = Sender<Rfc8698>;

impl Nada {
    /// A sender half that begins at the start rate; `RMIN` and `RMAX` are those of `limits`.
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
            buffer: config.shaping_buffer,
            drain_after: config.drain_after,
        };
        Ok(Self::by(Rfc8698::new(&config), habits, limits))
    }
}

/// The rule of RFC 8698: accelerated ramp-up or gradual update, by the receiver's `rmode`.
#[derive(Debug)]
pub struct Rfc8698 {
    config: Config,
    /// `x_curr` of the newest report in ms, unless the next report is not comparable with it.
    x_curr: Option<f64>,
    /// `x_offset` and `x_diff` in ms; NaN where the last update had none.
    x_offset: f64,
    x_diff: f64,
    updated: Option<SendTime>,
}

impl Rfc8698 {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "x_curr", unit: "ms", meaning: "aggregate congestion signal of the last report" },
        Signal { name: "x_offset", unit: "ms", meaning: "x_curr above its value at equilibrium" },
        Signal { name: "x_diff", unit: "ms", meaning: "change of x_curr since the report before" },
        Signal { name: "r_ref", unit: "bit/s", meaning: "reference rate" },
    ];

    fn new(config: &Config) -> Self {
        Self { config: *config, x_curr: Some(0.0), x_offset: f64::NAN, x_diff: f64::NAN, updated: None }
    }
}

impl NadaVariant for Rfc8698 {
    const ACCEPTED_REPORT: ReportKind = ReportKind::Nada;

    fn on_report(&mut self, now: SendTime, report: &NativeReport, present: &Present) -> Option<RateUpdate> {
        let NativeReport::Nada(report) = report else { return None };
        let max = present.limits.max().bps_f64();
        let equilibrium = self.config.equilibrium(present.rate, max);
        let x_curr = report.congestion.millis_f64().max(0.0);
        self.x_diff = x_curr - self.x_curr.replace(x_curr).unwrap_or(x_curr); // eq. (6)
        let elapsed = self.updated.replace(now).map_or(self.config.feedback_interval, |last| now - last);
        if report.ramp_up {
            self.x_offset = f64::NAN;
            let rtt = present.rtt.unwrap_or_default();
            let received = report.receive_rate.bps_f64() * present.rescaled;
            let rate = self.config.ramp_up(present.rate, received, rtt);
            return Some(RateUpdate::RampUp(rate));
        }
        let update = self.config.gradual(present.rate, equilibrium, elapsed, x_curr, self.x_diff);
        self.x_offset = update.offset;
        Some(RateUpdate::Gradual(update.rate))
    }

    fn forget_congestion(&mut self) {
        self.x_curr = None;
        self.updated = None;
        self.x_offset = f64::NAN;
        self.x_diff = f64::NAN;
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, rate: f64, out: &mut [f64]) {
        let values = [self.x_curr.unwrap_or(f64::NAN), self.x_offset, self.x_diff, rate];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self) -> [Option<Evidence>; 3] {
        // The gradual update steers `x_curr` towards its value at equilibrium; ramp-up has no such value.
        let equilibrium = self.x_curr.unwrap_or(f64::NAN) - self.x_offset;
        [Evidence::against("x_curr", equilibrium), Evidence::against("x_diff", 0.0), None]
    }
}
