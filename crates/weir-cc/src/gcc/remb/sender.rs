//! The sender half of gcc-2016: receiver reports set `A_s`, REMB messages set `A_r`, and `A = min(A_s, A_r)`.

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, GrowOn};
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::gcc::blocks::loss::{LossConfig, LossVerdict};
use crate::packet::SendState;
use crate::parts::allocation_history::AllocationHistory;
use crate::parts::feedback_timeout;
use crate::parts::relative::{FallMeaning, Relative};
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, ReportKind};
use crate::time::SendTime;

/// Share of the last ceiling above which a lower ceiling is noise. At the bound of 1.5 R the rate follows the noise
/// of R by a few per cent; over-use lowers it to `α·R`.
const NOISE_SHARE: f64 = 0.9;
/// Round-trip time until one is known, for the age of the receiver's information.
const USUAL_RTT: TimeDelta = TimeDelta::from_millis(100);

/// The sender half of gcc-2016.
pub type GccSender = RateController<RembRule>;

/// The loss-based controller of gcc-2016 and the choice of `A`. The rate of the flow context is `A_s`, at most `A_r`:
/// the target `A`.
#[derive(Debug)]
pub struct RembRule {
    config: Config,
    loss: LossConfig,
    /// `A_r`, once a REMB has arrived.
    ceiling: Option<DataRate>,
    /// Scale of coupling's allocation over the receiver's ceiling.
    relative: Relative,
    allocations: AllocationHistory,
    /// `f_l` of the last receiver report.
    loss_ratio: f64,
    starting: bool,
}

impl GccSender {
    /// A sender half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let rule = RembRule {
            loss: config.loss(),
            ceiling: None,
            relative: Relative::NONE,
            allocations: AllocationHistory::NONE,
            loss_ratio: 0.0,
            starting: config.fast_start,
            config,
        };
        Ok(Self::new_by(rule, FlowContext::new(limits, Some(config.feedback_timeout))))
    }
}

impl RembRule {
    fn on_ceiling(
        &mut self,
        now: SendTime,
        ceiling: DataRate,
        limited: bool,
        frame: &FlowContext,
    ) -> Computed {
        let before = self.ceiling.replace(ceiling);
        let (ceiling_rate, present) = (ceiling.bps_f64(), frame.rate());
        let newest = now - frame.rtt().unwrap_or(USUAL_RTT);
        let rescaled = self.allocations.over(newest - self.config.rate_window, newest, now);
        let fall = FallMeaning { yields_at: 1.0, cut_at: self.config.decrease, pays_back: false, rescaled };
        let followed = self.relative.follow(ceiling_rate, present, &fall);
        let decreased = before.is_some_and(|before| self.decreased(before, ceiling)) && followed < present;
        let fell = before.is_some_and(|before| ceiling < before);
        let most = if fell { self.raised(ceiling_rate) * rescaled.min(1.0) } else { f64::INFINITY };
        self.starting &= !decreased;
        let why = match before {
            Some(before) if ceiling_rate > NOISE_SHARE * before.bps_f64() => ChangeReason::Ceiling,
            _ if limited => ChangeReason::Application,
            _ => ChangeReason::Delay,
        };
        if self.starting {
            self.bound(followed.min(most), why, None)
        } else if self.config.grow_on == GrowOn::ReportAndRemb {
            self.apply_loss(frame, why)
        } else if most < present {
            self.bound(most, why, Some(LimitingFactor::Delay))
        } else {
            self.bound(present, why, None)
        }
    }

    /// The ceiling `ceiling_rate`, scaled up by an allocation above it. An allocation below the ceiling does not lower it,
    /// because `A_s` is lower already.
    fn raised(&self, ceiling_rate: f64) -> f64 {
        self.relative.factor().max(1.0) * ceiling_rate
    }

    /// Whether the receiver's controller decreased its rate. At the bound of 1.5 R the rate follows the noise of R by
    /// a few per cent. Over-use lowers it to `α·R`, so at least by the factor `α`.
    fn decreased(&self, before: DataRate, ceiling: DataRate) -> bool {
        ceiling.bps_f64() <= self.config.decrease * before.bps_f64()
    }

    fn apply_loss(&mut self, frame: &FlowContext, why: ChangeReason) -> Computed {
        let (rate, verdict) = self.loss.update(frame.rate(), self.loss_ratio);
        let lossy = verdict == LossVerdict::Decrease;
        if lossy {
            self.starting = false;
            self.relative.drop_factor();
        }
        let by_loss = (verdict != LossVerdict::Increase).then_some(LimitingFactor::Loss);
        self.bound(rate, if lossy { ChangeReason::Loss } else { why }, by_loss)
    }

    /// `A_s` cannot exceed `A_r` (gcc-2016 §3.2).
    fn bound(&self, rate: f64, why: ChangeReason, found: Option<LimitingFactor>) -> Computed {
        let Some(ceiling) = self.ceiling.map(DataRate::bps_f64) else {
            return Computed { rate, why, limited_by: found };
        };
        let ceiling = self.raised(ceiling);
        let limited_by = if rate >= ceiling && !self.starting { Some(LimitingFactor::Delay) } else { found };
        Computed { rate: rate.min(ceiling), why, limited_by }
    }
}

impl Rule for RembRule {
    fn accepts(&self, kind: ReportKind) -> bool {
        matches!(kind, ReportKind::Ceiling | ReportKind::Reception)
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let computed = match feedback {
            Feedback::Ceiling(ceiling) => self.on_ceiling(now, *ceiling, state.application_limited, frame),
            Feedback::Reception { report, rtt } => {
                frame.set_rtt(rtt.or(frame.rtt()));
                self.loss_ratio = report.loss_ratio();
                self.apply_loss(frame, ChangeReason::Ceiling)
            }
            Feedback::Packets { .. } | Feedback::Native { .. } => return FeedbackOutcome::Ignored,
        };
        frame.end_silence();
        FeedbackOutcome::Rate(computed)
    }

    fn on_silence(&mut self, _now: SendTime, frame: &mut FlowContext) -> f64 {
        self.starting = false;
        self.relative.drop_factor();
        frame.rate() * feedback_timeout::FACTOR
    }

    fn forget_path(&mut self, _now: SendTime, _frame: &mut FlowContext) {
        self.ceiling = None;
        self.relative = Relative::NONE;
        self.allocations = AllocationHistory::NONE;
        self.loss_ratio = 0.0;
        self.starting = self.config.fast_start;
    }

    fn scale(&mut self, now: SendTime, factor: f64, _frame: &FlowContext) {
        self.relative.on_allocation(factor);
        self.allocations.on_allocation(now, factor);
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let rate = frame.data_rate();
        let padding = if self.config.padding { rate } else { DataRate::ZERO };
        SendRates { padding, ..SendRates::at(rate, Pacing::Factor(self.config.pacing_factor)) }
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "A_s", unit: "bit/s", meaning: "rate of the loss-based controller, the target A" },
            Signal { name: "A_r(REMB)", unit: "bit/s", meaning: "last ceiling that the receiver reported" },
            Signal { name: "f_l", unit: "", meaning: "loss ratio of the last receiver report" },
        ];
        SIGNALS
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        let values = [frame.rate(), self.ceiling.map_or(f64::NAN, DataRate::bps_f64), self.loss_ratio];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: ChangeReason, frame: &FlowContext) -> [Option<Evidence>; 3] {
        let by_loss = Evidence::against("f_l", self.loss.threshold(self.loss_ratio));
        let by_delay = Evidence::against("A_r(REMB)", frame.rate());
        match why {
            ChangeReason::Loss => [by_loss, None, None],
            ChangeReason::Delay => [by_delay, None, None],
            _ => [by_delay, by_loss, None],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Controller, PathEvent};
    use crate::decision::AllocatedRate;
    use crate::packet::SentPacket;
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

    /// A receiver report with this loss in 1/256 arrives. Returns the media rate.
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
        assert_eq!(s.found(), LimitingFactor::Loss);
    }

    #[test]
    fn fast_start_follows_the_ceiling_until_the_first_decrease() {
        let mut s = sender(Config::default());
        assert_eq!(ceiling(&mut s, kbps(1500)), kbps(1500));
        assert_eq!(ceiling(&mut s, kbps(2000)), kbps(2000));
        assert_eq!(s.target().limiting_factor, LimitingFactor::RampUp);
        assert_eq!(ceiling(&mut s, kbps(1900)), kbps(1900), "noise of the receive rate");
        assert_eq!(s.target().limiting_factor, LimitingFactor::RampUp);
        assert_eq!(ceiling(&mut s, kbps(1600)), kbps(1600));
        assert_eq!(s.found(), LimitingFactor::Delay);
        assert_eq!(ceiling(&mut s, kbps(2400)), kbps(1600), "from now on only reports let it grow");
        assert_eq!(s.target().limiting_factor, LimitingFactor::RampUp);
        assert_eq!(report(&mut s, 0), kbps(1680));
    }

    #[test]
    fn the_rate_never_exceeds_the_ceiling() {
        let mut s = sender(Config { fast_start: false, ..Config::default() });
        assert_eq!(ceiling(&mut s, kbps(1020)), kbps(1000));
        assert_eq!(report(&mut s, 0), kbps(1020));
        assert_eq!(s.found(), LimitingFactor::Delay);
    }

    #[test]
    fn a_ceiling_that_falls_takes_the_rate_down_at_once() {
        let mut s = sender(Config { fast_start: false, ..Config::default() });
        assert_eq!(ceiling(&mut s, kbps(2000)), kbps(1000));
        assert_eq!(ceiling(&mut s, kbps(800)), kbps(800));
        assert_eq!(s.found(), LimitingFactor::Delay);
    }

    #[test]
    fn the_pacer_drains_at_one_and_a_half_times_the_target() {
        let mut s = sender(Config::default());
        // The encoder gets 1050 kbit/s, the pacer may drain its output at 1.5 times that; there is no padding.
        assert_eq!(report(&mut s, 0), kbps(1050));
        let target = s.target();
        assert_eq!(target.pacing, Pacing::Factor(1.5));
        assert_eq!((target.sending_rate, target.padding), (kbps(1050), DataRate::ZERO));
    }

    #[test]
    fn padding_is_an_option_and_fills_up_to_the_target() {
        let mut s = sender(Config { padding: true, ..Config::default() });
        assert_eq!((report(&mut s, 0), s.target().padding), (kbps(1050), kbps(1050)));
        // 64/256 = 25 % of loss: 1050 · (1 − 0.125) = 918.75.
        report(&mut s, 64);
        assert_eq!(s.target().padding, DataRate::from_bps(918_750));
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
        let packet = SentPacket::new(0, SendTime::ZERO, weir_units::DataSize::from_bytes(1200));
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
        // A feedback timeout ends with the route, and a clock set back does not put it off.
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
        assert_eq!(s.target().limiting_factor, LimitingFactor::Application);
        assert_eq!(ceiling(&mut s, kbps(1200)), kbps(1200));
        assert_eq!(s.target().limiting_factor, LimitingFactor::RampUp);
    }

    #[test]
    fn another_route_begins_anew() {
        let mut s = sender(Config::default());
        ceiling(&mut s, kbps(2000));
        assert_eq!(ceiling(&mut s, kbps(1500)), kbps(1500));
        s.on_event(SendTime::ZERO, PathEvent::RouteChanged);
        assert_eq!((s.target().media_rate, s.target().limiting_factor), (kbps(1000), LimitingFactor::RampUp));
        // No decrease, although it is less than the last ceiling by the other route.
        assert_eq!(
            (ceiling(&mut s, kbps(1100)), s.target().limiting_factor),
            (kbps(1100), LimitingFactor::RampUp)
        );
        s.apply_allocation(SendTime::ZERO, AllocatedRate { rate: kbps(600) });
        s.on_event(SendTime::ZERO, PathEvent::RouteChanged);
        assert_eq!(s.target().media_rate, kbps(600));
    }

    #[test]
    fn coupling_and_limits_become_the_controllers_own_state() {
        let mut s = sender(Config::default());
        s.apply_allocation(SendTime::ZERO, AllocatedRate { rate: kbps(600) });
        assert_eq!(s.target().media_rate, kbps(600));
        assert_eq!(s.target().limiting_factor, LimitingFactor::Coupling);
        assert_eq!(report(&mut s, 0), kbps(630));
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(400)).unwrap();
        s.on_event(SendTime::ZERO, PathEvent::Limits(limits));
        assert_eq!(s.target().media_rate, kbps(400));
        assert_eq!(s.target().limiting_factor, LimitingFactor::Maximum);
    }
}
