//! NADA's receiver: from arrivals it computes `d_queue`, `p_loss` and `p_mark`, from these `x_curr`, which is
//! reported every `DELTA`.

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, LossAverage, SmoothedEach};
use super::congestion::LossAge;
use super::log::{ArrivalResult, LogSpans, PathLog};
use super::window::Ratios;
use crate::config_error::ConfigError;
use crate::controller::{Observer, Signal};
use crate::packet::Arrival;
use crate::parts::filters::WindowedMin;
use crate::parts::loss_intervals::LossIntervals;
use crate::parts::path_step::{DRAINING, PathSteps};
use crate::report::{NadaReport, NativeReport};
use crate::time::{ApparentDelay, ArrivalTime};

/// Observer that measures a path for NADA, from arriving packets.
#[derive(Debug)]
pub struct NadaObserver {
    config: Config,
    log: PathLog,
    /// The last delays in order of the numbers; the smallest of them counts.
    delays: WindowedMin<ApparentDelay>,
    losses: LossIntervals,
    /// Time at which the newest loss was detected.
    lost_at: Option<ArrivalTime>,
    p_loss: f64,
    p_mark: f64,
    /// Detector of longer paths, if the sender drains the queue.
    steps: Option<PathSteps>,
    latest: Option<LastInputs>,
}

/// Inputs of the last report.
#[derive(Clone, Copy, Debug)]
struct LastInputs {
    d_queue: f64,
    d_tilde: f64,
    x_curr: f64,
    receive_rate: Option<DataRate>,
}

impl NadaObserver {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "d_queue", unit: "ms", meaning: "queuing delay, smallest of the last packets" },
        Signal { name: "d_tilde", unit: "ms", meaning: "queuing delay, warped after recent loss" },
        Signal { name: "p_loss", unit: "", meaning: "smoothed loss ratio" },
        Signal { name: "p_mark", unit: "", meaning: "smoothed ratio of packets marked by ECN" },
        Signal { name: "x_curr", unit: "ms", meaning: "aggregate congestion signal as reported" },
        Signal { name: "r_recv", unit: "bit/s", meaning: "receive rate over the log window" },
    ];

    /// An observer without any measurement of the path.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::initial(&config))
    }

    fn initial(config: &Config) -> Self {
        Self {
            config: *config,
            log: PathLog::new(LogSpans {
                window: config.log_window,
                interval: config.feedback_interval,
                clock_step: config.clock_step,
                drain_after: config.drain_after,
            }),
            delays: WindowedMin::new(config.min_filter as usize),
            losses: LossIntervals::new(),
            lost_at: None,
            p_loss: 0.0,
            p_mark: 0.0,
            steps: config.drain_after.map(|_| PathSteps::new(DRAINING)),
            latest: None,
        }
    }

    /// Counts the packet in its loss interval. A gap before it is one loss event.
    fn count_losses(&mut self, missing: u64, at: ArrivalTime) {
        if missing > 0 {
            self.losses.on_loss_event();
            self.lost_at = Some(at);
        }
        self.losses.extend(1);
    }

    fn loss_age(&self) -> Option<LossAge> {
        let interval = match self.config.loss_average {
            LossAverage::Closed => self.losses.average_closed(),
            LossAverage::WithOpen => self.losses.average(),
        }?;
        Some(LossAge { packets: self.losses.open() as f64, interval })
    }

    /// `rmode` 0. RFC 8698 §4.2.
    fn may_ramp_up(&self, now: ArrivalTime) -> bool {
        let lossless = self.lost_at.is_none_or(|lost| now - lost >= self.config.log_window);
        lossless && self.log.largest_queuing() < self.config.queue_epsilon
    }

    /// Adds the ratios of the window to the smoothed ones.
    fn smooth(&mut self, ratios: Ratios) {
        let loss = self.config.smoothed(self.p_loss, ratios.loss);
        let mark = self.config.smoothed(self.p_mark, ratios.mark);
        // With few packets in the window no ratio rises (divergence 5).
        let few = ratios.packets < self.config.min_packets as usize;
        self.p_loss = if few { loss.min(self.p_loss) } else { loss };
        self.p_mark = if few { mark.min(self.p_mark) } else { mark };
    }

    /// Takes an arrival; `timed` if its time was reported.
    fn arrive(&mut self, packet: &Arrival, timed: bool) {
        let ArrivalResult { at, delay, missing, after_silence, clocks_moved, set_back, .. } =
            self.log.on_arrival(packet, timed);
        if after_silence || clocks_moved {
            self.delays.clear();
        }
        if clocks_moved && let Some(steps) = &mut self.steps {
            steps.forget_delays();
        }
        if set_back {
            self.lost_at = None;
        }
        // A late packet gives no delay sample (RFC 8698 §5.1.2).
        if let Some(missing) = missing {
            self.count_losses(missing, at);
            if let Some(steps) = self.steps.as_mut().filter(|_| timed) {
                steps.on_delay(delay);
            }
            // Without any sample the queue would be empty: the delay of the packet before is nearer.
            if timed || self.delays.min().is_none() {
                self.delays.push(delay);
            }
            if self.config.smoothed_each == SmoothedEach::Packet
                && let Some(ratios) = self.log.ratios()
            {
                self.smooth(ratios);
            }
        }
    }
}

impl Observer for NadaObserver {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.arrive(packet, true);
    }

    fn on_untimed(&mut self, packet: &Arrival) {
        self.arrive(packet, false);
    }

    fn on_unreported(&mut self) {
        self.log.on_unreported();
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.log.next_report()
    }

    fn report(&mut self, now: ArrivalTime) -> Option<NativeReport> {
        let ratios = self.log.begin_report(now)?;
        if self.config.smoothed_each == SmoothedEach::Report {
            self.smooth(ratios);
        }
        let receive_rate = self.log.receive_rate(now);
        let received = receive_rate.unwrap_or_default().bps_f64();
        if let Some(steps) = &mut self.steps
            && let Some(least) = steps.on_report(now, received, ratios.loss > 0.0)
        {
            self.log.forget_base(now, least);
        }
        let d_queue = self.log.above_base(self.delays.min()).millis_f64();
        let d_tilde = self.config.d_tilde(d_queue, self.loss_age());
        let x_curr = self.config.x_curr(d_tilde, self.p_loss, self.p_mark);
        self.latest = Some(LastInputs { d_queue, d_tilde, x_curr, receive_rate });
        Some(NativeReport::Nada(NadaReport {
            ramp_up: self.may_ramp_up(now),
            congestion: TimeDelta::from_millis_f64(x_curr),
            receive_rate: receive_rate.unwrap_or_default(),
        }))
    }

    fn on_route_changed(&mut self) {
        *self = Self::initial(&self.config);
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let input_of = |value: fn(&LastInputs) -> f64| self.latest.as_ref().map_or(f64::NAN, value);
        let values = [
            input_of(|latest| latest.d_queue),
            input_of(|latest| latest.d_tilde),
            self.p_loss,
            self.p_mark,
            input_of(|latest| latest.x_curr),
            input_of(|latest| latest.receive_rate.map_or(f64::NAN, DataRate::bps_f64)),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
