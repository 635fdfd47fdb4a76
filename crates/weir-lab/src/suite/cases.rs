//! The suites and their cases.

use toml::Table;

use super::check::{Check, Limit, Quantity};
use crate::error::ScenarioError;
use crate::scenario::Scenario;

/// A suite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Its cases, in order.
    pub cases: &'static [Case],
}

/// A case of a suite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Its name, by the section of its source.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Name of the shipped scenario.
    pub scenario: &'static str,
    /// What is different from the scenario as it ships, as after `--set`.
    pub set: &'static [&'static str],
    /// What is asked of the controller.
    pub checks: &'static [Check],
    /// Options of controllers, by name, where a case is of another order of magnitude than their constants; TOML.
    pub options: &'static [(&'static str, &'static str)],
}

impl Case {
    /// The scenario of the case under `controller`.
    ///
    /// # Errors
    /// An unknown controller. The cases that ship have no mistakes of their own: a test opens them all.
    pub fn scenario(&self, controller: &str) -> Result<Scenario, ScenarioError> {
        let overrides: Vec<String> = self.set.iter().map(|&set| set.to_owned()).collect();
        let mut scenario = Scenario::open(self.scenario, &overrides)?;
        scenario.use_controller(controller)?;
        if let Some((_, options)) = self.options.iter().find(|(name, _)| *name == controller) {
            let options: Table = options.parse().unwrap_or_default();
            scenario.set_options(&options);
        }
        Ok(scenario)
    }
}

/// For 30 to 50 Mbit/s where the papers have 1 to 3: what is a rate grows by 20.
const GAMING_OPTIONS: &[(&str, &str)] = &[
    ("dccc", "utility_weight = '400kbps'"),
    ("dccc-at-sender", "utility_weight = '400kbps'"),
    ("scream", "ramp_up_speed = '4Mbps'"),
];

const fn check(name: &'static str, unit: &'static str, quantity: Quantity, limit: Limit) -> Check {
    Check { name, unit, quantity, limit }
}

const RATE: Check = check("rate", "%", Quantity::Rate, Limit::AtLeast(80.0));
const STEPS: Check = check("rate", "%", Quantity::RateAfterEachStep, Limit::AtLeast(80.0));
const BESIDE_TRANSFERS: Check = check("rate", "%", Quantity::RateBesideTransfers, Limit::AtLeast(80.0));
const WAIT: Check = check("queue wait p95", "ms", Quantity::QueueWait, Limit::AtMost(100.0));
const LOSS: Check = check("loss", "%", Quantity::Loss, Limit::AtMost(2.0));
const JAIN: Check = check("Jain", "", Quantity::Jain, Limit::AtLeast(0.9));
const JAIN_RTT: Check = check("Jain", "", Quantity::Jain, Limit::AtLeast(0.75));
const COEXIST: Check = check("coexistence", "%", Quantity::Coexistence, Limit::AtLeast(40.0));
const RESUME: Check = check("re-convergence", "s", Quantity::Reconvergence { at: 60 }, Limit::AtMost(15.0));
const FRAMES: Check = check("frame delay p99", "ms", Quantity::FrameDelay, Limit::AtMost(100.0));

const ALONE: &[Check] = &[STEPS, WAIT, LOSS];
const TOGETHER: &[Check] = &[RATE, WAIT, LOSS, JAIN];
const APART: &[Check] = &[RATE, WAIT, LOSS];
const LONG_TCP: &[Check] = &[COEXIST, LOSS];
const SHORT_TCP: &[Check] = &[BESIDE_TRANSFERS, LOSS, JAIN];
const ROUND_TRIPS: &[Check] = &[RATE, WAIT, LOSS, JAIN_RTT];
const PAUSE: &[Check] = &[RATE, WAIT, LOSS, JAIN, RESUME];
const CELLULAR: &[Check] = &[RATE, WAIT, LOSS];
const GAMING: &[Check] = &[RATE, FRAMES, LOSS];

const fn case(
    name: &'static str,
    title: &'static str,
    scenario: &'static str,
    set: &'static [&'static str],
    checks: &'static [Check],
) -> Case {
    Case { name, title, scenario, set, checks, options: &[] }
}

const fn game(name: &'static str, title: &'static str, scenario: &'static str) -> Case {
    Case { options: GAMING_OPTIONS, ..case(name, title, scenario, &[], GAMING) }
}

/// ECN-capable media over a queue that marks instead of dropping.
const ECN: &[&str] = &[
    "dumbbell.bottleneck.queue={ discipline = \"codel\" }",
    "flows.video-1.ecn=ect0",
    "flows.video-2.ecn=ect0",
    "flows.video-3.ecn=ect0",
];

const CODEL: &[&str] = &["links.radio.queue={ discipline = \"codel\" }"];

/// Every suite.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "rfc8867",
        title: "Test cases for interactive real-time media over wired networks (RFC 8867)",
        cases: &[
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
            case(
                "5.2",
                "variable capacity, two flows, 50 ms",
                "rfc8867/variable-capacity-two",
                &[],
                TOGETHER,
            ),
            case(
                "5.2 100ms",
                "variable capacity, two flows, 100 ms",
                "rfc8867/variable-capacity-two",
                &["dumbbell.bottleneck.delay=100ms", "dumbbell.reverse.delay=100ms"],
                TOGETHER,
            ),
            case("5.3", "congested feedback, media both ways", "rfc8867/congested-feedback", &[], APART),
            case("5.4", "three flows, one after another", "rfc8867/three-flows", &[], TOGETHER),
            case(
                "5.5",
                "five flows of different round-trip times",
                "rfc8867/round-trip-times",
                &[],
                ROUND_TRIPS,
            ),
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
                &["flows.tcp.law=cubic"],
                LONG_TCP,
            ),
            case("5.7", "beside ten short TCP flows", "rfc8867/short-tcp", &[], SHORT_TCP),
            case("5.8", "the second of three flows pauses", "rfc8867/pause", &[], PAUSE),
            case("6.2", "5.4 with marks instead of drops", "rfc8867/three-flows", ECN, TOGETHER),
            case("6.3", "two bottlenecks in series", "rfc8867/two-bottlenecks", &[], TOGETHER),
        ],
    },
    Suite {
        name: "rfc8869",
        title: "Test cases for interactive real-time media over cellular networks (RFC 8869 §2, on recorded links)",
        cases: &[
            case("2.1 up 40ms", "LTE uplink, round trip of 40 ms", "rfc8869/uplink", &[], CELLULAR),
            case(
                "2.1 up 150ms",
                "LTE uplink, round trip of 150 ms",
                "rfc8869/uplink",
                &["links.radio.delay=75ms", "links.back.delay=75ms"],
                CELLULAR,
            ),
            case("2.1 up aqm", "LTE uplink with CoDel", "rfc8869/uplink", CODEL, CELLULAR),
            case("2.1 down 40ms", "LTE downlink, round trip of 40 ms", "rfc8869/downlink", &[], CELLULAR),
            case(
                "2.1 down 150ms",
                "LTE downlink, round trip of 150 ms",
                "rfc8869/downlink",
                &["links.radio.delay=75ms", "links.back.delay=75ms"],
                CELLULAR,
            ),
            case("2.1 down aqm", "LTE downlink with CoDel", "rfc8869/downlink", CODEL, CELLULAR),
        ],
    },
    Suite {
        name: "gaming",
        title: "Cloud gaming: 30 to 50 Mbit/s, 60 and 120 frames/s",
        cases: &[
            game("steady", "60 frames/s on 40 Mbit/s", "gaming/steady"),
            game("120 frames", "120 frames/s on 50 Mbit/s", "gaming/120-frames"),
            game("step", "50, 30, 50 Mbit/s", "gaming/step"),
            game("beside cubic", "beside a CUBIC download", "gaming/beside-cubic"),
            game("l4s", "over L4S, beside a CUBIC download", "gaming/l4s"),
        ],
    },
];

/// The suite of this name.
pub fn find(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use crate::scenario::RunOptions;
    use crate::traces::TraceStore;

    #[test]
    fn every_case_opens_and_has_a_name_of_its_own() {
        for suite in SUITES {
            for (index, case) in suite.cases.iter().enumerate() {
                for controller in registry::controller_names() {
                    let named = || format!("{}/{} under {controller}", suite.name, case.name);
                    let scenario = case.scenario(controller).unwrap_or_else(|e| panic!("{}: {e}", named()));
                    let run = RunOptions { seed: 1, controller: None, series: false };
                    scenario
                        .build(&run, &TraceStore::at(None))
                        .unwrap_or_else(|e| panic!("{}: {e}", named()));
                }
                assert!(suite.cases[..index].iter().all(|other| other.name != case.name), "{}", case.name);
                assert!(!case.checks.is_empty());
                for (controller, options) in case.options {
                    assert!(
                        options.parse::<Table>().is_ok_and(|table| !table.is_empty()),
                        "{controller}: {options}"
                    );
                    assert!(registry::controller_names().any(|name| name == *controller), "{controller}");
                }
            }
        }
    }
}
