//! What came out of rows as one HTML page that needs nothing else: no network, no script, no other file.
//!
//! The page holds a table of what is met, and of each row what the paper says, what was taken for what it leaves open, our
//! version of its figures, the claims with their verdicts, and why what is not met is not. The same results give the same bytes.

mod claims;
mod summary;

use core::fmt::{self, Write};

use super::plots::PlotResult;
use super::read::Experiment;
use super::results::ClaimResult;
use crate::page::escape_html as html;

/// Nothing may be loaded from anywhere, and nothing runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The page of `experiments`, whose claims and plots came out as they did.
pub fn report(experiments: &[Experiment], claims: &[ClaimResult], plots: &[PlotResult]) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut page, experiments, claims, plots);
    page
}

fn write_page(
    out: &mut String,
    experiments: &[Experiment],
    claims: &[ClaimResult],
    plots: &[PlotResult],
) -> fmt::Result {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>What papers claim, and what came out</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
        include_str!("report.css"),
    )?;
    summary::write(out, claims)?;
    for paper in experiments.chunk_by(|a, b| a.paper() == b.paper()) {
        let name = html(paper[0].paper());
        write!(out, "<h2 id=\"{name}\">{name}</h2>\n")?;
        for experiment in paper {
            let own: Vec<&ClaimResult> = claims.iter().filter(|claim| claim.row == experiment.name).collect();
            section(out, experiment, &own, plots.iter().filter(|plot| plot.row == experiment.name))?;
        }
    }
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

fn section<'p>(
    out: &mut String,
    experiment: &Experiment,
    claims: &[&ClaimResult],
    plots: impl Iterator<Item = &'p PlotResult>,
) -> fmt::Result {
    let Experiment { name, row, .. } = experiment;
    let short = name.split_once('/').map_or(name.as_str(), |(_, short)| short);
    write!(
        out,
        "<section id=\"{0}\">\n<h3><a href=\"#{0}\">{1}</a> {2}{3}</h3>\n",
        html(name),
        html(short),
        html(&row.title),
        marks(claims),
    )?;
    if !row.words.is_empty() {
        write!(out, "<blockquote>{}</blockquote>\n", html(row.words.trim()))?;
    }
    if !row.open.is_empty() {
        write!(out, "<p class=\"open\"><b>Left open, and taken:</b> {}</p>\n", html(row.open.trim()))?;
    }
    for plot in plots {
        write!(out, "<figure><figcaption>{}</figcaption></figure>\n", html(&plot.title))?;
    }
    claims::write(out, claims)?;
    out.push_str("</section>\n");
    Ok(())
}

/// What has to be known of a row at once: how much of it is met, and what it is not.
fn marks(claims: &[&ClaimResult]) -> String {
    let met = claims.iter().filter(|claim| claim.verdict.is_met()).count();
    let all = if met == claims.len() { "met" } else { "unmet" };
    let mut marks = format!(" <span class=\"mark {all}\">{met} of {} met</span>", claims.len());
    if claims.iter().any(|claim| claim.calibration) {
        marks.push_str(" <span class=\"mark\">calibration</span>");
    }
    if claims.iter().any(|claim| claim.stand_in.is_some()) {
        marks.push_str(" <span class=\"mark\">stand-in</span>");
    }
    marks
}
