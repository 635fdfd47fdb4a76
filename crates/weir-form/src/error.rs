//! Errors of scenarios: the problem, its place, and a valid alternative.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

/// File name in messages about a `path=value` laid over the file.
pub const SET: &str = "--set";

/// A problem with a scenario. Its message begins with `file:line:column`; as a [`Diagnostic`] it also shows the line and a valid
/// alternative. Several problems of one scenario come together.
#[derive(Clone, Debug)]
pub struct ScenarioError(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    source: NamedSource<String>,
    place: Option<TextPosition>,
    problem: Problem,
    others: Vec<ScenarioError>,
}

/// The place of a problem in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextPosition {
    offset: usize,
    length: usize,
    line: usize,
    column: usize,
}

/// The problem of the value at a path, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Keys that lead to the value.
    pub path: KeyPath,
    /// Whether the key is wrong, rather than its value.
    pub at_key: bool,
    /// The fault, without its place.
    pub message: String,
    /// Advice to the user.
    pub help: Option<String>,
    /// Whether the scenario can be run nevertheless.
    pub warning: bool,
}

impl Problem {
    /// The value at `path` is wrong.
    pub fn value(path: &KeyPath, message: impl Into<String>) -> Self {
        Self { path: path.clone(), at_key: false, message: message.into(), help: None, warning: false }
    }

    /// The key at the end of `path` is wrong.
    pub fn key(path: &KeyPath, message: impl Into<String>) -> Self {
        Self { at_key: true, ..Self::value(path, message) }
    }

    /// The same problem as a warning.
    pub fn warning(self) -> Self {
        Self { warning: true, ..self }
    }

    /// The same problem with advice.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// The keys that lead to a value: `links`, `forward`, `steps`, `1`, `rate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(pub Vec<String>);

impl KeyPath {
    /// The path `keys`.
    pub fn of(keys: &[&str]) -> Self {
        Self(keys.iter().map(|&k| k.to_owned()).collect())
    }

    /// Whether one of both paths leads to the other.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }

    /// The path one key further.
    pub fn with(&self, key: &str) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.to_owned());
        Self(keys)
    }

    /// The path to the item `index` of the array at this path.
    pub fn item(&self, index: usize) -> Self {
        self.with(&index.to_string())
    }

    /// The last key.
    pub fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, key) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            if bare { write!(f, "{dot}{key}")? } else { write!(f, "{dot}{key:?}")? }
        }
        Ok(())
    }
}

impl ScenarioError {
    /// `problem` at `span` of `text`, which is called `name`.
    pub fn new(name: &str, text: &str, span: Option<(usize, usize)>, problem: Problem) -> Self {
        let place = span.map(|(start, end)| TextPosition::in_text(text, start, end));
        let source = NamedSource::new(name, text.to_owned());
        Self(Box::new(Inner { source, place, problem, others: Vec::new() }))
    }

    /// The first of `errors`, which carries the others, or `None` if there is none.
    pub fn together(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.0.others = errors.collect();
        Some(first)
    }

    /// The wrong `path=value` laid over the file, or `None` for a problem in the file.
    pub fn assignment(&self) -> Option<&str> {
        (self.0.source.name() == SET).then(|| self.0.source.inner().as_str())
    }

    /// The same problem with the value at another path.
    pub fn problem_at(&self, path: &KeyPath) -> Problem {
        Problem { path: path.clone(), at_key: false, ..self.0.problem.clone() }
    }

    /// The problem, without its place.
    pub fn message(&self) -> &str {
        &self.0.problem.message
    }

    /// The advice: a valid alternative.
    pub fn advice(&self) -> Option<&str> {
        self.0.problem.help.as_deref()
    }

    /// Line and column, both from 1, or `None` for a problem without a line.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.0.place.map(|p| (p.line, p.column))
    }

    /// The line of the problem, or `None` for a problem without a line.
    pub fn line(&self) -> Option<&str> {
        self.0.source.inner().lines().nth(self.0.place?.line.checked_sub(1)?)
    }

    /// This problem and the others of the same scenario, one by one.
    pub fn each(&self) -> Vec<Self> {
        let alone = |error: &Self| Self(Box::new(Inner { others: Vec::new(), ..(*error.0).clone() }));
        std::iter::once(self).chain(self.others()).map(alone).collect()
    }

    /// The same error with all its texts, the source included, mapped by `shown`, which works character by character and keeps
    /// their order.
    #[must_use]
    pub fn with_texts(&self, shown: impl Fn(&str) -> String + Copy) -> Self {
        let Inner { source, place, problem, others } = &*self.0;
        let text = source.inner();
        let place = place.map(|place| {
            let (before, rest) = text.split_at(place.offset);
            TextPosition { offset: shown(before).len(), length: shown(&rest[..place.length]).len(), ..place }
        });
        let problem = Problem {
            message: shown(&problem.message),
            help: problem.help.as_deref().map(shown),
            ..problem.clone()
        };
        let source = NamedSource::new(shown(source.name()), shown(text));
        let others = others.iter().map(|other| other.with_texts(shown)).collect();
        Self(Box::new(Inner { source, place, problem, others }))
    }

    /// Further problems of the same scenario.
    pub fn others(&self) -> &[Self] {
        &self.0.others
    }
}

impl TextPosition {
    fn in_text(text: &str, start: usize, end: usize) -> Self {
        let start = floor_boundary(text, start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        // A span over several lines is shown by its first.
        let first_line = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_boundary(text, end).clamp(start, first_line.max(start));
        Self { offset: start, length: end - start, line, column }
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.source.name())?;
        if let Some((line, column)) = self.position() {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message())
    }
}

impl std::error::Error for ScenarioError {}

impl Diagnostic for ScenarioError {
    fn severity(&self) -> Option<Severity> {
        self.0.problem.warning.then_some(Severity::Warning)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.advice().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.place.map(|_| &self.0.source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.0.place?;
        Some(Box::new(std::iter::once(LabeledSpan::new(Some("here".into()), place.offset, place.length))))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let others = self.others();
        let diagnostics = || Box::new(others.iter().map(|other| other as &dyn Diagnostic));
        (!others.is_empty()).then(|| diagnostics() as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "a = 1\nµ = 2\nb = \"xy\"";
        assert_eq!(
            TextPosition::in_text(text, 0, 1),
            TextPosition { offset: 0, length: 1, line: 1, column: 1 }
        );
        // µ takes two bytes: `2` begins at byte 11 and is the fifth character of line 2.
        assert_eq!(
            TextPosition::in_text(text, 11, 12),
            TextPosition { offset: 11, length: 1, line: 2, column: 5 }
        );
        assert_eq!(
            TextPosition::in_text(text, 17, 99),
            TextPosition { offset: 17, length: 4, line: 3, column: 5 }
        );
        assert_eq!(TextPosition::in_text(text, 999, 9999).line, 3, "beyond the end is at the end");
        assert_eq!(TextPosition::in_text(text, 7, 8).offset, 6, "within a character is at its begin");
        assert_eq!(TextPosition::in_text(text, 0, 20).length, 5, "only the first line is marked");
    }

    #[test]
    fn paths_read_as_they_are_written() {
        assert_eq!(KeyPath::of(&["links", "a b", "steps"]).item(1).to_string(), "links.\"a b\".steps.1");
    }
}
