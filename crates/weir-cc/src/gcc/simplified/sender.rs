//! The sender half of the simplified GCC, whose rate follows the receiver's ceiling.

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::packet::SendState;
use crate::parts::allocation_history::AllocationHistory;
use crate::parts::feedback_timeout;
use crate::parts::relative::{FallMeaning, Relative};
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, ReportKind};
use crate::time::SendTime;

/// Share of the last ceiling up to which a lower ceiling is a decrease. While the ceiling grows it follows the noise
/// of the receive rate by a few per cent.
const DECREASE_SHARE: f64 = 0.9;

/// Round-trip time until one is known, for the age of the receiver's information.
const USUAL_RTT: TimeDelta = TimeDelta::from_millis(100);

/// The sender of dccc-2017's simplified GCC: an ideal source at the receiver's rate.
pub type SimplifiedGccSender = RateController<CeilingRule>;

/// Rule that the rate is that of the last REMB.
#[derive(Debug)]
pub struct CeilingRule {
    config: Config,
    ceiling: Option<DataRate>,
    relative: Relative,
    allocations: AllocationHistory,
}

impl SimplifiedGccSender {
    /// A sender half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let rule = CeilingRule {
            config,
            ceiling: None,
            relative: Relative::NONE,
            allocations: AllocationHistory::NONE,
        };
        Ok(Self::new_by(rule, FlowContext::new(limits, Some(config.feedback_timeout))))
    }
}

impl Rule for CeilingRule {
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
        if let Feedback::Reception { rtt, .. } = *feedback {
            frame.set_rtt(rtt.or(frame.rtt()));
        }
        let Feedback::Ceiling(ceiling) = *feedback else { return FeedbackOutcome::Ignored };
        frame.end_silence();
        let before = self.ceiling.replace(ceiling);
        let fell = before.is_some_and(|before| ceiling <= before);
        let newest = now - frame.rtt().unwrap_or(USUAL_RTT);
        let rescaled = self.allocations.over(newest - self.config.rate_window, newest, now);
        let fall = FallMeaning { yields_at: 1.0, cut_at: DECREASE_SHARE, pays_back: true, rescaled };
        let why = match before {
            Some(before) if ceiling.bps_f64() > DECREASE_SHARE * before.bps_f64() => ChangeReason::Ceiling,
            _ if state.application_limited => ChangeReason::Application,
            _ => ChangeReason::Delay,
        };
        let own_rate = frame.limits().clamp(ceiling).bps_f64();
        let rate = self.relative.follow(own_rate, frame.rate(), &fall);
        FeedbackOutcome::Rate(Computed { rate, why, limited_by: fell.then_some(LimitingFactor::Delay) })
    }

    fn on_silence(&mut self, _now: SendTime, frame: &mut FlowContext) -> f64 {
        self.relative.drop_factor();
        frame.rate() * feedback_timeout::FACTOR
    }

    fn forget_path(&mut self, _now: SendTime, _frame: &mut FlowContext) {
        self.ceiling = None;
        self.relative = Relative::NONE;
        self.allocations = AllocationHistory::NONE;
    }

    fn scale(&mut self, now: SendTime, factor: f64, frame: &FlowContext) {
        self.relative.on_share(frame.rate(), factor, frame.limits());
        self.allocations.on_allocation(now, factor);
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        SendRates::at(frame.data_rate(), Pacing::Exact(frame.data_rate()))
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] =
            &[Signal { name: "A", unit: "bit/s", meaning: "last rate that the receiver reported" }];
        SIGNALS
    }

    fn read_signals(&self, _frame: &FlowContext, out: &mut [f64]) {
        if let Some(slot) = out.first_mut() {
            *slot = self.ceiling.map_or(f64::NAN, DataRate::bps_f64);
        }
    }

    fn evidence(&self, _why: ChangeReason, frame: &FlowContext) -> [Option<Evidence>; 3] {
        [Evidence::against("A", frame.rate()), None, None]
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::controller::{Controller, PathEvent};
    use crate::decision::{AllocatedRate, Decision};
    use crate::packet::SentPacket;

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

    /// Sender time of `ms` milliseconds.
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
        assert_eq!(
            (decision.base, decision.rate, decision.why),
            (kbps(300), kbps(500), ChangeReason::Growth)
        );
        assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
        assert_eq!(sender.target().pacing, Pacing::Exact(kbps(500)));
        assert_eq!(ceiling(&mut sender, kbps(450)).why, ChangeReason::Delay);
        assert_eq!(sender.found(), LimitingFactor::Delay);
        assert_eq!(ceiling(&mut sender, kbps(1)).rate, kbps(100));
        assert_eq!(ceiling(&mut sender, kbps(9000)).why, ChangeReason::Growth);
        assert_eq!(sender.target().limiting_factor, LimitingFactor::Maximum);
    }

    #[test]
    fn missing_rembs_halve_the_rate_each_second() {
        let mut sender = sender();
        ceiling(&mut sender, kbps(800));
        let size = DataSize::from_bytes(1000);
        let packet = SentPacket::new(0, at(0), size);
        let state = SendState::default();
        sender.on_sent(&packet, &state);
        assert_eq!(sender.next_timeout(), Some(at(3000)));
        assert_eq!(sender.on_timeout(at(2999), &state), None);
        assert_eq!(
            sender.on_timeout(at(3000), &state).map(|d| (d.rate, d.why)),
            Some((kbps(400), ChangeReason::Timeout))
        );
        assert_eq!(sender.target().limiting_factor, LimitingFactor::Silence);
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
        assert_eq!((decision.base, decision.rate, decision.why), (kbps(700), kbps(300), ChangeReason::Route));
        assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
        ceiling(&mut sender, kbps(400));
        assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp, "the first one by this route");
    }

    #[test]
    fn coupling_and_limits_become_its_own_state() {
        let mut sender = sender();
        assert_eq!(sender.apply_allocation(at(0), AllocatedRate { rate: kbps(900) }), kbps(900));
        assert_eq!(
            (sender.target().media_rate, sender.target().limiting_factor),
            (kbps(900), LimitingFactor::RampUp)
        );
        assert_eq!(sender.apply_allocation(at(0), AllocatedRate { rate: kbps(200) }), kbps(200));
        assert_eq!(sender.target().limiting_factor, LimitingFactor::Coupling, "less than it computed");
        sender.apply_allocation(at(0), AllocatedRate { rate: kbps(900) });
        let limits = RateLimits::new(kbps(100), kbps(300), kbps(400)).unwrap();
        assert_eq!(sender.on_event(at(0), PathEvent::Limits(limits)).map(|d| d.rate), Some(kbps(400)));
        assert_eq!(sender.on_event(at(0), PathEvent::Paused), None);
    }
}
