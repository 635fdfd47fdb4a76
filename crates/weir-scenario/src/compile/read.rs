//! From a text to a valid scenario.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use toml::Table;

use super::{further, validate};
use crate::registry::{self, Registry};
use crate::scenario::{RUN_KEYS, Scenario, run_shape, scenario_shape};
use crate::shipped;
use weir_form::{
    self, KeyPath, MOST_WRITTEN, OptionsOf, Origin, Problem, ScenarioError, Shape, TextError, advice_of_many,
    all_of, text_of,
};

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The text on standard input, which is read once and kept for further scenarios.
fn standard_input() -> Result<String, TextError> {
    static TEXT: OnceLock<Result<String, TextError>> = OnceLock::new();
    TEXT.get_or_init(|| all_of(io::stdin().lock(), MOST_WRITTEN)).clone()
}

/// Whether the form of a text is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextForm {
    /// It ships, and a test checks it.
    Shipped,
    Unchecked,
}

/// The key of a run that `assignment` sets, if it sets one: the key is a whole path.
fn run_key(assignment: &str) -> Option<&'static str> {
    let (path, _) = assignment.split_once('=')?;
    RUN_KEYS.into_iter().find(|key| *key == path.trim())
}

/// The shape by which `assignment` is set.
fn shape_for(assignment: &str) -> Shape<'static> {
    if run_key(assignment).is_some() { run_shape() } else { scenario_shape() }
}

/// The shape of the options of a controller of `registry`, or of an algorithm.
fn options<'r>(registry: &'r Registry, key: &str, name: &str) -> Option<Shape<'r>> {
    match key {
        "algorithm" => registry::find_coupler(name).ok().map(|(_, schema)| Shape::new(schema)),
        _ => registry.options_schema(name).map(Shape::new),
    }
}

/// Sets one value of the scenario `table`: `path=value`.
///
/// The path names keys with dots between them. Links and flows go by their names, items of arrays by their number from 0. A key
/// with other characters than letters, digits, `-` and `_` stands in double quotes. The value is read as TOML if it is TOML, else
/// as text. A link's new `rate`, `steps` or `trace` replaces its former capacity. A whole table may be set under a new name.
/// Options are those of controllers of `registry`.
///
/// # Errors
/// A path that no scenario has, a name that this scenario does not have, a value that is not accepted there.
pub fn set(registry: &Registry, table: &mut Table, assignment: &str) -> Result<(), ScenarioError> {
    let options: OptionsOf<'_, '_> = &|key, name| options(registry, key, name);
    let assignment = weir_form::with_present_key(assignment);
    weir_form::set(table, scenario_shape(), options, &assignment, &Origin::default()).map(drop)
}

impl Scenario {
    /// The scenario that `text` describes; errors refer to it as `name`. Each of `overrides` is a `path=value` that is laid over
    /// the text, in order, as by [`set`]. Its controllers are those that ship.
    ///
    /// # Errors
    /// All problems of the text, each with its place and a valid alternative.
    pub fn parse(name: &str, text: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        Self::parse_in(&Registry::standard(), name, text, overrides)
    }

    /// [`Self::parse`] with the controllers of `registry`.
    ///
    /// # Errors
    /// As for [`Self::parse`].
    pub fn parse_in(
        registry: &Registry,
        name: &str,
        text: &str,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        Self::parsed(registry, (name, text), overrides, TextForm::Unchecked)
    }

    fn parsed(
        registry: &Registry,
        (name, text): (&str, &str),
        overrides: &[String],
        form: TextForm,
    ) -> Result<Self, ScenarioError> {
        let registry = &registry::with_references(registry.clone());
        let options: OptionsOf<'_, '_> = &|key, name| options(registry, key, name);
        let mut origin = Origin::of(name, text);
        let mut table: Table =
            toml::from_str(text).map_err(|error| origin.plain_error(error.span(), error.message()))?;
        weir_form::rename_former_keys(&mut table);
        for assignment in overrides {
            let assignment = weir_form::with_present_key(assignment);
            let laid = weir_form::set(&mut table, shape_for(&assignment), options, &assignment, &origin)?;
            origin = origin.with(laid);
        }
        // The shape of all keys takes more time to make than all else here. A key of a run is checked where it is set.
        let is_right = form == TextForm::Shipped && overrides.iter().all(|own| run_key(own).is_some());
        let mut problems =
            if is_right { Vec::new() } else { weir_form::check(&table, scenario_shape(), options) };
        if !problems.is_empty() {
            problems.extend(further::problems(registry, table, options, &problems));
            return Err(origin.together(problems));
        }
        let scenario: Self = weir_form::read(table).map_err(|message| origin.plain_error(None, &message))?;
        let scenario = Self { registry: registry.clone(), ..scenario };
        origin.check(validate::problems(&scenario))?;
        Ok(Self { origin, ..scenario })
    }

    /// Warnings: features that can be simulated and should not be sent into a network, each with its place.
    pub fn warnings(&self) -> Vec<ScenarioError> {
        validate::warnings(self).into_iter().map(|problem| self.origin.error(problem)).collect()
    }

    /// The scenario that ships under the name `name`, else that of the file `name`, `-` being standard input, with `overrides` as for
    /// [`Self::parse`].
    ///
    /// # Errors
    /// No such scenario or file, and as for [`Self::parse`].
    pub fn open(name: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        Self::open_in(&Registry::standard(), name, overrides)
    }

    /// [`Self::open`] with the controllers of `registry`.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_in(registry: &Registry, name: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        if let Some(shipped) = shipped::find(name) {
            let text = (&*format!("scenarios/{name}.toml"), shipped.text);
            let scenario = Self::parsed(registry, text, overrides, TextForm::Shipped)?;
            return Ok(scenario.named(name));
        }
        let (name, text) = match name {
            STANDARD_INPUT => ("stdin", standard_input()),
            path => (path, text_of(Path::new(path), MOST_WRITTEN)),
        };
        match text {
            Ok(text) => {
                let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
                Self::parse_in(registry, name, &text, overrides).map(|scenario| scenario.named(&stem))
            }
            Err(refused) => {
                let advice = match refused {
                    TextError::Unreadable { message, .. } => {
                        let names = shipped::SCENARIOS.iter().map(|s| s.name);
                        let all = "`weir list scenarios` has all";
                        let message = format!("no scenario ships under this name, and as a file: {message}");
                        let problem = Problem::value(&KeyPath::default(), message);
                        let problem = problem.help(advice_of_many(name, names, all));
                        return Err(ScenarioError::new(name, "", None, problem));
                    }
                    TextError::Directory => "name a file in it",
                    TextError::Long { .. } => "a scenario is a TOML file of some lines: docs/scenarios.md",
                    TextError::Encoding { .. } => "write the file as UTF-8: docs/scenarios.md",
                };
                let problem = Problem::value(&KeyPath::default(), refused.to_string()).help(advice);
                Err(ScenarioError::new(name, "", None, problem))
            }
        }
    }

    /// The same scenario under `name`, unless it has a name of its own.
    pub fn named(mut self, name: &str) -> Self {
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::scenario::{run_schema, scenario_schema};

    #[test]
    fn the_form_of_every_text_that_ships_is_right() {
        for shipped in shipped::SCENARIOS {
            let name = shipped.name;
            let checked = Scenario::parse(name, shipped.text, &[]).unwrap().named(name);
            assert_eq!(Scenario::open(name, &[]).unwrap(), checked, "{name}");
        }
    }

    #[test]
    fn keys_of_a_run_have_the_form_that_scenarios_give_them() {
        let plain = |schema: &'static Value, key: &str| {
            let mut node = schema["properties"][key].as_object().unwrap().clone();
            node.retain(|key, _| !["description", "default"].contains(&key.as_str()));
            node
        };
        let keys: Vec<&String> = run_schema()["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, RUN_KEYS);
        for key in RUN_KEYS {
            assert_eq!(plain(run_schema(), key), plain(scenario_schema(), key), "{key}");
        }
    }

    #[test]
    fn a_key_of_a_run_is_refused_as_any_other_is() {
        let shipped = shipped::SCENARIOS[0];
        let message = |text: Result<Scenario, ScenarioError>| {
            let error = text.unwrap_err();
            (error.message().to_owned(), error.advice().map(str::to_owned))
        };
        for wrong in ["runs=0", "runs=1.5", "duration=5", "controllers=gcc", "seed=-1", "runs.a=1", "seeds=1"]
        {
            let wrong = [wrong.to_owned()];
            let unchecked = message(Scenario::open(shipped.name, &wrong));
            assert_eq!(unchecked, message(Scenario::parse("x", shipped.text, &wrong)), "{wrong:?}");
        }
    }
}
