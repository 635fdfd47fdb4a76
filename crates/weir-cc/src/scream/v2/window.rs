//! The reference window: how it reacts to congestion and how it grows. Sizes in bytes, times in s, rates in bit/s.

use weir_units::TimeDelta;

use super::averages::{L4sAlpha, QdelayAverage};
use super::config::{Config, Edition, PostCongestion};
use crate::decision::Why;
use crate::scream::network::News;
use crate::scream::passed;
use crate::scream::recent_max::RecentMax;
use crate::time::SendTime;

/// Lowest scale of growth and reaction near the window of the last congestion.
const LOWEST_SCALE: f64 = 0.1;
/// A gentle reaction or growth is at least this share of the full one (late text).
const LEAST_SHARE: f64 = 0.25;
/// After so long without congestion the early text takes the window back to what was in flight.
const EARLY_RESTORATION: TimeDelta = TimeDelta::from_secs(5);
/// The late text after so many round trips.
const LATE_RESTORATION: f64 = 100.0;
/// `l4s_alpha` below which growth yields to the queue delay (late text).
const MARKS_SEEN: f64 = 1e-4;

/// The path at a feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) s_rtt: f64,
    pub(super) qdelay: f64,
    pub(super) qdelay_target: f64,
    pub(super) target_rate: f64,
    /// Whether marks are those of L4S.
    pub(super) l4s: bool,
}

/// What asks for a reaction.
#[derive(Clone, Copy, Debug, Default)]
struct Signs {
    lost: bool,
    marked: bool,
}

/// `ref_wnd` and what its reactions remember.
#[derive(Debug)]
pub(super) struct RefWindow {
    ref_wnd: f64,
    /// `ref_wnd_i`: the window at the last congestion.
    ref_wnd_i: f64,
    ref_wnd_i_at: Option<SendTime>,
    /// `last_reaction_to_congestion_time`.
    reacted_at: Option<SendTime>,
    /// `last_congestion_detected_time`.
    congested_at: Option<SendTime>,
    /// Losses and marks since the last reaction (late text).
    unanswered: Signs,
    /// By round trips: the present one and the one before.
    max_bytes_in_flight: RecentMax<2>,
    l4s_alpha: L4sAlpha,
    qdelay_avg: QdelayAverage,
}

impl RefWindow {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            ref_wnd: config.min_ref_wnd.bytes_f64(),
            ref_wnd_i: 1.0,
            ref_wnd_i_at: None,
            reacted_at: None,
            congested_at: None,
            unanswered: Signs::default(),
            max_bytes_in_flight: RecentMax::new(),
            l4s_alpha: L4sAlpha::default(),
            qdelay_avg: QdelayAverage::default(),
        }
    }

    /// Coupling scales the window by `factor`, and what was in it.
    pub(super) fn scale(&mut self, factor: f64) {
        self.ref_wnd *= factor;
        self.ref_wnd_i *= factor;
        self.max_bytes_in_flight.scale(factor);
    }

    /// So much is in flight now.
    pub(super) fn on_flight(&mut self, now: SendTime, s_rtt: TimeDelta, bytes: u64) {
        self.max_bytes_in_flight.push(now, s_rtt, bytes);
    }

    /// Takes the averages forward, and notes losses and marks.
    pub(super) fn observe(&mut self, now: SendTime, config: &Config, seen: &Seen, news: &News) {
        let s_rtt = TimeDelta::from_secs_f64(seen.s_rtt);
        if seen.l4s {
            self.l4s_alpha.on_feedback(now, config, s_rtt, news.arrived, news.marked);
        }
        let interval = config.average_interval(s_rtt);
        self.qdelay_avg.on_feedback(now, interval, config.qdelay_avg_gain, seen.qdelay);
        self.note_signs(now, config, news);
    }

    /// The early text takes the signs of the present feedback, the late one all since the last reaction.
    fn note_signs(&mut self, now: SendTime, config: &Config, news: &News) {
        let present = Signs { lost: news.lost, marked: news.marked > 0 };
        if config.edition == Edition::Early {
            self.unanswered = present;
            return;
        }
        self.unanswered.lost |= present.lost;
        self.unanswered.marked |= present.marked;
        if present.lost || present.marked {
            self.congested_at = Some(now);
        }
    }

    /// Reacts to congestion and grows, as far as `at_maximum` allows. Returns what it reacted to.
    pub(super) fn update(
        &mut self,
        now: SendTime,
        config: &Config,
        seen: &Seen,
        news: &News,
        at_maximum: bool,
    ) -> Option<Why> {
        // The late text takes it before the reduction, the early one after it.
        let before = self.distance_scale(config, seen.l4s);
        let reaction = self.react(now, config, seen);
        let (scale, held) = match config.edition {
            Edition::Early => (self.distance_scale(config, seen.l4s), false),
            Edition::Late => (before, at_maximum),
        };
        if news.acked.is_some() && !held {
            self.grow(now, config, seen, news, scale);
        }
        reaction
    }

    /// Reacts to congestion, at most once per min(`VIRTUAL_RTT`, `s_rtt`). Returns what it reacted to.
    fn react(&mut self, now: SendTime, config: &Config, seen: &Seen) -> Option<Why> {
        let interval = TimeDelta::from_secs_f64(seen.s_rtt).min(config.virtual_rtt);
        if !passed(now, self.reacted_at, interval) {
            return None;
        }
        let before = self.ref_wnd;
        let Signs { lost, marked } = self.unanswered;
        let virtual_mark =
            self.virtual_mark(config, seen).filter(|_| config.edition == Edition::Early || !(lost || marked));
        let why = match virtual_mark {
            _ if lost => Why::Loss,
            _ if marked => Why::Mark,
            virtual_mark => virtual_mark.map(|_| Why::Delay)?,
        };
        let mut factor = match why {
            Why::Loss => config.beta_loss,
            Why::Mark if seen.l4s => 1.0 - self.l4s_backoff(now, config, seen),
            Why::Mark => config.beta_ecn,
            _ => 1.0,
        };
        if let Some(mark) = virtual_mark {
            factor *= 1.0 - config.delay_backoff(mark, before, seen.s_rtt);
        }
        self.note_reaction(now, config, seen, before);
        self.ref_wnd = config.min_ref_wnd.bytes_f64().max(self.ref_wnd * factor);
        Some(why)
    }

    /// The L4S reaction, in [0, 1]; also takes the window back to what was in flight after a time without congestion.
    fn l4s_backoff(&mut self, now: SendTime, config: &Config, seen: &Seen) -> f64 {
        let share = config.mss_share(self.ref_wnd);
        let mut backoff = self.l4s_alpha.alpha / 2.0;
        let restore = match config.edition {
            Edition::Early => {
                backoff *= (1.0 - 2.0 * share).max(0.8);
                passed(now, self.congested_at, EARLY_RESTORATION)
            }
            Edition::Late => {
                backoff *= (1.0 - share).max(0.5);
                if seen.qdelay < 0.25 * seen.qdelay_target {
                    backoff *= self.distance_scale(config, seen.l4s).max(LEAST_SHARE);
                }
                passed(now, self.reacted_at, config.round_trips(seen.s_rtt, LATE_RESTORATION))
            }
        };
        backoff /= config.reactions_per_round_trip(seen.s_rtt);
        if restore {
            if self.max_bytes_in_flight.previous() > 0 {
                self.ref_wnd = self.ref_wnd.min(self.max_bytes_in_flight.previous() as f64);
            }
            if config.edition == Edition::Early {
                backoff = backoff.max(0.25);
                self.l4s_alpha.alpha = 0.25;
            }
        }
        backoff
    }

    /// `l4s_alpha_v`: a queue delay above half of the target as a share of marks; none while L4S marks are active.
    fn virtual_mark(&self, config: &Config, seen: &Seen) -> Option<f64> {
        let half = seen.qdelay_target / 2.0;
        if seen.qdelay <= half || !self.l4s_is_inactive(config, seen) {
            return None;
        }
        let excess = ((self.qdelay_avg.get() - half) / half).max(0.0);
        Some(match config.edition {
            Edition::Early => excess.min(1.0),
            Edition::Late if config.spread_reactions => excess.min(1.0),
            Edition::Late => (2.0 * config.alpha_limit(seen) * excess).min(1.0),
        })
    }

    /// Whether so few marks come that the queue is not controlled by them.
    pub(super) fn l4s_is_inactive(&self, config: &Config, seen: &Seen) -> bool {
        self.l4s_alpha.alpha < config.alpha_limit(seen)
    }

    fn note_reaction(&mut self, now: SendTime, config: &Config, seen: &Seen, ref_wnd: f64) {
        let interval = match config.edition {
            Edition::Early => TimeDelta::from_millis(250),
            Edition::Late => TimeDelta::from_secs_f64(10.0 * seen.s_rtt),
        };
        if passed(now, self.ref_wnd_i_at, interval) {
            self.ref_wnd_i = ref_wnd;
            self.ref_wnd_i_at = Some(now);
        }
        self.reacted_at = Some(now);
        self.unanswered = Signs::default();
        if config.edition == Edition::Early {
            self.congested_at = Some(now);
        }
    }

    /// Grows by what was acknowledged without a mark; `scale` is that of [`Self::distance_scale`].
    fn grow(&mut self, now: SendTime, config: &Config, seen: &Seen, news: &News, scale: f64) {
        let clean = news.acked.unwrap_or(0).saturating_sub(news.marked_bytes);
        let base = config.base_increment(clean, self.ref_wnd, seen.s_rtt);
        let cautious = match config.edition {
            Edition::Early => scale,
            Edition::Late => {
                let mut share = scale.max(LEAST_SHARE) * (1.0 - config.mss_share(self.ref_wnd)).max(0.5);
                if self.l4s_alpha.alpha < MARKS_SEEN {
                    share *= (1.0 - self.qdelay_avg.get() / (seen.qdelay_target / 4.0)).max(0.1);
                }
                share
            }
        };
        let windows = self.ref_wnd / config.mss.bytes_f64();
        let post = self.post_congestion(now, config, seen.s_rtt);
        let increment = base * cautious * (1.0 + config.mul_increase_factor * windows * post * scale);
        let room =
            config.mss.bytes_f64() + config.bytes_in_flight_head_room * self.max_bytes_in_flight.max() as f64;
        if self.ref_wnd + increment <= room {
            self.ref_wnd += increment;
        }
    }

    /// `scl`: how far the window is from that of the last congestion, from [`LOWEST_SCALE`] to 1.
    fn distance_scale(&self, config: &Config, l4s: bool) -> f64 {
        let (steepness, lowest) = match config.edition {
            Edition::Early if l4s => {
                (4.0, LOWEST_SCALE.max((0.02 / config.mss_share(self.ref_wnd)).min(1.0)))
            }
            Edition::Early => (4.0, LOWEST_SCALE),
            Edition::Late => (8.0, LOWEST_SCALE),
        };
        let distance = steepness * (self.ref_wnd - self.ref_wnd_i) / self.ref_wnd_i;
        (distance * distance).clamp(lowest, 1.0)
    }

    /// How much of the time after congestion has passed, from 0 to 1.
    fn post_congestion(&self, now: SendTime, config: &Config, s_rtt: f64) -> f64 {
        let Some(since) = self.congested_at else {
            return 1.0;
        };
        ((now - since).secs_f64() / config.caution(s_rtt).secs_f64()).clamp(0.0, 1.0)
    }

    /// Whether there was neither congestion nor a reaction for as long as the window grows cautiously after it.
    pub(super) fn is_calm(&self, now: SendTime, config: &Config, s_rtt: f64) -> bool {
        let caution = config.caution(s_rtt);
        passed(now, self.congested_at, caution) && passed(now, self.reacted_at, caution)
    }

    pub(super) fn ref_wnd(&self) -> f64 {
        self.ref_wnd
    }

    pub(super) fn ref_wnd_i(&self) -> f64 {
        self.ref_wnd_i
    }

    pub(super) fn l4s_alpha(&self) -> f64 {
        self.l4s_alpha.alpha
    }

    pub(super) fn qdelay_avg(&self) -> f64 {
        self.qdelay_avg.get()
    }

    /// The window is so many bytes, or the minimum if that is more.
    pub(super) fn set(&mut self, config: &Config, bytes: f64) {
        self.ref_wnd = bytes.max(config.min_ref_wnd.bytes_f64());
    }
}

impl Config {
    /// `count` round trips, each at least `VIRTUAL_RTT`.
    fn round_trips(&self, s_rtt: f64, count: f64) -> TimeDelta {
        TimeDelta::from_secs_f64(count * s_rtt.max(self.virtual_rtt.secs_f64()))
    }

    /// How long the window grows cautiously after congestion.
    fn caution(&self, s_rtt: f64) -> TimeDelta {
        match self.post_congestion {
            PostCongestion::Time(time) => time,
            PostCongestion::RoundTrips(count) => self.round_trips(s_rtt, count),
        }
    }

    /// How often the window reacts in a round trip, where a reaction is divided by that.
    fn reactions_per_round_trip(&self, s_rtt: f64) -> f64 {
        if self.spread_reactions { (s_rtt / self.virtual_rtt.secs_f64()).max(1.0) } else { 1.0 }
    }

    /// `l4s_alpha_lim`: two marks per round trip.
    fn alpha_limit(&self, seen: &Seen) -> f64 {
        2.0 * self.mss.bits_f64() / (seen.target_rate * seen.s_rtt)
    }

    /// The reaction to a queue delay that counts as `mark` of all packets marked.
    fn delay_backoff(&self, mark: f64, ref_wnd: f64, s_rtt: f64) -> f64 {
        let backoff = mark / 2.0 / self.reactions_per_round_trip(s_rtt);
        match self.edition {
            Edition::Early => backoff,
            Edition::Late => backoff * (1.0 - self.mss_share(ref_wnd)).max(0.5),
        }
    }

    /// One `MSS` per round trip, less while that is shorter than `VIRTUAL_RTT`.
    fn base_increment(&self, acked: u64, ref_wnd: f64, s_rtt: f64) -> f64 {
        let short = (s_rtt / self.virtual_rtt.secs_f64()).min(1.0);
        acked as f64 * self.mss_share(ref_wnd) * short * short
    }
}

#[cfg(test)]
mod tests;
