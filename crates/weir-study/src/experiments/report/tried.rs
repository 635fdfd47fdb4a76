//! Figures of a row with settings changed.

use core::fmt::{self, Write};

use super::super::row::Row;
use super::super::trials::{TriedWords, tried_in_words};
use weir_report::chart::escape_html as html;

pub(super) fn write(out: &mut String, row: &Row) -> fmt::Result {
    if row.tried.is_empty() {
        return Ok(());
    }
    out.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>tried</th><th>of</th><th>figure</th></tr></thead>\n<tbody>\n",
    );
    for TriedWords { set, of, figure } in tried_in_words(row) {
        let set: Vec<String> = set.iter().map(|text| format!("<code>{}</code>", html(text))).collect();
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            set.join("<br/>"),
            html(&of),
            html(&figure)
        )?;
    }
    out.push_str("</tbody>\n</table></div>\n");
    Ok(())
}
