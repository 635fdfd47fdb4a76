//! The receiver's computations: arrivals → `d_queue`, `p_loss`, `p_mark` → `x_curr` → report every `DELTA`.

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, ConfigError, LossAverage};
use super::congestion::LossAge;
use super::window::{LogWindow, Logged};
use crate::base_delay::BaseDelay;
use crate::controller::{Observer, Signal};
use crate::filters::WindowedMin;
use crate::loss_intervals::LossIntervals;
use crate::packet::{Arrival, Ecn};
use crate::receive_rate::ReceiveRate;
use crate::report::{LawReport, NadaReport};
use crate::time::{ApparentDelay, ArrivalTime};

/// NADA's view of a path, by the packets that arrive.
#[derive(Debug)]
pub struct NadaObserver {
    config: Config,
    base: BaseDelay,
    /// The last delays in order of the numbers, of which the smallest counts.
    delays: WindowedMin<ApparentDelay>,
    window: LogWindow,
    received: ReceiveRate,
    losses: LossIntervals,
    /// The greatest number seen.
    newest: Option<u64>,
    /// The latest arrival.
    clock: ArrivalTime,
    /// When the newest loss showed.
    lost_at: Option<ArrivalTime>,
    p_loss: f64,
    p_mark: f64,
    due: Option<ArrivalTime>,
    latest: Option<Latest>,
}

/// What went into the last report.
#[derive(Clone, Copy, Debug)]
struct Latest {
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

    /// An observer that knows nothing of the path yet.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            base: BaseDelay::new(),
            delays: WindowedMin::new(config.min_filter as usize),
            window: LogWindow::new(config.log_window),
            received: ReceiveRate::new(config.log_window),
            losses: LossIntervals::new(),
            newest: None,
            clock: ArrivalTime::ZERO,
            lost_at: None,
            p_loss: 0.0,
            p_mark: 0.0,
            due: None,
            latest: None,
        })
    }

    /// Brings the time up to an arrival `at`. Returns the arrival's time, which never runs backwards unless the
    /// clock was set.
    fn advance(&mut self, at: ArrivalTime) -> ArrivalTime {
        let set_back = self.newest.is_some() && self.clock - at > self.config.log_window;
        if set_back {
            self.forget_delays();
            self.lost_at = None;
        }
        let at = if set_back || self.newest.is_none() { at } else { at.max(self.clock) };
        self.clock = at;
        let next = at + self.config.feedback_interval;
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
        self.expire(at);
        at
    }

    fn expire(&mut self, now: ArrivalTime) {
        self.window.expire(now);
        if self.window.is_empty() {
            self.delays.clear();
        }
    }

    /// The clocks have moved against each other: delays from before cannot be compared with those to come.
    fn forget_delays(&mut self) {
        self.base.restart();
        self.delays.clear();
        self.window.clear();
    }

    /// Counts the packet in its loss interval; a gap before it is one loss event.
    fn count_losses(&mut self, id: u64, at: ArrivalTime) {
        if self.newest.is_some_and(|newest| id - newest > 1) {
            self.losses.on_loss_event();
            self.lost_at = Some(at);
        }
        self.losses.extend(1);
    }

    fn log(&mut self, packet: &Arrival, at: ArrivalTime) {
        let delay = ApparentDelay::between(packet.departure, packet.at);
        if delay - self.base.on_arrival(at, delay) >= self.config.clock_step {
            self.forget_delays();
            self.base.on_arrival(at, delay);
        }
        self.delays.push(delay);
        self.window.push(Logged { id: packet.id, at, delay, marked: packet.ecn == Ecn::Ce });
    }

    fn above_base(&self, delay: Option<ApparentDelay>) -> TimeDelta {
        delay.zip(self.base.get()).map_or(TimeDelta::ZERO, |(delay, base)| delay - base)
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
        lossless && self.above_base(self.window.largest_delay()) < self.config.queue_epsilon
    }

    /// Takes the ratios of the window into the smoothed ones; `None` if it is empty.
    fn update_ratios(&mut self) -> Option<()> {
        let ratios = self.window.ratios()?;
        let loss = self.config.smoothed(self.p_loss, ratios.loss);
        let mark = self.config.smoothed(self.p_mark, ratios.mark);
        let few = ratios.packets < self.config.min_packets as usize;
        self.p_loss = if few { loss.min(self.p_loss) } else { loss };
        self.p_mark = if few { mark.min(self.p_mark) } else { mark };
        Some(())
    }
}

impl Observer for NadaObserver {
    fn on_arrival(&mut self, packet: &Arrival) {
        let at = self.advance(packet.at);
        self.received.on_arrival(at, packet.size);
        // A packet that comes late stays lost and says nothing of the queue (RFC 8698 §5.1.2).
        if self.newest.is_none_or(|newest| packet.id > newest) {
            self.count_losses(packet.id, at);
            self.log(packet, at);
            self.newest = Some(packet.id);
        }
    }

    fn next_report(&self) -> Option<ArrivalTime> {
        self.due
    }

    fn report(&mut self, now: ArrivalTime) -> Option<LawReport> {
        let due = self.due.filter(|&due| due <= now)?;
        self.due = None;
        self.expire(now);
        self.update_ratios()?;
        let interval = self.config.feedback_interval;
        self.due = Some(if due + interval > now { due + interval } else { now + interval });

        let d_queue = self.above_base(self.delays.min()).millis_f64();
        let d_tilde = self.config.d_tilde(d_queue, self.loss_age());
        let x_curr = self.config.x_curr(d_tilde, self.p_loss, self.p_mark);
        let receive_rate = self.received.rate(now);
        self.latest = Some(Latest { d_queue, d_tilde, x_curr, receive_rate });
        Some(LawReport::Nada(NadaReport {
            ramp_up: self.may_ramp_up(now),
            congestion: TimeDelta::from_millis_f64(x_curr),
            receive_rate: receive_rate.unwrap_or_default(),
        }))
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let of = |value: fn(&Latest) -> f64| self.latest.as_ref().map_or(f64::NAN, value);
        let values = [
            of(|latest| latest.d_queue),
            of(|latest| latest.d_tilde),
            self.p_loss,
            self.p_mark,
            of(|latest| latest.x_curr),
            of(|latest| latest.receive_rate.map_or(f64::NAN, DataRate::bps_f64)),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests;
