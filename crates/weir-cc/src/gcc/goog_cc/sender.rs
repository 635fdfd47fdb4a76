//! The sender half: per-packet feedback in, target and probes out (libwebrtc's `GoogCcNetworkController`).

use weir_units::{DataRate, DataSize, TimeDelta};

use super::arrivals::{Arrivals, MAX_PACKET_SIZE, Resolution};
use super::config::Config;
use super::delay::{DelayBased, EstimateChanges};
use super::reports::Reports;
use super::target::{PublishedTarget, TargetRate};
use crate::config_error::ConfigError;
use crate::controller::{
    Burst, Controller, Evidence, LimitingFactor, Pacing, PathEvent, Probe, RateLimits, Signal, StreamsConfig,
    Target,
};
use crate::decision::{AllocatedRate, ChangeReason, Decision};
use crate::gcc::blocks::alr::AlrDetector;
use crate::gcc::blocks::bursts::ReportedPacket;
use crate::gcc::blocks::detector::BandwidthUsage;
use crate::gcc::blocks::loss_based_v2::{LossBasedV2, LossState};
use crate::gcc::blocks::probe_controller::{EstimateLimit, ProbeController};
use crate::gcc::blocks::probe_estimator::ProbeEstimator;
use crate::gcc::blocks::push_back::PushBack;
use crate::gcc::blocks::throughput::Throughput;
use crate::packet::{PacketFate, PacketResult, SendState, SentPacket};
use crate::parts::allocation_history::AllocationHistory;
use crate::rate_controller::{Decided, RateInForce};
use crate::report::{Feedback, ReceptionReport, ReportKind};
use crate::time::SendTime;

/// libwebrtc's controller at the sender.
#[derive(Debug)]
pub struct GoogCc {
    resolution: Resolution,
    tick_interval: TimeDelta,
    pacing: Pacing,
    burst: Burst,
    standing: RateInForce,
    delay: DelayBased,
    target: TargetRate,
    throughput: Throughput,
    /// The last known `R`.
    acknowledged: Option<DataRate>,
    reports: Reports,
    /// Round-trip time by feedback.
    rtt: Option<TimeDelta>,
    push_back: PushBack,
    alr: AlrDetector,
    probing: ProbeController,
    probe_results: ProbeEstimator,
    published: PublishedTarget,
    /// Whether a changed target waits to be published.
    pending: bool,
    /// Departure of the packet that publishes the changed target.
    publish_at: Option<SendTime>,
    /// Time of the next tick. Unset while paused, and until the streams are known or the first packet leaves.
    tick: Option<SendTime>,
    paused: bool,
    allocations: AllocationHistory,
    arrivals: Arrivals,
}

impl GoogCc {
    /// A sender half for rates within `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            resolution: Resolution {
                whole_departures: config.whole_departures,
                whole_arrivals: config.whole_arrivals,
            },
            tick_interval: config.process_interval,
            pacing: Pacing::Factor(config.pacing_factor),
            burst: Burst { time: config.pacing_burst, size: config.pacing_burst_size },
            standing: RateInForce::new(limits),
            delay: DelayBased::new(&config, limits),
            target: TargetRate::new(&config, limits),
            throughput: Throughput::new(config.throughput),
            acknowledged: None,
            reports: Reports::new(config.report_patience),
            rtt: None,
            push_back: PushBack::new(config.push_back),
            alr: AlrDetector::new(config.alr, limits.start()),
            probing: ProbeController::new(config.probing, limits),
            probe_results: ProbeEstimator::new(config.probe_result),
            published: PublishedTarget { rate: limits.start().bps_f64(), pads: false },
            pending: false,
            publish_at: None,
            tick: None,
            paused: false,
            allocations: AllocationHistory::NONE,
            arrivals: Arrivals::new(),
        })
    }

    fn rate(&self) -> DataRate {
        self.standing.limits.round(self.published.rate)
    }

    /// Makes a decision for a computed rate; `why` is the reason if it is lower than before.
    fn decide(&mut self, now: SendTime, why: ChangeReason) -> Decision {
        let rate = self.rate();
        // A cut counts as one also at the minimum rate, where the rate cannot fall.
        let at_minimum = rate <= self.standing.limits.min();
        let cut_by_delay = self.delay.take_cut();
        let lower = at_minimum && (cut_by_delay || self.target.is_cut_by_loss());
        let limited_by = self.target.limited_by();
        self.standing.application_limited = limited_by.is_none() && self.alr.since().is_some();
        let limited_by = limited_by.or_else(|| self.delay_limits().then_some(LimitingFactor::Delay));
        let decision = self.standing.decide(Decided { rate, lower, why, limited_by, rtt: self.rtt });
        self.standing.follow(now, &decision, rate);
        decision
    }

    /// Whether the delay-based estimate has met the capacity of the path.
    fn delay_limits(&self) -> bool {
        self.delay.usage() != BandwidthUsage::Normal || self.delay.aimd().capacity().mean().is_some()
    }

    /// Share of the target that push-back removes: the encoder leaves it out, and padding does not fill it.
    fn push_back_share(&self) -> f64 {
        // Called with each packet, and mostly push-back is inactive.
        if !self.push_back.holds_back() {
            return 0.0;
        }
        let rate = self.published.rate;
        let allowed = self.push_back.allowed(rate, self.standing.limits.min().bps_f64());
        if allowed == rate { 0.0 } else { 1.0 - allowed / rate }
    }

    /// Takes the fates of packets. Returns the reason of the change if a rate was computed.
    fn on_results(
        &mut self,
        now: SendTime,
        results: &[PacketResult],
        state: &SendState,
    ) -> Option<ChangeReason> {
        self.arrivals.collect(results, self.resolution);
        self.push_back.set_outstanding(still_in_flight(state, results));
        self.measure_rtt(now);
        if self.reports.lack_losses(now) {
            self.target.on_results(results, now);
        }
        let limited_since = self.alr.since();
        self.probing.on_alr(now, limited_since);
        for arrival in self.arrivals.iter() {
            self.throughput.on_packet(&arrival.packet);
        }
        let acknowledged = self.acknowledged_rate(now);
        if let Some(rate) = acknowledged {
            self.acknowledged = Some(rate);
            self.target.set_acknowledged(rate.bps_f64());
        }
        let probe = self.probe_result(acknowledged);
        let outcome = self.update_delay_based(acknowledged, probe, now);
        self.target.observe(results, limited_since.is_some(), now);
        let computed = outcome.rate.is_some();
        if computed {
            self.push_back.update();
            self.publish(now);
        } else {
            self.pending = true;
        }
        self.set_window();
        if outcome.recovered {
            self.probing.on_recovered(now);
        }
        let by_probe = outcome.probe && self.target.limited_by().is_none();
        computed.then(|| if by_probe { ChangeReason::Probe } else { self.target.why() })
    }

    /// `R`, scaled by the allocations of coupling since the departure of its packets.
    fn acknowledged_rate(&mut self, now: SendTime) -> Option<DataRate> {
        let rate = self.throughput.rate()?;
        let (first, last) = self.throughput.departures()?;
        let rescaled = self.allocations.over(first, last, now);
        Some(if rescaled == 1.0 { rate } else { rate.scale(rescaled) })
    }

    fn measure_rtt(&mut self, now: SendTime) {
        let Some((longest, shortest)) = self.arrivals.rounds(now) else { return };
        self.target.on_rounds(shortest);
        if let Some(mean) = self.reports.on_feedback(longest, now) {
            self.delay.aimd_mut().set_rtt(mean);
            self.target.set_rtt(shortest);
        }
    }

    fn on_report(&mut self, report: ReceptionReport, rtt: Option<TimeDelta>, now: SendTime) {
        if let Some(rtt) = rtt.map(|rtt| self.reports.on_rtt(rtt)) {
            self.delay.aimd_mut().set_rtt(rtt);
            self.target.set_rtt(rtt);
        }
        if let Some(losses) = self.reports.on_report(report, now) {
            self.target.on_losses(losses, now);
        }
        self.pending = true;
    }

    /// Sets push-back's window from the target.
    fn set_window(&mut self) {
        if let Some(rtt) = self.reports.least() {
            self.push_back.set_window(self.published.rate, rtt);
        }
    }

    /// Result of the last probe in this feedback, if any.
    fn probe_result(&mut self, acknowledged: Option<DataRate>) -> Option<DataRate> {
        let mut result = None;
        for arrival in self.arrivals.iter() {
            let Some(id) = arrival.probe else { continue };
            let ReportedPacket { departure, arrival: at, size } = arrival.packet;
            result = self.probe_results.on_arrived(id, departure, at, size).or(result);
        }
        let estimate = DataRate::from_bps_f64(self.delay.aimd().rate());
        Some(self.probe_results.applied(result?, estimate, acknowledged))
    }

    fn update_delay_based(
        &mut self,
        acknowledged: Option<DataRate>,
        probe: Option<DataRate>,
        now: SendTime,
    ) -> EstimateChanges {
        if self.arrivals.is_empty() {
            return EstimateChanges { rate: None, probe: false, recovered: false };
        }
        let packets = self.arrivals.iter().map(|arrival| &arrival.packet);
        let outcome = self.delay.on_feedback(packets, acknowledged, probe, now);
        if let Some(rate) = outcome.rate {
            self.target.set_delay_based(rate, outcome.probe);
        }
        outcome
    }

    /// Publishes the target to all parts that depend on it.
    fn publish(&mut self, now: SendTime) {
        let rate = self.target.rate();
        let pads = self.target.loss_state() == LossState::IncreasingWithPadding;
        self.published = PublishedTarget { rate, pads };
        (self.pending, self.publish_at) = (false, None);
        let rate = self.rate();
        self.alr.set_estimate(rate);
        self.probing.on_estimate(now, rate, self.estimate_limit());
    }

    /// Limit of the rate, for the purposes of probing.
    fn estimate_limit(&self) -> EstimateLimit {
        if self.delay.usage() != BandwidthUsage::Normal {
            return EstimateLimit::DelayIncreased;
        }
        if self.target.backoff().is_above_limit() {
            return EstimateLimit::Rtt;
        }
        match self.target.loss_state() {
            LossState::DelayBased => EstimateLimit::Delay,
            LossState::Increasing => EstimateLimit::LossIncreasing,
            LossState::Decreasing | LossState::IncreasingWithPadding => EstimateLimit::Loss,
        }
    }

    /// Resets everything for another path. The rate is the start rate, or that of the old path if that is lower.
    fn change_route(&mut self, now: SendTime) {
        let standing_limits = self.standing.limits;
        let start = standing_limits
            .clamp(self.acknowledged.unwrap_or(standing_limits.start()).min(standing_limits.start()));
        let limits =
            RateLimits::new(standing_limits.min(), start, standing_limits.max()).unwrap_or(standing_limits);
        self.delay.change_route(limits);
        self.throughput.restart();
        self.acknowledged = None;
        self.target.restart(limits);
        self.reports.restart();
        self.rtt = None;
        self.push_back.restart();
        self.alr.restart(start);
        self.probe_results.restart();
        self.allocations = AllocationHistory::NONE;
        self.published.rate = self.target.rate();
        self.probing.restart(now, limits);
        if self.tick.is_some() {
            self.probing.start(now);
        }
    }

    fn on_tick(&mut self, now: SendTime) {
        self.tick = Some(now + self.tick_interval);
        self.probing.start(now);
        self.target.update(now);
        self.probing.on_alr(now, self.alr.since());
        self.probing.on_timeout(now);
        self.set_window();
        self.push_back.update();
    }

    /// Makes the first tick due at once, which requests the first probes.
    fn start_ticking(&mut self, now: SendTime) {
        if !self.paused {
            self.tick.get_or_insert(now);
        }
    }

    /// Limits the time until the next tick to an interval.
    fn keep_ticking(&mut self, now: SendTime) {
        if let Some(tick) = self.tick {
            self.tick = Some(tick.min(now + self.tick_interval));
        }
    }
}

/// Bytes in flight after feedback with `results`, where `state` is from before the feedback.
fn still_in_flight(state: &SendState, results: &[PacketResult]) -> DataSize {
    let settled = results.iter().filter(|result| !matches!(result.fate, PacketFate::Recovered { .. }));
    state.in_flight.saturating_sub(settled.map(|result| result.sent.size).sum())
}

impl Controller for GoogCc {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState) {
        let departure = self.resolution.departure(packet.at);
        self.alr.on_sent(departure, packet.payload.min(MAX_PACKET_SIZE));
        self.target.on_sent(departure);
        self.push_back.set_outstanding(state.in_flight);
        self.push_back.update();
        if self.pending {
            self.publish_at = Some(packet.at);
        }
        self.start_ticking(packet.at);
        self.keep_ticking(packet.at);
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        matches!(kind, ReportKind::Packets | ReportKind::Ceiling | ReportKind::Reception)
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let why = match *feedback {
            Feedback::Packets { results, rtt, .. } if !results.is_empty() => {
                self.rtt = rtt.or(self.rtt);
                self.on_results(now, results, state)?
            }
            Feedback::Ceiling(ceiling) => {
                // A ceiling of zero means none.
                let ceiling = if ceiling.is_zero() { f64::INFINITY } else { ceiling.bps_f64() };
                self.target.set_ceiling(ceiling);
                self.publish(now);
                ChangeReason::Ceiling
            }
            Feedback::Reception { report, rtt } => {
                self.on_report(report, rtt, now);
                return None;
            }
            Feedback::Packets { .. } | Feedback::Native { .. } => return None,
        };
        self.keep_ticking(now);
        Some(self.decide(now, why))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState) -> Option<Decision> {
        self.next_timeout().filter(|&due| due <= now)?;
        if self.tick.is_some_and(|tick| tick <= now) {
            self.on_tick(now);
        }
        self.publish(now);
        Some(self.decide(now, self.target.why()))
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        match event {
            PathEvent::Limits(limits) => {
                self.standing.limits = limits;
                self.delay.aimd_mut().set_limits(limits);
                self.target.set_limits(limits);
                self.probing.set_limits(now, limits);
                self.publish(now);
                Some(self.decide(now, ChangeReason::Limits))
            }
            PathEvent::Paused => {
                (self.tick, self.publish_at) = (None, None);
                self.paused = true;
                None
            }
            PathEvent::Resumed => {
                self.paused = false;
                self.keep_ticking(now);
                None
            }
            // The trend has no base delay.
            PathEvent::DelayRefuted => None,
            PathEvent::RouteChanged => {
                self.change_route(now);
                Some(self.decide(now, ChangeReason::Route))
            }
        }
    }

    fn next_timeout(&self) -> Option<SendTime> {
        match (self.tick, self.publish_at) {
            (Some(tick), Some(report)) => Some(tick.min(report)),
            (tick, report) => tick.or(report),
        }
    }

    fn target(&self) -> Target {
        let rate = self.rate();
        let push_back_share = self.push_back_share();
        Target {
            burst: self.burst,
            // A rate beyond 2⁵³ bit/s may be rounded up.
            padding: if self.published.pads {
                rate.scale(1.0 - push_back_share).min(rate)
            } else {
                DataRate::ZERO
            },
            frame_drop: push_back_share,
            ..Target::at(rate, self.pacing, self.standing.limiting_factor(false))
        }
    }

    fn on_streams(&mut self, now: SendTime, streams: StreamsConfig) {
        self.probing.set_screen(streams.screen);
        self.probing.set_allocated(now, streams.usable);
        // The first frame may leave in one burst and should be the first probe, so that is requested before.
        self.probing.start(now);
        self.start_ticking(now);
    }

    fn poll_probe(&mut self) -> Option<Probe> {
        let probe = self.probing.poll()?;
        self.probe_results.expect(probe);
        Some(probe)
    }

    fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        let share = AllocatedRate { rate: self.target.below_ceiling(share.rate) };
        if let Some((taken, factor)) = self.standing.apply_allocation(share) {
            // While the round-trip time holds the rate down, the allocation does not scale the estimates.
            let of_estimates = if self.target.backoff().is_above_limit() { 1.0 } else { factor };
            self.delay.aimd_mut().scale(of_estimates, taken.bps_f64());
            let pending = self.target.rate() / self.published.rate;
            self.target.scale(taken.bps_f64() * pending, of_estimates);
            self.published.rate = taken.bps_f64();
            self.alr.scale(factor);
            self.probing.scale(factor);
            self.push_back.scale(factor);
            self.allocations.on_allocation(now, factor);
            self.acknowledged = self.acknowledged.map(|rate| rate.scale(factor));
        }
        self.standing.decided()
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "A_delay", unit: "bit/s", meaning: "delay-based estimate" },
            Signal { name: "R", unit: "bit/s", meaning: "acknowledged rate" },
            Signal { name: "trend", unit: "ms", meaning: "slope of the delay as it is compared with γ" },
            Signal { name: "γ", unit: "ms", meaning: "threshold of the trend" },
            Signal { name: "C̄", unit: "bit/s", meaning: "mean of R at over-use" },
            Signal { name: "loss", unit: "", meaning: "average loss ratio of the last observations" },
            Signal { name: "p", unit: "", meaning: "inherent loss of the likeliest channel" },
            Signal { name: "A_loss", unit: "bit/s", meaning: "loss-based estimate" },
            Signal { name: "RTT", unit: "ms", meaning: "round-trip time by which the back-off goes" },
            Signal { name: "ALR", unit: "", meaning: "1 while the source limits the rate" },
        ];
        SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let v2 = self.target.v2();
        let values = [
            self.delay.aimd().rate(),
            self.acknowledged.map_or(f64::NAN, DataRate::bps_f64),
            self.delay.trend().scaled,
            self.delay.gamma(),
            self.delay.aimd().capacity().mean().unwrap_or(f64::NAN),
            v2.map_or(self.target.v1().loss_ratio(), LossBasedV2::average_loss),
            v2.map_or(f64::NAN, LossBasedV2::inherent_loss),
            v2.and_then(LossBasedV2::result).map_or(f64::NAN, |result| result.0),
            self.target.backoff().corrected_rtt().millis_f64(),
            f64::from(u8::from(self.alr.since().is_some())),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: ChangeReason) -> [Option<Evidence>; 3] {
        let by_loss = match self.target.v2() {
            Some(_) => Evidence::against("A_loss", self.delay.aimd().rate()),
            None => Evidence::against("loss", self.target.v1().threshold()),
        };
        let by_delay = Evidence::against("trend", self.delay.gamma());
        match why {
            ChangeReason::Loss => [by_loss, Evidence::of("R"), None],
            ChangeReason::Delay => [by_delay, Evidence::of("R"), None],
            _ => [by_delay, by_loss, Evidence::of("R")],
        }
    }
}
