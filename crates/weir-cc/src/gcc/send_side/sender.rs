//! The sender half of the sender-side GCC: per-packet feedback determines `A_r` and `A_s`, and `A = min(A_s, A_r)`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, DelayOf, LossForm, SendSidePacing};
use super::delay::DelaySignal;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::gcc::blocks::aimd::Aimd;
use crate::gcc::blocks::bursts::ReportedPacket;
use crate::gcc::blocks::detector::BandwidthUsage;
use crate::gcc::blocks::loss::{LossConfig, LossVerdict};
use crate::gcc::blocks::loss_based_v1::LossBasedV1;
use crate::gcc::blocks::loss_count::LossCount;
use crate::gcc::blocks::rate_control::RateState;
use crate::packet::{PacketFate, PacketResult, SendState};
use crate::parts::allocation_history::AllocationHistory;
use crate::parts::feedback_timeout;
use crate::parts::receive_rate::ReceiveRate;
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, ReportKind};
use crate::time::{ApparentDelay, SendTime};

/// Time without feedback after which grouping and filter start anew. libwebrtc.
const GROUPING_TIMEOUT: TimeDelta = TimeDelta::from_secs(2);
/// Initial capacity for the arrivals of one feedback.
const INITIAL_ARRIVALS: usize = 256;

/// GCC at the sender.
pub type SendSideGcc = RateController<SendSideRule>;

/// The delay-based and the loss-based controller. The rate of the flow context is `A_s`, at most `A_r`: the target
/// `A`.
#[derive(Debug)]
pub struct SendSideRule {
    config: Config,
    delay: DelaySignal,
    received: ReceiveRate,
    /// `R`, as of the last feedback.
    measured: Option<DataRate>,
    /// The delay-based controller and its rate `A_r`.
    aimd: Aimd,
    decreased: Option<SendTime>,
    losses: LossCount,
    loss: LossControl,
    /// `f_l` of the last report.
    loss_ratio: f64,
    /// The arrivals of one feedback, in order of arrival.
    arrivals: Vec<ReportedPacket>,
    last_feedback: Option<SendTime>,
    /// Time at which the first report arrived minus the arrival of the newest packet in it. This is the negative
    /// delay of the reverse path plus an unknown constant.
    reverse_path: Option<ApparentDelay>,
    allocations: AllocationHistory,
}

#[derive(Debug)]
enum LossControl {
    Paper(LossConfig),
    V1(Box<LossBasedV1>),
}

impl LossControl {
    fn new(config: &Config) -> Self {
        match config.loss {
            LossForm::Paper => Self::Paper(config.paper_loss()),
            LossForm::LibwebrtcV1 => Self::V1(Box::new(LossBasedV1::new(config.loss_v1()))),
        }
    }
}

impl SendSideGcc {
    /// A sender half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let rule = SendSideRule {
            config,
            delay: DelaySignal::new(&config),
            received: ReceiveRate::new(config.rate_window),
            measured: None,
            aimd: Aimd::new(config.aimd(), limits),
            decreased: None,
            losses: LossCount::new(config.lost),
            loss: LossControl::new(&config),
            loss_ratio: 0.0,
            arrivals: Vec::with_capacity(INITIAL_ARRIVALS),
            last_feedback: None,
            reverse_path: None,
            allocations: AllocationHistory::NONE,
        };
        Ok(Self::new_by(rule, FlowContext::new(limits, Some(config.feedback_timeout))))
    }
}

impl SendSideRule {
    /// Collects the packets that arrived at known times, in order of arrival. Returns whether any packet arrived.
    fn collect(&mut self, results: &[PacketResult]) -> bool {
        self.arrivals.clear();
        self.arrivals.extend(results.iter().filter_map(|result| match result.fate {
            PacketFate::Arrived { at: Some(at), .. } | PacketFate::Recovered { at: Some(at), .. } => {
                Some(ReportedPacket { departure: result.sent.at, arrival: at, size: result.sent.payload })
            }
            _ => None,
        }));
        if !self.arrivals.is_sorted_by_key(|packet| packet.arrival) {
            self.arrivals.sort_unstable_by_key(|packet| (packet.arrival, packet.departure));
        }
        !self.arrivals.is_empty()
    }

    /// The signal of the collected arrivals; also measures `R`.
    fn observe(&mut self, now: SendTime) -> BandwidthUsage {
        let mut overused = false;
        let later = self.reverse_delay(now);
        for packet in &self.arrivals {
            self.received.on_arrival(packet.arrival, packet.size);
            let packet = ReportedPacket { arrival: packet.arrival + later, ..*packet };
            overused |= self.delay.on_packet(&packet, now) == BandwidthUsage::Over;
        }
        self.measured = self.arrivals.last().and_then(|newest| {
            let rate = self.received.rate(newest.arrival)?;
            let oldest = newest.departure - self.config.rate_window;
            let rescaled = self.allocations.over(oldest, newest.departure, now);
            Some(if rescaled == 1.0 { rate } else { rate.scale(rescaled) })
        });
        if overused { BandwidthUsage::Over } else { self.delay.usage() }
    }

    /// Additional delay of this report on the reverse path over the first report's, if the gradient is that of
    /// round trips.
    fn reverse_delay(&mut self, now: SendTime) -> TimeDelta {
        let (DelayOf::RoundTrip, Some(newest)) = (self.config.delay_of, self.arrivals.last()) else {
            return TimeDelta::ZERO;
        };
        let back = ApparentDelay::between(now, newest.arrival);
        *self.reverse_path.get_or_insert(back) - back
    }

    /// Updates `A_r` (draft-ietf-rmcat-gcc-02 §5.5).
    fn control_delay(&mut self, usage: BandwidthUsage, now: SendTime) {
        if usage == BandwidthUsage::Over {
            if self.measured.is_none() || !self.may_decrease(now) {
                return;
            }
            self.decreased = Some(now);
        }
        self.aimd.update(usage, self.measured, now);
    }

    fn may_decrease(&self, now: SendTime) -> bool {
        self.decreased.is_none_or(|last| (now - last).abs() >= self.aimd.reduction_interval())
    }

    /// Updates `A_s` (draft-ietf-rmcat-gcc-02 §6).
    fn control_loss(
        &mut self,
        results: &[PacketResult],
        now: SendTime,
        frame: &FlowContext,
    ) -> (f64, LossVerdict) {
        let (delay, before) = (self.aimd.rate(), frame.rate());
        let (rate, verdict) = match &mut self.loss {
            LossControl::Paper(config) => match self.losses.on_results(results) {
                None => (before, LossVerdict::Hold),
                Some(loss) => {
                    self.loss_ratio = loss.ratio();
                    config.update(before, self.loss_ratio)
                }
            },
            LossControl::V1(v1) => {
                v1.on_results(results, now);
                self.loss_ratio = v1.loss_ratio();
                if v1.is_starting(now) && delay > before {
                    v1.forget_rates();
                    (delay, LossVerdict::Increase)
                } else {
                    v1.remember(before, now);
                    v1.update(before, frame.rtt().unwrap_or(TimeDelta::ZERO), now)
                }
            }
        };
        (rate.min(delay), verdict) // A_s cannot exceed A_r.
    }

    /// Factor that limits the rate while it does not rise.
    fn limited_by(&self, rate: f64, verdict: LossVerdict) -> Option<LimitingFactor> {
        let by_loss = match verdict {
            LossVerdict::Decrease => true,
            LossVerdict::Hold => self.loss_ratio >= self.config.loss_low,
            LossVerdict::Increase => false,
        };
        if by_loss && rate < self.aimd.rate() {
            Some(LimitingFactor::Loss)
        } else if self.aimd.state() == RateState::Increase && self.aimd.capacity().mean().is_none() {
            None
        } else {
            Some(LimitingFactor::Delay)
        }
    }

    /// Clears estimates of the path, but neither the threshold nor a rate.
    fn restart(&mut self) {
        self.delay.restart();
        self.losses = LossCount::new(self.config.lost);
    }
}

impl Rule for SendSideRule {
    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Packets
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        _state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let &Feedback::Packets { results, rtt, .. } = feedback else { return FeedbackOutcome::Ignored };
        if !self.collect(results) {
            // Packets without a reported arrival time give no delay sample, and are not lost either.
            if self.last_feedback.is_some() {
                self.losses.on_results(results);
            }
            return FeedbackOutcome::Ignored;
        }
        match self.last_feedback.replace(now) {
            // Growth is counted from the first feedback.
            None => self.aimd.set_rate(frame.rate(), now),
            Some(last) if (now - last).abs() > GROUPING_TIMEOUT => self.restart(),
            Some(_) => {}
        }
        frame.end_silence();
        if let Some(rtt) = rtt {
            frame.set_rtt(Some(rtt));
            self.aimd.set_rtt(rtt);
        }
        let (usage, before) = (self.observe(now), self.aimd.rate());
        self.control_delay(usage, now);
        let (rate, verdict) = self.control_loss(results, now, frame);
        let why = match verdict {
            LossVerdict::Decrease => ChangeReason::Loss,
            _ if self.aimd.rate() < before && usage != BandwidthUsage::Over => ChangeReason::Ceiling,
            _ => ChangeReason::Delay,
        };
        let limited_by = self.limited_by(frame.limits().clamp_bps(rate), verdict);
        FeedbackOutcome::Rate(Computed { rate, why, limited_by })
    }

    fn on_silence(&mut self, now: SendTime, frame: &mut FlowContext) -> f64 {
        let rate = frame.rate() * feedback_timeout::FACTOR;
        self.aimd.set_rate(rate, now);
        rate
    }

    fn on_limits(&mut self, frame: &FlowContext) -> f64 {
        self.aimd.set_limits(*frame.limits());
        frame.rate()
    }

    fn forget_path(&mut self, now: SendTime, frame: &mut FlowContext) {
        self.delay = DelaySignal::new(&self.config);
        self.received = ReceiveRate::new(self.config.rate_window);
        self.aimd = Aimd::new(self.config.aimd(), *frame.limits());
        self.aimd.set_rate(frame.rate(), now);
        self.losses = LossCount::new(self.config.lost);
        self.loss = LossControl::new(&self.config);
        self.loss_ratio = 0.0;
        (self.measured, self.decreased, self.reverse_path) = (None, None, None);
        self.allocations = AllocationHistory::NONE;
    }

    fn scale(&mut self, now: SendTime, factor: f64, frame: &FlowContext) {
        self.aimd.scale(factor, frame.rate());
        if let LossControl::V1(v1) = &mut self.loss {
            v1.scale_rates(factor);
        }
        self.allocations.on_allocation(now, factor);
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let pacing = match self.config.pacing {
            SendSidePacing::Factor(factor) => Pacing::Factor(factor),
            SendSidePacing::Unpaced => Pacing::Unpaced,
        };
        SendRates::at(frame.data_rate(), pacing)
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "m", unit: "ms", meaning: "gradient as compared with the threshold" },
            Signal { name: "del_var_th", unit: "ms", meaning: "threshold" },
            Signal { name: "k", unit: "", meaning: "Kalman gain of the gradient" },
            Signal { name: "var_v", unit: "ms²", meaning: "variance of the measurement noise" },
            Signal { name: "usage", unit: "", meaning: "-1 under-use, 0 normal, 1 over-use" },
            Signal { name: "state", unit: "", meaning: "-1 decrease, 0 hold, 1 increase" },
            Signal { name: "R", unit: "bit/s", meaning: "receive rate" },
            Signal { name: "C", unit: "bit/s", meaning: "link capacity by the receive rates at over-use" },
            Signal { name: "A_r", unit: "bit/s", meaning: "rate of the delay-based controller" },
            Signal { name: "A_s", unit: "bit/s", meaning: "rate of the loss-based controller, the target A" },
            Signal { name: "f_l", unit: "", meaning: "loss ratio of the last report" },
        ];
        SIGNALS
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        let usage = match self.delay.usage() {
            BandwidthUsage::Under => -1.0,
            BandwidthUsage::Normal => 0.0,
            BandwidthUsage::Over => 1.0,
        };
        let state = match self.aimd.state() {
            RateState::Decrease => -1.0,
            RateState::Hold => 0.0,
            RateState::Increase => 1.0,
        };
        let values = [
            self.delay.gradient(),
            self.delay.gamma(),
            self.delay.gain(),
            self.delay.noise_variance(),
            usage,
            state,
            self.measured.map_or(f64::NAN, DataRate::bps_f64),
            self.aimd.capacity().mean().unwrap_or(f64::NAN),
            self.aimd.rate(),
            frame.rate(),
            self.loss_ratio,
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: ChangeReason, _frame: &FlowContext) -> [Option<Evidence>; 3] {
        let by_delay = Evidence::against("m", self.delay.gamma());
        let by_loss = Evidence::against("f_l", self.config.paper_loss().threshold(self.loss_ratio));
        match why {
            ChangeReason::Loss => [by_loss, Evidence::against("A_s", self.aimd.rate()), None],
            ChangeReason::Delay => [by_delay, None, None],
            _ => [by_delay, by_loss, None],
        }
    }
}
