//! Impairments of the path, and the random numbers that decide them.

use alloc::vec::Vec;

use weir_units::TimeDelta;

use crate::report::{Record, Report};

/// Impairments of packets and reports other than packet loss, in shares of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Impairments {
    /// Packets that arrive a second time, 60 ms after the first.
    pub copied: f64,
    /// Packets that arrive 60 ms late, after others that left later.
    pub late: f64,
    /// Reports that are lost.
    pub reports_lost: f64,
    /// Reports that come a second time, 60 ms after the first.
    pub reports_copied: f64,
    /// Reports that come 60 ms late.
    pub reports_late: f64,
}

/// Delay of a late packet or report, and of a copy.
pub(super) const LATE: TimeDelta = TimeDelta::from_millis(60);

/// A delayed report, with the records it had borrowed.
#[derive(Debug)]
pub(super) struct LateReport {
    report: Report<'static>,
    records: Vec<Record>,
}

impl LateReport {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let (report, records) = match *report {
            Report::Packets { records, number, at } => {
                (Report::Packets { records: &[], number, at }, records.to_vec())
            }
            Report::Ceiling(rate) => (Report::Ceiling(rate), Vec::new()),
            Report::Reception(report) => (Report::Reception(report), Vec::new()),
            Report::Native { report, echo } => (Report::Native { report, echo }, Vec::new()),
        };
        Self { report, records }
    }

    /// The report with its records.
    pub(super) fn report(&self) -> Report<'_> {
        match self.report {
            Report::Packets { number, at, .. } => Report::Packets { records: &self.records, number, at },
            other => other,
        }
    }
}

/// Random number generator.
#[derive(Debug)]
pub(super) struct ImpairmentDraws(pub(super) u64);

impl ImpairmentDraws {
    /// Whether an event of this probability occurs.
    pub(super) fn shows(&mut self, share: f64) -> bool {
        share > 0.0 && self.next() < share
    }

    /// The next number in [0, 1) (Knuth's linear congruence).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
