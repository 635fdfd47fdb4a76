//! Contradictions among a law's own reports: a congestion that comes and goes as that of no path does.
//!
//! The delay of a path falls by no more than the time that passes. Losses end it sooner where a law counts a long queue for less after
//! a loss, and a queue may fill at once; but neither takes the signal back to where it was shortly before. Reports that are forged beside
//! the receiver's do so with each.

use weir_units::TimeDelta;

use crate::report::LawReport;
use crate::time::SendTime;

/// Reports that are remembered, by the packets that they echo.
const REMEMBERED: usize = 32;
/// Time within which a signal goes there and back.
const SHORTLY: TimeDelta = TimeDelta::from_secs(1);
/// Least congestion from which a fall counts: laws that weigh a long queue by less than a short one tell of less while it grows.
const LEAST: TimeDelta = TimeDelta::from_millis(500);
/// Fall beyond the time that passes that is no contradiction: clocks tick, and reports are of several packets.
const MARGIN: TimeDelta = TimeDelta::from_millis(25);
/// Time within which two swings are a contradiction: one may be chance.
const TWICE: TimeDelta = TimeDelta::from_secs(10);

/// The congestion of one report.
#[derive(Clone, Copy, Debug)]
struct Told {
    /// When the echoed packet left.
    sent: SendTime,
    congestion: TimeDelta,
    /// Whether the fall from the report before it has been counted.
    counted: bool,
}

impl Told {
    fn is_half_of(&self, other: &Self) -> bool {
        self.congestion * 2 <= other.congestion
    }

    /// Whether both tell of much the same.
    fn is_near(&self, other: &Self) -> bool {
        let at_most = |a: &Self, b: &Self| a.congestion <= b.congestion * 2 + MARGIN;
        at_most(self, other) && at_most(other, self)
    }
}

/// The newest reports, in order of the packets that they echo.
#[derive(Debug)]
pub(super) struct OwnReports {
    told: [Told; REMEMBERED],
    count: usize,
    /// When the signal last went there and back.
    swung: Option<SendTime>,
}

impl Default for OwnReports {
    fn default() -> Self {
        let none = Told { sent: SendTime::ZERO, congestion: TimeDelta::ZERO, counted: true };
        Self { told: [none; REMEMBERED], count: 0, swung: None }
    }
}

impl OwnReports {
    /// A report has come that echoes a packet which left at `sent`, be it one that was overtaken. Whether it contradicts others.
    pub(super) fn on_report(&mut self, now: SendTime, sent: SendTime, report: &LawReport) -> bool {
        let Some(congestion) = Self::congestion(report) else { return false };
        if !self.insert(Told { sent, congestion, counted: false }) || !self.swings() {
            return false;
        }
        let before = self.swung.replace(now);
        before.is_some_and(|before| now - before <= TWICE)
    }

    /// Congestion by `report`, as a time; `None` of a report whose signal is not comparable.
    fn congestion(report: &LawReport) -> Option<TimeDelta> {
        match report {
            LawReport::Nada(report) => Some(report.congestion),
            LawReport::NadaDelay(report) => Some(report.congestion),
            // A ratio of 1 counts as a second: it is a mean of loss intervals, which falls slower than any delay.
            LawReport::Tfrc(report) => Some(TimeDelta::from_secs_f64(report.loss_event_rate)),
            // The mean delay of packets that come in bursts falls as fast as it likes.
            LawReport::Dccc(_) | LawReport::Own(_) => None,
        }
    }

    /// Puts `new` into its place; `false` if it is older than all that are remembered.
    fn insert(&mut self, new: Told) -> bool {
        let place = self.told[..self.count].partition_point(|told| told.sent <= new.sent);
        if self.count < REMEMBERED {
            self.told.copy_within(place..self.count, place + 1);
            self.told[place] = new;
            self.count += 1;
            return true;
        }
        let Some(place) = place.checked_sub(1) else { return false };
        self.told.copy_within(1..=place, 0);
        self.told[place] = new;
        true
    }

    /// Whether there is a fall, not counted before, that no path has, from or to a level that it had shortly before or has again
    /// shortly after.
    fn swings(&mut self) -> bool {
        let mut swings = false;
        for low in 1..self.count {
            let (high, fallen) = (self.told[low - 1], self.told[low]);
            let is_fall = high.congestion - fallen.congestion > (fallen.sent - high.sent) + MARGIN
                && high.congestion >= LEAST
                && fallen.is_half_of(&high);
            if fallen.counted || !is_fall {
                continue;
            }
            let told = &self.told[..self.count];
            let mut before = told[..low - 1].iter().rev().take_while(|was| fallen.sent - was.sent <= SHORTLY);
            let mut after = told[low + 1..].iter().take_while(|is| is.sent - high.sent <= SHORTLY);
            let was_low = before.any(|was| was.is_near(&fallen) && was.is_half_of(&high));
            let is_high = after.any(|is| is.is_near(&high) && fallen.is_half_of(is));
            if was_low || is_high {
                self.told[low].counted = true;
                swings = true;
            }
        }
        swings
    }
}
