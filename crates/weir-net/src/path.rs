//! A path between two ends: a [`Link`] there, and a way back that only delays.

use std::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::backlog::Backlog;
use crate::config::LinkConfig;
use crate::error::ConfigError;
use crate::link::Link;
use crate::packet::{DropReason, Fate, Packet};
use crate::time::Time;

/// A path for packets of type `P`, and `R` on the way back. Its times should never decrease, as those of a link.
#[derive(Clone, Debug)]
pub struct Path<P, R> {
    link: Link<PathPacket<P>>,
    /// Packets behind the link, in order of their arrival.
    beyond: VecDeque<ArrivedPacket<P>>,
    back: VecDeque<(Time, R)>,
    delay_back: TimeDelta,
}

/// A packet on its way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent<P> {
    /// The packet.
    pub packet: P,
    /// Size on the wire.
    pub size: DataSize,
    /// Whether a queue may mark it in place of dropping it (RFC 3168).
    pub ecn_capable: bool,
    /// Delay on top of that of the link. Packets with less of it may overtake this one.
    pub extra_delay: TimeDelta,
}

impl<P> Sent<P> {
    /// A packet that is not ECN-capable, without extra delay.
    pub fn new(packet: P, size: DataSize) -> Self {
        Self { packet, size, ecn_capable: false, extra_delay: TimeDelta::ZERO }
    }
}

/// A packet that has come out at the far end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivedPacket<P> {
    /// Time of its arrival.
    pub at: Time,
    /// The packet.
    pub packet: P,
    /// Whether the link marked it with "congestion experienced".
    pub marked: bool,
}

#[derive(Clone, Debug)]
struct PathPacket<P>(Sent<P>);

impl<P> Packet for PathPacket<P> {
    fn wire_size(&self) -> u32 {
        u32::try_from(self.0.size.bytes()).unwrap_or(u32::MAX)
    }

    fn is_ecn_capable(&self) -> bool {
        self.0.ecn_capable
    }
}

impl<P, R> Path<P, R> {
    /// An idle path over the link of `config` and `seed`, with this delay on the way back.
    ///
    /// # Errors
    /// [`ConfigError`] if the description makes no link.
    pub fn new(config: &LinkConfig, seed: u64, delay_back: TimeDelta) -> Result<Self, ConfigError> {
        let link = Link::new(config, seed)?;
        Ok(Self { link, beyond: VecDeque::new(), back: VecDeque::new(), delay_back })
    }

    /// Sends a packet there.
    ///
    /// # Errors
    /// The reason if the link drops it.
    pub fn send(&mut self, now: Time, sent: Sent<P>) -> Result<(), DropReason> {
        self.link.enqueue(now, PathPacket(sent)).map_err(|dropped| dropped.reason)
    }

    /// Puts a packet at the far end at `at`, past the link: a copy, or a forged packet.
    pub fn insert(&mut self, at: Time, packet: P) {
        self.put(ArrivedPacket { at, packet, marked: false });
    }

    fn put(&mut self, arrived: ArrivedPacket<P>) {
        let place = self.beyond.partition_point(|other| other.at <= arrived.at);
        self.beyond.insert(place, arrived);
    }

    /// The next packet that has arrived at the far end by `now`; call until `None`.
    pub fn arrival(&mut self, now: Time) -> Option<ArrivedPacket<P>> {
        while let Some(at) = self.link.next_departure().filter(|&at| at <= now) {
            if self.beyond.front().is_some_and(|first| first.at <= at) {
                break;
            }
            let Some(exit) = self.link.pop(at) else { continue };
            let PathPacket(Sent { packet, extra_delay, .. }) = exit.packet;
            let arrived = ArrivedPacket { at: at + extra_delay, packet, marked: exit.marked };
            match exit.fate {
                Fate::Arrived if extra_delay <= TimeDelta::ZERO => return Some(arrived),
                Fate::Arrived => self.put(arrived),
                Fate::Lost | Fate::Dropped(_) => {}
            }
        }
        self.beyond.front().filter(|first| first.at <= now)?;
        self.beyond.pop_front()
    }

    /// Sends `answer` back.
    pub fn answer(&mut self, now: Time, answer: R) {
        self.answer_at(now + self.delay_back, answer);
    }

    /// Sends `answer` back, which arrives at `at`, but not before those sent earlier.
    pub fn answer_at(&mut self, at: Time, answer: R) {
        let last = self.back.back().map_or(at, |&(last, _)| last);
        self.back.push_back((at.max(last), answer));
    }

    /// The next answer that has come back by `now`; call until `None`.
    pub fn answered(&mut self, now: Time) -> Option<R> {
        self.back.front().filter(|(at, _)| *at <= now)?;
        self.back.pop_front().map(|(_, answer)| answer)
    }

    /// The answers on their way back, the oldest first.
    pub fn answers(&mut self) -> impl ExactSizeIterator<Item = &mut R> {
        self.back.iter_mut().map(|(_, answer)| answer)
    }

    /// Number of packets on their way there.
    pub fn packets(&self) -> usize {
        self.link.len() + self.beyond.len()
    }

    /// Time of the next call of [`Self::arrival`] or [`Self::answered`].
    pub fn next_event(&self) -> Option<Time> {
        let beyond = self.beyond.front().map(|first| first.at);
        let back = self.back.front().map(|&(at, _)| at);
        [self.link.next_departure(), beyond, back].into_iter().flatten().min()
    }

    /// Changes the rate of the link ([`Link::set_rate`]).
    pub fn set_rate(&mut self, now: Time, rate: DataRate) {
        self.link.set_rate(now, rate);
    }

    /// The backlog of the link ([`Link::backlog`]).
    pub fn backlog(&mut self, now: Time) -> Backlog {
        self.link.backlog(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::QueueConfig;
    use crate::service::Service;

    const AT: fn(u64) -> Time = Time::from_millis;
    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
    /// Size that a megabit a second serves in 10 ms.
    const SIZE: DataSize = DataSize::from_bytes(1250);

    fn path(queue: QueueConfig) -> Path<u32, &'static str> {
        let service = Service::Constant(DataRate::from_mbps(1));
        Path::new(&LinkConfig { queue, ..LinkConfig::new(service, MS(20)) }, 1, MS(5)).unwrap()
    }

    fn arrivals(path: &mut Path<u32, &'static str>, now: Time) -> Vec<(Time, u32)> {
        std::iter::from_fn(|| path.arrival(now)).map(|arrived| (arrived.at, arrived.packet)).collect()
    }

    #[test]
    fn packets_take_the_link_and_answers_a_delay() {
        let mut path = path(QueueConfig { limit_time: Some(MS(20)), ..QueueConfig::default() });
        let sent = [1, 2, 3].map(|n| path.send(AT(0), Sent::new(n, SIZE)));
        assert_eq!(sent, [Ok(()), Ok(()), Err(DropReason::QueueTime)]);
        assert_eq!((path.packets(), path.answers().len()), (2, 0));
        path.answer(AT(1), "first");
        path.answer_at(AT(3), "second");
        assert_eq!((path.next_event(), path.answered(AT(5))), (Some(AT(6)), None));
        assert_eq!([path.answered(AT(6)), path.answered(AT(6))], [Some("first"), Some("second")]);
        assert_eq!((path.next_event(), path.arrival(AT(29))), (Some(AT(30)), None));
        assert_eq!(arrivals(&mut path, AT(90)), [(AT(30), 1), (AT(40), 2)]);
        assert_eq!(path.next_event(), None);
    }

    #[test]
    fn a_packet_with_extra_delay_and_an_inserted_one_come_in_order_of_time() {
        let mut path = path(QueueConfig::default());
        path.send(AT(0), Sent { extra_delay: MS(15), ..Sent::new(1, SIZE) }).unwrap();
        path.send(AT(0), Sent::new(2, SIZE)).unwrap();
        path.send(AT(0), Sent::new(3, SIZE)).unwrap();
        path.insert(AT(50), 4);
        assert_eq!(arrivals(&mut path, AT(45)), [(AT(40), 2), (AT(45), 1)]);
        assert_eq!(path.next_event(), Some(AT(50)));
        assert_eq!(arrivals(&mut path, AT(60)), [(AT(50), 4), (AT(50), 3)]);
    }

    #[test]
    fn a_waiting_packet_is_marked_and_follows_a_new_rate() {
        let mut path = path(QueueConfig { mark_above: Some(MS(5)), ..QueueConfig::default() });
        for packet in [1, 2] {
            path.send(AT(0), Sent { ecn_capable: true, ..Sent::new(packet, SIZE) }).unwrap();
        }
        assert_eq!(path.backlog(AT(5)).bytes, DataSize::from_bytes(1875));
        path.set_rate(AT(5), DataRate::from_kbps(500));
        let arrived = [path.arrival(AT(90)), path.arrival(AT(90))].map(Option::unwrap);
        assert_eq!(arrived.map(|arrived| (arrived.at, arrived.marked)), [(AT(35), false), (AT(55), true)]);
    }
}
