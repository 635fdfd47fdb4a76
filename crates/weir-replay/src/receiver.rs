//! Recordings of the receiver alone: a lost packet leaves a gap in the numbers, and the propagation delay is unknown.

use weir_world::RecordedCall;
use weir_world::recorded::{ArrivalClock, RecordingSource};

/// Whether the receiver alone recorded the call. Departures by absolute send time are moved so that the least delay is 0.
pub(crate) fn is_of_receiver(call: &RecordedCall) -> bool {
    match call.source {
        RecordingSource::EventLogOfReceiver => true,
        RecordingSource::ReadableRtp | RecordingSource::EncryptedCapture => {
            call.arrival_clock == ArrivalClock::Common
        }
        _ => !call.has_departures(),
    }
}

/// Numbers that no packet has, by the row behind them; empty for a recording with the sender's departures. Their sum is
/// that of [`RecordedCall::missing_numbers`].
pub(crate) fn gaps(call: &RecordedCall) -> Vec<u64> {
    let mut gaps = Vec::new();
    if !is_of_receiver(call) {
        return gaps;
    }
    gaps.resize(call.packets.len(), 0);
    let mut rows: Vec<u32> = (0..call.packets.len() as u32).collect();
    let packets = &call.packets;
    let number = |row: u32| (packets.stream[row as usize], packets.sequence[row as usize]);
    rows.sort_by_key(|&row| number(row));
    for pair in rows.windows(2) {
        let ((stream, before), (of, next)) = (number(pair[0]), number(pair[1]));
        if stream == of {
            gaps[pair[1] as usize] = next.abs_diff(before).saturating_sub(1);
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use weir_world::recorded::{OptionalInteger, PacketRow, RecordedStream};

    use super::*;

    #[test]
    fn a_late_packet_leaves_no_gap() {
        let streams = vec![RecordedStream::default(); 2];
        let mut call = RecordedCall { streams, ..RecordedCall::default() };
        for (at, (stream, sequence)) in
            [(0, 1), (0, 5), (1, 7), (0, 4), (0, 4), (1, 8)].into_iter().enumerate()
        {
            let arrived_us = OptionalInteger::new(at as i64);
            call.packets.push(PacketRow { stream, sequence, arrived_us, ..PacketRow::default() });
        }
        assert_eq!(gaps(&call), [0, 0, 0, 2, 0, 0]);
        assert_eq!(call.missing_numbers(), 2);
        call.packets.sent_us.fill(OptionalInteger::new(0));
        assert!(gaps(&call).is_empty());
    }
}
