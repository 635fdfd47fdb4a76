//! TCP flows of a scenario: their configuration, and their recorded signals.

use weir_import::traces::TraceStore;
use weir_measure::metrics::{Recorder, Recording};
use weir_measure::simulate;
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::window_algorithms;
use weir_scenario::scenario::Scenario;
use weir_units::TimeDelta;
use weir_world::Traffic;
use weir_world::tcp::{EcnMode, TcpConfig};

/// Two flows over 10 Mbit/s, 60 ms there and back; `tcp` stands in the table of the TCP flow.
fn scenario(tcp: &str) -> String {
    format!(
        "title = \"x\"\nduration = \"20s\"\n\
         [dumbbell]\naccess = {{ rate = \"1Gbps\", delay = \"5ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"20ms\", queue = {{ time = \"100ms\" }} }}\n\
         [flows.video]\nkind = \"media\"\ncontroller = \"gcc-2016\"\n\
         [flows.bulk]\nkind = \"tcp\"\n{tcp}\n"
    )
}

/// The time series of a TCP flow with these keys.
fn recording(tcp: &str) -> Recording {
    let scenario = Scenario::parse("test.toml", &scenario(tcp), &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = RunOptions { seed: 1, series: true, ..RunOptions::default() };
    let run = scenario.build(&options, &TraceStore::at(None)).unwrap_or_else(|e| panic!("{e}"));
    let recorder = simulate(run.spec, Recorder::new(run.plan)).expect("a valid spec");
    recorder.finish().series.expect("a series was asked for")
}

#[test]
fn series_show_window_threshold_round_trip_time_and_progress_of_tcp() {
    let recording = recording("law = \"newreno\"");
    let mut csv = Vec::new();
    recording.write_csv(&mut csv).unwrap();
    let series = recording.whole().unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for signal in ["cwnd", "ssthresh", "rtt", "acked"] {
        assert!(header.contains(&format!("bulk.sender.{signal}.max").as_str()), "{signal}: {header:?}");
    }
    let flow = series.flows.iter().find(|flow| flow.name == "bulk").unwrap();
    let max = |signal: &str| &flow.signals.iter().find(|s| s.name == signal).unwrap().max;
    // The path holds 50 segments and its queue 83: the window stays below that, and above the rest left by the video.
    let window = max("cwnd").iter().skip(50).copied().filter(|w| w.is_finite());
    assert!(window.clone().all(|w| w < 145.0), "{:?}", window.fold(0.0, f64::max));
    // Round trips last from 60 ms with an empty queue to 160 ms with a full one.
    let rtts: Vec<f64> = max("rtt").iter().copied().filter(|rtt| rtt.is_finite()).collect();
    assert!(rtts.iter().all(|rtt| (60.0..200.0).contains(rtt)));
    let acked: Vec<f64> = max("acked").iter().copied().filter(|bytes| bytes.is_finite()).collect();
    assert!(acked.is_sorted());
    // The video takes 2.5 of 10 Mbit/s at most: at least 7 Mbit/s over 20 s, headers off, less the beginning.
    assert!(acked.last().unwrap() * 8.0 / 20.0 > 6e6, "{:?}", acked.last());
}

/// The configuration of a TCP flow with these keys.
fn config(tcp: &str) -> TcpConfig {
    let scenario = Scenario::parse("test.toml", &scenario(tcp), &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap_or_else(|e| panic!("{e}"));
    match &run.spec.flows.iter().find(|flow| flow.name == "bulk").unwrap().traffic {
        Traffic::Tcp { config, .. } => *config,
        other => panic!("{other:?}"),
    }
}

#[test]
fn profile_is_one_configuration_and_options_are_laid_over_it() {
    let ms = TimeDelta::from_millis;
    // Linux, whose headers have timestamps: the initial window of RFC 6928, 1 s before a sample, 200 ms besides it.
    let usual = TcpConfig {
        mss: 1448,
        header: 52,
        initial_window: 10,
        receive_window: 1_048_576,
        initial_rto: ms(1000),
        min_rto: ms(200),
        max_rto: ms(60_000),
        min_deviation: ms(200),
        ack_every: 2,
        ack_delay: ms(40),
        sack: true,
        limited_transmit: true,
        ecn: EcnMode::Off,
        prr: false,
        pacing: false,
        quick_acks: 0,
        quick_acks_again: 0,
        offload: false,
        compress_sacks: false,
        rack: false,
        tlp: false,
        undo: false,
        dsack: false,
        initial_receive_window: None,
        ns3_recovery: false,
        linux_deviation: false,
        tick: ms(0),
    };
    let config_of = |profile: &str| config(&format!("profile = \"{profile}\""));
    assert_eq!(config_of("plain"), usual);
    // RFC 6298 §2.3 and §2.4, RFC 5681 §4.2.
    let (second, tick) = (ms(1000), ms(1));
    let rfc = TcpConfig { min_rto: second, min_deviation: tick, ack_delay: ms(500), ..usual };
    assert_eq!(config_of("rfc"), rfc);
    // TCP_RTO_MAX is 120 s; TCP_MAX_QUICKACKS is 16.
    let linux = TcpConfig { max_rto: ms(120_000), prr: true, quick_acks: 16, linux_deviation: true, ..usual };
    assert_eq!(config_of("linux-3.16"), linux);
    // The first 65 160 bytes of `tcp_rmem` are 45 segments; RACK, TLP, F-RTO and D-SACK are on.
    let (again, initial) = (16, Some(45));
    let modern = TcpConfig {
        quick_acks: 22,
        quick_acks_again: again,
        offload: true,
        compress_sacks: true,
        tick: ms(4),
        initial_receive_window: initial,
        rack: true,
        tlp: true,
        undo: true,
        dsack: true,
        ..linux
    };
    assert_eq!((config_of("linux-6"), config("")), (modern, modern));
    // Buffers of 131072 bytes hold 244 segments of 536.
    let ns3 = TcpConfig {
        mss: 536,
        initial_window: 1,
        receive_window: 244,
        initial_rto: ms(3000),
        min_rto: second,
        min_deviation: tick,
        ack_delay: ms(200),
        sack: false,
        ns3_recovery: true,
        ..usual
    };
    assert_eq!(config_of("ns3-3.26"), ns3);
    let changed = config("profile = \"ns3-3.26\"\noptions = { mss = \"1460B\", min_rto = \"300ms\" }");
    // 131072 / 1460 = 89.8.
    assert_eq!((changed.mss, changed.receive_window), (1460, 89));
    assert_eq!((changed.min_rto, changed.sack), (TimeDelta::from_millis(300), false));
    let paced = config("options = { pacing = true, prr = true, quick_acks = 8 }");
    assert_eq!((paced.pacing, paced.prr, paced.quick_acks), (true, true, 8));
}

#[test]
fn chromium_profile_stands_alone() {
    let flow = "profile = \"chromium-2015\"";
    let series = recording(flow).whole().unwrap();
    let bulk = series.flows.iter().find(|flow| flow.name == "bulk").unwrap();
    let rates = &bulk.receive_rate_bps[100..];
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((5e6..10e6).contains(&mean), "{mean}");
    let errors = |more: &str| {
        let text = scenario(&format!("{flow}\n{more}"));
        Scenario::parse("test.toml", &text, &[]).unwrap_err().to_string()
    };
    assert!(errors("algorithm = \"cubic\"").contains("has an algorithm of its own"));
    assert!(errors("options = { sack = true }").contains("has no such options"));
}

#[test]
fn dctcp_gets_exact_counts_of_marks() {
    assert_eq!(config("algorithm = \"dctcp\"").ecn, EcnMode::Accurate);
    assert_eq!(config("options = { ecn = \"classic\" }").ecn, EcnMode::Classic);
    let text = scenario("algorithm = \"dctcp\"\noptions = { ecn = \"classic\" }");
    let error = Scenario::parse("test.toml", &text, &[]).unwrap_err();
    assert!(error.to_string().contains("`dctcp` goes by exact counts of marks"), "{error}");
}

#[test]
fn web_traffic_under_dctcp_gets_exact_counts_of_marks_too() {
    let web = |words: &str| {
        let text =
            scenario("").replace("kind = \"tcp\"", &format!("kind = \"web\"\nload = \"1Mbps\"\n{words}"));
        Scenario::parse("test.toml", &text, &[])
    };
    let run =
        web("algorithm = \"dctcp\"").unwrap().build(&RunOptions::default(), &TraceStore::at(None)).unwrap();
    let ecn = run.spec.flows.iter().find_map(|flow| match &flow.traffic {
        Traffic::Web { config, .. } => Some(config.ecn),
        _ => None,
    });
    assert_eq!(ecn, Some(EcnMode::Accurate));
    let error = web("algorithm = \"dctcp\"\noptions = { ecn = \"off\" }").unwrap_err().to_string();
    assert!(error.contains("`dctcp` goes by exact counts of marks"), "{error}");
}

/// The profile's own buffers would hold the window below the path's capacity, so that no loss would occur.
const NS3_WITHOUT_LIMIT: &str =
    "profile = \"ns3-3.26\"\noptions = { mss = \"1460B\", receive_window = 1000000 }";

#[test]
fn profiles_differ_in_how_their_window_grows() {
    // Congestion avoidance in steps of 100 ms: ns-3's NewReno gains half a segment per round trip, that of the RFC one.
    let slope = |tcp: &str| {
        let series = recording(tcp).whole().unwrap();
        let flow = series.flows.iter().find(|flow| flow.name == "bulk").unwrap();
        let window = &flow.signals.iter().find(|s| s.name == "cwnd").unwrap().max;
        let steps = window.windows(2).map(|pair| pair[1] - pair[0]);
        let mut growth: Vec<f64> = steps.skip(60).filter(|step| step.is_finite() && *step > 0.0).collect();
        growth.sort_by(f64::total_cmp);
        growth[growth.len() / 2]
    };
    let (rfc, ns3) = (slope("profile = \"rfc\""), slope(NS3_WITHOUT_LIMIT));
    assert!((0.3..0.7).contains(&(ns3 / rfc)), "{ns3} {rfc}");
}

#[test]
fn every_window_algorithm_fills_a_link_under_every_profile() {
    for algorithm in window_algorithms().iter().map(|algorithm| algorithm.name) {
        for profile in ["", "profile = \"rfc\"\n", "profile = \"linux-3.16\"\n", "profile = \"ns3-3.26\"\n"] {
            let series = recording(&format!("{profile}law = \"{algorithm}\"")).whole().unwrap();
            let flow = series.flows.iter().find(|flow| flow.name == "bulk").unwrap();
            let rates = &flow.receive_rate_bps[100..];
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            assert!(mean > 4e6, "{algorithm} {profile}: {mean}");
        }
    }
}

#[test]
fn options_that_are_no_tcp_are_refused_where_they_stand() {
    let error = |traffic: &str| {
        let error = Scenario::parse("t.toml", &scenario(traffic), &[]).unwrap_err();
        (error.to_string(), error.advice().unwrap_or_default().to_owned())
    };
    for (options, message, advice) in [
        (
            "{ min_rto = \"10h\", max_rto = \"1ms\" }",
            "t.toml:11:23: timeouts from 10h to 1ms are none",
            "let `min_rto` ≤ `max_rto`",
        ),
        (
            "{ max_rto = \"100ms\" }",
            "t.toml:11:23: timeouts from 200ms to 100ms are none",
            "let `min_rto` ≤ `max_rto`",
        ),
        (
            "{ header = 54 }",
            "t.toml:11:22: `flows.bulk.options.header` is no number of 32-bit words",
            "write a multiple of 4 from 40 to 80",
        ),
        (
            "{ header = 120 }",
            "t.toml:11:22: `flows.bulk.options.header`: 120 is out of range",
            "write a whole number from 40 to 80",
        ),
    ] {
        assert_eq!(
            error(&format!("options = {options}")),
            (message.to_owned(), advice.to_owned()),
            "{options}"
        );
    }
    let linux = "profile = \"linux-3.16\"\noptions = { min_rto = \"90s\" }";
    assert!(Scenario::parse("t.toml", &scenario(linux), &[]).is_ok(), "up to 120 s there");
}

#[test]
fn a_tail_of_sizes_begins_below_the_largest() {
    let web = |sizes: &str| {
        let text = scenario(&format!("load = \"1Mbps\"\nsizes = {sizes}"));
        Scenario::parse("t.toml", &text.replace("kind = \"tcp\"", "kind = \"web\""), &[])
    };
    let error = web("{ tail_from = \"10MB\", largest = \"1B\" }").unwrap_err();
    assert_eq!(error.to_string(), "t.toml:12:9: a tail from 10MB to 1B is none");
    assert_eq!(error.advice(), Some("let `tail_from` ≤ `largest`, or `tail` be 0"));
    assert!(web("{ tail = 0, tail_from = \"10MB\", largest = \"1MB\" }").is_ok());
}
