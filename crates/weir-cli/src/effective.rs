//! The scenario to run, with the changes of the command line, validated before anything runs or is written.

use std::io::Write;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use weir_form::{ScenarioError, Varied};
use weir_import::traces::TraceStore;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, FlowTraffic, Scenario};
use weir_study::comparison::demo;

use crate::args::Changes;
use crate::failure::{Failure, warn};
use crate::terminal;

/// Change of the scenario by one option of the command line.
struct OptionChange {
    /// The option as it was written.
    option: String,
    assignment: String,
    /// Prefix of the keys that the caller has not written.
    unwritten: String,
}

/// The scenario `name` as `args` change it; `candidates` are compared unless the arguments name others.
pub(crate) fn scenario(
    args: &Changes,
    registry: &Registry,
    name: &str,
    candidates: &[Candidate],
    store: &TraceStore,
) -> Result<Scenario, Failure> {
    let changes = changes(args, candidates)?;
    let overrides: Vec<String> =
        args.set.iter().chain(changes.iter().map(|change| &change.assignment)).cloned().collect();
    let scenario = Scenario::open_in(registry, name, &overrides)
        .map_err(|error| first_failure(registry, name, &args.set, &changes).unwrap_or(error.into()))?;
    if !args.controller.is_empty() && !has_media(&scenario) {
        return Err(Failure::Option {
            option: format!("--controller {}", args.controller.join(",")),
            problem: format!("`{name}` has no media flow that it could control; leave it out"),
        });
    }
    scenario.try_to_build(store)?;
    warn(&scenario);
    Ok(scenario)
}

/// The failure of the scenario `name` as `set` changes it, or else of the first of `changes` that makes it wrong.
fn first_failure(
    registry: &Registry,
    name: &str,
    set: &[String],
    changes: &[OptionChange],
) -> Option<Failure> {
    let mut overrides = set.to_vec();
    let unchanged = Scenario::open_in(registry, name, &overrides).err();
    unchanged.map(Failure::from).or_else(|| {
        changes.iter().find_map(|change| {
            overrides.push(change.assignment.clone());
            Scenario::open_in(registry, name, &overrides).err().map(|error| change.blame(error))
        })
    })
}

fn changes(args: &Changes, candidates: &[Candidate]) -> Result<Vec<OptionChange>, Failure> {
    let change = |option: &str, path: &str, value: &str| OptionChange {
        option: format!("--{option} {value}"),
        assignment: format!("{path}={value}"),
        unwritten: String::new(),
    };
    let mut changes = Vec::new();
    changes.extend(args.duration.as_deref().map(|duration| change("duration", "duration", duration)));
    changes.extend(args.runs.map(|runs| change("runs", "runs", &runs.to_string())));
    changes.extend(args.seed.map(|seed| change("seed", "seed", &seed.to_string())));
    let named = named(&args.controller)?;
    let candidates = if named.is_empty() { candidates } else { &named };
    changes.extend(candidates.iter().filter_map(OptionChange::defining));
    if !candidates.is_empty() {
        let option = format!("--controller {}", args.controller.join(","));
        changes.push(OptionChange {
            option,
            assignment: Candidate::compared(candidates),
            unwritten: String::new(),
        });
    }
    Ok(changes)
}

/// Reports on standard error the names that an option repeats.
pub(crate) fn say_repeated(option: &str, values: &[String]) {
    for name in Candidate::repeated(&values.join(",")) {
        // If standard error is closed, the command goes on.
        let _ = writeln!(terminal::stderr(), "{option}: `{name}` is named more than once; it runs once.");
    }
}

/// The candidates in the values of `--controller`, each once.
pub(crate) fn named(values: &[String]) -> Result<Vec<Candidate>, Failure> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let list = values.join(",");
    Candidate::list(&list)
        .map_err(|problem| Failure::Option { option: format!("--controller {list}"), problem })
}

/// The candidates in the values of `--controller`; all controllers if it was not given. Variants defined by the
/// scenarios, as `is_variant` decides, are also valid.
pub(crate) fn candidates(
    values: &[String],
    registry: &Registry,
    is_variant: impl Fn(&Candidate) -> Result<bool, Failure>,
) -> Result<Vec<Candidate>, Failure> {
    let named = named(values)?;
    for candidate in &named {
        match OptionChange::defining(candidate) {
            // Options are the same in every scenario.
            Some(change) => change.tried(registry, demo::ALONE, &[])?,
            None if is_variant(candidate)? => {}
            None => registry.find(&candidate.name).map(drop).map_err(|error| Failure::Option {
                option: format!("--controller {}", values.join(",")),
                problem: error.to_string(),
            })?,
        }
    }
    let all = || registry.controller_names().map(Candidate::named).collect();
    Ok(if named.is_empty() { all() } else { named })
}

/// The names without repetitions.
pub(crate) fn each_once<T: AsRef<str>>(names: &[T]) -> Vec<&str> {
    let mut once: Vec<&str> = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// How many threads to use: as many as there are cores unless the caller sets it.
pub(crate) fn threads(jobs: Option<u32>) -> usize {
    let cores = || available_parallelism().map_or(1, NonZeroUsize::get);
    jobs.map_or_else(cores, |jobs| jobs as usize)
}

fn has_media(scenario: &Scenario) -> bool {
    scenario.flows.iter().any(|(_, flow)| matches!(flow.carried, FlowTraffic::Media(_)))
}

/// The failure of the sweep `varied` on a scenario, at its option; `place` names the scenario, if there are
/// several.
pub(crate) fn blame_sweep(varied: &[Varied], place: &str, error: ScenarioError) -> Failure {
    let is_swept = |text: &&str| varied.iter().any(|own| text.starts_with(&format!("{}=", own.path)));
    match error.assignment().filter(is_swept).map(|text| format!("--sweep {text}{place}")) {
        Some(option) => blame(option, "", error),
        None => Failure::Scenario(error),
    }
}

impl OptionChange {
    /// The change that defines a candidate with options in braces.
    fn defining(candidate: &Candidate) -> Option<Self> {
        let Candidate { name, definition } = candidate;
        let (option, unwritten) = (format!("--controller {name}"), format!("variants.\"{name}\".options."));
        definition.clone().map(|assignment| Self { option, assignment, unwritten })
    }

    /// Checks it on the scenario `name`, after the changes `set`.
    fn tried(&self, registry: &Registry, name: &str, set: &[String]) -> Result<(), Failure> {
        let overrides: Vec<String> = set.iter().cloned().chain([self.assignment.clone()]).collect();
        Scenario::open_in(registry, name, &overrides).map(drop).map_err(|error| self.blame(error))
    }

    fn blame(&self, error: ScenarioError) -> Failure {
        blame(self.option.clone(), &self.unwritten, error)
    }
}

/// Without the change of `option` the scenario was valid. Errors in the file are shown there, all others at the
/// option, without keys that the caller has not written.
fn blame(option: String, unwritten: &str, error: ScenarioError) -> Failure {
    if error.assignment().is_none() {
        return Failure::Scenario(error);
    }
    let advice = error.advice().map_or_else(String::new, |advice| format!("; {advice}"));
    Failure::Option { option, problem: format!("{}{advice}", error.message().replace(unwritten, "")) }
}
