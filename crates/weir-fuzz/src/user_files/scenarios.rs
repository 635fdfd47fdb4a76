//! Scenarios, and values laid over them.

use std::sync::LazyLock;

use weir_form::{Varied, places};
use weir_import::traces::TraceStore;
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Candidate, Scenario};
use weir_scenario::shipped::{self, SCENARIOS};
use weir_sim::Simulation;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::Unwatched;

use super::{refused, text};

/// Most flows of a scenario that is run; larger ones are only built.
const MOST_FLOWS: usize = 16;
/// Length of the run.
const SPAN: TimeDelta = TimeDelta::from_millis(100);
/// Most assignments of an input.
const MOST_SETTINGS: usize = 8;

/// A scenario file.
pub(crate) fn scenarios(data: &[u8]) {
    if let Some(text) = text(data) {
        check(text, &[]);
    }
}

/// Values of the command line, a line each: the first names a scenario that ships. The others are laid over it, as
/// `--set` does, and taken for a key that varies, for a list of controllers and for quantities.
pub(crate) fn settings(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let scenario = shipped::find(first).map_or(SCENARIOS[first.len() % SCENARIOS.len()].text, |own| own.text);
    let words: Vec<String> = rest.lines().take(MOST_SETTINGS).map(str::to_owned).collect();
    check(scenario, &words);
    for word in &words {
        vary(scenario, word);
        contest(scenario, word);
        quantities(word);
    }
}

/// Checks that an accepted scenario can be written, built, and run.
fn check(text: &str, overrides: &[String]) {
    static STORE: LazyLock<TraceStore> = LazyLock::new(|| TraceStore::at(None));
    let scenario = match Scenario::parse("fuzz.toml", text, overrides) {
        Ok(scenario) => scenario,
        Err(error) => {
            for error in error.each() {
                assert!(!error.message().is_empty());
                let (line, column) = error.position().unwrap_or((1, 1));
                assert!(line > 0 && column > 0, "{error}");
            }
            return refused(&error);
        }
    };
    scenario.warnings().iter().for_each(refused);
    let written = scenario.to_toml().expect("a scenario is TOML");
    match Scenario::parse("again.toml", &written, &[]) {
        Ok(again) => assert_eq!(again, scenario, "{written}"),
        Err(error) => panic!("{error}\n{written}"),
    }
    match scenario.build(&RunOptions::default(), &STORE) {
        Ok(run) => {
            let (flows, end) = (run.spec.flows.len(), run.spec.end);
            let mut simulation =
                Simulation::new(run.spec, Unwatched).unwrap_or_else(|error| panic!("{error}\n{written}"));
            if flows <= MOST_FLOWS {
                simulation.run_until(end.min(Time::ZERO + SPAN));
            }
        }
        // Traces are files, which are missing here.
        Err(error) => assert!(error.message().contains("trace"), "{error}"),
    }
}

/// A key over several values: each of them can be laid over the scenario, or is refused.
fn vary(scenario: &str, word: &str) {
    let Ok(varied) = word.parse::<Varied>().inspect_err(refused) else { return };
    assert!(!varied.values.is_empty() && !varied.path.is_empty());
    let places = places(&[varied]).expect("one key has not too many values");
    for place in places.iter().take(2) {
        let settings: Vec<String> = place.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let _: Result<Scenario, _> = Scenario::parse("fuzz.toml", scenario, &settings).inspect_err(refused);
    }
}

/// A list of controllers and variants: each can take over the scenario, or is refused.
fn contest(scenario: &str, word: &str) {
    let Ok(candidates) = Candidate::list(word).inspect_err(refused) else { return };
    for candidate in candidates.iter().take(4) {
        let definition: Vec<String> = candidate.definition.iter().cloned().collect();
        let scenario = Scenario::parse_in(&Registry::standard(), "fuzz.toml", scenario, &definition);
        let Ok(mut scenario) = scenario.inspect_err(refused) else { continue };
        let _: Result<(), _> = scenario.use_controller(&candidate.name).inspect_err(refused);
    }
}

/// Quantities are read as they are written.
fn quantities(word: &str) {
    fn again<T: core::str::FromStr<Err: core::fmt::Display> + core::fmt::Display>(word: &str) {
        match word.parse::<T>() {
            Ok(quantity) => {
                let written = quantity.to_string();
                let read = written.parse::<T>().ok().map(|read| read.to_string());
                assert_eq!(read.as_deref(), Some(written.as_str()), "{word}");
            }
            Err(error) => refused(&error),
        }
    }
    again::<DataRate>(word);
    again::<DataSize>(word);
    again::<TimeDelta>(word);
}
