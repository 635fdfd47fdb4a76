//! Flows over a Wi-Fi cell.

use crate::common::{constant, flow, gcc_2016, link, tcp};
use weir_net::{LinkConfig, LossModel, QueueConfig, Service, Time, WifiConfig, WifiLink};
use weir_sim::{Simulation, SpecError};
use weir_units::TimeDelta;
use weir_world::{CellSpec, FlowSpec, LinkSpec, Loss, Monitor, PacketMeta, RunSpec, Traffic};

/// Counts of each flow's packets, media and control, and of the packets in the reverse direction.
#[derive(Debug, Default, Clone, PartialEq)]
struct Tally {
    sent: Vec<u64>,
    delivered: Vec<u64>,
    delivered_bytes: Vec<u64>,
    refused: u64,
    given_up: u64,
    waits: Vec<TimeDelta>,
}

impl Tally {
    fn new(flows: usize) -> Self {
        let none = vec![0; flows];
        Self { sent: none.clone(), delivered: none.clone(), delivered_bytes: none, ..Self::default() }
    }

    fn delivered(&self) -> u64 {
        self.delivered.iter().sum()
    }
}

impl Monitor for Tally {
    fn sent(&mut self, _now: Time, flow: usize, _packet: &PacketMeta) {
        self.sent[flow] += 1;
    }
    fn delivered(&mut self, _now: Time, flow: usize, packet: &PacketMeta) {
        self.delivered[flow] += 1;
        if !packet.control {
            self.delivered_bytes[flow] += u64::from(packet.wire_size);
            self.waits.push(packet.wait);
        }
    }
    fn dropped(&mut self, _now: Time, _flow: usize, _link: usize, _packet: &PacketMeta, loss: Loss) {
        match loss {
            Loss::Queue(_) => self.refused += 1,
            Loss::Random => self.given_up += 1,
        }
    }
}

/// A cell of `stations`, with the links 2i up and 2i + 1 down for station i, and 25 ms of wire in either direction
/// behind them.
fn cell(stations: usize, seconds: u64, flows: Vec<FlowSpec>, make: impl Fn(WifiLink) -> WifiLink) -> RunSpec {
    let (mut links, mut members) = (Vec::new(), Vec::new());
    for station in 0..stations {
        for (way, transmitter) in [("up", 1 + station), ("down", 0)] {
            members.push((links.len(), make(WifiLink::new(transmitter, WifiLink::MCS_11))));
            let config = LinkConfig::new(Service::Constant(WifiLink::MCS_11), TimeDelta::ZERO);
            links.push(LinkSpec::bottleneck(&format!("{way}-{station}"), config));
        }
    }
    links.push(link("wire", 100_000));
    links.push(link("wire-back", 100_000));
    let config = WifiConfig::default();
    let cells = vec![CellSpec { name: "home".to_owned(), config, links: members }];
    RunSpec { seed: 1, end: Time::from_millis(1000 * seconds), links, cells, couplings: Vec::new(), flows }
}

/// A flow from the station to the wire, or in the reverse direction.
fn of_station(stations: usize, station: usize, upwards: bool, traffic: Traffic) -> FlowSpec {
    let wire = 2 * stations;
    let (up, down) = (vec![2 * station, wire], vec![wire + 1, 2 * station + 1]);
    let (forward, reverse) = if upwards { (up, down) } else { (down, up) };
    FlowSpec { forward, reverse, ..flow(&format!("flow-{station}-{upwards}"), traffic) }
}

fn run(spec: RunSpec) -> Tally {
    let flows = spec.flows.len();
    Simulation::new(spec, Tally::new(flows)).expect("a valid spec").run()
}

fn mbps(bytes: u64, seconds: u64) -> f64 {
    (bytes * 8) as f64 / seconds as f64 / 1e6
}

#[test]
fn a_call_over_a_cell_reaches_its_maximum_with_little_delay() {
    for upwards in [true, false] {
        let call = of_station(1, 0, upwards, gcc_2016());
        let tally = run(cell(1, 60, vec![call], |link| link));
        let rate = mbps(tally.delivered_bytes[0], 60);
        assert!((1.7..2.2).contains(&rate), "{rate} Mbit/s of at most 2 and headers");
        assert_eq!(tally.refused + tally.given_up, 0);
        // The packets of a frame follow one another: a few exchanges.
        assert!(
            tally.waits.iter().all(|&wait| wait < TimeDelta::from_millis(20)),
            "{:?}",
            tally.waits.iter().max()
        );
    }
}

#[test]
fn a_packet_in_a_cell_arrives_or_is_lost_or_is_still_inside() {
    // 8 · 8 Mbit/s in packets of 1000 bytes, more than five transmitters carry: 50 packets wait on each link.
    let queue = QueueConfig { limit_packets: Some(50), ..QueueConfig::default() };
    let make = |link| WifiLink { queue, loss: LossModel::Bernoulli(0.1), ..link };
    let flows = |n| (0..n).flat_map(move |i| [true, false].map(|up| of_station(n, i, up, constant(8000))));
    let (mut up, mut down) = (0, 0);
    for seed in 1..=5 {
        let tally = run(RunSpec { seed, ..cell(4, 20, flows(4).collect(), make) });
        let lost = tally.refused + tally.given_up;
        let inside = tally.sent.iter().sum::<u64>() - tally.delivered() - lost;
        // Eight full queues, except for places just left, and 25 ms of wire. On the wire are 100 packets at the 32
        // Mbit/s downwards, and some 50 of those upwards at 15 to 18 Mbit/s.
        assert!((400 + 100 + 40..400 + 100 + 60).contains(&inside), "{inside}");
        assert!(tally.refused > 0, "{tally:?}");
        up += tally.delivered.iter().step_by(2).sum::<u64>();
        down += tally.delivered.iter().skip(1).step_by(2).sum::<u64>();
    }
    // The access point is one of five that contend, and has four flows: each gets a quarter of what a station gets.
    assert!((up as f64 / down as f64 / 4.0 - 1.0).abs() < 0.03, "{up} up, {down} down");
}

#[test]
fn sixteen_calls_share_what_the_cell_has() {
    // Sixteen of at most 2 Mbit/s: the cell is full. RFC 8869 §3.2 speaks of about 20 Mbit/s for applications.
    let flows = (0..16).map(|i| of_station(16, i, true, gcc_2016()));
    let queue = QueueConfig { limit_packets: Some(100), ..QueueConfig::default() };
    let tally = run(cell(16, 60, flows.collect(), |link| WifiLink { queue, ..link }));
    let rate = mbps(tally.delivered_bytes.iter().sum(), 60);
    println!("{rate} Mbit/s");
    assert!((12.0..25.0).contains(&rate), "{rate} Mbit/s");
    let least = tally.delivered_bytes.iter().min().copied().unwrap_or(0);
    assert!(mbps(least, 60) > 0.2, "{:?}", tally.delivered_bytes);
}

#[test]
fn tcp_shares_the_air_with_its_acknowledgements() {
    // An acknowledgement for two segments. Segments of 1500 bytes: 280 µs of transmission; acknowledgements of 40: 646
    // bits are 4 symbols, 56 µs. Two segments and one acknowledgement with 44 + 43 µs around each: 877 µs, and backoffs:
    // none to 7.5 slots each, as the two count down at the same time; some collide. 24 000 bits in 877 to 1100 µs.
    let tally = run(cell(1, 60, vec![of_station(1, 0, true, tcp())], |link| link));
    let rate = mbps(tally.delivered_bytes[0], 60);
    println!("{rate} Mbit/s");
    assert!((21.8..27.4).contains(&rate), "{rate} Mbit/s");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let with_seed = |seed| {
        let flows = (0..3).map(|i| of_station(3, i, i > 0, if i > 1 { tcp() } else { gcc_2016() })).collect();
        run(RunSpec { seed, ..cell(3, 20, flows, |link| link) })
    };
    assert_eq!(with_seed(7), with_seed(7));
    assert_ne!(with_seed(7), with_seed(8));
}

#[test]
fn a_cell_out_of_range_is_named() {
    let mut spec = cell(1, 1, vec![of_station(1, 0, true, constant(100))], |link| link);
    spec.cells[0].config.frames = 0;
    let error = Simulation::new(spec, Tally::new(1)).map(|_| ()).expect_err("no frames");
    assert!(matches!(&error, SpecError::Cell { name, .. } if name == "home"));
    assert!(error.to_string().starts_with("cell `home`: the number of frames"), "{error}");
}
