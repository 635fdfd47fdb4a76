//! Controllers as types: one implementation of [`ControllerKind`] for each name.

use std::marker::PhantomData;
#[cfg(feature = "schemas")]
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
#[cfg(feature = "schemas")]
use serde_json::json;
use serde_json::{Map, Value};
use weir_cc::{Controller, RateLimits, Receiver};

use crate::advice::advice;
use crate::factory::{ControllerFactory, Half};
use crate::info::{ControllerInfo, PresetInfo};
use crate::options::{Options, changed};
use crate::read::read;

/// A configuration that has a JSON Schema.
#[cfg(feature = "schemas")]
pub trait Described: schemars::JsonSchema {}
#[cfg(feature = "schemas")]
impl<C: schemars::JsonSchema> Described for C {}

/// A configuration; with the feature `schemas` it has a JSON Schema.
#[cfg(not(feature = "schemas"))]
pub trait Described {}
#[cfg(not(feature = "schemas"))]
impl<C> Described for C {}

/// A controller that has a name, as a type.
pub trait ControllerKind {
    /// Its constants. Where any crate of the build enables the feature `schemas`, they implement `schemars::JsonSchema`.
    type Config: DeserializeOwned + Serialize + Described + Default;

    /// Its description, without the presets.
    fn info() -> ControllerInfo;

    /// Named configurations besides the default.
    fn presets() -> Vec<Preset<Self::Config>> {
        Vec::new()
    }

    /// The constants of a flow with this priority: above 0, and 1 unless given. A controller without priorities keeps `config`.
    fn prioritised(config: Self::Config, _priority: f64) -> Self::Config {
        config
    }

    /// The sender half.
    ///
    /// # Errors
    /// A sentence about a constant out of its range.
    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller>;

    /// The receiver half.
    ///
    /// # Errors
    /// A sentence about a constant out of its range.
    fn receiver(config: Self::Config, limits: RateLimits) -> Half<dyn Receiver>;
}

/// A named configuration of a controller.
#[derive(Clone, Debug)]
pub struct Preset<C> {
    /// Its name, for the option `preset`.
    pub name: &'static str,
    /// Its purpose, in a sentence.
    pub summary: &'static str,
    /// Its constants.
    pub config: C,
}

/// The key of the options that names a preset.
const PRESET: &str = "preset";
/// The option that carries the priority of a flow.
const PRIORITY: &str = "priority";

/// The factory of a [`ControllerKind`].
pub(crate) struct TypedFactory<K> {
    info: ControllerInfo,
    /// Made at the first call: a run with default options needs none.
    #[cfg(feature = "schemas")]
    schema: OnceLock<Value>,
    kind: PhantomData<fn() -> K>,
}

impl<K: ControllerKind> TypedFactory<K> {
    pub(crate) fn new() -> Self {
        Self {
            info: ControllerInfo { presets: preset_infos::<K>(), ..K::info() },
            #[cfg(feature = "schemas")]
            schema: OnceLock::new(),
            kind: PhantomData,
        }
    }
}

impl<K: ControllerKind> ControllerFactory for TypedFactory<K> {
    fn info(&self) -> &ControllerInfo {
        &self.info
    }

    fn sender(&self, options: Option<&Options>, limits: RateLimits, priority: f64) -> Half<dyn Controller> {
        K::sender(config::<K>(options, priority)?, limits)
    }

    fn receiver(&self, options: Option<&Options>, limits: RateLimits, priority: f64) -> Half<dyn Receiver> {
        K::receiver(config::<K>(options, priority)?, limits)
    }

    #[cfg(feature = "schemas")]
    fn schema(&self) -> Option<&Value> {
        Some(self.schema.get_or_init(schema::<K>))
    }
}

fn preset_infos<K: ControllerKind>() -> Vec<PresetInfo> {
    K::presets().iter().map(|p| PresetInfo { name: p.name.into(), summary: p.summary.into() }).collect()
}

#[cfg(feature = "schemas")]
fn schema<K: ControllerKind>() -> Value {
    let presets = K::presets();
    let mut schema =
        crate::options::with_defaults(schemars::schema_for!(K::Config).to_value(), &K::Config::default());
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        && !presets.is_empty()
    {
        let choices: Vec<Value> =
            presets.iter().map(|p| json!({ "const": p.name, "description": p.summary })).collect();
        let preset = json!({
            "description": "A named configuration that the other options change; the default unless given.",
            "oneOf": choices,
        });
        properties.insert(PRESET.to_owned(), preset);
    }
    schema
}

/// The constants that `options` make, for a flow of this priority.
///
/// # Errors
/// Options that the controller does not take, and a priority beside one among the options: they would multiply.
pub fn config<K: ControllerKind>(options: Option<&Options>, priority: f64) -> Result<K::Config, String> {
    if priority != 1.0 && options.is_some_and(|options| options.contains_key(PRIORITY)) {
        return Err(format!("`{PRIORITY}` stands beside the flow's own, {priority}: leave out one of them"));
    }
    Ok(K::prioritised(chosen::<K>(options)?, priority))
}

fn chosen<K: ControllerKind>(options: Option<&Options>) -> Result<K::Config, String> {
    let Some(options) = options else { return Ok(K::Config::default()) };
    if !options.contains_key(PRESET) {
        return read(options.clone());
    }
    // Other options stay in their order: a message names the first one that is wrong.
    let changes: Map<String, Value> = options
        .iter()
        .filter(|(key, _)| *key != PRESET)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let name = options[PRESET].as_str().ok_or_else(|| format!("`{PRESET}` must be text"))?;
    changed(&preset::<K>(name)?, &changes)
}

fn preset<K: ControllerKind>(name: &str) -> Result<K::Config, String> {
    let presets = K::presets();
    let advice = advice(name, presets.iter().map(|preset| preset.name));
    let named = presets.into_iter().find(|preset| preset.name == name);
    named.map(|preset| preset.config).ok_or_else(|| format!("there is no preset `{name}`; {advice}"))
}
