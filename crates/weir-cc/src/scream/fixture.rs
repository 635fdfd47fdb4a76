//! Test fixture: a sender half with packets of 1000 bytes, numbered from 0, and their fates.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{Controller, RateLimits};
use crate::decision::Decision;
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::report::Feedback;
use crate::time::{ArrivalTime, SendTime};

pub(super) const SIZE: u64 = 1000;

pub(super) fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
pub(super) fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// Packet `id` of 1012 bytes, 1000 of them payload, leaves at `10·id` ms.
fn sent(id: u64) -> SentPacket {
    let bytes = DataSize::from_bytes;
    SentPacket {
        id,
        at: ms(10 * id as i64),
        size: bytes(1012),
        payload: bytes(1000),
        padding: false,
        probe: None,
    }
}

/// Packets 1 to 10.
pub(super) fn ten_sent() -> [SentPacket; 10] {
    core::array::from_fn(|place| sent(place as u64 + 1))
}

/// Result of the packet `id`, arrived 40 ms after it left, by a clock one hour ahead.
pub(super) fn arrived(id: u64, ecn: Ecn) -> PacketResult {
    let at = ArrivalTime::from_millis(3_600_000 + 10 * id as i64 + 40);
    PacketResult { sent: sent(id), fate: PacketFate::Arrived { at: Some(at), ecn } }
}

pub(super) fn missing(id: u64) -> PacketResult {
    PacketResult { sent: sent(id), fate: PacketFate::Missing }
}

/// Result of the packet `id`, missing so far, arrived at `at` ms.
pub(super) fn recovered(id: u64, at: i64, ecn: Ecn) -> PacketResult {
    PacketResult {
        sent: sent(id),
        fate: PacketFate::Recovered { at: Some(ArrivalTime::from_millis(3_600_000 + at)), ecn },
    }
}

/// Rate limits of 100 to 2000 kbit/s, with a start rate of 500 kbit/s.
pub(super) fn limits() -> RateLimits {
    RateLimits::new(kbps(100), kbps(500), kbps(2000)).unwrap()
}

/// Sender half on a path of 30 ms there and 20 ms back, with clocks two hours apart.
#[derive(Debug)]
pub(super) struct Bench<C> {
    pub(super) controller: C,
    sent: Vec<SentPacket>,
    reported: usize,
}

impl<C: Controller> Bench<C> {
    pub(super) fn new(controller: C) -> Self {
        Self { controller, sent: Vec::new(), reported: 0 }
    }

    fn in_flight(&self) -> SendState {
        let packets = (self.sent.len() - self.reported) as u64;
        SendState { in_flight: DataSize::from_bytes(packets * SIZE), ..SendState::default() }
    }

    /// Sends `count` packets at `at` ms.
    pub(super) fn send(&mut self, at: i64, count: usize) {
        for _ in 0..count {
            let (id, size) = (self.sent.len() as u64, DataSize::from_bytes(SIZE));
            let packet = SentPacket::new(id, ms(at), size);
            self.sent.push(packet);
            self.controller.on_sent(&packet, &self.in_flight());
        }
    }

    /// Reports the fates in `ecn` of the next packets, `None` for a missing one, after a queue of `queue` ms.
    pub(super) fn deliver(&mut self, queue: i64, ecn: &[Option<Ecn>]) -> Option<Decision> {
        let state = self.in_flight();
        let reported = &self.sent[self.reported..][..ecn.len()];
        let result = |(&sent, ecn): (&SentPacket, &Option<Ecn>)| {
            let at = ArrivalTime::from_millis(7_200_030 + queue) + (sent.at - SendTime::ZERO);
            PacketResult {
                sent,
                fate: ecn.map_or(PacketFate::Missing, |ecn| PacketFate::Arrived { at: Some(at), ecn }),
            }
        };
        let results: Vec<_> = reported.iter().zip(ecn).map(result).collect();
        let rtt = TimeDelta::from_millis(50 + queue);
        let now = reported.last()?.at + rtt;
        self.reported += ecn.len();
        let feedback = Feedback::packets(&results, Some(rtt));
        self.controller.on_feedback(now, &feedback, &state)
    }

    /// Sends and delivers `count` packets each `gap` ms without a queue, until `end` ms; timeouts come when due.
    pub(super) fn flow(&mut self, begin: i64, end: i64, gap: i64, count: usize) {
        for at in (begin..end).step_by(gap as usize) {
            self.send(at, count);
            while let Some(due) = self.controller.next_timeout().filter(|&due| due <= ms(at)) {
                self.controller.on_timeout(due, &SendState::default());
            }
            self.deliver(0, &vec![Some(Ecn::NotEct); count]);
        }
    }

    pub(super) fn signal(&self, name: &str) -> f64 {
        let mut values = vec![0.0; self.controller.signals().len()];
        self.controller.read_signals(&mut values);
        values[self.controller.signals().iter().position(|signal| signal.name == name).unwrap()]
    }
}
