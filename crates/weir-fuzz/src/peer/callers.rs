//! A caller, whose listener answers honestly, changes its answers, or answers with anything.

use std::net::SocketAddr;

use weir_net::Time;
use weir_peer::end::{EndOutcome, EndPhase, PeerEnd};
use weir_peer::handshake::{HelloListener, HelloOutcome};
use weir_peer::keys::{KeyRing, SharedKey};
use weir_peer::message::{CallRefusal, HELLO_LENGTH};
use weir_peer::protection::PacketSealer;
use weir_peer::random::{RandomBytes as _, RepeatableRandom};
use weir_units::TimeDelta;

use super::end::{FuzzedEnd, content, plain_content};
use super::offers;
use crate::input::Input;

/// The listener that the input plays.
struct PlayedListener {
    hellos: HelloListener,
    random: RepeatableRandom,
    /// Protects the packets of the session that the latest consent began.
    sealer: Option<PacketSealer>,
    /// Whether a consent, and a refusal, has reached the caller unchanged.
    has_consented: bool,
    has_refused: bool,
}

impl PlayedListener {
    /// The answer to `hello`, and whether it is a consent or a refusal.
    fn answer(&mut self, session: &FuzzedEnd, hello: &[u8], input: &mut Input<'_>) -> (Vec<u8>, [bool; 2]) {
        let mut out = Vec::new();
        let from = SocketAddr::from(([192, 0, 2, 2], 5000));
        match self.hellos.on_datagram(session.now, from, hello, &mut out, &mut self.random) {
            HelloOutcome::Ignored | HelloOutcome::Answered => (out, [false; 2]),
            HelloOutcome::Proved(hello) => {
                if input.seldom(4) {
                    let text = String::from_utf8_lossy(input.bytes(9)).into_owned();
                    hello.refuse(&CallRefusal::Terms(text), &mut out);
                    return (out, [false, true]);
                }
                let own = self.random.nonce();
                let mut sealer = PacketSealer::new(hello.session_keys(&own).listener);
                let terms = offers::terms(input, hello.terms.receives);
                hello.accept(&own, &terms, &mut sealer, &mut out);
                self.sealer = Some(sealer);
                (out, [true, false])
            }
        }
    }
}

pub(crate) fn callers(data: &[u8]) {
    let mut input = Input::new(data);
    let key = SharedKey::new(&[7; 32]).filter(|_| input.flag());
    let keys = key.map_or(KeyRing::open(), |key| KeyRing::new(key, None));
    let peer = SocketAddr::from(([192, 0, 2, 1], 5004));
    let mut random = RepeatableRandom::new(2);
    let mut listener = PlayedListener {
        hellos: HelloListener::new(Time::ZERO, keys.clone(), &mut random),
        random,
        sealer: None,
        has_consented: false,
        has_refused: false,
    };
    let config = offers::config(&mut input, keys);
    let end = PeerEnd::call(Time::ZERO, peer, config, Box::new(RepeatableRandom::new(1)));
    let mut session = FuzzedEnd::new(peer, end);
    session.pass(TimeDelta::ZERO);
    session.play(&mut input, |session, input| {
        match input.below(8) {
            0 | 1 => session.pass(TimeDelta::from_millis(input.below(3000) as i64)),
            2 | 3 => {
                let hellos = core::mem::take(&mut session.seen);
                let hello = hellos.iter().rfind(|(_, bytes)| bytes.len() == HELLO_LENGTH);
                let Some((_, hello)) = hello else { return };
                let (mut answer, [consents, refuses]) = listener.answer(session, hello, input);
                if input.seldom(3) && !answer.is_empty() {
                    let place = input.below(answer.len() as u64) as usize;
                    if input.flag() {
                        answer.truncate(place);
                    } else {
                        answer[place] ^= 1 << (input.byte() % 8);
                    }
                } else {
                    listener.has_consented |= consents;
                    listener.has_refused |= refuses;
                }
                session.put(&answer);
            }
            4 => {
                session.put(&content(input));
            }
            5 => {
                let from = SocketAddr::from(([192, 0, 2, input.byte() % 3], 5004));
                session.put_from(from, &content(input));
            }
            _ => {
                let Some(sealer) = &mut listener.sealer else { return };
                let mut packet = plain_content(input);
                sealer.seal(&mut packet);
                session.put(&packet);
            }
        }
        let (phase, outcome) = (session.end.phase(), session.end.outcome());
        if phase == EndPhase::Waiting {
            assert!(session.seen.iter().all(|(to, hello)| (*to, hello.len()) == (peer, HELLO_LENGTH)));
        }
        if phase == EndPhase::Running {
            assert!(listener.has_consented, "a session without consent");
        }
        if matches!(outcome, Some(EndOutcome::Refused(_))) {
            assert!(listener.has_refused, "a refusal that nobody has made: {outcome:?}");
        }
    });
}
