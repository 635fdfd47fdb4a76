//! TCP behind a queue that marks instead of dropping.

use super::rig::Rig;
use crate::common::{flow, spec};
use weir_cc::SendTime;
use weir_cc::window::{Dctcp, NewReno, WindowAlgorithm};
use weir_net::Time;
use weir_sim::Simulation;
use weir_sim::tcp::TcpStats;
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{EcnMode, Segment, TcpConfig};
use weir_world::{Loss, Monitor, PacketMeta, Traffic};

fn with_ecn(ecn: EcnMode) -> TcpConfig {
    TcpConfig { ecn, ..TcpConfig::default() }
}

/// The window and the counts after `ms` of a connection (round-trip time 100 ms). `mark` chooses the marked segments,
/// and none is lost.
fn marked(ecn: EcnMode, ms: i64, mark: fn(&Segment) -> bool) -> (f64, TcpStats) {
    let mut rig = Rig::new(with_ecn(ecn), NewReno::new(), None, |_, _| false);
    rig.mark = mark;
    rig.run(SendTime::from_millis(ms));
    assert!(rig.receiver.delivered() > DataSize::ZERO);
    (rig.sender.window().cwnd, rig.sender.stats())
}

#[test]
fn marks_of_one_window_reduce_it_once_and_nothing_is_sent_again() {
    // At 200 ms segments 10..30 leave; their acknowledgements reduce a window that has grown from 20 on.
    for ecn in [EcnMode::Classic, EcnMode::Accurate] {
        let (window, stats) = marked(ecn, 305, |segment| (12..24).contains(&segment.number));
        assert_eq!((stats.ecn_reductions, stats.fast_recoveries, stats.retransmissions), (1, 0, 0));
        assert!((10.0..=11.0).contains(&window), "{ecn:?}: {window}");
    }
}

#[test]
fn marks_round_after_round_reduce_the_window_once_per_round_trip() {
    // All segments are marked: data at 100 ms is acknowledged at 200 ms, and then once per round trip.
    let (window, stats) = marked(EcnMode::Classic, 1050, |_| true);
    assert!((5..=9).contains(&stats.ecn_reductions), "{}", stats.ecn_reductions);
    assert_eq!(window, 2.0);
}

#[test]
fn marks_mean_nothing_to_endpoints_without_ecn() {
    let (_, stats) = marked(EcnMode::Off, 1050, |_| true);
    assert_eq!(stats.ecn_reductions, 0);
}

#[test]
fn loss_in_a_window_that_a_mark_reduced_is_repaired_without_another_reduction() {
    let lose = |_, segment: Option<&Segment>| segment.is_some_and(|s| s.number == 20 && !s.retransmission);
    let mut rig = Rig::new(with_ecn(EcnMode::Classic), NewReno::new(), None, lose);
    rig.mark = |segment| segment.number == 12;
    rig.run(SendTime::from_millis(305));
    let stats = rig.sender.stats();
    assert_eq!((stats.ecn_reductions, stats.fast_recoveries, stats.retransmissions), (1, 1, 1));
    let once = rig.sender.window().ssthresh;
    assert!((10.0..=11.0).contains(&once), "{once}");
}

#[test]
fn loss_in_a_window_that_marks_reduced_halves_the_window_of_dctcp() {
    let threshold = |lost: Option<u32>| {
        let lose = move |_, segment: Option<&Segment>| {
            segment.is_some_and(|s| Some(s.number) == lost && !s.retransmission)
        };
        let mut rig = Rig::new(with_ecn(EcnMode::Accurate), Dctcp::new(), None, lose);
        rig.mark = |segment| segment.number == 12;
        rig.run(SendTime::from_millis(305));
        let stats = rig.sender.stats();
        assert_eq!((stats.ecn_reductions, stats.fast_recoveries), (1, u64::from(lost.is_some())));
        rig.sender.window().ssthresh
    };
    let (marked, lost) = (threshold(None), threshold(Some(20)));
    assert!(marked > 10.0 && (lost / marked - 0.5).abs() < 0.1, "{lost} after {marked}");
}

#[test]
fn repair_after_a_timeout_opens_the_window_though_the_receiver_still_echoes_a_mark() {
    // Segment 9 is marked; the segments after it are lost, including the one with CWR.
    let lose = |_, segment: Option<&Segment>| segment.is_some_and(|s| s.number >= 10 && !s.retransmission);
    let mut rig = Rig::new(with_ecn(EcnMode::Classic), NewReno::new(), Some(25 * 1448), lose);
    rig.mark = |segment| segment.number == 9;
    rig.run(SendTime::from_millis(1200));
    let stats = rig.sender.stats();
    assert_eq!((stats.ecn_reductions, stats.timeouts), (1, 1));
    // The timer expires at 500 ms: 1, 2, 3 and so on each round trip, one of them longer by a delayed acknowledgement.
    assert!(rig.sender.finished_at().is_some(), "{:?}", rig.sender.window());
}

/// Packets that passed a link.
#[derive(Debug, Default)]
struct Watch {
    delivered: u64,
    dropped: u64,
    waited: TimeDelta,
}

impl Monitor for Watch {
    fn delivered(&mut self, now: Time, _flow: usize, packet: &PacketMeta) {
        if !packet.control && now > Time::from_millis(10_000) {
            self.delivered += 1;
            self.waited += packet.wait;
        }
    }

    fn dropped(&mut self, _now: Time, _flow: usize, _link: usize, _packet: &PacketMeta, _loss: Loss) {
        self.dropped += 1;
    }
}

/// A minute over 10 Mbit/s and 50 ms, with marks for packets that waited more than `threshold`.
fn over_a_marking_link(
    algorithm: impl WindowAlgorithm + 'static,
    ecn: EcnMode,
    threshold: TimeDelta,
) -> Watch {
    let traffic = Traffic::Tcp {
        name: "reno".to_owned(),
        algorithm: Box::new(algorithm),
        config: with_ecn(ecn),
        size: None,
    };
    let mut spec = spec(10_000, 60, vec![flow("tcp", traffic)]);
    spec.links[0].config.queue.mark_above = Some(threshold);
    Simulation::new(spec, Watch::default()).expect("a valid spec").run()
}

#[test]
fn a_marking_queue_stays_short_without_losing_anything() {
    let threshold = TimeDelta::from_millis(50);
    let watch = over_a_marking_link(NewReno::new(), EcnMode::Classic, threshold);
    assert_eq!(watch.dropped, 0);
    let mean = watch.waited / watch.delivered as i64;
    // A sawtooth between an empty queue and the threshold, as the threshold equals the bandwidth-delay product.
    assert!(mean > threshold / 4 && mean < threshold, "{mean}");
    // 50 s of 10 Mbit/s in packets of 1500 bytes, nearly all of it used.
    assert!(watch.delivered > 39_000, "{}", watch.delivered);
}

#[test]
fn without_ecn_the_same_queue_fills_and_drops() {
    let watch = over_a_marking_link(NewReno::new(), EcnMode::Off, TimeDelta::from_millis(50));
    assert!(watch.dropped > 0);
    assert!(watch.waited / watch.delivered as i64 > TimeDelta::from_millis(100));
}
