//! The listening end of a handshake, which keeps no state before a valid cookie.

use std::net::SocketAddr;

use weir_net::Time;

use crate::cookie::CookieJar;
use crate::keys::{DirectionKeys, HandshakeNonce, KeyRing, hello_keys, session_keys};
use crate::message::{CallRefusal, HELLO_LENGTH, HelloMessage, MessageHead, MessageKind, VERSION, begin};
use crate::offer::SessionTerms;
use crate::protection::{PacketKey, PacketSealer, unsealed};
use crate::random::RandomBytes;

/// Answers hellos.
#[derive(Debug)]
pub struct HelloListener {
    jar: CookieJar,
    keys: KeyRing,
}

/// A hello whose sender receives at its address, and knows the key.
#[derive(Clone, Debug)]
pub struct ProvedHello {
    /// The caller's nonce.
    pub nonce: HandshakeNonce,
    /// The caller's terms.
    pub terms: SessionTerms,
    secret: Vec<u8>,
    answers: PacketKey,
}

/// The result of a datagram.
#[derive(Clone, Debug)]
pub enum HelloOutcome {
    /// The datagram is no hello, and gets no answer.
    Ignored,
    /// The answer was written. It is smaller than the hello.
    Answered,
    /// The hello has a valid cookie.
    Proved(Box<ProvedHello>),
}

impl HelloListener {
    /// A listener with these keys.
    pub fn new(now: Time, keys: KeyRing, random: &mut dyn RandomBytes) -> Self {
        Self { jar: CookieJar::new(now, random), keys }
    }

    /// Takes a datagram of `from`. An answer is written into `out`.
    pub fn on_datagram(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &[u8],
        out: &mut Vec<u8>,
        random: &mut dyn RandomBytes,
    ) -> HelloOutcome {
        // Smaller ones could make of this end an amplifier against the address that they name.
        let Some(head) = MessageHead::read(datagram).filter(|_| datagram.len() == HELLO_LENGTH) else {
            return HelloOutcome::Ignored;
        };
        if head.kind != Some(MessageKind::Hello) {
            return HelloOutcome::Ignored;
        }
        let Some(nonce) = head.body.clone().array() else { return HelloOutcome::Ignored };
        if head.version != VERSION {
            CallRefusal::Version(VERSION).write(&nonce, out);
            return HelloOutcome::Answered;
        }
        let known = self.keys.secrets().find_map(|secret| {
            let keys = hello_keys(secret, &nonce);
            unsealed(&keys.caller, datagram).map(|packet| (secret.to_vec(), keys.listener, packet))
        });
        let Some((secret, answers, packet)) = known else {
            // Without a common key there is none to protect the answer.
            CallRefusal::Key.write(&nonce, out);
            return HelloOutcome::Answered;
        };
        let hello = MessageHead::read(packet).and_then(|head| HelloMessage::read(head.body));
        let Some(HelloMessage { proof, .. }) = hello else { return HelloOutcome::Ignored };
        match proof {
            Some((cookie, terms)) if self.jar.accepts(now, from, &nonce, &cookie, random) => {
                HelloOutcome::Proved(Box::new(ProvedHello { nonce, terms, secret, answers }))
            }
            // A cookie of a former process, or one that is too old.
            _ => {
                let cookie = self.jar.bake(now, from, &nonce, random);
                begin(out, MessageKind::Retry);
                out.extend_from_slice(&nonce);
                out.extend_from_slice(&cookie);
                PacketSealer::new(answers).seal(out);
                HelloOutcome::Answered
            }
        }
    }
}

impl ProvedHello {
    /// The keys of the session with this nonce of the listener.
    pub fn session_keys(&self, own: &HandshakeNonce) -> DirectionKeys {
        session_keys(&self.secret, &self.nonce, own)
    }

    /// Writes the consent under `sealer`, that of the session's packets of the listener.
    pub fn accept(
        &self,
        own: &HandshakeNonce,
        terms: &SessionTerms,
        sealer: &mut PacketSealer,
        out: &mut Vec<u8>,
    ) {
        begin(out, MessageKind::Accept);
        out.extend_from_slice(&self.nonce);
        out.extend_from_slice(own);
        terms.write(out);
        sealer.seal(out);
    }

    /// Writes a refusal.
    pub fn refuse(&self, refusal: &CallRefusal, out: &mut Vec<u8>) {
        refusal.write(&self.nonce, out);
        PacketSealer::new(self.answers.clone()).seal(out);
    }
}
