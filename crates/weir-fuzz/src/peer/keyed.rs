//! A listener with a key: each packet of its peer is accepted once, within the window of counters, and none without the key.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use weir_net::Time;
use weir_peer::end::{EndPhase, PeerEnd};
use weir_peer::handshake::{CallerOutcome, HelloCaller};
use weir_peer::keys::{HandshakeNonce, KeyRing, SharedKey, session_keys};
use weir_peer::offer::SessionTerms;
use weir_peer::protection::{PacketKey, PacketOpener, PacketSealer, REPLAY_WINDOW};
use weir_peer::random::RepeatableRandom;
use weir_units::TimeDelta;

use super::end::{FuzzedEnd, plain_content};
use super::offers;
use crate::input::Input;

const SECRETS: [[u8; 32]; 3] = [[7; 32], [8; 32], [9; 32]];
const NONCE: HandshakeNonce = [3; 16];
/// Packets of the peer that are kept.
const MOST_KEPT: usize = 64;

/// The peer, and the counters that have come.
struct KeyedPeer {
    key: PacketKey,
    opener: PacketOpener,
    next: u64,
    came: BTreeSet<u64>,
    /// Packets that were sealed, with their counters.
    sealed: Vec<(u64, Vec<u8>)>,
}

impl KeyedPeer {
    /// Calls the end under this secret; `None` if it does not consent.
    fn call(session: &mut FuzzedEnd, secret: [u8; 32], terms: SessionTerms) -> Option<Self> {
        let keys = KeyRing::new(SharedKey::new(&secret)?, None);
        let mut caller = HelloCaller::new(session.now, &keys, NONCE, terms);
        let mut hello = Vec::new();
        for _ in 0..2 {
            caller.poll(caller.next_wake(), &mut hello);
            session.put(&hello);
            for (_, answer) in core::mem::take(&mut session.seen) {
                if let CallerOutcome::Accepted(accepted) = caller.on_datagram(session.now, &answer) {
                    // Head and the caller's nonce are before that of the listener.
                    let listener = answer.get(22..38)?.try_into().ok()?;
                    let key = session_keys(&secret, &NONCE, &listener).caller;
                    let opener = accepted.opener;
                    return Some(Self { key, opener, next: 0, came: BTreeSet::new(), sealed: Vec::new() });
                }
            }
        }
        None
    }

    fn seal(&mut self, content: &[u8]) {
        let mut packet = content.to_vec();
        PacketSealer::starting_at(self.key.clone(), self.next).seal(&mut packet);
        if self.sealed.len() == MOST_KEPT {
            self.sealed.remove(0);
        }
        self.sealed.push((self.next, packet));
        self.next = self.next.wrapping_add(1);
    }

    /// Whether a packet with this counter is to be accepted now; it then counts as one that has come.
    fn takes(&mut self, counter: u64) -> bool {
        let newest = self.came.last().copied();
        let known = newest.is_none_or(|newest| counter > newest || newest - counter < REPLAY_WINDOW);
        known && self.came.insert(counter)
    }
}

pub(crate) fn keyed(data: &[u8]) {
    let mut input = Input::new(data);
    let [first, second, foreign] = SECRETS;
    let key = |secret| SharedKey::new(secret);
    let Some(ring) = key(&first).map(|own| KeyRing::new(own, key(&second))) else { return };
    let config = offers::config(&mut input, ring);
    let receives = config.receives;
    let end = PeerEnd::listen(Time::ZERO, config, Box::new(RepeatableRandom::new(1)));
    let mut session = FuzzedEnd::new(([192, 0, 2, 1], 4000).into(), end);
    let terms = offers::terms(&mut input, receives);
    assert!(KeyedPeer::call(&mut session, foreign, terms.clone()).is_none(), "consent without the key");
    let secret = if input.flag() { first } else { second };
    let Some(mut peer) = KeyedPeer::call(&mut session, secret, terms) else { return };
    session.play(&mut input, |session, input| match input.below(8) {
        0 | 1 => session.pass(TimeDelta::from_millis(input.below(3000) as i64)),
        2 | 3 => {
            for _ in 0..=input.below(4) {
                peer.seal(&plain_content(input));
            }
        }
        4 => peer.next = if input.flag() { input.u64() } else { peer.next.saturating_add(input.below(3000)) },
        5 => forge(session, &mut peer, input),
        6 => answer_challenges(session, &mut peer),
        _ => deliver(session, &mut peer, input),
    });
}

/// Whether the end reads packets of this address: a session begins at that of the call.
fn reads_from(session: &FuzzedEnd, from: SocketAddr) -> bool {
    match session.end.phase() {
        EndPhase::Waiting => from == session.peer,
        EndPhase::Running | EndPhase::Farewell => true,
        EndPhase::Ended => false,
    }
}

/// Delivers a packet, in any order, once more or from another address.
fn deliver(session: &mut FuzzedEnd, peer: &mut KeyedPeer, input: &mut Input<'_>) {
    let Some(place) = (input.byte() as usize).checked_rem(peer.sealed.len()) else { return };
    let (counter, packet) = peer.sealed[place].clone();
    let from = if input.seldom(4) { SocketAddr::from(([192, 0, 2, 9], 4001)) } else { session.peer };
    let expected = reads_from(session, from) && peer.takes(counter);
    assert_eq!(session.put_from(from, &packet), expected, "counter {counter} of {:?}", peer.came.last());
}

/// Delivers a packet with a bit that differs, a part of one, or one under another key.
fn forge(session: &mut FuzzedEnd, peer: &mut KeyedPeer, input: &mut Input<'_>) {
    let Some(place) = (input.byte() as usize).checked_rem(peer.sealed.len()) else { return };
    let mut packet = peer.sealed[place].1.clone();
    let place = input.below(packet.len() as u64) as usize;
    match input.below(3) {
        0 => packet[place] ^= 1 << (input.byte() % 8),
        1 => packet.truncate(place),
        _ => {
            packet = plain_content(input);
            let key = session_keys(&SECRETS[2], &NONCE, &NONCE).caller;
            PacketSealer::starting_at(key, peer.next).seal(&mut packet);
        }
    }
    let before = session.end.peer();
    assert!(!session.put(&packet), "a forged packet is accepted: {packet:02x?}");
    assert_eq!(session.end.peer(), before);
}

/// Answers the challenges of the end, from the addresses to which they went.
fn answer_challenges(session: &mut FuzzedEnd, peer: &mut KeyedPeer) {
    for (to, packet) in core::mem::take(&mut session.seen) {
        let Ok(opened) = peer.opener.open(&packet) else { continue };
        if let [b'W', b'e', b'i', b'r', 1, 7, challenge @ ..] = opened.bytes {
            let mut response = b"Weir\x01\x08".to_vec();
            response.extend_from_slice(challenge);
            peer.seal(&response);
            let (counter, packet) = peer.sealed[peer.sealed.len() - 1].clone();
            let expected = reads_from(session, to) && peer.takes(counter);
            assert_eq!(session.put_from(to, &packet), expected);
            if expected && session.end.phase() == EndPhase::Running {
                assert!(session.end.peer() == Some(to) || session.end.peer() == Some(session.peer));
            }
            session.peer = session.end.peer().unwrap_or(session.peer);
        }
    }
}
