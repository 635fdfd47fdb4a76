//! Tables of Markdown.

use weir_lab::page::SummaryTable;
use weir_lab::results::stats::kinds_in_words;

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

/// Numbers with their 95 % intervals; `first` heads the names of the rows.
pub(crate) fn numbers(first: &str, summary: &SummaryTable) -> String {
    let heads = summary.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.label.clone(),
        unit => format!("{}, {unit}", column.label),
    });
    let names: Vec<String> = std::iter::once(first.to_owned()).chain(heads).collect();
    let mut text = head(&names);
    for row in &summary.rows {
        let cells = summary.columns.iter().zip(&row.cells).map(|(column, cell)| {
            let decimals = column.decimals;
            match cell {
                None => "–".to_owned(),
                Some(cell) => {
                    let half = cell.ci95.map_or_else(String::new, |half| format!(" ± {half:.decimals$}"));
                    format!("{:.decimals$}{half}{}", cell.mean, kinds_in_words(cell.kinds, decimals))
                }
            }
        });
        text += &line(&std::iter::once(format!("`{}`", row.name)).chain(cells).collect::<Vec<_>>());
    }
    text
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
