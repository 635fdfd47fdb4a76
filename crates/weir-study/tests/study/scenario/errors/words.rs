//! Keys, words, quantities and numbers.

use super::{GOOD, check, errors_of};

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
        "known here are `name`, `title`, `source`, `duration`, `runs`, `seed`, `controllers`, `variants`, `clocks`, `breakers`, `measure`, `dumbbell`, `multipath`, `cells`, `links`, `flows` and `coupling`",
    );
}

#[test]
fn a_key_of_another_kind_of_flow_is_unknown() {
    check(
        "law = \"cubic\"",
        "law = \"cubic\"\nencoder = \"papers\"",
        "35:1: `flows.bulk.encoder` is not a key that is known here where `kind = \"tcp\"`",
        "known here are `from`, `to`, `route`, `reverse_route`, `access_delay`, `five_tuple`, `start`, `stop`, `count`, \
         `first`, `every`, `start_spread`, `stop_spread`, `priorities`, `tenant`, `pauses`, `receiver_clock`, `profile`, `algorithm`, `size`, `downloads`, `priority`, `options` and `kind`",
    );
}

#[test]
fn an_unknown_key_deep_inside_is_found_too() {
    check(
        "size_noise = 0.1",
        "noise = 0.1",
        "21:32: `flows.video.encoder.noise` is not a key that is known here",
        "known here are `preset`, `frame_rate`, `min_rate`, `max_rate`, `max_rates`, `size_noise`, `reaction`, \
         `key_frames`, `skip_above`, `late_requests`, `interval_noise`, `burst`, `traces`, `skip_frames`, `packet_size`, `ladder`, `scaling` and `hysteresis`",
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
fn the_error_of_an_unknown_key_names_the_nearest() {
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
fn a_controller_that_is_not_there_may_be_a_variant_of_the_file() {
    let variant = "variants.mild={ controller = \"gcc\" }".to_owned();
    let names = "controllers=[\"gcc\", \"mld\"]".to_owned();
    let error =
        weir_scenario::scenario::Scenario::open("gcc-2016/variable-capacity", &[variant, names]).unwrap_err();
    assert_eq!(error.advice(), Some("did you mean `mild`?"), "{error}");
}
