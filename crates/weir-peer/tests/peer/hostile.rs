//! A hostile network: no attack lets a sender exceed the rate that it has without.

use weir_cc::TimeDelta;
use weir_net::Time;
use weir_peer::end::EndOutcome;
use weir_peer::keys::KeyRing;
use weir_peer::protection::{PacketKey, PacketSealer};
use weir_peer::random::{RandomBytes as _, RepeatableRandom};

use weir_wire::media::{ExtensionIds, MediaHeader};
use weir_wire::rtcp::{Twcc, TwccHeader};

use crate::forgery::{newest_status, read_keys, status_message};
use crate::rig::{CALLER, LISTENER, Rig, address, config, keyed, plan, worst_ratio};

const SECONDS: fn(u64) -> Time = |seconds| Time::from_millis(1000 * seconds);
/// Begin and end of an attack.
const ATTACK: [Time; 2] = [Time::from_millis(10_000), Time::from_millis(20_000)];
const END: Time = Time::from_millis(30_000);
/// Most that a target may be above the one of the undisturbed run at the same moment.
const MOST: f64 = 1.02;

/// Runs with `attack` each millisecond between [`ATTACK`], beside an undisturbed run.
fn beside(keys: &KeyRing, max: u64, mut attack: impl FnMut(&mut Rig)) -> Rig {
    let mut undisturbed = Rig::gcc(keys, max);
    undisturbed.run_until(END);
    let mut rig = Rig::gcc(keys, max);
    rig.run(END, |rig| {
        if (ATTACK[0]..ATTACK[1]).contains(&rig.now) {
            attack(rig);
        }
    });
    let worst = worst_ratio(&undisturbed.targets, &rig.targets);
    assert!(worst <= MOST, "{worst}");
    rig
}

/// Bytes received within a second after `from`.
fn received_after(rig: &mut Rig, from: Time) -> u64 {
    rig.run_until(from);
    let before = rig.received();
    rig.run_until(from + TimeDelta::from_secs(1));
    rig.received() - before
}

#[test]
fn forged_truncated_and_foreign_packets_change_no_target() {
    for keys in [KeyRing::open(), keyed()] {
        let mut random = RepeatableRandom::new(5);
        let mut forger = PacketSealer::new(PacketKey::new(&[0; 32]));
        let rig = beside(&keys, 2500, |rig| {
            for (end, other) in [(CALLER, LISTENER), (LISTENER, CALLER)] {
                let from = rig.addresses[other];
                let Some(real) = rig.seen[other].last().cloned() else { continue };
                // A packet with another content, another counter, or another end.
                let mut forged = real.bytes.clone();
                let place = random.next_bits() as usize % forged.len();
                forged[place] ^= 1 << (random.next_bits() % 8);
                rig.inject(end, from, &forged);
                let mut future = real.bytes.clone();
                let counter = future.len() - 11;
                future[counter] = future[counter].wrapping_add(100);
                rig.inject(end, from, &future);
                rig.inject(end, from, &real.bytes[..random.next_bits() as usize % real.bytes.len()]);
                // The tag of another key, behind a real report.
                let mut other_key = real.bytes[..real.bytes.len() - 18].to_vec();
                forger.seal(&mut other_key);
                rig.inject(end, from, &other_key);
                // Another address.
                rig.inject(end, address(66, 666), &forged);
            }
        });
        assert!(rig.is_running());
        for end in &rig.ends {
            let dropped = end.dropped();
            let refused = dropped.forged + dropped.replayed + dropped.foreign;
            assert!(refused >= 49_000 && dropped.unreadable == 0, "{dropped:?}");
        }
    }
}

#[test]
fn replayed_packets_of_this_session_and_of_another_change_no_target() {
    for keys in [KeyRing::open(), keyed()] {
        // Another session of the same ends, with other nonces.
        let mut former = Rig::new(
            1000,
            config(keys.clone(), Some(plan("gcc", 1, [50, 300, 2500]))),
            config(keys.clone(), None),
        );
        former.restart_listener(config(keys.clone(), None), 77);
        former.run_until(SECONDS(5));
        let mut turn = 0;
        let rig = beside(&keys, 2500, |rig| {
            turn += 1;
            for (end, sender) in [(CALLER, LISTENER), (LISTENER, CALLER)] {
                let from = rig.addresses[sender];
                // Of each age, among them the newest that has arrived for certain.
                for turn in [turn, 3 * turn + 1, usize::MAX - turn] {
                    let old = rig.old_packet(sender, turn).expect("packets of seconds");
                    rig.inject(end, from, &old.bytes);
                }
                let others = &former.seen[sender];
                rig.inject(end, from, &others[turn % others.len()].bytes);
            }
        });
        assert!(rig.is_running());
        for end in &rig.ends {
            let dropped = end.dropped();
            // Packets of the other session are replays where their counters came, and else have a wrong tag.
            assert!(dropped.replayed >= 30_000 && dropped.forged + dropped.replayed >= 39_900, "{dropped:?}");
        }
    }
}

#[test]
fn garbage_at_line_rate_changes_no_target() {
    // 10 Mbit/s of garbage of all sizes, some of which begins as packets do.
    let mut random = RepeatableRandom::new(9);
    let rig = beside(&keyed(), 2500, |rig| {
        for end in [CALLER, LISTENER] {
            let mut left = 1250_usize;
            while left > 0 {
                let mut bytes = vec![0; (random.next_bits() as usize % 1153).min(left)];
                random.fill(&mut bytes);
                let beginnings: [&[u8]; 4] = [b"Weir\x01\x01", b"Weir\x01\x05", &[0x80, 96], &[0x8f, 205]];
                let beginning = beginnings[random.next_bits() as usize % 4];
                if random.next_bits().is_multiple_of(2) && bytes.len() > beginning.len() {
                    bytes[..beginning.len()].copy_from_slice(beginning);
                }
                left = left.saturating_sub(bytes.len() + 28);
                let from = if random.next_bits().is_multiple_of(2) {
                    rig.addresses[1 - end]
                } else {
                    address(66, 6)
                };
                rig.inject(end, from, &bytes);
            }
        }
    });
    assert!(rig.is_running());
    assert_eq!(rig.ends.each_ref().map(|end| end.dropped().unreadable), [0; 2]);
}

#[test]
fn a_receiver_that_begins_anew_gets_the_flow_again_within_a_second() {
    let (mut undisturbed, mut rig) = (Rig::gcc(&keyed(), 700), Rig::gcc(&keyed(), 700));
    undisturbed.run_until(END);
    rig.run_until(ATTACK[0]);
    // The receiver is away for 3 s.
    rig.asleep[LISTENER] = SECONDS(13);
    rig.run_until(Time::from_millis(12_999));
    let lowered = rig.ends[CALLER].sent()[0].target;
    rig.restart_listener(config(keyed(), None), 88);
    rig.run_until(SECONDS(14));
    assert!(rig.is_running());
    let received = received_after(&mut rig, SECONDS(14));
    assert!(received > 20_000, "{received} bytes within a second");
    rig.run_until(END);
    assert!(lowered.bps() <= 700_000 / 2, "nearly three seconds without reports: {lowered}");
    let worst = worst_ratio(&undisturbed.targets, &rig.targets);
    assert!(worst <= MOST, "{worst}");
    let last = [&undisturbed, &rig].map(|rig| rig.targets.last().copied().unwrap_or_default());
    assert_eq!(last[0], last[1], "it is back at its highest rate");
}

#[test]
fn a_sender_without_reports_stops_after_five_seconds() {
    let mut rig = Rig::gcc(&keyed(), 700);
    rig.run_until(ATTACK[0]);
    rig.asleep[LISTENER] = Time::MAX;
    let sent = rig.sent[CALLER];
    rig.run_until(SECONDS(16));
    assert_eq!(rig.ends[CALLER].outcome(), Some(&EndOutcome::Silent));
    let (after_stop, before) = (rig.sent[CALLER], sent);
    assert!(after_stop > before);
    rig.run_until(SECONDS(30));
    assert_eq!(rig.sent[CALLER], after_stop, "nothing leaves any more");
}

#[test]
fn a_sender_that_was_suspended_goes_on() {
    let (mut undisturbed, mut rig) = (Rig::gcc(&keyed(), 700), Rig::gcc(&keyed(), 700));
    undisturbed.run_until(END);
    rig.run_until(ATTACK[0]);
    rig.asleep[CALLER] = SECONDS(15);
    let received = received_after(&mut rig, SECONDS(15));
    assert!(received > 20_000, "{received} bytes within a second");
    rig.run_until(END);
    assert!(rig.is_running());
    let worst = worst_ratio(&undisturbed.targets, &rig.targets);
    assert!(worst <= MOST, "{worst}");
}

#[test]
fn a_session_follows_to_another_address_with_a_key_and_ends_without() {
    for moved in [CALLER, LISTENER] {
        let mut undisturbed = Rig::gcc(&keyed(), 700);
        undisturbed.run_until(END);
        for keys in [KeyRing::open(), keyed()] {
            let mut rig = Rig::gcc(&keys, 700);
            rig.run_until(ATTACK[0]);
            rig.addresses[moved] = address(3, 33_333);
            rig.run_until(SECONDS(11));
            let received = received_after(&mut rig, SECONDS(11));
            rig.run_until(END);
            let worst = worst_ratio(&undisturbed.targets, &rig.targets);
            assert!(worst <= MOST, "{worst}");
            if keys.is_open() {
                assert_eq!(rig.ends[CALLER].outcome(), Some(&EndOutcome::Silent), "end {moved}");
                continue;
            }
            assert!(rig.is_running(), "end {moved}");
            assert!(received > 20_000, "end {moved}: {received} bytes within a second");
            assert_eq!(rig.ends[1 - moved].peer(), Some(rig.addresses[moved]));
        }
    }
}

#[test]
fn a_copied_packet_from_another_address_leads_no_media_there() {
    let mut rig = Rig::gcc(&keyed(), 2500);
    rig.run_until(SECONDS(5));
    let victim = address(66, 53);
    // The attacker reads the path and is faster than it: the copies come first, with counters that are the newest.
    let sent_before = rig.seen[CALLER].len();
    let mut copied = 0;
    rig.run(SECONDS(10), |rig| {
        let Some(newest) = rig.seen[LISTENER].last().cloned() else { return };
        if rig.now.nanos() % 20_000_000 == 0 {
            rig.inject(CALLER, victim, &newest.bytes);
            copied += 1;
        }
    });
    assert!(copied > 200 && sent_before > 0);
    let to_victim: Vec<usize> = rig.seen[CALLER]
        .iter()
        .filter(|packet| packet.to == victim)
        .map(|packet| packet.bytes.len())
        .collect();
    // A challenge each 200 ms, smaller than a report.
    assert!(to_victim.len() <= 26 && to_victim.iter().all(|&length| length == 32), "{to_victim:?}");
    assert_eq!(rig.ends[CALLER].peer(), Some(rig.addresses[LISTENER]));
}

#[test]
fn steps_of_the_wall_clock_change_no_target() {
    let run = |steps: &[(u64, i64)]| {
        let mut rig = Rig::gcc(&keyed(), 2500);
        rig.stamp_packets();
        let mut left = steps.iter();
        let mut next = left.next();
        rig.run(END, |rig| {
            if let Some((_, by)) = next.filter(|(at, _)| rig.now >= Time::from_millis(*at)) {
                rig.step_walls(TimeDelta::from_millis(*by));
                next = left.next();
            }
        });
        assert!(rig.is_running() && next.is_none());
        rig
    };
    let mut undisturbed = run(&[]);
    let mut rig =
        run(&[(10_000, 2_000), (12_000, -4_000), (14_000, 3_600_000), (16_000, -7_200_000), (18_000, 40)]);
    let worst = worst_ratio(&undisturbed.targets, &rig.targets);
    assert!(worst <= MOST, "{worst}");
    let [most, least] = [undisturbed.received(), rig.received()];
    assert!(least as f64 > 0.98 * most as f64, "{least} of {most} bytes");
}

/// An attacker on the path of a session without a key, who computes its keys from both nonces and forges feedback.
#[derive(Default)]
struct FeedbackForger {
    sealer: Option<PacketSealer>,
    forged: u32,
}

impl FeedbackForger {
    /// Reports the next hundred packets as arrived, each 50 ms.
    fn report_the_future(&mut self, rig: &mut Rig) {
        if !rig.now.nanos().is_multiple_of(50_000_000) {
            return;
        }
        let sealer =
            self.sealer.get_or_insert_with(|| PacketSealer::starting_at(read_keys(rig).listener, 100_000));
        let media = rig.seen[CALLER].iter().rev().find_map(|packet| {
            let plain = &packet.bytes[..packet.bytes.len() - 18];
            MediaHeader::parse(plain, &ExtensionIds::default()).ok().filter(|_| packet.bytes[1] & 0x7f == 96)
        });
        let base_sequence = media.expect("media").transport_sequence.wrapping_add(2);
        let header = TwccHeader { ssrc: 2, source: 1, base_sequence, number: self.forged as u8 };
        let mut bytes = vec![0; 600];
        let arrivals = (0..100).map(|n| Some(i64::from(n) * 250_000));
        let written = Twcc::write(&header, arrivals, &mut bytes).expect("room");
        bytes.truncate(written.length);
        // Its counters make replays of the receiver's own packets, so that it has to forge their status as well.
        let status = status_message([1000 + self.forged, newest_status(rig, CALLER)], &[]);
        let before = rig.ends[CALLER].dropped();
        for mut packet in [bytes, status] {
            sealer.seal(&mut packet);
            let from = rig.addresses[LISTENER];
            rig.inject(CALLER, from, &packet);
        }
        assert_eq!(rig.ends[CALLER].dropped(), before, "the tags are right");
        self.forged += 1;
    }
}

#[test]
fn feedback_on_packets_that_are_yet_to_be_sent_raises_no_target() {
    let mut forger = FeedbackForger::default();
    let rig = beside(&KeyRing::open(), 700, |rig| forger.report_the_future(rig));
    assert!(rig.is_running() && forger.forged >= 199, "{}", forger.forged);

    // On a full link such reports hold the rate, then lower it: the means of the attack count, as the cycles differ.
    let mean = |attacked: bool| {
        let (mut rig, mut forger) = (Rig::gcc(&KeyRing::open(), 2500), FeedbackForger::default());
        rig.run_until(ATTACK[0]);
        rig.run(ATTACK[1], |rig| {
            if attacked {
                forger.report_the_future(rig);
            }
        });
        let during = &rig.targets[rig.targets.len() / 2..];
        during.iter().map(|target| target.bps_f64()).sum::<f64>() / during.len() as f64
    };
    let ratio = mean(true) / mean(false);
    assert!(ratio <= MOST, "{ratio}");
}
