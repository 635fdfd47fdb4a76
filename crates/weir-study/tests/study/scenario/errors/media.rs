//! Controllers, encoders, audio.

use super::check;

#[test]
fn errors_name_unknown_controllers_algorithms_and_options() {
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
        "34:7: there is no TCP algorithm `cubik`",
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

#[test]
fn the_flows_of_a_call_have_their_ends_and_their_clocks_in_common() {
    check(
        "encoder = { preset",
        "call = \"c\"\nreceiver_clock = { offset = \"1s\" }\n[flows.screen]\nkind = \"media\"\ncontroller = \"gcc-2016\"\ncall = \"c\"\nencoder = { preset",
        "26:8: the flows of the call `c` share a host at either end, and its clock",
        "let them have the same `from`, `to`, `access_delay` and `receiver_clock`",
    );
}

#[test]
fn only_an_encoder_of_several_streams_climbs() {
    check(
        "encoder = { preset",
        "climb = false\nencoder = { preset",
        "21:1: `flows.video.climb` has no meaning: the encoder makes one stream",
        "leave it out, or take the encoder `simulcast`",
    );
}

#[test]
fn key_frames_are_asked_for_only_where_there_are_any() {
    check(
        "encoder = { preset",
        "key_frame_requests = \"300ms\"\nencoder = { preset",
        "21:1: `flows.video.key_frame_requests` has no meaning: the encoder makes no key frames",
        "leave it out, or let the encoder have `key_frames` or a `burst`",
    );
    check(
        "encoder = { preset = \"papers\", size_noise = 0.1 }",
        "key_frame_requests = \"0s\"\nencoder = \"gcc-2016\"",
        "21:22: `flows.video.key_frame_requests` is 0ns",
        "write a time longer than 0s",
    );
}

#[test]
fn skipping_and_late_requests_have_their_encoders_and_their_range() {
    check(
        "size_noise = 0.1",
        "skip_above = \"-1ms\"",
        "21:45: `flows.video.encoder.skip_above` is -1ms",
        "write a time longer than 0s",
    );
    check(
        "size_noise = 0.1",
        "skip_above = \"nevr\"",
        "21:45: `flows.video.encoder.skip_above` cannot be \"nevr\"",
        "did you mean `never`?",
    );
    check(
        "size_noise = 0.1",
        "late_requests = \"dropped\"",
        "21:32: `flows.video.encoder.late_requests` has no meaning for this preset",
        "leave it out, or take a `preset` that has it",
    );
    check(
        "\"papers\", size_noise = 0.1",
        "\"perfect\", skip_above = \"1s\"",
        "21:33: `flows.video.encoder.skip_above` has no meaning for this preset",
        "leave it out, or take a `preset` that has it",
    );
    check(
        "\"papers\", size_noise = 0.1",
        "\"rfc8867\", late_requests = \"droped\"",
        "21:49: `flows.video.encoder.late_requests` cannot be \"droped\"",
        "did you mean `dropped`?",
    );
}

#[test]
fn a_source_has_one_highest_rate_at_a_time_and_none_below_its_lowest() {
    let steps = |steps: &str| format!("max_rates = [{steps}]");
    let refused = |text: &str, message: &str, help: &str| check("size_noise = 0.1", text, message, help);
    refused(
        &format!("max_rate = \"1Mbps\", {}", steps("{ at = \"0s\", rate = \"1Mbps\" }")),
        "21:52: `flows.video.encoder.max_rates` stands beside `max_rate`",
        "leave out one of them",
    );
    refused(
        &steps("{ at = \"1s\", rate = \"1Mbps\" }"),
        "21:52: the first step is at 1s",
        "let the first step be at 0s",
    );
    refused(
        &steps(""),
        "21:44: `flows.video.encoder.max_rates` is empty",
        "begin with `{ at = \"0s\", rate = … }`",
    );
    refused(
        &steps("{ at = \"0s\", rate = \"10kbps\" }, { at = \"9s\", rate = \"1Mbps\" }"),
        "21:65: the highest rate of 10kbps is below the lowest, 50kbps",
        "let it be at least `min_rate`",
    );
    let five = (0..5).map(|at| format!("{{ at = \"{at}s\", rate = \"1Mbps\" }}")).collect::<Vec<_>>();
    refused(
        &steps(&five.join(", ")),
        "21:44: `flows.video.encoder.max_rates` has 5 steps",
        "write at most 4",
    );
}
