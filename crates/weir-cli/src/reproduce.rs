//! `weir reproduce`: the claims of papers, run and judged.

use std::io::{self, Write};

use comfy_table::{Cell, Color};
use weir_lab::experiments::{
    self, ClaimResult, Count, Experiment, Extent, Lost, Reproduced, Reproduction, Verdict, VerdictBaseline,
    counts,
};
use weir_lab::registry::Registry;

use crate::args::{ReproduceArgs, ReproduceExtent};
use crate::failure::Failure;
use crate::kept::Kept;
use crate::output::{Files, OutputDirectory};
use crate::terminal;
use crate::{browser, table};

/// The name of the file with the report, in the output directory.
const REPORT: &str = "index.html";

/// Runs the rows and prints what came out, whatever the verdicts; `false` where a baseline had claims met that are so no longer.
pub(crate) fn reproduce(args: &ReproduceArgs, registry: &Registry) -> Result<bool, Failure> {
    // Everything that can be wrong is looked at before anything runs.
    let named: &[String] = if args.all { &[] } else { &args.rows };
    let experiments = experiments::open(registry, named, args.paper.as_deref())?;
    let baseline = args.baseline.as_deref().map(VerdictBaseline::read).transpose()?;
    let traces = args.data.store();
    let ReproduceExtent { full, runs, grid, further } = args.extent;
    let extent = Extent { full, runs, grid, further, plots: args.out.is_some() };
    meant_by_a_row("--grid", grid.is_some(), "a grid", experiments.iter().any(Experiment::has_a_grid))?;
    let has_further = |experiment: &Experiment| experiment.row.further.is_some();
    meant_by_a_row("--further", further, "further seeds", experiments.iter().any(has_further))?;
    let reproduction = Reproduction::plan(&experiments, extent, &traces)?;
    for row in reproduction.without_further_runs() {
        let why = "every place has as many seeds as the best ones would have";
        writeln!(terminal::stderr(), "--further adds nothing to {row}: {why}")?;
    }
    let mut directory =
        args.out.as_deref().map(|path| OutputDirectory::prepare(path, registry)).transpose()?;
    let kept = Kept { parts: &args.parts, jobs: args.jobs, quiet: args.quiet, what: "reproduce" };
    let Some(reproduced) = kept.run(&reproduction, &traces, directory.as_ref())? else { return Ok(true) };
    if let Some(directory) = &mut directory {
        directory.write(&files(&experiments, &reproduced)?)?;
    }
    let results = reproduced.claims;
    let mut out = terminal::stdout();
    if args.form.json {
        serde_json::to_writer_pretty(&mut out, &results).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if args.form.markdown {
        write!(out, "{}", experiments::markdown(&experiments, &results))?;
    } else {
        print(&mut out, &results)?;
        if let Some(directory) = &directory {
            writeln!(out, "\nReport: {}", browser::link(&directory.path(REPORT)))?;
        }
    }
    // Also rows that are gone are missed, unless others were named.
    let asked = |row: &str| match &args.paper {
        _ if experiments.iter().any(|experiment| experiment.name == row) => true,
        Some(paper) => row.split('/').next() == Some(paper),
        None => args.rows.is_empty(),
    };
    let lost = baseline.map_or_else(Vec::new, |baseline| baseline.lost(asked, &results));
    print_lost(&mut terminal::stderr(), &lost)?;
    Ok(lost.is_empty())
}

/// An option that is given has to mean something to one of the rows at least.
fn meant_by_a_row(option: &str, given: bool, what: &str, is_there: bool) -> Result<(), Failure> {
    if !given || is_there {
        return Ok(());
    }
    let problem =
        format!("none of these rows has {what}; leave it out, or name one that has, such as gcc-2016/fig8");
    Err(Failure::Option { option: option.to_owned(), problem })
}

fn print_lost(out: &mut impl Write, lost: &[Lost]) -> Result<(), Failure> {
    for Lost { id, was, is } in lost {
        let is = is.map_or("no claim any more", Verdict::words);
        writeln!(out, "{id} was {}, is {is}", was.words())?;
    }
    Ok(())
}

/// The report, and what it shows as data.
fn files(experiments: &[Experiment], reproduced: &Reproduced) -> Result<Files, Failure> {
    let Reproduced { claims, plots, tables, .. } = reproduced;
    let page = experiments::report(experiments, claims, plots).into_bytes();
    let claims = serde_json::to_vec_pretty(claims).map_err(io::Error::from)?;
    let plots = serde_json::to_vec(plots).map_err(io::Error::from)?;
    let named = [(REPORT, page), ("claims.json", [claims, b"\n".to_vec()].concat()), ("plots.json", plots)];
    let mut files: Files = named.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
    for table in tables {
        let mut content = Vec::new();
        table.write_parquet(&mut content)?;
        files.push((format!("{}.parquet", table.row.replace('/', "-")), content));
    }
    Ok(files)
}

fn print(out: &mut impl Write, results: &[ClaimResult]) -> Result<(), Failure> {
    let width = table::terminal_width();
    for paper in results.chunk_by(|a, b| a.paper() == b.paper()) {
        let header = [paper[0].paper(), "class", "ours, ± 95 %", "accepted", "verdict"];
        let mut lines = table::lines(&header, paper.iter().map(row).collect()).into_iter();
        writeln!(out, "{}", lines.next().unwrap_or_default())?;
        for (line, result) in lines.zip(paper) {
            writeln!(out, "{line}")?;
            writeln!(out, "{}", table::indented(&words(result), width))?;
        }
        let counts = counts(paper);
        let (met, all): (usize, usize) =
            (counts.iter().map(Count::met).sum(), counts.iter().map(Count::claims).sum());
        writeln!(out, "{met} of {all} claims of {} are met.\n", paper[0].paper())?;
    }
    let header = ["paper", "class", "", "met", "of", "undecided", "two kinds", "not met"];
    writeln!(out, "{}", table::plain(&header, counts(results).iter().map(summary).collect()))?;
    let shown = SIGNS.iter().filter(|(mark, ..)| results.iter().any(|result| result.marks().contains(mark)));
    for (index, (_, sign, words)) in shown.enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        writeln!(out, "{gap}{sign} {words}")?;
    }
    Ok(())
}

/// How a line shows what there is to know of a claim beside its verdict, and what that means.
const SIGNS: [(&str, &str, &str); 3] = [
    ("stand-in", "*", "with a stand-in for something that cannot be had"),
    (
        "derived",
        "°",
        "by a number that follows from the paper's equations or set-up and is not printed in it",
    ),
    ("beside", "+", "told beside another claim and not counted"),
];

/// What one line holds of a claim.
fn row(result: &ClaimResult) -> Vec<Cell> {
    let sign = |mark: &str| SIGNS.iter().find(|(own, ..)| *own == mark).map_or("", |(_, sign, _)| sign);
    let marks: String = result.marks().into_iter().flat_map(|mark| [" ", sign(mark)]).collect();
    let colour = match result.verdict {
        verdict if verdict.is_met() => Color::Green,
        Verdict::Undecided => Color::Yellow,
        _ => Color::Red,
    };
    let name = result.id.trim_start_matches(result.paper()).trim_start_matches('/');
    let measured = if result.tests.is_empty() { result.measured_in_words() } else { String::new() };
    vec![
        Cell::new(name),
        Cell::new(result.class.name()),
        Cell::new(measured),
        Cell::new(result.accepted_in_words()),
        Cell::new(format!("{}{marks}", result.verdict.words())).fg(colour),
    ]
}

/// The words below that line: what is claimed, what the paper reports, and of a sweep at how many places it holds.
fn words(result: &ClaimResult) -> String {
    let mut words = result.claim.clone();
    let (reported, places) = (result.reported_in_words(), result.places_in_words());
    if !reported.is_empty() {
        words.extend(["; paper: ", &reported]);
    }
    if !places.is_empty() {
        words.extend(["; met at ", &places, " places"]);
    }
    words
}

fn summary(count: &Count) -> Vec<Cell> {
    let of = |verdict| Cell::new(count.of(verdict));
    vec![
        Cell::new(&count.paper),
        Cell::new(count.class.name()),
        Cell::new(count.basis.words()),
        Cell::new(count.met()),
        Cell::new(count.claims()),
        of(Verdict::Undecided),
        of(Verdict::TwoKinds),
        of(Verdict::NotReproduced),
    ]
}
