//! Columns of a table, and the fields of its lines (RFC 4180).

use std::borrow::Cow;
use std::io::{self, Write};

use weir_cc::LimitingFactor;

/// A column to be written.
pub(super) enum Column<'a> {
    Numbers(&'a [f64]),
    LimitingFactors(&'a [Option<LimitingFactor>]),
    Words(&'a [Option<&'a str>]),
}

impl Column<'_> {
    pub(super) fn write_cell(&self, out: &mut impl Write, row: usize) -> io::Result<()> {
        match self {
            Self::Numbers(values) => match values.get(row) {
                Some(value) if value.is_finite() => write!(out, ",{value}"),
                _ => write!(out, ","),
            },
            Self::LimitingFactors(factors) => {
                write!(out, ",{}", factors.get(row).copied().flatten().map_or("", LimitingFactor::name))
            }
            Self::Words(words) => {
                write!(out, ",{}", quoted(words.get(row).copied().flatten().unwrap_or_default()))
            }
        }
    }
}

/// `text` as a field: in quotes if it needs them (RFC 4180 §2).
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// The fields of a line, those in quotes without them (RFC 4180 §2); a name with a line break is not put together again.
pub(super) fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(core::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lose_their_quotes() {
        assert_eq!(fields("a,\"b,\"\"c\"\"\",,d"), ["a", "b,\"c\"", "", "d"]);
    }
}
