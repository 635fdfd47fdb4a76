//! Contradictions among a controller's own reports: congestion that comes and goes as on no real path.
//!
//! The delay of a path falls by at most the time that passes. Losses may end it sooner if a controller weighs a long
//! queue less after a loss, and a queue may fill at once. But neither returns the signal to its value of shortly
//! before. Forged reports beside those of the receiver have this effect with each report. DCCC's delay is a mean of
//! all packets since the previous report, or for late packets since the report before that; it falls by at most the
//! time since then. The mean loss interval of TFRC grows by little more than the packets that leave.

use weir_units::TimeDelta;

use crate::report::NativeReport;
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Number of reports that are remembered, by the echoed packets.
const MAX_REPORTS: usize = 32;
/// Time within which a signal swings to another value and back.
const SWING_TIME: TimeDelta = TimeDelta::from_secs(1);
/// Least congestion for a fall that counts. Controllers that weigh a long queue less than a short one report less
/// while it grows.
const MIN_CONGESTION: TimeDelta = TimeDelta::from_millis(500);
/// Least congestion for a fall that counts for DCCC, which weighs all delays equally.
const MIN_MEAN_DELAY: TimeDelta = TimeDelta::from_millis(100);
/// Number of packets by which a mean loss interval may grow beyond twice those that have left, because reports are
/// sent between packets.
const MORE_PACKETS: f64 = 20.0;
/// Fall beyond the elapsed time that is no contradiction, because clocks have ticks and reports cover several
/// packets.
const MARGIN: TimeDelta = TimeDelta::from_millis(25);
/// Time within which two swings are a contradiction; a single one may be chance.
const CONTRADICTION_TIME: TimeDelta = TimeDelta::from_secs(10);

/// The congestion of one report.
#[derive(Clone, Copy, Debug)]
struct ReportedCongestion {
    /// The echoed packet, and the time at which it left.
    id: u64,
    sent: SendTime,
    congestion: TimeDelta,
    /// Whether the fall from the previous report has been counted.
    counted: bool,
}

/// The measure of congestion in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CongestionMeasure {
    /// A delay with penalties.
    Delay,
    /// The mean delay since the previous report, with the offset between the clocks.
    MeanDelay,
    /// The loss event rate: a ratio of 1 counts as a second.
    LossEvents,
}

impl CongestionMeasure {
    /// Whether a fall from `high` to `low` is impossible on any path; `before` is the second report before `high`.
    fn is_impossible(
        self,
        before: Option<&ReportedCongestion>,
        high: &ReportedCongestion,
        low: &ReportedCongestion,
    ) -> bool {
        let fall = high.congestion - low.congestion;
        match self {
            Self::Delay => fall > (low.sent - high.sent) + MARGIN && high.congestion >= MIN_CONGESTION,
            Self::MeanDelay => {
                high.congestion >= MIN_MEAN_DELAY
                    && before.is_some_and(|before| fall > (low.sent - before.sent) + MARGIN)
            }
            Self::LossEvents => {
                let packets = low.id.saturating_sub(high.id) as f64;
                let grown = 1.0 / low.congestion.secs_f64() - 1.0 / high.congestion.secs_f64();
                high.congestion > TimeDelta::ZERO && grown > 2.0 * packets + MORE_PACKETS
            }
        }
    }
}

impl ReportedCongestion {
    fn is_half_of(&self, other: &Self) -> bool {
        self.congestion * 2 <= other.congestion
    }

    /// Whether both reports have a similar congestion.
    fn is_near(&self, other: &Self) -> bool {
        let at_most = |a: &Self, b: &Self| a.congestion <= b.congestion * 2 + MARGIN;
        at_most(self, other) && at_most(other, self)
    }
}

/// The newest reports, in order of the packets that they echo.
#[derive(Debug)]
pub(super) struct OwnReports {
    reports: [ReportedCongestion; MAX_REPORTS],
    count: usize,
    /// Time of the last swing.
    swung: Option<SendTime>,
}

impl Default for OwnReports {
    fn default() -> Self {
        let none =
            ReportedCongestion { id: 0, sent: SendTime::ZERO, congestion: TimeDelta::ZERO, counted: true };
        Self { reports: [none; MAX_REPORTS], count: 0, swung: None }
    }
}

impl OwnReports {
    /// Takes a report that echoes packet `id`, which left at `sent`, even an overtaken one. Returns whether it
    /// contradicts others.
    pub(super) fn on_report(
        &mut self,
        now: SendTime,
        id: u64,
        sent: SendTime,
        report: &NativeReport,
    ) -> bool {
        let Some((measure, congestion)) = Self::congestion(report) else { return false };
        if !self.insert(ReportedCongestion { id, sent, congestion, counted: false }) || !self.swings(measure)
        {
            return false;
        }
        let before = self.swung.replace(now);
        before.is_some_and(|before| now - before <= CONTRADICTION_TIME)
    }

    /// The congestion in `report`, as a time, or `None` for a report with an unknown signal.
    fn congestion(report: &NativeReport) -> Option<(CongestionMeasure, TimeDelta)> {
        match report {
            NativeReport::Nada(report) => Some((CongestionMeasure::Delay, report.congestion)),
            NativeReport::NadaDelay(report) => Some((CongestionMeasure::Delay, report.congestion)),
            NativeReport::Tfrc(report) => {
                Some((CongestionMeasure::LossEvents, TimeDelta::from_secs_f64(report.loss_event_rate)))
            }
            NativeReport::Dccc(report) => {
                // The offset is arbitrary: only differences of this value count.
                let none = ApparentDelay::between(SendTime::ZERO, ArrivalTime::ZERO);
                Some((CongestionMeasure::MeanDelay, report.delay - none))
            }
            NativeReport::Own(_) => None,
        }
    }

    /// Inserts `new` in order. Returns `false` if it is older than all remembered reports.
    fn insert(&mut self, new: ReportedCongestion) -> bool {
        let place = self.reports[..self.count].partition_point(|reported| reported.sent <= new.sent);
        if self.count < MAX_REPORTS {
            self.reports.copy_within(place..self.count, place + 1);
            self.reports[place] = new;
            self.count += 1;
            return true;
        }
        let Some(place) = place.checked_sub(1) else { return false };
        self.reports.copy_within(1..=place, 0);
        self.reports[place] = new;
        true
    }

    /// Whether there is a new fall that is impossible on a path, from or to a level that the signal had shortly
    /// before or has again shortly after.
    fn swings(&mut self, measure: CongestionMeasure) -> bool {
        // The offset between the clocks is no delay.
        let base = match measure {
            CongestionMeasure::MeanDelay => {
                self.reports[..self.count].iter().map(|reported| reported.congestion).min()
            }
            _ => None,
        };
        let level = |reported: &ReportedCongestion| ReportedCongestion {
            congestion: reported.congestion - base.unwrap_or_default(),
            ..*reported
        };
        let mut swings = false;
        for low in 1..self.count {
            let (high, fallen) = (level(&self.reports[low - 1]), level(&self.reports[low]));
            let before = low.checked_sub(3).map(|before| &self.reports[before]);
            let is_fall = fallen.is_half_of(&high) && measure.is_impossible(before, &high, &fallen);
            if fallen.counted || !is_fall {
                continue;
            }
            let reported = &self.reports[..self.count];
            let mut before =
                reported[..low - 1].iter().rev().take_while(|was| fallen.sent - was.sent <= SWING_TIME);
            let mut after = reported[low + 1..].iter().take_while(|is| is.sent - high.sent <= SWING_TIME);
            // A fall is a swing if the signal was as low shortly before, or is as high again shortly after.
            let was_low = before.any(|was| level(was).is_near(&fallen) && level(was).is_half_of(&high));
            let is_high = after.any(|is| level(is).is_near(&high) && fallen.is_half_of(&level(is)));
            if was_low || is_high {
                self.reports[low].counted = true;
                swings = true;
            }
        }
        swings
    }
}
