//! Tables of Markdown.

use weir_report::page::{SummaryTable, markdown_cell};
use weir_report::text::Number;

use crate::terminal::printable;

/// A row; characters that would end a cell or the row, or form HTML, are escaped.
pub(crate) fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| printable(&markdown_cell(cell))).collect();
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
        let cells = summary.columns.iter().enumerate().map(|(index, column)| {
            let number = Number::of(row, index, column.decimals);
            number.map_or_else(|| "–".to_owned(), |number| number.to_string())
        });
        text += &line(&std::iter::once(format!("`{}`", row.name)).chain(cells).collect::<Vec<_>>());
    }
    for note in summary.notes() {
        text.extend(["\n", note.heading, ":\n\n"]);
        for (name, cells) in &note.rows {
            text.extend(["* `", name, "`: ", &self::text(cells), "\n"]);
        }
    }
    text
}

/// A text outside of tables, with Markdown and HTML escaped.
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
    use weir_report::page::{Best, Row, SummaryCell, SummaryColumn};

    use super::*;

    #[test]
    fn numbers_are_those_of_other_tables() {
        let column = SummaryColumn {
            label: "loss".to_owned(),
            unit: "%".to_owned(),
            definition: String::new(),
            decimals: 1,
            best: Best::Lowest,
        };
        let row =
            |mean| Row::of("gcc", vec![Some(SummaryCell { ci95: Some(0.26), ..SummaryCell::new(mean) })]);
        let rows = vec![row(-0.01), row(-0.1), row(f64::NAN)];
        let table = SummaryTable { columns: vec![column], rows };
        let head = "| controller | loss, % |\n| --- | --- |\n";
        let expected = format!("{head}| `gcc` | 0.0 ± 0.3 |\n| `gcc` | -0.1 ± 0.3 |\n| `gcc` | – |\n");
        assert_eq!(numbers("controller", &table), expected);
    }

    #[test]
    fn a_cell_stays_a_cell() {
        assert_eq!(line(&["a|b".to_owned(), "c\nd".to_owned()]), "| a\\|b | c d |\n");
        assert_eq!(
            line(&["x<script>".to_owned(), "a\u{202e}b".to_owned()]),
            "| x&lt;script> | a\u{fffd}b |\n"
        );
        assert_eq!(head(&["a".to_owned(), "b".to_owned()]), "| a | b |\n| --- | --- |\n");
        assert_eq!(text("a<b>*c*"), "a&lt;b>\\*c\\*");
    }
}
