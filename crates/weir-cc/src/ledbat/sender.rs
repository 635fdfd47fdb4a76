//! The window (RFC 6817 §2.4.2), and what it means for encoder and pacer.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::Config;
use super::delay::QueuingDelay;
use super::flight::Flight;
use crate::config_error::ConfigError;
use crate::controller::{Cause, Controller, Decision, Pacing, PathEvent, RateLimits, Share, Signal, Target};
use crate::packet::{Ecn, Fate, PacketResult, SendState, SentPacket};
use crate::parts::backlog::media_rate;
use crate::parts::loss_detection::LossDetection;
use crate::parts::rtt_estimate::RttEstimate;
use crate::parts::silence::Silence;
use crate::report::Feedback;
use crate::time::{ApparentDelay, SendTime};

/// The round-trip time until one was measured, for what is in flight.
const USUAL_RTT: TimeDelta = TimeDelta::from_millis(100);
/// What congestion leaves of the window. RFC 6817 §2.4.2.
const DECREASE: f64 = 0.5;

/// The sender half of LEDBAT. RFC 6817 §2.4.2.
#[derive(Debug)]
pub struct Ledbat {
    config: Config,
    limits: RateLimits,
    /// `cwnd` in bytes; means nothing before the first round-trip time.
    cwnd: f64,
    /// The rate in bit/s before the first round-trip time.
    blind_rate: f64,
    rtt: Option<RttEstimate>,
    delay: QueuingDelay,
    losses: LossDetection,
    flight: Flight,
    /// `last_halving`.
    halved: Option<SendTime>,
    /// `CTO`.
    cto: TimeDelta,
    /// The clock of the timeout: `CTO`, and twice that after each one.
    silence: Silence,
    /// The greatest number sent, and the greatest of which a report told.
    newest_sent: Option<u64>,
    newest_told: Option<u64>,
    /// Share of the last media packet that is payload.
    payload_share: f64,
    queued: DataSize,
    application_limited: bool,
    cause: Cause,
}

impl Ledbat {
    /// A sender half that begins at the start rate.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            limits,
            cwnd: config.initial_window * config.segment_size.bytes_f64(),
            blind_rate: limits.start().bps_f64(),
            rtt: None,
            delay: QueuingDelay::new(&config),
            losses: LossDetection::new(),
            flight: Flight::new(),
            halved: None,
            cto: config.min_timeout,
            silence: Silence::with_step(config.min_timeout, (config.min_timeout * 2).min(config.max_timeout)),
            newest_sent: None,
            newest_told: None,
            payload_share: 1.0,
            queued: DataSize::ZERO,
            application_limited: false,
            cause: Cause::RampUp,
            config,
        })
    }

    fn mss(&self) -> f64 {
        self.config.segment_size.bytes_f64()
    }

    fn smoothed_rtt(&self) -> TimeDelta {
        self.rtt.map_or(USUAL_RTT, |rtt| rtt.smoothed())
    }

    /// The window that gives `rate` bit/s of payload.
    fn window_of(&self, rate: f64, rtt: &RttEstimate) -> f64 {
        rate / 8.0 * rtt.srtt / self.payload_share
    }

    /// `cwnd/SRTT` as a rate of payload, within the limits.
    fn rate(&self) -> DataRate {
        let bps = match &self.rtt {
            Some(rtt) => self.cwnd * 8.0 / rtt.srtt * self.payload_share,
            None => self.blind_rate,
        };
        DataRate::from_bps_f64(self.limits.clamp_bps(bps))
    }

    fn measure_rtt(&mut self, sample: TimeDelta) {
        if let Some(rtt) = &mut self.rtt {
            rtt.add(sample);
            return;
        }
        let rtt = RttEstimate::first(sample);
        self.cwnd = self.window_of(self.blind_rate, &rtt).max(self.config.initial_window * self.mss());
        self.rtt = Some(rtt);
    }

    /// Takes the samples in; returns how many bytes were newly acknowledged and whether one was marked.
    fn on_results(&mut self, results: &[PacketResult]) -> (f64, bool) {
        let rtt = self.smoothed_rtt();
        let (mut acked, mut marked) = (0.0, false);
        for PacketResult { sent, fate } in results {
            match *fate {
                Fate::Arrived { at, ecn } => {
                    acked += sent.size.bytes_f64();
                    marked |= ecn == Ecn::Ce;
                    self.delay.on_sample(at, ApparentDelay::between(sent.at, at), rtt);
                }
                Fate::Recovered { .. } => acked += sent.size.bytes_f64(),
                Fate::Missing => {}
            }
        }
        (acked, marked)
    }

    /// `(TARGET - queuing_delay)/TARGET`. RFC 6817 §2.4.2.
    fn off_target(&self) -> Option<f64> {
        let target = self.config.target.secs_f64();
        self.delay.get().map(|queue| (target - queue.secs_f64()) / target)
    }

    /// RFC 6817 §2.4.2, `on acknowledgment`.
    fn adapt(&mut self, now: SendTime, acked: f64, state: &SendState) {
        let (Some(rtt), Some(off_target)) = (self.rtt, self.off_target()) else { return };
        let mss = self.mss();
        let grown = self.cwnd + self.config.gain * off_target * acked * mss / self.cwnd;
        let flight = self.flight.most(now, rtt.smoothed()).max(state.in_flight.bytes_f64());
        let allowed = self.config.flight_headroom * flight + self.config.allowed_increase * mss;
        let most = self.window_of(self.limits.max().bps_f64(), &rtt) + mss;
        self.cwnd = grown.min(allowed).min(most).max(self.config.min_window * mss);
        if off_target < 0.0 {
            self.cause = Cause::Delay;
        } else if self.cause == Cause::Receiver {
            self.cause = Cause::RampUp;
        }
    }

    /// At most once per round trip. RFC 6817 §2.4.2, `on data loss`.
    fn on_congestion(&mut self, now: SendTime) {
        let rtt = self.smoothed_rtt();
        if self.halved.is_none_or(|halved| now - halved >= rtt || now < halved) {
            self.halved = Some(now);
            let least = self.config.min_window * self.mss();
            self.cwnd = self.cwnd.min((self.cwnd * DECREASE).max(least));
            self.blind_rate *= DECREASE;
            self.cause = Cause::Loss;
        }
    }

    /// `CTO`. RFC 6817 §2.4.2.
    fn on_congestion_timeout(&mut self) {
        if let Some(rtt) = self.rtt {
            let used = self.cwnd.min(self.window_of(self.limits.max().bps_f64(), &rtt));
            self.cwnd = (used * DECREASE).min(self.mss()).max(1.0);
        }
        self.blind_rate *= DECREASE;
        self.set_timeout(self.cto * 2);
        self.cause = Cause::Receiver;
    }

    fn set_timeout(&mut self, cto: TimeDelta) {
        let most = self.config.max_timeout;
        self.cto = cto.min(most);
        self.silence.set_times(self.cto, (self.cto * 2).min(most));
    }

    fn bound_blind_rate(&mut self) {
        self.blind_rate = self.limits.clamp_bps(self.blind_rate);
    }

    fn cause_of(&self, rate: DataRate) -> Cause {
        let cause = if self.application_limited { Cause::Application } else { self.cause };
        self.limits.cause(rate, cause)
    }

    fn decision(&self, base: DataRate) -> Decision {
        let rate = self.rate();
        Decision { rate, base, cause: self.cause_of(rate), rtt: self.rtt.map(|rtt| rtt.smoothed()) }
    }
}

/// How long the packets that arrived were in flight, on average: the round-trip time with the wait for the report, as
/// the window feels it.
fn time_in_flight(now: SendTime, results: &[PacketResult]) -> Option<TimeDelta> {
    let arrived = results.iter().filter(|result| matches!(result.fate, Fate::Arrived { .. }));
    let (total, count) = arrived
        .fold((0.0, 0_u32), |(total, count), result| (total + (now - result.sent.at).secs_f64(), count + 1));
    (count > 0).then(|| TimeDelta::from_secs_f64(total / f64::from(count)))
}

impl Controller for Ledbat {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        if !packet.padding && !packet.payload.is_zero() && packet.payload <= packet.size {
            self.payload_share = packet.payload.bytes_f64() / packet.size.bytes_f64();
        }
        self.newest_sent = self.newest_sent.max(Some(packet.id));
        self.flight.on_sent(packet.at, packet.size, self.smoothed_rtt());
        self.silence.on_sent(packet.at);
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let Feedback::Packets { results, .. } = *feedback else { return None };
        let newest = results.iter().map(|result| result.sent.id).max()?;
        let base = self.rate();
        self.newest_told = self.newest_told.max(Some(newest));
        self.queued = state.queued;
        self.application_limited = state.application_limited;
        if let Some(sample) = time_in_flight(now, results) {
            self.measure_rtt(sample);
        }
        let (acked, marked) = self.on_results(results);
        let mut lost = false;
        self.losses.on_results(results, |_| lost = true);
        if acked > 0.0 {
            self.adapt(now, acked, state);
            let cto = self.rtt.map_or(TimeDelta::ZERO, |rtt| TimeDelta::from_secs_f64(rtt.timeout()));
            self.set_timeout(cto.max(self.config.min_timeout));
            // RFC 6298 §5.2, §5.3: it runs anew while anything is outstanding.
            self.silence.on_feedback(now, self.newest_sent > self.newest_told);
        }
        if lost || marked {
            self.on_congestion(now);
        }
        self.bound_blind_rate();
        Some(self.decision(base))
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        if !self.silence.step(now) {
            return None;
        }
        let base = self.rate();
        self.queued = state.queued;
        self.on_congestion_timeout();
        self.bound_blind_rate();
        Some(self.decision(base))
    }

    fn on_event(&mut self, _now: SendTime, event: PathEvent) -> Option<Decision> {
        let base = self.rate();
        match event {
            PathEvent::Limits(limits) => self.limits = limits,
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence.end();
                self.queued = DataSize::ZERO;
                return None;
            }
            PathEvent::RouteChanged => {
                self.blind_rate = base.min(self.limits.start()).bps_f64();
                self.rtt = None;
                self.delay.restart();
                self.losses = LossDetection::new();
                self.silence.end();
                self.set_timeout(self.config.min_timeout);
                self.cause = Cause::RampUp;
            }
        }
        self.bound_blind_rate();
        Some(self.decision(base))
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence.next_timeout()
    }

    fn target(&self) -> Target {
        let sending = self.rate();
        let window = self.rtt.map(|rtt| {
            // Not so small that the least rate, or a packet, would not fit.
            let least = self.window_of(self.limits.min().bps_f64(), &rtt).max(self.mss());
            DataSize::from_bytes_f64(self.cwnd.max(least))
        });
        Target {
            media_rate: media_rate(&self.limits, sending, self.queued, self.config.drain_time),
            sending_rate: sending,
            pacing: Pacing::Factor(self.config.pacing_factor),
            window,
            padding: DataRate::ZERO,
            cause: self.cause_of(sending),
        }
    }

    fn adopt(&mut self, _now: SendTime, share: Share) {
        let rate = self.limits.clamp(share.rate).bps_f64();
        self.blind_rate = rate;
        if let Some(rtt) = self.rtt {
            self.cwnd = self.window_of(rate, &rtt);
        }
        self.cause = Cause::Coupling;
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

    fn read_signals(&self, out: &mut [f64]) {
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
}

#[cfg(test)]
mod tests;
