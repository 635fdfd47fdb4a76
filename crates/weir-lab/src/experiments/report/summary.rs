//! How much is met, by paper and class.

use core::fmt::{self, Write};

use super::super::judge::Verdict;
use super::super::results::{ClaimResult, Count, counts};
use crate::page::escape_html as html;

const HEAD: [&str; 9] = [
    "paper",
    "class",
    "kind",
    "met",
    "claims",
    "undecided",
    "two kinds of runs",
    "runs scatter",
    "not reproduced",
];

pub(super) fn write(out: &mut String, claims: &[ClaimResult]) -> fmt::Result {
    let met = claims.iter().filter(|claim| claim.verdict.is_met()).count();
    write!(
        out,
        "<h1>What papers claim, and what came out</h1>\n<p>{met} of {} claims are met. A claim on which open parameters were \
         chosen is calibration and counts apart.</p>\n<div class=\"wide\"><table class=\"summary\">\n<thead><tr>",
        claims.len()
    )?;
    for name in HEAD {
        write!(out, "<th>{name}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let counts = counts(claims);
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
    let kind = if count.calibration { "calibration" } else { "validation" };
    let all = if count.met() == count.claims() { "met" } else { "unmet" };
    write!(
        out,
        "<td>{}</td><td>{kind}</td><td class=\"n {all}\">{}</td><td class=\"n\">{}</td>",
        count.class.name(),
        count.met(),
        count.claims()
    )?;
    for verdict in [Verdict::Undecided, Verdict::TwoKinds, Verdict::Scattered, Verdict::NotReproduced] {
        let number = count.of(verdict);
        let number = if number == 0 { String::new() } else { number.to_string() };
        write!(out, "<td class=\"n\">{number}</td>")?;
    }
    out.push_str("</tr>\n");
    Ok(())
}
