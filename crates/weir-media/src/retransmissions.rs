//! Sent packets of a stream that may be sent again: on request (RFC 4585 §6.2.1), or as padding.

use std::collections::VecDeque;

use weir_cc::SendTime;
use weir_units::{DataRate, TimeDelta};

/// Greatest number of packets that are kept; at 2.5 Mbit/s about 8 s.
const MOST_KEPT: usize = 2048;
/// Time for which a packet may be sent again, unless three round-trip times are longer. libwebrtc.
const LIFETIME: TimeDelta = TimeDelta::from_secs(1);
/// Span over which retransmissions have at most the target's rate. libwebrtc.
const LIMIT_SPAN: TimeDelta = TimeDelta::from_millis(500);
/// Most numbers of padding between two packets of a stream whose earlier packets are kept.
const MOST_PADDING: u16 = 256;
/// Number of the newest packets of which padding repeats the longest.
const PADDING_CHOICE: usize = 8;
/// Round-trip time before the first measurement. libwebrtc.
const FIRST_RTT: TimeDelta = TimeDelta::from_millis(100);

/// A packet that was sent.
#[derive(Clone, Debug)]
struct KeptPacket<T> {
    /// The content; padding has a number of the stream and no content.
    content: Option<T>,
    payload: u16,
    /// Time of the last departure.
    sent: SendTime,
    repeated: bool,
    waits: bool,
}

/// Sent packets of a stream, and those of them that wait to be sent again. `T` is what their content is made of.
#[derive(Debug)]
pub(crate) struct Retransmissions<T> {
    /// In order of their sequence numbers, which have no gaps.
    kept: VecDeque<KeptPacket<T>>,
    /// Sequence number of the next packet.
    next: u16,
    waiting: VecDeque<u16>,
    /// Time and payload of the accepted requests within the last [`LIMIT_SPAN`].
    accepted: VecDeque<(SendTime, u16)>,
    accepted_bytes: u64,
    rtt: TimeDelta,
}

impl<T: Clone> Retransmissions<T> {
    pub(crate) fn new() -> Self {
        Self {
            kept: VecDeque::new(),
            next: 0,
            waiting: VecDeque::new(),
            accepted: VecDeque::new(),
            accepted_bytes: 0,
            rtt: FIRST_RTT,
        }
    }

    /// A round-trip time was measured.
    pub(crate) fn on_round_trip(&mut self, rtt: TimeDelta) {
        self.rtt = rtt;
    }

    /// A packet of `payload` bytes was sent for the first time.
    pub(crate) fn on_sent(&mut self, now: SendTime, sequence: u16, payload: u16, content: T) {
        let gap = sequence.wrapping_sub(self.next);
        if gap > MOST_PADDING {
            self.kept.clear();
            self.waiting.clear();
        } else if !self.kept.is_empty() {
            (0..gap).for_each(|_| self.keep(now, 0, None));
        }
        self.keep(now, payload, Some(content));
        self.next = sequence.wrapping_add(1);
    }

    /// Drops the packets that are too old to be sent again.
    pub(crate) fn expire(&mut self, now: SendTime) {
        while self.kept.front().is_some_and(|packet| !packet.waits && now - packet.sent > self.lifetime()) {
            self.kept.pop_front();
        }
    }

    /// No packet becomes too old before this time.
    pub(crate) fn kept_until(&self) -> SendTime {
        self.kept.front().map_or(SendTime::MAX, |oldest| oldest.sent + LIFETIME)
    }

    fn keep(&mut self, now: SendTime, payload: u16, content: Option<T>) {
        while self.kept.len() >= MOST_KEPT
            || self.kept.front().is_some_and(|packet| !packet.waits && now - packet.sent > self.lifetime())
        {
            let first = self.next.wrapping_sub(self.kept.len() as u16);
            if self.kept.pop_front().is_some_and(|packet| packet.waits) {
                self.waiting.retain(|&sequence| sequence != first);
            }
        }
        self.kept.push_back(KeptPacket { content, payload, sent: now, repeated: false, waits: false });
        self.next = self.next.wrapping_add(1);
    }

    /// Longest age at which a packet is sent again.
    fn lifetime(&self) -> TimeDelta {
        LIFETIME.max(self.rtt * 3)
    }

    /// Place of a packet among those that are kept.
    fn place(&self, sequence: u16) -> Option<usize> {
        self.kept.len().checked_sub(usize::from(self.next.wrapping_sub(sequence)))
    }

    fn get(&self, sequence: u16) -> Option<&KeptPacket<T>> {
        self.kept.get(self.place(sequence)?)
    }

    fn get_mut(&mut self, sequence: u16) -> Option<&mut KeptPacket<T>> {
        let place = self.place(sequence)?;
        self.kept.get_mut(place)
    }

    /// Content of a packet, while it is kept.
    pub(crate) fn content(&self, sequence: u16) -> Option<&T> {
        self.get(sequence).and_then(|packet| packet.content.as_ref())
    }

    /// Sequence number and content of the longest of the newest packets, for padding. An empty packet is none: it would
    /// leave without end, as it takes nothing of the rate.
    pub(crate) fn longest_recent(&self) -> Option<(u16, &T)> {
        let recent = self.kept.iter().rev().take(PADDING_CHOICE).enumerate();
        let recent = recent.filter(|(_, packet)| packet.payload > 0);
        let (back, packet) = recent.max_by_key(|(_, packet)| packet.payload)?;
        Some((self.next.wrapping_sub(1 + back as u16), packet.content.as_ref()?))
    }

    /// The receiver lacks a packet. The packet waits to be sent again if it is still kept, was not repeated within the
    /// round-trip time, and retransmissions stay within `rate`. Returns whether it waits from now on.
    pub(crate) fn on_request(&mut self, now: SendTime, sequence: u16, rate: DataRate) -> bool {
        let (rtt, lifetime) = (self.rtt, self.lifetime());
        let Some(packet) = self.get(sequence) else { return false };
        let (age, payload) = (now - packet.sent, packet.payload);
        if packet.content.is_none() || packet.waits || age > lifetime || packet.repeated && age < rtt {
            return false;
        }
        while let Some(&(at, payload)) = self.accepted.front()
            && now - at > LIMIT_SPAN
        {
            self.accepted.pop_front();
            self.accepted_bytes -= u64::from(payload);
        }
        if (self.accepted_bytes + u64::from(payload)) as f64 > rate.bps_f64() / 8.0 * LIMIT_SPAN.secs_f64() {
            return false;
        }
        self.get_mut(sequence).into_iter().for_each(|packet| packet.waits = true);
        self.accepted.push_back((now, payload));
        self.accepted_bytes += u64::from(payload);
        self.waiting.push_back(sequence);
        true
    }

    /// Payload of the packet that is next to leave again.
    pub(crate) fn peek(&self) -> Option<u16> {
        self.get(*self.waiting.front()?).map(|packet| packet.payload)
    }

    /// The packet that leaves again now, with its sequence number.
    pub(crate) fn pop(&mut self, now: SendTime) -> Option<(u16, T)> {
        let sequence = self.waiting.pop_front()?;
        let packet = self.get_mut(sequence)?;
        (packet.sent, packet.repeated, packet.waits) = (now, true, false);
        Some((sequence, packet.content.clone()?))
    }

    /// Drops the packets that wait.
    pub(crate) fn clear(&mut self) {
        while let Some(sequence) = self.waiting.pop_front() {
            self.get_mut(sequence).into_iter().for_each(|packet| packet.waits = false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packetiser::MediaPosition;

    const RATE: DataRate = DataRate::from_kbps(160);

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn position(payload: u16) -> MediaPosition {
        MediaPosition { frame: 1, timestamp: 3000, payload, key: false, first: false, last: true }
    }

    /// Retransmissions of a stream that sent four packets of 1000 bytes at 0 ms.
    fn having_sent() -> Retransmissions<MediaPosition> {
        let mut retransmissions = Retransmissions::new();
        retransmissions.on_round_trip(TimeDelta::from_millis(60));
        (0..4).for_each(|sequence| retransmissions.on_sent(at(0), sequence, 1000, position(1000)));
        retransmissions
    }

    #[test]
    fn a_packet_is_repeated_once_in_a_round_trip() {
        let mut r = having_sent();
        r.on_request(at(60), 2, RATE);
        r.on_request(at(61), 2, RATE);
        assert_eq!(r.peek(), Some(1000));
        assert_eq!(r.pop(at(62)), Some((2, position(1000))));
        r.on_request(at(100), 2, RATE);
        assert_eq!(r.pop(at(100)), None, "it may still arrive");
        r.on_request(at(122), 2, RATE);
        assert!(r.pop(at(122)).is_some());
        r.on_request(at(200), 9, RATE);
        r.on_request(at(1001), 3, RATE);
        assert_eq!(r.pop(at(1001)), None, "never sent, and too old");
    }

    #[test]
    fn retransmissions_stay_within_the_rate() {
        let mut r = having_sent();
        // 160 kbit/s in half a second are 10 000 bytes.
        (4..20).for_each(|sequence| r.on_sent(at(0), sequence, 1000, position(1000)));
        (0..20).for_each(|sequence| _ = r.on_request(at(60), sequence, RATE));
        assert_eq!(std::iter::from_fn(|| r.pop(at(60))).count(), 10);
        r.on_request(at(561), 19, RATE);
        r.clear();
        assert_eq!(r.peek(), None);
        r.on_request(at(562), 19, RATE);
        assert_eq!(r.peek(), Some(1000));
    }
}
