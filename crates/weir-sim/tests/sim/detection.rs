//! Flows that are coupled because their delays show that they share a bottleneck.

use weir_cc::coupled::FlowId;
use weir_cc::coupled::sbd::{Config, Detected};
use weir_cc::{DataRate, DataSize, TimeDelta};
use weir_media::{BottleneckDetection, DetectionSide, MediaConfig};
use weir_net::Time;
use weir_sim::Simulation;
use weir_world::{
    ClockSpec, CoupledSpec, CouplingSpec, FlowSpec, MediaSpec, RunSpec, Traffic, Unresponsive, Unwatched,
};

use crate::common::{flow, gcc_2016, link};
use crate::groups::{Groups, Moves};

/// Background traffic of 2.4 Mbit/s for 0.7 s out of 1.1 s and more, with another time course on each link.
fn bursts(name: &str, link: usize, every_ms: u64) -> FlowSpec {
    let kbps = DataRate::from_kbps;
    let burst = |at: u64| [(Time::from_millis(at), kbps(2400)), (Time::from_millis(at + 700), kbps(0))];
    let steps = (0..120_000 / every_ms).flat_map(|n| burst(n * every_ms)).collect();
    let traffic = Unresponsive { steps, packet_size: DataSize::from_bytes(1000), headers: 0 };
    FlowSpec::new(name, Traffic::Unresponsive(traffic)).over([link], [])
}

/// The groups of two calls. The second goes over link `second`, and its receiver has another clock.
fn groups(second: usize, place: DetectionSide) -> [Vec<(f64, u32)>; 2] {
    let detection = Some(BottleneckDetection::new(place, &Config::DEFAULT).unwrap());
    let video = |name: &str| {
        let Traffic::Media(media) = gcc_2016() else { unreachable!() };
        let config =
            MediaConfig { detection, additional_reports: Some(TimeDelta::from_millis(50)), ..media.config };
        flow(name, Traffic::Media(MediaSpec { config, ..media })).coupled(CoupledSpec::new(0))
    };
    let clock =
        ClockSpec { offset: TimeDelta::from_secs(1_000_000), drift_ppm: 100.0, ..ClockSpec::default() };
    let moves = Moves::default();
    let coupler = Detected::new(Groups::written_to(&moves), Config::default()).unwrap();
    let coupling =
        CouplingSpec { name: "all".to_owned(), coupler: Box::new(coupler), delay: TimeDelta::ZERO };
    let links = vec![link("forward", 3000), link("other", 3000), link("reverse", 3000)];
    let spec = RunSpec::over(links, Time::from_millis(120_000))
        .with(video("a").over([0], [2]))
        .with(video("b").over([second], [2]).clocks(ClockSpec::default(), clock))
        .with(bursts("others", 0, 1100))
        .with(bursts("others there", 1, 1900))
        .coupling(coupling);
    Simulation::new(spec, Unwatched).expect("a valid spec").run();
    let moves = moves.lock().unwrap();
    [0, 1].map(|flow| {
        let own = moves.iter().filter(|(_, member, _)| *member == FlowId(flow));
        let mut changes: Vec<(f64, u32)> =
            own.map(|&(at, _, group)| (at.nanos() as f64 / 1e9, group)).collect();
        // The coupler does not answer these flows: they join again and again, each time in their present group.
        changes.dedup_by_key(|&mut (_, group)| group);
        changes
    })
}

/// Time at which two flows are put into one group.
fn coupled(groups: &[Vec<(f64, u32)>; 2]) -> Option<f64> {
    let at = |flow: &[(f64, u32)], time: f64| {
        flow.iter().take_while(|move_| move_.0 <= time).last().map(|of| of.1)
    };
    let mut times: Vec<f64> = groups.iter().flatten().map(|of| of.0).collect();
    times.sort_unstable_by(f64::total_cmp);
    times.into_iter().find(|&time| at(&groups[0], time) == at(&groups[1], time))
}

#[test]
fn calls_through_one_bottleneck_are_grouped() {
    for place in [DetectionSide::Sender, DetectionSide::Receiver] {
        let groups = groups(0, place);
        let at = coupled(&groups);
        assert!(at.is_some_and(|at| (21.0..=35.0).contains(&at)), "{place:?}: {groups:?}");
    }
}

#[test]
fn calls_through_two_bottlenecks_are_never_grouped() {
    for place in [DetectionSide::Sender, DetectionSide::Receiver] {
        assert_eq!(groups(1, place), [vec![(0.0, 1)], vec![(0.0, 2)]], "{place:?}");
    }
}
