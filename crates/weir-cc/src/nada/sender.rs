//! The sender: reports → `r_ref` → encoder and pacer.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::{Config, ConfigError, NadaPacing};
use super::rate::Shaped;
use crate::controller::{Cause, Controller, Decision, Pacing, PathEvent, RateLimits, Share, Signal, Target};
use crate::packet::{SendState, SentPacket};
use crate::report::{Feedback, LawReport, NadaReport};
use crate::time::SendTime;

/// How often the rate is halved while reports are missing.
const SILENCE_STEP: TimeDelta = TimeDelta::from_secs(1);
/// Share of the rate that is left after each step of silence.
const SILENCE_FACTOR: f64 = 0.5;

/// The sender half of NADA: RFC 8698 §4.3 and §5.2.
#[derive(Debug)]
pub struct Nada {
    config: Config,
    limits: RateLimits,
    /// `r_ref` in bit/s.
    r_ref: f64,
    /// `x_curr` of the newest report in ms; `None` where it says nothing for the next one.
    x_curr: Option<f64>,
    /// `x_offset` and `x_diff` in ms; NaN where the last update had none.
    x_offset: f64,
    x_diff: f64,
    rtt: Option<TimeDelta>,
    updated: Option<SendTime>,
    /// What waits in the shaping buffer.
    queued: DataSize,
    cause: Cause,
    application_limited: bool,
    silence_due: Option<SendTime>,
}

impl Nada {
    pub(super) const SIGNALS: &[Signal] = &[
        Signal { name: "x_curr", unit: "ms", meaning: "aggregate congestion signal of the last report" },
        Signal { name: "x_offset", unit: "ms", meaning: "x_curr above its value at equilibrium" },
        Signal { name: "x_diff", unit: "ms", meaning: "change of x_curr since the report before" },
        Signal { name: "r_ref", unit: "bit/s", meaning: "reference rate" },
    ];

    /// A sender half that begins at the start rate; `RMIN` and `RMAX` are those of `limits`.
    ///
    /// # Errors
    /// The first constant of `config` out of its range.
    pub fn new(config: Config, limits: RateLimits) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            limits,
            r_ref: limits.start().bps_f64(),
            x_curr: Some(0.0),
            x_offset: f64::NAN,
            x_diff: f64::NAN,
            rtt: None,
            updated: None,
            queued: DataSize::ZERO,
            cause: Cause::RampUp,
            application_limited: false,
            silence_due: None,
        })
    }

    fn reference_rate(&self) -> DataRate {
        DataRate::from_bps_f64(self.r_ref)
    }

    /// RFC 8698 §4.3.
    fn on_report(&mut self, now: SendTime, report: &NadaReport) {
        let x_curr = report.congestion.max(TimeDelta::ZERO).millis_f64();
        let x_diff = x_curr - self.x_curr.replace(x_curr).unwrap_or(x_curr); // eq. (6)
        let elapsed = self.updated.replace(now).map_or(self.config.feedback_interval, |last| now - last);
        let rate = if report.ramp_up {
            (self.x_offset, self.x_diff) = (f64::NAN, x_diff);
            self.cause = Cause::RampUp;
            let rtt = self.rtt.unwrap_or_default();
            self.config.ramp_up(self.r_ref, report.receive_rate.bps_f64(), rtt)
        } else {
            let max = self.limits.max().bps_f64();
            let update = self.config.gradual(self.r_ref, max, elapsed, x_curr, x_diff);
            (self.x_offset, self.x_diff) = (update.offset, x_diff);
            self.cause = Cause::Delay;
            update.rate
        };
        self.r_ref = self.limits.clamp_bps(rate);
    }

    /// What was learnt of the path's congestion does not hold for the next report.
    fn forget_congestion(&mut self) {
        self.x_curr = None;
        self.updated = None;
        self.x_offset = f64::NAN;
        self.x_diff = f64::NAN;
    }

    fn decision(&self, base: DataRate) -> Decision {
        let rate = self.reference_rate();
        Decision { rate, base, cause: self.cause_of(rate), rtt: self.rtt }
    }

    /// What limits `rate`: a bound, else the source, else what the law found.
    fn cause_of(&self, rate: DataRate) -> Cause {
        let cause = if self.application_limited { Cause::Application } else { self.cause };
        self.limits.cause(rate, cause)
    }
}

impl Controller for Nada {
    fn on_sent(&mut self, packet: &SentPacket, _state: &SendState) {
        if self.silence_due.is_none() {
            self.silence_due = Some(packet.at + self.config.feedback_timeout);
        }
    }

    fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, state: &SendState) -> Option<Decision> {
        let Feedback::Law { report: LawReport::Nada(report), rtt } = feedback else {
            return None;
        };
        let base = self.reference_rate();
        self.rtt = rtt.or(self.rtt);
        self.queued = state.queued;
        self.application_limited = state.application_limited;
        self.on_report(now, report);
        self.silence_due = None;
        Some(self.decision(base))
    }

    fn on_timeout(&mut self, now: SendTime, state: &SendState) -> Option<Decision> {
        self.silence_due.filter(|&due| due <= now)?;
        self.silence_due = Some(now + SILENCE_STEP);
        let base = self.reference_rate();
        self.queued = state.queued;
        self.r_ref = self.limits.clamp_bps(self.r_ref * SILENCE_FACTOR);
        self.cause = Cause::Receiver;
        self.forget_congestion();
        Some(self.decision(base))
    }

    fn on_event(&mut self, _now: SendTime, event: PathEvent) -> Option<Decision> {
        let base = self.reference_rate();
        match event {
            PathEvent::Limits(limits) => {
                self.limits = limits;
                self.r_ref = limits.clamp_bps(self.r_ref);
            }
            PathEvent::Paused | PathEvent::Resumed => {
                self.silence_due = None;
                self.queued = DataSize::ZERO;
                self.forget_congestion();
                return None;
            }
            PathEvent::RouteChanged => {
                self.r_ref = self.r_ref.min(self.limits.start().bps_f64());
                self.rtt = None;
                self.cause = Cause::RampUp;
                self.forget_congestion();
            }
        }
        Some(self.decision(base))
    }

    fn next_timeout(&self) -> Option<SendTime> {
        self.silence_due
    }

    fn target(&self) -> Target {
        let rate = self.reference_rate();
        let (Shaped { media, sending }, pacing) = match self.config.pacing {
            NadaPacing::Shaped => (self.config.shape(&self.limits, rate, self.queued), Pacing::Factor(1.0)),
            NadaPacing::Factor(factor) => (Shaped { media: rate, sending: rate }, Pacing::Factor(factor)),
            NadaPacing::Unpaced => (Shaped { media: rate, sending: rate }, Pacing::Unpaced),
        };
        Target {
            media_rate: media,
            sending_rate: sending,
            pacing,
            window: None,
            padding: DataRate::ZERO,
            cause: self.cause_of(rate),
        }
    }

    fn adopt(&mut self, _now: SendTime, share: Share) {
        self.r_ref = self.limits.clamp_bps(share.rate.bps_f64());
        self.cause = Cause::Coupling;
    }

    fn signals(&self) -> &'static [Signal] {
        Self::SIGNALS
    }

    fn read_signals(&self, out: &mut [f64]) {
        let values = [self.x_curr.unwrap_or(f64::NAN), self.x_offset, self.x_diff, self.r_ref];
        out.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn limits(min: u64, start: u64, max: u64) -> RateLimits {
        RateLimits::new(kbps(min), kbps(start), kbps(max)).unwrap()
    }

    fn nada() -> Nada {
        Nada::new(Config::default(), limits(150, 500, 1500)).unwrap()
    }

    fn sent(at: i64) -> SentPacket {
        let size = DataSize::from_bytes(1200);
        SentPacket { id: 0, at: ms(at), size, payload: size, padding: false, probe: None }
    }

    fn tell(sender: &mut Nada, at: i64, report: NadaReport, queued: u64) -> Decision {
        let feedback =
            Feedback::Law { report: LawReport::Nada(report), rtt: Some(TimeDelta::from_millis(80)) };
        let state = SendState { queued: DataSize::from_bytes(queued), ..SendState::default() };
        sender.on_feedback(ms(at), &feedback, &state).unwrap()
    }

    fn gradual(x_curr: i64) -> NadaReport {
        NadaReport { ramp_up: false, congestion: TimeDelta::from_millis(x_curr), receive_rate: kbps(500) }
    }

    fn ramp_up(receive_rate: u64) -> NadaReport {
        NadaReport { ramp_up: true, congestion: TimeDelta::ZERO, receive_rate: kbps(receive_rate) }
    }

    fn signals(sender: &Nada) -> [f64; 4] {
        let mut out = [0.0; 4];
        assert_eq!(sender.signals().len(), out.len());
        sender.read_signals(&mut out);
        out
    }

    #[test]
    fn it_begins_at_the_start_rate() {
        let target = nada().target();
        assert_eq!((target.media_rate, target.sending_rate), (kbps(500), kbps(500)));
        assert_eq!(target.cause, Cause::RampUp);
        assert_eq!(nada().next_timeout(), None);
    }

    #[test]
    fn ramp_up_goes_by_the_receive_rate_and_the_round_trip_time() {
        let mut sender = nada();
        // gamma = 50/(80 + 220) = 1/6: 600·7/6 = 700.
        let decision = tell(&mut sender, 100, ramp_up(600), 0);
        assert_eq!((decision.base, decision.rate, decision.cause), (kbps(500), kbps(700), Cause::RampUp));
        assert_eq!(decision.rtt, Some(TimeDelta::from_millis(80)));
        assert_eq!(tell(&mut sender, 200, ramp_up(0), 0).rate, kbps(700), "an unknown receive rate holds");
        assert_eq!(tell(&mut sender, 300, ramp_up(1400), 0).cause, Cause::Maximum);
    }

    #[test]
    fn a_gradual_update_takes_the_change_since_the_last_report_of_either_mode() {
        let mut sender = nada();
        tell(&mut sender, 100, ramp_up(0), 0);
        // x_offset = 40 − 10·1500/500 = 10; x_diff = 40 − 0;
        // 500·(1 − 0.5·0.2·10/500 − 40/500) = 500·(1 − 0.002 − 0.08) = 459.
        let decision = tell(&mut sender, 200, gradual(40), 0);
        assert_eq!((decision.rate, decision.cause), (kbps(459), Cause::Delay));
        let [x_curr, x_offset, x_diff, r_ref] = signals(&sender);
        assert_eq!((x_curr, x_diff), (40.0, 40.0));
        assert!((x_offset - 10.0).abs() < 1e-9 && (r_ref - 459e3).abs() < 1e-6);
    }

    #[test]
    fn the_rate_stays_within_the_limits() {
        let mut sender = nada();
        let decision = tell(&mut sender, 100, gradual(i64::MAX / 2_000_000), 0);
        assert_eq!((decision.rate, decision.cause), (kbps(150), Cause::Minimum));
        let backwards = tell(&mut sender, -100, gradual(0), 0);
        assert_eq!(backwards.rate, kbps(1500));
    }

    #[test]
    fn the_shaping_buffer_drains_by_both_rates() {
        let mut sender = Nada::new(Config::default(), limits(150, 1000, 1500)).unwrap();
        // r_ref = 1000 stays at x = 15. 2000 bytes: ±48 kbit/s.
        sender.x_curr = Some(15.0);
        tell(&mut sender, 100, gradual(15), 2000);
        let target = sender.target();
        assert_eq!((target.media_rate, target.sending_rate), (kbps(952), kbps(1048)));
        assert_eq!(target.pacing, Pacing::Factor(1.0));
    }

    #[test]
    fn pacing_without_shaping_leaves_the_rates_alone() {
        for (pacing, expected) in
            [(NadaPacing::Unpaced, Pacing::Unpaced), (NadaPacing::Factor(2.5), Pacing::Factor(2.5))]
        {
            let mut sender =
                Nada::new(Config { pacing, ..Config::default() }, limits(150, 500, 1500)).unwrap();
            tell(&mut sender, 100, ramp_up(0), 2000);
            let target = sender.target();
            assert_eq!((target.media_rate, target.sending_rate), (kbps(500), kbps(500)));
            assert_eq!(target.pacing, expected);
        }
    }

    #[test]
    fn missing_reports_halve_the_rate_each_second_down_to_the_minimum() {
        let mut sender = nada();
        let state = SendState::default();
        sender.on_sent(&sent(0), &state);
        sender.on_sent(&sent(900), &state);
        assert_eq!(sender.next_timeout(), Some(ms(1000)));
        assert_eq!(sender.on_timeout(ms(999), &state), None);
        let decision = sender.on_timeout(ms(1000), &state).unwrap();
        assert_eq!((decision.base, decision.rate), (kbps(500), kbps(250)));
        assert_eq!(sender.on_timeout(ms(1000), &state), None, "twice is harmless");
        assert_eq!(sender.on_timeout(ms(2000), &state).map(|d| d.rate), Some(kbps(150)));
        assert_eq!(sender.next_timeout(), Some(ms(3000)));
    }

    #[test]
    fn after_a_silence_the_first_report_has_no_difference() {
        let mut sender = nada();
        tell(&mut sender, 100, gradual(30), 0);
        let state = SendState::default();
        sender.on_sent(&sent(110), &state);
        sender.on_timeout(ms(1110), &state);
        let before = sender.target().media_rate;
        // x = 10·1500/r_ref is the equilibrium: without a difference the rate stands.
        let x = 15e6 / before.bps_f64();
        let report = NadaReport { congestion: TimeDelta::from_millis_f64(x), ..gradual(0) };
        let after = tell(&mut sender, 9000, report, 0);
        assert!(after.rate.bps().abs_diff(before.bps()) <= 1, "{before:?} → {after:?}");
        assert_eq!(sender.next_timeout(), None);
    }

    #[test]
    fn a_source_without_data_is_not_taken_for_a_silent_path() {
        let mut sender = nada();
        let state = SendState::default();
        sender.on_sent(&sent(0), &state);
        tell(&mut sender, 100, ramp_up(0), 0);
        assert_eq!(sender.next_timeout(), None);
        sender.on_sent(&sent(60_000), &state);
        assert_eq!(sender.next_timeout(), Some(ms(61_000)));
        sender.on_event(ms(60_001), PathEvent::Paused);
        assert_eq!(sender.next_timeout(), None);
    }

    #[test]
    fn events_and_coupling_become_the_laws_own_state() {
        let mut sender = nada();
        sender.adopt(ms(0), Share { rate: kbps(900) });
        assert_eq!((sender.target().media_rate, sender.target().cause), (kbps(900), Cause::Coupling));
        assert_eq!(tell(&mut sender, 100, ramp_up(0), 0).base, kbps(900));
        let narrower = PathEvent::Limits(limits(100, 300, 600));
        let decision = sender.on_event(ms(200), narrower).unwrap();
        assert_eq!((decision.base, decision.rate, decision.cause), (kbps(900), kbps(600), Cause::Maximum));
        let decision = sender.on_event(ms(300), PathEvent::RouteChanged).unwrap();
        assert_eq!((decision.rate, decision.rtt), (kbps(300), None));
        assert_eq!(sender.on_event(ms(400), PathEvent::Resumed), None);
    }

    #[test]
    fn feedback_of_other_laws_is_none_of_its_business() {
        let mut sender = nada();
        let state = SendState::default();
        assert_eq!(sender.on_feedback(ms(0), &Feedback::Ceiling(kbps(1)), &state), None);
        assert_eq!(sender.target().media_rate, kbps(500));
    }
}
