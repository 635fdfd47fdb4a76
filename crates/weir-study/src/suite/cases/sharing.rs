//! Links that calls share with calls of the same controller, with calls under other controllers, or with TCP.

use super::checks::{BESIDE, LONG_TCP, SHARING, SHARING_FAR};
use super::{ShippedCase, case};

const CALLS: &str = "sharing/calls";
const FOUR: &str = "flows.video.count=4";
const FOR_FOUR: &str = "links.forward.rate=6Mbps";
const CODEL: &str = "links.forward.queue={ discipline = \"codel\" }";
const DUALPI2: &str = "links.forward.queue={ discipline = \"dualpi2\" }";

pub(super) const CASES: &[ShippedCase] = &[
    calls("2 calls", "two calls of one kind", &[]),
    calls("4 calls", "four calls of one kind", &[FOUR, FOR_FOUR]),
    calls("10 calls", "ten calls of one kind", &["flows.video.count=10", "links.forward.rate=12Mbps"]),
    calls("2 calls codel", "two calls of one kind, CoDel", &[CODEL]),
    calls("4 calls codel", "four calls of one kind, CoDel", &[FOUR, FOR_FOUR, CODEL]),
    calls("2 calls dualpi2", "two calls of one kind, DualPI2", &[DUALPI2]),
    calls("4 calls dualpi2", "four calls of one kind, DualPI2", &[FOUR, FOR_FOUR, DUALPI2]),
    calls(
        "rtt 20ms",
        "two calls, round trip of 20 ms",
        &["links.forward.delay=10ms", "links.back.delay=10ms"],
    ),
    calls(
        "rtt 300ms",
        "two calls, round trip of 300 ms",
        &["links.forward.delay=150ms", "links.back.delay=150ms"],
    ),
    calls(
        "rtt 600ms",
        "two calls, round trip of 600 ms",
        &["links.forward.delay=300ms", "links.back.delay=300ms"],
    ),
    case("rtt 1:10", "two calls, round trips of 20 and 200 ms", "sharing/round-trips", &[], SHARING_FAR),
    case("three flows", "three calls, one after another", "quality/three-flows", &[], SHARING),
    case("late starters", "two calls, and two that begin later", "sharing/late-starters", &[], SHARING),
    case(
        "late source",
        "two calls, of which one has little to send until 40 s",
        "sharing/late-source",
        &[],
        SHARING,
    )
    .from(45),
    beside("beside gcc", "beside a call under gcc", &["flows.other.controller=gcc"]),
    beside("beside nada", "beside a call under nada", &["flows.other.controller=nada"]),
    beside("beside scream-v2", "beside a call under scream-v2", &["flows.other.controller=scream-v2"]),
    cubic("cubic 50ms", "beside one CUBIC flow, queue of 50 ms", &["links.forward.queue.time=50ms"]),
    cubic("cubic 100ms", "beside one CUBIC flow, queue of 100 ms", &["links.forward.queue.time=100ms"]),
    cubic("cubic 200ms", "beside one CUBIC flow, queue of 200 ms", &["links.forward.queue.time=200ms"]),
    cubic("cubic 300ms", "beside one CUBIC flow, queue of 300 ms", &[]),
    cubic("cubic 1000ms", "beside one CUBIC flow, queue of 1000 ms", &["links.forward.queue.time=1s"]),
];

const fn calls(name: &'static str, title: &'static str, set: &'static [&'static str]) -> ShippedCase {
    case(name, title, CALLS, set, SHARING)
}

const fn beside(name: &'static str, title: &'static str, set: &'static [&'static str]) -> ShippedCase {
    case(name, title, "sharing/two-controllers", set, BESIDE)
}

const fn cubic(name: &'static str, title: &'static str, set: &'static [&'static str]) -> ShippedCase {
    case(name, title, "quality/beside-cubic", set, LONG_TCP).from(40)
}
