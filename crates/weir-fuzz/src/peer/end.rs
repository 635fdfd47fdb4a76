//! An end under test, whose network the input plays.

use std::net::SocketAddr;

use weir_cc::Ecn;
use weir_net::Time;
use weir_peer::end::{EndPhase, IncomingDatagram, PeerEnd};
use weir_peer::message::LARGEST_DATAGRAM;
use weir_units::TimeDelta;

use crate::input::Input;

/// Most steps of an input.
const MOST_STEPS: usize = 400;
/// Most packets of an end at one moment.
const MOST_PACKETS: usize = 20_000;
/// Datagrams of the end that are kept.
const MOST_SEEN: usize = 64;

/// An end, and its datagrams.
pub(super) struct FuzzedEnd {
    pub(super) now: Time,
    pub(super) end: PeerEnd,
    /// The address of the peer.
    pub(super) peer: SocketAddr,
    /// Datagrams of the end since they were last taken, each with its destination.
    pub(super) seen: Vec<(SocketAddr, Vec<u8>)>,
}

impl FuzzedEnd {
    pub(super) fn new(peer: SocketAddr, end: PeerEnd) -> Self {
        let mut fuzzed = Self { now: Time::ZERO, end, peer, seen: Vec::new() };
        fuzzed.drain();
        fuzzed
    }

    /// Calls `step` until the input is used up or the end has ended. Then the results are those of a session.
    pub(super) fn play(&mut self, input: &mut Input<'_>, mut step: impl FnMut(&mut Self, &mut Input<'_>)) {
        for _ in 0..MOST_STEPS {
            if input.is_empty() || self.end.phase() == EndPhase::Ended {
                break;
            }
            step(self, input);
            if input.seldom(60) {
                self.end.interrupt(self.now);
                self.drain();
            }
        }
        for flow in &self.end.results(self.now).flows {
            assert!(flow.loss_ratio.is_none_or(|loss| (0.0..=1.0).contains(&loss)), "{flow:?}");
        }
    }

    /// Puts a datagram of the peer into the end's socket. The result is whether it meant something.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        self.put_from(self.peer, bytes)
    }

    pub(super) fn put_from(&mut self, from: SocketAddr, bytes: &[u8]) -> bool {
        let datagram = IncomingDatagram { at: self.now, from, ecn: Ecn::Ce, bytes };
        let plain = self.end.on_datagram(self.now, datagram);
        assert!(plain.is_none_or(|plain| plain <= bytes.len()));
        self.drain();
        plain.is_some()
    }

    fn drain(&mut self) {
        let mut packets = 0;
        while let Some(datagram) = self.end.poll() {
            assert!(datagram.bytes.len() <= LARGEST_DATAGRAM, "{} bytes", datagram.bytes.len());
            assert!(datagram.plain <= datagram.bytes.len());
            if self.seen.len() < MOST_SEEN {
                self.seen.push((datagram.to, datagram.bytes.to_vec()));
            }
            packets += 1;
            assert!(packets < MOST_PACKETS, "it sends {packets} packets at once");
        }
    }

    /// Lets time pass; the end is called at its timers.
    pub(super) fn pass(&mut self, span: TimeDelta) {
        let until = self.now + span;
        let mut calls = 0;
        while self.end.next_wake() <= until {
            self.now = self.now.max(self.end.next_wake());
            self.end.on_timeout(self.now);
            self.drain();
            calls += 1;
            assert!(calls < MOST_PACKETS, "it wants {calls} calls within {span}");
        }
        self.now = until;
    }
}

/// The content of a packet: arbitrary, a message of this version of any kind, or RTP and RTCP about a flow.
pub(super) fn content(input: &mut Input<'_>) -> Vec<u8> {
    let mut content = match input.below(4) {
        0 => Vec::new(),
        1 | 2 => [&b"Weir\x01"[..], &[input.byte() % 12]].concat(),
        _ => {
            let kind = input.one_of(&[96, 200, 201, 205, 206, 111]);
            let first = 0x80 | (input.byte() & 0x1f);
            let head = [first, kind, 0, input.byte()];
            [head, u32::from(input.byte() % 4).to_be_bytes()].concat()
        }
    };
    let length = usize::from(input.byte());
    content.extend_from_slice(input.bytes(length));
    content
}

/// Content that is no message of a handshake, which has a key of its own.
pub(super) fn plain_content(input: &mut Input<'_>) -> Vec<u8> {
    let mut content = content(input);
    if let [b'W', b'e', b'i', b'r', _, kind @ 0..=4, ..] = &mut content[..] {
        *kind += 5;
    }
    content
}
