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
/// Gaps that are remembered; the longest counts.
const REMEMBERED: usize = 4;
/// The smallest delay is that of so long at least, and of twice that at most.
const SPAN: TimeDelta = TimeDelta::from_secs(300);
/// Clocks tick at both ends and times are rounded on the wire.
const ROUNDING: TimeDelta = TimeDelta::from_millis(2);

/// So much later than now an arrival may seem: in ten minutes clocks drift apart by less.
const DRIFT: TimeDelta = TimeDelta::from_millis(250);

/// What the reports that were believed say of the present route.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    least_rtt: Option<TimeDelta>,
    least_delay: LeastDelay,
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
    /// Whether a report may have come after the round trip `rtt`: not in less than half of the smallest one so far, unless
    /// that is all that reports have said for a while.
    pub(super) fn admits_round_trip(&mut self, now: SendTime, rtt: TimeDelta) -> bool {
        let early = self.least_rtt.is_some_and(|least| rtt + rtt + ROUNDING < least);
        if !early {
            self.early = None;
            return true;
        }
        let settled = now - *self.early.get_or_insert(now) >= self.gaps.wait();
        if settled {
            (self.early, self.least_rtt) = (None, Some(rtt));
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
            if self.least_delay.on_arrival(now, delay) {
                self.set_bounds();
            }
            return true;
        }
        let settled = now - *self.wrong.get_or_insert(now) >= self.gaps.wait();
        if settled {
            self.wrong = None;
            self.least_delay = LeastDelay::default();
            self.least_delay.on_arrival(now, delay);
            self.set_bounds();
        }
        settled
    }

    /// A report was believed, and it measured the round trip `rtt`.
    pub(super) fn on_round_trip(&mut self, now: SendTime, rtt: TimeDelta) {
        self.gaps.on_report(now);
        if self.least_rtt.is_none_or(|least| rtt < least) {
            self.least_rtt = Some(rtt);
            self.set_bounds();
        }
    }

    fn set_bounds(&mut self) {
        let bounds =
            |(rtt, least): (TimeDelta, ApparentDelay)| (least + (TimeDelta::ZERO - rtt - ROUNDING), least);
        self.bounds = self.least_rtt.zip(self.least_delay.get()).map(bounds);
    }
}

/// The smallest delay, by the sender's clock: no arrival time that a report names makes it forget.
#[derive(Debug, Default)]
struct LeastDelay {
    /// Of the present span and of the one before.
    least: [Option<ApparentDelay>; 2],
    began: Option<SendTime>,
}

impl LeastDelay {
    /// Whether the smallest delay is another one now.
    #[inline]
    fn on_arrival(&mut self, now: SendTime, delay: ApparentDelay) -> bool {
        let turned = self.began.is_none_or(|began| now - began >= SPAN);
        if turned {
            self.least = [None, self.least[0]];
            self.began = Some(now);
        }
        let lower = self.least[0].is_none_or(|least| delay < least);
        if lower {
            self.least[0] = Some(delay);
        }
        turned || lower
    }

    fn get(&self) -> Option<ApparentDelay> {
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

    /// How long a doubt waits to be denied.
    fn wait(&self) -> TimeDelta {
        self.lengths.into_iter().max().unwrap_or(LONGEST_GAP).scale(GAPS)
    }
}
