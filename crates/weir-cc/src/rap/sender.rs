//! RAP's gap between packets: additive increase in each step, multiplicative decrease at a loss.

use alloc::collections::VecDeque;

use weir_units::{DataRate, TimeDelta};

use super::config::Config;
use super::round_trip::RoundTrip;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::parts::backlog::media_rate;
use crate::parts::loss_detection::LossDetection;
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, ReportKind};
use crate::time::{ArrivalTime, SendTime};

/// Initial capacity for outstanding packets, and their greatest number.
const INITIAL_OUTSTANDING: usize = 256;
const MAX_OUTSTANDING: usize = 1 << 16;

/// The sender half of RAP.
pub type Rap = RateController<GapRule>;

/// Rule of the gap between packets. The rate of the flow context is one packet per gap.
#[derive(Debug)]
pub struct GapRule {
    config: Config,
    /// `ipg` in seconds.
    gap: f64,
    rtt: RoundTrip,
    losses: LossDetection,
    /// Packets not covered by any report, and their departures.
    outstanding: VecDeque<(u64, SendTime)>,
    /// Packets below this number belong to congestion that has been handled: ns-2's `INACTIVE`.
    active_from: u64,
    /// The number after that of the last packet.
    next_id: u64,
    /// `dctr` in bytes: payload sent since the last step.
    sent: f64,
    /// Whether a report has arrived since the rate last grew.
    has_new_report: bool,
    /// Time of the last report.
    last_report: Option<SendTime>,
    /// End of the step: ns-2's RTT timer.
    step_due: Option<SendTime>,
}

impl Rap {
    /// A sender half that begins at the start rate, or with the configured gap.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut rule = GapRule {
            gap: 0.0,
            rtt: RoundTrip::new(&config),
            losses: LossDetection::new(),
            outstanding: VecDeque::with_capacity(INITIAL_OUTSTANDING),
            active_from: 0,
            next_id: 0,
            sent: 0.0,
            has_new_report: false,
            last_report: None,
            step_due: None,
            config,
        };
        let start = rule.gap_of(limits.start().bps_f64());
        rule.set_gap(config.initial_gap.map_or(start, TimeDelta::secs_f64), &limits);
        let mut frame = FlowContext::new(limits, None);
        frame.begin_at(rule.rate());
        Ok(Self::new_by(rule, frame))
    }
}

impl GapRule {
    fn packet_bits(&self) -> f64 {
        self.config.packet_size.bits_f64()
    }

    fn gap_of(&self, bps: f64) -> f64 {
        self.packet_bits() / bps
    }

    /// The gap, as far as the limits of the rate allow.
    fn set_gap(&mut self, gap: f64, limits: &RateLimits) {
        self.gap = self.gap_of(limits.clamp_bps(self.packet_bits() / gap));
    }

    /// The rate of one packet per gap, in bit/s.
    fn rate(&self) -> f64 {
        self.packet_bits() / self.gap
    }

    /// The rate, adjusted by the short-term round-trip time.
    fn fine_grained_rate(&self, limits: &RateLimits) -> DataRate {
        let factor = if self.config.fine_grain { self.rtt.fine_grain_factor() } else { 1.0 };
        limits.round(self.rate() * factor)
    }

    fn begin_step(&mut self, now: SendTime) {
        self.step_due = Some(now + self.rtt.smoothed());
    }

    fn first_sample(&mut self, now: SendTime, limits: &RateLimits) {
        if self.config.initial_gap.is_some() {
            self.set_gap(self.rtt.srtt, limits);
        } else {
            self.begin_step(now);
        }
    }

    fn measure_rtt(&mut self, now: SendTime, sample: TimeDelta, limits: &RateLimits) {
        let first = !self.rtt.is_known();
        self.rtt.add(sample, &self.config);
        if first {
            self.first_sample(now, limits);
        } else if self.config.initial_gap.is_none() {
            let latest = now + self.rtt.smoothed();
            self.step_due = self.step_due.map(|due| due.min(latest));
        }
    }

    /// Takes a round-trip sample of each packet that arrived at a known time. The wait for the report is subtracted
    /// if the report was `made` at a known time.
    fn measure_rtts(
        &mut self,
        now: SendTime,
        results: &[PacketResult],
        made: Option<ArrivalTime>,
        limits: &RateLimits,
    ) {
        for PacketResult { sent, fate } in results {
            if let PacketFate::Arrived { at: Some(at), .. } = *fate {
                let waited = made.map_or(TimeDelta::ZERO, |made| made - at);
                self.measure_rtt(now, (now - sent.at) - waited, limits);
            }
        }
    }

    /// Congestion among the reported packets that has not been handled.
    fn congestion(&mut self, results: &[PacketResult]) -> Option<ChangeReason> {
        let active_from = self.active_from;
        let marked = results.iter().any(|PacketResult { sent, fate }| {
            sent.id >= active_from && matches!(fate, PacketFate::Arrived { ecn: Ecn::Ce, .. })
        });
        let mut lost = false;
        self.losses.on_results(results, |packet| lost |= packet.id >= active_from);
        if lost { Some(ChangeReason::Loss) } else { marked.then_some(ChangeReason::Mark) }
    }

    /// Handles a loss: all packets in flight belong to the same congestion, and the rate does not grow for a round
    /// trip.
    fn on_loss(
        &mut self,
        now: SendTime,
        why: ChangeReason,
        by: LimitingFactor,
        limits: &RateLimits,
    ) -> Computed {
        let lowered = self.gap / self.config.beta;
        self.set_gap(lowered, limits);
        self.active_from = self.next_id;
        self.begin_step(now);
        Computed { rate: self.packet_bits() / lowered, why, limited_by: Some(by) }
    }

    /// Timer-based detection of packets that no report covered in time, or that were reported as missing before later
    /// arrivals. Returns the departure of the first packet that is newly lost.
    fn time_out(&mut self, now: SendTime) -> Option<SendTime> {
        let timeout = self.rtt.timeout(&self.config);
        let mut lost = None;
        while let Some((id, at)) = self.longest_out()
            && at + timeout <= now
        {
            if self.outstanding.front().is_some_and(|&(first, _)| first == id) {
                self.outstanding.pop_front();
            } else {
                self.losses.forget(id);
            }
            if id >= self.active_from {
                lost = lost.or(Some(at));
            }
        }
        lost
    }

    /// Number and departure of the packet whose timer expires first. Numbers below the outstanding ones are missing.
    fn longest_out(&self) -> Option<(u64, SendTime)> {
        let missing = self.losses.oldest().map(|packet| (packet.id, packet.at));
        missing.or_else(|| self.outstanding.front().copied())
    }

    /// Handles ns-2's RTT timer: one packet per round trip more, if the rate was used.
    fn step(&mut self, now: SendTime, limits: &RateLimits) {
        let srtt = self.rtt.srtt;
        let allowed = self.config.packet_size.bytes_f64() * srtt / self.gap;
        if self.has_new_report && self.sent >= self.config.usage_threshold * allowed {
            // The rate 1/ipg grows by alpha/SRTT: alpha packets per round trip.
            self.set_gap(self.gap * srtt / (self.config.alpha * self.gap + srtt), limits);
            self.has_new_report = false;
        }
        self.sent = 0.0;
        self.begin_step(now);
    }

    fn timeout_due(&self) -> Option<SendTime> {
        self.longest_out().map(|(_, at)| at + self.rtt.timeout(&self.config))
    }
}

impl Rule for GapRule {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState, _frame: &FlowContext) {
        if self.outstanding.len() == MAX_OUTSTANDING {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back((packet.id, packet.at));
        self.next_id = packet.id.saturating_add(1);
        self.sent += packet.payload.bytes_f64();
        if self.step_due.is_none() {
            self.begin_step(packet.at);
        }
    }

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
        let Feedback::Packets { results, at, rtt, .. } = *feedback else { return FeedbackOutcome::Ignored };
        let Some(newest) = results.iter().map(|result| result.sent.id).max() else {
            return FeedbackOutcome::Ignored;
        };
        while self.outstanding.front().is_some_and(|&(id, _)| id <= newest) {
            self.outstanding.pop_front();
        }
        (self.has_new_report, self.last_report) = (true, Some(now));
        let (limits, known) = (*frame.limits(), self.rtt.is_known());
        match (at, rtt) {
            (None, Some(sample)) => self.measure_rtt(now, sample, &limits),
            (made, _) => self.measure_rtts(now, results, made, &limits),
        }
        frame.set_rtt(self.rtt.is_known().then(|| self.rtt.smoothed()));
        if let Some(why) = self.congestion(results) {
            return FeedbackOutcome::Rate(self.on_loss(now, why, LimitingFactor::Loss, &limits));
        }
        if !known && self.rtt.is_known() && self.config.initial_gap.is_some() {
            return FeedbackOutcome::Rate(Computed {
                rate: self.rate(),
                why: ChangeReason::Start,
                limited_by: None,
            });
        }
        FeedbackOutcome::NoUpdate
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState, frame: &mut FlowContext) -> Option<Computed> {
        self.next_timeout().filter(|&due| due <= now)?;
        let limits = *frame.limits();
        let mut computed = self.time_out(now).map(|left| {
            // A later report without the packet, which covers others, means that it is lost.
            let has_new_report = self.last_report.is_some_and(|has_new_report| has_new_report > left);
            let by = if has_new_report { LimitingFactor::Loss } else { LimitingFactor::Silence };
            self.on_loss(now, ChangeReason::Timeout, by, &limits)
        });
        if self.step_due.is_some_and(|due| due <= now) {
            let has_new_report = self.has_new_report;
            self.step(now, &limits);
            if has_new_report {
                computed = Some(Computed { rate: self.rate(), why: ChangeReason::Growth, limited_by: None });
            }
        }
        computed
    }

    fn next_timeout(&self) -> Option<SendTime> {
        match (self.step_due, self.timeout_due()) {
            (Some(step), Some(timeout)) => Some(step.min(timeout)),
            (step, timeout) => step.or(timeout),
        }
    }

    fn on_pause(&mut self) {
        self.outstanding.clear();
        self.losses = LossDetection::new();
        self.step_due = None;
        self.sent = 0.0;
    }

    fn on_limits(&mut self, frame: &FlowContext) -> f64 {
        self.set_gap(self.gap, frame.limits());
        self.rate()
    }

    fn forget_path(&mut self, _now: SendTime, frame: &mut FlowContext) {
        self.set_gap(self.gap.max(self.gap_of(frame.limits().start().bps_f64())), frame.limits());
        self.rtt = RoundTrip::new(&self.config);
        self.losses = LossDetection::new();
        self.outstanding.clear();
        self.has_new_report = false;
    }

    fn scale(&mut self, _now: SendTime, factor: f64, frame: &FlowContext) {
        self.gap = self.gap_of(frame.rate());
        self.sent *= factor;
    }

    fn instantaneous_rate(&self, frame: &FlowContext) -> DataRate {
        self.fine_grained_rate(frame.limits())
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let sending_rate = self.fine_grained_rate(frame.limits());
        SendRates {
            media_rate: media_rate(frame.limits(), sending_rate, frame.queued(), self.config.drain_time),
            ..SendRates::at(sending_rate, Pacing::Factor(1.0))
        }
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "ipg", unit: "ms", meaning: "gap between packets" },
            Signal { name: "SRTT", unit: "ms", meaning: "smoothed round-trip time, the length of a step" },
            Signal { name: "timeout", unit: "ms", meaning: "after this long without news a packet is lost" },
            Signal { name: "XRTT/FRTT", unit: "", meaning: "long-term over short-term round-trip time" },
        ];
        SIGNALS
    }

    fn read_signals(&self, _frame: &FlowContext, out: &mut [f64]) {
        let values = [
            self.gap * 1e3,
            if self.rtt.is_known() { self.rtt.srtt * 1e3 } else { f64::NAN },
            self.rtt.timeout(&self.config).millis_f64(),
            self.rtt.fine_grain_factor(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, _why: ChangeReason, _frame: &FlowContext) -> [Option<Evidence>; 3] {
        let timeout = self.rtt.timeout(&self.config).millis_f64();
        [Evidence::against("SRTT", timeout), Evidence::against("XRTT/FRTT", 1.0), None]
    }
}

#[cfg(test)]
mod tests;
