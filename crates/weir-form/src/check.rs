//! Does a table have the form that a schema describes? The check finds unknown keys, missing keys, wrong words and wrong units.

use toml::{Table, Value};
use weir_registry::{advice, list, nearest};
use weir_units::{DataRate, DataSize, TimeDelta};

use super::error::{KeyPath, Problem};
use super::shape::{Form, NumberForm, Others, Shape, TableForm, Unit};

/// Looks up the shape of a table of options by the key and the name that it belongs to: a `controller`, or a coupling's
/// `algorithm`. The result is `None` for an unknown name, whose options may be anything.
pub type OptionsOf<'a, 's> = &'a dyn Fn(&str, &str) -> Option<Shape<'s>>;

/// All errors in the form of `table` by `shape`.
pub fn check<'s>(table: &Table, shape: Shape<'s>, options: OptionsOf<'_, 's>) -> Vec<Problem> {
    let mut checker = Checker { options, problems: Vec::new() };
    checker.table_of(table, shape, &KeyPath::default());
    checker.problems
}

/// The problems of `value` at `path` by `shape`.
pub(super) fn check_value<'s>(
    value: &Value,
    shape: Shape<'s>,
    path: &KeyPath,
    options: OptionsOf<'_, 's>,
) -> Vec<Problem> {
    let mut checker = Checker { options, problems: Vec::new() };
    checker.value(value, shape, path);
    checker.problems
}

/// The form that `table` takes at `path`, if `shape` allows a table.
pub(super) fn table_form<'s>(
    table: &Table,
    shape: Shape<'s>,
    path: &KeyPath,
) -> Result<TableForm<'s>, Problem> {
    pick(tables(shape), table, path)
}

struct Checker<'o, 's> {
    options: OptionsOf<'o, 's>,
    problems: Vec<Problem>,
}

impl<'s> Checker<'_, 's> {
    fn value(&mut self, value: &Value, shape: Shape<'s>, path: &KeyPath) {
        let forms = shape.forms();
        match value {
            Value::Table(table) if forms.iter().any(|f| matches!(f, Form::Table(_))) => {
                self.table_of(table, shape, path);
            }
            Value::Array(items) if forms.iter().any(|f| matches!(f, Form::Array(_))) => {
                let item_shape = forms.iter().find_map(|f| if let Form::Array(s) = f { *s } else { None });
                for (i, item) in items.iter().enumerate() {
                    if let Some(shape) = item_shape {
                        self.value(item, shape, &path.item(i));
                    }
                }
            }
            _ => self.problems.extend(scalar_problem(value, &forms, path)),
        }
    }

    fn table_of(&mut self, table: &Table, shape: Shape<'s>, path: &KeyPath) {
        match table_form(table, shape, path) {
            Ok(form) => self.table(table, &form, path),
            Err(problem) => {
                self.problems.push(problem);
                self.any_table(table, &tables(shape), path);
            }
        }
    }

    /// Checks `table` for problems that it has under each of `forms`.
    fn any_table(&mut self, table: &Table, forms: &[TableForm<'s>], path: &KeyPath) {
        let tag = forms.iter().find_map(TableForm::tag).map(|(tag, _)| tag);
        let known = |key: &&(&'s str, Shape<'s>)| Some(key.0) != tag;
        let keys = forms.iter().flat_map(|form| form.keys.iter().filter(known).copied()).collect();
        let all = TableForm { keys, ..TableForm::default() };
        for (key, value) in table.iter().filter(|(key, _)| Some(key.as_str()) != tag) {
            let path = path.with(key);
            let judged = forms.iter().map(|form| match child(form, table, key, self.options) {
                Child::Known(shape) | Child::Named(shape) => {
                    Some(check_value(value, shape, &path, self.options))
                }
                Child::Any => Some(Vec::new()),
                Child::Unknown => None,
            });
            match judged.flatten().min_by_key(Vec::len) {
                Some(problems) => self.problems.extend(problems),
                None => self.problems.push(unknown_key(key, &all, &path)),
            }
        }
    }

    fn table(&mut self, table: &Table, form: &TableForm<'s>, path: &KeyPath) {
        for (key, value) in table {
            let path = path.with(key);
            match child(form, table, key, self.options) {
                Child::Known(shape) | Child::Named(shape) => self.value(value, shape, &path),
                Child::Any => {}
                Child::Unknown => self.problems.push(unknown_key(key, form, &path)),
            }
        }
        // A key that was only misspelt is not missing too.
        let misspelt = |key: &str| {
            let unknown = table.keys().filter(|k| form.get(k).is_none());
            unknown.into_iter().any(|k| nearest(k, form.keys.iter().map(|&(name, _)| name)) == Some(key))
        };
        for &key in form.required.iter().filter(|key| !table.contains_key(**key) && !misspelt(key)) {
            let what = form.get(key).map_or_else(String::new, |shape| expectation(&shape.forms()));
            let problem = Problem::value(&path.with(key), format!("`{}` is missing", path.with(key)));
            self.problems.push(problem.help(format!("add `{key}`: {what}")));
        }
    }
}

/// The shape of a value under a key of a table.
pub(super) enum Child<'s> {
    /// A key that such tables have.
    Known(Shape<'s>),
    /// A freely chosen name.
    Named(Shape<'s>),
    /// Any value.
    Any,
    /// A key that such tables do not have.
    Unknown,
}

/// The shape of the value under `key` of `table`, whose form is `form`. `options` gives the shape of the options of a controller
/// or of an algorithm.
pub(super) fn child<'s>(
    form: &TableForm<'s>,
    table: &Table,
    key: &str,
    options: OptionsOf<'_, 's>,
) -> Child<'s> {
    // The schema leaves these options open: they are those of the named controller or coupler.
    let is_open = || form.get(key).is_some_and(|shape| shape.forms().iter().any(Form::is_any_table));
    if key == "options"
        && is_open()
        && let Some(names) = ["controller", "algorithm"].into_iter().find(|key| form.get(key).is_some())
    {
        let name = table.get(names).and_then(Value::as_str);
        return name.and_then(|name| options(names, name)).map_or(Child::Any, Child::Known);
    }
    match (form.get(key), form.others) {
        (Some(shape), _) => Child::Known(shape),
        (None, Some(Others::Of(shape))) => Child::Named(shape),
        (None, Some(Others::Any)) => Child::Any,
        (None, None) => Child::Unknown,
    }
}

/// Whether `key` distinguishes the alternatives of `shape`.
pub(super) fn is_tag(shape: Shape<'_>, key: &str) -> bool {
    tables(shape).iter().any(|form| form.tag().is_some_and(|(tag, _)| tag == key))
}

fn tables(shape: Shape<'_>) -> Vec<TableForm<'_>> {
    let forms = shape.forms().into_iter();
    forms.filter_map(|form| if let Form::Table(table) = form { Some(table) } else { None }).collect()
}

/// The alternative that `table` means: by its tag (`kind`), else by its keys.
fn pick<'s>(forms: Vec<TableForm<'s>>, table: &Table, path: &KeyPath) -> Result<TableForm<'s>, Problem> {
    let tags: Vec<(&str, &str)> = forms.iter().filter_map(TableForm::tag).collect();
    if let Some(&(tag, _)) = tags.first() {
        let words: Vec<&str> = tags.iter().map(|&(_, word)| word).collect();
        let path = path.with(tag);
        return match table.get(tag) {
            None => Err(Problem::value(&path, format!("`{path}` is missing"))
                .help(format!("add `{tag}`: one of {}", list(&words)))),
            Some(Value::String(word)) => forms
                .into_iter()
                .find(|form| form.tag().is_some_and(|(_, w)| w == word))
                .ok_or_else(|| unknown_word(word, &words, &path)),
            Some(other) => Err(wrong_type(other, &format!("one of {}", list(&words)), &path)),
        };
    }
    let known = |form: &TableForm<'s>| table.keys().filter(|key| form.get(key).is_some()).count();
    let best = forms.into_iter().rev().max_by_key(known);
    best.ok_or_else(|| Problem::value(path, format!("`{path}` is no table")))
}

/// The problem of an unknown `key` at the end of `path`, which `form` does not have.
pub(super) fn unknown_key(key: &str, form: &TableForm<'_>, path: &KeyPath) -> Problem {
    let names = form.keys.iter().map(|&(name, _)| name);
    let kind = form.tag().map_or_else(String::new, |(tag, word)| format!(" where `{tag} = \"{word}\"`"));
    Problem::key(path, format!("`{path}` is not a key that is known here{kind}")).help(advice(key, names))
}

fn unknown_word(word: &str, words: &[&str], path: &KeyPath) -> Problem {
    Problem::value(path, format!("`{path}` cannot be \"{word}\"")).help(advice(word, words.iter().copied()))
}

fn wrong_type(value: &Value, expected: &str, path: &KeyPath) -> Problem {
    let found = match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        other => other.to_string(),
    };
    Problem::value(path, format!("`{path}` cannot be {found}")).help(format!("write {expected}"))
}

/// The problem of a value that is neither table nor array, if no form accepts it.
fn scalar_problem(value: &Value, forms: &[Form<'_>], path: &KeyPath) -> Option<Problem> {
    let mut refused = None;
    for form in forms {
        match accepts(value, form) {
            FormVerdict::Yes => return None,
            FormVerdict::No(why) => refused = Some(why),
            FormVerdict::OtherType => {}
        }
    }
    let words: Vec<&str> =
        forms.iter().filter_map(|f| if let Form::Word(w) = f { Some(*w) } else { None }).collect();
    Some(match (value, refused) {
        (Value::String(word), refused)
            if nearest(word, words.iter().copied()).is_some() || (refused.is_none() && !words.is_empty()) =>
        {
            unknown_word(word, &words, path)
        }
        (_, Some(why)) if words.is_empty() => Problem::value(path, format!("`{path}`: {}", why.message))
            .help(why.help.unwrap_or_else(|| format!("write {}", expectation(forms)))),
        _ => wrong_type(value, &expectation(forms), path),
    })
}

enum FormVerdict {
    Yes,
    /// The type is right, the value is not.
    No(ValueRefusal),
    OtherType,
}

struct ValueRefusal {
    message: String,
    help: Option<String>,
}

fn accepts(value: &Value, form: &Form<'_>) -> FormVerdict {
    match (value, form) {
        (Value::String(text), Form::Word(word)) if text == word => FormVerdict::Yes,
        (Value::String(_), Form::Text) | (Value::Boolean(_), Form::Boolean) => FormVerdict::Yes,
        (Value::String(text), Form::Quantity(unit)) => {
            unit.parse(text).map_or_else(FormVerdict::No, |()| FormVerdict::Yes)
        }
        (Value::Integer(n), Form::Number(number)) => number.check(*n as f64),
        (Value::Float(x), Form::Number(number)) if !number.whole => number.check(*x),
        _ => FormVerdict::OtherType,
    }
}

impl Unit {
    /// Whether `text` is a quantity of this unit; an error has the unit's own message and advice.
    fn parse(self, text: &str) -> Result<(), ValueRefusal> {
        let result = match self {
            Self::Rate => text.parse::<DataRate>().map(drop),
            Self::Size => text.parse::<DataSize>().map(drop),
            Self::Time => text.parse::<TimeDelta>().map(drop),
        };
        result.map_err(|error| {
            let error = error.to_string();
            let (message, help) = error.split_once("; ").unwrap_or((&error, ""));
            ValueRefusal { message: message.to_owned(), help: (!help.is_empty()).then(|| help.to_owned()) }
        })
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::Rate => "a rate such as \"2.5Mbps\"",
            Self::Size => "a size such as \"1500B\"",
            Self::Time => "a time such as \"25ms\"",
        }
    }
}

impl NumberForm {
    fn check(self, x: f64) -> FormVerdict {
        let within = self.min.is_none_or(|min| x >= min) && self.max.is_none_or(|max| x <= max);
        if x.is_finite() && within {
            return FormVerdict::Yes;
        }
        let message = format!("{x} is out of range");
        FormVerdict::No(ValueRefusal { message, help: Some(format!("write {}", self.expectation())) })
    }

    fn expectation(self) -> String {
        format!("a {}", number_in_words(self))
    }
}

/// Description of the accepted numbers.
pub(super) fn number_in_words(number: NumberForm) -> String {
    let noun = if number.whole { "whole number" } else { "number" };
    match (number.min, number.max) {
        (Some(min), Some(max)) => format!("{noun} from {min} to {max}"),
        (Some(min), None) => format!("{noun} of at least {min}"),
        (None, Some(max)) => format!("{noun} of at most {max}"),
        (None, None) => noun.to_owned(),
    }
}

/// Description of the accepted values at a place.
fn expectation(forms: &[Form<'_>]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for form in forms {
        let part = match form {
            Form::Table(_) => "a table".to_owned(),
            Form::Array(_) => "an array".to_owned(),
            Form::Word(word) => format!("\"{word}\""),
            Form::Quantity(unit) => unit.expectation().to_owned(),
            Form::Text => "text".to_owned(),
            Form::Boolean => "true or false".to_owned(),
            Form::Number(number) => number.expectation(),
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join(" or ")
}
