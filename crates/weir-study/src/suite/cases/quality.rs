//! Cases of one call on one link.

use super::checks::{APART, FALL};
use super::{ShippedCase, case};

const NARROW: &str = "quality/narrow";

pub(super) const CASES: &[ShippedCase] = &[
    own("steady", "3 Mbit/s, from 5 s on", "quality/steady", &[]).from(5),
    own("single flow", "1 Mbit/s", "quality/single-flow", &[]),
    own("step", "0.6, then 3 Mbit/s from 10 s on", "quality/step", &[]).from(10),
    own("four times", "a start at four times the capacity, from 5 s on", "quality/four-times", &[]).from(5),
    own("late camera", "a source limited until 20 s", "quality/late-camera", &[]),
    own("loss 5", "random loss of 5 %, from 5 s on", "quality/loss-5", &[]).from(5),
    own("loss 20", "random loss of 20 %, from 5 s on", "quality/loss-20", &[]).from(5),
    fall("fall 300ms", "the 5 s after 2.5 to 0.6 Mbit/s, queue of 300 ms", &[]),
    fall(
        "fall 1000ms",
        "the 5 s after 2.5 to 0.6 Mbit/s, queue of 1000 ms",
        &["links.forward.queue.time=1s"],
    ),
    own("0.1 Mbit/s", "a link of 0.1 Mbit/s", NARROW, &["links.forward.rate=100kbps"]),
    own("0.2 Mbit/s", "a link of 0.2 Mbit/s", NARROW, &[]),
    own("0.4 Mbit/s", "a link of 0.4 Mbit/s", NARROW, &["links.forward.rate=400kbps"]),
    own("handover", "to a slower cell with a longer path, and back", "quality/handover", &[]),
    own("satellite", "a path that changes each 15 s", "quality/satellite", &[]),
];

const fn own(
    name: &'static str,
    title: &'static str,
    scenario: &'static str,
    set: &'static [&'static str],
) -> ShippedCase {
    case(name, title, scenario, set, APART)
}

const fn fall(name: &'static str, title: &'static str, set: &'static [&'static str]) -> ShippedCase {
    case(name, title, "quality/fall", set, FALL).from(60).without_bound()
}
