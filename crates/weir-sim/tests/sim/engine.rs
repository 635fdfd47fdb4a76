//! Guarantees of the engine: conservation, determinism, clocks, feedback that is an ordinary packet.

use crate::common::{constant, flow, gcc_2016, spec, tcp};
use weir_cc::{DataSize, Target, TimeDelta};
use weir_net::{QueueConfig, Time};
use weir_sim::{Simulation, SpecError};
use weir_world::{ClockSpec, FlowSpec, FrameMeta, Loss, Monitor, PacketMeta, RunSpec, Side, Traffic};

/// Monitor that counts all events, and folds them into one number.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Tally {
    sent: u64,
    delivered: u64,
    delivered_bytes: u64,
    dropped: u64,
    control_delivered: u64,
    control_dropped: u64,
    frames: u64,
    completed: u64,
    longest_wait: TimeDelta,
    rtts: Vec<TimeDelta>,
    last_target: u64,
    digest: u64,
}

impl Tally {
    pub(crate) fn has_lost(&self) -> bool {
        self.dropped > 3
    }

    fn fold(&mut self, now: Time, value: u64) {
        self.digest = (self.digest ^ now.nanos() ^ value.rotate_left(32)).wrapping_mul(0x100_0000_01b3);
    }
}

impl Monitor for Tally {
    fn sent(&mut self, now: Time, _flow: usize, packet: &PacketMeta) {
        self.sent += u64::from(!packet.control);
        self.fold(now, u64::from(packet.wire_size));
    }
    fn delivered(&mut self, now: Time, flow: usize, packet: &PacketMeta) {
        if packet.control {
            self.control_delivered += 1;
        } else {
            self.delivered += 1;
            self.delivered_bytes += u64::from(packet.wire_size);
            self.longest_wait = self.longest_wait.max(packet.wait);
        }
        self.fold(now, flow as u64);
    }
    fn dropped(&mut self, now: Time, _flow: usize, _link: usize, packet: &PacketMeta, _loss: Loss) {
        if packet.control {
            self.control_dropped += 1;
        } else {
            self.dropped += 1;
        }
        self.fold(now, u64::from(packet.frame));
    }
    fn frame(&mut self, _now: Time, _flow: usize, _frame: &FrameMeta) {
        self.frames += 1;
    }
    fn completed(&mut self, _now: Time, _flow: usize) {
        self.completed += 1;
    }
    fn rtt(&mut self, _now: Time, _flow: usize, rtt: TimeDelta) {
        self.rtts.push(rtt);
    }
    fn target(&mut self, _now: Time, _flow: usize, target: &Target) {
        self.last_target = target.media_rate.bps();
    }
}

pub(crate) fn run(spec: RunSpec) -> Tally {
    Simulation::new(spec, Tally::default()).expect("a valid spec").run()
}

#[test]
fn a_run_without_an_end_ends_when_nothing_happens_any_more() {
    let mut spec = spec(2000, 0, vec![flow("steady", constant(800)).until(Time::from_millis(1000))]);
    spec.end = Time::MAX;
    let tally = run(spec);
    assert_eq!((tally.sent, tally.delivered, tally.dropped), (100, 100, 0));
}

#[test]
fn every_packet_is_delivered_dropped_or_still_inside() {
    let tally = run(spec(1000, 20, vec![flow("a", constant(700)), flow("b", constant(500))]));
    // 1.2 Mbit/s into 1 Mbit/s: 3000 packets in 20 s, 2500 leave, less those in flight (25 ms = 3 packets).
    assert_eq!(tally.sent, 1751 + 1251, "at both ends of 20 s, and in between");
    assert!((2490..=2500).contains(&tally.delivered), "{}", tally.delivered);
    let inside = tally.sent - tally.delivered - tally.dropped;
    // A queue of 300 ms holds 37 packets of 8 ms; one is served, 3 propagate.
    assert!((38..=42).contains(&inside), "{inside}");
    assert!(tally.longest_wait <= TimeDelta::from_millis(300));
    assert!(tally.longest_wait > TimeDelta::from_millis(285));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let with_seed = |seed| {
        let mut spec = spec(1500, 30, vec![flow("video", gcc_2016()), flow("bulk", tcp())]);
        spec.seed = seed;
        run(spec)
    };
    assert_eq!(with_seed(7), with_seed(7));
    assert_ne!(with_seed(7).digest, with_seed(8).digest);
}

#[test]
fn a_call_fills_most_of_its_link_without_loss() {
    let tally = run(spec(1000, 60, vec![flow("video", gcc_2016())]));
    let rate = tally.delivered_bytes * 8 / 60;
    assert!((800_000..1_000_000).contains(&rate), "{rate} bit/s");
    assert_eq!(tally.frames, 1801, "30 per second, the first at 0");
    assert!(tally.dropped * 1000 < tally.sent, "{} of {}", tally.dropped, tally.sent);
    let fastest = tally.rtts.iter().min().expect("receiver reports carry round-trip times");
    // 50 ms of propagation and the serialisation of a sender report and a receiver report at 1 Mbit/s.
    assert!((TimeDelta::from_millis(50)..TimeDelta::from_millis(53)).contains(fastest), "{fastest}");
}

#[test]
fn clock_offset_does_not_change_a_run() {
    let with_offset = |offset| {
        let mut spec = spec(1000, 30, vec![flow("video", gcc_2016())]);
        spec.flows[0].receiver_clock = ClockSpec { offset, ..ClockSpec::default() };
        run(spec)
    };
    let plain = with_offset(TimeDelta::ZERO);
    assert_eq!(plain, with_offset(TimeDelta::from_secs(9 * 3600)));
    assert_eq!(plain, with_offset(TimeDelta::from_secs(-3 * 3600)));
}

#[test]
fn coarse_and_drifting_clocks_still_make_a_call() {
    let mut spec = spec(1000, 60, vec![flow("video", gcc_2016())]);
    let clock = |drift_ppm| ClockSpec {
        offset: TimeDelta::from_secs(100),
        drift_ppm,
        resolution: TimeDelta::from_millis(1),
        step: None,
    };
    spec.flows[0].sender_clock = clock(100.0);
    spec.flows[0].receiver_clock = clock(-100.0);
    let tally = run(spec);
    let rate = tally.delivered_bytes * 8 / 60;
    assert!((750_000..1_000_000).contains(&rate), "{rate} bit/s");
}

#[test]
fn feedback_queues_on_the_reverse_path_and_can_be_lost() {
    let mut flooded = flow("flood", constant(1500));
    (flooded.forward, flooded.reverse) = (vec![1], vec![]);
    let mut spec = spec(1000, 60, vec![flow("video", gcc_2016()), flooded]);
    // By time or bytes a small report nearly always fits the queue; by packets it does not.
    spec.links[1].config.queue = QueueConfig { limit_packets: Some(40), ..QueueConfig::default() };
    let tally = run(spec);
    assert!(tally.control_dropped > 5, "{}", tally.control_dropped);
    assert!(tally.control_delivered > 20);
    let slowest = tally.rtts.iter().max().expect("some reports get through");
    assert!(*slowest > TimeDelta::from_millis(300), "{slowest}");
}

#[test]
fn a_flow_sends_between_its_start_and_its_stop() {
    let mut video = flow("video", gcc_2016());
    (video.start, video.stop) = (Time::from_millis(5000), Time::from_millis(15_000));
    let tally = run(spec(1000, 30, vec![video]));
    assert_eq!(tally.frames, 300);
    assert_eq!(tally.sent, tally.delivered + tally.dropped, "the pipe has drained");
    let mut bulk = flow("bulk", tcp());
    (bulk.start, bulk.stop) = (Time::from_millis(5000), Time::from_millis(15_000));
    let tally = run(spec(1000, 30, vec![bulk]));
    let rate = tally.delivered_bytes * 8 / 10;
    assert!((900_000..1_050_000).contains(&rate), "{rate} bit/s");
    assert_eq!(tally.completed, 0, "a stop is no completion");
}

#[test]
fn the_flows_of_a_call_share_its_hosts_and_each_has_its_own_times() {
    let run_in = |call| {
        let screen =
            flow("screen", gcc_2016()).from(Time::from_millis(5000)).until(Time::from_millis(15_000));
        let screen = screen.pausing(Time::from_millis(7000), Time::from_millis(8000));
        let flows = [flow("video", gcc_2016()), screen];
        run(spec(2000, 30, flows.map(|flow| FlowSpec { call, ..flow }).into()))
    };
    let together = run_in(Some(3));
    // A flow from 0 to 30 s, and another from 5 to 15 s with a pause of a second.
    assert_eq!(together.frames, 901 + 270);
    assert_eq!(together, run_in(None), "with clocks alike it does not matter whose host a flow has");
}

#[test]
fn a_call_has_media_alone_and_one_clock_at_either_end() {
    let with = |flow: FlowSpec| {
        let call = crate::common::flow("video", gcc_2016()).in_call(0);
        let flows = vec![call, flow.in_call(0)];
        Simulation::new(spec(1000, 1, flows), Tally::default()).unwrap_err()
    };
    let ahead = ClockSpec { offset: TimeDelta::from_secs(1), ..ClockSpec::default() };
    for flow in [flow("other", tcp()), flow("other", gcc_2016()).clocks(ahead, ClockSpec::default())] {
        assert_eq!(with(flow), SpecError::Call { flow: "other".to_owned() });
    }
}

#[test]
fn a_media_flow_needs_both_of_its_halves() {
    let without = |side| {
        let Traffic::Media(mut media) = gcc_2016() else { unreachable!() };
        match side {
            Side::Sender => media.sender = None,
            Side::Receiver => media.receiver = None,
        }
        let flows = vec![flow("video", Traffic::Media(media))];
        Simulation::new(spec(1000, 1, flows), Tally::default()).unwrap_err()
    };
    for (side, half) in [(Side::Sender, "no sender half"), (Side::Receiver, "no receiver half")] {
        assert_eq!(without(side), SpecError::Half { flow: "video".to_owned(), side });
        assert!(without(side).to_string().contains(half));
    }
}

#[test]
fn a_finite_transfer_is_complete_once() {
    let Traffic::Tcp { name, algorithm, config, .. } = tcp() else { unreachable!() };
    let short = Traffic::Tcp { name, algorithm, config, size: Some(DataSize::from_bytes(100_000)) };
    assert_eq!(run(spec(1000, 10, vec![flow("short", short)])).completed, 1);
}

#[test]
fn an_impossible_run_is_named() {
    let mut wrong = spec(1000, 1, vec![flow("video", gcc_2016())]);
    wrong.flows[0].reverse.clear();
    let error = Simulation::new(wrong, Tally::default()).unwrap_err().to_string();
    assert!(error.contains("`video`"), "{error}");
    let mut wrong = spec(0, 1, vec![flow("a", constant(10))]);
    wrong.flows[0].reverse.clear();
    let error = Simulation::new(wrong, Tally::default()).unwrap_err().to_string();
    assert!(error.contains("link `forward`"), "{error}");
}

#[test]
fn a_route_leads_over_links_that_exist() {
    let refused = |forward: &[usize], back: &[usize], traffic| {
        let flows = vec![flow("a", traffic).over(forward.to_vec(), back.to_vec())];
        let error = Simulation::new(spec(1000, 1, flows), Tally::default()).err();
        assert!(error.is_none() || error == Some(SpecError::Route { flow: "a".to_owned() }), "{error:?}");
        error.is_some()
    };
    // There are two links.
    assert!(!refused(&[0, 1], &[1], gcc_2016()));
    for none in [2, 3] {
        assert!(refused(&[0, none], &[1], gcc_2016()) && refused(&[0], &[none], gcc_2016()), "{none}");
    }
    // A flow without feedback needs no reverse route; a flow with feedback needs one.
    assert!(refused(&[], &[1], constant(100)) && !refused(&[0], &[], constant(100)));
    assert!(refused(&[0], &[], gcc_2016()) && refused(&[0], &[], tcp()));
}
