//! Summary of each paper, and the provenance of the results.

use core::fmt::{self, Write};

use super::super::overview::{WordTable, classes_in_words, numbers_in_words, summary};
use super::super::provenance::Provenance;
use super::super::results::{ClaimResult, Count};
use weir_report::chart::escape_html as html;

pub(super) fn write(out: &mut String, claims: &[ClaimResult], provenance: &Provenance) -> fmt::Result {
    let papers = summary(claims);
    let counts = || papers.iter().flat_map(|paper| &paper.classes);
    let (met, all): (usize, usize) = (counts().map(Count::met).sum(), counts().map(Count::claims).sum());
    writeln!(out, "<h1>What papers claim, and what came out</h1>")?;
    if let Some(change) = provenance.change_in_words() {
        writeln!(out, "<p class=\"mark unmet changed\">{}</p>", html(&change))?;
    }
    writeln!(out, "<p><small>{}</small></p>", html(&provenance.in_words()))?;
    writeln!(
        out,
        "<p>{met} of {all} claims are met. Calibration are those on which open parameters were chosen, derived those whose \
         number follows from the paper's equations and is not printed in it. What is reported beside another claim is not \
         counted.</p>"
    )?;
    table(out, &classes_in_words(&papers))?;
    out.push_str("<p>Of the claims with a number that the paper prints:</p>\n");
    table(out, &numbers_in_words(&papers))
}

fn table(out: &mut String, table: &WordTable) -> fmt::Result {
    out.push_str("<div class=\"wide\"><table class=\"summary\">\n<thead><tr><th>paper</th>");
    for name in &table.head {
        // The head has the class, and below it the basis of its claims.
        match name.split_once(", ") {
            Some((class, basis)) => write!(out, "<th>{}<small>{}</small></th>", html(class), html(basis))?,
            None => write!(out, "<th>{}</th>", html(name))?,
        }
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (index, (name, cells)) in table.rows.iter().enumerate() {
        let is_sum = index > 0 && index + 1 == table.rows.len();
        let name = html(name);
        if is_sum {
            write!(out, "<tr class=\"first\"><th>{name}</th>")?;
        } else {
            write!(out, "<tr><th><a href=\"#{name}\">{name}</a></th>")?;
        }
        for cell in cells {
            write!(out, "<td class=\"n\">{}</td>", html(cell))?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    Ok(())
}
