//! The climb to the next layer of a source, under any controller.
//!
//! A source of layers sends less than the target until the target reaches the next layer. Most controllers bound their
//! target by what was sent, so the next layer would stay off for ever. Padding closes the gap: it fills up to the
//! controller's own target, at most to the rate that the next layer needs. The controller gets padding in its feedback
//! as any other packets, and decides alone how far its target rises.
//!
//! * Padding begins when the target has been above the sent rate for a second, and at the start of a flow. It begins
//!   at the sent rate and rises by a quarter in a second.
//! * Padding stops at a loss and at a cut of the target. It also stops when the delay rises by 5 ms, and when the target
//!   stands still for three seconds although padding reaches it.
//! * After a stop it waits 2 s, then 4, 8, 16 and 30 s. A layer that is gained ends the series.
//! * During padding, and after a stop, the next layer is [held off](LayerClimb::holds) until padding has reached the rate
//!   that it needs, or a probe has. A target far above what was sent is no evidence.

mod signs;

use weir_cc::{ApparentDelay, ChangeReason, Decision, Feedback, PacketFate, SendTime};
use weir_units::{DataRate, DataSize, TimeDelta};

use self::signs::{DelayRise, MediaRate};

/// Time for which the target is above the sent rate before padding begins.
const STANDS_ABOVE: TimeDelta = TimeDelta::from_secs(1);
/// Wait after the first stop.
const FIRST_WAIT: TimeDelta = TimeDelta::from_secs(2);
/// Longest wait after a stop; each is twice the one before.
const LONGEST_WAIT: TimeDelta = TimeDelta::from_secs(30);
/// Rise of the padding rate, as a share of it in a second.
const PACE: f64 = 0.25;
/// Rate with which padding begins where nothing is sent.
const LEAST_RATE: DataRate = DataRate::from_kbps(30);
/// Longest time between two calls for which the rate rises.
const LONGEST_STEP: TimeDelta = TimeDelta::from_millis(100);
/// Share of the highest padding rate below which a target has been cut.
const CUT: f64 = 0.9;
/// Factor by which a target rises that does not stand still.
const RISE: f64 = 1.02;
/// Time within which the target rises by [`RISE`].
const RISES_WITHIN: TimeDelta = TimeDelta::from_secs(3);
/// Rise of the delay that stops padding.
const MOST_DELAY: TimeDelta = TimeDelta::from_millis(5);

/// State machine of the climb: the rate of padding, by the target, the sent rate, the rate that the next layer needs,
/// and signs of congestion. It has no clock and allocates nothing.
#[derive(Clone, Debug)]
pub struct LayerClimb {
    sent: MediaRate,
    delay: DelayRise,
    phase: ClimbPhase,
    /// Wait after the next stop; above [`FIRST_WAIT`] after a stop below the rate of the next layer.
    wait: TimeDelta,
    /// The highest target that the controller may have.
    most: DataRate,
    next: Option<NextLayer>,
    is_limited: bool,
    started: Option<SendTime>,
    polled: SendTime,
}

/// Phase of a climb.
#[derive(Clone, Copy, Debug)]
enum ClimbPhase {
    /// No padding. The target has been above the sent rate since this time.
    Flat(Option<SendTime>),
    /// Padding.
    Padding(ClimbAttempt),
    /// No padding until this time.
    Waiting(SendTime),
}

/// Padding in progress.
#[derive(Clone, Copy, Debug)]
struct ClimbAttempt {
    /// Rate of media and padding.
    rate: DataRate,
    at: SendTime,
    /// The highest such rate.
    peak: DataRate,
    /// The target at its last rise.
    highest: DataRate,
    /// Time of the last rise of the target, or since when padding has reached it.
    risen: SendTime,
}

/// The layer that a source switches on next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NextLayer {
    /// Number of layers that are on; of a source of several encoders, those of all.
    pub layers_on: usize,
    /// The target that switches it on.
    pub needed: DataRate,
}

/// Padding of a climb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClimbPadding {
    /// Rate up to which padding fills, media included; zero for no padding.
    pub rate: DataRate,
    /// Time of the next call of [`LayerClimb::poll`] at the latest; `None` until target, layers or media change.
    pub due: Option<SendTime>,
}

impl ClimbPadding {
    const NONE: Self = Self { rate: DataRate::ZERO, due: None };
}

impl LayerClimb {
    /// The climb of a flow whose target is at most `most`.
    pub fn new(most: DataRate) -> Self {
        Self {
            sent: MediaRate::NONE,
            delay: DelayRise::default(),
            phase: ClimbPhase::Flat(None),
            wait: FIRST_WAIT,
            most,
            next: None,
            is_limited: false,
            started: None,
            polled: SendTime::from_nanos(i64::MIN),
        }
    }

    /// Takes another highest target. A layer that needs more is out of reach.
    pub fn set_most(&mut self, most: DataRate) {
        self.most = most;
    }

    /// Takes media of `size` bytes that left at `now`, as the target counts it. Padding is no media.
    pub fn on_media(&mut self, now: SendTime, size: DataSize) {
        self.sent.add(now, size);
    }

    /// Takes feedback. `is_own` says whether the controller uses it: of other reports only the losses count.
    pub fn on_feedback(&mut self, now: SendTime, feedback: &Feedback<'_>, is_own: bool) {
        match *feedback {
            Feedback::Packets { results, .. } => {
                for result in results {
                    match result.fate {
                        PacketFate::Missing => self.on_congestion(now),
                        PacketFate::Arrived { at: Some(at), .. } if is_own => {
                            // Only differences of these delays are used.
                            let delay = ApparentDelay::between(result.sent.at, at);
                            self.on_delay(now, delay.assuming_synchronised_clocks());
                        }
                        PacketFate::Arrived { .. } | PacketFate::Recovered { .. } => {}
                    }
                }
            }
            Feedback::Reception { report, rtt } => {
                if report.loss_ratio() > 0.0 {
                    self.on_congestion(now);
                }
                rtt.into_iter().filter(|_| is_own).for_each(|rtt| self.on_delay(now, rtt));
            }
            Feedback::Native { rtt, .. } => rtt.into_iter().for_each(|rtt| self.on_delay(now, rtt)),
            Feedback::Ceiling(_) => {}
        }
    }

    fn on_delay(&mut self, now: SendTime, delay: TimeDelta) {
        let pads = matches!(self.phase, ClimbPhase::Padding(_));
        if self.delay.on_sample(now, delay, pads).is_some_and(|rise| rise > MOST_DELAY) {
            self.on_congestion(now);
        }
    }

    /// Takes a decision of the controller. A probe that carried the rate of the next layer ends the climb to it.
    pub fn on_decision(&mut self, decision: &Decision) {
        if decision.why == ChangeReason::Probe && self.next.is_some_and(|next| decision.rate >= next.needed) {
            (self.phase, self.wait) = (ClimbPhase::Flat(None), FIRST_WAIT);
        }
    }

    /// Takes a sign of congestion. Padding stops and waits; the second before padding begins anew.
    pub fn on_congestion(&mut self, now: SendTime) {
        match self.phase {
            ClimbPhase::Padding(_) => {
                self.phase = ClimbPhase::Waiting(now + self.wait);
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
            }
            ClimbPhase::Flat(_) => self.phase = ClimbPhase::Flat(None),
            ClimbPhase::Waiting(_) => {}
        }
    }

    /// Ends the climb: media pauses, or the path is another one.
    pub fn rest(&mut self) {
        *self = Self { started: self.started, ..Self::new(self.most) };
    }

    /// Padding from `now` on. `target` is the controller's target, and `next` the next layer, `None` if all are on. Call
    /// it when the target changes, with each frame, or when it is due.
    pub fn poll(&mut self, now: SendTime, target: DataRate, next: Option<NextLayer>) -> ClimbPadding {
        if now < self.polled {
            // The clock was set back.
            self.rest();
            self.started = Some(now - STANDS_ABOVE);
        }
        self.polled = now;
        let next = next.filter(|next| next.needed <= self.most);
        self.follow_layers(now, target, next);
        let padding = next.map_or(ClimbPadding::NONE, |next| self.pad(now, target, next.needed));
        self.is_limited = next.is_some() && self.sent.get(now).max(padding.rate) < target;
        padding
    }

    /// Whether media and padding leave a part of the target unused.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Whether the next layer stays off whatever the target is, because the path may not carry its rate.
    pub fn holds(&self, now: SendTime) -> bool {
        let starts = self.started.is_none_or(|started| now - started < STANDS_ABOVE);
        let is_below = |next: NextLayer| match self.phase {
            ClimbPhase::Padding(attempt) => attempt.rate < next.needed,
            ClimbPhase::Flat(_) | ClimbPhase::Waiting(_) => self.wait > FIRST_WAIT,
        };
        !starts && self.next.is_some_and(is_below)
    }

    fn follow_layers(&mut self, now: SendTime, target: DataRate, next: Option<NextLayer>) {
        let starts = self.started.is_none();
        self.started = Some(self.started.unwrap_or(now));
        match (std::mem::replace(&mut self.next, next), next) {
            (_, None) => (self.phase, self.wait) = (ClimbPhase::Flat(None), FIRST_WAIT),
            (None, Some(next)) if starts => {
                let rate = target.min(next.needed);
                self.phase = ClimbPhase::Padding(ClimbAttempt::new(now, rate, target));
            }
            (Some(before), Some(next)) if next.layers_on > before.layers_on => self.wait = FIRST_WAIT,
            // The target does not carry the layers that were on.
            (Some(before), Some(next)) if next.layers_on < before.layers_on && target < next.needed => {
                self.on_congestion(now);
            }
            _ => {}
        }
    }

    fn pad(&mut self, now: SendTime, target: DataRate, needed: DataRate) -> ClimbPadding {
        if let ClimbPhase::Waiting(until) = self.phase {
            if now < until {
                return ClimbPadding { due: Some(until), ..ClimbPadding::NONE };
            }
            self.phase = ClimbPhase::Flat(None);
        }
        let sent = self.sent.get(now);
        if let ClimbPhase::Flat(since) = self.phase {
            if target <= sent {
                self.phase = ClimbPhase::Flat(None);
                return ClimbPadding::NONE;
            }
            let since = since.unwrap_or(now);
            self.phase = ClimbPhase::Flat(Some(since));
            if now - since < STANDS_ABOVE {
                return ClimbPadding { due: Some(since + STANDS_ABOVE), ..ClimbPadding::NONE };
            }
            self.phase = ClimbPhase::Padding(ClimbAttempt::new(now, sent, target));
        }
        if let ClimbPhase::Padding(attempt) = &mut self.phase {
            if !attempt.goes_on(now, sent, target.min(needed), target) {
                self.on_congestion(now);
            } else if target > sent {
                return ClimbPadding { rate: attempt.rate, due: Some(now + LONGEST_STEP) };
            } else {
                self.phase = ClimbPhase::Flat(None);
            }
        }
        ClimbPadding::NONE
    }
}

impl ClimbAttempt {
    fn new(now: SendTime, rate: DataRate, target: DataRate) -> Self {
        let rate = rate.max(LEAST_RATE.min(target));
        Self { rate, at: now, peak: rate, highest: target, risen: now }
    }

    /// Raises the rate to `most` at most. Returns `false` where the target was cut, or stands still.
    fn goes_on(&mut self, now: SendTime, sent: DataRate, most: DataRate, target: DataRate) -> bool {
        let step = (now - self.at).min(LONGEST_STEP);
        let paced = self.rate.max(sent).scale(1.0 + PACE * step.secs_f64());
        if target > self.highest.scale(RISE) {
            (self.highest, self.risen) = (target, now);
        }
        if paced < target {
            // A target above what is sent need not rise.
            self.risen = now;
        }
        self.rate = paced.min(most);
        self.peak = self.peak.max(self.rate);
        self.at = now;
        target >= self.peak.scale(CUT) && now - self.risen <= RISES_WITHIN
    }
}

#[cfg(test)]
mod tests;
