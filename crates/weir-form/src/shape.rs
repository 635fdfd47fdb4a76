//! A view of a JSON Schema that gives the accepted values of a place. For example, it gives the keys of a table, the words of a
//! text, the unit of a quantity.

use serde_json::Value;

/// A schema, with the definitions that it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'s> {
    root: &'s Value,
    node: &'s Value,
}

/// A kind of value that is accepted.
#[derive(Clone, Debug)]
pub enum Form<'s> {
    /// A table.
    Table(TableForm<'s>),
    /// An array whose items have this shape.
    Array(Option<Shape<'s>>),
    /// A fixed word.
    Word(&'s str),
    /// A quantity with a unit.
    Quantity(Unit),
    /// Text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number(NumberForm),
}

/// The unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Rate,
    Size,
    Time,
}

/// Bounds of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberForm {
    pub whole: bool,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

/// The keys of a table.
#[derive(Clone, Debug, Default)]
pub struct TableForm<'s> {
    /// Known keys, in the order of the documentation.
    pub keys: Vec<(&'s str, Shape<'s>)>,
    /// Required keys.
    pub required: Vec<&'s str>,
    /// The shape of values under other keys, or `None` if no other keys are accepted.
    pub others: Option<Others<'s>>,
}

/// The shape of values under freely chosen keys.
#[derive(Clone, Copy, Debug)]
pub enum Others<'s> {
    /// Any value.
    Any,
    /// Values of this shape.
    Of(Shape<'s>),
}

impl<'s> Shape<'s> {
    /// The shape that `schema` describes.
    pub fn new(schema: &'s Value) -> Self {
        Self { root: schema, node: schema }
    }

    /// The description of the value at its use, or else at its definition.
    pub(super) fn description(self) -> &'s str {
        let own = self.node.get("description").and_then(Value::as_str);
        let defined = || self.reference().and_then(|name| self.definition(name)).map(Self::description);
        own.or_else(defined).unwrap_or_default()
    }

    /// The default of the value.
    pub(super) fn default(self) -> Option<&'s Value> {
        self.node.get("default")
    }

    /// The accepted alternatives, each with its description; empty where there is but one form.
    pub(super) fn alternatives(self) -> Vec<Self> {
        if let Some(definition) = self.reference().and_then(|name| self.definition(name)) {
            return definition.alternatives();
        }
        let nested = |choice: Self| match choice.alternatives() {
            none if none.is_empty() => vec![choice],
            several => several,
        };
        let stands = |choice: &Self| !choice.forms().is_empty();
        self.choices().into_iter().flat_map(nested).filter(stands).collect()
    }

    fn at(self, node: &'s Value) -> Self {
        Self { node, ..self }
    }

    /// Every form that a value can take here; null does not count, as TOML has none.
    pub fn forms(self) -> Vec<Form<'s>> {
        if let Some(name) = self.reference() {
            if let Some(unit) = Unit::named(name) {
                return vec![Form::Quantity(unit)];
            }
            if self.node.get("properties").is_none() {
                return self.definition(name).map_or_else(Vec::new, Self::forms);
            }
        }
        let choices = self.choices();
        if self.node.get("properties").is_some() {
            return self.table_forms(&choices);
        }
        if !choices.is_empty() {
            return choices.into_iter().flat_map(Self::forms).collect();
        }
        self.simple_forms()
    }

    /// A table with keys of its own, one form for each of the choices that add further keys.
    fn table_forms(self, choices: &[Self]) -> Vec<Form<'s>> {
        let mut own = self.own_table();
        if let Some(base) = self.reference().and_then(|name| self.definition(name)) {
            own = base.own_table().and(own);
        }
        if choices.is_empty() {
            return vec![Form::Table(own)];
        }
        let of_choice = |choice: &Self| choice.forms().into_iter().filter_map(Form::table);
        choices.iter().flat_map(of_choice).map(|table| Form::Table(own.clone().and(table))).collect()
    }

    fn own_table(self) -> TableForm<'s> {
        let properties = self.node.get("properties").and_then(Value::as_object);
        let keys = properties
            .into_iter()
            .flat_map(|p| p.iter().map(|(key, node)| (key.as_str(), self.at(node))))
            .collect();
        let required = strings(self.node.get("required")).collect();
        let others = match self.node.get("additionalProperties") {
            Some(node @ Value::Object(_)) => Some(Others::Of(self.at(node))),
            Some(Value::Bool(true)) => Some(Others::Any),
            _ => None,
        };
        TableForm { keys, required, others }
    }

    fn simple_forms(self) -> Vec<Form<'s>> {
        if let Some(word) = self.node.get("const").and_then(Value::as_str) {
            return vec![Form::Word(word)];
        }
        if self.node.get("enum").is_some() {
            return strings(self.node.get("enum")).map(Form::Word).collect();
        }
        let types = match self.node.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            many => strings(many).collect(),
        };
        types.into_iter().filter_map(|name| self.form_of_type(name)).collect()
    }

    fn form_of_type(self, name: &str) -> Option<Form<'s>> {
        match name {
            "object" => Some(Form::Table(self.own_table())),
            "array" => Some(Form::Array(self.node.get("items").map(|items| self.at(items)))),
            "string" => Some(Form::Text),
            "boolean" => Some(Form::Boolean),
            "integer" | "number" => Some(Form::Number(self.number(name == "integer"))),
            _ => None,
        }
    }

    fn number(self, whole: bool) -> NumberForm {
        let bound = |key| self.node.get(key).and_then(Value::as_f64);
        NumberForm { whole, min: bound("minimum"), max: bound("maximum") }
    }

    fn choices(self) -> Vec<Self> {
        ["oneOf", "anyOf"]
            .iter()
            .filter_map(|key| self.node.get(key)?.as_array())
            .flatten()
            .map(|node| self.at(node))
            .collect()
    }

    fn reference(self) -> Option<&'s str> {
        self.node.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
    }

    fn definition(self, name: &str) -> Option<Self> {
        self.root.get("$defs")?.get(name).map(|node| self.at(node))
    }
}

impl Unit {
    fn named(definition: &str) -> Option<Self> {
        match definition {
            "DataRate" => Some(Self::Rate),
            "DataSize" => Some(Self::Size),
            "TimeDelta" => Some(Self::Time),
            _ => None,
        }
    }
}

impl<'s> Form<'s> {
    /// Whether it is a table of any keys.
    pub fn is_any_table(&self) -> bool {
        matches!(self, Self::Table(table) if table.keys.is_empty() && matches!(table.others, Some(Others::Any)))
    }

    fn table(self) -> Option<TableForm<'s>> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }
}

impl<'s> TableForm<'s> {
    /// The keys of both tables.
    fn and(mut self, other: Self) -> Self {
        self.keys.extend(other.keys);
        self.required.extend(other.required);
        self.others = self.others.or(other.others);
        self
    }

    /// The shape of the value under `key`.
    pub fn get(&self, key: &str) -> Option<Shape<'s>> {
        self.keys.iter().find(|(name, _)| *name == key).map(|&(_, shape)| shape)
    }

    /// The key that distinguishes this table from its alternatives, and its value: `kind = "media"`.
    pub fn tag(&self) -> Option<(&'s str, &'s str)> {
        self.keys.iter().find_map(|&(key, shape)| match shape.node.get("const") {
            Some(Value::String(value)) => Some((key, value.as_str())),
            _ => None,
        })
    }
}

fn strings(node: Option<&Value>) -> impl Iterator<Item = &str> {
    node.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
