//! The sender: feedback → congestion window → media rate.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::Config;
use super::path::{AckOutcome, Path};
use super::rate::{self, RateControl};
use super::trend::QdelayTrend;
use super::window::{self, ScreamWindow, counts};
use crate::config_error::ConfigError;
use crate::controller::{
    Controller, Evidence, LimitingFactor, Pacing, PathEvent, RateLimits, Signal, Target,
};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::packet::{PacketResult, SendState, SentPacket};
use crate::parts::feedback_timeout::{self, FeedbackTimeout};
use crate::parts::least_window::least_window;
use crate::rate_controller::{Decided, RateInForce};
use crate::report::{Feedback, ReportKind};
use crate::scream::competition::QdelayTarget;
use crate::scream::loss::LossEventRate;
use crate::time::SendTime;

/// The sender half of SCReAM, RFC 8298.
#[derive(Debug)]
pub struct Scream {
    config: Config,
    standing: RateInForce,
    path: Path,
    trend: QdelayTrend,
    window: ScreamWindow,
    qdelay_target: QdelayTarget,
    loss_events: LossEventRate,
    rate: RateControl,
    silence: FeedbackTimeout,
    /// Share of the last media packet that is payload.
    payload_share: f64,
    /// When the last loss event was, and when a loss or ECN event was last reacted to.
    loss_at: Option<SendTime>,
    reduced_at: Option<SendTime>,
    /// Reason for the end of the last fast increase.
    congestion: LimitingFactor,
}

impl Scream {
    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            standing: RateInForce::new(limits),
            path: Path::new(),
            trend: QdelayTrend::new(config.trend_interval, config.qdelay_weight, config.trend_memory),
            window: ScreamWindow::new(&config),
            qdelay_target: QdelayTarget::new(config.competition()),
            loss_events: LossEventRate::new(),
            rate: RateControl::new(limits.start().bps_f64()),
            silence: FeedbackTimeout::new(config.feedback_timeout),
            payload_share: 1.0,
            loss_at: None,
            reduced_at: None,
            congestion: LimitingFactor::Delay,
        })
    }

    /// RFC 8298 §4.1.2: the steps on each feedback. Returns the loss or ECN event that changed the rate, if there was one.
    fn on_packets(
        &mut self,
        now: SendTime,
        results: &[PacketResult],
        rtt: Option<TimeDelta>,
    ) -> Option<ChangeReason> {
        let outcome = self.path.on_feedback(now, results, rtt);
        self.rate.on_received(outcome.acked.received);
        self.window.on_acked(outcome.acked.bytes.unwrap_or(0));
        self.window.on_flight(now, &self.config, self.path.bytes_in_flight());
        if outcome.acked.bytes.is_some() {
            self.trend.on_feedback(now, self.path.qdelay() / self.qdelay_target.get());
        }
        let beta = self.event(now, &outcome);
        if let Some((window_factor, rate_factor)) = beta {
            self.window.on_congestion(now, &self.config, window_factor);
            self.rate.on_congestion(now, rate_factor, &self.standing.limits);
        } else if outcome.acked.bytes.is_some() {
            self.update_window(now);
        }
        if outcome.acked.bytes.is_some() {
            self.qdelay_target.on_feedback(self.path.qdelay(), self.loss_events.get());
        }
        beta.map(|_| if outcome.lost { ChangeReason::Loss } else { ChangeReason::Mark })
    }

    /// The factors of window and rate if `outcome` is a loss or an ECN event that counts. Both are signs of the same
    /// congestion: one reaction per round trip (RFC 3168 §6.1.2). RFC 8298 §4.1.2.2, §4.1.3.
    fn event(&mut self, now: SendTime, outcome: &AckOutcome) -> Option<(f64, f64)> {
        let rtt = self.path.rtt();
        let loss = outcome.lost && counts(now, self.loss_at, rtt);
        self.loss_at = if loss { Some(now) } else { self.loss_at };
        if outcome.acked.bytes.is_some() || loss {
            self.loss_events.on_feedback(now, rtt.unwrap_or_default(), loss);
        }
        if !(outcome.lost || outcome.acked.marked > 0) || !counts(now, self.reduced_at, rtt) {
            return None;
        }
        self.reduced_at = Some(now);
        self.congestion = if outcome.lost { LimitingFactor::Loss } else { LimitingFactor::Delay };
        let config = &self.config;
        Some(if outcome.lost {
            (config.beta_loss, config.beta_r)
        } else {
            (config.beta_ecn, config.beta_ecn)
        })
    }

    fn update_window(&mut self, now: SendTime) {
        let seen = window::WindowInputs {
            bytes_in_flight: self.path.bytes_in_flight(),
            qdelay: self.path.qdelay(),
            qdelay_target: self.qdelay_target.get(),
            qdelay_trend: self.trend.get(),
        };
        if self.window.update(&self.config, &seen) {
            self.rate.note_max(now);
            self.congestion = LimitingFactor::Delay;
        }
        self.window.resume(now, &self.config, self.trend.get());
    }

    /// RFC 8298 §4.1.3. Returns the reason of the change, if a rate was computed.
    fn update_rate(&mut self, now: SendTime, state: &SendState) -> Option<ChangeReason> {
        if !self.rate.is_due(now, self.config.rate_adjust_interval) {
            return None;
        }
        let (config, queued) = (&self.config, state.queued.bytes());
        if self.silence.is_silent() {
            self.rate.measure_only(now, config, queued);
            return None;
        }
        let seen = rate::RateInputs {
            in_fast_increase: self.window.in_fast_increase(),
            qdelay_trend: self.trend.get(),
            qdelay_trend_mem: self.trend.memory(),
        };
        if !self.rate.update(now, config, &self.standing.limits, queued, &seen) {
            return None;
        }
        // The target falls to the rate that was sent.
        Some(if state.application_limited { ChangeReason::Application } else { ChangeReason::Delay })
    }

    fn target_bitrate(&self) -> DataRate {
        self.standing.limits.round(self.rate.target())
    }

    /// RFC 8298 §4.1.2.6. Before the first round-trip time it is the start rate, during a feedback timeout a
    /// minimum rate that detects its end.
    fn pacing_rate(&self) -> DataRate {
        let min = self.config.rate_pace_min;
        if self.silence.is_silent() {
            return min.max(self.standing.limits.min());
        }
        match self.path.s_rtt() {
            Some(s_rtt) => self
                .least_rate()
                .max(DataRate::from_bps_f64(self.config.pacing_rate(self.window.cwnd(), s_rtt))),
            None => min.max(self.target_bitrate()),
        }
    }

    /// Rate that window and pacer let through however small the window is: the lowest rate, and some headroom that
    /// drains the backlog at the sender.
    fn least_rate(&self) -> DataRate {
        self.standing.limits.min().scale(self.config.bytes_in_flight_head_room)
    }

    /// Bytes that may be in flight. Packets wait at the receiver for the next report, besides the round-trip time.
    fn sendable(&self) -> f64 {
        let (qdelay, qdelay_target) = (self.path.qdelay(), self.qdelay_target.get());
        let wait = Config::CADENCE.interval(self.least_rate().bps_f64()).secs_f64();
        let (limits, headroom) = (&self.standing.limits, self.config.bytes_in_flight_head_room);
        let least = |s_rtt: f64| least_window(limits, headroom, s_rtt + wait, self.payload_share);
        let least = self.path.s_rtt().map_or(0.0, least);
        self.config.sendable(self.window.cwnd().max(least), qdelay, qdelay_target)
    }

    /// Makes a decision of a computed rate; `why` is the reason if it is lower now. A loss or ECN event is a cut at
    /// the minimum, too.
    fn decide(&mut self, now: SendTime, why: ChangeReason) -> Decision {
        let lower = matches!(why, ChangeReason::Loss | ChangeReason::Mark | ChangeReason::Timeout);
        let limited_by = match why {
            ChangeReason::Timeout => Some(LimitingFactor::Silence),
            ChangeReason::Limits | ChangeReason::Route => None,
            _ => (!self.window.in_fast_increase()).then_some(self.congestion),
        };
        let (rate, rtt) = (self.target_bitrate(), self.path.rtt());
        let decision = self.standing.decide(Decided { rate, lower, why, limited_by, rtt });
        self.standing.follow(now, &decision, rate);
        decision
    }

    /// The path is another one: everything begins anew, at the start rate at most.
    fn begin_anew(&mut self) {
        let config = self.config;
        self.path = Path::new();
        self.trend = QdelayTrend::new(config.trend_interval, config.qdelay_weight, config.trend_memory);
        self.window = ScreamWindow::new(&config);
        self.qdelay_target = QdelayTarget::new(config.competition());
        self.loss_events = LossEventRate::new();
        let target = self.rate.target().min(self.standing.limits.start().bps_f64());
        self.rate = RateControl::new(self.standing.limits.clamp_bps(target));
        (self.loss_at, self.reduced_at) = (None, None);
        self.congestion = LimitingFactor::Delay;
        self.silence.end();
    }
}

impl Controller for Scream {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        if !packet.padding && !packet.payload.is_zero() && packet.payload <= packet.size {
            self.payload_share = packet.payload.bytes_f64() / packet.size.bytes_f64();
        }
        self.path.on_sent(packet);
        self.window.on_flight(packet.at, &self.config, self.path.bytes_in_flight());
        self.rate.on_sent(packet, state.queued.bytes(), self.config.rate_adjust_interval);
        self.silence.on_sent(packet.at);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Packets
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let Feedback::Packets { results, rtt, .. } = *feedback else {
            return None;
        };
        self.standing.application_limited = state.application_limited;
        let event = self.on_packets(now, results, rtt);
        self.silence.on_feedback(now, self.path.bytes_in_flight() > 0);
        event.map(|why| self.decide(now, why))
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        let mut why = None;
        if self.silence.step(now) {
            self.window.shrink(&self.config, feedback_timeout::FACTOR);
            self.rate.set(self.standing.limits.clamp_bps(feedback_timeout::FACTOR * self.rate.target()));
            why = Some(ChangeReason::Timeout);
        }
        why = why.or(self.update_rate(now, state));
        why.map(|why| self.decide(now, why))
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        match event {
            PathEvent::Limits(limits) => {
                self.standing.limits = limits;
                self.rate.set(limits.clamp_bps(self.rate.target()));
                Some(self.decide(now, ChangeReason::Limits))
            }
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence.end();
                None
            }
            PathEvent::DelayRefuted => {
                self.path.forget_base_delay();
                None
            }
            PathEvent::RouteChanged => {
                self.begin_anew();
                Some(self.decide(now, ChangeReason::Route))
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        let (rate, silence) = (self.rate.next_timeout(), self.silence.next_timeout());
        rate.into_iter().chain(silence).min()
    }

    fn target(&self) -> Target {
        let rate = self.target_bitrate();
        // A closed window never opens by itself: during a feedback timeout the pacing rate alone bounds what is
        // sent.
        let window = (!self.silence.is_silent()).then(|| DataSize::from_bytes_f64(self.sendable()));
        let pacing = Pacing::Exact(self.pacing_rate());
        Target { window, ..Target::at(rate, pacing, self.standing.limiting_factor(false)) }
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        if let Some((taken, factor)) = self.standing.apply_allocation(share) {
            self.path.scale(now, factor);
            self.window.scale(factor);
            self.rate.scale(taken.bps_f64(), factor);
        }
        self.standing.decided()
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "cwnd", unit: "byte", meaning: "congestion window" },
            Signal {
                name: "bytes_in_flight",
                unit: "byte",
                meaning: "sent after the highest acknowledged packet",
            },
            Signal { name: "qdelay", unit: "s", meaning: "queue delay of the highest acknowledged packet" },
            Signal { name: "qdelay_target", unit: "s", meaning: "queue delay that the window aims at" },
            Signal { name: "qdelay_trend", unit: "", meaning: "whether the queue delay is about to grow" },
            Signal { name: "qdelay_trend_mem", unit: "", meaning: "the trend's largest value, fading" },
            Signal { name: "s_rtt", unit: "s", meaning: "smoothed round-trip time" },
            Signal { name: "in_fast_increase", unit: "", meaning: "1 while window and rate grow freely" },
            Signal { name: "loss_event_rate", unit: "", meaning: "share of round trips with a loss event" },
            Signal { name: "target_bitrate", unit: "bit/s", meaning: "rate for the encoder" },
            Signal {
                name: "target_bitrate_last_max",
                unit: "bit/s",
                meaning: "rate reached at the last congestion",
            },
            Signal { name: "current_rate", unit: "bit/s", meaning: "sent or received in the last interval" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let values = [
            self.window.cwnd(),
            self.path.bytes_in_flight() as f64,
            self.path.qdelay(),
            self.qdelay_target.get(),
            self.trend.get(),
            self.trend.memory(),
            self.path.s_rtt().unwrap_or(f64::NAN),
            f64::from(u8::from(self.window.in_fast_increase())),
            self.loss_events.get(),
            self.rate.target(),
            self.rate.last_max(),
            self.rate.current_rate(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: ChangeReason) -> [Option<Evidence>; 3] {
        let by_loss = Evidence::of("loss_event_rate");
        let by_delay = Evidence::against("qdelay", self.qdelay_target.get());
        match why {
            ChangeReason::Loss => [by_loss, None, None],
            _ => [by_delay, Evidence::against("bytes_in_flight", self.window.cwnd()), by_loss],
        }
    }
}

#[cfg(test)]
mod tests;
