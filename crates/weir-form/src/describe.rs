//! Descriptions of the keys of a schema, for users.

use serde::Serialize;
use serde_json::Value;

use super::check::number_in_words;
use super::shape::{Form, Shape, TableForm, Unit};

/// Deepest nesting of tables.
const DEEPEST: usize = 8;

/// A key that a table can have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyInfo {
    /// The path of the key, with dots between its parts; `[]` stands behind an array whose items are tables.
    pub key: String,
    /// The value in force where the key is not given; `null` where there is none, or where the keys below give it.
    pub default: Value,
    /// The accepted values: a quantity, a range, words.
    pub form: String,
    /// The meaning of the key.
    pub description: String,
    /// The accepted values that have a description of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceInfo>,
}

/// An accepted value of a key that accepts several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChoiceInfo {
    /// The value in its written form.
    pub form: String,
    /// The meaning of the value.
    pub description: String,
}

/// The keys of the table that `schema`, a JSON Schema, describes, in its order; the keys within a table follow it.
pub fn keys(schema: &Value) -> Vec<KeyInfo> {
    let mut keys = Vec::new();
    let shape = Shape::new(schema);
    if let Some(table) = only_table(&shape.forms()) {
        collect(table, "", shape.default(), &mut keys);
    }
    keys
}

fn collect(table: &TableForm<'_>, above: &str, given: Option<&Value>, keys: &mut Vec<KeyInfo>) {
    for &(name, shape) in &table.keys {
        let key = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        let default = given.and_then(|given| given.get(name)).or(shape.default());
        let forms = shape.forms();
        let items = match forms.as_slice() {
            [Form::Array(Some(items))] => items.forms(),
            _ => Vec::new(),
        };
        let key = if only_table(&items).is_some() { format!("{key}[]") } else { key };
        let within = only_table(&forms).or(only_table(&items)).filter(|_| key.matches('.').count() < DEEPEST);
        keys.push(KeyInfo {
            key: key.clone(),
            default: default.filter(|_| within.is_none()).cloned().unwrap_or_default(),
            form: match within {
                Some(_) if items.is_empty() => "table".to_owned(),
                Some(_) => "array of tables".to_owned(),
                None => in_words(&forms),
            },
            description: one_line(shape.description()),
            choices: if within.is_some() { Vec::new() } else { choices(shape) },
        });
        if let Some(within) = within {
            collect(within, &key, default, keys);
        }
    }
}

/// The form of a table, if no other form is accepted and its keys are known.
fn only_table<'f, 's>(forms: &'f [Form<'s>]) -> Option<&'f TableForm<'s>> {
    match forms {
        [Form::Table(table)] if !table.keys.is_empty() => Some(table),
        _ => None,
    }
}

fn choices(shape: Shape<'_>) -> Vec<ChoiceInfo> {
    let choice = |choice: Shape<'_>| ChoiceInfo {
        form: in_words(&choice.forms()),
        description: one_line(choice.description()),
    };
    shape.alternatives().into_iter().map(choice).filter(|choice| !choice.description.is_empty()).collect()
}

/// Description of the accepted values.
fn in_words(forms: &[Form<'_>]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for form in forms {
        let part = match form {
            Form::Table(table) if table.keys.is_empty() => "table".to_owned(),
            Form::Table(table) => {
                let keys =
                    table.keys.iter().map(|(key, shape)| format!("{key} = {}", in_words(&shape.forms())));
                format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
            }
            Form::Array(items) => match items.map(Shape::forms) {
                Some(forms) if !forms.is_empty() => format!("array of: {}", in_words(&forms)),
                _ => "array".to_owned(),
            },
            Form::Word(word) => format!("\"{word}\""),
            Form::Quantity(Unit::Rate) => "rate".to_owned(),
            Form::Quantity(Unit::Size) => "size".to_owned(),
            Form::Quantity(Unit::Time) => "time".to_owned(),
            Form::Text => "text".to_owned(),
            Form::Boolean => "true or false".to_owned(),
            Form::Number(number) => number_in_words(*number),
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join(" or ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_have_their_forms_and_defaults() {
        let schema = json!({
            "properties": {
                "gain": { "type": "number", "minimum": 0, "maximum": 1, "default": 0.5, "description": "κ,\nthe gain." },
                "after": { "anyOf": [{ "$ref": "#/$defs/TimeDelta" }, { "type": "null" }], "default": null },
                "filter": { "$ref": "#/$defs/Filter", "default": { "window": 20 }, "description": "The filter." },
                "bound": { "$ref": "#/$defs/Bound", "default": "wire" },
                "steps": { "type": "array", "items": { "$ref": "#/$defs/Filter" } },
            },
            "$defs": {
                "TimeDelta": { "type": "string" },
                "Filter": { "properties": { "window": { "type": "integer", "default": 7 } } },
                "Bound": { "oneOf": [
                    { "const": "wire", "description": "That of the wire." },
                    { "type": "object", "properties": { "at": { "$ref": "#/$defs/TimeDelta" } }, "description": "This." },
                ] },
            },
        });
        let key = |key: &str, default, form: &str, description: &str| KeyInfo {
            key: key.to_owned(),
            default,
            form: form.to_owned(),
            description: description.to_owned(),
            choices: Vec::new(),
        };
        let choice = |form: &str, description: &str| ChoiceInfo {
            form: form.to_owned(),
            description: description.to_owned(),
        };
        let bound = key("bound", json!("wire"), "\"wire\" or { at = time }", "");
        let choices = vec![choice("\"wire\"", "That of the wire."), choice("{ at = time }", "This.")];
        let expected = [
            key("gain", json!(0.5), "number from 0 to 1", "κ, the gain."),
            key("after", Value::Null, "time", ""),
            key("filter", Value::Null, "table", "The filter."),
            key("filter.window", json!(20), "whole number", ""),
            KeyInfo { choices, ..bound },
            key("steps[]", Value::Null, "array of tables", ""),
            key("steps[].window", json!(7), "whole number", ""),
        ];
        assert_eq!(keys(&schema), expected);
    }
}
