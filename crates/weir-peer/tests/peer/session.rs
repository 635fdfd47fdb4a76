//! Sessions without an attacker.

use weir_cc::{DataRate, TimeDelta};
use weir_net::Time;
use weir_peer::end::{DroppedDatagrams, EndConfig, EndOutcome, EndPhase};
use weir_peer::keys::KeyRing;
use weir_peer::offer::ReceiveCeilings;

use crate::rig::{CALLER, LISTENER, Rig, config, constant_plan, key, keyed, plan};

const SECONDS: fn(u64) -> Time = |seconds| Time::from_millis(1000 * seconds);

#[test]
fn a_gcc_flow_fills_its_link_and_both_ends_report_it() {
    for keys in [KeyRing::open(), keyed()] {
        let mut caller = config(keys.clone(), Some(plan("gcc", 1, [50, 300, 2500])));
        caller.duration = Some(TimeDelta::from_secs(30));
        let mut rig = Rig::new(1000, caller, config(keys, None));
        rig.run_until(SECONDS(33));
        for end in &rig.ends {
            assert_eq!((end.phase(), end.outcome()), (EndPhase::Ended, Some(&EndOutcome::Done)));
        }
        let now = rig.now;
        let [sender, receiver] = rig.ends.each_mut().map(|end| end.results(now));
        let [sent, received] = [&sender.flows[0], &receiver.flows[0]];
        assert!(sent.sent_here && !received.sent_here);
        let rate = received.received_rate_bps.unwrap();
        assert!((750_000..1_000_000).contains(&rate), "{rate}");
        // The sender's figures of the receiver are the receiver's own.
        assert_eq!(sent.marked, received.marked);
        for (reported, own) in sent.delay_ms.unwrap().into_iter().zip(received.delay_ms.unwrap()) {
            assert!((reported - own).abs() < 0.002, "{reported} ms, {own} ms");
        }
        let ratio = sent.received_rate_bps.unwrap() as f64 / rate as f64;
        assert!((0.995..1.005).contains(&ratio), "{ratio}");
        // 50 ms of delay, and the queue, in which a packet takes 10 ms.
        for [p50, p95] in [sender.rtt_ms.unwrap(), receiver.rtt_ms.unwrap()] {
            assert!((51.0..95.0).contains(&p50) && p95 < 150.0, "{p50} {p95}");
        }
        assert_eq!(sender.dropped, receiver.dropped);
        assert_eq!(sender.dropped.forged, 0);
    }
}

#[test]
fn every_controller_runs_between_two_ends() {
    let names: Vec<String> =
        weir_registry::Registry::standard().controller_names().map(str::to_owned).collect();
    for name in names {
        let caller = config(keyed(), Some(plan(&name, 2, [50, 300, 1500])));
        let mut rig = Rig::new(2000, caller, config(keyed(), None));
        rig.run_until(SECONDS(12));
        assert!(rig.is_running(), "{name}");
        let reported = rig.ends[CALLER].reported();
        assert_eq!(reported.len(), 2, "{name}");
        for (_, figures) in reported {
            assert!(figures.bytes > 100_000, "{name}: {figures:?}");
        }
    }
}

#[test]
fn the_listener_may_send_and_both_may() {
    let sends = |count| config(keyed(), Some(plan("nada", count, [50, 300, 400])));
    let mut rig = Rig::new(1000, config(keyed(), None), sends(2));
    rig.run_until(SECONDS(5));
    assert!(rig.is_running());
    assert!(rig.ends[CALLER].received().iter().all(|(_, figures)| figures.bytes > 100_000));

    let [mut caller, mut listener] = [sends(1), sends(2)];
    (caller.receives, listener.receives) = (true, true);
    let mut rig = Rig::new(1000, caller, listener);
    rig.run_until(SECONDS(5));
    assert!(rig.is_running());
    let indices = [CALLER, LISTENER].map(|end| {
        let received = rig.ends[end].received();
        assert!(received.iter().all(|(_, figures)| figures.bytes > 50_000), "{received:?}");
        received.iter().map(|(flow, _)| *flow).collect::<Vec<_>>()
    });
    assert_eq!(indices, [vec![1, 2], vec![0]]);
    assert_eq!(rig.ends[CALLER].dropped(), DroppedDatagrams::default());
}

#[test]
fn ends_that_do_not_fit_end_with_a_sentence() {
    let outcome = |caller, listener| {
        let mut rig = Rig::new(1000, caller, listener);
        rig.run_until(SECONDS(8));
        assert_eq!(rig.ends[CALLER].phase(), EndPhase::Ended);
        rig.ends[CALLER].outcome().expect("an end").text()
    };
    let sends = |keys: KeyRing| config(keys, Some(plan("gcc", 1, [50, 300, 2500])));
    let other = KeyRing::new(key(8), None);
    let cases = [
        (outcome(sends(keyed()), config(other, None)), "the keys of the two ends differ"),
        (outcome(sends(keyed()), config(KeyRing::open(), None)), "the keys of the two ends differ"),
        (outcome(sends(keyed()), sends(keyed())), "the ends do not fit together"),
        (outcome(config(keyed(), None), config(keyed(), None)), "neither end sends"),
        (
            outcome(config(keyed(), Some(plan("gcc", 1, [200, 300, 2500]))), config(keyed(), None)),
            "weir recv --allow-unresponsive",
        ),
    ];
    for (text, expected) in cases {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_second_key_is_accepted_during_a_rotation() {
    let caller = config(keyed(), Some(plan("gcc", 1, [50, 300, 2500])));
    let mut rig = Rig::new(1000, caller, config(KeyRing::new(key(8), Some(key(7))), None));
    rig.run_until(SECONDS(2));
    assert!(rig.is_running());
}

#[test]
fn the_ceilings_of_the_receiver_hold() {
    let mut listener = config(keyed(), None);
    let (rate, duration) = (Some(DataRate::from_kbps(400)), Some(TimeDelta::from_secs(10)));
    listener.ceilings = ReceiveCeilings { rate, duration, unresponsive: false };
    let caller = config(keyed(), Some(plan("gcc", 2, [50, 300, 2500])));
    let mut rig = Rig::new(2000, caller, listener);
    rig.run_until(SECONDS(9));
    let rates = rig.ends[LISTENER].results(rig.now).flows;
    let rates: Vec<u64> = rates.iter().filter_map(|flow| flow.received_rate_bps).collect();
    // Headers count, and audio-less flows at their highest rate use nearly all of it.
    assert!((330_000..=400_000).contains(&rates.iter().sum::<u64>()), "{rates:?}");
    rig.run_until(SECONDS(12));
    assert!(rig.ends.iter().all(|end| end.outcome() == Some(&EndOutcome::Done)));
    let now = rig.now;
    let seconds = rig.ends[LISTENER].results(now).seconds;
    assert!((9.9..10.2).contains(&seconds), "{seconds}");
}

#[test]
fn a_caller_without_an_answer_gives_up() {
    let caller = config(keyed(), Some(plan("gcc", 1, [50, 300, 2500])));
    let mut rig = Rig::new(1000, caller, config(keyed(), None));
    rig.addresses[LISTENER] = crate::rig::address(9, 9);
    rig.run_until(SECONDS(6));
    assert_eq!(rig.ends[CALLER].outcome(), Some(&EndOutcome::NoAnswer(None)));
    // 0, 250 and 750 ms, 1.75, 2.75, 3.75 and 4.75 s.
    assert_eq!(rig.sent[CALLER], 7);
}

#[test]
fn the_ceilings_of_a_receiver_that_began_anew_hold() {
    let mut rig = Rig::gcc(&keyed(), 700);
    rig.run_until(SECONDS(10));
    rig.asleep[LISTENER] = SECONDS(12);
    rig.run_until(Time::from_millis(11_999));
    let mut listener = config(keyed(), None);
    listener.ceilings.rate = Some(DataRate::from_kbps(200));
    rig.restart_listener(listener, 88);
    rig.run_until(SECONDS(15));
    let before = rig.received();
    rig.run_until(SECONDS(25));
    let rate = (rig.received() - before) * 8 / 10;
    assert!((150_000..=200_000).contains(&rate), "{rate} bit/s");
    assert!(rig.is_running());
}

#[test]
fn a_session_ends_where_a_peer_begins_anew_with_other_flows() {
    let sends = |count| {
        let both = config(keyed(), Some(plan("nada", count, [50, 100, 150])));
        EndConfig { receives: true, ..both }
    };
    let mut rig = Rig::new(1000, sends(1), sends(1));
    rig.run_until(SECONDS(5));
    rig.restart_listener(sends(2), 88);
    rig.run_until(SECONDS(9));
    let text = rig.ends[CALLER].outcome().expect("an end").text();
    assert!(text.contains("began anew with other flows"), "{text}");
}

#[test]
fn a_receiver_that_was_suspended_finds_no_rate_above_its_ceiling() {
    let mut listener = config(keyed(), None);
    (listener.ceilings.rate, listener.ceilings.unresponsive) = (Some(DataRate::from_kbps(700)), true);
    let mut rig = Rig::new(1000, config(keyed(), Some(constant_plan(700))), listener);
    rig.run_until(SECONDS(10));
    // At once it reads all of 3 s at this rate, and 3 s at the halved rates.
    rig.asleep[LISTENER] = Time::from_millis(14_600);
    rig.run_until(SECONDS(20));
    assert!(rig.is_running(), "{:?}", rig.ends[LISTENER].outcome());
}
