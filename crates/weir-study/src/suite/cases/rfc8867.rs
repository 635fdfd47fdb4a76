//! Test cases of RFC 8867.

use super::checks::{
    ALONE, APART, LONG_TCP, LONG_TCP_MARKED, PAUSE, ROUND_TRIPS, SHORT_TCP, TOGETHER, WEIGHTED,
};
use super::{ShippedCase, case};

/// Setting for marks in place of drops.
const MARKS: &str = "dumbbell.bottleneck.queue={ discipline = \"codel\" }";

/// Setting that couples the three flows.
const COUPLED: &str =
    "coupling={ calls = { flows = [\"video-1\", \"video-2\", \"video-3\"], algorithm = \"rfc8699-1\" } }";

pub(super) const CASES: &[ShippedCase] = &[
    case("5.1", "variable capacity, one flow, 50 ms", "rfc8867/variable-capacity", &[], ALONE),
    case(
        "5.1 100ms",
        "variable capacity, one flow, 100 ms",
        "rfc8867/variable-capacity",
        &["dumbbell.bottleneck.delay=100ms", "dumbbell.reverse.delay=100ms"],
        ALONE,
    ),
    case(
        "5.1 udp",
        "variable capacity by cross traffic, one flow",
        "rfc8867/variable-cross-traffic",
        &[],
        ALONE,
    ),
    case("5.2", "variable capacity, two flows, 50 ms", "rfc8867/variable-capacity-two", &[], TOGETHER),
    case(
        "5.2 100ms",
        "variable capacity, two flows, 100 ms",
        "rfc8867/variable-capacity-two",
        &["dumbbell.bottleneck.delay=100ms", "dumbbell.reverse.delay=100ms"],
        TOGETHER,
    ),
    case(
        "5.2 udp",
        "variable capacity by cross traffic, two flows",
        "rfc8867/variable-cross-traffic-two",
        &[],
        TOGETHER,
    ),
    case("5.3", "congested feedback, media both ways", "rfc8867/congested-feedback", &[], APART),
    case(
        "5.3 udp",
        "feedback congested by cross traffic, media both ways",
        "rfc8867/congested-feedback-cross-traffic",
        &[],
        APART,
    ),
    case("5.4", "three flows, one after another", "rfc8867/three-flows", &[], TOGETHER),
    case("5.5", "five flows of different round-trip times", "rfc8867/round-trip-times", &[], ROUND_TRIPS),
    case("5.6", "beside a long TCP flow, queue of 300 ms", "rfc8867/long-tcp", &[], LONG_TCP),
    case(
        "5.6 1000ms",
        "beside a long TCP flow, queue of 1000 ms",
        "rfc8867/long-tcp",
        &["dumbbell.bottleneck.queue.time=1s"],
        LONG_TCP,
    ),
    case(
        "5.6 cubic",
        "beside a long CUBIC flow, queue of 300 ms",
        "rfc8867/long-tcp",
        &["flows.tcp.algorithm=cubic"],
        LONG_TCP,
    ),
    case("5.7", "beside ten short TCP flows", "rfc8867/short-tcp", &[], SHORT_TCP),
    case("5.8", "the second of three flows pauses", "rfc8867/pause", &[], PAUSE),
    case(
        "6.1",
        "5.4 on 3 Mbit/s, the first flow of twice the priority",
        "rfc8867/three-flows",
        &["dumbbell.bottleneck.rate=3Mbps", "flows.video-1.priority=2"],
        WEIGHTED,
    ),
    case(
        "6.1 coupled",
        "6.1, the three coupled by RFC 8699's algorithm 1",
        "rfc8867/three-flows",
        &["dumbbell.bottleneck.rate=3Mbps", "flows.video-1.priority=2", COUPLED],
        WEIGHTED,
    ),
    case(
        "6.2 5.1",
        "5.1 with marks instead of drops",
        "rfc8867/variable-capacity",
        &[MARKS, "flows.video.ecn=ect0"],
        ALONE,
    ),
    case(
        "6.2 5.4",
        "5.4 with marks instead of drops",
        "rfc8867/three-flows",
        &[MARKS, "flows.video-1.ecn=ect0", "flows.video-2.ecn=ect0", "flows.video-3.ecn=ect0"],
        TOGETHER,
    ),
    case(
        "6.2 5.6",
        "5.6 with marks instead of drops",
        "rfc8867/long-tcp",
        &[MARKS, "flows.video.ecn=ect0", "flows.tcp.options.ecn=classic"],
        LONG_TCP_MARKED,
    ),
    case("6.3", "two bottlenecks in series", "rfc8867/two-bottlenecks", &[], TOGETHER),
];
