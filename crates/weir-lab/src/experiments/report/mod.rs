//! What came out of rows as one HTML page that needs nothing else: no network, no script, no other file.
//!
//! The page holds what is met of each paper, by which command, and of each row what the paper says, what was taken for what it
//! leaves open, our version of its figures, the claims with their verdicts, why what is not met is not, and what was tried. The same
//! results give the same bytes.

mod chart;
mod claims;
mod summary;
mod tried;

use core::fmt::{self, Write};

use super::plots::PlotResult;
use super::provenance::Provenance;
use super::read::Experiment;
use super::results::ClaimResult;
use crate::chart::{CHART_CSS, escape_html as html};
use crate::page::{PLACED_CSS, PlacedTable, placed};

/// Nothing may be loaded from anywhere, and nothing runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The page of `experiments`, whose claims and plots came out as they did.
pub fn report(
    experiments: &[Experiment],
    claims: &[ClaimResult],
    plots: &[PlotResult],
    provenance: &Provenance,
) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut page, experiments, claims, plots, provenance);
    page
}

/// A plot alone, in HTML, for a page that has [`CHART_CSS`](crate::chart::CHART_CSS) and the colours that it names.
pub(crate) fn figure(plot: &PlotResult) -> String {
    let mut figure = String::new();
    // Writing to a string does not fail.
    let _ = chart::figure(&mut figure, plot);
    figure
}

/// A page of plots, and of tables below them.
pub fn figures(title: &str, source: &str, plots: &[PlotResult], tables: &[PlacedTable]) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_figures(&mut page, (title, source), plots, tables);
    page
}

fn write_figures(
    out: &mut String,
    (title, source): (&str, &str),
    plots: &[PlotResult],
    tables: &[PlacedTable],
) -> fmt::Result {
    write_head(out, title)?;
    write!(out, "<h1>{}</h1>\n<p>{}</p>\n<div class=\"plots\">\n", html(title), html(source))?;
    for plot in plots {
        chart::figure(out, plot)?;
    }
    writeln!(out, "</div>\n{}", placed(tables).into_string())?;
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

fn write_head(out: &mut String, title: &str) -> fmt::Result {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{}</title>\n<style>\n{}{CHART_CSS}{PLACED_CSS}</style>\n</head>\n<body>\n<main>\n",
        html(title),
        include_str!("report.css"),
    )
}

fn write_page(
    out: &mut String,
    experiments: &[Experiment],
    claims: &[ClaimResult],
    plots: &[PlotResult],
    provenance: &Provenance,
) -> fmt::Result {
    write_head(out, "What papers claim, and what came out")?;
    summary::write(out, claims, provenance)?;
    let mut papers: Vec<&str> = Vec::new();
    for experiment in experiments {
        if !papers.contains(&experiment.paper()) {
            papers.push(experiment.paper());
        }
    }
    for paper in papers {
        let rows = experiments.iter().filter(|experiment| experiment.paper() == paper);
        let mut rows: Vec<Section<'_>> = rows.map(|row| Section::of(row, claims, plots)).collect();
        rows.sort_by_key(|row| in_order(row.short()));
        let name = html(paper);
        write!(out, "<h2 id=\"{name}\">{name}</h2>\n<nav>")?;
        for row in &rows {
            write!(
                out,
                "<a class=\"{}\" href=\"#{}\">{}</a> ",
                row.class(),
                html(row.name()),
                html(row.short())
            )?;
        }
        out.push_str("</nav>\n");
        for row in &rows {
            row.write(out)?;
        }
    }
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

/// By what names stand in order: `fig9` before `fig10`.
fn in_order(name: &str) -> (&str, u64, &str) {
    let kind = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let behind = kind.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = kind[..kind.len() - behind.len()].parse().unwrap_or(0);
    (&name[..name.len() - kind.len()], number, behind)
}

/// A row and what came out.
struct Section<'r> {
    experiment: &'r Experiment,
    claims: Vec<&'r ClaimResult>,
    plots: Vec<&'r PlotResult>,
}

impl<'r> Section<'r> {
    fn of(experiment: &'r Experiment, claims: &'r [ClaimResult], plots: &'r [PlotResult]) -> Self {
        let claims = claims.iter().filter(|claim| claim.row == experiment.name).collect();
        let plots = plots.iter().filter(|plot| plot.row == experiment.name).collect();
        Self { experiment, claims, plots }
    }

    fn name(&self) -> &'r str {
        &self.experiment.name
    }

    /// The name without that of the paper.
    fn short(&self) -> &'r str {
        self.name().split_once('/').map_or(self.name(), |(_, short)| short)
    }

    fn met(&self) -> usize {
        self.claims.iter().filter(|claim| claim.verdict.is_met()).count()
    }

    /// Whether all of it is met, a part or nothing.
    fn class(&self) -> &'static str {
        match self.met() {
            met if met == self.claims.len() => "met",
            0 => "unmet",
            _ => "near",
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let row = &self.experiment.row;
        let (name, short, title) = (html(self.name()), html(self.short()), html(&row.title));
        write!(
            out,
            "<section id=\"{name}\">\n<h3><a href=\"#{name}\">{short}</a> {title}{}</h3>\n",
            self.marks()
        )?;
        if !row.words.is_empty() {
            writeln!(out, "<blockquote>{}</blockquote>", html(row.words.trim()))?;
        }
        if !row.open.is_empty() {
            writeln!(
                out,
                "<p class=\"open\"><b>Open in the paper, and taken:</b> {}</p>",
                html(row.open.trim())
            )?;
        }
        if !self.plots.is_empty() {
            out.push_str("<div class=\"plots\">\n");
            for plot in &self.plots {
                chart::figure(out, plot)?;
            }
            out.push_str("</div>\n");
        }
        claims::write(out, &self.claims)?;
        tried::write(out, row)?;
        out.push_str("</section>\n");
        Ok(())
    }

    /// What has to be known of a row at once: how much of it is met, and what it is not.
    fn marks(&self) -> String {
        let mut marks = format!(
            " <span class=\"mark {}\">{} of {} met</span>",
            self.class(),
            self.met(),
            self.claims.len()
        );
        if self.claims.iter().any(|claim| claim.calibration) {
            marks.push_str(" <span class=\"mark\">calibration</span>");
        }
        if self.claims.iter().any(|claim| claim.stand_in.is_some()) {
            marks.push_str(" <span class=\"mark\">stand-in</span>");
        }
        marks
    }
}

#[cfg(test)]
mod tests;
