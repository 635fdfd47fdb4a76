//! The suites and their cases.

mod checks;
mod gaming;
mod quality;
mod rfc8867;
mod rfc8869;
mod sharing;

use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(super) use checks::{
    ALONE_IN_QUEUE, AMONG_LIKE, AMONG_LIKE_BESIDE_CALL, BESIDE_CALL, BESIDE_DROP_TAIL_TCP, BESIDE_MARKED_TCP,
};

use super::check::{Check, START_UP};
use super::moments::{Untimely, untimely};
use super::quantity::Quantity;
use super::result_parts::SweptCase;
use weir_form::{ScenarioError, Varied, number_of_combinations, places};
use weir_import::traces::TraceStore;
use weir_net::Time;
use weir_scenario::omniscient::{CAREFUL, CAUTIOUS, NAME, STEADY};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, Scenario};
use weir_units::TimeDelta;

/// Suite, either shipped or read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Name of the suite; for a file the file name without its ending.
    pub name: String,
    /// Title, in a line.
    pub title: String,
    /// Controllers that are judged unless the caller names others; empty for all controllers.
    pub controllers: Vec<Candidate>,
    /// Cases of the suite, in order.
    pub cases: Vec<Case>,
}

/// A case of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name of the case; in shipped suites the section of the source.
    pub name: String,
    /// Title, in a line.
    pub title: String,
    /// Name of the shipped scenario, or the path of its file; for a case with a text of its own a name alone.
    pub scenario: String,
    /// Text of the scenario, for a drawn case.
    pub text: Option<String>,
    /// Settings that are applied to the scenario, as after `--set`.
    pub set: Vec<String>,
    /// Checks of the case.
    pub checks: Vec<Check>,
    /// Preset that is used for controllers that have one of this name, in a case far outside the range of their
    /// constants.
    pub preset: Option<String>,
    /// Place of the case on a sweep, if any.
    pub swept: Option<SweptCase>,
    /// Start of the time over which rates, frames and the queue count; the queue counts right after events as well.
    /// Without it rates and frames count from 20 s on, and the queue outside the 5 s after each event.
    pub from: Option<TimeDelta>,
    /// Whether the rate is judged although the case has the check `useful`, as in cases that ask for load.
    pub judges_load: bool,
    /// Whether the omniscient sender is known to be a bound of the case: no shipped controller exceeds it.
    pub bound_known: bool,
}

impl Suite {
    /// Suite with the named `cases`, or all if none is named, each replaced by one case for each combination of the values of the keys
    /// `varied`.
    ///
    /// # Errors
    /// A sentence with the numbers, if there are too many cases.
    pub fn over(&self, varied: &[Varied], cases: &[&str]) -> Result<Self, String> {
        let at = |case: &Case, place: &Vec<(String, String)>| {
            let set: Vec<String> = place.iter().map(|(path, value)| format!("{path}={value}")).collect();
            let swept = SweptCase { case: case.name.clone(), at: place.iter().cloned().collect() };
            Case {
                name: format!("{} {}", case.name, set.join(" ")),
                set: [case.set.as_slice(), &set].concat(),
                swept: Some(swept),
                ..case.clone()
            }
        };
        let wanted = |case: &&Case| cases.is_empty() || cases.contains(&case.name.as_str());
        let wanted: Vec<&Case> = self.cases.iter().filter(wanted).collect();
        let keys = varied.iter().map(|own| (own.path.as_str(), own.values.len()));
        number_of_combinations(&keys.chain([("case", wanted.len())]).collect::<Vec<_>>())?;
        let places = places(varied)?;
        let cases = wanted.into_iter().flat_map(|case| places.iter().map(move |place| at(case, place)));
        Ok(Self { cases: cases.collect(), ..self.clone() })
    }

    /// Case of this name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }
}

impl Case {
    /// Start of the time over which rates and frames count.
    pub(super) fn counts_from(&self) -> Time {
        self.from.map_or(START_UP, |from| Time::from_nanos(from.nanos().max(0) as u64))
    }

    /// Paths of the results that formulas of the checks need.
    pub(super) fn paths(&self) -> BTreeSet<String> {
        let formulas = self.checks.iter().filter_map(Check::evaluated);
        formulas.flat_map(|formula| formula.leaves()).map(|leaf| leaf.path.clone()).collect()
    }

    /// Check of the useful rate, if `check` is only shown because of it: `check` is a rate, and the case does not ask
    /// for load.
    pub(super) fn shown_beside(&self, check: &Check) -> Option<&Check> {
        let useful = || self.checks.iter().find(|other| other.is_of(Quantity::Useful));
        if !self.judges_load && check.quantity().is_some_and(Quantity::is_rate) { useful() } else { None }
    }

    /// Opens the scenario with `overrides` applied.
    ///
    /// # Errors
    /// The scenario cannot be read, or does not accept the overrides.
    pub fn open(&self, registry: &Registry, overrides: &[String]) -> Result<Scenario, ScenarioError> {
        match &self.text {
            None => Scenario::open_in(registry, &self.scenario, overrides),
            Some(text) => Scenario::parse_in(registry, &self.scenario, text, overrides)
                .map(|scenario| scenario.named(&self.scenario)),
        }
    }

    /// Scenario of the case under a controller of `registry`, or under a variant of one.
    ///
    /// # Errors
    /// An unknown controller, or options that it does not accept. Shipped cases have no other errors, as a test opens
    /// them all. Cases of a file were opened when it was read.
    pub fn scenario(&self, registry: &Registry, candidate: &Candidate) -> Result<Scenario, ScenarioError> {
        let own = self.set.iter().cloned();
        let overrides: Vec<String> = own.chain(candidate.definition.clone()).collect();
        let mut scenario = self.open(registry, &overrides)?;
        scenario.use_controller(&candidate.name)?;
        if let Some(preset) = &self.preset {
            scenario.use_preset(preset);
        }
        Ok(scenario)
    }

    /// Scenario under the omniscient sender with one of its presets; the sender of each flow acts alone.
    ///
    /// # Errors
    /// As [`Self::scenario`].
    pub(super) fn omniscient(
        &self,
        registry: &Registry,
        preset: Option<&str>,
    ) -> Result<Scenario, ScenarioError> {
        let own = Self { preset: preset.map(str::to_owned), ..self.clone() };
        Ok(own.scenario(registry, &Candidate::named(NAME))?.uncoupled())
    }

    /// First check that counts from a time that has no meaning in `scenario`, the scenario of the case under some
    /// controller.
    pub fn untimely(&self, scenario: &Scenario, store: &TraceStore) -> Option<Untimely> {
        untimely(&self.checks, scenario, store)
    }

    /// Scenario with a TCP flow in place of each media flow, if a check compares with TCP.
    ///
    /// # Errors
    /// As [`Self::scenario`].
    pub(super) fn benchmark(&self, registry: &Registry) -> Result<Option<Scenario>, ScenarioError> {
        if !self.checks.iter().any(|check| check.is_of(Quantity::RateAgainstTcp)) {
            return Ok(None);
        }
        Ok(Some(self.open(registry, &self.set)?.with_tcp_for_media()))
    }
}

/// Operating points of the omniscient sender, as presets; all are run in each case.
pub(super) const POINTS: [Option<&str>; 4] = [None, Some(CAUTIOUS), Some(CAREFUL), Some(STEADY)];

/// [`Case`] as it is written in the shipped suites.
#[derive(Clone, Copy)]
struct ShippedCase {
    name: &'static str,
    title: &'static str,
    scenario: &'static str,
    set: &'static [&'static str],
    checks: &'static [Check],
    preset: Option<&'static str>,
    from: Option<TimeDelta>,
    bound_known: bool,
}

const fn case(
    name: &'static str,
    title: &'static str,
    scenario: &'static str,
    set: &'static [&'static str],
    checks: &'static [Check],
) -> ShippedCase {
    ShippedCase { name, title, scenario, set, checks, preset: None, from: None, bound_known: true }
}

impl ShippedCase {
    /// Copy of the case that counts from `seconds` of the run on.
    const fn from(self, seconds: i64) -> Self {
        Self { from: Some(TimeDelta::from_secs(seconds)), ..self }
    }

    /// Copy of the case in which some controller exceeds the omniscient sender.
    const fn without_bound(self) -> Self {
        Self { bound_known: false, ..self }
    }
}

impl From<&ShippedCase> for Case {
    fn from(shipped: &ShippedCase) -> Self {
        Self {
            name: shipped.name.to_owned(),
            title: shipped.title.to_owned(),
            scenario: shipped.scenario.to_owned(),
            text: None,
            set: shipped.set.iter().map(|&set| set.to_owned()).collect(),
            checks: shipped.checks.to_vec(),
            preset: shipped.preset.map(str::to_owned),
            swept: None,
            from: shipped.from,
            judges_load: false,
            bound_known: shipped.bound_known,
        }
    }
}

/// All shipped suites.
pub static SUITES: LazyLock<Vec<Suite>> = LazyLock::new(|| {
    let suite = |name: &str, title: &str, cases: &[ShippedCase]| Suite {
        name: name.to_owned(),
        title: title.to_owned(),
        controllers: Vec::new(),
        cases: cases.iter().map(Case::from).collect(),
    };
    vec![
        suite(
            "rfc8867",
            "Test cases for interactive real-time media over wired networks (RFC 8867)",
            rfc8867::CASES,
        ),
        suite(
            "rfc8869",
            "Test cases for interactive real-time media over wireless networks (RFC 8869)",
            rfc8869::CASES,
        ),
        suite("gaming", "Cloud gaming: 30 to 60 Mbit/s, 60 and 120 frames/s", gaming::CASES),
        suite("sharing", "Links that calls share, with their like and with others", sharing::CASES),
        suite("quality", "What one call makes of one link", quality::CASES),
    ]
});

/// Shipped suite of this name.
pub fn find(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_measure::results::FlowKind;
    use weir_scenario::compile::RunOptions;
    use weir_scenario::registry::ControllerInfo;

    #[test]
    fn every_case_opens_and_has_a_name_of_its_own() {
        let registry = Registry::standard();
        for suite in SUITES.iter() {
            for (index, case) in suite.cases.iter().enumerate() {
                for controller in registry.controller_names() {
                    let named = || format!("{}/{} under {controller}", suite.name, case.name);
                    let scenario = case
                        .scenario(&registry, &Candidate::named(controller))
                        .unwrap_or_else(|e| panic!("{}: {e}", named()));
                    let run = RunOptions::new(1);
                    scenario
                        .build(&run, &TraceStore::at(None))
                        .unwrap_or_else(|e| panic!("{}: {e}", named()));
                }
                assert!(suite.cases[..index].iter().all(|other| other.name != case.name), "{}", case.name);
                assert!(!case.checks.is_empty());
                if let Some(preset) = &case.preset {
                    let has = |info: &ControllerInfo| info.presets.iter().any(|p| p.name == *preset);
                    assert!(registry.controllers().any(has), "{preset}");
                }
            }
        }
    }

    #[test]
    fn a_rate_is_only_shown_beside_what_is_useful_unless_the_case_asks_for_load() {
        let case = |suite: &str, case: &str| find(suite).unwrap().case(case).unwrap().clone();
        let shown = |case: &Case| -> Vec<String> {
            let shown = case.checks.iter().filter(|check| case.shown_beside(check).is_some());
            shown.map(|check| check.name.to_string()).collect()
        };
        assert_eq!(shown(&case("rfc8867", "5.1")), ["rate"]);
        assert_eq!(shown(&case("rfc8869", "3.2 tcp")), ["rate against TCP"]);
        assert!(shown(&case("sharing", "2 calls")).is_empty(), "it does not ask for what is useful");
        assert!(shown(&Case { judges_load: true, ..case("rfc8867", "5.1") }).is_empty());
        assert!(shown(&case("quality", "fall 300ms")).is_empty(), "what was sent before is judged");
    }

    #[test]
    fn cases_judged_against_tcp_have_endless_tcp_and_no_other_benchmark() {
        let kinds = |scenario: &Scenario| -> Vec<FlowKind> {
            let run = RunOptions::new(1);
            let plan = scenario.build(&run, &TraceStore::at(None)).unwrap().plan;
            plan.flows.iter().map(|flow| flow.kind).collect()
        };
        let cases: Vec<&Case> = SUITES.iter().flat_map(|suite| &suite.cases).collect();
        let judged =
            cases.iter().filter_map(|case| Some((case, case.benchmark(&Registry::standard()).unwrap()?)));
        let mut found = 0;
        for (case, benchmark) in judged {
            let own = kinds(&case.scenario(&Registry::standard(), &Candidate::named("gcc")).unwrap());
            assert!(own.contains(&FlowKind::Tcp) && own.contains(&FlowKind::Media), "{}", case.name);
            let other = kinds(&benchmark);
            assert_eq!(other.len(), own.len());
            assert!(other.iter().all(|&kind| kind == FlowKind::Tcp), "{}: {other:?}", case.name);
            found += 1;
        }
        assert!(found > 0);
    }
}
