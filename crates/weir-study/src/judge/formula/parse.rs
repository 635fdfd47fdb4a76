//! Parser of formulas, with a check of the kinds of their parts.

use std::collections::BTreeMap;

use super::functions::{FUNCTIONS, Function};
use super::{Formula, FormulaContext, Kind, Leaf, Operator, Scope};
use weir_form::advice;

/// Mistake in a formula, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    pub(crate) help: String,
}

fn mistake<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake { message: message.into(), help: help.into() })
}

/// Parses `text` as a formula of one place that is a number and names no other formula.
///
/// # Errors
/// The text is no formula, names an unknown function, or has parts that do not match.
pub(crate) fn parse(text: &str) -> Result<Formula, Mistake> {
    let reading = FormulaContext { scope: Scope::Place, named: &BTreeMap::new() };
    parse_as(text, reading)
}

/// Parses `text` as a formula that is a number, in the context of `reading`.
///
/// # Errors
/// As for [`parse`].
pub(crate) fn parse_as(text: &str, reading: FormulaContext<'_>) -> Result<Formula, Mistake> {
    let (formula, kind) = parse_within(text, reading, 0)?;
    if kind != Kind::Number {
        let help = "put it into `mean(…)`, `sum(…)` or another function that makes one number of it";
        return mistake(format!("the formula is {}, not a number", kind.words()), help);
    }
    Ok(formula)
}

/// Parses `text` as a formula of any kind, in the context of `reading`; returns the kind as well.
///
/// # Errors
/// As for [`parse`], except for the kind.
pub(crate) fn parse_any(text: &str, reading: FormulaContext<'_>) -> Result<(Formula, Kind), Mistake> {
    parse_within(text, reading, 0)
}

/// Greatest depth of formulas that name other formulas.
const DEEPEST: usize = 16;
/// Greatest depth of brackets, and of signs before one number.
const MOST_NESTED: usize = 64;
/// Greatest number of tokens of a formula: numbers, names and signs.
const LONGEST: usize = 1024;

fn parse_within(text: &str, reading: FormulaContext<'_>, depth: usize) -> Result<TypedFormula, Mistake> {
    let tokens = tokens(text)?;
    if tokens.len() > LONGEST {
        return mistake(
            format!("the formula has {} numbers, names and signs", tokens.len()),
            format!("{LONGEST} are the most: give parts of it names in `[formulas]`"),
        );
    }
    let mut parser = Parser { tokens, at: 0, reading, depth, nested: 0 };
    let part = parser.sum()?;
    match parser.peek() {
        Some(token) => {
            mistake(format!("`{}` stands behind the end of the formula", token.text()), "take it away")
        }
        None => Ok(part),
    }
}

/// Copy of `text` in which each formula between `<` and `>` is replaced by its value, over axes.
///
/// # Errors
/// As for [`parse`].
pub(crate) fn fill(text: &str, value: impl Fn(&Formula) -> Option<f64>) -> Result<String, Mistake> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((inner, behind)) = after.split_once('>') else {
            return mistake(format!("`{text}` has a `<` without `>`"), "write `<$AXIS>`");
        };
        let Some(number) = value(&parse(inner)?) else {
            let help =
                "between `<` and `>` stands a formula over axes of the sweeps, such as `<15 * $ratio>`";
            return mistake(format!("`{inner}` has no value"), help);
        };
        filled.push_str(before);
        filled.push_str(&without_noise(number).to_string());
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Rounds to nine digits, as further ones are rounding noise.
fn without_noise(number: f64) -> f64 {
    format!("{number:.8e}").parse().unwrap_or(number)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Word(String),
    Axis(String),
    Sign(char),
}

impl Token {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
            Self::Axis(name) => format!("${name}"),
            Self::Sign(sign) => sign.to_string(),
        }
    }
}

/// Characters of a name. A minus is one of them, so that a subtraction after a name needs a space.
fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.:*".contains(c)
}

/// Length of a number: digits, a point, an exponent.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len())
    };
    let plain = digits(0);
    let Some(exponent) = text[plain..].strip_prefix('e') else { return plain };
    let sign = usize::from(exponent.starts_with(['-', '+']));
    if exponent[sign..].starts_with(|c: char| c.is_ascii_digit()) { digits(plain + 1 + sign) } else { plain }
}

fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = |of: &str, in_token: fn(char) -> bool| of.find(|c| !in_token(c)).unwrap_or(of.len());
        let (token, taken) = match first {
            '0'..='9' => {
                let taken = number_length(rest);
                let Ok(number) = rest[..taken].parse() else {
                    return mistake(format!("`{}` is no number", &rest[..taken]), "write one such as `0.5`");
                };
                (Token::Number(number), taken)
            }
            'a'..='z' | 'A'..='Z' => {
                let taken = length(rest, in_word);
                (Token::Word(rest[..taken].to_owned()), taken)
            }
            '$' => {
                let taken = 1 + length(&rest[1..], |c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Axis(rest[1..taken].to_owned()), taken)
            }
            '+' | '-' | '*' | '/' | '(' | ')' | '[' | ']' | ',' => (Token::Sign(first), 1),
            other => {
                let help = "a formula has numbers, `VARIANT:PATH`, `$AXIS`, functions, lists `[a, b]`, `+ - * / ( )` and `,`";
                return mistake(format!("`{other}` has no meaning here"), help);
            }
        };
        tokens.push(token);
        rest = rest[taken..].trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    reading: FormulaContext<'a>,
    /// Depth among formulas that name each other.
    depth: usize,
    /// Depth of brackets and signs around the next number.
    nested: usize,
}

type TypedFormula = (Formula, Kind);

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn sign(&mut self, signs: &[char]) -> Option<char> {
        let Some(&Token::Sign(sign)) = self.peek() else { return None };
        signs.contains(&sign).then(|| {
            self.at += 1;
            sign
        })
    }

    fn sum(&mut self) -> Result<TypedFormula, Mistake> {
        let mut left = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let operator = if sign == '+' { Operator::Plus } else { Operator::Minus };
            left = two(operator, left, self.product()?)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<TypedFormula, Mistake> {
        let mut left = self.single()?;
        while let Some(sign) = self.sign(&['*', '/']) {
            let operator = if sign == '*' { Operator::Times } else { Operator::Over };
            left = two(operator, left, self.single()?)?;
        }
        Ok(left)
    }

    fn single(&mut self) -> Result<TypedFormula, Mistake> {
        if self.nested == MOST_NESTED {
            let help = format!("{MOST_NESTED} brackets in each other are the most");
            return mistake("the formula is too deep", help);
        }
        self.nested += 1;
        let part = self.not_nested();
        self.nested -= 1;
        part
    }

    fn not_nested(&mut self) -> Result<TypedFormula, Mistake> {
        let help = "a number, `VARIANT:PATH`, `$AXIS`, a function or `(` was to come";
        match self.next() {
            Some(Token::Number(number)) => Ok((Formula::Number(number), Kind::Number)),
            Some(Token::Axis(name)) => Ok((Formula::Axis(name), self.of_a_place())),
            Some(Token::Word(word)) => self.word(&word),
            Some(Token::Sign('-')) => {
                let (of, kind) = self.single()?;
                Ok((Formula::Negative(Box::new(of)), kind))
            }
            Some(Token::Sign('(')) => {
                let inner = self.sum()?;
                self.close(')', "`(`")?;
                Ok(inner)
            }
            Some(Token::Sign('[')) => {
                let items = self.items()?;
                self.close(']', "`[`")?;
                numbers(items)
            }
            Some(token) => mistake(format!("`{}` is out of place", token.text()), help),
            None => mistake("the formula ends too early", help),
        }
    }

    fn close(&mut self, with: char, what: &str) -> Result<(), Mistake> {
        match self.sign(&[with]) {
            Some(_) => Ok(()),
            None => mistake(format!("{what} is not closed"), format!("add `{with}`")),
        }
    }

    fn items(&mut self) -> Result<Vec<TypedFormula>, Mistake> {
        let mut items = vec![self.sum()?];
        while self.sign(&[',']).is_some() {
            items.push(self.sum()?);
        }
        Ok(items)
    }

    /// Kind of a value that is one number at each place.
    const fn of_a_place(&self) -> Kind {
        match self.reading.scope {
            Scope::Place => Kind::Number,
            Scope::AllPlaces => Kind::Several,
        }
    }

    fn word(&mut self, word: &str) -> Result<TypedFormula, Mistake> {
        if let Some((variant, path)) = word.split_once(':') {
            let leaf = Leaf { variant: variant.to_owned(), path: path.to_owned() };
            let kind = match (self.reading.scope, leaf.kind()) {
                (Scope::AllPlaces, Kind::Number) => self.of_a_place(),
                (Scope::AllPlaces, kind) => {
                    let help = "name one number of each place, such as `links.NAME.queue_ms.mean`";
                    return mistake(
                        format!("over all places `{word}` would be {} at each", kind.words()),
                        help,
                    );
                }
                (Scope::Place, kind) => kind,
            };
            return Ok((Formula::Measure(leaf), kind));
        }
        if let Some(text) = self.reading.named.get(word) {
            if self.depth == DEEPEST {
                return mistake(
                    format!("`{word}` stands in itself"),
                    "let formulas name others that do not name them",
                );
            }
            return parse_within(text, self.reading, self.depth + 1);
        }
        let Some(&(name, function)) = FUNCTIONS.iter().find(|(name, _)| *name == word) else {
            let names = FUNCTIONS.iter().map(|&(name, _)| name);
            let names = names.chain(self.reading.named.keys().map(String::as_str));
            return mistake(format!("there is no function or formula `{word}`"), advice(word, names));
        };
        if self.sign(&['(']).is_none() {
            return mistake(format!("`{name}` is a function"), format!("write `{name}(…)`"));
        }
        let arguments = self.items()?;
        self.close(')', &format!("`{name}(`"))?;
        call(name, function, arguments)
    }
}

fn numbers(items: Vec<TypedFormula>) -> Result<TypedFormula, Mistake> {
    if let Some((_, kind)) = items.iter().find(|(_, kind)| *kind != Kind::Number) {
        let help = "make a number of it, such as by `mean(…)`";
        return mistake(format!("a list holds numbers, not {}", kind.words()), help);
    }
    Ok((Formula::List(items.into_iter().map(|(formula, _)| formula).collect()), Kind::Several))
}

fn call(name: &str, function: Function, arguments: Vec<TypedFormula>) -> Result<TypedFormula, Mistake> {
    let takes = function.takes();
    let wanted = || takes.iter().map(|takes| takes.words()).collect::<Vec<_>>().join("; ");
    if takes.len() != arguments.len() {
        return mistake(format!("`{name}` takes {}, not {}", takes.len(), arguments.len()), wanted());
    }
    let kind = function.makes(arguments[0].1);
    for (takes, (_, kind)) in takes.iter().zip(&arguments) {
        if !takes.fits(*kind) {
            return mistake(
                format!("`{name}` cannot take {}", kind.words()),
                format!("it takes {}", wanted()),
            );
        }
    }
    let arguments: Vec<Formula> = arguments.into_iter().map(|(formula, _)| formula).collect();
    if let (Function::Quantile, Some(Formula::Number(share))) = (function, arguments.get(1))
        && !(0.0..=1.0).contains(share)
    {
        return mistake(format!("there is no quantile {share}"), "write a share from 0 to 1, such as `0.95`");
    }
    Ok((Formula::Call(function, arguments), kind))
}

fn two(operator: Operator, left: TypedFormula, right: TypedFormula) -> Result<TypedFormula, Mistake> {
    let kind = match (left.1, right.1) {
        (kind, Kind::Number) | (Kind::Number, kind) => kind,
        (left, right) if left == right => left,
        (left, right) => {
            let message = format!("{} and {} do not go together", left.words(), right.words());
            return mistake(message, "make a number of one of them, such as by `mean(…)`");
        }
    };
    Ok((Formula::Two(operator, Box::new(left.0), Box::new(right.0)), kind))
}
