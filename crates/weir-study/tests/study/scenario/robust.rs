//! Any content of a file or of a `--set` gets an answer, never a panic.

use proptest::prelude::*;
use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_scenario::shipped::SCENARIOS;
use weir_sim::Simulation;
use weir_world::Unwatched;

/// Text that is likely to have a meaning in a scenario.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\n]{0,12}",
        prop::sample::select(vec![
            "\"-1s\"",
            "\"0s\"",
            "\"9e9h\"",
            "\"0bps\"",
            "\"18Gbps\"",
            "-1",
            "0",
            "1e308",
            "nan",
            "[]",
            "{}",
            "true",
            "µ",
            "links",
            "flows",
            "[links.forward]",
            "kind = \"tcp\"",
            "count = 10000",
            "every = \"1ns\"",
            "\n",
            "=",
            "\"",
        ])
        .prop_map(str::to_owned),
    ]
}

/// Accepted text can be simulated and written out; refused text is refused with a message.
fn check(text: &str, overrides: &[String]) {
    let scenario = match Scenario::parse("any.toml", text, overrides) {
        Ok(scenario) => scenario,
        Err(error) => return assert!(!error.message().is_empty()),
    };
    let written = scenario.to_toml().unwrap();
    assert_eq!(Scenario::parse("again.toml", &written, &[]).unwrap(), scenario, "{written}");
    match scenario.build(&RunOptions::default(), &TraceStore::at(None)) {
        Ok(run) => assert!(Simulation::new(run.spec, Unwatched).is_ok(), "{written}"),
        Err(error) => assert!(error.message().contains("trace"), "{error}"),
    }
}

#[test]
fn a_clock_that_is_off_by_centuries_or_hardly_moves_is_refused() {
    let text = weir_scenario::shipped::find("gcc-2016/tcp-one-adaptive").unwrap().text;
    let clock = |clock: &str| {
        let set = format!("flows.video.receiver_clock={clock}");
        Scenario::parse("any.toml", text, &[set]).map_err(|error| error.to_string())
    };
    assert!(clock("{ offset = \"-876000h\", resolution = \"1s\" }").is_ok());
    let offset = clock("{ offset = \"6000000000s\" }").unwrap_err();
    assert!(offset.contains("`flows.video.receiver_clock.offset` is"), "{offset}");
    let resolution = clock("{ resolution = \"5000000000s\" }").unwrap_err();
    assert!(resolution.contains("`flows.video.receiver_clock.resolution` is"), "{resolution}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_damaged_file_is_read_or_refused(
        which in 0..SCENARIOS.len(), at in any::<prop::sample::Index>(), cut in 0..40usize, put in fragment(),
    ) {
        let mut text: Vec<char> = SCENARIOS[which].text.chars().collect();
        let at = at.index(text.len());
        text.splice(at..(at + cut).min(text.len()), put.chars());
        let text: String = text.into_iter().collect();
        check(&text, &[]);
    }

    #[test]
    fn an_arbitrary_value_at_any_key_is_taken_or_refused(
        key in prop::sample::select(vec![
            "duration", "runs", "measure.from", "measure.to", "links.forward.delay", "links.forward.rate",
            "links.forward.steps", "links.forward.queue.packets", "links.forward.jitter", "links.forward.loss",
            "flows.video.start", "flows.video.stop", "flows.video.count", "flows.video.every", "flows.video.start_spread",
            "flows.video.stop_spread", "flows.video.first", "links.forward.count",
            "flows.video.rates.max", "flows.video.encoder.frame_rate", "flows.video.encoder.key_frames", "flows.video.options",
            "flows.video.receiver_clock.offset", "flows.video.payload_limit", "flows.tcp.size", "flows.tcp.options.mss",
        ]),
        value in fragment(),
    ) {
        let text = weir_scenario::shipped::find("gcc-2016/tcp-one-adaptive").unwrap().text;
        check(text, &[format!("{key}={value}")]);
    }

    #[test]
    fn an_arbitrary_override_is_taken_or_refused(path in "[a-z.\"0-9 ]{0,20}", value in fragment()) {
        let text = SCENARIOS[0].text;
        check(text, &[format!("{path}={value}"), path]);
    }
}
