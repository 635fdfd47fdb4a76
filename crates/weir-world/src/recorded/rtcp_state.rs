//! State of the reader of RTCP.

use std::collections::VecDeque;

/// State of the RTCP reader.
#[derive(Debug, Default)]
pub(super) struct RtcpState {
    /// Sender reports that the sender sent: middle 32 bits of NTP time, departure in µs.
    pub(super) sender_reports: VecDeque<(u32, i64)>,
    /// Number of the last transport-wide feedback message.
    pub(super) last_feedback: Option<u8>,
    /// Reference time of the last transport-wide feedback in ns, unwrapped.
    pub(super) reference: Option<i64>,
    /// Time of the last RFC 8888 report in ns, unwrapped.
    pub(super) report_time: Option<i64>,
    /// Packets whose arrival a report has stated.
    pub(super) received: RowSet,
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
