//! The calling end of a handshake.

use weir_net::Time;
use weir_units::TimeDelta;

use crate::cookie::COOKIE_LENGTH;
use crate::keys::{DirectionKeys, HandshakeNonce, KeyRing, hello_keys, session_keys};
use crate::message::{BARE_REFUSAL, CallRefusal, HelloMessage, MessageHead, MessageKind, VERSION};
use crate::offer::SessionTerms;
use crate::protection::{PacketOpener, PacketSealer, unsealed};

/// Time until a hello is sent again; each time it doubles, up to [`LONGEST_WAIT`].
const FIRST_WAIT: TimeDelta = TimeDelta::from_millis(250);
const LONGEST_WAIT: TimeDelta = TimeDelta::from_secs(1);
/// Shortest time between two hellos.
const SHORTEST_WAIT: TimeDelta = TimeDelta::from_millis(50);
/// Cookies for which a hello is sent at once.
const PROMPT_COOKIES: u32 = 4;

/// Calls a listener.
#[derive(Debug)]
pub struct HelloCaller {
    secret: Vec<u8>,
    nonce: HandshakeNonce,
    keys: DirectionKeys,
    terms: SessionTerms,
    cookie: Option<[u8; COOKIE_LENGTH]>,
    cookies: u32,
    due: Time,
    wait: TimeDelta,
    sent: Option<Time>,
    /// A refusal that anybody on the path can have written.
    explained: Option<CallRefusal>,
}

/// A listener's consent.
#[derive(Debug)]
pub struct AcceptedCall {
    /// Protects the packets of this end.
    pub sealer: PacketSealer,
    /// Opens the packets of the listener.
    pub opener: PacketOpener,
    /// The listener's terms.
    pub terms: SessionTerms,
}

/// The result of a datagram.
#[derive(Debug)]
pub enum CallerOutcome {
    /// The datagram is no answer.
    Ignored,
    /// A step of the handshake.
    Progress,
    /// The session begins.
    Accepted(Box<AcceptedCall>),
    /// The listener refuses.
    Refused(CallRefusal),
}

impl HelloCaller {
    /// A call whose first hello is due at `now`.
    pub fn new(now: Time, keys: &KeyRing, nonce: HandshakeNonce, terms: SessionTerms) -> Self {
        let secret = keys.first().to_vec();
        Self {
            keys: hello_keys(&secret, &nonce),
            secret,
            nonce,
            terms,
            cookie: None,
            cookies: 0,
            due: now,
            wait: FIRST_WAIT,
            sent: None,
            explained: None,
        }
    }

    /// Time of the next hello.
    pub fn next_wake(&self) -> Time {
        self.due
    }

    /// Writes the hello that is due. The result is whether there is one.
    pub fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if now < self.due {
            return false;
        }
        let proof = self.cookie.map(|cookie| (cookie, self.terms.clone()));
        HelloMessage { nonce: self.nonce, proof }.write(out);
        PacketSealer::new(self.keys.caller.clone()).seal(out);
        self.due = now + self.wait;
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
        self.sent = Some(now);
        true
    }

    /// A refusal without a tag. Anybody on the path can have written it, so it only explains why no other answer comes.
    pub fn explanation(&self) -> Option<&CallRefusal> {
        self.explained.as_ref()
    }

    /// Takes a datagram of the listener's address.
    pub fn on_datagram(&mut self, now: Time, datagram: &[u8]) -> CallerOutcome {
        let Some(MessageHead { version, kind: Some(kind), mut body }) = MessageHead::read(datagram) else {
            return CallerOutcome::Ignored;
        };
        if body.array() != Some(self.nonce) {
            return CallerOutcome::Ignored;
        }
        match kind {
            MessageKind::Retry | MessageKind::Accept if version != VERSION => CallerOutcome::Ignored,
            MessageKind::Refuse if version != VERSION => {
                // A changed one of this version has a tag.
                if datagram.len() != BARE_REFUSAL {
                    return CallerOutcome::Ignored;
                }
                self.explained = Some(CallRefusal::Version(version));
                CallerOutcome::Progress
            }
            MessageKind::Refuse => {
                let Some(refusal) = CallRefusal::read(&mut body) else { return CallerOutcome::Ignored };
                if unsealed(&self.keys.listener, datagram).is_some() {
                    return CallerOutcome::Refused(refusal);
                }
                // A refusal that the listener would have protected.
                if refusal != CallRefusal::Key || datagram.len() != BARE_REFUSAL {
                    return CallerOutcome::Ignored;
                }
                self.explained = Some(refusal);
                CallerOutcome::Progress
            }
            MessageKind::Retry => {
                let known = unsealed(&self.keys.listener, datagram).is_some();
                let Some(cookie) = body.array().filter(|_| known) else { return CallerOutcome::Ignored };
                self.cookie = Some(cookie);
                self.cookies += 1;
                // A listener that never likes its own cookie gets hellos at their usual times alone.
                if self.cookies <= PROMPT_COOKIES {
                    let earliest =
                        self.sent.filter(|_| self.cookies > 1).map_or(now, |sent| sent + SHORTEST_WAIT);
                    self.due = self.due.min(earliest.max(now));
                }
                CallerOutcome::Progress
            }
            MessageKind::Accept => {
                let Some(listener) = body.array() else { return CallerOutcome::Ignored };
                let Some(terms) = SessionTerms::read(&mut body) else { return CallerOutcome::Ignored };
                let keys = session_keys(&self.secret, &self.nonce, &listener);
                let mut opener = PacketOpener::new(keys.listener);
                if opener.open(datagram).is_err() {
                    return CallerOutcome::Ignored;
                }
                let sealer = PacketSealer::new(keys.caller);
                CallerOutcome::Accepted(Box::new(AcceptedCall { sealer, opener, terms }))
            }
            _ => CallerOutcome::Ignored,
        }
    }
}
