//! The suites and their cases.

mod checks;
mod gaming;
mod rfc8867;
mod rfc8869;

use super::check::{Check, Quantity};
use crate::form::ScenarioError;
use crate::omniscient::{CAUTIOUS, NAME, STEADY};
use crate::registry::Registry;
use crate::scenario::{Contestant, Scenario};

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
    /// The preset of controllers that have one of this name: where a case is of another order of magnitude than their
    /// constants.
    pub preset: Option<&'static str>,
}

impl Case {
    /// The scenario of the case under a controller of `registry`, or a variant of one.
    ///
    /// # Errors
    /// An unknown controller, or options that it does not take. The cases that ship have no mistakes of their own: a test opens
    /// them all.
    pub fn scenario(&self, registry: &Registry, contestant: &Contestant) -> Result<Scenario, ScenarioError> {
        let own = self.set.iter().map(|&set| set.to_owned());
        let overrides: Vec<String> = own.chain(contestant.definition.clone()).collect();
        let mut scenario = Scenario::open_in(registry, self.scenario, &overrides)?;
        scenario.use_controller(&contestant.name)?;
        if let Some(preset) = self.preset {
            scenario.use_preset(preset);
        }
        Ok(scenario)
    }

    /// The scenario under the omniscient sender with one of its presets, each flow by itself.
    ///
    /// # Errors
    /// As [`Self::scenario`].
    pub(super) fn omniscient(&self, preset: Option<&'static str>) -> Result<Scenario, ScenarioError> {
        let scenario = Self { preset, ..*self }.scenario(&Registry::standard(), &Contestant::named(NAME))?;
        Ok(scenario.uncoupled())
    }

    /// The points at which the omniscient sender tries itself, as presets: all where capacities are given, but not the first
    /// where that of some link is a trace's or a cell's, which nobody knows before.
    ///
    /// # Errors
    /// As [`Self::scenario`].
    pub(super) fn points(&self) -> Result<&'static [Option<&'static str>], ScenarioError> {
        let scenario = self.scenario(&Registry::standard(), &Contestant::named(NAME))?;
        let traced = scenario.links.iter().any(|(_, link)| link.model.trace.is_some());
        let given = !traced && scenario.cells.is_empty();
        Ok(if given { &POINTS } else { &POINTS[1..] })
    }

    /// The scenario with a TCP flow in place of each media flow, if a check asks how those would do.
    ///
    /// # Errors
    /// As [`Self::scenario`].
    pub(super) fn benchmark(&self) -> Result<Option<Scenario>, ScenarioError> {
        if self.checks.iter().all(|check| check.quantity != Quantity::RateAgainstTcp) {
            return Ok(None);
        }
        let overrides: Vec<String> = self.set.iter().map(|&set| set.to_owned()).collect();
        Ok(Some(Scenario::open(self.scenario, &overrides)?.with_tcp_for_media()))
    }
}

/// The points at which the omniscient sender tries itself.
const POINTS: [Option<&str>; 3] = [None, Some(CAUTIOUS), Some(STEADY)];

const fn case(
    name: &'static str,
    title: &'static str,
    scenario: &'static str,
    set: &'static [&'static str],
    checks: &'static [Check],
) -> Case {
    Case { name, title, scenario, set, checks, preset: None }
}

/// Every suite.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "rfc8867",
        title: "Test cases for interactive real-time media over wired networks (RFC 8867)",
        cases: rfc8867::CASES,
    },
    Suite {
        name: "rfc8869",
        title: "Test cases for interactive real-time media over wireless networks (RFC 8869)",
        cases: rfc8869::CASES,
    },
    Suite {
        name: "gaming",
        title: "Cloud gaming: 30 to 60 Mbit/s, 60 and 120 frames/s",
        cases: gaming::CASES,
    },
];

/// The suite of this name.
pub fn find(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::RunOptions;
    use crate::registry::ControllerInfo;
    use crate::traces::TraceStore;
    use weir_measure::results::FlowKind;

    #[test]
    fn every_case_opens_and_has_a_name_of_its_own() {
        let registry = Registry::standard();
        for suite in SUITES {
            for (index, case) in suite.cases.iter().enumerate() {
                for controller in registry.controller_names() {
                    let named = || format!("{}/{} under {controller}", suite.name, case.name);
                    let scenario = case
                        .scenario(&registry, &Contestant::named(controller))
                        .unwrap_or_else(|e| panic!("{}: {e}", named()));
                    let run = RunOptions::new(1);
                    scenario
                        .build(&run, &TraceStore::at(None))
                        .unwrap_or_else(|e| panic!("{}: {e}", named()));
                }
                assert!(suite.cases[..index].iter().all(|other| other.name != case.name), "{}", case.name);
                assert!(!case.checks.is_empty());
                if let Some(preset) = case.preset {
                    let has = |info: &ControllerInfo| info.presets.iter().any(|p| p.name == preset);
                    assert!(registry.controllers().any(has), "{preset}");
                }
            }
        }
    }

    #[test]
    fn the_omniscient_sender_is_bold_only_where_capacities_are_given() {
        let all = [None, Some("cautious"), Some("steady")];
        let not_bold = [Some("cautious"), Some("steady")];
        let points = |suite: &str, case: &str| {
            let cases = find(suite).unwrap().cases;
            cases.iter().find(|own| own.name == case).unwrap().points().unwrap()
        };
        assert_eq!(points("rfc8867", "5.1"), all);
        assert_eq!(points("gaming", "l4s"), all);
        assert_eq!(points("rfc8869", "2.1 up aqm"), not_bold, "a trace");
        assert_eq!(points("rfc8869", "3.1 up"), not_bold, "a cell");
        assert_eq!(points("gaming", "wifi upload"), not_bold);
    }

    #[test]
    fn what_is_judged_against_tcp_has_it_without_end_and_a_benchmark_of_nothing_else() {
        let kinds = |scenario: &Scenario| -> Vec<FlowKind> {
            let run = RunOptions::new(1);
            let plan = scenario.build(&run, &TraceStore::at(None)).unwrap().plan;
            plan.flows.iter().map(|flow| flow.kind).collect()
        };
        let cases: Vec<&Case> = SUITES.iter().flat_map(|suite| suite.cases).collect();
        let judged = cases.iter().filter_map(|case| Some((case, case.benchmark().unwrap()?)));
        let mut found = 0;
        for (case, benchmark) in judged {
            let own = kinds(&case.scenario(&Registry::standard(), &Contestant::named("gcc")).unwrap());
            assert!(own.contains(&FlowKind::Tcp) && own.contains(&FlowKind::Media), "{}", case.name);
            let other = kinds(&benchmark);
            assert_eq!(other.len(), own.len());
            assert!(other.iter().all(|&kind| kind == FlowKind::Tcp), "{}: {other:?}", case.name);
            found += 1;
        }
        assert!(found > 0);
    }
}
