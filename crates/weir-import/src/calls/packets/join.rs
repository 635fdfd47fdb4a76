//! Two captures of one call as one: arrivals of the second for the packets of the first.

use std::collections::HashMap;

use weir_world::RecordedCall;
use weir_world::recorded::{FeedbackReport, FeedbackReports, MOST_EVENTS, OptionalInteger, RemarkSentence};

use super::datagram::FileDatagram;
use super::rtp::RtpRecord;

/// Rows of a call by stream, sequence number and timestamp.
pub(super) struct ArrivalJoin<'c> {
    call: &'c mut RecordedCall,
    streams: HashMap<u32, u16>,
    /// Rows in the order of their key.
    rows: Vec<u32>,
    /// Arrivals of the packet whose first row is at the same place.
    arrivals: Vec<u32>,
    joined: usize,
    /// Packets that no row has, since the last with a row; and those between two with rows.
    unknown: usize,
    unknown_between: usize,
    /// Most remaining hops of a packet with a row.
    hops: u8,
}

type RowKey = (u16, u16, u32);

fn key(call: &RecordedCall, row: u32) -> RowKey {
    let (packets, row) = (&call.packets, row as usize);
    (packets.stream[row], packets.sequence[row] as u16, packets.timestamp[row])
}

impl<'c> ArrivalJoin<'c> {
    /// No arrivals yet for the packets of `call`, whose streams have these source identifiers.
    pub(super) fn new(call: &'c mut RecordedCall, sources: &[u32]) -> Self {
        call.packets.arrived_us.fill(OptionalInteger::UNKNOWN);
        let mut rows: Vec<u32> = (0..call.packets.len() as u32).collect();
        rows.sort_unstable_by_key(|&row| (key(call, row), row));
        let streams = sources.iter().enumerate().map(|(number, ssrc)| (*ssrc, number as u16)).collect();
        let arrivals = vec![0; rows.len()];
        Self { call, streams, rows, arrivals, joined: 0, unknown: 0, unknown_between: 0, hops: 0 }
    }

    /// Takes a packet that the receiver's end captured.
    pub(super) fn add(&mut self, datagram: &FileDatagram<'_>, record: &RtpRecord) {
        let Some(&stream) = self.streams.get(&record.ssrc) else { return };
        let wanted = (stream, record.sequence, record.timestamp);
        let first = self.rows.partition_point(|&row| key(self.call, row) < wanted);
        let is_wanted = |place: usize| self.rows.get(place).is_some_and(|&row| key(self.call, row) == wanted);
        if !is_wanted(first) {
            self.unknown += usize::from(self.joined > 0);
            return;
        }
        // Several rows are copies of one packet; each arrival takes the next.
        let place = first + self.arrivals[first] as usize;
        if is_wanted(place) {
            self.call.packets.arrived_us[self.rows[place] as usize] = OptionalInteger::new(datagram.time_us);
            self.arrivals[first] += 1;
            self.joined += 1;
            self.unknown_between += core::mem::take(&mut self.unknown);
            self.hops = self.hops.max(datagram.hops);
        }
    }

    /// Packets of the call that came.
    pub(super) const fn joined(&self) -> usize {
        self.joined
    }

    /// Sentences about signs that the two captures are swapped; the packets had `hops` remaining hops in the sender's.
    pub(super) fn doubts(&self, hops: u8) -> Vec<String> {
        let mut doubts = Vec::new();
        if hops > 0 && self.hops > hops {
            doubts.push(RemarkSentence::SWAPPED_HOPS.with(&[&self.hops, &hops]));
        }
        if self.unknown_between > 0 {
            doubts.push(RemarkSentence::SWAPPED_PACKETS.with(&[&self.unknown_between]));
        }
        doubts
    }
}

/// Makes the reports that a receiver would have sent every `interval_us`: the packets that came since the report
/// before, and as lost those before them that had not come. The way back takes no time.
pub(super) fn make_feedback(call: &mut RecordedCall, interval_us: i64) {
    let count = call.packets.len();
    // Before the new column takes its place, so that a long call has it once.
    call.packets.reported_us = Vec::new();
    let packets = &call.packets;
    let arrived_us = |row: u32| packets.arrived_us[row as usize].get().unwrap_or(i64::MIN);
    let came = |row: &u32| packets.arrived_us[*row as usize].is_known();
    let mut arrivals: Vec<u32> = (0..count as u32).filter(came).collect();
    arrivals.sort_unstable_by_key(|&row| (arrived_us(row), row));
    // Rows by stream and sequence number, and the first of each stream that no report covered.
    let place_key = |row: u32| (packets.stream[row as usize], packets.sequence[row as usize], row);
    let mut rows: Vec<u32> = (0..count as u32).collect();
    rows.sort_unstable_by_key(|&row| place_key(row));
    let mut next = vec![usize::MAX; call.streams.len()];
    for (place, &row) in rows.iter().enumerate().rev() {
        next[usize::from(packets.stream[row as usize])] = place;
    }
    let number = |row: u32| arrived_us(row).div_euclid(interval_us);
    let mut reported_us = vec![OptionalInteger::UNKNOWN; count];
    let mut reports = FeedbackReports::default();
    for group in arrivals.chunk_by(|&one, &other| number(one) == number(other)).take(MOST_EVENTS) {
        let time_us = (number(group[0]) + 1) * interval_us;
        let mut lost = 0;
        for &row in group {
            reported_us[row as usize] = OptionalInteger::new(time_us);
        }
        for &row in group {
            let next = &mut next[usize::from(packets.stream[row as usize])];
            let place = rows.partition_point(|&other| place_key(other) < place_key(row));
            for &before in rows.get(*next..place).unwrap_or_default() {
                // A packet that comes later has another report, which then counts.
                let reported = &mut reported_us[before as usize];
                if !reported.is_known() {
                    *reported = OptionalInteger::new(time_us);
                    lost += 1;
                }
            }
            *next = (*next).max(place + 1);
        }
        reports.push(FeedbackReport { time_us, packets: group.len() as u32 + lost, lost, missed: 0 });
    }
    call.packets.reported_us = reported_us;
    call.feedback = reports;
    let last = call.feedback.time_us.last().copied().unwrap_or(0);
    call.duration_us = call.duration_us.max(last);
}
