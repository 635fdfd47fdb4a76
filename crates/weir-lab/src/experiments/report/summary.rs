//! How much is met, by paper and class.

use core::fmt::{self, Write};

use super::super::judge::Verdict;
use super::super::results::{ClaimResult, Count, counts};
use crate::chart::escape_html as html;

const HEAD: [&str; 8] =
    ["paper", "class", "kind", "met", "claims", "undecided", "two kinds of runs", "not reproduced"];

pub(super) fn write(out: &mut String, claims: &[ClaimResult]) -> fmt::Result {
    let counts = counts(claims);
    let met: usize = counts.iter().map(Count::met).sum();
    let all: usize = counts.iter().map(Count::claims).sum();
    write!(
        out,
        "<h1>What papers claim, and what came out</h1>\n<p>{met} of {all} claims are met. Calibration are those on which \
         open parameters were chosen, derived those whose number follows from the paper's equations and is not printed in it. \
         What is told beside another claim is not counted.</p>\n<div class=\"wide\"><table class=\"summary\">\n<thead><tr>"
    )?;
    for name in HEAD {
        write!(out, "<th>{name}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for paper in counts.chunk_by(|a, b| a.paper == b.paper) {
        for (index, count) in paper.iter().enumerate() {
            line(out, count, (index == 0).then_some(paper.len()))?;
        }
    }
    out.push_str("</tbody>\n</table></div>\n");
    Ok(())
}

/// A line of the table; the first of a paper has its name, beside so many lines.
fn line(out: &mut String, count: &Count, lines: Option<usize>) -> fmt::Result {
    out.push_str(if lines.is_some() { "<tr class=\"first\">" } else { "<tr>" });
    if let Some(lines) = lines {
        let paper = html(&count.paper);
        write!(out, "<th rowspan=\"{lines}\"><a href=\"#{paper}\">{paper}</a></th>")?;
    }
    let kind = count.basis.words();
    let all = if count.met() == count.claims() { "met" } else { "unmet" };
    write!(
        out,
        "<td>{}</td><td>{kind}</td><td class=\"n {all}\">{}</td><td class=\"n\">{}</td>",
        count.class.name(),
        count.met(),
        count.claims()
    )?;
    for verdict in [Verdict::Undecided, Verdict::TwoKinds, Verdict::NotReproduced] {
        let number = count.of(verdict);
        let number = if number == 0 { String::new() } else { number.to_string() };
        write!(out, "<td class=\"n\">{number}</td>")?;
    }
    out.push_str("</tr>\n");
    Ok(())
}
