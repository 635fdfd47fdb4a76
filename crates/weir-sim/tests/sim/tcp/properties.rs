//! Properties of the TCP endpoints in any network.

use std::sync::{Arc, Mutex};

use super::rig::Rig;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_cc::window::{
    Cubic, Dctcp, HighSpeed, HyStart, HyStartConfig, NewReno, Rules, Westwood, WestwoodEstimator,
    WindowAlgorithm,
};
use weir_cc::{ArrivalTime, SendTime};
use weir_sim::tcp::{TcpReceiver, TcpSender};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, EcnMode, SackBlock, Segment, TcpConfig, Timestamps};

fn config() -> impl Strategy<Value = TcpConfig> {
    let ecn = prop_oneof![Just(EcnMode::Off), Just(EcnMode::Classic), Just(EcnMode::Accurate)];
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..20);
    let by_time =
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), proptest::option::of(1u32..60));
    (
        any::<bool>(),
        any::<bool>(),
        1u32..20,
        1u32..4,
        prop_oneof![4u32..30, Just(1 << 20)],
        ecn,
        (switches, by_time),
    )
        .prop_map(
            |(
                sack,
                limited_transmit,
                initial_window,
                ack_every,
                receive_window,
                ecn,
                (switches, by_time),
            )| {
                TcpConfig {
                    ecn,
                    prr: switches.0,
                    pacing: switches.1,
                    ns3_recovery: switches.2,
                    linux_deviation: switches.2,
                    quick_acks: switches.3,
                    quick_acks_again: switches.3,
                    offload: by_time.0 && switches.2,
                    compress_sacks: by_time.3,
                    rack: by_time.0,
                    tlp: by_time.1,
                    undo: by_time.2,
                    dsack: by_time.3,
                    initial_receive_window: by_time.4,
                    sack,
                    limited_transmit,
                    initial_window,
                    ack_every,
                    receive_window,
                    ..TcpConfig::default()
                }
            },
        )
}

/// Factory of a window algorithm.
fn algorithm() -> impl Strategy<Value = fn() -> Box<dyn WindowAlgorithm>> {
    let algorithms: [fn() -> Box<dyn WindowAlgorithm>; 10] = [
        || Box::new(NewReno::new()),
        || Box::new(NewReno::with_rules(Rules::ns3_26())),
        || Box::new(Cubic::new()),
        || Box::new(Cubic::with_rules(Rules::linux(), Some(HyStart::new(HyStartConfig::linux())))),
        || Box::new(Cubic::linux_3_16(Some(HyStart::new(HyStartConfig::linux_3_16())))),
        || Box::new(Cubic::linux_6(Some(HyStart::new(HyStartConfig::linux())))),
        || Box::new(HighSpeed::new()),
        || Box::new(Westwood::with_rules(WestwoodEstimator::Ns3AckSpacing, Rules::default())),
        || Box::new(Westwood::with_rules(WestwoodEstimator::Ns3PerAck, Rules::default())),
        || Box::new(Dctcp::new()),
    ];
    prop::sample::select(algorithms.to_vec())
}

/// Choice of the marked segments.
fn mark() -> impl Strategy<Value = fn(&Segment) -> bool> {
    let marks: [fn(&Segment) -> bool; 4] =
        [|_| false, |segment| segment.number % 17 == 5, |segment| segment.number % 40 < 20, |_| true];
    prop::sample::select(marks.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn everything_is_delivered_exactly_once_whatever_is_lost(
        config in config(),
        algorithm in algorithm(),
        mark in mark(),
        bytes in 0u64..400_000,
        data_loss in 0.0f64..0.3,
        ack_loss in 0.0f64..0.3,
        seed in any::<u64>(),
    ) {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let lose = move |_, segment: Option<&Segment>| {
            random.random_bool(if segment.is_some() { data_loss } else { ack_loss })
        };
        let mut rig = Rig::under(config, algorithm(), Some(bytes), lose);
        rig.mark = mark;
        rig.run(SendTime::MAX);
        prop_assert!(rig.sender.finished_at().is_some());
        prop_assert_eq!(rig.receiver.delivered(), DataSize::from_bytes(bytes));
        let stats = rig.sender.stats();
        prop_assert_eq!(stats.segments - stats.retransmissions, bytes.div_ceil(1448));
        prop_assert_eq!((rig.sender.pipe(), rig.sender.next_timeout()), (0, None));
    }
}

/// Departures of the segments: time, number, and whether it is a retransmission.
type SentSegments = Vec<(SendTime, u32, bool)>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn a_connection_in_the_place_of_another_takes_the_same_course_as_a_new_one(
        config in config(),
        broken_off_at in 0i64..2000,
        bytes in 0u64..400_000,
        one_lost in 5u32..40,
    ) {
        let seen: Arc<Mutex<SentSegments>> = Arc::default();
        // Westwood+ keeps the most state of a connection.
        let rig = |size: u64| {
            let (seen, mut count) = (Arc::clone(&seen), 0);
            // Losses depend on the segments sent in this connection.
            Rig::new(config, Westwood::new(), Some(size), move |now, segment: Option<&Segment>| {
                if let Some(segment) = segment {
                    count = if segment.syn { 0 } else { count + 1 };
                    seen.lock().unwrap().push((now, segment.number, segment.retransmission));
                }
                segment.is_some() && count % one_lost == one_lost - 1
            })
        };
        let course = |rig: &mut Rig<_>| {
            rig.run(SendTime::MAX);
            std::mem::take(&mut *seen.lock().unwrap())
        };
        let mut used = rig(1_000_000);
        used.run(SendTime::from_millis(broken_off_at));
        seen.lock().unwrap().clear();
        used.restart(Some(bytes));
        let again = course(&mut used);
        let new = course(&mut rig(bytes));
        prop_assert_eq!(again, new);
    }
}

/// Inputs of an ill-behaved network or peer to a sender.
#[derive(Clone, Debug)]
enum Step {
    /// An acknowledgement with these values relative to those sent, and a timestamp of this age.
    Ack { cumulative: u32, sacks: [(u32, u32); 3], syn: bool, ece: bool, marked: u16, age_ms: i64 },
    /// Milliseconds that pass.
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let block = (0u32..300, 0u32..300);
    prop_oneof![
        4 => (
            0u32..200,
            [block.clone(), block.clone(), block],
            prop::bool::weighted(0.1),
            any::<bool>(),
            any::<u16>(),
            prop_oneof![Just(3), -50i64..1000],
        )
            .prop_map(|(cumulative, sacks, syn, ece, marked, age_ms)| {
                Step::Ack { cumulative, sacks, syn, ece, marked, age_ms }
            }),
        1 => (0i64..2000).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn sender_answers_any_acknowledgement_with_segments_in_order(
        config in config(),
        algorithm in algorithm(),
        size in proptest::option::of(0u64..60_000),
        steps in proptest::collection::vec(step(), 1..120),
    ) {
        let mut sender = TcpSender::new(config, algorithm(), size.map(DataSize::from_bytes));
        let mut now = SendTime::from_millis(5);
        sender.start(SendTime::ZERO);
        let (mut new, mut acknowledged) = (0, 0);
        for step in steps {
            match step {
                Step::Ack { cumulative, sacks, syn, ece, marked, age_ms } => {
                    let sacks = sacks.map(|(start, length)| SackBlock {
                        start: acknowledged + start,
                        end: acknowledged + start + length,
                    });
                    let cumulative = acknowledged + cumulative;
                    let stamps = Timestamps::new(now - TimeDelta::from_millis(age_ms), ArrivalTime::ZERO);
                    let ack = Acknowledgement { cumulative, syn, sacks, stamps, ece, marked };
                    sender.on_ack(now, &ack);
                    // An acknowledgement of data that was never sent is ignored (RFC 9293 §3.10.7.4).
                    if !syn && cumulative <= new {
                        acknowledged = cumulative.max(acknowledged);
                    }
                }
                Step::Wait(ms) => {
                    now += TimeDelta::from_millis(ms);
                    sender.on_timeout(now);
                    prop_assert!(sender.next_timeout().is_none_or(|timeout| timeout > now));
                }
            }
            for _ in 0..2000 {
                let Some(segment) = sender.poll_segment(now) else { break };
                if segment.retransmission {
                    prop_assert!(segment.syn || (acknowledged..new).contains(&segment.number));
                } else if !segment.syn {
                    prop_assert_eq!(segment.number, new);
                    new += 1;
                }
            }
            prop_assert!(sender.poll_segment(now).is_none(), "polling does not end");
            prop_assert!(sender.window().cwnd >= 1.0);
        }
    }

    #[test]
    fn receiver_takes_any_segment(
        numbers in proptest::collection::vec(prop_oneof![0u32..100, any::<u32>()], 1..100),
    ) {
        let mut sender = TcpSender::new(TcpConfig::default(), Box::new(NewReno::new()), None);
        sender.start(SendTime::ZERO);
        let syn = sender.poll_segment(SendTime::ZERO).expect("a SYN is due");
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        for (ms, number) in numbers.into_iter().enumerate() {
            let now = ArrivalTime::from_millis(ms as i64);
            receiver.on_segment(now, &Segment { number, syn: false, payload: 1448, ..syn });
            if let Some(ack) = receiver.poll_ack(now) {
                prop_assert_eq!(receiver.delivered(), DataSize::from_bytes(u64::from(ack.cumulative) * 1448));
            }
        }
    }
}
