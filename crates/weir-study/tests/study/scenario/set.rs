//! `--set path=value`: its effects, and its refusals.

use weir_form::ScenarioError;
use weir_scenario::compile::set;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{
    EncoderChoice, FlowTraffic, LinkJitter, LinkLoss, RandomOffset, Scenario, TraceOffset,
};
use weir_units::{DataRate, TimeDelta};

const TEXT: &str = r#"title = "A call"
duration = "20s"
[links.forward]
from = "left"
to = "right"
steps = [{ at = "0s", rate = "1Mbps" }, { at = "5s", rate = "2Mbps" }]
[links."way back"]
from = "right"
to = "left"
rate = "1Mbps"
[flows.video]
kind = "media"
from = "left"
to = "right"
controller = "gcc-2016"
encoder = "gcc-2016"
"#;

fn with(overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
    Scenario::parse("call.toml", TEXT, &overrides)
}

/// The media flow `video`.
fn video(scenario: &Scenario) -> &weir_scenario::scenario::Media {
    let FlowTraffic::Media(media) = &scenario.flows.get("video").unwrap().carried else {
        panic!("a media flow")
    };
    media
}

#[test]
fn values_are_set_by_their_path() {
    let scenario = with(&[
        "duration=5s",
        "runs = 3",
        "links.forward.delay=30ms",
        "links.forward.steps.1.rate=3Mbps",
        "links.\"way back\".loss=0.5",
        "flows.video.rates.max=4Mbps",
    ])
    .unwrap();
    assert_eq!(scenario.duration, TimeDelta::from_secs(5));
    assert_eq!(scenario.runs, 3);
    let forward = &scenario.links.get("forward").unwrap().model;
    assert_eq!(forward.delay, TimeDelta::from_millis(30));
    assert_eq!(forward.steps.as_ref().unwrap()[1].rate, DataRate::from_mbps(3));
    assert_eq!(scenario.links.get("way back").unwrap().model.loss, LinkLoss::Share(0.5));
    assert_eq!(video(&scenario).rates.max, Some(DataRate::from_mbps(4)));
}

#[test]
fn a_value_is_toml_where_toml_fits_and_text_elsewhere() {
    let scenario = with(&["title=5", "links.forward.jitter={ kind = \"uniform\", max = \"2ms\" }"]).unwrap();
    assert_eq!(scenario.title, "5");
    let jitter = scenario.links.get("forward").unwrap().model.jitter.clone();
    assert_eq!(jitter, LinkJitter::Uniform { max: TimeDelta::from_millis(2) });
    assert_eq!(with(&["title=\"5\""]).unwrap().title, "5");
    assert_eq!(with(&["title=a = b"]).unwrap().title, "a = b");
    assert_eq!(with(&["title="]).unwrap().title, "");
}

#[test]
fn a_line_break_in_a_value_sets_nothing_else() {
    let scenario = with(&["title=1\nruns = 7"]).unwrap();
    assert_eq!((scenario.title.as_str(), scenario.runs), ("1\nruns = 7", 1));
}

#[test]
fn tables_that_are_not_there_yet_are_made() {
    let scenario = with(&[
        "measure.from=2s",
        "links.forward.jitter.kind=uniform",
        "links.forward.jitter.max=3ms",
        "flows.video.options.static_threshold=38",
    ])
    .unwrap();
    assert_eq!(scenario.measure.as_ref().unwrap().from, TimeDelta::from_secs(2));
    let jitter = scenario.links.get("forward").unwrap().model.jitter.clone();
    assert_eq!(jitter, LinkJitter::Uniform { max: TimeDelta::from_millis(3) });
    assert_eq!(video(&scenario).options.as_ref().unwrap().0["static_threshold"].as_i64(), Some(38));
}

#[test]
fn a_preset_stays_when_one_of_its_values_is_changed() {
    let scenario = with(&["flows.video.encoder.size_noise=0.2"]).unwrap();
    assert!(matches!(video(&scenario).encoder, EncoderChoice::Changed(_)));
    let config = video(&scenario).encoder.config();
    assert_eq!((config.size_noise, config.max_rate), (0.2, DataRate::from_mbps(2)));
}

#[test]
fn later_values_win() {
    assert_eq!(with(&["runs=2", "runs=3"]).unwrap().runs, 3);
}

#[test]
fn a_new_capacity_takes_the_place_of_the_old_one() {
    let trace = with(&["links.forward.trace=synthetic-lte", "links.forward.trace_offset=random"]).unwrap();
    let model = &trace.links.get("forward").unwrap().model;
    assert_eq!((model.trace.as_deref(), &model.steps), (Some("synthetic-lte"), &None));
    assert_eq!(model.trace_offset, Some(TraceOffset::Word(RandomOffset::Random)));
    let rate =
        ["links.forward.trace=synthetic-lte", "links.forward.repeat=false", "links.forward.rate=2Mbps"];
    let rate = with(&rate).unwrap();
    let model = &rate.links.get("forward").unwrap().model;
    assert_eq!((model.rate, &model.trace, model.repeat), (Some(DataRate::from_mbps(2)), &None, None));
    let error = with(&["links.forward.steps=[]"]).unwrap_err();
    assert_eq!(error.to_string(), "--set:1:21: `links.forward.steps` is empty");
}

#[test]
fn the_error_of_an_unknown_quantity_names_the_nearest() {
    let error = with(&["links.forward.trace_offset=radnom"]).unwrap_err();
    assert_eq!(error.advice(), Some("did you mean `random`?"));
    let error = with(&["links.forward.trace_offset=5"]).unwrap_err();
    assert_eq!(error.advice(), Some("write \"random\" or a time such as \"25ms\""));
}

/// The message and advice of a refused override.
fn refused(assignment: &str) -> (String, String) {
    let error = with(&[assignment]).unwrap_err();
    (error.to_string(), error.advice().unwrap_or_default().to_owned())
}

#[test]
fn a_path_that_no_scenario_has_brings_up_the_nearest() {
    let (message, advice) = refused("links.forward.dealy=30ms");
    assert_eq!(message, "--set:1:1: `links.forward.dealy` is not a key that is known here");
    assert_eq!(advice, "did you mean `delay`?");
    let (message, advice) = refused("link.forward.delay=30ms");
    assert_eq!(message, "--set:1:1: `link` is not a key that is known here");
    assert_eq!(advice, "did you mean `links`?");
    let (_, advice) = refused("flows.video.options.decreese=0.8");
    assert_eq!(advice, "did you mean `decrease`?");
}

#[test]
fn a_link_or_flow_that_this_scenario_does_not_have_brings_up_the_nearest() {
    let (message, advice) = refused("links.foward.delay=30ms");
    assert_eq!(message, "--set:1:1: there is no `links.foward`");
    assert_eq!(advice, "did you mean `forward`?");
}

#[test]
fn an_item_that_an_array_does_not_have_is_refused() {
    let (message, advice) = refused("links.forward.steps.2.rate=1Mbps");
    assert_eq!(message, "--set:1:1: `links.forward.steps` has no item `2`");
    assert_eq!(advice, "it has 2, counted from 0");
}

#[test]
fn a_path_that_goes_on_behind_a_value_is_refused() {
    let (message, advice) = refused("duration.seconds=3");
    assert_eq!(message, "--set:1:1: `duration` has no parts");
    assert_eq!(advice, "set `duration` itself");
}

#[test]
fn a_value_that_cannot_stand_there_is_refused() {
    let (message, advice) = refused("links.forward.delay=30");
    assert_eq!(message, "--set:1:21: `links.forward.delay` cannot be 30");
    assert_eq!(advice, "write a time such as \"25ms\"");
    let (message, _) = refused("links.forward.loss=2");
    assert_eq!(message, "--set:1:20: `links.forward.loss`: 2 is out of range");
    let (message, _) = refused("flows.video.stop=-1s");
    assert_eq!(message, "--set:1:18: the flow stops at -1s, before it starts at 0ns");
}

#[test]
fn a_malformed_assignment_is_refused_with_an_example() {
    for (wrong, message) in [
        ("runs", "--set:1:1: `runs` has no `=`"),
        ("=3", "--set:1:1: `` is no path of keys"),
        ("links..delay=1ms", "--set:1:1: `links..delay` is no path of keys"),
        ("links.\"way back.delay=1ms", "--set:1:1: `links.\"way back.delay` is no path of keys"),
    ] {
        let error = refused(wrong);
        assert_eq!(error.0, message);
        assert_eq!(error.1, "write `path=value`, such as `links.forward.delay=30ms`");
    }
}

#[test]
fn a_refused_override_leaves_the_table_as_it_was() {
    let before: toml::Table = toml::from_str(TEXT).unwrap();
    let mut table = before.clone();
    assert!(set(&Registry::standard(), &mut table, "links.forward.loss=2").is_err());
    assert_eq!(table, before);
    set(&Registry::standard(), &mut table, "links.forward.loss=0.25").unwrap();
    assert_eq!(table["links"]["forward"]["loss"].as_float(), Some(0.25));
}
