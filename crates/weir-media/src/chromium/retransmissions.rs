//! Video packets that were sent, to be sent again.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::{DataRate, TimeDelta};

use crate::packetiser::MediaPosition;

/// Number of packets that are kept, a power of two; at 2.5 Mbit/s about 8 s.
const KEPT: usize = 2048;
/// Time for which a packet may be sent again, unless three round-trip times are longer. libwebrtc.
const LIFETIME: TimeDelta = TimeDelta::from_secs(1);
/// Span over which retransmissions have at most the target's rate. libwebrtc.
const LIMIT_SPAN: TimeDelta = TimeDelta::from_millis(500);

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct KeptPacket {
    sequence: u16,
    position: MediaPosition,
    /// Time of the last departure.
    sent: SendTime,
    repeated: bool,
    waits: bool,
}

/// Sent packets of a video stream, and those of them that wait to be sent again.
#[derive(Debug)]
pub(crate) struct Retransmissions {
    kept: Vec<Option<KeptPacket>>,
    waiting: VecDeque<u16>,
    /// Time and payload of the accepted requests within the last [`LIMIT_SPAN`].
    accepted: VecDeque<(SendTime, u16)>,
    accepted_bytes: u64,
}

impl Retransmissions {
    pub(crate) fn new() -> Self {
        Self {
            kept: vec![None; KEPT],
            waiting: VecDeque::new(),
            accepted: VecDeque::new(),
            accepted_bytes: 0,
        }
    }

    /// A packet was sent for the first time.
    pub(crate) fn on_sent(&mut self, now: SendTime, sequence: u16, position: MediaPosition) {
        let packet = KeptPacket { sequence, position, sent: now, repeated: false, waits: false };
        self.kept[usize::from(sequence) % KEPT] = Some(packet);
    }

    /// The receiver lacks a packet. The packet waits to be sent again if it is still kept, was not repeated within the
    /// round-trip time, and retransmissions stay within `rate`.
    pub(crate) fn on_request(&mut self, now: SendTime, sequence: u16, rtt: TimeDelta, rate: DataRate) {
        let Some(packet) = self.kept[usize::from(sequence) % KEPT].as_mut() else { return };
        let age = now - packet.sent;
        let expired = age > LIFETIME.max(rtt * 3);
        if packet.sequence != sequence || packet.waits || expired || packet.repeated && age < rtt {
            return;
        }
        while let Some(&(at, payload)) = self.accepted.front()
            && now - at > LIMIT_SPAN
        {
            self.accepted.pop_front();
            self.accepted_bytes -= u64::from(payload);
        }
        let payload = packet.position.payload;
        if (self.accepted_bytes + u64::from(payload)) as f64 > rate.bps_f64() / 8.0 * LIMIT_SPAN.secs_f64() {
            return;
        }
        packet.waits = true;
        self.accepted.push_back((now, payload));
        self.accepted_bytes += u64::from(payload);
        self.waiting.push_back(sequence);
    }

    /// Payload of the packet that is next to leave again.
    pub(crate) fn peek(&self) -> Option<u16> {
        let sequence = *self.waiting.front()?;
        self.kept[usize::from(sequence) % KEPT].map(|packet| packet.position.payload)
    }

    /// The packet that leaves again now, with its sequence number.
    pub(crate) fn pop(&mut self, now: SendTime) -> Option<(u16, MediaPosition)> {
        let sequence = self.waiting.pop_front()?;
        let packet = self.kept[usize::from(sequence) % KEPT].as_mut()?;
        (packet.sent, packet.repeated, packet.waits) = (now, true, false);
        Some((packet.sequence, packet.position))
    }

    /// Drops the packets that wait.
    pub(crate) fn clear(&mut self) {
        for sequence in self.waiting.drain(..) {
            if let Some(packet) = &mut self.kept[usize::from(sequence) % KEPT] {
                packet.waits = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(60);
    const RATE: DataRate = DataRate::from_kbps(160);

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn position(payload: u16) -> MediaPosition {
        MediaPosition { frame: 1, timestamp: 3000, payload, key: false, first: false, last: true }
    }

    /// Retransmissions of a stream that sent four packets of 1000 bytes at 0 ms.
    fn having_sent() -> Retransmissions {
        let mut retransmissions = Retransmissions::new();
        (0..4).for_each(|sequence| retransmissions.on_sent(at(0), sequence, position(1000)));
        retransmissions
    }

    #[test]
    fn a_packet_is_repeated_once_in_a_round_trip() {
        let mut r = having_sent();
        r.on_request(at(60), 2, RTT, RATE);
        r.on_request(at(61), 2, RTT, RATE);
        assert_eq!(r.peek(), Some(1000));
        assert_eq!(r.pop(at(62)), Some((2, position(1000))));
        r.on_request(at(100), 2, RTT, RATE);
        assert_eq!(r.pop(at(100)), None, "it may still arrive");
        r.on_request(at(122), 2, RTT, RATE);
        assert!(r.pop(at(122)).is_some());
        r.on_request(at(200), 9, RTT, RATE);
        r.on_request(at(1001), 3, RTT, RATE);
        assert_eq!(r.pop(at(1001)), None, "never sent, and too old");
    }

    #[test]
    fn retransmissions_stay_within_the_rate() {
        let mut r = having_sent();
        // 160 kbit/s in half a second are 10 000 bytes.
        (0..20).for_each(|sequence| r.on_sent(at(0), sequence, position(1000)));
        (0..20).for_each(|sequence| r.on_request(at(60), sequence, RTT, RATE));
        assert_eq!(std::iter::from_fn(|| r.pop(at(60))).count(), 10);
        r.on_request(at(561), 19, RTT, RATE);
        r.clear();
        assert_eq!(r.peek(), None);
        r.on_request(at(562), 19, RTT, RATE);
        assert_eq!(r.peek(), Some(1000));
    }
}
