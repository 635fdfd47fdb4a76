//! The sender half: receiver reports → `A_s`; REMB → `A_r`; `A = min(A_s, A_r)`.

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, GrowOn};
use crate::config_error::ConfigError;
use crate::controller::{Cause, Controller, Decision, Pacing, PathEvent, RateLimits, Share, Signal, Target};
use crate::gcc::blocks::loss::{LossConfig, LossVerdict};
use crate::packet::{SendState, SentPacket};
use crate::parts::silence::{self, Silence};
use crate::report::Feedback;
use crate::time::SendTime;

/// The loss-based controller of gcc-2016 and the choice of `A`, at the sender.
#[derive(Debug)]
pub struct GccSender {
    config: Config,
    loss: LossConfig,
    limits: RateLimits,
    /// `A_s` in bit/s, never above `A_r`: it is the target `A` itself.
    rate: f64,
    /// `A_r`, once a REMB has come.
    ceiling: Option<DataRate>,
    /// `f_l` of the last receiver report.
    loss_ratio: f64,
    starting: bool,
    application_limited: bool,
    cause: Cause,
    rtt: Option<TimeDelta>,
    silence: Silence,
}

impl GccSender {
    /// A sender half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            loss: config.loss(),
            limits,
            rate: limits.start().bps_f64(),
            ceiling: None,
            loss_ratio: 0.0,
            starting: config.fast_start,
            application_limited: false,
            cause: Cause::RampUp,
            rtt: None,
            silence: Silence::new(config.feedback_timeout),
        })
    }

    fn rate(&self) -> DataRate {
        DataRate::from_bps_f64(self.rate)
    }

    fn on_ceiling(&mut self, ceiling: DataRate) {
        let before = self.ceiling.replace(ceiling);
        self.starting &= !before.is_some_and(|before| self.decreased(before, ceiling));
        if self.starting {
            self.rate = ceiling.bps_f64();
            self.bound(Cause::RampUp);
        } else if self.config.grow_on == GrowOn::ReportAndRemb {
            self.apply_loss();
        } else {
            self.bound(self.cause);
        }
    }

    /// Whether the receiver's controller decreased its rate. While the rate grows at the bound of 1.5 R it follows
    /// the noise of R by a few per cent; over-use takes it to `α·R`, so at least by the factor `α`.
    fn decreased(&self, before: DataRate, ceiling: DataRate) -> bool {
        ceiling.bps_f64() <= self.config.decrease * before.bps_f64()
    }

    fn on_loss(&mut self, loss_ratio: f64) {
        self.loss_ratio = loss_ratio;
        self.apply_loss();
    }

    fn apply_loss(&mut self) {
        let (rate, verdict) = self.loss.update(self.rate, self.loss_ratio);
        self.rate = rate;
        self.starting &= verdict != LossVerdict::Decrease;
        let cause = if verdict == LossVerdict::Increase { Cause::RampUp } else { Cause::Loss };
        self.bound(cause);
    }

    /// `A_s` cannot exceed `A_r` (gcc-2016 §3.2), nor the configured limits.
    fn bound(&mut self, cause: Cause) {
        self.cause = cause;
        if let Some(ceiling) = self.ceiling.map(DataRate::bps_f64) {
            if self.rate >= ceiling && !self.starting {
                self.cause = Cause::Delay;
            } else if cause == Cause::Delay {
                self.cause = Cause::RampUp;
            }
            self.rate = self.rate.min(ceiling);
        }
        self.rate = self.limits.clamp_bps(self.rate);
    }

    /// What limits the rate: a bound, else the source, else what the law found.
    fn cause(&self) -> Cause {
        let cause = if self.application_limited { Cause::Application } else { self.cause };
        self.limits.cause(self.rate(), cause)
    }

    fn decision(&self, base: DataRate) -> Decision {
        Decision { rate: self.rate(), base, cause: self.cause(), rtt: self.rtt }
    }
}

impl Controller for GccSender {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        self.silence.on_sent(packet.at);
    }

    fn on_feedback(
        &mut self,
        _now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
    ) -> Option<Decision> {
        let base = self.rate();
        self.application_limited = state.application_limited;
        match feedback {
            Feedback::Ceiling(ceiling) => self.on_ceiling(*ceiling),
            Feedback::Reception { report, rtt } => {
                self.rtt = rtt.or(self.rtt);
                self.on_loss(report.loss_ratio());
            }
            Feedback::Packets { .. } | Feedback::Law { .. } => return None,
        }
        // The next packet begins the wait for more: a source without data is not punished.
        self.silence.end();
        Some(self.decision(base))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        let base = self.rate();
        self.rate = self.limits.clamp_bps(self.rate * silence::FACTOR);
        self.starting = false;
        self.cause = Cause::Receiver;
        Some(self.decision(base))
    }

    fn on_event(&mut self, _now: SendTime, event: PathEvent) -> Option<Decision> {
        let base = self.rate();
        match event {
            PathEvent::Limits(limits) => {
                self.limits = limits;
                self.rate = limits.clamp_bps(self.rate);
            }
            PathEvent::Paused | PathEvent::Resumed => self.silence.end(),
            PathEvent::RouteChanged => {
                self.silence.end();
                (self.ceiling, self.rtt) = (None, None);
                self.loss_ratio = 0.0;
                self.rate = self.rate.min(self.limits.start().bps_f64());
                self.starting = self.config.fast_start;
                self.cause = Cause::RampUp;
            }
        }
        Some(self.decision(base))
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        let rate = self.rate();
        Target {
            media_rate: rate,
            sending_rate: rate,
            pacing: Pacing::Factor(self.config.pacing_factor),
            window: None,
            padding: DataRate::ZERO,
            cause: self.cause(),
        }
    }

    fn adopt(&mut self, _now: SendTime, share: Share) {
        self.rate = self.limits.clamp_bps(share.rate.bps_f64());
        self.starting = false;
        self.cause = Cause::Coupling;
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "A_s", unit: "bit/s", meaning: "rate of the loss-based controller, the target A" },
            Signal { name: "A_r(REMB)", unit: "bit/s", meaning: "last ceiling the receiver told" },
            Signal { name: "f_l", unit: "", meaning: "loss ratio of the last receiver report" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let values = [self.rate, self.ceiling.map_or(f64::NAN, DataRate::bps_f64), self.loss_ratio];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ReceptionReport;

    const STATE: SendState = SendState {
        in_flight: weir_units::DataSize::ZERO,
        queued: weir_units::DataSize::ZERO,
        application_limited: false,
    };

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    fn sender(config: Config) -> GccSender {
        GccSender::new(config, RateLimits::new(kbps(50), kbps(1000), kbps(2500)).unwrap()).unwrap()
    }

    fn ceiling(sender: &mut GccSender, rate: DataRate) -> DataRate {
        sender.on_feedback(SendTime::ZERO, &Feedback::Ceiling(rate), &STATE);
        sender.target().media_rate
    }

    fn report(sender: &mut GccSender, fraction_lost: u8) -> DataRate {
        let report = ReceptionReport { fraction_lost, ..ReceptionReport::default() };
        sender.on_feedback(SendTime::ZERO, &Feedback::Reception { report, rtt: None }, &STATE);
        sender.target().media_rate
    }

    #[test]
    fn without_a_ceiling_the_loss_controller_rules() {
        let mut s = sender(Config::default());
        assert_eq!(report(&mut s, 0), kbps(1050));
        // 13/256 = 5 %: hold. 64/256 = 25 %: 1050 · (1 − 0.125) = 918.75.
        assert_eq!(report(&mut s, 13), kbps(1050));
        assert_eq!(report(&mut s, 64), DataRate::from_bps(918_750));
        assert_eq!(s.target().cause, Cause::Loss);
    }

    #[test]
    fn fast_start_follows_the_ceiling_until_the_first_decrease() {
        let mut s = sender(Config::default());
        assert_eq!(ceiling(&mut s, kbps(1500)), kbps(1500));
        assert_eq!(ceiling(&mut s, kbps(2000)), kbps(2000));
        assert_eq!(s.target().cause, Cause::RampUp);
        assert_eq!(ceiling(&mut s, kbps(1900)), kbps(1900), "noise of the receive rate");
        assert_eq!(s.target().cause, Cause::RampUp);
        assert_eq!(ceiling(&mut s, kbps(1600)), kbps(1600));
        assert_eq!(s.target().cause, Cause::Delay);
        assert_eq!(ceiling(&mut s, kbps(2400)), kbps(1600), "from now on only reports let it grow");
        assert_eq!(s.target().cause, Cause::RampUp);
        assert_eq!(report(&mut s, 0), kbps(1680));
    }

    #[test]
    fn the_rate_never_exceeds_the_ceiling() {
        let mut s = sender(Config { fast_start: false, ..Config::default() });
        assert_eq!(ceiling(&mut s, kbps(1020)), kbps(1000));
        assert_eq!(report(&mut s, 0), kbps(1020));
        assert_eq!(s.target().cause, Cause::Delay);
    }

    #[test]
    fn growth_on_both_messages_is_an_option() {
        let config = Config { fast_start: false, grow_on: GrowOn::ReportAndRemb, ..Config::default() };
        let mut s = sender(config);
        assert_eq!(ceiling(&mut s, kbps(2400)), kbps(1050));
        assert_eq!(report(&mut s, 0), DataRate::from_bps(1_102_500));
    }

    #[test]
    fn silence_halves_the_rate_each_second_and_feedback_ends_it() {
        let mut s = sender(Config::default());
        let packet = SentPacket {
            id: 0,
            at: SendTime::ZERO,
            size: weir_units::DataSize::from_bytes(1200),
            payload: weir_units::DataSize::from_bytes(1200),
            padding: false,
            probe: None,
        };
        report(&mut s, 0);
        assert_eq!(s.next_timeout(), None, "a source without data waits for nothing");
        let mut s = sender(Config::default());
        s.on_sent(&packet, &STATE);
        assert_eq!(s.next_timeout(), Some(SendTime::from_millis(3000)));
        assert!(s.on_timeout(SendTime::from_millis(2999), &STATE).is_none());
        s.on_timeout(SendTime::from_millis(3000), &STATE);
        assert_eq!(s.target().media_rate, kbps(500));
        s.on_sent(&SentPacket { at: SendTime::from_millis(3500), ..packet }, &STATE);
        s.on_timeout(SendTime::from_millis(4000), &STATE);
        assert_eq!(s.target().media_rate, kbps(250));
        assert!(s.on_timeout(SendTime::from_millis(5000), &STATE).is_none(), "nothing has left since");
        // A silence ends with the route, and a clock set back does not put it off.
        s.on_sent(&SentPacket { at: SendTime::from_millis(9_000_000), ..packet }, &STATE);
        s.on_event(SendTime::from_millis(9_000_000), PathEvent::RouteChanged);
        assert_eq!(s.next_timeout(), None);
        s.on_sent(&SentPacket { at: SendTime::from_millis(9_000_000), ..packet }, &STATE);
        s.on_sent(&packet, &STATE);
        assert_eq!(s.next_timeout(), Some(SendTime::from_millis(3000)));
        assert_eq!(report(&mut s, 0), DataRate::from_bps(262_500));
    }

    #[test]
    fn a_source_that_offers_less_is_named_as_the_cause() {
        let mut s = sender(Config::default());
        let state = SendState { application_limited: true, ..STATE };
        s.on_feedback(SendTime::ZERO, &Feedback::Ceiling(kbps(1200)), &state);
        assert_eq!(s.target().cause, Cause::Application);
        assert_eq!(ceiling(&mut s, kbps(1200)), kbps(1200));
        assert_eq!(s.target().cause, Cause::RampUp);
    }

    #[test]
    fn another_route_begins_anew() {
        let mut s = sender(Config::default());
        ceiling(&mut s, kbps(2000));
        assert_eq!(ceiling(&mut s, kbps(1500)), kbps(1500));
        s.on_event(SendTime::ZERO, PathEvent::RouteChanged);
        assert_eq!((s.target().media_rate, s.target().cause), (kbps(1000), Cause::RampUp));
        // No decrease, although it is less than the last ceiling by the other route.
        assert_eq!((ceiling(&mut s, kbps(1100)), s.target().cause), (kbps(1100), Cause::RampUp));
        s.adopt(SendTime::ZERO, Share { rate: kbps(600) });
        s.on_event(SendTime::ZERO, PathEvent::RouteChanged);
        assert_eq!(s.target().media_rate, kbps(600));
    }

    #[test]
    fn coupling_and_limits_become_the_laws_own_state() {
        let mut s = sender(Config::default());
        s.adopt(SendTime::ZERO, Share { rate: kbps(600) });
        assert_eq!(s.target().media_rate, kbps(600));
        assert_eq!(s.target().cause, Cause::Coupling);
        assert_eq!(report(&mut s, 0), kbps(630));
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(400)).unwrap();
        s.on_event(SendTime::ZERO, PathEvent::Limits(limits));
        assert_eq!(s.target().media_rate, kbps(400));
        assert_eq!(s.target().cause, Cause::Maximum);
    }
}
