//! Text in tables of Markdown.

/// The text of a cell, which may have parts between backticks. No part of it ends the cell or the row, or begins a tag of HTML
/// (`CommonMark` §6.6).
pub fn markdown_cell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut is_code = false;
    for (at, character) in text.char_indices() {
        let rest = &text[at + character.len_utf8()..];
        let begins_tag = || rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
        match character {
            '`' => {
                is_code = !is_code && rest.contains('`');
                escaped.push('`');
            }
            '|' => escaped.push_str("\\|"),
            '\n' | '\r' => escaped.push(' '),
            '<' if !is_code && begins_tag() => escaped.push_str("&lt;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_a_cell_without_tags() {
        for (text, cell) in [
            ("a|b\nc", "a\\|b c"),
            ("1 | x<script>", "1 \\| x&lt;script>"),
            ("</td><!--<?", "&lt;/td>&lt;!--&lt;?"),
            ("`a<b`", "`a<b`"),
            ("`a`<b>`", "`a`&lt;b>`"),
            ("a`<b", "a`&lt;b"),
            ("-0.2 < 0", "-0.2 < 0"),
            ("µ<µ", "µ<µ"),
        ] {
            assert_eq!(markdown_cell(text), cell);
        }
    }
}
