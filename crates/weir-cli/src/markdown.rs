//! Tables of Markdown.

/// A row; what would end a cell or the row in it does not.
pub(crate) fn line(cells: &[String]) -> String {
    let cells: Vec<String> =
        cells.iter().map(|cell| cell.replace('|', "\\|").replace(['\n', '\r'], " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The row of the heads, and the rule below it.
pub(crate) fn head(cells: &[String]) -> String {
    line(cells) + &line(&vec!["---".to_owned(); cells.len()])
}

/// A text outside of tables, in which nothing of it is taken for Markdown or HTML.
pub(crate) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '*' | '_' | '#' | '[' | ']' => escaped.extend(['\\', character]),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_a_cell() {
        assert_eq!(line(&["a|b".to_owned(), "c\nd".to_owned()]), "| a\\|b | c d |\n");
        assert_eq!(head(&["a".to_owned(), "b".to_owned()]), "| a | b |\n| --- | --- |\n");
        assert_eq!(text("a<b>*c*"), "a&lt;b>\\*c\\*");
    }
}
