//! Fields of comma-separated values (RFC 4180).

use std::borrow::Cow;

/// Prefix of a text that a spreadsheet would take for a formula.
const LITERAL: char = '\'';

/// Whether a spreadsheet would take the text, with or without the prefix, for a formula. Numbers are not formulas.
fn is_formula(text: &str) -> bool {
    let begins = text.trim_start_matches(LITERAL).starts_with(['=', '+', '-', '@', '\t', '\r']);
    begins && !text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `text` as a field: in quotes if it needs them (RFC 4180 §2), with the prefix `'` if a spreadsheet would take it
/// for a formula.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    let text = if is_formula(text) { Cow::Owned(format!("{LITERAL}{text}")) } else { Cow::Borrowed(text) };
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}

/// The text of a field without the prefix of [`quoted`].
fn plain(field: String) -> String {
    match field.strip_prefix(LITERAL) {
        Some(text) if is_formula(text) => text.to_owned(),
        _ => field,
    }
}

/// The fields of a line written by [`quoted`]. A field that contains a line break is not supported.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(plain(core::mem::take(&mut field))),
            other => field.push(other),
        }
    }
    fields.push(plain(field));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_looks_like_a_formula_is_written_as_text() {
        for (text, field) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("+a", "'+a"),
            ("@SUM(1,2)", "\"'@SUM(1,2)\""),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("'=1", "''=1"),
            ("'-2", "''-2"),
            ("-2", "-2"),
            ("-2.5e3", "-2.5e3"),
            ("-inf", "'-inf"),
            ("'a", "'a"),
            ("a=1", "a=1"),
        ] {
            assert_eq!(quoted(text), field);
            assert_eq!(fields(&format!("a,{field},b")), ["a", text, "b"]);
        }
    }

    #[test]
    fn fields_lose_their_quotes() {
        assert_eq!(fields("a,\"b,\"\"c\"\"\",,d"), ["a", "b,\"c\"", "", "d"]);
    }
}
