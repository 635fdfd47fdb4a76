//! Rust text as identifiers and punctuation, without comments and literals.

/// Identifiers, `::`, and every other punctuation mark by itself.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let silent = length_of_silence(rest);
        let (token, after) = match silent {
            0 if is_of_word(first) => rest.split_at(word(rest)),
            0 if rest.starts_with("::") => rest.split_at(2),
            0 => rest.split_at(first.len_utf8()),
            _ => ("", &rest[silent..]),
        };
        if !token.is_empty() {
            found.push(token);
        }
        rest = after;
    }
    found
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(text: &str) -> usize {
    text.find(|c| !is_of_word(c)).unwrap_or(text.len())
}

/// Bytes of the space, comment or literal at the start of `text`.
fn length_of_silence(text: &str) -> usize {
    let first = text.chars().next().unwrap_or(' ');
    if first.is_whitespace() {
        return first.len_utf8();
    }
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    if first.is_ascii_digit() {
        return word(text);
    }
    if first == '\'' {
        return character_or_lifetime(text);
    }
    let prefix = if is_of_word(first) { word(text) } else { 0 };
    match &text[..prefix] {
        "" | "b" | "c" if text[prefix..].starts_with('"') => prefix + quoted(&text[prefix..], '"'),
        "b" if text[prefix..].starts_with('\'') => prefix + quoted(&text[prefix..], '\''),
        "r" | "br" | "cr" => raw(&text[prefix..]).map_or(0, |length| prefix + length),
        _ => 0,
    }
}

/// Length of the block comment at the start of `text`, nested ones included.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    for (at, two) in text.as_bytes().windows(2).enumerate() {
        match two {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 2;
        }
    }
    text.len()
}

/// A lifetime is skipped like a literal.
fn character_or_lifetime(text: &str) -> usize {
    let mut after = text.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) | (_, Some('\'')) => quoted(text, '\''),
        _ => 1 + word(&text[1..]),
    }
}

/// Length of the literal at the start of `text`, up to an unescaped `quote`.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// A raw string, `"…"` between as many `#` on either side, or `None` for another text.
fn raw(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    text[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", &text[..hashes]);
    text[hashes + 1..].find(&end).map(|at| hashes + 1 + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_literals_and_lifetimes_say_nothing() {
        let text = r#"use a::b; // use c;
            /* use /* d */ e */ fn f<'l>(x: &'l str) -> char { g("use \" h", b'"', '\'', '"', 1.5e3) }"#;
        let expected = "use a :: b ; fn f < > ( x : & str ) - > char { g ( , , , , . ) }";
        assert_eq!(tokens(text).join(" "), expected);
        assert_eq!(tokens("f(r#\"use \"i\"\"#, br\"use j\")").join(" "), "f ( , )");
    }
}
