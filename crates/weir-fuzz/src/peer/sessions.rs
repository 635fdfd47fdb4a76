//! A listener without a key, with a peer that knows the keys of the session and lies.

use std::net::SocketAddr;

use weir_net::Time;
use weir_peer::end::PeerEnd;
use weir_peer::handshake::{AcceptedCall, CallerOutcome, HelloCaller};
use weir_peer::keys::KeyRing;
use weir_peer::offer::SessionTerms;
use weir_peer::protection::PacketSealer;
use weir_peer::random::RepeatableRandom;
use weir_units::TimeDelta;

use super::end::{FuzzedEnd, content};
use super::offers;
use crate::input::Input;

pub(crate) fn sessions(data: &[u8]) {
    let mut input = Input::new(data);
    let config = offers::config(&mut input, KeyRing::open());
    let receives = config.receives;
    let end = PeerEnd::listen(Time::ZERO, config, Box::new(RepeatableRandom::new(1)));
    let mut session = FuzzedEnd::new(([192, 0, 2, 1], 4000).into(), end);
    let Some(mut sealer) = call(&mut session, offers::terms(&mut input, receives)) else { return };
    session.play(&mut input, |session, input| match input.below(8) {
        0 | 1 => session.pass(TimeDelta::from_millis(input.below(3000) as i64)),
        2 => {
            session.put(&content(input));
        }
        3..=6 => {
            let mut packet = content(input);
            sealer.seal(&mut packet);
            session.put(&packet);
        }
        _ => {
            // A packet of its own, or one of another address.
            let (_, own) = session.seen.last().cloned().unwrap_or((session.peer, Vec::new()));
            let from = SocketAddr::from(([192, 0, 2, input.byte() % 3], 4000));
            session.put_from(from, &own);
        }
    });
}

/// Calls the end; the protection of the caller's packets, if the end consents.
fn call(session: &mut FuzzedEnd, terms: SessionTerms) -> Option<PacketSealer> {
    let mut caller = HelloCaller::new(session.now, &KeyRing::open(), [7; 16], terms);
    let mut hello = Vec::new();
    for _ in 0..2 {
        caller.poll(caller.next_wake(), &mut hello);
        session.put(&hello);
        for (_, answer) in core::mem::take(&mut session.seen) {
            if let CallerOutcome::Accepted(accepted) = caller.on_datagram(session.now, &answer) {
                let AcceptedCall { sealer, .. } = *accepted;
                return Some(sealer);
            }
        }
    }
    None
}
