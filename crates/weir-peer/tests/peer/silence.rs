//! Receivers that send no reports, or reports that prove nothing.

use weir_net::Time;
use weir_peer::end::EndOutcome;
use weir_peer::handshake::{HelloListener, HelloOutcome};
use weir_peer::keys::KeyRing;
use weir_peer::offer::{ReceiveCeilings, SessionTerms};
use weir_peer::protection::PacketSealer;
use weir_peer::random::{RandomBytes as _, RepeatableRandom};
use weir_units::TimeDelta;

use crate::forgery::{newest_status, read_keys, status_message};
use crate::rig::{CALLER, LISTENER, Rig, config, constant_plan, keyed};

const SECONDS: fn(u64) -> Time = |seconds| Time::from_millis(1000 * seconds);
const CEILINGS: ReceiveCeilings = ReceiveCeilings { rate: None, duration: None, unresponsive: true };

/// Five seconds of a flow of 400 kbit/s, in 100 packets a second, that nothing controls. Then the receiver is silent.
fn silenced(keys: &KeyRing) -> Rig {
    let mut listener = config(keys.clone(), None);
    listener.ceilings = CEILINGS;
    let mut rig = Rig::new(1000, config(keys.clone(), Some(constant_plan(400))), listener);
    rig.run_until(SECONDS(5));
    rig.asleep[LISTENER] = Time::MAX;
    rig
}

/// Packets of the flow in each half second from the fifth second to the eleventh.
fn rates(rig: &mut Rig, mut attack: impl FnMut(&mut Rig)) -> Vec<u64> {
    let mut sent = vec![rig.ends[CALLER].sent()[0].packets];
    for half_seconds in 11..=22 {
        rig.run(SECONDS(0) + TimeDelta::from_millis(500) * half_seconds, &mut attack);
        sent.push(rig.ends[CALLER].sent()[0].packets);
    }
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Halved 1.5, 3 and 4.5 s after the last report, and no packet after 5 s.
fn assert_stopped(rig: &Rig, rates: &[u64]) {
    assert!((49..=51).contains(&rates[1]) && (24..=26).contains(&rates[4]), "{rates:?}");
    assert!((12..=13).contains(&rates[7]) && rates[10] == 0, "{rates:?}");
    assert_eq!(rig.ends[CALLER].outcome(), Some(&EndOutcome::Silent));
}

#[test]
fn a_constant_flow_is_thinned_while_reports_are_missing() {
    let mut rig = silenced(&keyed());
    let rates = rates(&mut rig, |_| {});
    assert_stopped(&rig, &rates);
}

#[test]
fn a_listener_that_only_answers_hellos_gets_no_packets() {
    let mut rig = silenced(&keyed());
    let mut random = RepeatableRandom::new(3);
    let mut hellos = HelloListener::new(rig.now, keyed(), &mut random);
    let terms = SessionTerms { receives: true, ceilings: CEILINGS, ..SessionTerms::default() };
    let (mut seen, mut out, mut calls, mut consents) = (rig.now, Vec::new(), 0, 0);
    let rates = rates(&mut rig, |rig| {
        let new: Vec<_> = rig.seen[CALLER].iter().filter(|packet| packet.at > seen).cloned().collect();
        seen = rig.now;
        for hello in new.iter().filter(|packet| packet.bytes.starts_with(b"Weir\x01\x01")) {
            calls += 1;
            let outcome = hellos.on_datagram(rig.now, hello.from, &hello.bytes, &mut out, &mut random);
            if let HelloOutcome::Proved(hello) = outcome {
                let own = random.nonce();
                let mut sealer = PacketSealer::new(hello.session_keys(&own).listener);
                hello.accept(&own, &terms, &mut sealer, &mut out);
                consents += 1;
            }
            rig.inject(CALLER, hello.to, &out);
        }
    });
    assert_stopped(&rig, &rates);
    assert!(consents >= 3 && calls <= 8, "{consents} consents to {calls} hellos");
}

#[test]
fn valid_packets_that_prove_no_reception_are_no_reports() {
    let mut rig = silenced(&KeyRing::open());
    let mut sealer = PacketSealer::starting_at(read_keys(&rig).listener, 100_000);
    let mut number = 1000;
    // No echo, one of a status that is yet to be sent, an old one.
    let attack = |rig: &mut Rig| {
        if !rig.now.nanos().is_multiple_of(20_000_000) {
            return;
        }
        number += 1;
        let packet = match number % 6 {
            0 => status_message([number, u32::MAX], &[]),
            1 => status_message([number, newest_status(rig, CALLER) + 1], &[]),
            // The first one is more than five seconds old.
            2 if number > 1030 => status_message([number, 0], &[]),
            3 => b"Weir\x01\x07challenge".to_vec(),
            4 => b"Weir\x01\x63".to_vec(),
            _ => vec![0x80, 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        };
        let mut packet = packet;
        sealer.seal(&mut packet);
        let from = rig.addresses[LISTENER];
        rig.inject(CALLER, from, &packet);
    };
    let before = rig.ends[CALLER].dropped().forged;
    let rates = rates(&mut rig, attack);
    assert_stopped(&rig, &rates);
    assert_eq!(rig.ends[CALLER].dropped().forged, before, "the tags are right");
}

#[test]
fn counters_of_a_receiver_that_lies_are_figures() {
    let mut rig = silenced(&KeyRing::open());
    let mut sealer = PacketSealer::starting_at(read_keys(&rig).listener, 100_000);
    let mut status = status_message([1000, newest_status(&rig, CALLER)], &[[u64::MAX; 5]; 2]);
    sealer.seal(&mut status);
    let from = rig.addresses[LISTENER];
    rig.inject(CALLER, from, &status);
    let results = rig.ends[CALLER].results(rig.now);
    assert_eq!(results.flows.len(), 1);
    let flow = &results.flows[0];
    assert_eq!((flow.loss_ratio, flow.marked), (Some(0.0), Some(u64::MAX)), "{flow:?}");
}

#[test]
fn a_constant_packet_is_none_of_a_media_flow() {
    let mut rig = Rig::gcc(&KeyRing::open(), 700);
    rig.run_until(SECONDS(5));
    let mut sealer = PacketSealer::starting_at(read_keys(&rig).caller, 100_000);
    let mut packet = b"Weir\x01\x09\x00\x00\x07\x00\x00\x00\x00".to_vec();
    sealer.seal(&mut packet);
    let before = rig.received();
    let from = rig.addresses[CALLER];
    rig.inject(LISTENER, from, &packet);
    assert_eq!((rig.received(), rig.ends[LISTENER].dropped().unreadable), (before, 1));
}
