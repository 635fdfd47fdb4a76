//! The sender: feedback → reference window → target rate.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::Config;
use super::drain::Drain;
use super::path::{Path, PathFeedback};
use super::window::{self, RefWindow, WindowUpdate};
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

/// The sender half of SCReAM version 2.
#[derive(Debug)]
pub struct ScreamV2 {
    config: Config,
    standing: RateInForce,
    path: Path,
    /// The reference window, once a round-trip time is known; before, the start rate replaces it.
    window: Option<RefWindow>,
    qdelay_target: QdelayTarget,
    loss_events: LossEventRate,
    drain: Drain,
    /// `target_rate` in bit/s.
    target: f64,
    silence: FeedbackTimeout,
    /// Kind of congestion of the last reaction.
    congestion: LimitingFactor,
    /// Whether the window has not been congested for a while.
    calm: bool,
}

impl ScreamV2 {
    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            standing: RateInForce::new(limits),
            path: Path::new(&config),
            window: None,
            qdelay_target: QdelayTarget::new(config.competition()),
            loss_events: LossEventRate::new(),
            drain: Drain::default(),
            target: limits.start().bps_f64(),
            silence: FeedbackTimeout::new(config.feedback_timeout),
            congestion: LimitingFactor::Delay,
            calm: true,
        })
    }

    /// Computes the window and the rate after feedback. Returns the reason of the change, if a rate was computed.
    fn on_packets(
        &mut self,
        now: SendTime,
        results: &[PacketResult],
        rtt: Option<TimeDelta>,
    ) -> Option<ChangeReason> {
        let config = self.config;
        let in_flight = self.path.bytes_in_flight();
        let feedback = PathFeedback {
            results,
            rtt,
            qdelay_target: self.qdelay_target.get(),
            ref_wnd: self.window.as_ref().map(RefWindow::ref_wnd),
            idle: self.window.as_ref().is_some_and(RefWindow::is_idle),
        };
        let outcome = self.path.on_feedback(now, &config, &feedback);
        let s_rtt = self.path.s_rtt()?;
        let mss = self.path.mss();
        let standing = window::FeedbackState {
            s_rtt,
            qdelay_target: feedback.qdelay_target,
            target_rate: self.target,
            max_rate: self.standing.limits.max().bps_f64(),
        };
        let window = self.window.get_or_insert_with(|| {
            let mut window = RefWindow::new(config.window_for(standing.target_rate, s_rtt, mss));
            window.set(mss, window.ref_wnd());
            window
        });
        let update = window.on_feedback(now, &config, &self.path, &standing, &outcome, in_flight);
        self.calm = window.is_calm(now, &config, s_rtt);
        if outcome.acked.bytes.is_some() {
            self.on_qdelay(now, s_rtt, update == WindowUpdate::Reduced(ChangeReason::Loss));
        }
        let window = self.window.as_ref()?;
        let why = match update {
            WindowUpdate::Kept => return None,
            // Only a longer round trip can lower the rate here.
            WindowUpdate::Grown => ChangeReason::Delay,
            WindowUpdate::Reduced(why) => {
                self.congestion =
                    if why == ChangeReason::Loss { LimitingFactor::Loss } else { LimitingFactor::Delay };
                why
            }
        };
        let rate = config.target_rate(window.ref_wnd(), window.mss_share(), s_rtt, mss);
        self.target = self.standing.limits.clamp_bps(rate);
        Some(why)
    }

    /// The queue delay of a higher acknowledged packet, and whether the window reacted to loss.
    fn on_qdelay(&mut self, now: SendTime, s_rtt: f64, lost: bool) {
        let qdelay_target = self.qdelay_target.get();
        self.loss_events.on_feedback(now, TimeDelta::from_secs_f64(s_rtt), lost);
        self.qdelay_target.on_feedback(self.path.qdelay(), self.loss_events.get());
        let slow_least = self.path.averages().slow_least();
        if self.drain.on_feedback(now, &self.config, slow_least, qdelay_target, s_rtt) {
            self.path.forget_base_delay();
        }
    }

    fn rtt(&self) -> Option<TimeDelta> {
        self.path.s_rtt().map(TimeDelta::from_secs_f64)
    }

    fn target_rate(&self) -> DataRate {
        self.standing.limits.round(self.target)
    }

    /// Congestion window in bytes: in a smaller one the pacer's departures at the lowest rate would not fit.
    fn sendable(&self, window: &RefWindow) -> DataSize {
        let config = &self.config;
        let (limits, headroom, mss) = (&self.standing.limits, config.packet_pacing_headroom, self.path.mss());
        let least = |s_rtt| least_window(limits, headroom, s_rtt, config.payload_share(mss));
        let least = self.path.s_rtt().map_or(0.0, least);
        let (low, high) = (config.least_ref_wnd_overhead, config.ref_wnd_overhead);
        let overhead = low + (high - low) * self.path.averages().evenness(config);
        DataSize::from_bytes_f64(least.max(window.ref_wnd() * overhead + mss))
    }

    /// Rate at which the pacer spaces packets. During a feedback timeout a minimum rate detects its end.
    fn pacing_rate(&self) -> DataRate {
        let min = self.config.rate_pace_min;
        if self.silence.is_silent() {
            min.max(self.standing.limits.min())
        } else {
            min.max(self.target_rate()).scale(self.config.packet_pacing_headroom)
        }
    }

    /// Makes a decision of a computed rate; `why` is the reason if it is lower now. A loss or ECN event is a cut at
    /// the minimum, too.
    fn decide(&mut self, now: SendTime, why: ChangeReason) -> Decision {
        let lower = matches!(why, ChangeReason::Loss | ChangeReason::Mark | ChangeReason::Timeout);
        let limited_by = match why {
            ChangeReason::Timeout => Some(LimitingFactor::Silence),
            ChangeReason::Limits | ChangeReason::Route => None,
            _ => (!self.calm).then_some(self.congestion),
        };
        let (rate, rtt) = (self.target_rate(), self.rtt());
        let decision = self.standing.decide(Decided { rate, lower, why, limited_by, rtt });
        self.standing.follow(now, &decision, rate);
        decision
    }
}

impl Controller for ScreamV2 {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        self.path.on_sent(&self.config, packet);
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
        let why = self.on_packets(now, results, rtt);
        self.silence.on_feedback(now, self.path.bytes_in_flight() > 0);
        why.map(|why| self.decide(now, why))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        self.target = self.standing.limits.clamp_bps(feedback_timeout::FACTOR * self.target);
        if let Some(window) = &mut self.window {
            window.set(self.path.mss(), feedback_timeout::FACTOR * window.ref_wnd());
        }
        Some(self.decide(now, ChangeReason::Timeout))
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        match event {
            PathEvent::Limits(limits) => {
                self.standing.limits = limits;
                self.target = limits.clamp_bps(self.target);
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
                let limits = self.standing.limits;
                self.path = Path::new(&self.config);
                self.window = None;
                self.qdelay_target = QdelayTarget::new(self.config.competition());
                self.loss_events = LossEventRate::new();
                self.drain = Drain::default();
                self.target = limits.clamp_bps(self.target.min(limits.start().bps_f64()));
                (self.congestion, self.calm) = (LimitingFactor::Delay, true);
                self.silence.end();
                Some(self.decide(now, ChangeReason::Route))
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        let (rate, limits) = (self.target_rate(), &self.standing.limits);
        // A closed window never opens by itself: during a feedback timeout the pacing rate alone bounds what is
        // sent.
        let open = self.window.as_ref().filter(|_| !self.silence.is_silent());
        let window = open.map(|window| self.sendable(window));
        let share = self.drain.share(&self.config);
        let media_rate = limits.clamp(rate.scale(share));
        let pacing = Pacing::Exact(self.pacing_rate());
        Target { media_rate, window, ..Target::at(rate, pacing, self.standing.limiting_factor(share < 1.0)) }
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        let limits = self.standing.limits;
        let bounded = self.target <= limits.min().bps_f64() || self.target >= limits.max().bps_f64();
        if let Some((taken, factor)) = self.standing.apply_allocation(share) {
            self.path.scale(now, factor);
            if let (Some(window), Some(s_rtt)) = (&mut self.window, self.path.s_rtt()) {
                // At a bound the rate does not show the window behind it: the window is set from the allocation.
                let placed =
                    self.config.window_for(taken.bps_f64(), s_rtt, self.path.mss()) / window.ref_wnd();
                window.scale(if bounded { placed } else { factor });
            }
            self.target = taken.bps_f64();
        }
        self.standing.decided()
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "ref_wnd", unit: "byte", meaning: "reference window" },
            Signal { name: "ref_wnd_i", unit: "byte", meaning: "reference window at the last congestion" },
            Signal {
                name: "bytes_in_flight",
                unit: "byte",
                meaning: "sent after the highest acknowledged packet",
            },
            Signal { name: "qdelay", unit: "s", meaning: "queue delay of the highest acknowledged packet" },
            Signal {
                name: "qdelay_avg",
                unit: "s",
                meaning: "average queue delay above qdelay_least_avg: falls at once, rises slowly",
            },
            Signal {
                name: "qdelay_target",
                unit: "s",
                meaning: "queue delay from half of which the window yields",
            },
            Signal {
                name: "qdelay_least_avg",
                unit: "s",
                meaning: "slow average of the least queue delay: one that never empties is drained",
            },
            Signal {
                name: "evenness",
                unit: "",
                meaning: "1 while the queue delay is even, 0 where it spreads by 10 ms",
            },
            Signal { name: "l4s_alpha", unit: "", meaning: "averaged share of packets marked by L4S" },
            Signal { name: "s_rtt", unit: "s", meaning: "smoothed round-trip time" },
            Signal { name: "loss_rate", unit: "", meaning: "running share of lost packets" },
            Signal { name: "target_rate", unit: "bit/s", meaning: "rate for the encoder" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let window = |read: fn(&RefWindow) -> f64| self.window.as_ref().map_or(f64::NAN, read);
        let averages = self.path.averages();
        let values = [
            window(RefWindow::ref_wnd),
            window(RefWindow::ref_wnd_i),
            self.path.bytes_in_flight() as f64,
            self.path.qdelay(),
            averages.average(),
            self.qdelay_target.get(),
            averages.slow_least(),
            averages.evenness(&self.config),
            self.path.l4s_alpha().get(),
            self.path.s_rtt().unwrap_or(f64::NAN),
            self.path.loss_rate(),
            self.target,
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: ChangeReason) -> [Option<Evidence>; 3] {
        match why {
            ChangeReason::Loss => {
                [Evidence::against("loss_rate", self.config.loss_rate_threshold), None, None]
            }
            ChangeReason::Mark => [Evidence::of("l4s_alpha"), None, None],
            // From half of its target on queue delay reduces the window; the rate is the window per round trip.
            _ => [
                Evidence::against("qdelay_avg", self.qdelay_target.get() / 2.0),
                Evidence::of("s_rtt"),
                Evidence::of("ref_wnd"),
            ],
        }
    }
}

#[cfg(test)]
mod tests;
