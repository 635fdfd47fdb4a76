//! Runs built from scenarios: links, flows, clocks, routes, and random parts by the seed.

use weir_import::traces::TraceStore;
use weir_measure::results::FlowKind;
use weir_net::{InService, Jitter, Service, Time};
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::Scenario;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::{MediaSpec, Traffic};

const S: fn(u64) -> Time = |s| Time::from_millis(1000 * s);

fn build(text: &str, seed: u64) -> Run {
    let scenario = Scenario::parse("test.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    run(&scenario, seed)
}

fn run(scenario: &Scenario, seed: u64) -> Run {
    let options = RunOptions { seed, ..RunOptions::default() };
    scenario.build(&options, &TraceStore::at(None)).unwrap_or_else(|e| panic!("{e}"))
}

fn shipped(name: &str, seed: u64) -> Run {
    run(&Scenario::open(name, &[]).unwrap(), seed)
}

#[test]
fn links_are_as_written() {
    let run = shipped("gcc-2016/variable-capacity", 1);
    let forward = &run.spec.links[0];
    assert_eq!(forward.name, "forward");
    assert_eq!(forward.config.delay, TimeDelta::from_millis(25));
    assert_eq!(forward.config.queue.limit_time, Some(TimeDelta::from_millis(300)));
    assert_eq!(forward.config.queue.limit_bytes, None);
    assert_eq!(forward.config.queue.in_service, InService::Free);
    let jitter = Jitter::HalfNormal { sd: TimeDelta::from_millis(1), max: TimeDelta::from_millis(3) };
    assert_eq!(forward.config.jitter, jitter);
    let steps = [(0, 1000), (50, 2500), (100, 500), (150, 1000)];
    let steps = steps.map(|(at, kbps)| (S(at), DataRate::from_kbps(kbps))).to_vec();
    assert_eq!(forward.config.service, Service::Steps(steps));
    // 50 s at 1 + 2.5 + 0.5 + 1 Mbit/s are 250 Mbit.
    assert_eq!(forward.config.service.capacity(S(0), S(200)), DataSize::from_bytes(250_000_000 / 8));
}

#[test]
fn media_flows_carry_encoder_rates_and_routes() {
    let run = shipped("gcc-2016/three-flows", 1);
    let flow = &run.spec.flows[1];
    assert_eq!((flow.name.as_str(), flow.start, flow.stop), ("video-2", S(30), Time::MAX));
    assert_eq!((flow.forward.as_slice(), flow.reverse.as_slice()), ([0].as_slice(), [1].as_slice()));
    let Traffic::Media(MediaSpec { config, sender: Some(controller), .. }) = &flow.traffic else {
        panic!("media")
    };
    assert_eq!(config.encoder.size_noise, 0.1);
    assert_eq!(config.encoder.reaction, TimeDelta::from_millis(500));
    assert_eq!(config.limits.max(), DataRate::from_mbps(2));
    assert_eq!(config.payload_limit, 1200);
    assert_eq!(controller.target().media_rate, DataRate::from_kbps(300));
    assert_eq!(run.plan.window, (S(60), S(200)));
    assert_eq!(run.plan.flows[1].propagation, TimeDelta::from_millis(25));
    assert_eq!(run.plan.flows[1].bottleneck, Some(0));
    // 2 Mbit/s of payload in packets of 1200 + 52 bytes.
    let wire = DataRate::from_bps(2_000_000 * 1252 / 1200 + 1);
    assert_eq!(run.plan.flows[1].max_rate, Some(wire));
    assert!(run.plan.flows[1].receiver_signals.len() > 1);
}

#[test]
fn only_the_slowest_link_on_a_way_forward_is_a_bottleneck() {
    let marks = |name| shipped(name, 1).spec.links.iter().map(|l| l.bottleneck).collect::<Vec<_>>();
    assert_eq!(marks("gcc-2016/three-flows"), [true, false]);
    assert_eq!(marks("gcc-2016/tcp-reverse"), [true, true], "the TCP flow's way forward is the way back");
    let run = shipped("bench/cbr", 1);
    let bottlenecks: Vec<&str> =
        run.spec.links.iter().filter(|l| l.bottleneck).map(|l| l.name.as_str()).collect();
    assert_eq!(bottlenecks, ["bottleneck"]);
}

#[test]
fn a_dumbbell_gives_each_flow_its_own_ends() {
    let run = shipped("bench/cbr", 1);
    let names: Vec<&str> = run.spec.links.iter().map(|link| link.name.as_str()).collect();
    let expected = [
        "access-first",
        "bottleneck",
        "exit-first",
        "access-others-1",
        "exit-others-1",
        "access-others-2",
        "exit-others-2",
    ];
    assert_eq!(names, expected, "nothing comes back from constant flows");
    let ways: Vec<&[usize]> = run.spec.flows.iter().map(|flow| flow.forward.as_slice()).collect();
    assert_eq!(ways, [[0, 1, 2], [3, 1, 4], [5, 1, 6]]);
    assert!(run.spec.flows.iter().all(|flow| flow.reverse.is_empty()));
    // 1 + 23 + 1 ms.
    assert!(run.plan.flows.iter().all(|flow| flow.propagation == TimeDelta::from_millis(25)));
    let offered: DataRate = run.plan.flows.iter().filter_map(|flow| flow.max_rate).sum();
    assert_eq!(offered, DataRate::from_kbps(3200));
    assert!(run.plan.flows.iter().all(|flow| flow.kind == FlowKind::Constant));
}

#[test]
fn the_way_back_of_a_dumbbell_is_as_fast_as_access_and_as_long_as_the_bottleneck() {
    let run = shipped("bench/tcp", 1);
    assert_eq!(run.spec.flows.len(), 11);
    let bulk = &run.spec.flows[1];
    let back: Vec<(&str, i64)> = bulk
        .reverse
        .iter()
        .map(|&l| (run.spec.links[l].name.as_str(), run.spec.links[l].config.delay.nanos() / 1_000_000))
        .collect();
    assert_eq!(back, [("back-access-bulk-1", 1), ("reverse", 23), ("back-exit-bulk-1", 1)]);
    let reverse = &run.spec.links[bulk.reverse[1]].config;
    assert_eq!(reverse.service, Service::Constant(DataRate::from_mbps(1000)));
    assert_eq!(reverse.queue.limit_time, None);
    let starts: Vec<u64> = run.spec.flows[1..].iter().map(|flow| flow.start.nanos() / 1_000_000).collect();
    assert_eq!(starts, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
    let Traffic::Tcp { config, size, .. } = &bulk.traffic else { panic!("tcp") };
    assert_eq!((config.mss, *size), (1448, None));
}

#[test]
fn copies_repeat_and_spread() {
    let short = shipped("gcc-2016/tcp-short", 1);
    let tcp: Vec<(Time, Time)> = short.spec.flows[2..].iter().map(|f| (f.start, f.stop)).collect();
    let expected: Vec<(Time, Time)> = (0..10).map(|i| (S(5 + 12 * i), S(8 + 12 * i))).collect();
    assert_eq!(tcp, expected);
    let many = shipped("gcc-2016/tcp-99", 1);
    let starts: Vec<Time> = many.spec.flows[1..].iter().map(|f| f.start).collect();
    assert_eq!(starts.len(), 99);
    assert!(starts.iter().all(|&start| start >= S(100) && start < S(101)));
    let mean = starts.iter().map(|s| s.secs_f64() - 100.0).sum::<f64>() / 99.0;
    // The mean of 99 uniform numbers is 0.5 ± 0.029.
    assert!((mean - 0.5).abs() < 0.12, "{mean}");
    assert!(many.spec.flows[1..].iter().all(|f| f.stop == S(300)));
}

#[test]
fn the_seed_moves_spreads_clocks_and_trace_offsets_and_nothing_else_does() {
    let starts =
        |seed| shipped("gcc-2016/tcp-99", seed).spec.flows.iter().map(|f| f.start).collect::<Vec<_>>();
    assert_eq!(starts(1), starts(1));
    assert_ne!(starts(1), starts(2));
    let offset = |seed| match &shipped("cellular/att-lte-uplink-2016", seed).spec.links[0].config.service {
        Service::Trace { offset, repeat: true, .. } => *offset,
        other => panic!("{other:?}"),
    };
    let offsets: Vec<TimeDelta> = (1..=10).map(offset).collect();
    assert!(offsets.iter().all(|o| !o.is_negative() && *o < TimeDelta::from_secs(120)));
    let far_apart = offsets.iter().max().copied().unwrap() - offsets.iter().min().copied().unwrap();
    assert!(far_apart > TimeDelta::from_secs(60), "ten runs see ten stretches: {offsets:?}");
}

#[test]
fn a_scaled_trace_has_its_share_of_the_opportunities() {
    let overrides =
        ["links.forward.trace=synthetic-lte", "links.forward.trace_scale=0.25"].map(str::to_owned);
    let trace = |overrides: &[String]| {
        let scenario = Scenario::open("gcc-2016/variable-capacity", overrides).unwrap();
        let run =
            scenario.build(&RunOptions { seed: 1, ..RunOptions::default() }, &TraceStore::at(None)).unwrap();
        match &run.spec.links[0].config.service {
            Service::Trace { trace, .. } => trace.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(trace(&overrides), trace(&overrides[..1]) / 4);
    let error = Scenario::open("gcc-2016/variable-capacity", &overrides[1..]).unwrap_err();
    assert_eq!(error.message(), "`links.forward.trace_scale` has no meaning without a trace");
}

#[test]
fn every_controller_meets_the_same_network() {
    let scenario = Scenario::open("cellular/att-lte-uplink-2016-beside-cubic", &[]).unwrap();
    let with = |controller| {
        let options = RunOptions { seed: 7, controller: Some(controller), series: false };
        scenario.build(&options, &TraceStore::at(None)).unwrap()
    };
    let (gcc, nada) = (with("gcc-2016"), with("nada"));
    assert_eq!(gcc.spec.seed, nada.spec.seed);
    for (a, b) in gcc.spec.links.iter().zip(&nada.spec.links) {
        assert_eq!((&a.name, &a.config, a.bottleneck), (&b.name, &b.config, b.bottleneck));
    }
    for (a, b) in gcc.spec.flows.iter().zip(&nada.spec.flows) {
        assert_eq!(
            (&a.name, a.start, a.stop, a.receiver_clock),
            (&b.name, b.start, b.stop, b.receiver_clock)
        );
    }
    assert_ne!(gcc.plan.flows[0].sender_signals, nada.plan.flows[0].sender_signals, "but another controller");
}

#[test]
fn the_flows_of_a_call_share_hosts_and_their_clock_and_no_other_does() {
    let media = |name: &str, call: &str| {
        format!("[flows.{name}]\nkind = \"media\"\nfrom = \"l\"\nto = \"r\"\ncontroller = \"gcc\"\n{call}\n")
    };
    let links = "[links.a]\nfrom = \"l\"\nto = \"r\"\nrate = \"1Mbps\"\n[links.b]\nfrom = \"r\"\nto = \"l\"\nrate = \"1Mbps\"\n";
    let flows =
        [media("alone", ""), media("video", "call = \"c\""), media("screen", "call = \"c\"\ncount = 2")];
    let run = build(&format!("title = \"x\"\nduration = \"1s\"\n{links}{}", flows.concat()), 1);
    let flows = &run.spec.flows;
    assert_eq!(flows.iter().map(|flow| flow.call).collect::<Vec<_>>(), [None, Some(1), Some(1), Some(1)]);
    assert!(flows[1..].iter().all(|flow| flow.receiver_clock == flows[1].receiver_clock));
    assert_ne!(flows[0].receiver_clock, flows[1].receiver_clock);
    weir_sim::Simulation::new(run.spec, weir_world::Unwatched).expect("as the simulator wants it").run();
}

#[test]
fn receivers_are_hours_off_unless_the_scenario_says_otherwise() {
    let hours = |run: &Run, flow: usize| run.spec.flows[flow].receiver_clock.offset.secs_f64() / 3600.0;
    let run = shipped("gcc-2016/three-flows", 1);
    for flow in 0..3 {
        assert!((1.0..12.0).contains(&hours(&run, flow)));
    }
    assert_ne!(hours(&run, 0), hours(&run, 1), "each receiver has its own clock");
    assert_ne!(hours(&run, 0), hours(&shipped("gcc-2016/three-flows", 2), 0));
    assert_eq!(hours(&shipped("bench/cbr", 1), 0), 0.0);
    let text = "title = \"x\"\nduration = \"1s\"\n[links.a]\nfrom = \"l\"\nto = \"r\"\nrate = \"1Mbps\"\n\
        [flows.f]\nkind = \"constant\"\nfrom = \"l\"\nto = \"r\"\nrate = \"1Mbps\"\n\
        receiver_clock = { offset = \"3s\", drift_ppm = 20, resolution = \"1ms\", \
        step = { at = \"9s\", by = \"-250ms\" } }";
    let clock = build(text, 1).spec.flows[0].receiver_clock;
    assert_eq!((clock.offset, clock.drift_ppm), (TimeDelta::from_secs(3), 20.0));
    assert_eq!(clock.resolution, TimeDelta::from_millis(1));
    assert_eq!(clock.step, Some((Time::from_millis(9000), TimeDelta::from_millis(-250))));
}

#[test]
fn a_flow_takes_the_way_with_the_fewest_links_or_the_one_it_names() {
    let text = |route: &str| {
        let link = |name, from, to| {
            format!("[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\n")
        };
        format!(
            "title = \"x\"\nduration = \"1s\"\n{}{}{}{}[flows.f]\nkind = \"constant\"\nfrom = \"a\"\nto = \"c\"\nrate = \"1Mbps\"\n{route}",
            link("one", "a", "b"),
            link("two", "b", "c"),
            link("direct", "a", "c"),
            link("back", "c", "a"),
        )
    };
    assert_eq!(build(&text(""), 1).spec.flows[0].forward, [2]);
    assert_eq!(build(&text("route = [\"one\", \"two\"]"), 1).spec.flows[0].forward, [0, 1]);
    let incomplete = text("route = [\"one\"]");
    let error = Scenario::parse("t.toml", &incomplete, &[]).unwrap_err();
    assert_eq!(error.message(), "the route ends at `b`, not at `c`");
}

#[test]
fn a_missing_trace_falls_back_and_the_run_says_so() {
    let run = shipped("cellular/att-lte-uplink-2016", 1);
    assert_eq!(run.traces.len(), 1);
    let used = &run.traces[0];
    assert_eq!(used.link, "uplink");
    assert_eq!(used.wanted, "att-lte-driving-2016.up");
    assert_eq!(used.used, "synthetic-lte");
}

#[test]
fn a_trace_without_fallback_that_is_not_there_is_an_error_where_it_is_named() {
    let text = "title = \"x\"\nduration = \"1s\"\n[links.a]\nfrom = \"l\"\nto = \"r\"\ntrace = \"synthetic-lt\"\n\
        [flows.f]\nkind = \"constant\"\nfrom = \"l\"\nto = \"r\"\nrate = \"1Mbps\"";
    let scenario = Scenario::parse("t.toml", text, &[]).unwrap();
    let error = scenario.build(&RunOptions::default(), &TraceStore::at(None)).unwrap_err();
    let expected = "t.toml:6:9: the trace `synthetic-lt` was not found in any data directory: there is none";
    assert_eq!(error.to_string(), expected);
    let advice = "did you mean `synthetic-lte`?; or name the data directory with `--data` or WEIR_DATA, or a file by its path, \
                  such as `./synthetic-lt`";
    assert_eq!(error.advice(), Some(advice));
}

#[test]
fn a_trace_that_is_none_is_answered_with_its_own_form() {
    let directory = tempfile::tempdir().unwrap();
    let traces = directory.path().join("traces");
    std::fs::create_dir(&traces).unwrap();
    std::fs::write(traces.join("a.csv"), "seconds,bits_per_second\n0,fast\n").unwrap();
    std::fs::write(traces.join("a.up"), "2\n1\n").unwrap();
    for (name, advice) in [
        (
            "a.csv",
            "times from which rates hold, increasing; after a last rate of 0 the trace ends, after another one as long as the one before lasted",
        ),
        (
            "a.up",
            "one line per delivery opportunity: its time in whole milliseconds, never falling; the name of a table ends in .csv",
        ),
    ] {
        let text = format!(
            "title = \"x\"\nduration = \"1s\"\n[links.a]\nfrom = \"l\"\nto = \"r\"\ntrace = \"{name}\"\n\
             [flows.f]\nkind = \"constant\"\nfrom = \"l\"\nto = \"r\"\nrate = \"1Mbps\""
        );
        let scenario = Scenario::parse("t.toml", &text, &[]).unwrap();
        let store = TraceStore::at(Some(directory.path().to_owned()));
        let error = scenario.build(&RunOptions::default(), &store).unwrap_err();
        assert_eq!(error.advice(), Some(advice), "{name}");
    }
}
