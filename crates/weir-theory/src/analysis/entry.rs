//! The description of an analysis, and its run from named parameters.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toml::Table;

use weir_form::{Origin, Problem, ScenarioError, Shape, advice};

/// A computation from parameters alone.
pub(super) trait Analysis {
    /// Parameters of the analysis.
    type Parameters: Default + Serialize + DeserializeOwned + JsonSchema;
    /// Results of the analysis; flags are 0 and 1.
    type Results: Serialize + JsonSchema;

    const NAME: &'static str;
    /// Description, in one sentence.
    const SUMMARY: &'static str;
    /// Source of its equations.
    const SOURCE: &'static str;

    /// Named parameters besides the default.
    fn presets() -> Vec<ParameterPreset<Self::Parameters>> {
        Vec::new()
    }

    /// # Errors
    /// A parameter out of its range that the schema does not exclude.
    fn run(parameters: &Self::Parameters) -> Result<Self::Results, Problem>;
}

/// A named set of parameters.
pub(super) struct ParameterPreset<P> {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) parameters: P,
}

/// An analysis that is found by its name.
#[derive(Debug)]
pub struct Entry {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    /// JSON Schemas, computed at the first call, because the help of every command lists the names of all analyses.
    parameters: OnceLock<Value>,
    results: OnceLock<Value>,
    describe_parameters: fn() -> Value,
    describe_results: fn() -> Value,
    presets: Vec<&'static str>,
    base: fn(Option<&str>) -> Result<Table, String>,
    compute: fn(Table) -> AnalysisResult,
}

/// The result, or the refusal of a parameter out of range.
type AnalysisResult = Result<Analysed, RefusedParameters>;

enum RefusedParameters {
    /// The parameters do not have the right form, with the description of the problem.
    Form(String),
    Range(Problem),
}

/// A completed analysis, with the parameters that it used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysed {
    /// The parameters in force.
    pub parameters: Value,
    /// Its results.
    pub results: Value,
}

const PRESET: &str = "preset";
const SEED: &str = "seed";

impl Entry {
    pub(super) fn of<A: Analysis>() -> Self {
        let presets = A::presets();
        Self {
            name: A::NAME,
            summary: A::SUMMARY,
            source: A::SOURCE,
            parameters: OnceLock::new(),
            results: OnceLock::new(),
            describe_parameters: parameters_schema::<A>,
            describe_results: || schemars::schema_for!(A::Results).to_value(),
            presets: presets.iter().map(|preset| preset.name).collect(),
            base: base::<A>,
            compute: compute::<A>,
        }
    }

    /// Its name, as `weir analyse` takes it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its description, in a sentence.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// Source of its equations.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// JSON Schema of its parameters, [presets](Self::presets) included.
    pub fn parameters(&'static self) -> &'static Value {
        self.parameters.get_or_init(self.describe_parameters)
    }

    /// JSON Schema of its results.
    pub fn results(&'static self) -> &'static Value {
        self.results.get_or_init(self.describe_results)
    }

    /// The possible values of `preset`.
    pub fn presets(&self) -> &[&'static str] {
        &self.presets
    }

    /// Whether it draws random numbers, by a parameter `seed`.
    pub fn has_seed(&'static self) -> bool {
        self.parameters()["properties"].get(SEED).is_some()
    }

    /// The results with each `key=value` of `set` over the parameters, as after `--set`. The `seed` applies where the analysis
    /// [has](Self::has_seed) one and `set` names none, capped at `i64::MAX`.
    ///
    /// # Errors
    /// A key that the analysis does not have, or a value that the key does not accept.
    pub fn run(&'static self, set: &[String], seed: Option<u64>) -> Result<Value, ScenarioError> {
        self.analyse(set, seed).map(|analysed| analysed.results)
    }

    /// Checks that `set` names parameters of the analysis, with values of their kind.
    ///
    /// # Errors
    /// A parameter that does not exist, or a value of another kind.
    pub fn check(&'static self, set: &[String]) -> Result<(), ScenarioError> {
        self.table(set, None).map(drop)
    }

    /// [`run`](Self::run) with the parameters that it used.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn analyse(&'static self, set: &[String], seed: Option<u64>) -> Result<Analysed, ScenarioError> {
        let (table, origin) = self.table(set, seed)?;
        (self.compute)(table).map_err(|refused| match refused {
            RefusedParameters::Form(message) => origin.plain_error(None, &message),
            RefusedParameters::Range(problem) => origin.error(problem),
        })
    }

    fn table(&'static self, set: &[String], seed: Option<u64>) -> Result<(Table, Origin), ScenarioError> {
        let mut origin = Origin::of("--set", "");
        let shape = Shape::new(self.parameters());
        let mut preset = Table::new();
        let (chosen, others): (Vec<&String>, Vec<&String>) = set.iter().partition(|one| is_preset(one));
        for one in chosen.into_iter().filter(|_| !self.presets.is_empty()) {
            weir_form::set(&mut preset, shape, &|_, _| None, one, &origin)?;
        }
        let name = preset.get(PRESET).and_then(toml::Value::as_str);
        let mut table = (self.base)(name).map_err(|message| origin.plain_error(None, &message))?;
        if let Some(seed) = seed.filter(|_| self.has_seed()) {
            table.insert(SEED.to_owned(), i64::try_from(seed).unwrap_or(i64::MAX).into());
        }
        let unknown = set.iter().filter(|one| is_preset(one) && self.presets.is_empty());
        for one in others.into_iter().chain(unknown) {
            let laid = weir_form::set(&mut table, shape, &|_, _| None, one, &origin)?;
            origin = origin.with(laid);
        }
        origin.check(weir_form::check(&table, shape, &|_, _| None))?;
        Ok((table, origin))
    }
}

/// Whether `assignment` chooses a preset.
fn is_preset(assignment: &str) -> bool {
    assignment.split_once('=').is_some_and(|(key, _)| key.trim() == PRESET)
}

fn parameters_schema<A: Analysis>() -> Value {
    let presets = A::presets();
    let mut schema = schemars::schema_for!(A::Parameters).to_value();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        && !presets.is_empty()
    {
        let choices: Vec<Value> =
            presets.iter().map(|p| json!({ "const": p.name, "description": p.summary })).collect();
        let description = "Named parameters that the others change; the default unless given.";
        properties.insert(PRESET.to_owned(), json!({ "description": description, "oneOf": choices }));
    }
    schema
}

fn base<A: Analysis>(preset: Option<&str>) -> Result<Table, String> {
    let parameters = match preset {
        None => A::Parameters::default(),
        Some(name) => {
            let presets = A::presets();
            let help = advice(name, presets.iter().map(|preset| preset.name));
            let named = presets.into_iter().find(|preset| preset.name == name);
            named
                .map(|preset| preset.parameters)
                .ok_or_else(|| format!("there is no preset `{name}`; {help}"))?
        }
    };
    Table::try_from(parameters).map_err(|error| error.to_string())
}

fn compute<A: Analysis>(table: Table) -> AnalysisResult {
    let parameters: A::Parameters = weir_form::read(table).map_err(RefusedParameters::Form)?;
    let results = A::run(&parameters).map_err(RefusedParameters::Range)?;
    let json = |value: Result<Value, serde_json::Error>| {
        value.map_err(|error| RefusedParameters::Form(error.to_string()))
    };
    Ok(Analysed {
        parameters: json(serde_json::to_value(&parameters))?,
        results: json(serde_json::to_value(&results))?,
    })
}

#[cfg(test)]
mod tests;
