//! The sender: feedback → reference window → target rate.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::{Config, Edition};
use super::drain::Drain;
use super::rate::Basis;
use super::window::{RefWindow, Seen};
use crate::config_error::ConfigError;
use crate::controller::{
    Controller, Evidence, LimitingFactor, Pacing, PathEvent, RateLimits, Signal, Target,
};
use crate::decision::{Decision, Share, Why};
use crate::packet::{SendState, SentPacket};
use crate::parts::least_window::least_window;
use crate::parts::silence::{self, Silence};
use crate::rate_law::{Decided, Standing};
use crate::report::{Feedback, ReportKind};
use crate::scream::competition::QdelayTarget;
use crate::scream::loss::LossEventRate;
use crate::scream::network::{Network, News};
use crate::time::SendTime;

/// The sender half of SCReAM version 2.
#[derive(Debug)]
pub struct ScreamV2 {
    config: Config,
    standing: Standing,
    network: Network,
    /// `None` before the first round-trip time: then the start rate stands for it.
    window: Option<RefWindow>,
    qdelay_target: QdelayTarget,
    loss_events: LossEventRate,
    drain: Drain,
    /// `target_rate` in bit/s.
    target: f64,
    silence: Silence,
    /// What was last reacted to.
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
            standing: Standing::new(limits),
            network: Network::new(),
            window: None,
            qdelay_target: QdelayTarget::new(config.competition()),
            loss_events: LossEventRate::new(),
            drain: Drain::default(),
            target: limits.start().bps_f64(),
            silence: Silence::new(config.feedback_timeout),
            congestion: LimitingFactor::Delay,
            calm: true,
        })
    }

    /// The window and the rate after `news`, `before` which so many bytes were in flight. Returns what lowered the rate, if
    /// it is lower; `None` if none was computed.
    fn on_news(&mut self, now: SendTime, news: &News, before: u64) -> Option<Why> {
        let (s_rtt, rtt) = (self.network.s_rtt()?, self.network.rtt()?);
        let config = self.config;
        let seen = Seen {
            s_rtt,
            qdelay: self.network.qdelay(),
            qdelay_target: self.qdelay_target.get(),
            target_rate: self.target,
            l4s: self.network.is_l4s(),
        };
        let window = self.window.get_or_insert_with(|| {
            let mut window = RefWindow::new(&config);
            window.set(&config, config.window_for(seen.target_rate, s_rtt));
            window
        });
        window.on_flight(now, rtt, self.network.bytes_in_flight());
        window.observe(now, &config, &seen, news);
        let reaction =
            window.update(now, &config, &seen, news, self.target >= self.standing.limits.max().bps_f64());
        let compensate = match config.edition {
            Edition::Early => window.l4s_is_inactive(&config, &seen),
            Edition::Late => seen.qdelay > 0.25 * seen.qdelay_target,
        };
        let in_flight = match config.edition {
            Edition::Early => self.network.bytes_in_flight(),
            Edition::Late => before,
        };
        let basis = Basis { ref_wnd: window.ref_wnd(), s_rtt, bytes_in_flight: in_flight as f64, compensate };
        self.target = self.standing.limits.clamp_bps(config.target_rate(&basis));
        if let Some(why) = reaction {
            self.congestion = if why == Why::Loss { LimitingFactor::Loss } else { LimitingFactor::Delay };
        }
        self.calm = window.is_calm(now, &config, s_rtt);
        self.loss_events.on_feedback(now, rtt, reaction == Some(Why::Loss));
        if news.acked.is_some() {
            self.on_qdelay(now, &seen, rtt);
        }
        Some(reaction.unwrap_or(Why::Delay))
    }

    /// The queue delay of a higher acknowledged packet.
    fn on_qdelay(&mut self, now: SendTime, seen: &Seen, rtt: TimeDelta) {
        self.qdelay_target.on_feedback(seen.qdelay, self.loss_events.get());
        if self.drain.on_feedback(now, &self.config, seen.qdelay, seen.qdelay_target, rtt) {
            self.network.forget_base_delay();
        }
    }

    fn target_rate(&self) -> DataRate {
        self.standing.limits.round(self.target)
    }

    /// Bytes that may be in flight: not so few that what the pacer lets go at the lowest rate would not fit.
    fn sendable(&self, window: &RefWindow) -> DataSize {
        let config = &self.config;
        let (limits, headroom) = (&self.standing.limits, config.packet_pacing_headroom);
        let least = |s_rtt| least_window(limits, headroom, s_rtt, config.payload_share());
        let least = self.network.s_rtt().map_or(0.0, least);
        DataSize::from_bytes_f64(least.max(window.ref_wnd() * config.ref_wnd_overhead))
    }

    /// During silence only so much as to notice its end.
    fn pacing_rate(&self) -> DataRate {
        let min = self.config.rate_pace_min;
        if self.silence.is_silent() {
            min.max(self.standing.limits.min())
        } else {
            min.max(self.target_rate()).scale(self.config.packet_pacing_headroom)
        }
    }

    /// A rate was computed; `why` is what lowered it, if it is lower now. A loss or ECN event is a cut at the minimum, too.
    fn decide(&mut self, now: SendTime, why: Why) -> Decision {
        let lower = matches!(why, Why::Loss | Why::Mark | Why::Timeout);
        let limited_by = match why {
            Why::Timeout => Some(LimitingFactor::Silence),
            Why::Limits | Why::Route => None,
            _ => (!self.calm).then_some(self.congestion),
        };
        let (rate, rtt) = (self.target_rate(), self.network.rtt());
        let decision = self.standing.decide(Decided { rate, lower, why, limited_by, rtt });
        self.standing.follow(now, &decision, rate);
        decision
    }
}

impl Controller for ScreamV2 {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        self.network.on_sent(packet);
        if let (Some(window), Some(rtt)) = (self.window.as_mut(), self.network.rtt()) {
            window.on_flight(packet.at, rtt, self.network.bytes_in_flight());
        }
        self.silence.on_sent(packet.at);
    }

    fn hears(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Packets
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let Feedback::Packets { results, rtt, .. } = *feedback else {
            return None;
        };
        self.standing.application_limited = state.application_limited;
        let in_flight = self.network.bytes_in_flight();
        let news = self.network.on_feedback(now, results, rtt);
        self.silence.on_feedback(now, self.network.bytes_in_flight() > 0);
        self.on_news(now, &news, in_flight).map(|why| self.decide(now, why))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        self.target = self.standing.limits.clamp_bps(silence::FACTOR * self.target);
        if let Some(window) = &mut self.window {
            window.set(&self.config, silence::FACTOR * window.ref_wnd());
        }
        Some(self.decide(now, Why::Timeout))
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        match event {
            PathEvent::Limits(limits) => {
                self.standing.limits = limits;
                self.target = limits.clamp_bps(self.target);
                Some(self.decide(now, Why::Limits))
            }
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence.end();
                None
            }
            PathEvent::RouteChanged => {
                let limits = self.standing.limits;
                self.network.forget_path();
                self.window = None;
                self.qdelay_target = QdelayTarget::new(self.config.competition());
                self.loss_events = LossEventRate::new();
                self.drain = Drain::default();
                self.target = limits.clamp_bps(self.target.min(limits.start().bps_f64()));
                (self.congestion, self.calm) = (LimitingFactor::Delay, true);
                self.silence.end();
                Some(self.decide(now, Why::Route))
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        let (rate, limits) = (self.target_rate(), &self.standing.limits);
        // A closed window never opens by itself: during silence the pacing rate alone bounds what is sent.
        let open = self.window.as_ref().filter(|_| !self.silence.is_silent());
        let window = open.map(|window| self.sendable(window));
        let share = self.drain.share(&self.config);
        let media_rate = limits.clamp(rate.scale(share));
        let pacing = Pacing::Exact(self.pacing_rate());
        Target { media_rate, window, ..Target::at(rate, pacing, self.standing.limiting_factor(share < 1.0)) }
    }

    fn adopt(&mut self, now: SendTime, share: Share) -> DataRate {
        let limits = self.standing.limits;
        let bounded = self.target <= limits.min().bps_f64() || self.target >= limits.max().bps_f64();
        if let Some((taken, factor)) = self.standing.adopt(share) {
            self.network.scale(now, factor);
            if let (Some(window), Some(s_rtt)) = (&mut self.window, self.network.s_rtt()) {
                // A bound hides what the window is good for.
                let placed = self.config.window_for(taken.bps_f64(), s_rtt) / window.ref_wnd();
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
            Signal { name: "qdelay_avg", unit: "s", meaning: "its average: falls at once, rises slowly" },
            Signal {
                name: "qdelay_target",
                unit: "s",
                meaning: "queue delay from half of which the window yields",
            },
            Signal {
                name: "qdelay_min_avg",
                unit: "s",
                meaning: "slow average of the least queue delay: one that never empties is drained",
            },
            Signal { name: "l4s_alpha", unit: "", meaning: "averaged share of packets marked by L4S" },
            Signal { name: "s_rtt", unit: "s", meaning: "smoothed round-trip time" },
            Signal { name: "loss_event_rate", unit: "", meaning: "share of round trips with a loss event" },
            Signal { name: "target_rate", unit: "bit/s", meaning: "rate for the encoder" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let window = |read: fn(&RefWindow) -> f64| self.window.as_ref().map_or(f64::NAN, read);
        let values = [
            window(RefWindow::ref_wnd),
            window(RefWindow::ref_wnd_i),
            self.network.bytes_in_flight() as f64,
            self.network.qdelay(),
            window(RefWindow::qdelay_avg),
            self.qdelay_target.get(),
            self.drain.least_qdelay(),
            window(RefWindow::l4s_alpha),
            self.network.s_rtt().unwrap_or(f64::NAN),
            self.loss_events.get(),
            self.target,
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: Why) -> [Option<Evidence>; 3] {
        match why {
            Why::Loss => [Evidence::of("loss_event_rate"), None, None],
            Why::Mark => [Evidence::of("l4s_alpha"), None, None],
            // From half of its target on the window yields; the rate is the window per round trip.
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
