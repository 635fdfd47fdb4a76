//! Measurements of the path by version 2. Times in s, rates in bit/s.

use weir_units::TimeDelta;

use super::averages::{L4sAlpha, QueueDelayAverages};
use super::config::Config;
use super::losses::{LossRule, LossShare};
use crate::packet::{PacketFate, PacketResult, SentPacket};
use crate::parts::path_step::{DRAINING, PathSteps};
use crate::scream::delay::{QueueDelay, SmoothedRtt};
use crate::scream::network::{Acknowledged, Network};
use crate::scream::passed;
use crate::scream::recent_max::RecentMax;
use crate::time::{ApparentDelay, SendTime};

/// Least size of the largest packet in bytes: that of audio.
const LEAST_MSS: u64 = 100;
/// Window of the acknowledged rate.
const RATE_SPAN: TimeDelta = TimeDelta::from_millis(100);
/// Weight of the newest round-trip time while the source offers less than the window allows and round trips
/// shorten: the rate should not rise by that.
const IDLE_RTT_GAIN: f64 = 1.0 / 1024.0;
/// Weight of the newest round-trip time else.
const RTT_GAIN: f64 = 0.125;

/// The changes that one feedback brings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckOutcome {
    pub(super) acked: Acknowledged,
    /// Whether a packet is lost and that is an event.
    pub(super) loss_event: bool,
}

/// Measurements of the path.
#[derive(Debug)]
pub(super) struct Path {
    network: Network,
    /// Smoothed at each feedback.
    rtt: SmoothedRtt,
    /// Smoothed once more, at each round trip: in s.
    s_rtt: Option<f64>,
    s_rtt_at: Option<SendTime>,
    /// Whether the last feedback shortened the smoothed round-trip time.
    shortens: bool,
    delay: QueueDelay,
    /// Detection of longer paths, where the configuration enables it.
    steps: Option<PathSteps>,
    averages: QueueDelayAverages,
    l4s_alpha: L4sAlpha,
    losses: LossShare,
    mss: RecentMax<2>,
    acked_bytes: u64,
    acked_since: Option<SendTime>,
    acked_rate: f64,
}

impl Path {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            network: Network::new(),
            rtt: SmoothedRtt::default(),
            s_rtt: None,
            s_rtt_at: None,
            shortens: false,
            delay: QueueDelay::default(),
            steps: config.believes_steps.then(|| PathSteps::new(DRAINING)),
            averages: QueueDelayAverages::default(),
            l4s_alpha: L4sAlpha::default(),
            losses: LossShare::new(),
            mss: RecentMax::new(),
            acked_bytes: 0,
            acked_since: None,
            acked_rate: 0.0,
        }
    }

    /// Scales the flow by `factor` for coupling.
    pub(super) fn scale(&mut self, now: SendTime, factor: f64) {
        self.network.scale(now, factor);
        self.acked_bytes = crate::scream::scaled(self.acked_bytes, factor);
        self.acked_rate *= factor;
    }

    pub(super) fn on_sent(&mut self, config: &Config, packet: &SentPacket) {
        self.network.on_sent(packet);
        self.mss.push(packet.at, config.mss_span, packet.size.bytes());
    }

    /// Feedback has come, with packets in order of departure. `ref_wnd` is the reference window in bytes; `idle` is
    /// whether the source offers less than it allows.
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        config: &Config,
        feedback: &PathFeedback<'_>,
    ) -> AckOutcome {
        let &PathFeedback { results, rtt, qdelay_target, ref_wnd, idle } = feedback;
        for PacketResult { sent, fate } in results {
            if let PacketFate::Arrived { at: Some(at), .. } = *fate {
                let delay = ApparentDelay::between(sent.at, at);
                if let Some(steps) = &mut self.steps {
                    steps.on_delay(delay);
                }
                self.delay.on_packet(at, delay);
                self.averages.on_packet(self.delay.get(), qdelay_target);
            }
        }
        let acked = self.network.on_feedback(now, results);
        if let Some((departure, _)) = acked.newest {
            self.on_rtt(now, rtt.unwrap_or(now - departure), idle);
        }
        // The loss rule needs the averages, so delays are taken before.
        let rule = LossRule {
            reorder_time: config.reorder_time,
            threshold: config.loss_rate_threshold,
            mss_share: ref_wnd.map_or(1.0, |ref_wnd| self.mss() / ref_wnd),
            queued: self.averages.average() > qdelay_target / 4.0,
        };
        let loss_event = self.losses.on_feedback(results, &rule);
        self.measure_acked(now, acked.bytes.unwrap_or(0));
        let lossy = results.iter().any(|result| result.fate == PacketFate::Missing);
        if let Some(steps) = &mut self.steps
            && let Some((_, at)) = acked.newest
            && steps.on_report(at, self.acked_rate, lossy).is_some()
        {
            self.forget_base_delay();
        }
        if let Some(s_rtt) = self.s_rtt {
            if self.network.is_l4s() {
                let span = TimeDelta::from_secs_f64(s_rtt);
                self.l4s_alpha.on_feedback(now, config, span, acked.arrived, acked.marked);
            }
            if acked.newest.is_some() {
                self.averages.on_feedback(now, config, s_rtt, self.delay.get());
            }
        }
        AckOutcome { acked, loss_event }
    }

    /// A round trip took `rtt`. Smoothed at each feedback, and the result once in a round trip.
    fn on_rtt(&mut self, now: SendTime, rtt: TimeDelta, idle: bool) {
        let before = self.rtt.get();
        self.rtt.on_sample(rtt);
        let (Some(sample), Some(span)) = (self.rtt.get(), self.rtt.span()) else { return };
        self.shortens = before.is_some_and(|before| sample < before);
        let Some(s_rtt) = self.s_rtt else {
            (self.s_rtt, self.s_rtt_at) = (Some(sample), Some(now));
            return;
        };
        if passed(now, self.s_rtt_at, span) {
            let gain = if idle && sample < s_rtt { IDLE_RTT_GAIN } else { RTT_GAIN };
            self.s_rtt = Some(s_rtt + gain * (sample - s_rtt));
            self.s_rtt_at = Some(now);
        }
    }

    fn measure_acked(&mut self, now: SendTime, bytes: u64) {
        let since = *self.acked_since.get_or_insert(now);
        self.acked_bytes = self.acked_bytes.saturating_add(bytes);
        if passed(now, Some(since), RATE_SPAN) {
            // The clock may have been set back.
            let span = (now - since).max(RATE_SPAN).secs_f64();
            self.acked_rate = self.acked_bytes as f64 * 8.0 / span;
            (self.acked_bytes, self.acked_since) = (0, Some(now));
        }
    }

    /// Forgets the base delay, which does not hold: the next packet begins anew.
    pub(super) fn forget_base_delay(&mut self) {
        self.delay = QueueDelay::default();
        self.averages.forget_least();
        if let Some(steps) = &mut self.steps {
            steps.forget_delays();
        }
    }

    /// `MSS`: the largest packet of the last one to two spans, in bytes.
    pub(super) fn mss(&self) -> f64 {
        self.mss.max().max(LEAST_MSS) as f64
    }

    pub(super) fn bytes_in_flight(&self) -> u64 {
        self.network.bytes_in_flight()
    }

    /// `s_rtt`, or `None` before the first round trip.
    pub(super) fn s_rtt(&self) -> Option<f64> {
        self.s_rtt
    }

    /// `qdelay` of the newest packet.
    pub(super) fn qdelay(&self) -> f64 {
        self.delay.get()
    }

    pub(super) fn averages(&self) -> &QueueDelayAverages {
        &self.averages
    }

    /// Share of marked packets; 0 where marks are not those of L4S.
    pub(super) fn l4s_alpha(&self) -> &L4sAlpha {
        &self.l4s_alpha
    }

    /// Whether a CE mark is one of L4S.
    pub(super) fn is_l4s(&self) -> bool {
        self.network.is_l4s()
    }

    /// Whether the queue begins to empty although every packet comes marked: marks that are older than that.
    pub(super) fn marks_are_stale(&self) -> bool {
        self.shortens && self.l4s_alpha.all_marked()
    }

    /// Rate at which bytes were acknowledged over the last 100 ms, lost ones included.
    pub(super) fn acked_rate(&self) -> f64 {
        self.acked_rate
    }

    /// Running share of lost packets.
    pub(super) fn loss_rate(&self) -> f64 {
        self.losses.rate()
    }
}

/// Feedback, with the sender's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathFeedback<'a> {
    pub(super) results: &'a [PacketResult],
    /// Round-trip time without the time at the receiver, or `None` where the report does not carry it.
    pub(super) rtt: Option<TimeDelta>,
    pub(super) qdelay_target: f64,
    /// In bytes, or `None` before the first round trip.
    pub(super) ref_wnd: Option<f64>,
    /// Whether the source offers less than the window allows.
    pub(super) idle: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::scream::fixture::{arrived, missing, ms, ten_sent};

    /// Feedback with a round-trip time of `rtt_ms`, a delay target of 60 ms and a reference window of 101 200
    /// bytes.
    fn feedback(results: &[PacketResult], rtt_ms: i64, idle: bool) -> PathFeedback<'_> {
        PathFeedback {
            results,
            rtt: Some(TimeDelta::from_millis(rtt_ms)),
            qdelay_target: 0.06,
            ref_wnd: Some(101_200.0),
            idle,
        }
    }

    /// A path with the ten packets of the fixture in flight.
    fn path() -> Path {
        let mut path = Path::new(&Config::default());
        for sent in &ten_sent() {
            path.on_sent(&Config::default(), sent);
        }
        path
    }

    /// Checks that `value` is `expected` within 1e-9.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    #[test]
    fn the_round_trip_time_is_smoothed_twice() {
        let (mut path, config) = (path(), Config::default());
        path.on_feedback(ms(100), &config, &feedback(&[arrived(1, Ecn::NotEct)], 80, false));
        near(path.s_rtt().unwrap(), 0.08);
        // 80 + 80/8 = 90 ms; not yet a round trip later.
        path.on_feedback(ms(150), &config, &feedback(&[arrived(2, Ecn::NotEct)], 160, false));
        near(path.s_rtt().unwrap(), 0.08);
        // 90 + 70/8 = 98.75 ms, and an eighth of the way.
        path.on_feedback(ms(200), &config, &feedback(&[arrived(3, Ecn::NotEct)], 160, false));
        near(path.s_rtt().unwrap(), 0.08 + 0.01875 / 8.0);
        // With an application-limited source the round-trip time stays high.
        let before = path.s_rtt().unwrap();
        path.on_feedback(ms(400), &config, &feedback(&[arrived(4, Ecn::NotEct)], 10, true));
        assert!(path.s_rtt().unwrap() > 0.999 * before);
    }

    #[test]
    fn the_largest_packet_of_a_second_or_two_is_the_mss() {
        let mut path = path();
        near(path.mss(), 1012.0);
        let small = SentPacket::new(11, ms(1500), weir_units::DataSize::from_bytes(90));
        path.on_sent(&Config::default(), &small);
        near(path.mss(), 1012.0);
        path.on_sent(&Config::default(), &SentPacket { id: 12, at: ms(2600), ..small });
        near(path.mss(), 100.0);
    }

    #[test]
    fn bytes_acknowledged_in_100_ms_give_a_rate() {
        let (mut path, config) = (path(), Config::default());
        path.on_feedback(ms(100), &config, &feedback(&[arrived(1, Ecn::NotEct)], 80, false));
        let results = [missing(2), arrived(3, Ecn::NotEct)];
        path.on_feedback(ms(200), &config, &feedback(&results, 80, false));
        // Three packets of 1012 bytes, the missing one among them.
        near(path.acked_rate(), 3.0 * 8096.0 / 0.1);
        path.scale(ms(200), 0.5);
        near(path.acked_rate(), 1.5 * 8096.0 / 0.1);
    }
}
