//! Origins of the values of a table: a file, or a `--set`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use toml::de::{DeTable, DeValue};

use super::error::{KeyPath, Problem, SET, ScenarioError};
use super::former::former_key;

/// A span of bytes in a text: begin and end.
type ByteSpan = (usize, usize);

/// The texts that a table came from. Two tables are the same wherever they were written.
#[derive(Clone, Debug, Default)]
pub struct Origin(Arc<Texts>);

#[derive(Clone, Debug, Default)]
struct Texts {
    name: String,
    text: String,
    /// Made at the first problem.
    spans: OnceLock<BTreeMap<KeyPath, KeyAndValue>>,
    overrides: Vec<Override>,
}

#[derive(Clone, Copy, Debug)]
struct KeyAndValue {
    key: ByteSpan,
    value: ByteSpan,
}

/// A `path=value` that was laid over the file.
#[derive(Clone, Debug)]
pub struct Override {
    /// The assignment as given, `KEY=VALUE`.
    pub text: String,
    /// Keys that lead to the value.
    pub path: KeyPath,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Origin {
    /// The origin `text`, which is called `name`; spans are known where it is TOML.
    pub fn of(name: &str, text: &str) -> Self {
        Self(Arc::new(Texts { name: name.to_owned(), text: text.to_owned(), ..Texts::default() }))
    }

    /// The same origin with another override laid over it.
    pub fn with(mut self, laid: Override) -> Self {
        Arc::make_mut(&mut self.0).overrides.push(laid);
        self
    }

    /// Whether the value at `path` stands in one of the texts.
    pub(super) fn wrote(&self, path: &KeyPath) -> bool {
        self.0.spans().contains_key(path) || self.0.overrides.iter().any(|o| o.concerns(path))
    }

    /// The error that shows `problem` at its place.
    pub fn error(&self, problem: Problem) -> ScenarioError {
        let texts = &*self.0;
        if let Some(o) = texts.overrides.iter().rev().find(|o| o.concerns(&problem.path)) {
            return ScenarioError::new(SET, &o.text, Some(o.span(&problem)), problem);
        }
        ScenarioError::new(&texts.name, &texts.text, Some(texts.span(&problem)), problem)
    }

    /// The error of all `problems`; `Ok` if there is none.
    ///
    /// # Errors
    /// The problems with their places, unless there are none or only warnings.
    pub fn check(&self, problems: Vec<Problem>) -> Result<(), ScenarioError> {
        let errors = problems.into_iter().map(|p| self.error(p)).collect();
        ScenarioError::together(errors).map_or(Ok(()), Err)
    }

    /// The error of `problems`, of which there is one at least.
    pub fn together(&self, problems: Vec<Problem>) -> ScenarioError {
        let nothing = || self.plain_error(None, "this makes no sense");
        self.check(problems).err().unwrap_or_else(nothing)
    }

    /// The base directory of a relative path that stands at the key path `path`. The directory is that of the file, or the
    /// present one (which is empty) for a `--set`.
    pub fn directory(&self, path: &KeyPath) -> &Path {
        let set = self.0.overrides.iter().any(|o| o.concerns(path));
        let beside = Path::new(&self.0.name).parent().filter(|_| !set);
        beside.unwrap_or(Path::new(""))
    }

    /// An error that is not about one value.
    pub fn plain_error(&self, span: Option<std::ops::Range<usize>>, message: &str) -> ScenarioError {
        let span = span.map(|s| (s.start, s.end));
        let problem = Problem::value(&KeyPath::default(), message.trim_end().replace('\n', ", "));
        ScenarioError::new(&self.0.name, &self.0.text, span, problem)
    }
}

impl Override {
    /// Whether it set the value at `path` or a table around it.
    fn concerns(&self, path: &KeyPath) -> bool {
        path.0.starts_with(&self.path.0)
    }

    fn span(&self, problem: &Problem) -> ByteSpan {
        let equals = self.text.find('=').unwrap_or(self.text.len());
        if problem.at_key { (0, equals) } else { ((equals + 1).min(self.text.len()), self.text.len()) }
    }
}

impl Texts {
    /// The spans of all keys and values, if the text is TOML.
    fn spans(&self) -> &BTreeMap<KeyPath, KeyAndValue> {
        self.spans.get_or_init(|| {
            let mut spans = BTreeMap::new();
            if let Ok(table) = DeTable::parse(&self.text) {
                collect_table(table.get_ref(), &KeyPath::default(), &mut spans);
            }
            spans
        })
    }

    /// The span of the key or value at the problem's path, or of the nearest table around it.
    fn span(&self, problem: &Problem) -> ByteSpan {
        let mut keys = problem.path.0.as_slice();
        while !keys.is_empty() {
            if let Some(found) = self.spans().get(&KeyPath(keys.to_vec())) {
                // A missing key is shown at the head of the table that lacks it.
                let whole = keys.len() == problem.path.0.len();
                return if problem.at_key || !whole { found.key } else { found.value };
            }
            keys = &keys[..keys.len() - 1];
        }
        (0, 0)
    }
}

fn collect_table(table: &DeTable<'_>, table_path: &KeyPath, spans: &mut BTreeMap<KeyPath, KeyAndValue>) {
    for (key, value) in table {
        let path = table_path.with(key.get_ref());
        let (k, v) = (key.span(), value.span());
        let span = KeyAndValue { key: (k.start, k.end), value: (v.start, v.end) };
        // A problem with the value is found under the present name of the key.
        if let Some(present) = former_key(key.get_ref()) {
            spans.entry(table_path.with(present)).or_insert(span);
        }
        spans.insert(path.clone(), span);
        collect_value(value.get_ref(), &path, spans);
    }
}

fn collect_value(value: &DeValue<'_>, path: &KeyPath, spans: &mut BTreeMap<KeyPath, KeyAndValue>) {
    match value {
        DeValue::Table(table) => collect_table(table, path, spans),
        DeValue::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                let path = path.item(i);
                let span = (item.span().start, item.span().end);
                spans.insert(path.clone(), KeyAndValue { key: span, value: span });
                collect_value(item.get_ref(), &path, spans);
            }
        }
        _ => {}
    }
}
