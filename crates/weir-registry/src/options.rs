//! Options as data, laid over a configuration.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::read::read;

/// Options of a controller or coupler, by the names of its configuration. A missing option keeps the value of the preset or the
/// default; `null` is an absent optional value.
pub type Options = Map<String, Value>;

/// `base` with `changes` over it.
pub(crate) fn changed<C: Serialize + DeserializeOwned>(base: &C, changes: &Options) -> Result<C, String> {
    let fields = match serde_json::to_value(base).map_err(|error| error.to_string())? {
        Value::Object(fields) => fields,
        _ => Options::new(),
    };
    let with = |choices| {
        let mut fields = fields.clone();
        merge(&mut fields, changes.clone(), choices);
        read(fields)
    };
    // A change of an enum chooses another variant; both variants at once are an error.
    with(Choices::Joined).or_else(|error| with(Choices::Replaced).map_err(|_| error))
}

/// The result for an object of one key under an object of another key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choices {
    Joined,
    Replaced,
}

impl Choices {
    fn replace(self, object: &Options, change: &Options) -> bool {
        let one_each = object.len() == 1 && change.len() == 1;
        self == Self::Replaced && one_each && !object.keys().eq(change.keys())
    }
}

/// Puts `changes` over `object`, objects within objects key by key.
fn merge(object: &mut Options, changes: Options, choices: Choices) {
    for (key, change) in changes {
        match (object.get_mut(&key), change) {
            (Some(Value::Object(inner)), Value::Object(change)) if !choices.replace(inner, &change) => {
                merge(inner, change, choices);
            }
            (_, change) => {
                object.insert(key, change);
            }
        }
    }
}

/// `schema` with the values of `config` as the defaults of its keys.
#[cfg(feature = "schemas")]
pub(crate) fn with_defaults(mut schema: Value, config: &impl Serialize) -> Value {
    let defaults = serde_json::to_value(config).unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (key, node) in properties.into_iter().flatten() {
        if let (Some(node), Some(default)) = (node.as_object_mut(), defaults.get(key)) {
            node.insert("default".to_owned(), default.clone());
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Options {
        let Value::Object(object) = value else { panic!("no object") };
        object
    }

    #[test]
    fn changes_go_over_a_preset_key_by_key() {
        let mut options = object(json!({ "a": 1, "b": { "c": 2, "d": 3 } }));
        merge(&mut options, object(json!({ "b": { "d": 4 }, "e": 5 })), Choices::Joined);
        assert_eq!(options, object(json!({ "a": 1, "b": { "c": 2, "d": 4 }, "e": 5 })));
    }

    #[test]
    fn a_change_chooses_another_variant_than_the_preset_did() {
        use weir_cc::TimeDelta;
        use weir_cc::dccc::{Config, DelayThreshold};

        let ms = TimeDelta::from_millis;
        let fixed = Config::dccc_2017(ms(100));
        for (change, threshold) in [
            (json!({ "threshold": { "fixed": "50ms" } }), DelayThreshold::Fixed(ms(50))),
            (json!({ "threshold": { "above-minimum": "0ms" } }), DelayThreshold::AboveMinimum(ms(0))),
        ] {
            assert_eq!(changed(&fixed, &object(change)), Ok(Config { threshold, ..fixed }));
        }
        assert!(changed(&fixed, &object(json!({ "threshold": { "below-minimum": "50ms" } }))).is_err());
    }

    #[test]
    fn an_absent_value_of_a_preset_is_not_the_default() {
        use weir_cc::nada::Config;

        let literal = Config::rfc_literal();
        assert_eq!(changed(&literal, &Options::new()), Ok(literal));
        let with = object(json!({ "kappa": 0.25, "drain_after": "60s" }));
        let drain_after = Config::default().drain_after;
        assert_eq!(changed(&literal, &with), Ok(Config { kappa: 0.25, drain_after, ..literal }));
        let absent = object(json!({ "drain_after": null }));
        assert_eq!(changed(&Config::default(), &absent).unwrap().drain_after, None);
        assert!(changed(&literal, &object(json!({ "kappa": true }))).is_err());
    }
}
