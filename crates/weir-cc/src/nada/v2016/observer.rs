//! The receiver of nada-2016: from arrivals it computes `d̂`, `d̃` and `p_loss`, from these `x_n`, which is reported
//! every `Δ`.

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use super::congestion::DelayFilter;
use crate::config_error::ConfigError;
use crate::controller::{Observer, Signal};
use crate::nada::log::{LogSpans, PathLog};
use crate::packet::Arrival;
use crate::report::{NadaReport, NativeReport};
use crate::time::ArrivalTime;

/// Observer that measures a path for nada-2016, from arriving packets.
#[derive(Debug)]
pub struct Nada2016Observer {
    config: Config,
    log: PathLog,
    filter: DelayFilter,
    latest: Option<LatestInputs>,
}

/// Inputs of the last report.
#[derive(Clone, Copy, Debug)]
struct LatestInputs {
    warped: f64,
    loss: f64,
    x_n: f64,
    receive_rate: Option<DataRate>,
}

impl Nada2016Observer {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "d_hat", unit: "ms", meaning: "queuing delay after median and exponential filter" },
        Signal { name: "d_tilde", unit: "ms", meaning: "filtered queuing delay, warped" },
        Signal { name: "p_loss", unit: "", meaning: "loss ratio over the log window" },
        Signal { name: "x_n", unit: "ms", meaning: "aggregated congestion signal as reported" },
        Signal { name: "R_r", unit: "bit/s", meaning: "receive rate over the log window" },
    ];

    /// An observer without any measurement of the path.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::initial(config))
    }

    fn initial(config: Config) -> Self {
        let spans = LogSpans {
            window: config.log_window,
            interval: config.feedback_interval,
            clock_step: config.clock_step,
            drain_after: None,
        };
        Self { config, log: PathLog::new(spans), filter: DelayFilter::new(config), latest: None }
    }

    /// Whether the sender may ramp up if `x_n` is small enough.
    fn may_ramp_up(&self, latest: &LatestInputs) -> bool {
        let threshold = self.config.ramp_threshold.millis_f64();
        let guarded = !self.config.ramp_guard || self.filter.get() < threshold;
        // The framework's code: no loss term, so that `x_n = d̃`.
        let lossless = !self.config.framework || latest.x_n == latest.warped;
        guarded && lossless
    }
}

impl Observer for Nada2016Observer {
    fn on_arrival(&mut self, packet: &Arrival) {
        let news = self.log.on_arrival(packet, true);
        if news.clocks_moved {
            self.filter.clear();
        }
        self.filter.push(news.queuing);
    }

    fn on_untimed(&mut self, packet: &Arrival) {
        self.log.on_arrival(packet, false);
    }

    fn on_unreported(&mut self) {
        self.log.on_unreported();
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.log.next_report()
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        let ratios = self.log.begin_report(now)?;
        let warped = self.config.warped(self.filter.get());
        let x_n = self.config.x_n(warped, ratios.loss, ratios.mark);
        let receive_rate = self.log.receive_rate(now);
        let latest = LatestInputs { warped, loss: ratios.loss, x_n, receive_rate };
        self.latest = Some(latest);
        Some(NativeReport::Nada(NadaReport {
            ramp_up: self.may_ramp_up(&latest),
            congestion: TimeDelta::from_millis_f64(x_n),
            receive_rate: receive_rate.unwrap_or_default(),
        }))
    }

    fn on_route_changed(&mut self) {
        *self = Self::initial(self.config);
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let input_of = |value: fn(&LatestInputs) -> f64| self.latest.as_ref().map_or(f64::NAN, value);
        let values = [
            self.filter.get(),
            input_of(|latest| latest.warped),
            input_of(|latest| latest.loss),
            input_of(|latest| latest.x_n),
            input_of(|latest| latest.receive_rate.map_or(f64::NAN, DataRate::bps_f64)),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
