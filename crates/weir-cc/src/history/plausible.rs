//! What a report cannot say of a path: a word on a packet before it can have been to the other end and back, an arrival
//! that shortens the way there by more than a whole round trip, and one that is still to come.
//!
//! Such news is held back. A path that has become shorter, and a receiver's clock that was set back, say the same again;
//! who forges beside an honest receiver is denied by it meanwhile.

use weir_units::TimeDelta;

use crate::time::{ApparentDelay, SendTime};

/// A doubt is settled if nothing has denied it for so many gaps between reports: the receiver would have spoken.
const GAPS: f64 = 1.75;
/// The longest gap that is waited for: after a pause reports come as before it.
const LONGEST_GAP: TimeDelta = TimeDelta::from_millis(500);
/// The shortest: that of transport-wide feedback.
const SHORTEST_GAP: TimeDelta = TimeDelta::from_millis(50);
/// The smallest round trip is known once so many reports have measured one: the first packets of a call may have waited.
const KNOWN_AFTER: u32 = 10;
/// Gaps that are remembered; the longest counts.
const REMEMBERED: usize = 4;
/// The smallest delay and the smallest round trip are those of so long at least, and of twice that at most.
const SPAN: TimeDelta = TimeDelta::from_secs(300);
/// Clocks tick at both ends and times are rounded on the wire.
const ROUNDING: TimeDelta = TimeDelta::from_millis(2);

/// So much later than now an arrival may seem: in ten minutes clocks drift apart by less.
const DRIFT: TimeDelta = TimeDelta::from_millis(250);

/// What the reports that were believed say of the present route.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    least_rtt: Least<TimeDelta>,
    /// How many reports measured a round trip.
    measured: u32,
    least_delay: Least<ApparentDelay>,
    /// The smallest delay less the smallest round trip, and the smallest delay; no record is believed that is below the one, or
    /// above the other by more than the packet has been away.
    bounds: Option<(ApparentDelay, ApparentDelay)>,
    /// Since when reports come too early, undenied.
    early: Option<SendTime>,
    /// Since when arrivals cannot have been at their times, undenied.
    wrong: Option<SendTime>,
    gaps: Gaps,
}

impl Plausible {
    /// Whether a report may have come after a round trip of at most `rtt` and at least `least`: not in less than half of the
    /// smallest one so far, unless that is all that reports have said for a while.
    pub(super) fn admits_round_trip(&mut self, now: SendTime, rtt: TimeDelta, least: TimeDelta) -> bool {
        let known = self.least_rtt.get().filter(|_| self.measured >= KNOWN_AFTER);
        let early = |rtt: TimeDelta| known.is_some_and(|known| rtt + rtt + ROUNDING < known);
        if !early(rtt) {
            // What may have been held at the other end says nothing against a path that has become shorter.
            if !early(least) {
                self.early = None;
            }
            return true;
        }
        let settled = now - *self.early.get_or_insert(now) >= self.gaps.wait();
        if settled {
            (self.early, self.least_rtt) = (None, Least::default());
            self.least_rtt.on_told(now, rtt);
            self.set_bounds();
        }
        settled
    }

    /// Whether a packet that left at `sent` may have arrived after `delay`: not if the way there would be shorter than ever by more
    /// than the smallest round trip, nor if that would be later than now, unless that is all that reports have said for a while.
    #[inline]
    pub(super) fn admits_delay(&mut self, now: SendTime, sent: SendTime, delay: ApparentDelay) -> bool {
        let possible = |(floor, least): (ApparentDelay, ApparentDelay)| {
            delay >= floor && delay - least <= (now - sent) + DRIFT
        };
        if self.bounds.is_none_or(possible) {
            self.wrong = None;
            if self.least_delay.on_told(now, delay) {
                self.set_bounds();
            }
            return true;
        }
        let settled = now - *self.wrong.get_or_insert(now) >= self.gaps.wait();
        if settled {
            self.wrong = None;
            self.least_delay = Least::default();
            self.least_delay.on_told(now, delay);
            self.set_bounds();
        }
        settled
    }

    /// A report with news of packets was believed: by how far these lie apart a doubt is measured.
    pub(super) fn on_report(&mut self, now: SendTime) {
        self.gaps.on_report(now);
    }

    /// A report was believed, and it measured the round trip `rtt`.
    pub(super) fn on_round_trip(&mut self, now: SendTime, rtt: TimeDelta) {
        self.measured = self.measured.saturating_add(1);
        if self.least_rtt.on_told(now, rtt) || self.measured == KNOWN_AFTER {
            self.set_bounds();
        }
    }

    fn set_bounds(&mut self) {
        let bounds =
            |(rtt, least): (TimeDelta, ApparentDelay)| (least + (TimeDelta::ZERO - rtt - ROUNDING), least);
        let known = self.least_rtt.get().filter(|_| self.measured >= KNOWN_AFTER);
        self.bounds = known.zip(self.least_delay.get()).map(bounds);
    }
}

/// The smallest of what reports told of late, by the sender's clock: no arrival time that a report names makes it forget.
#[derive(Debug)]
struct Least<T> {
    /// Of the present span and of the one before.
    least: [Option<T>; 2],
    began: Option<SendTime>,
}

impl<T> Default for Least<T> {
    fn default() -> Self {
        Self { least: [None, None], began: None }
    }
}

impl<T: Copy + Ord> Least<T> {
    /// Whether the smallest may be another one now.
    #[inline]
    fn on_told(&mut self, now: SendTime, told: T) -> bool {
        let turned = self.began.is_none_or(|began| now - began >= SPAN);
        if turned {
            self.least = [None, self.least[0]];
            self.began = Some(now);
        }
        let lower = self.least[0].is_none_or(|least| told < least);
        if lower {
            self.least[0] = Some(told);
        }
        turned || lower
    }

    fn get(&self) -> Option<T> {
        self.least.into_iter().flatten().min()
    }
}

/// How far reports lie apart.
#[derive(Debug, Default)]
struct Gaps {
    last: Option<SendTime>,
    lengths: [TimeDelta; REMEMBERED],
    place: usize,
}

impl Gaps {
    fn on_report(&mut self, now: SendTime) {
        if let Some(last) = self.last.replace(now).filter(|&last| last < now) {
            self.lengths[self.place % REMEMBERED] = (now - last).min(LONGEST_GAP);
            self.place = self.place.wrapping_add(1);
        }
    }

    /// How long a doubt waits to be denied. Who sends reports close together does not shorten it below what receivers take.
    fn wait(&self) -> TimeDelta {
        let known = self.lengths.into_iter().max().filter(|longest| *longest > TimeDelta::ZERO);
        known.map_or(LONGEST_GAP, |longest| longest.max(SHORTEST_GAP)).scale(GAPS)
    }
}
