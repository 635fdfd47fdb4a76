//! Times at which the packets of a call left, as its sender measured them.

use weir_world::RecordedCall;
use weir_world::recorded::RecordingSource;

/// Resolution of the clocks of Chromium's log and of its sockets, in microseconds.
const CLOCK_STEP_US: i64 = 1000;
/// Time in which Chromium's socket sends a packet, in microseconds: with it, most overuses in recorded calls are replayed at their time.
const SOCKET_SEND_US: i64 = 70;
/// Step of the phases of successive bursts, as a share of the clock's step: the golden ratio spreads them evenly.
const PHASE_STEP: f64 = 0.618_033_988_75;

/// Departures in microseconds by row, where they are known.
///
/// Chromium logs a packet when its pacer releases it. Its estimator takes the time at which the socket sent the packet. Both are whole
/// milliseconds. Packets of one logged millisecond may have two times at the socket, and the estimator groups packets by these. The
/// phase of a burst within its millisecond is unknown: phases of successive bursts are spread evenly.
pub(super) fn departures(call: &RecordedCall) -> Vec<Option<i64>> {
    let logged: Vec<Option<i64>> = call.packets.sent_us.iter().map(|sent| sent.get()).collect();
    if call.source != RecordingSource::EventLogOfSender {
        return logged;
    }
    let mut phase = 0.0;
    let mut burst: Option<(i64, i64)> = None;
    let at_socket = |(&sent, reported): (&Option<i64>, Option<i64>)| {
        let sent = sent?;
        let (begin, packets) = match burst {
            Some((begin, packets)) if (begin..=begin + CLOCK_STEP_US).contains(&sent) => (begin, packets),
            _ => {
                phase = (phase + PHASE_STEP).fract();
                (sent, 0)
            }
        };
        burst = Some((begin, packets + 1));
        let passed = (phase * CLOCK_STEP_US as f64) as i64 + packets * SOCKET_SEND_US;
        let left = begin + passed - passed % CLOCK_STEP_US;
        // No packet leaves before its release or after its report.
        Some(left.max(sent).min(reported.unwrap_or(i64::MAX).max(sent)))
    };
    logged.iter().zip(call.packets.reported_us.iter().map(|reported| reported.get())).map(at_socket).collect()
}

#[cfg(test)]
mod tests {
    use weir_world::recorded::{OptionalInteger, PacketRow};

    use super::*;

    fn bursts(source: RecordingSource) -> RecordedCall {
        let mut call = RecordedCall { source, ..RecordedCall::default() };
        for burst in 0..100 {
            for _ in 0..8 {
                let sent_us = OptionalInteger::new(burst * 33_000);
                call.packets.push(PacketRow { sent_us, ..PacketRow::default() });
            }
        }
        call
    }

    #[test]
    fn bursts_of_a_log_cross_a_millisecond_at_the_socket_as_often_as_their_length_says() {
        let call = bursts(RecordingSource::EventLogOfSender);
        let departures = departures(&call);
        let crossed = departures.chunks(8).filter(|burst| burst[0] != burst[7]).count();
        // The last of eight packets leaves 490 µs after the first one.
        assert!((45..=53).contains(&crossed), "{crossed}");
        assert!(departures.iter().flatten().all(|time| time % CLOCK_STEP_US == 0));
        assert!(departures.is_sorted());
    }

    #[test]
    fn other_recordings_have_the_departures_themselves() {
        let call = bursts(RecordingSource::TwoCaptures);
        let logged: Vec<Option<i64>> = call.packets.sent_us.iter().map(|sent| sent.get()).collect();
        assert_eq!(departures(&call), logged);
    }
}
