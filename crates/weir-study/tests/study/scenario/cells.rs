//! The keys of Wi-Fi cells, the resulting model, and the measurements.

use weir_import::traces::TraceStore;
use weir_measure::metrics::Recorder;
use weir_measure::results::RunMetrics;
use weir_measure::simulate;
use weir_net::{LossModel, QueueConfig, Service, WifiConfig, WifiLink};
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::Scenario;
use weir_units::{DataRate, DataSize, TimeDelta};

/// Two stations and an access point, with further keys of the cell and of the first station's link.
fn text(cell: &str, link: &str) -> String {
    format!(
        r#"title = "A cell"
duration = "20s"
[cells.home]
{cell}
[links.one]
from = "one"
to = "ap"
duplex = true
{link}
[links.two]
from = "two"
to = "ap"
duplex = true
cell = "home"
[links.wire]
from = "ap"
to = "peer"
duplex = true
delay = "10ms"
rate = "100Mbps"
[flows.up]
kind = "constant"
from = "one"
to = "peer"
rate = "40Mbps"
packet_size = "1500B"
[flows.down]
kind = "constant"
from = "peer"
to = "one"
rate = "40Mbps"
packet_size = "1500B"
[flows.call]
kind = "media"
controller = "gcc-2016"
from = "two"
to = "peer"
"#
    )
}

const IN_HOME: &str = "cell = \"home\"";

fn parse(text: &str) -> Scenario {
    Scenario::parse("cells.toml", text, &[]).unwrap_or_else(|error| panic!("{error:#?}"))
}

fn build(scenario: &Scenario) -> Run {
    scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, &TraceStore::at(None)).unwrap()
}

fn measure(text: &str) -> RunMetrics {
    let Run { spec, plan, .. } = build(&parse(text));
    simulate(spec, Recorder::new(plan)).unwrap().finish().metrics
}

#[test]
fn a_cell_is_802_11n_unless_it_says_otherwise() {
    let of = |cell: &str, link: &str| {
        let scenario = parse(&text(cell, link));
        let again = parse(&scenario.to_toml().unwrap());
        let cells = build(&scenario).spec.cells;
        assert_eq!(
            format!("{cells:?}"),
            format!("{:?}", build(&again).spec.cells),
            "written out it is the same"
        );
        cells
    };
    let cells = of("", IN_HOME);
    assert_eq!((cells.len(), cells[0].name.as_str(), cells[0].config), (1, "home", WifiConfig::default()));
    let queue = QueueConfig { limit_time: Some(TimeDelta::from_millis(300)), ..QueueConfig::default() };
    let link = |transmitter| WifiLink { queue, ..WifiLink::new(transmitter, WifiLink::MCS_11) };
    // Links of one node are one transmitter: the access point has both return paths.
    let expected = [(0, link(0)), (1, link(1)), (2, link(2)), (3, link(1))];
    assert_eq!(cells[0].links, expected);
    let changed = of(
        "rate = \"65Mbps\"\nframes = 32\nlongest = \"2ms\"\nretries = 4\naifsn = 2\ncw_min = 7\ncw_max = 63",
        "cell = \"home\"\nrate = \"6.5Mbps\"\nqueue = { packets = 100, bytes = \"50kB\" }\nloss = 0.1",
    );
    let config = WifiConfig {
        frames: 32,
        longest: TimeDelta::from_millis(2),
        retries: 4,
        aifsn: 2,
        cw_min: 7,
        cw_max: 63,
    };
    assert_eq!(changed[0].config, config);
    let own = WifiLink {
        transmitter: 0,
        rate: DataRate::from_kbps(6500),
        loss: LossModel::Bernoulli(0.1),
        queue: QueueConfig {
            limit_packets: Some(100),
            limit_bytes: Some(DataSize::from_bytes(50_000)),
            ..QueueConfig::default()
        },
    };
    assert_eq!(changed[0].links[0], (0, own));
    assert_eq!(changed[0].links[2].1.rate, DataRate::from_mbps(65));
}

#[test]
fn the_flows_of_a_cell_share_one_bottleneck() {
    let plan = build(&parse(&text("", IN_HOME))).plan;
    // Three contend: two flows with packets of 1500 bytes, one with 1200 of payload and 52 of headers.
    let alike = |size| {
        let link = WifiLink::new(0, WifiLink::MCS_11);
        WifiConfig::default().saturation_rate(&link, size, 3).bps_f64()
    };
    let together = 3.0 / (2.0 / alike(1500) + 1.0 / alike(1252));
    assert_eq!(plan.links[0].service, Service::Constant(DataRate::from_bps(together as u64)));
    let ways: Vec<_> = plan.flows.iter().map(|flow| (flow.bottleneck, flow.route.clone())).collect();
    assert_eq!(ways, [(Some(0), vec![0, 4]), (Some(0), vec![5, 0]), (Some(0), vec![0, 4])]);
}

/// `up` stations that send, and as many others to which the access point sends, each more than it can.
fn saturated(cell: &str, up: u32, down: u32) -> String {
    let flow = |name, (from, to), count, first| {
        format!(
            "[flows.{name}]\nkind = \"constant\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\nfirst = {first}\n\
             rate = \"30Mbps\"\npacket_size = \"1252B\"\n"
        )
    };
    let ups = if up > 0 { flow("up", ("station-#", "fixed"), up, 1) } else { String::new() };
    let downs = if down > 0 { flow("down", ("fixed", "station-#"), down, up + 1) } else { String::new() };
    format!(
        r#"title = "All send all the time"
duration = "20s"
[cells.home]
{cell}
[links.station]
from = "station-#"
to = "ap"
duplex = true
cell = "home"
count = {}
[links.wire]
from = "ap"
to = "fixed"
duplex = true
rate = "1Gbps"
{ups}
{downs}"#,
        up + down
    )
}

#[test]
fn a_cell_has_for_its_flows_what_they_carry_when_they_always_send() {
    for (cell, up, down) in [
        ("", 1, 0),
        ("", 16, 0),
        ("", 0, 16),
        ("", 8, 8),
        ("frames = 16", 4, 4),
        ("rate = \"6.5Mbps\"", 5, 0),
    ] {
        let Run { spec, plan, .. } = build(&parse(&saturated(cell, up, down)));
        let Service::Constant(rate) = plan.links[0].service else { panic!("a constant capacity") };
        let metrics = simulate(spec, Recorder::new(plan)).unwrap().finish().metrics;
        let carried: f64 = metrics.flows.iter().map(|flow| flow.rate_bps.unwrap_or(0.0)).sum();
        assert!(
            (carried / rate.bps_f64() - 1.0).abs() < 0.03,
            "{cell} {up} up, {down} down: {carried} of {rate}"
        );
    }
}

#[test]
fn a_call_keeps_its_rate_beside_a_saturating_station() {
    let metrics = measure(&text("", IN_HOME));
    let rate = |flow: usize| metrics.flows[flow].rate_bps.unwrap() / 1e6;
    // Three contend: the call has more opportunities than it needs, and the two saturated stations have as many each.
    assert!((rate(0) / rate(1) - 1.0).abs() < 0.05, "{} up, {} down", rate(0), rate(1));
    assert!((20.0..28.0).contains(&(rate(0) + rate(1) + rate(2))), "{} and {}", rate(0) + rate(1), rate(2));
    assert!(rate(2) > 1.0, "{} Mbit/s of at most 2", rate(2));
    assert_eq!(metrics.flows[2].loss_ratio, Some(0.0));
}

/// Message and advice of the only error.
fn error(text: &str) -> (String, String) {
    let error = Scenario::parse("cells.toml", text, &[]).unwrap_err();
    assert!(error.others().is_empty(), "{error:#?}");
    (error.message().to_owned(), error.advice().unwrap_or_default().to_owned())
}

#[test]
fn implausible_keys_of_a_cell_are_named() {
    let in_cell = |line: &str| error(&text("", &format!("{IN_HOME}\n{line}")));
    let elsewhere = "leave it out, or give it to a link before or behind";
    for (line, key) in [
        ("delay = \"1ms\"", "delay"),
        ("jitter = { kind = \"uniform\", max = \"1ms\" }", "jitter"),
        ("order = \"flow\"", "order"),
        ("bucket = { burst = \"2kB\" }", "bucket"),
        ("queue = { at_rate = \"1s\" }", "queue.at_rate"),
        ("queue = { mark_above = \"1ms\" }", "queue.mark_above"),
        ("queue = { in_service = \"free\" }", "queue.in_service"),
        ("queue = { discipline = \"codel\" }", "queue.discipline"),
    ] {
        let message = format!("`links.one.{key}` has no meaning in a cell");
        assert_eq!(in_cell(line), (message, elsewhere.to_owned()));
    }
    let both =
        ("`links.one` has both `trace` and `cell`", "a link has one of `rate`, `steps`, `trace` and `cell`");
    assert_eq!(in_cell("trace = \"synthetic-lte\""), (both.0.to_owned(), both.1.to_owned()));
}

#[test]
fn a_cell_that_is_not_there_or_cannot_be_is_named() {
    let pair = |message: &str, advice: &str| (message.to_owned(), advice.to_owned());
    assert_eq!(error(&text("", "cell = \"hom\"")), pair("there is no cell `hom`", "did you mean `home`?"));
    assert_eq!(
        error(&text("frames = 65", IN_HOME)),
        pair("`cells.home.frames`: 65 is out of range", "write a whole number from 1 to 64")
    );
    assert_eq!(
        error(&text("cw_min = 1024", IN_HOME)),
        pair("the least contention window is out of range", "let it be at most the largest one")
    );
    assert_eq!(error(&text("rate = \"0bps\"", IN_HOME)).0, "`cells.home.rate` is 0bps");
    let dumbbell = r#"title = "D"
duration = "1s"
[dumbbell.bottleneck]
cell = "home"
[dumbbell.access]
rate = "1Gbps"
[flows.cross]
kind = "constant"
rate = "1Mbps"
"#;
    assert_eq!(
        error(dumbbell),
        pair(
            "`dumbbell.bottleneck.cell` has no meaning: a dumbbell has no cells",
            "leave it out, or write the network as `links`"
        )
    );
}

/// Rates in Mbit/s of the first run of a shipped scenario: of all calls, and of each flow.
fn rates(name: &str) -> (f64, Vec<f64>) {
    let Run { spec, plan, .. } = build(&Scenario::open(name, &[]).unwrap());
    let metrics = simulate(spec, Recorder::new(plan)).unwrap().finish().metrics;
    let flows = metrics.flows.iter().map(|flow| flow.rate_bps.unwrap_or(0.0) / 1e6).collect();
    (metrics.media.rate_bps.unwrap() / 1e6, flows)
}

#[test]
fn sixteen_calls_get_about_what_rfc_8869_says_a_cell_has() {
    for name in ["rfc8869/wifi-uplink", "rfc8869/wifi-downlink", "rfc8869/wifi-bidirectional"] {
        let (all, flows) = rates(name);
        assert!((18.0..23.0).contains(&all), "{name}: {all} Mbit/s");
        assert!(flows.iter().all(|&rate| rate > 0.5), "{name}: {flows:?}");
    }
}

#[test]
fn calls_from_an_access_point_feel_the_others_first() {
    // The access point has one share of the opportunities for its eight calls, as each sending station has for one.
    for name in ["rfc8869/wifi-bidirectional", "rfc8869/wifi-tcp"] {
        let (_, flows) = rates(name);
        let least_up = flows[..8].iter().copied().fold(f64::INFINITY, f64::min);
        let most_down = flows[8..16].iter().copied().fold(0.0, f64::max);
        assert!(most_down < least_up, "{name}: {flows:?}");
    }
}
