//! The sender: reports → the rate `X` (RFC 5348 §4).

use weir_units::{DataRate, TimeDelta};

use super::config::{Config, Increase, MAX_SIZE};
use super::data_limited::DataLimited;
use super::equation::packets_per_rtt;
use super::receive_set::ReceiveSet;
use super::round_trip::RoundTrip;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::packet::{SendState, SentPacket, Stamp};
use crate::parts::allocation_history::AllocationHistory;
use crate::parts::backlog::media_rate;
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, NativeReport, ReportKind, TfrcReport};
use crate::time::SendTime;

/// Weight of the past in the average packet size. RFC 5348 §4.1 averages over loss intervals, which only the
/// receiver knows.
const SIZE_FILTER: f64 = 0.99;
/// Factor on a receive rate at a loss while the flow is application-limited (RFC 5348 §4.3).
const DATA_LIMITED_LOSS: f64 = 0.85;
/// Lower bound of the nofeedback timer.
const MIN_NOFEEDBACK: TimeDelta = TimeDelta::from_millis(1);

/// The sender half of TFRC. RFC 5348 §4.
pub type Tfrc = RateController<EquationRule>;

/// Computation of the rate by the throughput equation. The frame's rate is `X`, here in bytes/s.
#[derive(Debug)]
pub struct EquationRule {
    config: Config,
    /// `X_Bps`, the equation's rate in bytes/s, or `None` while `p` is 0.
    x_bps: Option<f64>,
    /// `p` of the last report.
    p: f64,
    /// `R` and values from it, or `None` before the first sample.
    rtt: Option<RoundTrip>,
    /// `s`, average payload in bytes.
    segment: f64,
    receive_set: ReceiveSet,
    /// `tld`, when the rate was last doubled; after slow start when it last changed.
    changed: Option<SendTime>,
    data_limited: DataLimited,
    nofeedback_due: Option<SendTime>,
    /// Whether a packet left since the nofeedback timer was set.
    sent: bool,
    allocations: AllocationHistory,
}

impl Tfrc {
    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        let rule = EquationRule {
            x_bps: None,
            p: 0.0,
            rtt: None,
            segment: config.segment_size.bytes_f64(),
            receive_set: ReceiveSet::of(f64::INFINITY, SendTime::ZERO),
            changed: None,
            data_limited: DataLimited::default(),
            nofeedback_due: None,
            sent: false,
            allocations: AllocationHistory::NONE,
            config,
        };
        Ok(Self::new_by(rule, FlowContext::new(limits, None)))
    }
}

impl EquationRule {
    /// Computes the rate after a report (RFC 5348 §4.3).
    fn on_report(
        &mut self,
        now: SendTime,
        report: &TfrcReport,
        sample: Option<TimeDelta>,
        frame: &mut FlowContext,
    ) -> Option<Next> {
        if let Some(sample) = sample {
            match &mut self.rtt {
                Some(rtt) => rtt.add(sample, &self.config),
                None => self.rtt = Some(RoundTrip::first(sample, &self.config)),
            }
        }
        let rtt = self.rtt?;
        let p_before = self.p;
        self.p = if report.loss_event_rate > 0.0 { report.loss_event_rate.min(1.0) } else { 0.0 };
        self.x_bps = (self.p > 0.0).then(|| self.equation(&rtt));
        if self.changed.is_none() {
            // §4.2: the first feedback.
            self.changed = Some(now);
            self.receive_set = ReceiveSet::of(f64::INFINITY, now);
            return Some(Next { x: self.initial_rate(&rtt), why: ChangeReason::Start, limited_by: None });
        }
        let received = bytes_per_second(report.receive_rate) * self.rescaled(now, &rtt);
        let recv_limit = self.recv_limit(now, received, &rtt, self.p > p_before);
        let x = x_of(frame);
        let Some(x_bps) = self.x_bps else { return self.slow_start(now, recv_limit, &rtt, x) };
        let by_loss = x_bps <= recv_limit || self.p > p_before;
        let why = if by_loss { ChangeReason::Loss } else { ChangeReason::Ceiling };
        let allowed = x_bps.min(recv_limit);
        Some(Next { why, ..self.follow_equation(now, allowed, &rtt, p_before > 0.0, x) })
    }

    /// Factor by which coupling has scaled the rate since the packets left that were received in the last round
    /// trip.
    fn rescaled(&mut self, now: SendTime, rtt: &RoundTrip) -> f64 {
        let newest = now - rtt.latest;
        self.allocations.over(newest - rtt.smoothed(), newest, now)
    }

    /// Takes in the receive rate. Returns the limit of the rate that follows (RFC 5348 §4.3 step 4).
    fn recv_limit(&mut self, now: SendTime, received: f64, rtt: &RoundTrip, worse: bool) -> f64 {
        let covered = now - rtt.latest;
        let limited = self.data_limited.on_report(now, covered, rtt.smoothed()) && received > 0.0;
        // §4.3 step 4: the whole interval was data-limited, and `p` has risen.
        if limited && worse {
            self.receive_set.halve();
            self.receive_set.maximize(DATA_LIMITED_LOSS * received, now);
            return self.receive_set.max();
        }
        // A data-limited receive rate must not lower the limit: only the greatest one counts.
        if limited {
            self.receive_set.maximize(received, now);
        } else {
            self.receive_set.update(received, now, rtt.smoothed());
        }
        2.0 * self.receive_set.max()
    }

    fn follow_equation(
        &mut self,
        now: SendTime,
        allowed: f64,
        rtt: &RoundTrip,
        after_slow_start: bool,
        x: f64,
    ) -> Next {
        let allowed = allowed.max(self.least());
        let rise = match self.config.increase {
            Increase::OnePacketPerRtt if after_slow_start => {
                let elapsed = self.changed.map_or(0.0, |changed| (now - changed).secs_f64() / rtt.r);
                self.segment / rtt.r * elapsed.clamp(0.0, 2.0)
            }
            Increase::OnePacketPerRtt | Increase::AtOnce => f64::INFINITY,
        };
        self.changed = Some(now);
        Next { x: allowed.min(x + rise), why: ChangeReason::Loss, limited_by: Some(LimitingFactor::Loss) }
    }

    /// Doubles the rate in slow start, once per round trip. Returns `None` where it is too early.
    fn slow_start(&mut self, now: SendTime, recv_limit: f64, rtt: &RoundTrip, x: f64) -> Option<Next> {
        let due = self.changed.is_none_or(|doubled| now - doubled >= rtt.smoothed() || now < doubled);
        due.then(|| {
            self.changed = Some(now);
            let x = (2.0 * x).min(recv_limit).max(self.initial_rate(rtt));
            Next { x, why: ChangeReason::Ceiling, limited_by: None }
        })
    }

    /// The equation's rate `X_Bps` (RFC 5348 §3.1).
    fn equation(&self, rtt: &RoundTrip) -> f64 {
        let packets = packets_per_rtt(self.p, rtt.timeout_in_round_trips(), self.config.timeout_term);
        self.segment / rtt.r * packets
    }

    /// The initial rate `W_init/R`: four segments per round trip, but at most 4380 bytes where two are less (RFC 5348
    /// §4.2).
    fn initial_rate(&self, rtt: &RoundTrip) -> f64 {
        let mss = self.config.segment_size.bytes_f64();
        (4.0 * mss).min((2.0 * mss).max(4380.0)) / rtt.r
    }

    /// The lowest rate `s/t_mbi` (RFC 5348 §4.3).
    fn least(&self) -> f64 {
        self.segment / self.config.max_backoff_interval.secs_f64()
    }

    /// Restarts the nofeedback timer for the rate `x` (bytes/s).
    fn restart_timer(&mut self, now: SendTime, x: f64) {
        let two_packets = TimeDelta::from_secs_f64(2.0 * self.segment / x);
        let rtts = self.rtt.map_or(TimeDelta::ZERO, |rtt| rtt.smoothed().scale(self.config.nofeedback_rtts));
        let span = rtts.max(two_packets).clamp(MIN_NOFEEDBACK, self.config.max_nofeedback);
        self.nofeedback_due = Some(now + span);
        self.sent = false;
    }

    /// Computes the rate after `x` when the nofeedback timer expires (RFC 5348 §4.4).
    fn on_nofeedback(&mut self, now: SendTime, mut x: f64, limits: &RateLimits) -> f64 {
        let idle = !self.sent;
        if !idle && let Some(rtt) = &mut self.rtt {
            // The last round trip is stale: a reduction by it stays, an increase by it goes.
            let factor = if self.config.oscillation_prevention { rtt.oscillation_factor() } else { 1.0 };
            rtt.settle();
            x = within(limits, x * factor.min(1.0));
        }
        let x_recv = self.receive_set.max().min(x);
        match (self.rtt, self.x_bps) {
            // §4.4: an idle sender keeps its rate before the first round-trip time, and while the rate is small beside
            // the recovery rate `W_init/R`.
            (None, _) if idle => x,
            (Some(rtt), Some(_)) if idle && x_recv < self.initial_rate(&rtt) => x,
            (Some(rtt), None) if idle && x < 2.0 * self.initial_rate(&rtt) => x,
            // Without a round-trip time or a loss event `X` is halved.
            (None, _) | (Some(_), None) => (x / 2.0).max(self.least()),
            // The receive rate was the limit already: `X_recv` is halved, else `X_Bps`.
            (Some(_), Some(x_bps)) if x_bps > 2.0 * x_recv => self.update_limits(now, x_recv, x_bps, x),
            (Some(_), Some(x_bps)) => self.update_limits(now, x_bps.min(x) / 2.0, x_bps, x),
        }
    }

    /// Limits the rate, and here never raises it (*Update_Limits*, RFC 5348 §4.4).
    fn update_limits(&mut self, now: SendTime, limit: f64, x_bps: f64, x: f64) -> f64 {
        let limit = limit.max(self.least());
        self.receive_set = ReceiveSet::of(limit / 2.0, now);
        x_bps.min(limit).max(self.least()).min(x)
    }

    /// The instantaneous rate `X_inst` (RFC 5348 §4.5).
    fn x_inst(&self, frame: &FlowContext) -> DataRate {
        let factor = match &self.rtt {
            Some(rtt) if self.config.oscillation_prevention => rtt.oscillation_factor(),
            _ => 1.0,
        };
        frame.limits().round(frame.rate() * factor)
    }
}

/// `X` as a report or the nofeedback timer computed it, in bytes/s.
#[derive(Clone, Copy, Debug)]
struct Next {
    x: f64,
    why: ChangeReason,
    limited_by: Option<LimitingFactor>,
}

impl Next {
    fn computed(self) -> Computed {
        Computed { rate: self.x * 8.0, why: self.why, limited_by: self.limited_by }
    }
}

/// The frame's rate `X` in bytes/s.
fn x_of(frame: &FlowContext) -> f64 {
    frame.rate() / 8.0
}

/// The rate `x` (bytes/s), clamped to the limits.
fn within(limits: &RateLimits, x: f64) -> f64 {
    limits.clamp_bps(x * 8.0) / 8.0
}

fn bytes_per_second(rate: DataRate) -> f64 {
    rate.bps_f64() / 8.0
}

impl Rule for EquationRule {
    fn on_sent(&mut self, packet: &SentPacket, state: &SendState, _frame: &FlowContext) {
        if !packet.padding {
            let size = packet.payload.bytes_f64().clamp(1.0, MAX_SIZE);
            self.segment = SIZE_FILTER * self.segment + (1.0 - SIZE_FILTER) * size;
        }
        if !state.application_limited {
            self.data_limited.on_rate_used_up(packet.at);
        }
        self.sent = true;
        if self.nofeedback_due.is_none() {
            self.nofeedback_due = Some(packet.at + self.config.initial_nofeedback);
        }
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Tfrc
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        _state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Native { report: NativeReport::Tfrc(report), rtt } = feedback else {
            return FeedbackOutcome::Ignored;
        };
        let next = self.on_report(now, report, *rtt, frame);
        frame.set_rtt(self.rtt.map(|rtt| rtt.smoothed()));
        self.restart_timer(now, within(frame.limits(), next.map_or(x_of(frame), |next| next.x)));
        next.map_or(FeedbackOutcome::NoUpdate, |next| FeedbackOutcome::Rate(next.computed()))
    }

    fn on_timeout(&mut self, now: SendTime, _state: &SendState, frame: &mut FlowContext) -> Option<Computed> {
        self.nofeedback_due.filter(|&due| due <= now)?;
        let (before, idle) = (x_of(frame), !self.sent);
        let x = self.on_nofeedback(now, before, frame.limits());
        self.restart_timer(now, within(frame.limits(), x));
        let (why, limited_by) = if idle {
            (ChangeReason::Application, None)
        } else {
            (ChangeReason::Timeout, Some(LimitingFactor::Silence))
        };
        (!idle || x != before).then(|| Next { x, why, limited_by }.computed())
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.nofeedback_due
    }

    fn on_pause(&mut self) {
        self.nofeedback_due = None;
    }

    fn forget_path(&mut self, now: SendTime, _frame: &mut FlowContext) {
        self.nofeedback_due = None;
        self.rtt = None;
        self.changed = None;
        self.receive_set = ReceiveSet::of(f64::INFINITY, now);
        self.allocations = AllocationHistory::NONE;
    }

    fn scale(&mut self, now: SendTime, factor: f64, _frame: &FlowContext) {
        self.receive_set.scale(factor);
        self.allocations.on_allocation(now, factor);
    }

    fn instantaneous_rate(&self, frame: &FlowContext) -> DataRate {
        self.x_inst(frame)
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let sending_rate = self.x_inst(frame);
        SendRates {
            media_rate: media_rate(frame.limits(), sending_rate, frame.queued(), self.config.drain_time),
            ..SendRates::at(sending_rate, Pacing::Factor(1.0))
        }
    }

    fn stamp(&self, frame: &FlowContext) -> Option<Stamp> {
        let rtt = self.rtt.map_or(TimeDelta::ZERO, |rtt| rtt.smoothed());
        Some(Stamp { rtt, rate: frame.data_rate() })
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "X", unit: "bit/s", meaning: "allowed sending rate" },
            Signal {
                name: "X_Bps",
                unit: "bit/s",
                meaning: "rate of the throughput equation; none before a loss",
            },
            Signal {
                name: "X_inst",
                unit: "bit/s",
                meaning: "allowed sending rate as the last round trip bends it",
            },
            Signal {
                name: "X_recv",
                unit: "bit/s",
                meaning: "greatest of the receive rates that bound the rate",
            },
            Signal { name: "p", unit: "", meaning: "loss event rate of the last report" },
            Signal { name: "R", unit: "ms", meaning: "average round-trip time" },
        ];
        SIGNALS
    }

    fn read_signals(&self, frame: &FlowContext, out: &mut [f64]) {
        let x_recv = self.receive_set.max();
        let values = [
            frame.rate(),
            self.x_bps.map_or(f64::NAN, |x| x * 8.0),
            self.x_inst(frame).bps_f64(),
            if x_recv.is_finite() { x_recv * 8.0 } else { f64::NAN },
            self.p,
            self.rtt.map_or(f64::NAN, |rtt| rtt.r * 1e3),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, _why: ChangeReason, _frame: &FlowContext) -> [Option<Evidence>; 3] {
        // §4.3 step 4: the equation bounds the rate, and so does twice the receive rate.
        let recv_limit = 2.0 * self.receive_set.max() * 8.0;
        let recv_limit = if recv_limit.is_finite() { recv_limit } else { f64::NAN };
        [Evidence::against("X_Bps", recv_limit), Evidence::of("p"), Evidence::of("R")]
    }
}

#[cfg(test)]
mod tests;
