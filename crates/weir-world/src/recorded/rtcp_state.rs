//! State of the reader of RTCP.

use std::collections::{BTreeMap, VecDeque};

use super::MOST_BEYOND_US;

/// Numbers by which a report may be late; one that is further behind the last begins anew.
const LATE_REPORTS: u8 = 32;

/// State of the RTCP reader.
#[derive(Debug, Default)]
pub(super) struct RtcpState {
    /// Sender reports that the sender sent: middle 32 bits of NTP time, departure in µs.
    pub(super) sender_reports: VecDeque<(u32, i64)>,
    /// Numbers of transport-wide feedback messages.
    pub(super) numbers: ReportNumbers,
    /// Reference times of transport-wide feedback.
    pub(super) references: ReportClock,
    /// Times of RFC 8888 reports.
    pub(super) report_times: ReportClock,
    /// Packets whose arrival a report has stated.
    pub(super) received: RowSet,
}

/// `value`, known modulo `period`, as the time nearest to `expected`.
pub(super) fn nearest(expected: i64, value: i64, period: i64) -> i64 {
    let ahead = value.wrapping_sub(expected).rem_euclid(period);
    expected.saturating_add(if ahead < period / 2 { ahead } else { ahead - period })
}

/// A set of rows.
#[derive(Debug, Default)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn contains(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Adds the row; returns whether it is new.
    pub(super) fn insert(&mut self, row: usize) -> bool {
        if self.0.len() <= row / 64 {
            self.0.resize(row / 64 + 1, 0);
        }
        let word = &mut self.0[row / 64];
        let new = *word >> (row % 64) & 1 == 0;
        *word |= 1 << (row % 64);
        new
    }
}

/// Numbers of reports, of eight bits each.
#[derive(Debug, Default)]
pub(super) struct ReportNumbers {
    last: Option<u8>,
    /// Rows of the reports before which the numbers are missed.
    missed: BTreeMap<u8, usize>,
}

impl ReportNumbers {
    /// Takes the number of the report of this row. The results are the reports that are missed before it, and the row
    /// before which it was missed if it comes late.
    pub(super) fn next(&mut self, number: u8, row: usize) -> (u32, Option<usize>) {
        let last = *self.last.get_or_insert(number);
        if last.wrapping_sub(number) <= LATE_REPORTS {
            return (0, self.missed.remove(&number));
        }
        let mut missed = 0;
        let mut between = last.wrapping_add(1);
        while between != number {
            self.missed.insert(between, row);
            missed += 1;
            between = between.wrapping_add(1);
        }
        self.missed.remove(&number);
        self.last = Some(number);
        (missed, None)
    }
}

/// The receiver's clock in reports, unwrapped, in ns.
#[derive(Debug, Default)]
pub(super) struct ReportClock {
    /// Arrival of the last report in µs, and its time.
    last: Option<(i64, i64)>,
    /// Difference of the clock to that of the first receiver.
    shift: i64,
}

impl ReportClock {
    /// The time in ns of a report that came at `time_us`, known as `stamp` modulo `period`. Another receiver has another clock:
    /// a time that differs by more than an hour from the expected one goes on as expected.
    pub(super) fn unwrap(&mut self, time_us: i64, stamp: i64, period: i64) -> i64 {
        let made = self.last.map_or(stamp, |(at, last)| {
            let expected = last.saturating_add((time_us - at).saturating_mul(1000));
            let made = nearest(expected, stamp.wrapping_add(self.shift), period);
            let ahead = made.saturating_sub(expected);
            if ahead.unsigned_abs() <= 1000 * MOST_BEYOND_US as u64 {
                return made;
            }
            self.shift = self.shift.wrapping_sub(ahead);
            expected
        });
        self.last = Some((time_us, made));
        made
    }
}
