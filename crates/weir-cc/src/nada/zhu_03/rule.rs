//! The rate of nada-dccc, in inverse proportion to a predicted delay. Rates are in bit/s, times in ms.

use weir_units::TimeDelta;

use super::config::Config;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, RateLimits, Signal};
use crate::nada::config::ShapingBuffer;
use crate::nada::rate::Shaping;
use crate::nada::sender::{NadaVariant, Present, RateUpdate, Sender, SenderVariant};
use crate::parts::relative::{FallMeaning, Relative};
use crate::report::{NativeReport, ReportKind};
use crate::time::SendTime;

/// Least interval between two reports in the computation. Divergence 7.
const MIN_INTERVAL: TimeDelta = TimeDelta::from_millis(1);
/// Share of the previous rate up to which a lower rate counts as congestion.
const CONGESTION: FallMeaning =
    FallMeaning { yields_at: 0.85, cut_at: 0.85, pays_back: false, rescaled: 1.0 };

/// The sender half of nada-dccc.
pub type NadaZhu03 = Sender<RuleZhu03>;

impl NadaZhu03 {
    /// A sender half that begins at the start rate; `R_min` and `R_max` are those of `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let unshaped = Shaping { sending_gain: 0.0, media_gain: 0.0, frame_rate: 0.0, cap: 0.0 };
        let habits = SenderVariant {
            pacing: config.pacing,
            shaping: unshaped,
            feedback_timeout: config.feedback_timeout,
            log_window: TimeDelta::ZERO,
            buffer: ShapingBuffer::Present,
            drain_after: None,
        };
        Ok(Self::by(RuleZhu03::new(config), habits, limits))
    }
}

/// Rule of nada-dccc from reports to rates.
#[derive(Debug)]
pub struct RuleZhu03 {
    config: Config,
    /// `x_n` and `x_ref` of the newest report in ms.
    x_n: Option<f64>,
    x_ref: f64,
    /// `x̂` in ms; NaN before the first report.
    x_hat: f64,
    updated: Option<SendTime>,
    /// `t_0`, the departure of the first packet.
    begun: Option<SendTime>,
    /// Scale of coupling's allocation relative to the rate by the delay alone.
    relative: Relative,
}

impl Config {
    /// `x̂`, the predicted delay. zhu-03 §5.2.
    fn predicted(&self, x_n: f64, x_d: f64, elapsed: TimeDelta) -> f64 {
        x_n + x_d * self.prediction.millis_f64() / elapsed.max(MIN_INTERVAL).millis_f64()
    }

    /// `R_n`, not limited yet. zhu-03 §5.2.
    fn rate(&self, limits: &RateLimits, x_ref: f64, x_hat: f64) -> f64 {
        let (min, max) = (limits.min().bps_f64(), limits.max().bps_f64());
        if x_hat <= 0.0 { max } else { min + self.priority * (max - min) * x_ref / x_hat }
    }

    /// Upper bound of slow start at the time `since` after the first packet. zhu-03 §6.5.
    fn slow_start(&self, limits: &RateLimits, since: TimeDelta) -> f64 {
        let (min, max) = (limits.min().bps_f64(), limits.max().bps_f64());
        if since >= self.slow_start {
            max
        } else {
            min + since.millis_f64() / self.slow_start.millis_f64() * (max - min)
        }
    }
}

impl RuleZhu03 {
    const SIGNALS: &[Signal] = &[
        Signal { name: "x_n", unit: "ms", meaning: "smoothed one-way delay of the last report" },
        Signal { name: "x_hat", unit: "ms", meaning: "where the delay is predicted to be" },
        Signal { name: "x_ref", unit: "ms", meaning: "reference delay of the last report" },
        Signal { name: "R_n", unit: "bit/s", meaning: "target rate" },
    ];

    fn new(config: Config) -> Self {
        Self {
            config,
            x_n: None,
            x_ref: f64::NAN,
            x_hat: f64::NAN,
            updated: None,
            begun: None,
            relative: Relative::NONE,
        }
    }
}

impl NadaVariant for RuleZhu03 {
    const ACCEPTED_REPORT: ReportKind = ReportKind::NadaDelay;

    fn on_sent(&mut self, at: SendTime) {
        // A sender's clock that was set back restarts slow start.
        self.begun = Some(self.begun.map_or(at, |begun| begun.min(at)));
    }

    fn on_report(&mut self, now: SendTime, report: &NativeReport, present: &Present) -> Option<RateUpdate> {
        let NativeReport::NadaDelay(report) = report else { return None };
        let x_n = report.congestion.millis_f64();
        let x_d = x_n - self.x_n.replace(x_n).unwrap_or(x_n);
        let elapsed = self.updated.replace(now).map_or(self.config.feedback_interval, |last| now - last);
        self.x_ref = report.reference.millis_f64();
        self.x_hat = self.config.predicted(x_n, x_d, elapsed);
        let rate = self.config.rate(&present.limits, self.x_ref, self.x_hat);
        let since = now - *self.begun.get_or_insert(now);
        let allowed = self.config.slow_start(&present.limits, since.max(TimeDelta::ZERO));
        let limits = &present.limits;
        let mut follow = |own| self.relative.follow(limits.clamp_bps(own), present.rate, &CONGESTION);
        Some(if allowed < rate {
            RateUpdate::RampUp(follow(allowed))
        } else {
            RateUpdate::Gradual(follow(rate))
        })
    }

    fn scale(&mut self, share: f64, factor: f64, limits: &RateLimits) {
        self.relative.on_share(share, factor, limits);
    }

    fn forget_congestion(&mut self) {
        self.x_n = None;
        self.updated = None;
        self.x_hat = f64::NAN;
    }

    fn forget_share(&mut self) {
        self.relative = Relative::NONE;
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, rate: f64, out: &mut [f64]) {
        let values = [self.x_n.unwrap_or(f64::NAN), self.x_hat, self.x_ref, rate];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self) -> [Option<Evidence>; 3] {
        [Evidence::against("x_hat", self.x_ref), Evidence::against("x_n", self.x_ref), None]
    }
}

#[cfg(test)]
mod tests {
    use weir_units::{DataRate, DataSize};

    use super::*;
    use crate::controller::LimitingFactor;
    use crate::controller::{Controller, Pacing, PathEvent};
    use crate::decision::{ChangeReason, Decision};
    use crate::packet::{SendState, SentPacket};
    use crate::report::{Feedback, NadaDelayReport};

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// 0.1 to 6 Mbit/s, as in dccc-2017.
    fn limits() -> RateLimits {
        RateLimits::new(kbps(100), kbps(300), kbps(6000)).unwrap()
    }

    fn sender(slow_start: i64) -> NadaZhu03 {
        NadaZhu03::new(Config { slow_start: ms(slow_start), ..Config::default() }, limits()).unwrap()
    }

    /// A report of the delays `x_n` and `x_ref` arrives at `at`, all in ms.
    fn deliver(sender: &mut NadaZhu03, at: i64, x_n: i64, x_ref: i64) -> Decision {
        let report = NativeReport::NadaDelay(NadaDelayReport { congestion: ms(x_n), reference: ms(x_ref) });
        let feedback = Feedback::Native { report, rtt: None };
        sender.on_feedback(SendTime::from_millis(at), &feedback, &SendState::default()).unwrap()
    }

    /// A packet of 1094 bytes leaves at `at`, in ms.
    fn send(sender: &mut NadaZhu03, at: i64) {
        let (at, size) = (SendTime::from_millis(at), DataSize::from_bytes(1094));
        let packet = SentPacket::new(0, at, size);
        sender.on_sent(&packet, &SendState::default());
    }

    fn signals(sender: &NadaZhu03) -> [f64; 4] {
        let mut out = [0.0; 4];
        assert_eq!(sender.signals().len(), out.len());
        sender.read_signals(&mut out);
        out
    }

    #[test]
    fn at_rest_the_rate_is_in_inverse_proportion_to_the_delay() {
        let mut sender = sender(0);
        // 0.1 + 5.9·25/105.357… = 1.5: capacity and equilibrium of dccc-2017. Here 0.1 + 5.9·25/100 = 1.575.
        let decision = deliver(&mut sender, 100, 100, 25);
        assert_eq!(
            (decision.base, decision.rate, decision.why),
            (kbps(300), kbps(1575), ChangeReason::Growth)
        );
        assert_eq!(sender.found(), LimitingFactor::Delay);
        assert_eq!(signals(&sender), [100.0, 100.0, 25.0, 1575e3]);
        assert_eq!(deliver(&mut sender, 200, 100, 25).rate, kbps(1575));
    }

    #[test]
    fn a_rising_delay_is_predicted_to_go_on() {
        let mut sender = sender(0);
        deliver(&mut sender, 100, 90, 25);
        // x̂ = 100 + 10·100/50 = 120; 0.1 + 5.9·25/120 = 1.3291666…
        assert_eq!(deliver(&mut sender, 150, 100, 25).rate, DataRate::from_bps(1_329_167));
        assert_eq!(signals(&sender)[1], 120.0);
        // x̂ = 80 − 20·100/100 = 60; 0.1 + 5.9·25/60 = 2.5583333…
        assert_eq!(deliver(&mut sender, 250, 80, 25).rate, DataRate::from_bps(2_558_333));
        // At once: as after 1 ms. x̂ = 81 + 1·100 = 181; 0.1 + 5.9·25/181 = 0.9149171…
        assert_eq!(deliver(&mut sender, 250, 81, 25).rate, DataRate::from_bps(914_917));
    }

    #[test]
    fn a_delay_that_falls_to_nothing_gives_the_maximum() {
        let mut sender = sender(0);
        deliver(&mut sender, 100, 200, 25);
        // x̂ = 100 − 100·100/100 = 0.
        let decision = deliver(&mut sender, 200, 100, 25);
        assert_eq!((decision.rate, decision.why), (kbps(6000), ChangeReason::Growth));
        assert_eq!(sender.target().limiting_factor, LimitingFactor::Maximum);
        assert_eq!(deliver(&mut sender, 300, 100, -25).why, ChangeReason::Delay, "clocks that disagree");
        for step in 4..14 {
            deliver(&mut sender, 100 * step, 100, -25);
        }
        assert_eq!(sender.target().limiting_factor, LimitingFactor::Minimum);
    }

    #[test]
    fn priority_weighs_the_reference() {
        let config = Config { priority: 0.5, ..Config::default() };
        // 0.1 + 0.5·5.9·25/100 = 0.8375.
        assert!((config.rate(&limits(), 25.0, 100.0) - 837_500.0).abs() < 1e-6);
    }

    #[test]
    fn slow_start_rises_in_a_straight_line_from_the_first_packet_on() {
        let mut sender = sender(10_000);
        send(&mut sender, 1000);
        send(&mut sender, 1500);
        // 0.1 + 2.5/10·5.9 = 1.575; 0.1 + 5/10·5.9 = 3.05.
        let decision = deliver(&mut sender, 3500, 25, 25);
        assert_eq!((decision.rate, decision.why), (kbps(1575), ChangeReason::Growth));
        assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
        assert_eq!(deliver(&mut sender, 6000, 25, 25).rate, kbps(3050));
        // A delay of four times the reference allows less than slow start: 1.575.
        let decision = deliver(&mut sender, 9000, 100, 25);
        assert!(decision.rate < kbps(1575), "the delay is rising: {decision:?}");
        assert_eq!((decision.why, sender.found()), (ChangeReason::Delay, LimitingFactor::Delay));
        deliver(&mut sender, 10_900, 25, 25);
        assert_eq!(deliver(&mut sender, 11_000, 25, 25).rate, kbps(6000));
    }

    #[test]
    fn without_a_packet_slow_start_begins_with_the_first_report() {
        let mut sender = sender(10_000);
        assert_eq!(deliver(&mut sender, 5000, 25, 25).rate, kbps(100));
        assert_eq!(deliver(&mut sender, 10_000, 25, 25).rate, kbps(3050));
    }

    #[test]
    fn after_silence_the_first_report_predicts_nothing() {
        let mut sender = sender(0);
        deliver(&mut sender, 100, 50, 25);
        send(&mut sender, 110);
        let halved = sender.on_timeout(SendTime::from_millis(1110), &SendState::default()).unwrap();
        assert_eq!((halved.rate, halved.why), (halved.base.scale(0.5), ChangeReason::Timeout));
        assert!(signals(&sender)[0].is_nan() && signals(&sender)[1].is_nan());
        assert_eq!(deliver(&mut sender, 2000, 100, 25).rate, kbps(1575));
        sender.on_event(SendTime::from_millis(2000), PathEvent::RouteChanged);
        assert_eq!(deliver(&mut sender, 2100, 200, 25).rate, DataRate::from_bps(837_500));
    }

    #[test]
    fn packets_are_spaced_at_the_target_rate() {
        let target = sender(0).target();
        assert_eq!(
            (target.pacing, target.media_rate, target.sending_rate),
            (Pacing::Factor(1.0), kbps(300), kbps(300))
        );
        let other = NativeReport::Nada(crate::report::NadaReport {
            ramp_up: true,
            congestion: ms(0),
            receive_rate: kbps(1),
        });
        let feedback = Feedback::Native { report: other, rtt: None };
        assert_eq!(sender(0).on_feedback(SendTime::ZERO, &feedback, &SendState::default()), None);
    }
}
