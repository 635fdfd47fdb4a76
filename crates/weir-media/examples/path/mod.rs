//! A path in memory between two ends of a call, in place of sockets.

use std::collections::VecDeque;

use weir_cc::{ArrivalTime, DataRate, DataSize, Ecn, SendTime, TimeDelta};
use weir_media::{FlowId, MediaPacket, MediaReceiver, Session};

const CAPACITY: DataRate = DataRate::from_mbps(2);
const DELAY: TimeDelta = TimeDelta::from_millis(25);

/// A link of 2 Mbit/s, the receivers behind it, and a return path without queuing; 25 ms each.
pub(crate) struct Path {
    receivers: Vec<MediaReceiver>,
    there: VecDeque<(SendTime, FlowId, MediaPacket)>,
    back: VecDeque<(SendTime, Vec<u8>)>,
    link_free: SendTime,
}

impl Path {
    /// The receivers of the flows, by their numbers.
    pub(crate) fn new(receivers: Vec<MediaReceiver>) -> Self {
        Self { receivers, there: VecDeque::new(), back: VecDeque::new(), link_free: SendTime::ZERO }
    }

    /// Delivers the packets that arrive by now: media at the far end, reports at this one.
    pub(crate) fn deliver(&mut self, now: SendTime, session: &mut Session) {
        let far = ArrivalTime::from_nanos(now.nanos());
        while let Some((_, flow, packet)) = self.there.front().filter(|(at, ..)| *at <= now) {
            self.receivers[flow.number()].on_packet(far, &packet.header, packet.payload, Ecn::NotEct);
            self.there.pop_front();
        }
        while let Some((_, bytes)) = self.back.front().filter(|(at, _)| *at <= now) {
            session.on_rtcp(now, bytes);
            self.back.pop_front();
        }
        let mut room = [0; 1472];
        for receiver in &mut self.receivers {
            while let Some(length) = receiver.poll_rtcp(far, &mut room) {
                self.back.push_back((now + DELAY, room[..length].to_vec()));
            }
        }
    }

    /// A packet of media enters the link.
    pub(crate) fn send(&mut self, now: SendTime, flow: FlowId, packet: MediaPacket) {
        let size = packet.header.wire_len() as u64 + u64::from(packet.payload);
        self.link_free = self.link_free.max(now) + DataSize::from_bytes(size) / CAPACITY;
        self.there.push_back((self.link_free + DELAY, flow, packet));
    }

    /// Time of the next event, on the path or by `wake` at its near end.
    pub(crate) fn next(&self, now: SendTime, wake: Option<SendTime>) -> SendTime {
        let reports = self.receivers.iter().filter_map(MediaReceiver::next_timeout).min();
        let ends = [
            wake,
            reports.map(|at| SendTime::from_nanos(at.nanos())),
            self.there.front().map(|first| first.0),
            self.back.front().map(|first| first.0),
        ];
        now.max(ends.into_iter().flatten().min().unwrap_or(SendTime::MAX))
    }
}
