//! Plausibility of reports on a path. A report is impossible if it arrives before its packet can have gone to the
//! receiver and back. So is an arrival that shortens the forward delay by more than a whole round trip, and an
//! arrival in the future.
//!
//! Impossible reports are held back at first. If the path has become shorter, or the receiver's clock was set back,
//! the receiver repeats the same claim. Forged reports beside an honest receiver are denied by its reports in the
//! meantime.

use weir_units::TimeDelta;

use crate::time::{ApparentDelay, SendTime};

/// Number of gaps between reports without a denial after which a claim is accepted, because the receiver would have
/// denied it.
const DENIAL_GAPS: f64 = 1.75;
/// Greatest gap that counts, because after a pause reports are as frequent as before.
const MAX_GAP: TimeDelta = TimeDelta::from_millis(500);
/// Least gap that counts: that of transport-wide feedback.
const MIN_GAP: TimeDelta = TimeDelta::from_millis(50);
/// Number of measurements after which the smallest round trip is known, because the first packets of a call may have
/// waited.
const KNOWN_AFTER: u32 = 10;
/// Number of gaps that are remembered; the longest one counts.
const MAX_GAPS: usize = 4;
/// Time for which the smallest delay and the smallest round trip are remembered: at least this and at most twice
/// this, by the sender's clock. Times in reports do not affect it.
const MINIMUM_SPAN: TimeDelta = TimeDelta::from_secs(300);
/// Tolerance for the ticks of both clocks and for rounding on the wire.
const ROUNDING: TimeDelta = TimeDelta::from_millis(2);
/// Greatest time by which an arrival may seem to be in the future. Clocks drift apart by less in ten minutes.
const MAX_DRIFT: TimeDelta = TimeDelta::from_millis(250);
/// Part of the smallest round trip from which on a report denies that the route has become shorter.
const DENIED_FROM: f64 = 0.75;
/// Duration of a doubt, or two round trips if that is longer, while reports arrive that may have been delayed and so
/// neither deny nor confirm. By then the receiver has reported the packets of the early reports.
const UNSURE_TIME: TimeDelta = TimeDelta::from_secs(1);

/// Limits of the present route, from accepted reports.
#[derive(Debug, Default)]
pub(super) struct Plausible {
    rtt: Confirmed<TimeDelta>,
    /// The least reported round trip, even of a single report.
    least_rtt: RecentMinimum<TimeDelta>,
    /// Smallest delay, from the least delay of each report.
    delay: Confirmed<ApparentDelay>,
    /// The least delay of the present report.
    report_least: Option<ApparentDelay>,
    /// The least delay reported before the round trip was known.
    first_least: Option<ApparentDelay>,
    /// Whether that delay was found to be impossible.
    refuted: bool,
    /// Number of reports that measured a round trip.
    measured: u32,
    /// The smallest round trip, once it is known.
    known: Option<TimeDelta>,
    /// The smallest delay less the smallest round trip, and the smallest delay. A record is refused if it is below
    /// the former, or above the latter by more than the time since the departure of its packet.
    bounds: Option<(ApparentDelay, ApparentDelay)>,
    early: Option<EarlyReports>,
    /// Time since which arrivals have had impossible times without a denial.
    wrong: Option<SendTime>,
    gaps: ReportGaps,
}

/// A doubt about reports that arrive too early.
#[derive(Clone, Copy, Debug)]
struct EarlyReports {
    since: SendTime,
    /// The newest number in the first of these reports.
    newest: Option<u64>,
    /// Whether other reports arrived that may have been delayed.
    unsure: bool,
}

impl Plausible {
    /// Whether a report whose newest number is `newest` may arrive after a round trip of at most `rtt` and at least
    /// `least`. The limit is half of the smallest round trip, unless all reports for some time are below it. The
    /// round trip of a single report counts down to half of the known one. A queue may drain at any speed, but no
    /// sequence of reports lowers the limit again and again.
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
            // Even if the receiver held this report as long as possible, its round trip was long: a denial.
            if least >= known.scale(DENIED_FROM) {
                self.early = None;
            } else if let Some(doubt) = &mut self.early {
                // A report that may have been held neither denies nor confirms.
                doubt.unsure = true;
            }
            return true;
        }
        let doubt = *self.early.get_or_insert(EarlyReports { since: now, newest, unsure: false });
        let wait = if doubt.unsure { UNSURE_TIME.max(known * 2) } else { self.gaps.wait() };
        let settled = now - doubt.since >= wait;
        if settled {
            // The path has another route, on which packets take another time as well.
            (self.early, self.rtt, self.delay) = (None, Confirmed::from(rtt), Confirmed::default());
            self.least_rtt = RecentMinimum::default();
            self.update_bounds();
        }
        settled
    }

    /// The number that was reported too early, while that is in doubt.
    #[inline]
    pub(super) fn doubted(&self) -> Option<u64> {
        self.early?.newest
    }

    /// Whether a packet that left at `sent` may have arrived after `delay`. A forward delay shorter than any before
    /// by more than the smallest round trip is impossible, and so is an arrival in the future. Both are accepted if
    /// all reports for some time agree.
    #[inline]
    pub(super) fn admits_delay(&mut self, now: SendTime, sent: SendTime, delay: ApparentDelay) -> bool {
        let possible = |(floor, least): (ApparentDelay, ApparentDelay)| {
            delay >= floor && delay - least <= (now - sent) + MAX_DRIFT
        };
        if self.bounds.is_none_or(possible) {
            self.wrong = None;
            self.report_least = Some(self.report_least.map_or(delay, |least| least.min(delay)));
            return true;
        }
        let settled = now - *self.wrong.get_or_insert(now) >= self.gaps.wait();
        if settled {
            (self.wrong, self.delay) = (None, Confirmed::from(delay));
            self.update_bounds();
        }
        settled
    }

    /// Whether an arrival before the round trip was known is now found to be impossible. Returns `true` once for each
    /// route.
    pub(super) fn take_refuted(&mut self) -> bool {
        core::mem::take(&mut self.refuted)
    }

    /// The smallest delay that reports agree on.
    pub(super) fn least_delay(&self) -> Option<ApparentDelay> {
        self.delay.least()
    }

    /// Records an accepted report on packets. The gaps between such reports determine the duration of a doubt.
    pub(super) fn on_report(&mut self, now: SendTime) {
        self.gaps.on_report(now);
        if self.bounds.is_none() {
            self.first_least = self.first_least.into_iter().chain(self.report_least).min();
        }
        if let Some(delay) = self.report_least.take()
            && self.delay.on_report(now, delay, self.gaps.wait())
        {
            self.update_bounds();
        }
    }

    /// Takes the round trip `rtt` of an accepted report.
    pub(super) fn on_round_trip(&mut self, now: SendTime, rtt: TimeDelta) {
        self.measured = self.measured.saturating_add(1);
        self.least_rtt.on_report(now, rtt);
        if self.rtt.on_report(now, rtt, self.gaps.wait()) || self.measured == KNOWN_AFTER {
            self.update_bounds();
        }
    }

    fn update_bounds(&mut self) {
        let bounds =
            |(rtt, least): (TimeDelta, ApparentDelay)| (least + (TimeDelta::ZERO - rtt - ROUNDING), least);
        self.known = self.rtt.least().filter(|_| self.measured >= KNOWN_AFTER);
        self.bounds = self.known.zip(self.delay.least()).map(bounds);
        if let Some((floor, _)) = self.bounds {
            self.refuted |= self.first_least.take().is_some_and(|least| least < floor);
        }
    }
}

/// The smallest of recent values.
#[derive(Debug)]
struct RecentMinimum<T> {
    /// The smallest value of the present time span and of the previous one.
    least: [Option<T>; 2],
    began: Option<SendTime>,
}

impl<T> Default for RecentMinimum<T> {
    fn default() -> Self {
        Self { least: [None, None], began: None }
    }
}

impl<T: Copy + Ord> RecentMinimum<T> {
    fn on_report(&mut self, now: SendTime, value: T) {
        if now - *self.began.get_or_insert(now) >= MINIMUM_SPAN {
            self.least = [None, self.least[0]];
            self.began = Some(now);
        }
        self.least[0] = Some(self.least[0].map_or(value, |least| least.min(value)));
    }

    fn get(&self) -> Option<T> {
        self.least.into_iter().flatten().min()
    }
}

/// The smallest of recent values on which reports agree: the greatest value within the duration of a doubt counts. A
/// sequence of reports, each just possible after the one before, therefore does not lower it.
#[derive(Debug)]
struct Confirmed<T> {
    least: RecentMinimum<T>,
    /// The greatest value since the given time.
    greatest: Option<(SendTime, T)>,
}

impl<T> Default for Confirmed<T> {
    fn default() -> Self {
        Self { least: RecentMinimum::default(), greatest: None }
    }
}

impl<T: Copy + Ord> Confirmed<T> {
    /// Starts at `least`.
    fn from(least: T) -> Self {
        Self { least: RecentMinimum { least: [Some(least), None], began: None }, greatest: None }
    }

    /// Takes a value. Returns whether the smallest may have changed, because the values of a whole `wait` are known.
    fn on_report(&mut self, now: SendTime, value: T, wait: TimeDelta) -> bool {
        let (since, greatest) = self.greatest.map_or((now, value), |(since, most)| (since, most.max(value)));
        let whole = now - since >= wait;
        self.greatest = Some(if whole { (now, value) } else { (since, greatest) });
        if whole {
            self.least.on_report(now, greatest);
        }
        whole
    }

    fn least(&self) -> Option<T> {
        self.least.get()
    }
}

/// Gaps between reports.
#[derive(Debug, Default)]
struct ReportGaps {
    last: Option<SendTime>,
    lengths: [TimeDelta; MAX_GAPS],
    place: usize,
}

impl ReportGaps {
    fn on_report(&mut self, now: SendTime) {
        if let Some(last) = self.last.replace(now).filter(|&last| last < now) {
            self.lengths[self.place % MAX_GAPS] = (now - last).min(MAX_GAP);
            self.place = self.place.wrapping_add(1);
        }
    }

    /// Time in which a doubt may be denied. Frequent reports do not shorten it below the gaps of real receivers.
    fn wait(&self) -> TimeDelta {
        let known = self.lengths.into_iter().max().filter(|longest| *longest > TimeDelta::ZERO);
        known.map_or(MAX_GAP, |longest| longest.max(MIN_GAP)).scale(DENIAL_GAPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn the_greatest_of_a_wait_counts() {
        let mut least = Confirmed::default();
        let mut outcome = |now, value| (least.on_report(at(now), ms(value), ms(100)), least.least());
        assert_eq!([outcome(0, 80), outcome(50, 20)], [(false, None); 2], "no wait has passed");
        // One report of 20 ms among those of 80, and again one at the end of a wait.
        assert_eq!(outcome(100, 70), (true, Some(ms(80))));
        assert_eq!(outcome(150, 60), (false, Some(ms(80))));
        assert_eq!(outcome(200, 20), (true, Some(ms(70))));
        // All reports of a wait have 30 ms at most.
        assert_eq!([outcome(250, 30), outcome(300, 20)], [(false, Some(ms(70))), (true, Some(ms(30)))]);
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
