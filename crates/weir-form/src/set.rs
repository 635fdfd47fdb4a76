//! Values laid over a file: `links.forward.delay=30ms`.

use toml::{Table, Value};
use weir_registry::{advice, list};

use super::check::{Child, OptionsOf, check_value, child, is_tag, table_form, unknown_key};
use super::error::{KeyPath, Problem, SET, ScenarioError};
use super::origin::{Origin, Override};
use super::shape::{Form, Shape, TableForm};

/// Sets a value of `table`, whose form is `shape` and which comes from `origin`, and returns the override. A table is not changed
/// by an assignment that is refused.
///
/// # Errors
/// The assignment is none, or key or value do not fit `shape`.
pub fn set<'s>(
    table: &mut Table,
    shape: Shape<'s>,
    options: OptionsOf<'_, 's>,
    assignment: &str,
    origin: &Origin,
) -> Result<Override, ScenarioError> {
    let equals = equals(assignment);
    let fail = |problem: Problem| {
        if origin.wrote(&problem.path) && !split(assignment).is_ok_and(|(path, _)| path.meets(&problem.path))
        {
            return origin.error(problem);
        }
        let end = equals.filter(|_| problem.at_key).unwrap_or(assignment.len());
        let start = if problem.at_key { 0 } else { equals.map_or(0, |e| e + 1) };
        ScenarioError::new(SET, assignment, Some((start, end)), problem)
    };
    split(assignment)
        .and_then(|(path, text)| {
            let mut root = Value::Table(table.clone());
            Setter { options, text, whole: table }.place(&mut root, shape, &KeyPath::default(), &path.0)?;
            if let Value::Table(changed) = root {
                *table = changed;
            }
            Ok(Override { text: assignment.to_owned(), path })
        })
        .map_err(fail)
}

/// The position of the `=` between path and value; an `=` in a quoted key does not count.
fn equals(assignment: &str) -> Option<usize> {
    let mut quoted = false;
    let outside = assignment.char_indices().find_map(|(at, character)| {
        quoted ^= character == '"';
        (character == '=' && !quoted).then_some(at)
    });
    outside.or_else(|| assignment.find('='))
}

fn split(assignment: &str) -> Result<(KeyPath, &str), Problem> {
    let usage = "write `path=value`, such as `links.forward.delay=30ms`";
    let bad = |message: String| Problem::key(&KeyPath::default(), message).help(usage);
    let equals = equals(assignment).ok_or_else(|| bad(format!("`{assignment}` has no `=`")))?;
    let (path, value) = (&assignment[..equals], &assignment[equals + 1..]);
    let keys = keys(path).ok_or_else(|| bad(format!("`{path}` is no path of keys")))?;
    Ok((KeyPath(keys), value.trim()))
}

/// The keys of a dotted path, or `None` if one is empty or a quote stays open.
fn keys(path: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = path.trim();
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if key.is_empty() {
            return None;
        }
        keys.push(key.to_owned());
        if after.is_empty() {
            return Some(keys);
        }
        rest = after.strip_prefix('.')?;
    }
}

/// Sets a text at the end of a path.
struct Setter<'a, 's> {
    options: OptionsOf<'a, 's>,
    text: &'a str,
    /// The table before the assignment.
    whole: &'a Table,
}

impl<'s> Setter<'_, 's> {
    /// Puts the text under `keys` into `value`, which stands at `here` and whose forms are those of `shape`.
    fn place(
        &self,
        value: &mut Value,
        shape: Shape<'s>,
        here: &KeyPath,
        keys: &[String],
    ) -> Result<(), Problem> {
        let Some((key, rest)) = keys.split_first() else {
            *value = self.read(shape, here)?;
            return Ok(());
        };
        let path = here.with(key);
        match value {
            Value::Array(items) => {
                let shape = item_shape(shape).ok_or_else(|| no_further(here, &path))?;
                let count = items.len();
                let item = key.parse().ok().and_then(|i: usize| items.get_mut(i)).ok_or_else(|| {
                    Problem::key(&path, format!("`{here}` has no item `{key}`"))
                        .help(format!("it has {count}, counted from 0"))
                })?;
                self.place(item, shape, &path, rest)
            }
            Value::Table(table) => self.place_in_table(table, shape, here, (key, rest)),
            ref word => {
                let changed = preset_table(word, shape).ok_or_else(|| no_further(here, &path))?;
                *value = Value::Table(changed);
                self.place(value, shape, here, keys)
            }
        }
    }

    fn place_in_table(
        &self,
        table: &mut Table,
        shape: Shape<'s>,
        here: &KeyPath,
        (key, rest): (&String, &[String]),
    ) -> Result<(), Problem> {
        let path = &here.with(key);
        if rest.is_empty() && is_tag(shape, key) {
            // Accepted words are checked together with the rest of the table.
            table.insert(key.clone(), Value::String(self.text.trim_matches('"').to_owned()));
            return Ok(());
        }
        let form = table_form(table, shape, here)?;
        match child(&form, table, key, self.options) {
            Child::Unknown => Err(unknown_key(key, &form, path)),
            Child::Any => {
                let value = toml_value(self.text).unwrap_or_else(|| Value::String(self.text.to_owned()));
                table.insert(key.clone(), value);
                Ok(())
            }
            Child::Named(shape) => match table.get_mut(key) {
                Some(value) => self.place(value, shape, path, rest),
                // A whole table under a new name is meant; anything less may be a name that was mistyped.
                None if rest.is_empty() && toml_value(self.text).is_some_and(|value| value.is_table()) => {
                    table.insert(key.clone(), self.read(shape, path)?);
                    Ok(())
                }
                None => {
                    Err(Problem::key(path, format!("there is no `{path}`"))
                        .help(self.others(table, key, here)))
                }
            },
            Child::Known(shape) => {
                let value = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
                self.place(value, shape, path, rest)?;
                if rest.is_empty() {
                    displace(table, &form, key);
                }
                Ok(())
            }
        }
    }

    /// Keys that exist in the place of `key`, which the table at `here` lacks.
    fn others(&self, table: &Table, key: &str, here: &KeyPath) -> String {
        if !table.is_empty() {
            return advice(key, table.keys().map(String::as_str));
        }
        let parts = parts(self.whole);
        format!(
            "`{here}` is empty; there are {}",
            list(&parts.iter().map(String::as_str).collect::<Vec<_>>())
        )
    }

    /// The value of the text at `path`: TOML where that is accepted, else the text itself.
    fn read(&self, shape: Shape<'s>, path: &KeyPath) -> Result<Value, Problem> {
        let as_text = Value::String(self.text.to_owned());
        let value = toml_value(self.text).unwrap_or_else(|| as_text.clone());
        let problems = |value: &Value| check_value(value, shape, path, self.options);
        match problems(&value).into_iter().next() {
            None => Ok(value),
            Some(_) if problems(&as_text).is_empty() => Ok(as_text),
            Some(problem) => Err(problem),
        }
    }
}

/// The tables within the tables of a file: `dumbbell.bottleneck`, `flows.video`.
fn parts(whole: &Table) -> Vec<String> {
    let tables = whole.iter().filter_map(|(key, value)| Some((key, value.as_table()?)));
    let within = |(key, table): (&String, &Table)| {
        let parts = table.iter().filter(|(_, value)| value.is_table());
        parts.map(|(part, _)| format!("{key}.{part}")).collect::<Vec<_>>()
    };
    tables.flat_map(within).collect()
}

/// Removes the keys that conflict with a link's new capacity `key`.
fn displace(table: &mut Table, form: &TableForm<'_>, key: &str) {
    let others: &[&str] = match key {
        "rate" => &["steps", "trace", "fallback", "trace_offset", "repeat"],
        "steps" => &["rate", "trace", "fallback", "trace_offset", "repeat"],
        "trace" => &["rate", "steps"],
        _ => &[],
    };
    if form.get("trace").is_some() {
        table.retain(|name, _| !others.contains(&name));
    }
}

/// The problem of a path that leads into a value without parts.
fn no_further(here: &KeyPath, path: &KeyPath) -> Problem {
    Problem::key(path, format!("`{here}` has no parts")).help(format!("set `{here}` itself"))
}

fn item_shape(shape: Shape<'_>) -> Option<Shape<'_>> {
    shape.forms().into_iter().find_map(|form| if let Form::Array(items) = form { items } else { None })
}

/// The table that a word abbreviates: `"papers"` is `{ preset = "papers" }`.
fn preset_table(word: &Value, shape: Shape<'_>) -> Option<Table> {
    const PRESET: &str = "preset";
    let has_preset = |form: Form<'_>| matches!(form, Form::Table(table) if table.get(PRESET).is_some());
    let known = word.is_str() && shape.forms().into_iter().any(has_preset);
    known.then(|| Table::from_iter([(PRESET.to_owned(), word.clone())]))
}

fn toml_value(text: &str) -> Option<Value> {
    let table: Table = toml::from_str(&format!("value = {text}")).ok()?;
    if table.len() == 1 { table.into_iter().next().map(|(_, value)| value) } else { None }
}
