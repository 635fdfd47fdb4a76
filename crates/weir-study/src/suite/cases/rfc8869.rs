//! Test cases of RFC 8869.

use super::checks::{AMONG_TCP, APART, LONG_TCP, TOGETHER};
use super::{ShippedCase, case};

/// Setting for the user's share of the cell.
const HALF: &str = "links.radio.trace_scale=0.5";
const FAR: [&str; 2] = ["links.radio.delay=75ms", "links.back.delay=75ms"];
const CODEL: &str = "links.radio.queue={ discipline = \"codel\" }";
/// Setting for a trace that was recorded while driving and has gaps of seconds.
const BAD_UP: &str = "links.radio.trace=att-lte-driving-2016.up";
const BAD_DOWN: &str = "links.radio.trace=att-lte-driving-2016.down";

pub(super) const CASES: &[ShippedCase] = &[
    case("2.1 up 1", "all of a cell's uplink", "rfc8869/uplink", &[], APART),
    case("2.1 up 1/2", "half of a cell's uplink", "rfc8869/uplink", &[HALF], APART),
    case(
        "2.1 up 1/4",
        "a quarter of a cell's uplink",
        "rfc8869/uplink",
        &["links.radio.trace_scale=0.25"],
        APART,
    ),
    case(
        "2.1 up 150ms",
        "half of a cell's uplink, round trip of 150 ms",
        "rfc8869/uplink",
        &[HALF, FAR[0], FAR[1]],
        APART,
    ),
    case("2.1 up aqm", "half of a cell's uplink, with CoDel", "rfc8869/uplink", &[HALF, CODEL], APART)
        .without_bound(),
    case("2.1 down 1", "all of a cell's downlink", "rfc8869/downlink", &[], APART),
    case("2.1 down 1/2", "half of a cell's downlink", "rfc8869/downlink", &[HALF], APART),
    case(
        "2.1 down 1/4",
        "a quarter of a cell's downlink",
        "rfc8869/downlink",
        &["links.radio.trace_scale=0.25"],
        APART,
    ),
    case(
        "2.1 down 150ms",
        "half of a cell's downlink, round trip of 150 ms",
        "rfc8869/downlink",
        &[HALF, FAR[0], FAR[1]],
        APART,
    ),
    case("2.1 down aqm", "half of a cell's downlink, with CoDel", "rfc8869/downlink", &[HALF, CODEL], APART),
    case("2.2 up 1", "uplink, bad coverage", "rfc8869/uplink", &[BAD_UP], APART),
    case("2.2 up 1/2", "half of a cell's uplink, bad coverage", "rfc8869/uplink", &[BAD_UP, HALF], APART),
    case(
        "2.2 up 150ms",
        "uplink, bad coverage, round trip of 150 ms",
        "rfc8869/uplink",
        &[BAD_UP, FAR[0], FAR[1]],
        APART,
    ),
    case("2.2 up aqm", "uplink, bad coverage, with CoDel", "rfc8869/uplink", &[BAD_UP, CODEL], APART),
    case("2.2 down 1", "downlink, bad coverage", "rfc8869/downlink", &[BAD_DOWN], APART),
    case(
        "2.2 down 1/2",
        "half of a cell's downlink, bad coverage",
        "rfc8869/downlink",
        &[BAD_DOWN, HALF],
        APART,
    ),
    case(
        "2.2 down 150ms",
        "downlink, bad coverage, round trip of 150 ms",
        "rfc8869/downlink",
        &[BAD_DOWN, FAR[0], FAR[1]],
        APART,
    ),
    case("2.2 down aqm", "downlink, bad coverage, with CoDel", "rfc8869/downlink", &[BAD_DOWN, CODEL], APART),
    case("3.1 up", "over Wi-Fi and a wire of 1 Mbit/s, one flow up", "rfc8869/wired-uplink", &[], APART),
    case("3.1 both", "the same, one flow up and one down", "rfc8869/wired-bidirectional", &[], TOGETHER),
    case(
        "3.1 on-off",
        "the same, beside constant traffic until 60 s",
        "rfc8869/wired-cross-traffic",
        &[],
        TOGETHER,
    ),
    case(
        "3.1 off-on",
        "the same, beside constant traffic from 60 s on",
        "rfc8869/wired-cross-traffic",
        &["flows.cross.start=60s", "flows.cross.stop=119s"],
        TOGETHER,
    ),
    case("3.1 tcp", "the same, one flow up beside a long TCP flow", "rfc8869/wired-tcp", &[], LONG_TCP),
    case("3.2 down", "sixteen flows down a Wi-Fi cell", "rfc8869/wifi-downlink", &[], TOGETHER),
    case("3.2 up", "sixteen flows up a Wi-Fi cell", "rfc8869/wifi-uplink", &[], TOGETHER),
    case("3.2 both", "eight flows up and eight down", "rfc8869/wifi-bidirectional", &[], TOGETHER),
    case(
        "3.2 on-off",
        "the same, beside five constant flows until 60 s",
        "rfc8869/wifi-cross-traffic",
        &[],
        TOGETHER,
    ),
    case(
        "3.2 off-on",
        "the same, beside five constant flows from 61 s on",
        "rfc8869/wifi-cross-traffic",
        &["flows.cross.start=61s", "flows.cross.stop=120s"],
        TOGETHER,
    ),
    case("3.2 tcp", "the same, beside five TCP flows from 40 to 80 s", "rfc8869/wifi-tcp", &[], AMONG_TCP)
        .without_bound(),
    varying("3.2 N=4", &["links.station.count=4", "flows.up.count=4"]),
    varying("3.2 N=8", &["links.station.count=8", "flows.up.count=8"]),
    varying("3.2 N=12", &["links.station.count=12", "flows.up.count=12"]),
    varying("3.2 N=16", &[]),
    varying("3.2 N=20", &["links.station.count=20", "flows.up.count=20"]),
];

const fn varying(name: &'static str, set: &'static [&'static str]) -> ShippedCase {
    case(
        name,
        "N flows up a Wi-Fi cell, begun and ended at different times",
        "rfc8869/wifi-varying",
        set,
        TOGETHER,
    )
}
