//! LEDBAT's window (RFC 6817 §2.4.2), and its conversion to rates for encoder and pacer.

use weir_units::{DataSize, TimeDelta};

use super::config::Config;
use super::delay::QueuingDelay;
use super::flight::FlightBytes;
use crate::config_error::ConfigError;
use crate::controller::{Evidence, LimitingFactor, Pacing, RateLimits, Signal};
use crate::decision::ChangeReason;
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::parts::allocation_history::AllocationHistory;
use crate::parts::backlog::media_rate;
use crate::parts::feedback_timeout::FeedbackTimeout;
use crate::parts::least_window::{least_window, window_of};
use crate::parts::loss_detection::LossDetection;
use crate::parts::rtt_estimate::RttEstimate;
use crate::rate_controller::{Computed, FeedbackOutcome, FlowContext, RateController, Rule, SendRates};
use crate::report::{Feedback, ReportKind};
use crate::time::{ApparentDelay, SendTime};

/// Round-trip time before the first measurement, for the bytes in flight.
const USUAL_RTT: TimeDelta = TimeDelta::from_millis(100);
/// Share of the window that remains after congestion. RFC 6817 §2.4.2.
const DECREASE: f64 = 0.5;

/// The sender half of LEDBAT. RFC 6817 §2.4.2.
pub type Ledbat = RateController<WindowRule>;

/// LEDBAT's window. The rate of the flow context is `cwnd/SRTT`, of payload.
#[derive(Debug)]
pub struct WindowRule {
    config: Config,
    /// `cwnd` in bytes; unused before the first round-trip time.
    cwnd: f64,
    /// The rate in bit/s before the first round-trip time.
    initial_rate: f64,
    rtt: Option<RttEstimate>,
    delay: QueuingDelay,
    losses: LossDetection,
    flight: FlightBytes,
    /// `last_halving`.
    halved: Option<SendTime>,
    /// `CTO`.
    cto: TimeDelta,
    /// The highest number sent. The highest reported number follows.
    newest_sent: Option<u64>,
    newest_reported: Option<u64>,
    /// Share of the last media packet that is payload.
    payload_share: f64,
    allocations: AllocationHistory,
}

impl Ledbat {
    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        // The clock of the timeout: `CTO`, and twice that after each one.
        let least = config.min_timeout;
        let silence = FeedbackTimeout::with_step(least, (least * 2).min(config.max_timeout));
        let rule = WindowRule {
            cwnd: config.initial_window * config.segment_size.bytes_f64(),
            initial_rate: limits.start().bps_f64(),
            rtt: None,
            delay: QueuingDelay::new(&config),
            losses: LossDetection::new(),
            flight: FlightBytes::new(),
            halved: None,
            cto: config.min_timeout,
            newest_sent: None,
            newest_reported: None,
            payload_share: 1.0,
            allocations: AllocationHistory::NONE,
            config,
        };
        Ok(Self::new_by(rule, FlowContext::with_silence(limits, Some(silence))))
    }
}

impl WindowRule {
    fn mss(&self) -> f64 {
        self.config.segment_size.bytes_f64()
    }

    fn smoothed_rtt(&self) -> TimeDelta {
        self.rtt.map_or(USUAL_RTT, |rtt| rtt.smoothed())
    }

    /// The window that gives `rate` bit/s of payload.
    fn window_of(&self, rate: f64, rtt: &RttEstimate) -> f64 {
        window_of(rate, rtt.srtt, self.payload_share)
    }

    /// `cwnd/SRTT` as a rate of payload in bit/s.
    fn rate(&self) -> f64 {
        match &self.rtt {
            Some(rtt) => self.cwnd * 8.0 / rtt.srtt * self.payload_share,
            None => self.initial_rate,
        }
    }

    fn measure_rtt(&mut self, sample: TimeDelta) {
        if let Some(rtt) = &mut self.rtt {
            rtt.add(sample);
            return;
        }
        let rtt = RttEstimate::first(sample);
        self.cwnd = self.window_of(self.initial_rate, &rtt).max(self.config.initial_window * self.mss());
        self.rtt = Some(rtt);
    }

    /// Takes the samples. Returns the newly acknowledged bytes, scaled by coupling's allocations since they left, and
    /// whether a packet was marked.
    fn on_results(&mut self, now: SendTime, results: &[PacketResult]) -> (f64, bool) {
        let rtt = self.smoothed_rtt();
        let (mut acked, mut marked) = (0.0, false);
        for PacketResult { sent, fate } in results {
            let size = sent.size.bytes_f64() * self.allocations.since(sent.at, now);
            match *fate {
                PacketFate::Arrived { at, ecn } => {
                    acked += size;
                    marked |= ecn == Ecn::Ce;
                    if let Some(at) = at {
                        self.delay.on_sample(at, ApparentDelay::between(sent.at, at), rtt);
                    }
                }
                PacketFate::Recovered { .. } => acked += size,
                PacketFate::Missing => {}
            }
        }
        (acked, marked)
    }

    /// `(TARGET - queuing_delay)/TARGET`. RFC 6817 §2.4.2.
    fn off_target(&self) -> Option<f64> {
        let target = self.config.target.secs_f64();
        self.delay.get().map(|queue| (target - queue.secs_f64()) / target)
    }

    /// RFC 6817 §2.4.2, `on acknowledgment`. Returns the reason of a changed window.
    fn adapt(
        &mut self,
        now: SendTime,
        acked: f64,
        state: &SendState,
        frame: &FlowContext,
    ) -> Option<(ChangeReason, Option<LimitingFactor>)> {
        let (rtt, off_target) = (self.rtt?, self.off_target()?);
        let mss = self.mss();
        // `cwnd += GAIN · off_target · bytes_newly_acked · MSS / cwnd`. RFC 6817 §2.4.2.
        let grown = self.cwnd + self.config.gain * off_target * acked * mss / self.cwnd;
        let flight = self.flight.greatest(now, rtt.smoothed()).max(state.in_flight.bytes_f64());
        // `max_allowed_cwnd`: an application-limited flow must not build up an unused window. Divergence 3.
        let allowed = self.config.flight_headroom * flight + self.config.allowed_increase * mss;
        // Divergence 8: the bytes in flight at the maximum rate, and one packet.
        let most = self.window_of(frame.limits().max().bps_f64(), &rtt) + mss;
        self.cwnd = grown.min(allowed).min(most).max(self.config.min_window * mss);
        let limited_by = (off_target < 0.0).then_some(LimitingFactor::Delay);
        let unused = state.application_limited && grown.min(most) > allowed;
        Some((if unused { ChangeReason::Application } else { ChangeReason::Delay }, limited_by))
    }

    /// Halves the window, at most once per round trip. RFC 6817 §2.4.2, `on data loss`. Returns whether the loss
    /// counted.
    fn on_congestion(&mut self, now: SendTime) -> bool {
        let rtt = self.smoothed_rtt();
        let counts = self.halved.is_none_or(|halved| now - halved >= rtt || now < halved);
        if counts {
            self.halved = Some(now);
            let least = self.config.min_window * self.mss();
            self.cwnd = self.cwnd.min((self.cwnd * DECREASE).max(least));
            self.initial_rate *= DECREASE;
        }
        counts
    }

    fn set_timeout(&mut self, cto: TimeDelta, frame: &mut FlowContext) {
        let most = self.config.max_timeout;
        self.cto = cto.min(most);
        if let Some(silence) = frame.silence() {
            silence.set_times(self.cto, (self.cto * 2).min(most));
        }
    }
}

/// Mean time in flight of the packets that arrived at known times. This is the round-trip time with the wait for
/// the report, as it counts for the window.
fn time_in_flight(now: SendTime, results: &[PacketResult]) -> Option<TimeDelta> {
    let arrived =
        results.iter().filter(|result| matches!(result.fate, PacketFate::Arrived { at: Some(_), .. }));
    let (total, count) = arrived
        .fold((0.0, 0_u32), |(total, count), result| (total + (now - result.sent.at).secs_f64(), count + 1));
    (count > 0).then(|| TimeDelta::from_secs_f64(total / f64::from(count)))
}

impl Rule for WindowRule {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState, _frame: &FlowContext) {
        if !packet.padding && !packet.payload.is_zero() && packet.payload <= packet.size {
            self.payload_share = packet.payload.bytes_f64() / packet.size.bytes_f64();
        }
        self.newest_sent = self.newest_sent.max(Some(packet.id));
        self.flight.on_sent(packet.at, packet.size, self.smoothed_rtt());
    }

    fn accepts(&self, kind: ReportKind) -> bool {
        kind == ReportKind::Packets
    }

    fn on_feedback(
        &mut self,
        now: SendTime,
        feedback: &Feedback<'_>,
        state: &SendState,
        frame: &mut FlowContext,
    ) -> FeedbackOutcome {
        let Feedback::Packets { results, .. } = *feedback else { return FeedbackOutcome::Ignored };
        let Some(newest) = results.iter().map(|result| result.sent.id).max() else {
            return FeedbackOutcome::Ignored;
        };
        self.newest_reported = self.newest_reported.max(Some(newest));
        let first = self.rtt.is_none();
        if let Some(sample) = time_in_flight(now, results) {
            self.measure_rtt(sample);
            frame.set_rtt(self.rtt.map(|rtt| rtt.smoothed()));
        }
        let (acked, marked) = self.on_results(now, results);
        let mut lost = false;
        self.losses.on_results(results, |_| lost = true);
        let mut moved = None;
        if acked > 0.0 {
            moved = self.adapt(now, acked, state, frame);
            let cto = self.rtt.map_or(TimeDelta::ZERO, |rtt| TimeDelta::from_secs_f64(rtt.timeout()));
            self.set_timeout(cto.max(self.config.min_timeout), frame);
            // RFC 6298 §5.2, §5.3: the timer restarts while any packet is outstanding.
            if let Some(silence) = frame.silence() {
                silence.on_feedback(now, self.newest_sent > self.newest_reported);
            }
        }
        if (lost || marked) && self.on_congestion(now) {
            moved = Some((
                if lost { ChangeReason::Loss } else { ChangeReason::Mark },
                Some(LimitingFactor::Loss),
            ));
        }
        self.initial_rate = frame.limits().clamp_bps(self.initial_rate);
        if first && !lost && !marked {
            moved = moved.map(|(_, limited_by)| (ChangeReason::Start, limited_by));
        }
        let Some((why, limited_by)) = moved else { return FeedbackOutcome::NoUpdate };
        FeedbackOutcome::Rate(Computed { rate: self.rate(), why, limited_by })
    }

    /// Handles `CTO`. RFC 6817 §2.4.2.
    fn on_silence(&mut self, _now: SendTime, frame: &mut FlowContext) -> f64 {
        if let Some(rtt) = self.rtt {
            // A window beyond the maximum rate is not in use: the half is of the window in use.
            let used = self.cwnd.min(self.window_of(frame.limits().max().bps_f64(), &rtt));
            self.cwnd = (used * DECREASE).min(self.mss()).max(1.0);
        }
        self.initial_rate = frame.limits().clamp_bps(self.initial_rate * DECREASE);
        self.set_timeout(self.cto * 2, frame);
        self.rate()
    }

    fn on_limits(&mut self, frame: &FlowContext) -> f64 {
        self.initial_rate = frame.limits().clamp_bps(self.initial_rate);
        self.rate()
    }

    fn forget_base_delay(&mut self) {
        self.delay.restart();
    }

    fn forget_path(&mut self, _now: SendTime, frame: &mut FlowContext) {
        self.initial_rate = frame.rate();
        self.rtt = None;
        self.delay.restart();
        self.losses = LossDetection::new();
        self.allocations = AllocationHistory::NONE;
        self.set_timeout(self.config.min_timeout, frame);
    }

    fn scale(&mut self, now: SendTime, factor: f64, frame: &FlowContext) {
        self.initial_rate = frame.limits().clamp_bps(self.initial_rate * factor);
        // Converted from the rate in force: the window before may be beyond the limits of the rate.
        self.cwnd = self.rtt.map_or(self.cwnd * factor, |rtt| self.window_of(frame.rate(), &rtt));
        self.flight.scale(factor);
        self.allocations.on_allocation(now, factor);
    }

    fn send_rates(&self, frame: &FlowContext) -> SendRates {
        let limits = frame.limits();
        let sending_rate = frame.data_rate();
        let window = self.rtt.map(|rtt| {
            let least = least_window(limits, self.config.pacing_factor, rtt.srtt, self.payload_share);
            DataSize::from_bytes_f64(self.cwnd.max(least).max(self.mss()))
        });
        SendRates {
            media_rate: media_rate(limits, sending_rate, frame.queued(), self.config.drain_time),
            window,
            ..SendRates::at(sending_rate, Pacing::Factor(self.config.pacing_factor))
        }
    }

    fn signals(&self) -> &'static [Signal] {
        const SIGNALS: &[Signal] = &[
            Signal { name: "cwnd", unit: "bytes", meaning: "congestion window" },
            Signal {
                name: "queuing_delay",
                unit: "ms",
                meaning: "filtered current delay above the base delay",
            },
            Signal { name: "off_target", unit: "", meaning: "distance of the queuing delay from the target" },
            Signal {
                name: "flightsize",
                unit: "bytes",
                meaning: "most that was sent within a round trip of late",
            },
            Signal { name: "SRTT", unit: "ms", meaning: "smoothed round-trip time" },
            Signal { name: "CTO", unit: "ms", meaning: "congestion timeout" },
        ];
        SIGNALS
    }

    fn read_signals(&self, _frame: &FlowContext, out: &mut [f64]) {
        let values = [
            self.rtt.map_or(f64::NAN, |_| self.cwnd),
            self.delay.get().map_or(f64::NAN, TimeDelta::millis_f64),
            self.off_target().unwrap_or(f64::NAN),
            self.flight.largest(),
            self.rtt.map_or(f64::NAN, |rtt| rtt.srtt * 1e3),
            self.cto.millis_f64(),
        ];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }

    fn evidence(&self, why: ChangeReason, _frame: &FlowContext) -> [Option<Evidence>; 3] {
        let by_delay = Evidence::against("queuing_delay", self.config.target.millis_f64());
        let by_flight = Evidence::against("flightsize", self.cwnd);
        match why {
            ChangeReason::Delay => [by_delay, None, None],
            ChangeReason::Loss => [by_flight, None, None],
            _ => [by_delay, by_flight, None],
        }
    }
}

#[cfg(test)]
mod tests;
