//! Table of the claims of a row, with stand-ins and the causes of unmet claims.

use core::fmt::{self, Write};

use super::super::results::ClaimResult;
use crate::judge::Verdict;
use weir_report::chart::escape_html as html;

const HEAD: [&str; 7] = ["claim", "what", "paper", "ours ± 95 %", "accepted", "places", "verdict"];

pub(super) fn write(out: &mut String, claims: &[&ClaimResult]) -> fmt::Result {
    out.push_str("<div class=\"wide\"><table class=\"claims\">\n<thead><tr>");
    for name in HEAD {
        write!(out, "<th>{name}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for claim in claims {
        line(out, claim)?;
    }
    out.push_str("</tbody>\n</table></div>\n");
    notes(out, claims, "stand-in", "Stand-in", |claim| claim.stand_in.as_deref())?;
    notes(out, claims, "cause", "Why not", |claim| claim.cause.as_deref())
}

fn line(out: &mut String, claim: &ClaimResult) -> fmt::Result {
    let name = claim.id.rsplit('/').next().unwrap_or_default();
    let marks: Vec<&str> = claim.marks().iter().flat_map(|mark| ["<small>", mark, "</small>"]).collect();
    let tests: Vec<String> =
        claim.tests.iter().map(|test| format!("<code>{}</code>", html(&breakable(test)))).collect();
    let measured =
        if tests.is_empty() { html(&claim.measured_in_words()).into_owned() } else { tests.join("<br/>") };
    writeln!(
        out,
        "<tr id=\"{}\"><th>{}<small>{}</small></th><td>{}</td><td>{}</td><td>{measured}</td><td>{}</td><td>{}</td>\
         <td class=\"verdict {}\">{}{}</td></tr>",
        html(&claim.id),
        html(name),
        claim.class.name(),
        html(&claim.claim),
        html(&claim.reported_in_words()),
        html(&claim.accepted_in_words()),
        claim.places_in_words(),
        class(claim.verdict),
        claim.verdict.words(),
        marks.concat(),
    )
}

/// Path with break opportunities for lines.
fn breakable(path: &str) -> String {
    path.replace("::", "::\u{200b}")
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open => "open",
        Verdict::TwoKinds => "near",
        verdict if verdict.is_met() => "met",
        _ => "unmet",
    }
}

/// Notes of claims, each text once with the claims that have it.
fn notes<'c>(
    out: &mut String,
    claims: &[&'c ClaimResult],
    kind: &str,
    title: &str,
    text: impl Fn(&'c ClaimResult) -> Option<&'c str>,
) -> fmt::Result {
    let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
    for &claim in claims {
        let Some(text) = text(claim) else { continue };
        let name = claim.id.rsplit('/').next().unwrap_or_default();
        match grouped.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => grouped.push((text, vec![name])),
        }
    }
    for (text, names) in grouped {
        let of = if names.len() == claims.len() { String::new() } else { format!(" ({})", names.join(", ")) };
        writeln!(out, "<p class=\"{kind}\"><b>{title}{}:</b> {}</p>", html(&of), html(text.trim()))?;
    }
    Ok(())
}
