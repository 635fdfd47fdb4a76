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
/// The smallest delay and the smallest round trip are those of so long at least, and of twice that at most, by the sender's clock: no
/// time that a report names makes it forget.
const SPAN: TimeDelta = TimeDelta::from_secs(300);
/// Clocks tick at both ends and times are rounded on the wire.
const ROUNDING: TimeDelta = TimeDelta::from_millis(2);
/// So much later than now an arrival may seem: in ten minutes clocks drift apart by less.
const DRIFT: TimeDelta = TimeDelta::from_millis(250);
/// A report denies that the route has become shorter if it took at least so much of the smallest round trip.
const DENIED_FROM: f64 = 0.75;
/// So long a doubt lasts where reports come that may have been held and so neither deny nor say the same, and two round trips at
/// least: by then the receiver has told what others told too early.
const UNSURE: TimeDelta = TimeDelta::from_secs(1);

/// What the reports that were believed say of the present route.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    rtt: Confirmed<TimeDelta>,
    /// The least that a report told, and be it one alone.
    least_rtt: Least<TimeDelta>,
    /// Of the least that each report told.
    delay: Confirmed<ApparentDelay>,
    /// The least that the present report has told.
    told: Option<ApparentDelay>,
    /// The least that reports told before the round trip was known.
    first_least: Option<ApparentDelay>,
    /// Whether that cannot have been.
    refuted: bool,
    /// How many reports measured a round trip.
    measured: u32,
    /// The smallest round trip, once it is known.
    known: Option<TimeDelta>,
    /// The smallest delay less the smallest round trip, and the smallest delay; no record is believed that is below the one, or
    /// above the other by more than the packet has been away.
    bounds: Option<(ApparentDelay, ApparentDelay)>,
    early: Option<Early>,
    /// Since when arrivals cannot have been at their times, undenied.
    wrong: Option<SendTime>,
    gaps: Gaps,
}

/// Reports come too early.
#[derive(Clone, Copy, Debug)]
struct Early {
    since: SendTime,
    /// The newest packet of the first of them.
    told: Option<u64>,
    /// Whether others came that may have been held.
    unsure: bool,
}

impl Plausible {
    /// Whether a report whose newest packet is `newest` may have come after a round trip of at most `rtt` and at least `least`: not
    /// in less than half of the smallest one, unless that is all that reports have said for a while. What a single report told counts
    /// as far as half of what is known, so that a queue may drain as fast as it likes, and nobody goes on and on.
    pub(super) fn admits_round_trip(
        &mut self,
        now: SendTime,
        newest: Option<u64>,
        rtt: TimeDelta,
        least: TimeDelta,
    ) -> bool {
        let Some(known) = self.known else { return true };
        let smallest = self.least_rtt.get().map_or(known, |least| least.max(known.scale(0.5)));
        if rtt + rtt + ROUNDING >= smallest {
            if least >= known.scale(DENIED_FROM) {
                self.early = None;
            } else if let Some(doubt) = &mut self.early {
                doubt.unsure = true;
            }
            return true;
        }
        let doubt = *self.early.get_or_insert(Early { since: now, told: newest, unsure: false });
        let wait = if doubt.unsure { UNSURE.max(known * 2) } else { self.gaps.wait() };
        let settled = now - doubt.since >= wait;
        if settled {
            // It is another route, on which packets take another time as well.
            (self.early, self.rtt, self.delay) = (None, Confirmed::from(rtt), Confirmed::default());
            self.least_rtt = Least::default();
            self.know();
        }
        settled
    }

    /// The packet that was told too early, while that is in doubt.
    #[inline]
    pub(super) fn doubted(&self) -> Option<u64> {
        self.early?.told
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
            self.told = Some(self.told.map_or(delay, |least| least.min(delay)));
            return true;
        }
        let settled = now - *self.wrong.get_or_insert(now) >= self.gaps.wait();
        if settled {
            (self.wrong, self.delay) = (None, Confirmed::from(delay));
            self.know();
        }
        settled
    }

    /// Whether an arrival before the round trip was known turns out to have been earlier than possible. Once for each route.
    pub(super) fn take_refuted(&mut self) -> bool {
        core::mem::take(&mut self.refuted)
    }

    /// The smallest delay that reports have agreed on.
    pub(super) fn least_delay(&self) -> Option<ApparentDelay> {
        self.delay.least()
    }

    /// A report with news of packets was believed: by how far these lie apart a doubt is measured.
    pub(super) fn on_report(&mut self, now: SendTime) {
        self.gaps.on_report(now);
        if self.bounds.is_none() {
            self.first_least = self.first_least.into_iter().chain(self.told).min();
        }
        if let Some(delay) = self.told.take()
            && self.delay.on_told(now, delay, self.gaps.wait())
        {
            self.know();
        }
    }

    /// A report was believed, and it measured the round trip `rtt`.
    pub(super) fn on_round_trip(&mut self, now: SendTime, rtt: TimeDelta) {
        self.measured = self.measured.saturating_add(1);
        self.least_rtt.on_told(now, rtt);
        if self.rtt.on_told(now, rtt, self.gaps.wait()) || self.measured == KNOWN_AFTER {
            self.know();
        }
    }

    fn know(&mut self) {
        let bounds =
            |(rtt, least): (TimeDelta, ApparentDelay)| (least + (TimeDelta::ZERO - rtt - ROUNDING), least);
        self.known = self.rtt.least().filter(|_| self.measured >= KNOWN_AFTER);
        self.bounds = self.known.zip(self.delay.least()).map(bounds);
        if let Some((floor, _)) = self.bounds {
            self.refuted |= self.first_least.take().is_some_and(|least| least < floor);
        }
    }
}

/// The smallest of what was told of late.
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
    fn on_told(&mut self, now: SendTime, told: T) {
        if now - *self.began.get_or_insert(now) >= SPAN {
            self.least = [None, self.least[0]];
            self.began = Some(now);
        }
        self.least[0] = Some(self.least[0].map_or(told, |least| least.min(told)));
    }

    fn get(&self) -> Option<T> {
        self.least.into_iter().flatten().min()
    }
}

/// The smallest of what reports told of late. What they told for as long as a doubt waits, the greatest of it, counts: no row of
/// reports beside those of the receiver, each just possible after the one before, makes it smaller.
#[derive(Debug)]
struct Confirmed<T> {
    least: Least<T>,
    /// The greatest since.
    greatest: Option<(SendTime, T)>,
}

impl<T> Default for Confirmed<T> {
    fn default() -> Self {
        Self { least: Least::default(), greatest: None }
    }
}

impl<T: Copy + Ord> Confirmed<T> {
    /// It is `least`.
    fn from(least: T) -> Self {
        Self { least: Least { least: [Some(least), None], began: None }, greatest: None }
    }

    /// Whether the smallest may be another one now; reports for as long as `wait` tell of it.
    fn on_told(&mut self, now: SendTime, told: T, wait: TimeDelta) -> bool {
        let (since, greatest) = self.greatest.map_or((now, told), |(since, most)| (since, most.max(told)));
        let whole = now - since >= wait;
        self.greatest = Some(if whole { (now, told) } else { (since, greatest) });
        if whole {
            self.least.on_told(now, greatest);
        }
        whole
    }

    fn least(&self) -> Option<T> {
        self.least.get()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn the_greatest_of_a_wait_counts() {
        let mut least = Confirmed::default();
        let mut told = |now, value| (least.on_told(at(now), ms(value), ms(100)), least.least());
        assert_eq!([told(0, 80), told(50, 20)], [(false, None); 2], "no wait has passed");
        // One report of 20 ms among those of 80, and again one at the end of a wait.
        assert_eq!(told(100, 70), (true, Some(ms(80))));
        assert_eq!(told(150, 60), (false, Some(ms(80))));
        assert_eq!(told(200, 20), (true, Some(ms(70))));
        // All reports of a wait tell of 30 ms at most.
        assert_eq!([told(250, 30), told(300, 20)], [(false, Some(ms(70))), (true, Some(ms(30)))]);
    }

    #[test]
    fn the_smallest_round_trip_is_known_with_the_tenth_report() {
        let mut plausible = Plausible::default();
        for n in 0..10 {
            let now = at(50 * n);
            assert!(plausible.admits_round_trip(now, None, ms(10), ms(10)), "after {n} reports");
            plausible.on_report(now);
            plausible.on_round_trip(now, ms(80));
        }
        assert!(!plausible.admits_round_trip(at(500), None, ms(10), ms(10)));
        assert!(plausible.admits_round_trip(at(500), None, ms(39), ms(39)), "half of 80, and 2 ms to round");
    }
}
