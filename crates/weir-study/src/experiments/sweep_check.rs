//! Refusal of requests that do not fit a sweep.

use weir_form::{ScenarioError, Varied, number_of_places};
use weir_scenario::scenario::{Candidate, Flow, FlowTraffic, Scenario};

/// Keys of a scenario without influence on its runs, or that a sweep sets itself.
const NOT_SWEPT: [&str; 5] = ["seed", "runs", "controllers", "name", "title"];
/// Most runs at a place.
const MOST_RUNS: u32 = 1000;

/// Part of a request for a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepPart {
    /// A varied key, with its value if there is only one.
    Key(String),
    /// The controller of a flow, as a varied key.
    FlowController(String),
    /// A setting `path=value`.
    Set(String),
    /// The number of runs at each place.
    Runs(u32),
    /// The compared controllers.
    Controllers,
}

/// Why a sweep cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A part of the request does not fit a sweep.
    #[error("{problem}")]
    Refused {
        /// The part.
        part: SweepPart,
        /// The problem, and what would be right.
        problem: String,
    },
    /// The scenario has a mistake at some place.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

fn refused(part: SweepPart, problem: impl Into<String>) -> SweepError {
    SweepError::Refused { part, problem: problem.into() }
}

/// An error for keys that cannot be varied, or are given twice.
///
/// # Errors
/// The first such key.
pub fn check_keys(varied: &[Varied]) -> Result<(), SweepError> {
    for (index, Varied { path, .. }) in varied.iter().enumerate() {
        let key = || SweepPart::Key(path.clone());
        if NOT_SWEPT.contains(&path.as_str()) {
            let problem = "a sweep sets this itself; vary something of the network or of the flows";
            return Err(refused(key(), problem));
        }
        if varied[..index].iter().any(|other| other.path == *path) {
            let problem = "this key is varied twice; write all its values in one sweep";
            return Err(refused(key(), problem));
        }
    }
    Ok(())
}

/// An error for parts of the request that do not fit a sweep of `scenario`.
pub(super) fn check_request(
    scenario: &Scenario,
    set: &[String],
    varied: &[Varied],
) -> Result<(), SweepError> {
    check_keys(varied)?;
    if varied.is_empty() {
        return Err(refused(SweepPart::Key(String::new()), "a sweep varies one key at least"));
    }
    if let Err(problem) = number_of_places(varied) {
        return Err(refused(SweepPart::Key(String::new()), problem));
    }
    for text in set {
        let path = text.split('=').next().unwrap_or(text).trim();
        if varied.iter().any(|own| own.path == path) {
            let problem = format!("the sweep sets {path} already; leave one of both out");
            return Err(refused(SweepPart::Set(text.clone()), problem));
        }
        if path == "seed" {
            let problem = "a sweep has the seeds from 1 on; leave it out";
            return Err(refused(SweepPart::Set(text.clone()), problem));
        }
    }
    if let Some(alone) = varied.iter().find(|varied| varied.values.len() < 2) {
        let value = alone.values.first().map_or("", |value| value.text.as_str());
        let problem = "this is one value; set it instead, as a sweep needs two at least";
        return Err(refused(SweepPart::Key(format!("{}={value}", alone.path)), problem));
    }
    if scenario.runs > MOST_RUNS {
        let problem = format!("a sweep has at most {MOST_RUNS} runs at a place");
        return Err(refused(SweepPart::Runs(scenario.runs), problem));
    }
    let is_judged = |flow: &Flow| matches!(&flow.carried, FlowTraffic::Media(media) if !media.competitor);
    for (name, _) in scenario.flows.iter().filter(|(_, flow)| is_judged(flow)) {
        let path = format!("flows.{name}.controller");
        if varied.iter().any(|own| own.path == path) {
            let problem = "the compared controllers take this over; name them";
            return Err(refused(SweepPart::FlowController(path), problem));
        }
    }
    Ok(())
}

/// The candidates: those that were named, else those of the scenario.
pub(super) fn candidates(scenario: &Scenario, named: Vec<Candidate>) -> Result<Vec<Candidate>, SweepError> {
    if !named.is_empty() {
        return Ok(named);
    }
    if !scenario.controllers.is_empty() {
        return Ok(scenario.controllers.iter().map(|name| Candidate::named(name)).collect());
    }
    let name = scenario.controllers_in_use();
    if name == "none" || name.contains('+') {
        let problem = format!(
            "`{}` has no media flow, or several under different controllers; name the controllers to compare",
            scenario.name
        );
        return Err(refused(SweepPart::Controllers, problem));
    }
    Ok(vec![Candidate::named(&name)])
}
