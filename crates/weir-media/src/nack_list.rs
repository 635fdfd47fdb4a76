//! Lost packets of a video stream that the receiver requests again.

use std::collections::VecDeque;

use weir_cc::ArrivalTime;
use weir_units::TimeDelta;
use weir_wire::seq::Unwrapper;

/// Most packets that are missed at once; with more of them a key frame is requested. libwebrtc.
const MOST_MISSING: usize = 1000;
/// Time between two requests for a packet: libwebrtc's round-trip time of a receiver that measures none.
const INTERVAL: TimeDelta = TimeDelta::from_millis(100);
/// Requests for a packet, after which it is given up. libwebrtc.
const MOST_REQUESTS: u8 = 10;

/// A packet that has not come.
#[derive(Clone, Copy, Debug)]
struct MissingPacket {
    number: u64,
    /// Time of the next request; the first is due at once.
    due: ArrivalTime,
    requests: u8,
}

/// libwebrtc's `NackRequester`: each gap of the sequence numbers is requested at once, and each packet of it again every 100 ms
/// until it comes, at most ten times.
///
/// Differences: the time between requests is constant, packets of a reordering count as missing at once, and the list is cleared whole
/// where libwebrtc clears it up to a key frame.
#[derive(Debug, Default)]
pub(crate) struct NackList {
    sequences: Unwrapper,
    newest: Option<u64>,
    /// In order of their numbers.
    missing: VecDeque<MissingPacket>,
    /// Whether a key frame should be requested.
    key_frame_due: bool,
}

impl NackList {
    /// A packet of the stream has arrived.
    pub(crate) fn on_packet(&mut self, now: ArrivalTime, sequence: u16) {
        let number = self.sequences.unwrap(sequence);
        let newest = *self.newest.get_or_insert(number);
        if number <= newest {
            self.remove(number);
            return;
        }
        self.newest = Some(number);
        let gap = (number - newest - 1) as usize;
        if self.missing.len() + gap > MOST_MISSING {
            self.missing.clear();
            self.key_frame_due = true;
            return;
        }
        let gap = newest + 1..number;
        self.missing.extend(gap.map(|number| MissingPacket { number, due: now, requests: 0 }));
    }

    /// A packet of the stream has arrived as a retransmission.
    pub(crate) fn on_retransmission(&mut self, sequence: u16) {
        let Some(newest) = self.newest else { return };
        // Not through the unwrapper: a retransmission is older than the newest packet, whatever the distance.
        let behind = (newest as u16).wrapping_sub(sequence);
        if let Some(number) = newest.checked_sub(u64::from(behind)) {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u64) {
        if let Ok(place) = self.missing.binary_search_by_key(&number, |packet| packet.number) {
            self.missing.remove(place);
        }
    }

    /// Time of the next request.
    pub(crate) fn next_timeout(&self) -> Option<ArrivalTime> {
        self.missing.iter().map(|packet| packet.due).min()
    }

    /// Sequence numbers of the packets that are to be requested at `now`, rising.
    pub(crate) fn due(&self, now: ArrivalTime) -> impl Iterator<Item = u16> + Clone {
        self.missing.iter().filter(move |packet| packet.due <= now).map(|packet| packet.number as u16)
    }

    /// The first `count` packets of [`Self::due`] were requested.
    pub(crate) fn on_requested(&mut self, now: ArrivalTime, count: usize) {
        let requested = self.missing.iter_mut().filter(|packet| packet.due <= now).take(count);
        requested.for_each(|packet| (packet.due, packet.requests) = (now + INTERVAL, packet.requests + 1));
        self.missing.retain(|packet| packet.requests < MOST_REQUESTS);
    }

    /// Whether a key frame should be requested, once after each time that too many packets were missing.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        std::mem::take(&mut self.key_frame_due)
    }

    pub(crate) fn wants_key_frame(&self) -> bool {
        self.key_frame_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receiver time of `ms` milliseconds.
    fn at(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    /// The packets requested at `ms`.
    fn requested(list: &mut NackList, ms: i64) -> Vec<u16> {
        let due: Vec<u16> = list.due(at(ms)).collect();
        list.on_requested(at(ms), due.len());
        due
    }

    #[test]
    fn a_gap_is_requested_at_once_and_again_each_interval() {
        let mut list = NackList::default();
        list.on_packet(at(0), 65_534);
        assert_eq!(list.next_timeout(), None);
        list.on_packet(at(10), 2);
        assert_eq!(list.next_timeout(), Some(at(10)));
        assert_eq!(requested(&mut list, 10), [65_535, 0, 1]);
        assert_eq!(requested(&mut list, 50), [0; 0]);
        list.on_packet(at(60), 0);
        list.on_retransmission(65_535);
        assert_eq!(list.next_timeout(), Some(at(110)));
        assert_eq!(requested(&mut list, 110), [1]);
        list.on_retransmission(1);
        assert_eq!(list.next_timeout(), None);
    }

    #[test]
    fn a_packet_is_given_up_after_ten_requests() {
        let mut list = NackList::default();
        list.on_packet(at(0), 0);
        list.on_packet(at(0), 2);
        let requests = (0..30).filter(|n| requested(&mut list, 100 * n) == [1]).count();
        assert_eq!((requests, list.next_timeout()), (10, None));
    }

    #[test]
    fn too_many_missing_packets_need_a_key_frame() {
        let mut list = NackList::default();
        list.on_packet(at(0), 0);
        list.on_packet(at(0), 1002);
        assert_eq!(list.next_timeout(), None);
        assert!(list.take_key_frame_request() && !list.take_key_frame_request());
        list.on_packet(at(0), 1004);
        assert_eq!(requested(&mut list, 0), [1003]);
    }
}
