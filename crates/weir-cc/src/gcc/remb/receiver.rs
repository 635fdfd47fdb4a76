//! The receiver half of gcc-2016: frames, Kalman filter, detector, rate `A_r`, and REMB messages.

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use crate::config_error::ConfigError;
use crate::controller::{RateLimits, Receiver, Signal};
use crate::gcc::blocks::detector::{BandwidthUsage, OveruseDetector};
use crate::gcc::blocks::frames::{FrameSample, Frames, GroupingResult};
use crate::gcc::blocks::kalman::ScalarKalman;
use crate::gcc::blocks::rate_control::{RateControl, RateState};
use crate::gcc::blocks::threshold::Threshold;
use crate::packet::Arrival;
use crate::parts::receive_rate::ReceiveRate;
use crate::report::Report;
use crate::time::ArrivalTime;

/// Time without a packet after which grouping restarts (libwebrtc). It also restarts if the clock was set back by
/// more.
const GROUPING_TIMEOUT: TimeDelta = TimeDelta::from_secs(2);
/// Number of samples before the detector's first verdict.
const FIRST_VERDICT: u32 = 2;

/// The delay-based controller of gcc-2016, at the receiver.
#[derive(Debug)]
pub struct GccReceiver {
    config: Config,
    limits: RateLimits,
    frames: Frames,
    kalman: ScalarKalman,
    threshold: Threshold,
    detector: OveruseDetector,
    rate: RateControl,
    received: ReceiveRate,
    samples: u32,
    scaled: f64,
    remb_due: Option<ArrivalTime>,
    remb_sent: Option<DataRate>,
    last_sample: Option<ArrivalTime>,
    /// When the last packet arrived.
    arrived: Option<ArrivalTime>,
    measured: Option<DataRate>,
}

impl GccReceiver {
    /// A receiver half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self::begin(config, limits))
    }

    fn begin(config: Config, limits: RateLimits) -> Self {
        Self {
            config,
            limits,
            frames: Frames::new(GROUPING_TIMEOUT),
            kalman: ScalarKalman::new(config.kalman()),
            threshold: config.threshold(),
            detector: OveruseDetector::new(config.detector()),
            rate: RateControl::new(config.rate_control(), limits),
            received: ReceiveRate::new(config.rate_window),
            samples: 0,
            scaled: 0.0,
            remb_due: None,
            remb_sent: None,
            last_sample: None,
            arrived: None,
            measured: None,
        }
    }

    /// `A_r`, the rate of the delay-based controller.
    pub fn rate(&self) -> DataRate {
        self.rate.rate()
    }

    fn on_frame(&mut self, sample: &FrameSample, now: ArrivalTime) {
        self.samples = self.samples.saturating_add(1);
        let m = self.kalman.update(sample.gradient.millis_f64(), sample.inter_departure);
        self.scaled = m * f64::from(self.samples.min(self.config.scale_cap));
        let usage = if self.samples < FIRST_VERDICT {
            BandwidthUsage::Normal
        } else {
            self.detector.update(m, self.scaled, self.threshold.gamma(), sample.inter_departure)
        };
        self.threshold.update(self.scaled, sample.arrival);
        let elapsed = self.last_sample.replace(now).map_or(TimeDelta::ZERO, |last| now - last);
        self.measured = self.received.rate(now);
        self.rate.update(usage, self.measured, elapsed);
        if self.is_drop() {
            self.remb_due = Some(now);
        }
    }

    /// Restarts grouping and gradient, because no gradient spans a gap without packets or a change of the clock.
    fn restart(&mut self) {
        self.kalman.restart();
        self.detector = OveruseDetector::new(self.config.detector());
        self.last_sample = None;
    }

    /// Whether `A_r` is so far below the value sent last that a REMB is due at once.
    fn is_drop(&self) -> bool {
        self.remb_sent.is_some_and(|sent| self.rate.rate().bps_f64() < self.config.remb_drop * sent.bps_f64())
    }
}

impl Receiver for GccReceiver {
    fn on_arrival(&mut self, packet: &Arrival) {
        self.received.on_arrival(packet.at, packet.size);
        self.arrived = Some(packet.at);
        // Where the clock was set back, reports due by its old reading are due an interval from now.
        let next = packet.at + self.config.remb_interval;
        self.remb_due = Some(self.remb_due.map_or(next, |due| due.min(next)));
        if self.last_sample.is_some_and(|last| last - packet.at > GROUPING_TIMEOUT) {
            self.frames = Frames::new(GROUPING_TIMEOUT);
            self.restart();
        }
        match self.frames.on_arrival(packet) {
            GroupingResult::Pending => {}
            GroupingResult::Sample(sample) => self.on_frame(&sample, packet.at),
            GroupingResult::Restarted => self.restart(),
        }
    }

    fn next_timeout(&self) -> Option<ArrivalTime> {
        self.remb_due
    }

    fn on_route_changed(&mut self) {
        *self = Self::begin(self.config, self.limits);
    }

    fn poll_report(&mut self, now: ArrivalTime) -> Option<Report<'_>> {
        self.remb_due.filter(|&due| due <= now)?;
        if self.arrived.is_none_or(|arrived| now - arrived > GROUPING_TIMEOUT) {
            // No packet arrives: without reports the sender lowers its rate.
            self.remb_due = None;
            return None;
        }
        self.remb_due = Some(now + self.config.remb_interval);
        self.remb_sent = Some(self.rate.rate());
        Some(Report::Ceiling(self.rate.rate()))
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "m", unit: "ms", meaning: "gradient as compared with the threshold" },
            Signal { name: "gamma", unit: "ms", meaning: "threshold" },
            Signal { name: "K", unit: "", meaning: "Kalman gain" },
            Signal { name: "usage", unit: "", meaning: "-1 under-use, 0 normal, 1 over-use" },
            Signal { name: "state", unit: "", meaning: "-1 decrease, 0 hold, 1 increase" },
            Signal { name: "R", unit: "bit/s", meaning: "receive rate" },
            Signal { name: "A_r", unit: "bit/s", meaning: "rate of the delay-based controller" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let usage = match self.detector.usage() {
            BandwidthUsage::Under => -1.0,
            BandwidthUsage::Normal => 0.0,
            BandwidthUsage::Over => 1.0,
        };
        let state = match self.rate.state() {
            RateState::Decrease => -1.0,
            RateState::Hold => 0.0,
            RateState::Increase => 1.0,
        };
        let values = [
            self.scaled,
            self.threshold.gamma(),
            self.kalman.gain(),
            usage,
            state,
            self.measured.map_or(f64::NAN, DataRate::bps_f64),
            self.rate.rate().bps_f64(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
