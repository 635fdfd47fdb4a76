//! Report of rows as one HTML page that needs no network, no script and no other file.
//!
//! The page shows the summary of each paper and the command. Each row has the statement of the paper, the choice of
//! open parameters, our version of its figures, and the claims with their verdicts. The causes of unmet claims and the
//! figures with settings changed follow. The same results give the same bytes.

mod chart;
mod claims;
mod summary;
mod tried;

use core::fmt::{self, Write};

use super::plots::PlotResult;
use super::provenance::Provenance;
use super::read::Experiment;
use super::results::ClaimResult;
use weir_report::chart::{CHART_CSS, escape_html as html};
use weir_report::page::{PLACED_CSS, PlacedTable, placed};

/// Content security policy: no resource is loaded, and no script runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Page of `experiments` with the results of their claims and plots.
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

/// Figure of a plot, in HTML, for a page that has [`CHART_CSS`](weir_report::chart::CHART_CSS) and the colours that it names.
pub(crate) fn figure(plot: &PlotResult) -> String {
    let mut figure = String::new();
    // Writing to a string does not fail.
    let _ = chart::figure(&mut figure, plot);
    figure
}

/// Page of plots, with tables below them.
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

/// Sort key of names, in which `fig9` is before `fig10`.
fn in_order(name: &str) -> (&str, u64, &str) {
    let kind = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let behind = kind.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = kind[..kind.len() - behind.len()].parse().unwrap_or(0);
    (&name[..name.len() - kind.len()], number, behind)
}

/// Row with its results.
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

    /// Name of the row without that of the paper.
    fn short(&self) -> &'r str {
        self.name().split_once('/').map_or(self.name(), |(_, short)| short)
    }

    fn met(&self) -> usize {
        self.claims.iter().filter(|claim| claim.verdict.is_met()).count()
    }

    /// Style class: all claims met, some, or none.
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

    /// Marks of a row: the number of claims met, and limitations.
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
