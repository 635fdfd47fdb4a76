//! Forged and repeated hellos: no state, and no answer that is larger.

use weir_net::Time;
use weir_peer::end::{EndPhase, IncomingDatagram, PeerEnd};
use weir_peer::message::HELLO_LENGTH;
use weir_peer::random::{RandomBytes, RepeatableRandom};

use crate::rig::{CALLER, Flying, LISTENER, Rig, address, config, constant_plan, keyed, plan};

/// Forged hellos: a tenth of the full number unless `WEIR_LONG` is set.
fn count() -> u64 {
    if std::env::var_os("WEIR_LONG").is_some() { 1_000_000 } else { 100_000 }
}

fn offer(end: &mut PeerEnd, now: Time, datagram: &Flying, bytes: &[u8]) -> Vec<Vec<u8>> {
    let incoming = IncomingDatagram { at: now, from: datagram.from, ecn: datagram.ecn, bytes };
    end.on_datagram(now, incoming);
    std::iter::from_fn(|| end.poll().map(|sent| sent.bytes.to_vec())).collect()
}

/// The messages of a handshake, and a rig in which it has taken place.
fn handshake() -> (Rig, [Flying; 2], [Flying; 2]) {
    let mut rig = Rig::gcc(&keyed(), 2500);
    rig.run_until(Time::from_millis(500));
    assert!(rig.is_running());
    let [caller, listener] =
        [CALLER, LISTENER].map(|end| [rig.seen[end][0].clone(), rig.seen[end][1].clone()]);
    (rig, caller, listener)
}

#[test]
fn forged_hellos_keep_no_state_and_get_no_larger_answer() {
    let (_, [hello, proved], _) = handshake();
    let listener = config(keyed(), None);
    let mut end = PeerEnd::listen(Time::ZERO, listener, Box::new(RepeatableRandom::new(3)));
    let mut random = RepeatableRandom::new(4);
    let mut early = 0;
    let mut answers = 0_u64;
    for number in 0..count() {
        if number == 1000 {
            early = format!("{end:?}").len();
        }
        let now = Time::from_nanos(number * 10_000);
        let base = if number % 2 == 0 { &hello } else { &proved };
        let mut bytes = base.bytes.clone();
        match number % 4 {
            // Right ones of many addresses; a cookie of another listener.
            0 | 1 => {}
            2 => random.fill(&mut bytes[6..22]),
            _ => random.fill(&mut bytes[22..90]),
        }
        let from = address(random.next_bits() as u8, random.next_bits() as u16);
        for answer in offer(&mut end, now, &Flying { from, ..base.clone() }, &bytes) {
            assert!(answer.len() < bytes.len() / 10, "{} bytes", answer.len());
            answers += 1;
        }
    }
    assert!(answers >= count() / 2, "{answers}");
    assert_eq!((end.phase(), end.peer()), (EndPhase::Waiting, None));
    // Only numbers have grown: counters, and the time of the cookie's key.
    let grown = format!("{end:?}").len() - early;
    assert!(grown < 60, "{grown} characters of state");
}

#[test]
fn short_hellos_get_no_answer() {
    let (_, [hello, _], _) = handshake();
    let mut end = PeerEnd::listen(Time::ZERO, config(keyed(), None), Box::new(RepeatableRandom::new(3)));
    for length in 0..HELLO_LENGTH {
        assert!(offer(&mut end, Time::ZERO, &hello, &hello.bytes[..length]).is_empty(), "{length} bytes");
    }
    let from_port_zero = Flying { from: address(1, 0), ..hello.clone() };
    assert!(offer(&mut end, Time::ZERO, &from_port_zero, &hello.bytes).is_empty(), "nobody receives there");
    assert_eq!(offer(&mut end, Time::ZERO, &hello, &hello.bytes).len(), 1);
}

#[test]
fn each_flipped_bit_of_each_message_of_a_handshake_is_refused() {
    let (_, [hello, proved], [retry, accept]) = handshake();
    // A listener that has made the cookie of `proved`.
    let listening = || {
        let mut end = PeerEnd::listen(Time::ZERO, config(keyed(), None), Box::new(RepeatableRandom::new(2)));
        // A cookie begins with its time.
        let at = Time::from_nanos(u64::from_be_bytes(retry.bytes[22..30].try_into().expect("8 bytes")));
        assert_eq!(offer(&mut end, at, &hello, &hello.bytes), std::slice::from_ref(&retry.bytes));
        end
    };
    let mut end = listening();
    for message in [&hello, &proved] {
        for bit in 0..8 * message.bytes.len() {
            let mut bytes = message.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let answers = offer(&mut end, Time::from_millis(80), message, &bytes);
            // A refusal without a tag, or none: neither a cookie nor consent.
            assert!(
                answers.iter().all(|answer| answer[5] == 4 && answer.len() < 40),
                "bit {bit}: {answers:?}"
            );
        }
    }
    let consent = offer(&mut end, Time::from_millis(80), &proved, &proved.bytes);
    assert!(consent.len() == 1 && consent[0][5] == 3, "the message itself is taken");

    let calling = || {
        let caller = config(keyed(), Some(plan("gcc", 1, [50, 300, 2500])));
        let mut end = PeerEnd::call(Time::ZERO, retry.from, caller, Box::new(RepeatableRandom::new(1)));
        end.on_timeout(Time::ZERO);
        assert_eq!(end.poll().map(|sent| sent.bytes.to_vec()), Some(hello.bytes.clone()));
        end
    };
    let mut end = calling();
    for message in [&retry, &accept] {
        for bit in 0..8 * message.bytes.len() {
            let mut bytes = message.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(offer(&mut end, Time::from_millis(50), message, &bytes).is_empty(), "bit {bit}");
            assert_eq!(end.phase(), EndPhase::Waiting, "bit {bit}");
        }
    }
    // A refusal of a listener that sends, too.
    let sends = config(keyed(), Some(plan("gcc", 1, [50, 300, 2500])));
    let mut other = PeerEnd::listen(Time::ZERO, sends, Box::new(RepeatableRandom::new(2)));
    let refusal = offer(&mut other, Time::from_millis(80), &proved, &proved.bytes).remove(0);
    assert_eq!(refusal[5], 4);
    for bit in 0..8 * refusal.len() {
        let mut bytes = refusal.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(offer(&mut end, Time::from_millis(50), &retry, &bytes).is_empty(), "bit {bit}");
    }
    let mut refused = calling();
    offer(&mut refused, Time::from_millis(50), &retry, &refusal);
    assert_eq!(refused.phase(), EndPhase::Ended, "the refusal itself is taken");
    assert!(end.next_wake() <= Time::from_millis(250), "it calls on");

    let answers = offer(&mut end, Time::from_millis(50), &retry, &retry.bytes);
    assert_eq!(answers, std::slice::from_ref(&proved.bytes));
    end.on_timeout(Time::from_millis(1100));
    while end.poll().is_some() {}
    assert_eq!(end.phase(), EndPhase::Waiting, "no changed refusal has cut the wait");
    offer(&mut end, Time::from_millis(1100), &accept, &accept.bytes);
    assert_eq!(end.phase(), EndPhase::Running);
}

/// The kind of a packet: of a message 100 and its kind, of RTP and RTCP the payload type.
fn kind(packet: &Flying) -> u8 {
    match packet.bytes[0] {
        b'W' => 100 + packet.bytes[5],
        _ => packet.bytes[1] & 0x7f,
    }
}

/// Checks that `end` refuses `packet` with each of its bits changed, silently.
fn refuses_each_flipped_bit(rig: &mut Rig, end: usize, packet: &Flying) {
    let refused = |rig: &Rig| rig.ends[end].dropped().forged + rig.ends[end].dropped().replayed;
    let (before, answers) = (refused(rig), rig.sent[end]);
    for bit in 0..8 * packet.bytes.len() {
        let mut bytes = packet.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        rig.inject(end, packet.from, &bytes);
    }
    let kind = kind(packet);
    assert_eq!(refused(rig) - before, 8 * packet.bytes.len() as u64, "kind {kind}");
    assert_eq!(rig.sent[end], answers, "kind {kind}");
    assert_eq!(rig.ends[end].phase(), EndPhase::Running, "kind {kind}");
}

#[test]
fn each_flipped_bit_of_each_packet_of_a_session_is_refused() {
    let mut constant = config(keyed(), Some(constant_plan(100)));
    let mut listener = config(keyed(), Some(plan("gcc", 1, [50, 300, 400])));
    (constant.receives, listener.receives, listener.ceilings.unresponsive) = (true, true, true);
    let mut rig = Rig::new(1000, constant, listener);
    rig.run_until(Time::from_millis(3000));
    // Challenges and their answers.
    rig.addresses[CALLER] = address(3, 33_333);
    rig.run_until(Time::from_millis(3500));
    assert!(rig.is_running());
    let mut kinds = std::collections::BTreeMap::new();
    for (end, sender) in [(LISTENER, CALLER), (CALLER, LISTENER)] {
        for packet in rig.seen[sender].iter().filter(|packet| !(101..=104).contains(&kind(packet))) {
            kinds.insert((kind(packet), end), packet.clone());
        }
    }
    for ((_, end), packet) in &kinds {
        refuses_each_flipped_bit(&mut rig, *end, packet);
    }
    // RTP, sender reports, receiver reports, transport-wide feedback, status, challenge, response, constant.
    let found: std::collections::BTreeSet<u8> = kinds.keys().map(|(kind, _)| *kind).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [72, 73, 77, 96, 105, 107, 108, 109]);

    // A goodbye, before it arrives.
    let now = rig.now;
    rig.ends[CALLER].interrupt(now);
    rig.inject(LISTENER, address(66, 6), b"nothing");
    let bye = rig.seen[CALLER].last().cloned().expect("packets");
    assert_eq!(kind(&bye), 106);
    refuses_each_flipped_bit(&mut rig, LISTENER, &bye);
    rig.inject(LISTENER, bye.from, &bye.bytes);
    assert_eq!(rig.ends[LISTENER].phase(), EndPhase::Farewell);
}

#[test]
fn a_hello_that_is_replayed_after_its_session_begins_none() {
    let (mut rig, [_, proved], _) = handshake();
    rig.ends[CALLER].interrupt(rig.now);
    rig.run_until(Time::from_millis(3000));
    assert_eq!(rig.ends[LISTENER].phase(), EndPhase::Ended);
    // The process listens again with the same cookie keys. Its consent goes to the caller's address, and nobody there answers.
    let random = SameCookies { first: Some(RepeatableRandom::new(2)), later: RepeatableRandom::new(99) };
    let mut again = PeerEnd::listen(Time::ZERO, config(keyed(), None), Box::new(random));
    let at = Time::from_millis(3000);
    let consent = offer(&mut again, at, &proved, &proved.bytes);
    assert!(consent.len() == 1 && consent[0][5] == 3, "the cookie is valid: {consent:?}");
    for packet in rig.first[CALLER].iter().chain(&rig.seen[CALLER]) {
        offer(&mut again, at, packet, &packet.bytes);
    }
    assert_eq!((again.phase(), again.peer()), (EndPhase::Waiting, None));
}

/// The first bytes that are drawn, a cookie's key, are those of a former process.
#[derive(Debug)]
struct SameCookies {
    first: Option<RepeatableRandom>,
    later: RepeatableRandom,
}

impl RandomBytes for SameCookies {
    fn fill(&mut self, bytes: &mut [u8]) {
        match self.first.take() {
            Some(mut first) => first.fill(bytes),
            None => self.later.fill(bytes),
        }
    }
}

#[test]
fn a_peer_of_another_version_gets_the_reason() {
    let (_, [hello, _], _) = handshake();
    let mut end = PeerEnd::listen(Time::ZERO, config(keyed(), None), Box::new(RepeatableRandom::new(3)));
    let mut newer = hello.bytes.clone();
    newer[4] = 2;
    let answers = offer(&mut end, Time::ZERO, &hello, &newer);
    assert_eq!(answers.len(), 1);

    let caller = config(keyed(), Some(plan("gcc", 1, [50, 300, 2500])));
    let mut end = PeerEnd::call(Time::ZERO, hello.to, caller, Box::new(RepeatableRandom::new(1)));
    end.on_timeout(Time::ZERO);
    // The answer of a peer whose only version is the second.
    let mut answer = answers[0].clone();
    answer[4] = 2;
    let from = Flying { from: hello.to, to: hello.from, ..hello.clone() };
    offer(&mut end, Time::from_millis(50), &from, &answer);
    assert_eq!(end.phase(), EndPhase::Waiting, "anybody on the path can have written it");
    end.on_timeout(Time::from_millis(1100));
    let text = end.outcome().expect("an end").text();
    assert!(text.contains("version 2 of the protocol, and this is version 1"), "{text}");
}
