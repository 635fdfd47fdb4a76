//! The sender half: it follows the ceiling.

use weir_units::DataRate;

use super::config::Config;
use crate::config_error::ConfigError;
use crate::controller::{Cause, Controller, Decision, Pacing, PathEvent, RateLimits, Share, Signal, Target};
use crate::packet::{SendState, SentPacket};
use crate::parts::silence::{self, Silence};
use crate::report::Feedback;
use crate::time::SendTime;

/// The sender of dccc-2017's simplified GCC: an ideal source at the receiver's rate.
#[derive(Debug)]
pub struct SimplifiedGccSender {
    limits: RateLimits,
    rate: DataRate,
    ceiling: Option<DataRate>,
    cause: Cause,
    application_limited: bool,
    silence: Silence,
}

impl SimplifiedGccSender {
    /// A sender half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            limits,
            rate: limits.start(),
            ceiling: None,
            cause: Cause::RampUp,
            application_limited: false,
            silence: Silence::new(config.feedback_timeout),
        })
    }

    fn on_ceiling(&mut self, ceiling: DataRate) {
        let before = self.ceiling.replace(ceiling);
        self.cause = if before.is_none_or(|before| ceiling > before) { Cause::RampUp } else { Cause::Delay };
        self.rate = self.limits.clamp(ceiling);
    }

    fn decision(&self, base: DataRate) -> Decision {
        Decision { rate: self.rate, base, cause: self.limited_by(), rtt: None }
    }

    /// A bound, else the source, else what the law found.
    fn limited_by(&self) -> Cause {
        let cause = if self.application_limited { Cause::Application } else { self.cause };
        self.limits.cause(self.rate, cause)
    }
}

impl Controller for SimplifiedGccSender {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        self.silence.on_sent(packet.at);
    }

    fn on_feedback(
        &mut self,
        _now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
    ) -> Option<Decision> {
        let Feedback::Ceiling(ceiling) = *feedback else { return None };
        let base = self.rate;
        self.application_limited = state.application_limited;
        self.silence.end();
        self.on_ceiling(ceiling);
        Some(self.decision(base))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        let base = self.rate;
        self.rate = self.limits.clamp(self.rate.scale(silence::FACTOR));
        self.cause = Cause::Receiver;
        Some(self.decision(base))
    }

    fn on_event(&mut self, _now: SendTime, event: PathEvent) -> Option<Decision> {
        let base = self.rate;
        match event {
            PathEvent::Limits(limits) => {
                self.limits = limits;
                self.rate = limits.clamp(self.rate);
            }
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence.end();
                return None;
            }
            PathEvent::RouteChanged => {
                self.silence.end();
                self.ceiling = None;
                self.rate = self.rate.min(self.limits.start());
                self.cause = Cause::RampUp;
            }
        }
        Some(self.decision(base))
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        Target {
            media_rate: self.rate,
            sending_rate: self.rate,
            pacing: Pacing::Exact(self.rate),
            window: None,
            padding: DataRate::ZERO,
            cause: self.limited_by(),
        }
    }

    fn adopt(&mut self, _now: SendTime, share: Share) {
        self.rate = self.limits.clamp(share.rate);
        self.cause = Cause::Coupling;
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] =
            &[Signal { name: "A", unit: "bit/s", meaning: "rate that the receiver told last" }];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        if let Some(slot) = out.first_mut() {
            *slot = self.ceiling.map_or(f64::NAN, DataRate::bps_f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    fn sender() -> SimplifiedGccSender {
        SimplifiedGccSender::new(
            Config::default(),
            RateLimits::new(kbps(100), kbps(300), kbps(6000)).unwrap(),
        )
        .unwrap()
    }

    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn ceiling(sender: &mut SimplifiedGccSender, rate: DataRate) -> Decision {
        sender.on_feedback(at(0), &Feedback::Ceiling(rate), &SendState::default()).unwrap()
    }

    #[test]
    fn it_sends_evenly_at_the_receivers_rate_within_the_limits() {
        let mut sender = sender();
        assert_eq!(sender.target().media_rate, kbps(300));
        let decision = ceiling(&mut sender, kbps(500));
        assert_eq!((decision.base, decision.rate, decision.cause), (kbps(300), kbps(500), Cause::RampUp));
        assert_eq!(sender.target().pacing, Pacing::Exact(kbps(500)));
        assert_eq!(ceiling(&mut sender, kbps(450)).cause, Cause::Delay);
        assert_eq!(ceiling(&mut sender, kbps(1)).rate, kbps(100));
        assert_eq!(ceiling(&mut sender, kbps(9000)).cause, Cause::Maximum);
    }

    #[test]
    fn missing_rembs_halve_the_rate_each_second() {
        let mut sender = sender();
        ceiling(&mut sender, kbps(800));
        let size = DataSize::from_bytes(1000);
        let packet = SentPacket { id: 0, at: at(0), size, payload: size, padding: false, probe: None };
        let state = SendState::default();
        sender.on_sent(&packet, &state);
        assert_eq!(sender.next_timeout(), Some(at(3000)));
        assert_eq!(sender.on_timeout(at(2999), &state), None);
        assert_eq!(
            sender.on_timeout(at(3000), &state).map(|d| (d.rate, d.cause)),
            Some((kbps(400), Cause::Receiver))
        );
        sender.on_sent(&SentPacket { at: at(3500), ..packet }, &state);
        assert_eq!(sender.on_timeout(at(4000), &state).map(|d| d.rate), Some(kbps(200)));
        assert_eq!(sender.on_timeout(at(5000), &state), None, "nothing has left since");
        sender.on_sent(&SentPacket { at: at(6000), ..packet }, &state);
        sender.on_event(at(6000), PathEvent::RouteChanged);
        assert_eq!(sender.next_timeout(), None);
        ceiling(&mut sender, kbps(700));
        assert_eq!((sender.next_timeout(), sender.target().media_rate), (None, kbps(700)));
    }

    #[test]
    fn another_route_begins_at_the_start_rate() {
        let mut sender = sender();
        ceiling(&mut sender, kbps(800));
        ceiling(&mut sender, kbps(700));
        let decision = sender.on_event(at(0), PathEvent::RouteChanged).unwrap();
        assert_eq!((decision.base, decision.rate, decision.cause), (kbps(700), kbps(300), Cause::RampUp));
        assert_eq!(ceiling(&mut sender, kbps(400)).cause, Cause::RampUp, "the first one by this route");
    }

    #[test]
    fn coupling_and_limits_become_its_own_state() {
        let mut sender = sender();
        sender.adopt(at(0), Share { rate: kbps(900) });
        assert_eq!((sender.target().media_rate, sender.target().cause), (kbps(900), Cause::Coupling));
        let limits = RateLimits::new(kbps(100), kbps(300), kbps(400)).unwrap();
        assert_eq!(sender.on_event(at(0), PathEvent::Limits(limits)).map(|d| d.rate), Some(kbps(400)));
        assert_eq!(sender.on_event(at(0), PathEvent::Paused), None);
    }
}
