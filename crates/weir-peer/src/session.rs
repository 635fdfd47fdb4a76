//! A session under keys: protection, the peer's address, and the proof of another address.

use std::net::SocketAddr;

use weir_net::Time;
use weir_units::TimeDelta;

use crate::keys::HandshakeNonce;
use crate::offer::SessionTerms;
use crate::protection::{PacketOpener, PacketSealer, SealFault};
use crate::random::RandomBytes;

/// Shortest time between two challenges.
const CHALLENGE_INTERVAL: TimeDelta = TimeDelta::from_millis(200);

/// Bytes of a challenge.
pub(crate) type PathChallenge = [u8; 8];

/// A session with a peer.
#[derive(Debug)]
pub(crate) struct SealedSession {
    pub(crate) sealer: PacketSealer,
    opener: PacketOpener,
    /// The address of the peer.
    pub(crate) remote: SocketAddr,
    /// Terms of the peer.
    pub(crate) terms: SessionTerms,
    /// Nonces of the caller and, at the listener, of this end.
    pub(crate) nonces: [HandshakeNonce; 2],
    /// Time of the last valid packet.
    pub(crate) last_valid: Time,
    /// An address that is not proved yet, its challenge, and when that was sent.
    probe: Option<(SocketAddr, PathChallenge, Time)>,
}

/// A packet of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionPacket<'a> {
    pub(crate) bytes: &'a [u8],
    /// A challenge to send to the address of the packet, which is not that of the peer.
    pub(crate) challenge: Option<PathChallenge>,
}

/// A reason to drop a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionFault {
    /// Another address than the peer's, in a session without a key.
    Foreign,
    /// Tag or counter are wrong.
    Sealed(SealFault),
}

impl SealedSession {
    pub(crate) fn new(
        now: Time,
        (sealer, opener): (PacketSealer, PacketOpener),
        remote: SocketAddr,
        terms: SessionTerms,
        nonces: [HandshakeNonce; 2],
    ) -> Self {
        Self { sealer, opener, remote, terms, nonces, last_valid: now, probe: None }
    }

    /// The packet in `datagram` of `from`. In a session with a key (`follows`) the peer may come from another address; the
    /// session goes there after a challenge.
    pub(crate) fn open<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &'a [u8],
        follows: bool,
        random: &mut dyn RandomBytes,
    ) -> Result<SessionPacket<'a>, SessionFault> {
        if from != self.remote && !follows {
            return Err(SessionFault::Foreign);
        }
        let opened = self.opener.open(datagram).map_err(SessionFault::Sealed)?;
        self.last_valid = self.last_valid.max(now);
        let mut packet = SessionPacket { bytes: opened.bytes, challenge: None };
        if from == self.remote || !opened.newest {
            return Ok(packet);
        }
        if self.probe.is_none_or(|(_, _, sent)| now - sent >= CHALLENGE_INTERVAL) {
            let mut challenge = PathChallenge::default();
            random.fill(&mut challenge);
            self.probe = Some((from, challenge, now));
            packet.challenge = Some(challenge);
        }
        Ok(packet)
    }

    /// Takes the answer to a challenge. The result is whether the peer is at another address from now on.
    pub(crate) fn on_response(&mut self, from: SocketAddr, bytes: &[u8]) -> bool {
        let proved = self.probe.is_some_and(|(address, challenge, _)| address == from && challenge == bytes);
        if proved {
            (self.remote, self.probe) = (from, None);
        }
        proved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::PacketKey;
    use crate::random::RepeatableRandom;

    const AT: fn(u64) -> Time = Time::from_millis;

    fn session() -> (SealedSession, PacketSealer, RepeatableRandom) {
        let [own, other] = [[1; 32], [2; 32]].map(|bytes| PacketKey::new(&bytes));
        let ends = (PacketSealer::new(own), PacketOpener::new(other.clone()));
        let session =
            SealedSession::new(AT(0), ends, address(1), SessionTerms::default(), Default::default());
        (session, PacketSealer::new(other), RepeatableRandom::new(1))
    }

    fn address(port: u16) -> SocketAddr {
        ([192, 0, 2, 1], port).into()
    }

    fn sealed(sealer: &mut PacketSealer) -> Vec<u8> {
        let mut packet = vec![0x80];
        sealer.seal(&mut packet);
        packet
    }

    #[test]
    fn a_session_follows_to_an_address_that_answers_a_challenge() {
        let (mut session, mut peer, mut random) = session();
        let opened = |session: &mut SealedSession, ms, port, packet: &[u8], random: &mut RepeatableRandom| {
            session.open(AT(ms), address(port), packet, true, random).map(|packet| packet.challenge)
        };
        let (late, first, second) = (sealed(&mut peer), sealed(&mut peer), sealed(&mut peer));
        let Ok(Some(challenge)) = opened(&mut session, 10, 2, &first, &mut random) else {
            panic!("no challenge")
        };
        assert_eq!(opened(&mut session, 11, 2, &second, &mut random), Ok(None), "there was one just before");
        assert_eq!(
            opened(&mut session, 12, 3, &late, &mut random),
            Ok(None),
            "an older packet proves nothing"
        );
        assert_eq!(session.remote, address(1), "it stays until there is an answer");
        assert!(!session.on_response(address(3), &challenge) && !session.on_response(address(2), &[0; 8]));
        assert!(session.on_response(address(2), &challenge));
        assert_eq!(session.remote, address(2));
        assert!(!session.on_response(address(2), &challenge), "it counts once");
    }

    #[test]
    fn without_a_key_another_address_is_foreign_and_its_packets_leave_the_window_alone() {
        let (mut session, mut peer, mut random) = session();
        let packet = sealed(&mut peer);
        let foreign = session.open(AT(10), address(2), &packet, false, &mut random);
        assert_eq!(foreign, Err(SessionFault::Foreign));
        assert!(session.open(AT(11), address(1), &packet, false, &mut random).is_ok());
    }
}
