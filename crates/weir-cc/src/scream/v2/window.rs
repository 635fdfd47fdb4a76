//! The reference window, its reactions to congestion and its growth. Sizes in bytes, times in s, rates in bit/s.

use weir_units::TimeDelta;

use super::config::Config;
use super::path::{AckOutcome, Path};
use crate::decision::ChangeReason;
use crate::scream::recent_max::RecentMax;
use crate::scream::{passed, scaled};
use crate::time::SendTime;

/// Steps of the history of bytes in flight; two of them bound growth …
const FLIGHT_STEP: TimeDelta = TimeDelta::from_millis(50);
/// … and all of them, a second, the window of a rate at its maximum.
const FLIGHT_STEPS: usize = 20;
/// Lowest scale of growth and reaction near the window of the last congestion, …
const LOWEST_SCALE: f64 = 0.1;
/// … how steeply it rises with the distance from there, …
const STEEPNESS: f64 = 8.0;
/// … and the least share of the base growth or of a reaction to marks that it leaves.
const LEAST_SHARE: f64 = 0.25;
/// Least share of the base growth while the queue delay varies.
const LEAST_EVENNESS: f64 = 0.1;
/// Least window in packets.
const LEAST_PACKETS: f64 = 2.0;
/// Share of a reaction where the rate has already been reduced.
const YIELDED_SHARE: f64 = 0.25;
/// Round trips without congestion after which an L4S mark takes the window back to the bytes in flight.
const RESTORATION: f64 = 100.0;
/// Share of the maximum rate from which that rate's need bounds the window.
const NEAR_MAXIMUM: f64 = 0.95;

/// Effect of feedback on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowUpdate {
    /// The window stays as it is.
    Kept,
    /// The window grows, unless a bound prevents it.
    Grown,
    /// The window reacts to congestion, and grows from there.
    Reduced(ChangeReason),
}

/// The sender at a feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeedbackState {
    pub(super) s_rtt: f64,
    pub(super) qdelay_target: f64,
    pub(super) target_rate: f64,
    pub(super) max_rate: f64,
}

/// `ref_wnd` and the memory of its reactions.
#[derive(Debug)]
pub(super) struct RefWindow {
    ref_wnd: f64,
    /// `ref_wnd_i`: the window at the last congestion.
    ref_wnd_i: f64,
    /// Whether the window has not grown since then.
    ref_wnd_i_kept: bool,
    /// Share of a packet in the window before the last update.
    mss_share: f64,
    /// When the window last reacted, …
    reacted_at: Option<SendTime>,
    /// … and when to a loss or a mark.
    signalled_at: Option<SendTime>,
    updated_at: Option<SendTime>,
    /// Bytes acknowledged since the last update, and those of them with a CE mark.
    acked: u64,
    marked: u64,
    bytes_in_flight: RecentMax<FLIGHT_STEPS>,
    /// Whether the window exceeds the source's need.
    idle: bool,
}

impl RefWindow {
    /// A window of `bytes`.
    pub(super) fn new(bytes: f64) -> Self {
        Self {
            ref_wnd: bytes,
            ref_wnd_i: 1.0,
            ref_wnd_i_kept: false,
            mss_share: 0.0,
            reacted_at: None,
            signalled_at: None,
            updated_at: None,
            acked: 0,
            marked: 0,
            bytes_in_flight: RecentMax::new(),
            idle: false,
        }
    }

    /// Scales the window by `factor` for coupling, and the bytes in it.
    pub(super) fn scale(&mut self, factor: f64) {
        self.ref_wnd *= factor;
        self.ref_wnd_i *= factor;
        self.bytes_in_flight.scale(factor);
        (self.acked, self.marked) = (scaled(self.acked, factor), scaled(self.marked, factor));
    }

    /// Takes feedback, before which `in_flight` bytes were in flight. The window is updated once in
    /// min(`reaction_interval`, `s_rtt`), and at congestion.
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        config: &Config,
        path: &Path,
        standing: &FeedbackState,
        outcome: &AckOutcome,
        in_flight: u64,
    ) -> WindowUpdate {
        self.bytes_in_flight.push(now, FLIGHT_STEP, in_flight);
        self.acked = self.acked.saturating_add(outcome.acked.bytes.unwrap_or(0));
        self.marked = self.marked.saturating_add(outcome.acked.marked_bytes);
        let congestion = self.congestion(now, config, path, standing, outcome);
        let updated = *self.updated_at.get_or_insert(now);
        if congestion.is_none() && !passed(now, Some(updated), config.interval(standing.s_rtt)) {
            return WindowUpdate::Kept;
        }
        self.updated_at = Some(now);
        self.mss_share = path.mss() / self.ref_wnd;
        self.hold_at_maximum(config, standing);
        // Growth and reaction go by the distance before the reduction.
        let scale = self.distance_scale();
        if let Some(why) = congestion {
            self.reduce(now, config, path, standing, why, scale);
        }
        self.grow(now, config, path, standing, scale);
        congestion.map_or(WindowUpdate::Grown, WindowUpdate::Reduced)
    }

    /// Congestion to which the window must react.
    fn congestion(
        &self,
        now: SendTime,
        config: &Config,
        path: &Path,
        standing: &FeedbackState,
        outcome: &AckOutcome,
    ) -> Option<ChangeReason> {
        let a_round_trip = TimeDelta::from_secs_f64(standing.s_rtt);
        let since = if config.delay_puts_off_loss { self.reacted_at } else { self.signalled_at };
        if outcome.loss_event && passed(now, since, a_round_trip) {
            return Some(ChangeReason::Loss);
        }
        if !passed(now, self.reacted_at, config.interval(standing.s_rtt)) {
            return None;
        }
        if outcome.acked.marked > 0 {
            return (!path.marks_are_stale()).then_some(ChangeReason::Mark);
        }
        (path.averages().average() > standing.qdelay_target / 2.0).then_some(ChangeReason::Delay)
    }

    fn reduce(
        &mut self,
        now: SendTime,
        config: &Config,
        path: &Path,
        standing: &FeedbackState,
        why: ChangeReason,
        scale: f64,
    ) {
        // `ref_wnd_i` is the window at the first reaction after growth.
        if !self.ref_wnd_i_kept {
            (self.ref_wnd_i, self.ref_wnd_i_kept) = (self.ref_wnd, true);
        }
        let factor = match why {
            ChangeReason::Loss => config.beta_loss,
            ChangeReason::Mark if path.is_l4s() => {
                self.restore(now, config, standing);
                1.0 - l4s_backoff(config, path, standing, scale)
            }
            ChangeReason::Mark => config.beta_ecn,
            _ => 1.0 - delay_backoff(config, path, standing),
        };
        self.set(path.mss(), libm::floor(factor * self.ref_wnd));
        self.reacted_at = Some(now);
        if why != ChangeReason::Delay {
            self.signalled_at = Some(now);
        }
    }

    /// Restores the window after a long time without congestion, when it may be far above the bytes in flight.
    fn restore(&mut self, now: SendTime, config: &Config, standing: &FeedbackState) {
        let span = RESTORATION * standing.s_rtt.max(config.virtual_rtt.secs_f64());
        let in_flight = self.bytes_in_flight.previous();
        if in_flight > 0 && passed(now, self.reacted_at, TimeDelta::from_secs_f64(span)) {
            self.ref_wnd = self.ref_wnd.min(in_flight as f64);
        }
    }

    /// Near the maximum rate the window is bounded by that rate's need, or by the bytes in flight in the last
    /// second.
    fn hold_at_maximum(&mut self, config: &Config, standing: &FeedbackState) {
        if standing.target_rate > NEAR_MAXIMUM * standing.max_rate {
            let needed =
                config.packet_pacing_headroom * Config::window_of_rate(standing.max_rate, standing.s_rtt);
            self.ref_wnd = self.ref_wnd.min(needed.max(self.bytes_in_flight.max() as f64));
        }
    }

    /// Grows by a packet per round trip, and by a share of itself.
    fn grow(&mut self, now: SendTime, config: &Config, path: &Path, standing: &FeedbackState, scale: f64) {
        let mss = path.mss();
        // Marked bytes add no growth. Short round trips, an uneven queue delay and nearness to the last congestion
        // slow growth down.
        let clean = self.acked.saturating_sub(self.marked) as f64;
        (self.acked, self.marked) = (0, 0);
        let short = (standing.s_rtt / config.virtual_rtt.secs_f64()).min(1.0);
        let even = path.averages().evenness(config).max(LEAST_EVENNESS);
        let windows = self.ref_wnd / mss;
        let share =
            config.mul_increase_factor * windows * self.post_congestion(now, config, standing.s_rtt) * scale;
        let increment = clean * self.mss_share * scale.max(LEAST_SHARE) * short * even * (1.0 + share);
        // The window must not outgrow the bytes in flight.
        let recent = self.bytes_in_flight.max_of(2) as f64;
        let room = mss + config.bytes_in_flight_head_room * recent;
        self.idle = room < self.ref_wnd;
        // Whole bytes: a window that grows by less does not grow.
        let grown = self.ref_wnd + libm::floor(increment + 0.5);
        if grown <= room && standing.target_rate < standing.max_rate && grown > self.ref_wnd {
            (self.ref_wnd, self.ref_wnd_i_kept) = (grown, false);
        }
        self.set(mss, self.ref_wnd);
    }

    /// `scl`: distance of the window from that of the last congestion, from [`LOWEST_SCALE`] to 1.
    fn distance_scale(&self) -> f64 {
        let distance = STEEPNESS * (self.ref_wnd - self.ref_wnd_i) / self.ref_wnd_i;
        (distance * distance).clamp(LOWEST_SCALE, 1.0)
    }

    /// Elapsed share of the time after congestion, from 0 to 1.
    fn post_congestion(&self, now: SendTime, config: &Config, s_rtt: f64) -> f64 {
        let Some(since) = self.reacted_at else {
            return 1.0;
        };
        ((now - since).secs_f64() / (config.post_congestion_round_trips * s_rtt)).clamp(0.0, 1.0)
    }

    /// Whether there was no reaction for as long as the window grows cautiously after one.
    pub(super) fn is_calm(&self, now: SendTime, config: &Config, s_rtt: f64) -> bool {
        passed(now, self.reacted_at, TimeDelta::from_secs_f64(config.post_congestion_round_trips * s_rtt))
    }

    pub(super) fn ref_wnd(&self) -> f64 {
        self.ref_wnd
    }

    pub(super) fn ref_wnd_i(&self) -> f64 {
        self.ref_wnd_i
    }

    /// Share of a packet in the window before the last update.
    pub(super) fn mss_share(&self) -> f64 {
        self.mss_share
    }

    /// Whether the window exceeds the source's need.
    pub(super) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Sets the window to `bytes`, or to two packets if that is more.
    pub(super) fn set(&mut self, mss: f64, bytes: f64) {
        self.ref_wnd = bytes.max(LEAST_PACKETS * mss);
    }
}

/// The reaction to L4S marks, in [0, 1].
fn l4s_backoff(config: &Config, path: &Path, standing: &FeedbackState, scale: f64) -> f64 {
    let backoff = path.l4s_alpha().get() / 2.0 * yielded_share(config, path, standing)
        / config.reactions_per_round_trip(standing.s_rtt);
    if path.qdelay() >= standing.qdelay_target / 4.0 {
        return backoff;
    }
    // Complements the scale of growth.
    backoff * scale.max(LEAST_SHARE) * path.averages().evenness(config).max(LEAST_SHARE)
}

/// The reaction to a queue delay above half of the target, in [0, 0.5]. Queue delay counts as marks on all that
/// exceeds the half.
fn delay_backoff(config: &Config, path: &Path, standing: &FeedbackState) -> f64 {
    let half = standing.qdelay_target / 2.0;
    let mark = ((path.averages().average() - half) / half).clamp(0.0, 1.0);
    let reactions = config.reactions_per_round_trip(standing.s_rtt);
    mark / 2.0 * yielded_share(config, path, standing) / (reactions * reactions)
}

/// Share of a reaction: less where the rate is already below the acknowledged rate.
fn yielded_share(config: &Config, path: &Path, standing: &FeedbackState) -> f64 {
    if standing.target_rate < config.yielded_below * path.acked_rate() { YIELDED_SHARE } else { 1.0 }
}

#[cfg(test)]
mod tests;
