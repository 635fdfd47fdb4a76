//! How a law stands in the registry.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toml::Table;
use weir_cc::{Controller, RateLimits, Receiver};
use weir_media::PacketFormat;

use super::{ControllerInfo, MarkResponse, PresetInfo, RegistryError};
use crate::form::{self, advice};

/// A law that scenarios can name.
pub trait Law {
    /// Its constants.
    type Config: DeserializeOwned + Serialize + JsonSchema + Default;
    /// The RTCP form in which the receiver half tells the fate of single packets, if it does.
    const PACKET_FORMAT: PacketFormat = PacketFormat::TransportWide;

    /// How it answers to marks by ECN.
    const MARKS: MarkResponse = MarkResponse::None;

    /// Whether it steers by a window.
    const HAS_WINDOW: bool = false;

    /// What it is, without the presets.
    fn info() -> ControllerInfo;

    /// Named configurations besides the default.
    fn presets() -> Vec<Preset<Self::Config>> {
        Vec::new()
    }

    /// The constants of a flow of this priority, above 0 and 1 for the usual one, out of those of any flow. A law
    /// without priorities leaves them as they are.
    fn prioritised(config: Self::Config, _priority: f64) -> Self::Config {
        config
    }

    /// The sender half.
    ///
    /// # Errors
    /// A constant out of its range, in words.
    fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller>;

    /// The receiver half.
    ///
    /// # Errors
    /// A constant out of its range, in words.
    fn receiver(config: Self::Config, limits: RateLimits) -> Half<dyn Receiver>;
}

/// A named configuration of a law.
#[derive(Clone, Debug)]
pub struct Preset<C> {
    /// Its name, for the option `preset`.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
    /// Its constants.
    pub config: C,
}

/// A half of a controller, or in words why there is none.
pub type Half<T> = Result<Box<T>, String>;

/// Builds a half out of options, rates and a priority.
pub(super) type Build<T> = fn(Option<&Table>, RateLimits, f64) -> Half<T>;

/// A [`Law`], its type forgotten.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) info: ControllerInfo,
    pub(super) sender: Build<dyn Controller>,
    pub(super) receiver: Build<dyn Receiver>,
    pub(super) packet_format: PacketFormat,
    pub(super) marks: MarkResponse,
    pub(super) has_window: bool,
    /// The JSON Schema of its options, made when somebody asks for it: no run of a law with its defaults does.
    schema: OnceLock<Value>,
    describe: fn() -> Value,
}

impl Entry {
    pub(super) fn of<L: Law>() -> Self {
        Self {
            info: ControllerInfo { presets: presets::<L>(), ..L::info() },
            sender: |options, limits, priority| L::sender(config::<L>(options, priority)?, limits),
            receiver: |options, limits, priority| L::receiver(config::<L>(options, priority)?, limits),
            packet_format: L::PACKET_FORMAT,
            marks: L::MARKS,
            has_window: L::HAS_WINDOW,
            schema: OnceLock::new(),
            describe: schema::<L>,
        }
    }

    pub(super) fn schema(&self) -> &Value {
        self.schema.get_or_init(self.describe)
    }

    pub(super) fn refused(&self, reason: String) -> RegistryError {
        RegistryError::Options { name: self.info.name, reason }
    }
}

/// The key of the options that names a preset.
const PRESET: &str = "preset";
/// The option of a law that its flow's priority stands for.
const PRIORITY: &str = "priority";

fn presets<L: Law>() -> Vec<PresetInfo> {
    L::presets().iter().map(|p| PresetInfo { name: p.name, summary: p.summary }).collect()
}

fn schema<L: Law>() -> Value {
    let presets = presets::<L>();
    let mut schema = with_defaults(schemars::schema_for!(L::Config).to_value(), &L::Config::default());
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

/// `schema` with the values of `config` as the defaults of its keys.
pub(super) fn with_defaults(mut schema: Value, config: &impl Serialize) -> Value {
    let defaults = serde_json::to_value(config).unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (key, node) in properties.into_iter().flatten() {
        if let (Some(node), Some(default)) = (node.as_object_mut(), defaults.get(key)) {
            node.insert("default".to_owned(), default.clone());
        }
    }
    schema
}

/// The constants that `options` make, for a flow of this priority.
///
/// # Errors
/// Options that the law does not take, and a priority beside one among the options: they would multiply.
pub(super) fn config<L: Law>(options: Option<&Table>, priority: f64) -> Result<L::Config, String> {
    if priority != 1.0 && options.is_some_and(|options| options.contains_key(PRIORITY)) {
        return Err(format!("`{PRIORITY}` stands beside the flow's own, {priority}: leave out one of them"));
    }
    Ok(L::prioritised(chosen::<L>(options)?, priority))
}

fn chosen<L: Law>(options: Option<&Table>) -> Result<L::Config, String> {
    let Some(options) = options else { return Ok(L::Config::default()) };
    let mut changes = options.clone();
    let Some(name) = changes.remove(PRESET) else { return form::read(changes) };
    let name = name.as_str().ok_or_else(|| format!("`{PRESET}` must be text"))?;
    changed(&preset::<L>(name)?, &changes)
}

fn preset<L: Law>(name: &str) -> Result<L::Config, String> {
    let presets = L::presets();
    let advice = advice(name, presets.iter().map(|preset| preset.name));
    let named = presets.into_iter().find(|preset| preset.name == name);
    named.map(|preset| preset.config).ok_or_else(|| format!("there is no preset `{name}`; {advice}"))
}

/// `base` with `changes` over it.
pub(super) fn changed<C: Serialize + DeserializeOwned>(base: &C, changes: &Table) -> Result<C, String> {
    let fields = |config: &C| match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    // TOML has no word for nothing, and a key that is missing stands for the default.
    let is_nothing = |(key, value): &(String, Value)| value.is_null() && !changes.contains_key(key);
    let nothing: Vec<(String, Value)> = fields(base).into_iter().filter(is_nothing).collect();
    let table = Table::try_from(base).map_err(|error| error.to_string())?;
    let with = |choices| {
        let mut table = table.clone();
        merge(&mut table, changes.clone(), choices);
        form::read(table)
    };
    // Of an enum a change chooses another variant, and both at once are none.
    let read: C = with(Choices::Joined).or_else(|error| with(Choices::Replaced).map_err(|_| error))?;
    if nothing.is_empty() {
        return Ok(read);
    }
    let mut read = fields(&read);
    read.extend(nothing);
    serde_json::from_value(Value::Object(read)).map_err(|error| error.to_string())
}

/// What becomes of a table of one key under a table of another key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choices {
    Joined,
    Replaced,
}

impl Choices {
    fn replace(self, table: &Table, change: &Table) -> bool {
        let one_each = table.len() == 1 && change.len() == 1;
        self == Self::Replaced && one_each && !table.keys().eq(change.keys())
    }
}

/// Puts `changes` over `table`, tables within tables key by key.
fn merge(table: &mut Table, changes: Table, choices: Choices) {
    for (key, change) in changes {
        match (table.get_mut(&key), change) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(change))
                if !choices.replace(inner, &change) =>
            {
                merge(inner, change, choices);
            }
            (_, change) => {
                table.insert(key, change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_go_over_a_preset_key_by_key() {
        let mut table: Table = toml::from_str("a = 1\nb = { c = 2, d = 3 }").unwrap();
        merge(&mut table, toml::from_str("b = { d = 4 }\ne = 5").unwrap(), Choices::Joined);
        assert_eq!(table, toml::from_str("a = 1\nb = { c = 2, d = 4 }\ne = 5").unwrap());
    }

    #[test]
    fn a_change_chooses_another_variant_than_the_preset_did() {
        use weir_cc::dccc::{Config, DelayThreshold};
        use weir_units::TimeDelta;

        let ms = TimeDelta::from_millis;
        let fixed = Config::dccc_2017(ms(100));
        for (text, threshold) in [
            ("threshold = { fixed = '50ms' }", DelayThreshold::Fixed(ms(50))),
            ("threshold = { above-minimum = '0ms' }", DelayThreshold::AboveMinimum(ms(0))),
        ] {
            let change = toml::from_str(text).unwrap();
            assert_eq!(changed(&fixed, &change), Ok(Config { threshold, ..fixed }), "{text}");
        }
        let neither = toml::from_str("threshold = { below-minimum = '50ms' }").unwrap();
        assert!(changed(&fixed, &neither).is_err());
    }

    #[test]
    fn what_a_preset_leaves_out_is_not_the_default() {
        use weir_cc::nada::Config;

        let literal = Config::rfc_literal();
        assert_eq!(changed(&literal, &Table::new()), Ok(literal));
        let with = toml::from_str("kappa = 0.25\ndrain_after = \"60s\"").unwrap();
        let drain_after = Config::default().drain_after;
        assert_eq!(changed(&literal, &with), Ok(Config { kappa: 0.25, drain_after, ..literal }));
        let wrong = toml::from_str("kappa = true").unwrap();
        assert!(changed(&literal, &wrong).is_err());
    }
}
