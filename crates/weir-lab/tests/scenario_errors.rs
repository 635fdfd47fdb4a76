//! Each way to get a scenario wrong, and what the error says: where, what, and what would be right.

use miette::NarratableReportHandler;
use weir_lab::error::ScenarioError;
use weir_lab::scenario::Scenario;

/// Every line is tested at its number: do not reflow.
const GOOD: &str = r#"title = "A call"
duration = "20s"
measure = { from = "5s", to = "20s" }
[links.forward]
from = "left"
to = "right"
delay = "25ms"
rate = "1Mbps"
queue = { time = "300ms" }
jitter = { kind = "uniform", max = "3ms" }
loss = 0.01
[links.backward]
from = "right"
to = "left"
steps = [{ at = "0s", rate = "1Mbps" }, { at = "5s", rate = "2Mbps" }]
[flows.video]
kind = "media"
from = "left"
to = "right"
controller = "gcc-2016"
encoder = { preset = "papers", size_noise = 0.1 }
rates = { min = "50kbps", start = "300kbps", max = "2Mbps" }
[flows.cross]
kind = "constant"
from = "left"
to = "right"
rate = "1Mbps"
start = "5s"
stop = "10s"
[flows.bulk]
kind = "tcp"
from = "left"
to = "right"
law = "cubic"
"#;

fn errors_of(text: &str) -> Vec<ScenarioError> {
    let Err(first) = Scenario::parse("call.toml", text, &[]) else { panic!("this is wrong:\n{text}") };
    let others = first.others().to_vec();
    std::iter::once(first).chain(others).collect()
}

/// Replaces `right` in the good scenario by `wrong`; the error must begin with `message` and advise `advice`.
#[track_caller]
fn check(right: &str, wrong: &str, message: &str, advice: &str) {
    assert_eq!(GOOD.matches(right).count(), 1, "`{right}` must be there once");
    let errors = errors_of(&GOOD.replace(right, wrong));
    assert_eq!(errors[0].to_string(), format!("call.toml:{message}"));
    assert_eq!(errors[0].advice().unwrap_or_default(), advice);
    assert_eq!(errors.len(), 1, "one mistake, one error: {errors:#?}");
}

#[test]
fn the_scenario_without_mistakes_is_accepted() {
    Scenario::parse("call.toml", GOOD, &[]).unwrap();
}

#[test]
fn text_that_is_no_toml_is_shown_where_it_breaks() {
    let errors = errors_of(&GOOD.replace("loss = 0.01", "loss = "));
    assert!(errors[0].to_string().starts_with("call.toml:11:8: "), "{}", errors[0]);
}

#[test]
fn an_unknown_key_brings_up_the_nearest() {
    check(
        "delay = \"25ms\"",
        "dealy = \"25ms\"",
        "7:1: `links.forward.dealy` is not a key that is known here",
        "did you mean `delay`?",
    );
    check(
        "duration = \"20s\"",
        "duration = \"20s\"\ntime = 3",
        "3:1: `time` is not a key that is known here",
        "known here are `name`, `title`, `source`, `duration`, `runs`, `seed`, `controllers`, `clocks`, `measure`, `dumbbell`, `multipath`, `cells`, `links` and `flows`",
    );
}

#[test]
fn a_key_of_another_kind_of_flow_is_unknown() {
    check(
        "law = \"cubic\"",
        "law = \"cubic\"\nencoder = \"papers\"",
        "35:1: `flows.bulk.encoder` is not a key that is known here where `kind = \"tcp\"`",
        "known here are `from`, `to`, `route`, `reverse_route`, `access_delay`, `five_tuple`, `start`, `stop`, `count`, \
         `first`, `every`, `start_spread`, `stop_spread`, `pauses`, `receiver_clock`, `profile`, `law`, `size`, `downloads`, `options` and `kind`",
    );
}

#[test]
fn an_unknown_key_deep_inside_is_found_too() {
    check(
        "size_noise = 0.1",
        "noise = 0.1",
        "21:32: `flows.video.encoder.noise` is not a key that is known here",
        "known here are `preset`, `frame_rate`, `min_rate`, `max_rate`, `size_noise`, `reaction`, `key_frames`, \
         `interval_noise`, `burst`, `traces`, `skip_frames`, `packet_size`, `ladder` and `hysteresis`",
    );
    check(
        "{ at = \"5s\", rate",
        "{ at = \"5s\", rat",
        "15:54: `links.backward.steps.1.rat` is not a key that is known here",
        "did you mean `rate`?",
    );
}

#[test]
fn a_missing_key_is_shown_at_its_table() {
    check("from = \"right\"\n", "", "12:8: `links.backward.from` is missing", "add `from`: text");
    check(
        "duration = \"20s\"\n",
        "",
        "1:1: `duration` is missing",
        "add `duration`: a time such as \"25ms\"",
    );
}

#[test]
fn an_unknown_word_brings_up_the_nearest() {
    check(
        "kind = \"uniform\"",
        "kind = \"unifrom\"",
        "10:19: `links.forward.jitter.kind` cannot be \"unifrom\"",
        "did you mean `uniform`?",
    );
    check(
        "kind = \"tcp\"",
        "kind = \"quic\"",
        "31:8: `flows.bulk.kind` cannot be \"quic\"",
        "known here are `media`, `constant`, `audio`, `tcp` and `web`",
    );
    check(
        "preset = \"papers\"",
        "preset = \"paper\"",
        "21:22: `flows.video.encoder.preset` cannot be \"paper\"",
        "did you mean `papers`?",
    );
}

#[test]
fn a_quantity_needs_its_unit() {
    check(
        "delay = \"25ms\"",
        "delay = 25",
        "7:9: `links.forward.delay` cannot be 25",
        "write a time such as \"25ms\"",
    );
    check(
        "delay = \"25ms\"",
        "delay = \"25 furlongs\"",
        "7:9: `links.forward.delay`: `25 furlongs` has a unit that is not known here",
        "write a time such as \"25ms\", \"1.5s\" or \"20us\"",
    );
    check(
        "rate = \"1Mbps\"\nqueue",
        "rate = \"-1Mbps\"\nqueue",
        "8:8: `links.forward.rate`: `-1Mbps` must not be negative",
        "write a rate such as \"2.5Mbps\", \"300kbps\" or \"1000bps\"",
    );
}

#[test]
fn numbers_stay_in_their_range() {
    check(
        "loss = 0.01",
        "loss = 1.01",
        "11:8: `links.forward.loss`: 1.01 is out of range",
        "write a number from 0 to 1",
    );
    check(
        "loss = 0.01",
        "loss = nan",
        "11:8: `links.forward.loss`: NaN is out of range",
        "write a number from 0 to 1",
    );
    check(
        "duration = \"20s\"",
        "duration = \"20s\"\nruns = 0",
        "3:8: `runs`: 0 is out of range",
        "write a whole number from 1 to 100000",
    );
    check(
        "duration = \"20s\"",
        "duration = \"20s\"\nruns = 1.5",
        "3:8: `runs` cannot be 1.5",
        "write a whole number from 1 to 100000",
    );
}

#[test]
fn times_make_sense() {
    check(
        "duration = \"20s\"",
        "duration = \"0s\"\n#",
        "2:12: `duration` is 0ns",
        "write a time longer than 0s",
    );
    check(
        "delay = \"25ms\"",
        "delay = \"-25ms\"",
        "7:9: `links.forward.delay` is -25ms, less than no time",
        "write 0s or longer",
    );
    check(
        "stop = \"10s\"",
        "stop = \"4s\"",
        "29:8: the flow stops at 4s, before it starts at 5s",
        "let `stop` be later than `start`",
    );
    check(
        "from = \"5s\"",
        "from = \"20s\"",
        "3:20: the window begins at 20s, the run ends at 20s",
        "let the window begin before the run ends",
    );
    check(
        "to = \"20s\"",
        "to = \"5s\"",
        "3:31: the window ends at 5s, before it begins at 5s",
        "let `to` be later than `from`",
    );
}

#[test]
fn a_link_has_one_capacity() {
    check(
        "rate = \"1Mbps\"\nqueue",
        "queue",
        "4:8: `links.forward` has no capacity",
        "add one of `rate`, `steps`, `trace` and `cell`",
    );
    check(
        "rate = \"1Mbps\"\nqueue",
        "rate = \"1Mbps\"\ntrace = \"x\"\nqueue",
        "9:1: `links.forward` has both `rate` and `trace`",
        "a link has one of `rate`, `steps`, `trace` and `cell`",
    );
    check(
        "rate = \"1Mbps\"\nqueue",
        "rate = \"0bps\"\nqueue",
        "8:8: `links.forward.rate` is 0bps",
        "write a rate above 0bps",
    );
    check(
        "loss = 0.01",
        "trace_offset = \"random\"",
        "11:1: `links.forward.trace_offset` has no meaning without a trace",
        "leave it out, or add `trace`",
    );
}

#[test]
fn steps_begin_at_zero_and_increase() {
    check("at = \"0s\"", "at = \"1s\"", "15:17: the first step is at 1s", "let the first step be at 0s");
    check(
        "at = \"5s\"",
        "at = \"0s\"",
        "15:48: the step at 0ns comes after the one at 0ns",
        "let each step be later than the one before",
    );
    let outage = GOOD.replace(
        "steps = [{ at = \"0s\", rate = \"1Mbps\" }, { at = \"5s\", rate = \"2Mbps\" }]",
        "steps = [{ at = \"0s\", rate = \"0bps\" }]",
    );
    assert_eq!(errors_of(&outage)[0].to_string(), "call.toml:15:9: `links.backward.steps` never has a rate");
}

#[test]
fn flows_need_a_way_there_and_back() {
    check(
        "to = \"left\"\nsteps",
        "to = \"nowhere\"\nsteps",
        "16:8: there is no way from `right` to `left`",
        "add a link from `right` towards `left`",
    );
    check(
        "to = \"left\"\nsteps",
        "to = \"right\"\nsteps",
        "14:6: the link `backward` leads to where it begins, `right`",
        "let `from` and `to` be different nodes",
    );
    check(
        "to = \"right\"\ncontroller",
        "to = \"rihgt\"\ncontroller",
        "19:6: no link touches the node `rihgt`",
        "did you mean `right`?",
    );
    check(
        "to = \"right\"\ncontroller",
        "to = \"right\"\nroute = [\"foward\"]\ncontroller",
        "20:10: there is no link `foward`",
        "did you mean `forward`?",
    );
    check(
        "to = \"right\"\ncontroller",
        "to = \"right\"\nroute = [\"backward\"]\ncontroller",
        "20:10: the link `backward` begins at `right`, not at `left`",
        "name the links in the order in which packets pass them",
    );
    check(
        "from = \"left\"\nto = \"right\"\ncontroller",
        "to = \"right\"\ncontroller",
        "16:8: `flows.video.from` is missing",
        "add `from`; the links have the nodes `left` and `right`",
    );
}

#[test]
fn controllers_laws_and_their_options_are_known() {
    check(
        "controller = \"gcc-2016\"",
        "controller = \"gcc2016\"",
        "20:14: there is no controller `gcc2016`",
        "did you mean `gcc-2016`?",
    );
    check(
        "controller = \"gcc-2016\"",
        "controller = \"gcc-2016\"\noptions = { static_treshold = 38.0 }",
        "21:13: `flows.video.options.static_treshold` is not a key that is known here",
        "did you mean `static_threshold`?",
    );
    check(
        "controller = \"gcc-2016\"",
        "controller = \"gcc-2016\"\noptions = { decrease = 1.5 }",
        "21:11: `gcc-2016` does not take these options: `decrease` must be in (0, 1)",
        "see the options of `gcc-2016`",
    );
    check(
        "controller = \"gcc-2016\"",
        "controller = \"ledbat\"\noptions = { preset = \"target-60m\" }",
        "21:22: `flows.video.options.preset` cannot be \"target-60m\"",
        "did you mean `target-60ms`?",
    );
    check(
        "controller = \"gcc-2016\"",
        "controller = \"ledbat\"\noptions = { preset = \"target-60ms\", gain = 9.0 }",
        "21:11: `ledbat` does not take these options: `gain` must be in (0, 1]",
        "see the options of `ledbat`",
    );
    check(
        "law = \"cubic\"",
        "law = \"cubik\"",
        "34:7: there is no window law `cubik`",
        "did you mean `cubic`?",
    );
    check(
        "law = \"cubic\"",
        "options = { mss = \"1B\" }",
        "34:19: `flows.bulk.options.mss` is 1B",
        "write a size from 50B to 60kB",
    );
}

#[test]
fn rates_are_in_order() {
    check(
        "start = \"300kbps\"",
        "start = \"3Mbps\"",
        "22:9: rates must satisfy 0 < min ≤ start ≤ max; they are min 50kbps, start 3Mbps, max 2Mbps",
        "let `min`, `start` and `max` be in this order",
    );
    check(
        "size_noise = 0.1",
        "min_rate = \"3Mbps\"",
        "21:11: the encoder's rates are out of order: from 3Mbps to 2.5Mbps",
        "let 0 < `min_rate` ≤ `max_rate`",
    );
}

#[test]
fn two_flows_cannot_have_one_name() {
    check(
        "[flows.bulk]\nkind = \"tcp\"",
        "count = 2\n[flows.cross-2]\nkind = \"tcp\"",
        "31:8: there are two flows `cross-2`",
        "a copy takes the flow's name and its number; give one of the two another name",
    );
}

#[test]
fn a_scenario_has_one_network_and_some_flow() {
    let empty = errors_of("title = \"x\"\nduration = \"1s\"\n");
    let messages: Vec<String> = empty.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["call.toml:1:1: the scenario has no network", "call.toml:1:1: the scenario has no flow"]
    );
    let both = GOOD.replace(
        "[links.forward]",
        "[dumbbell]\naccess = { rate = \"1Gbps\" }\nbottleneck = { rate = \"1Mbps\" }\n[links.forward]",
    );
    assert_eq!(errors_of(&both)[0].to_string(), "call.toml:4:2: a scenario has either `dumbbell` or `links`");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = GOOD.replace("delay =", "dealy =").replace("law = \"cubic\"", "law = 5");
    let places: Vec<_> = errors_of(&text).iter().map(|e| e.position().unwrap()).collect();
    assert_eq!(places, [(7, 1), (34, 7)]);
}

#[test]
fn the_report_shows_the_line_and_the_remedy() {
    let errors = errors_of(&GOOD.replace("delay =", "dealy ="));
    let mut report = String::new();
    NarratableReportHandler::new().render_report(&mut report, &errors[0]).unwrap();
    for part in ["call.toml:7:1: `links.forward.dealy`", "dealy = \"25ms\"", "did you mean `delay`?"] {
        assert!(report.contains(part), "{part} is not in:\n{report}");
    }
}

#[test]
fn a_file_that_is_not_there_brings_up_the_nearest_scenario() {
    let error = Scenario::open("gcc-2016/three-flow", &[]).unwrap_err();
    assert!(
        error.to_string().starts_with("gcc-2016/three-flow: no scenario ships under this name"),
        "{error}"
    );
    assert_eq!(error.advice(), Some("did you mean `gcc-2016/three-flows`?"));
}

#[test]
fn pauses_come_one_after_the_other_and_not_to_tcp() {
    check(
        "start = \"5s\"",
        "start = \"5s\"\npauses = [{ from = \"8s\", to = \"7s\" }]",
        "29:31: the pause ends at 7s, before it begins at 8s",
        "let `to` be later than `from`",
    );
    check(
        "start = \"5s\"",
        "start = \"5s\"\npauses = [{ from = \"6s\", to = \"8s\" }, { from = \"7s\", to = \"9s\" }]",
        "29:48: the pause from 7s on begins before the one before ends, at 8s",
        "let each pause begin after the one before",
    );
    check(
        "law = \"cubic\"",
        "law = \"cubic\"\npauses = [{ from = \"6s\", to = \"8s\" }]",
        "35:1: `flows.bulk.pauses` has no meaning: TCP does not pause",
        "leave it out, or let the flow `stop` and another one start",
    );
}

#[test]
fn unresponsive_traffic_has_one_rate_or_steps_and_takes_turns_by_two_times() {
    let right = "rate = \"1Mbps\"\nstart = \"5s\"";
    check(right, "start = \"5s\"", "23:8: `flows.cross` has no rate", "add `rate` or `steps`");
    check(
        right,
        "rate = \"1Mbps\"\nsteps = [{ at = \"0s\", rate = \"1Mbps\" }]",
        "28:1: `flows.cross` has both `rate` and `steps`",
        "leave out one of them",
    );
    check(
        right,
        "steps = [{ at = \"1s\", rate = \"1Mbps\" }]",
        "27:17: the first step is at 1s",
        "let the first step be at 0s",
    );
    check(
        right,
        "rate = \"1Mbps\"\non = \"1s\"",
        "23:8: `flows.cross.off` is missing",
        "`on` and `off` take turns: write both, or neither",
    );
    check(
        right,
        "rate = \"1Mbps\"\non = \"1s\"\noff = \"1ms\"",
        "29:7: `flows.cross.off` is 1ms",
        "write at least 10ms",
    );
}

#[test]
fn audio_has_packets_of_a_sensible_size_and_distance() {
    check(
        "encoder = { preset",
        "audio = { interval = \"1ms\" }\nencoder = { preset",
        "21:22: `flows.video.audio.interval` is 1ms",
        "write at least 2.5ms",
    );
    check(
        "encoder = { preset",
        "audio = { rate = \"4Mbps\" }\nencoder = { preset",
        "21:18: a packet of audio would have 10kB",
        "let rate and interval make at most 9kB a packet",
    );
}

#[test]
fn downloads_have_sizes_and_stand_in_place_of_one_transfer() {
    check(
        "law = \"cubic\"",
        "downloads = { size = { min = \"2MB\", max = \"1MB\" } }",
        "34:22: sizes from 2MB to 1MB are none",
        "let 0B < `min` ≤ `max`",
    );
    check(
        "law = \"cubic\"",
        "size = \"1MB\"\ndownloads = { size = { min = \"1MB\", max = \"1MB\" } }",
        "35:1: a TCP flow has either one `size` or `downloads`",
        "leave out one of them",
    );
    check(
        "law = \"cubic\"",
        "downloads = { size = { min = \"1MB\", max = \"1MB\" }, begin = \"of\" }",
        "34:60: `flows.bulk.downloads.begin` cannot be \"of\"",
        "did you mean `on`?",
    );
}

#[test]
fn keys_of_another_encoder_are_refused() {
    let right = "{ preset = \"papers\", size_noise = 0.1 }";
    check(
        right,
        "{ preset = \"trace-driven\", size_noise = 0.1 }",
        "21:38: `flows.video.encoder.size_noise` has no meaning for this preset",
        "leave it out, or take a `preset` that has it",
    );
    check(
        right,
        "{ ladder = [\"1Mbps\"] }",
        "21:13: `flows.video.encoder.ladder` has no meaning for this preset",
        "leave it out, or take a `preset` that has it",
    );
    check(
        right,
        "{ preset = \"simulcast\", ladder = [\"1Mbps\", \"500kbps\"] }",
        "21:44: `flows.video.encoder.ladder` is no ladder",
        "write one to 4 rates above 0bps that rise",
    );
    check(
        right,
        "{ preset = \"greedy\", packet_size = \"2kB\" }",
        "21:46: `flows.video.encoder.packet_size` is 2kB",
        "write a size from 1B to 1.2kB",
    );
}
