//! Experiments (`experiments`): the files that ship, their plans and their verdicts.

mod parts;
mod tried;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

use super::catalogue::TEMPLATES;
use super::named::select;
use super::*;
use crate::judge::Verdict;
use crate::runs::{NoStore, Shardable as _};
use weir_import::traces::TraceStore;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

#[test]
fn every_file_ships_and_every_row_is_a_file() {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    for paper in entries.filter(|path| path.is_dir()) {
        for file in fs::read_dir(&paper).unwrap() {
            let file = file.unwrap().path();
            let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
            found.push(format!("{}/{}", name(&paper), name(&file)));
        }
    }
    found.sort();
    let mut known: Vec<&str> = ROWS.iter().chain(TEMPLATES).map(|row| row.name).collect();
    assert!(known.is_sorted_by(|a, b| a < b || b.starts_with("templates/")), "{known:?}");
    known.sort_unstable();
    assert_eq!(known, found);
}

#[test]
fn the_axis_of_a_grid_goes_from_end_to_end() {
    let grid = SweepValues::Grid(GeometricGrid { from: 1e-5, to: 0.1, points: 20 });
    let values = grid.list(None);
    assert_eq!((values.len(), values[0], values[19]), (20, 1e-5, 0.1));
    let factors: Vec<f64> = values.windows(2).map(|pair| pair[1] / pair[0]).collect();
    // The 19th root of 10 000.
    assert!(factors.iter().all(|factor| (factor - 1.623_776_739).abs() < 1e-8), "{factors:?}");
    assert_eq!(grid.list(Some(2)), [1e-5, 0.1]);
}

fn shipped(row: &ShippedRow) -> Experiment {
    Experiment::shipped(row).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn every_row_that_ships_can_be_planned() {
    let experiments: Vec<Experiment> = ROWS.iter().map(shipped).collect();
    for experiment in &experiments {
        // If the quick sweeps are parts of the full ones, their places are planned with those.
        let sweeps = || experiment.row.sweeps.iter().map(|(_, sweep)| sweep);
        let is_part = |full: &SweepValues, quick: &SweepValues| {
            let full = full.list(None);
            quick.list(None).iter().all(|value| full.contains(value))
        };
        let covered = sweeps().all(|s| s.full.as_ref().is_none_or(|full| is_part(full, &s.quick)));
        for full in if covered { &[true][..] } else { &[false, true] } {
            let extent = Extent { full: *full, runs: Some(1), grid: Some(3), plots: true };
            let planned = Reproduction::plan(std::slice::from_ref(experiment), extent, &TraceStore::at(None));
            planned.unwrap_or_else(|error| panic!("{}: {error:?}", experiment.name));
        }
    }
}

/// Numbers of figures, tables and claims of each paper, and the names of its other numbered items.
const PAPERS: [(&str, [u32; 3], &[&str]); 5] = [
    ("coupled-rtp-2014", [31, 1, 6], &["alg1", "alg2"]),
    ("coupling-2018", [7, 0, 12], &[]),
    ("dccc-2017", [19, 2, 10], &["eq17-19", "eq20-24", "sec4A-appendixA", "sec4B", "sec5C-h"]),
    ("gcc-2016", [18, 6, 4], &["eq1-2", "prop1"]),
    ("nada-vs-gcc-2016", [9, 4, 5], &["eq9"]),
];

#[test]
fn every_row_of_the_five_papers_is_there() {
    let of_papers = ROWS.iter().map(|row| row.name).filter(|name| !name.starts_with("weir/"));
    let rows = |(paper, counts, others): &(&str, [u32; 3], &[&str])| {
        let kinds = ["fig", "table", "claim"].into_iter().zip(*counts);
        let numbered =
            kinds.flat_map(|(kind, count)| (1..=count).map(move |number| format!("{kind}{number}")));
        let all: Vec<String> = numbered.chain(others.iter().map(|&other| other.to_owned())).collect();
        all.into_iter().map(|row| format!("{paper}/{row}")).collect::<Vec<_>>()
    };
    let mut expected: Vec<String> = PAPERS.iter().flat_map(rows).collect();
    expected.sort();
    assert_eq!(expected.len(), 144);
    assert_eq!(of_papers.collect::<Vec<_>>(), expected);
}

const SMALL: &str = r#"
title = "Two flows"

[scenario]
title = "Two flows"
duration = "3s"

[scenario.links.bottleneck]
from = "left"
to = "right"
rate = "1Mbps"

[scenario.links.back]
from = "right"
to = "left"
rate = "1Mbps"

[scenario.flows.flow]
kind = "constant"
from = "left"
to = "right"
rate = "500kbps"
count = 2

[sweeps.rate]
set = ["flows.flow.rate=<$rate>kbps"]
quick = [100, 400]
full = [100, 200, 300, 400]

[variants.plain]

[variants.double]
set = ["flows.flow.count=4"]

[[claims]]
id = "rises"
class = "EXACT"
claim = "more is offered, more is carried"
of = "plain:links.bottleneck.utilisation.bits"
trend = { along = "rate", goes = "up" }

[[claims]]
id = "double"
class = "NUM"
claim = "four flows carry twice as much as two, of little"
paper = 2
of = "double:links.bottleneck.utilisation.bits / plain:links.bottleneck.utilisation.bits"
where = { rate = [100] }
accept = { min = 1.9, max = 2.1 }

[[claims]]
id = "full"
class = "NUM"
claim = "and of much"
paper = 2
of = "double:links.bottleneck.utilisation.bits / plain:links.bottleneck.utilisation.bits"
where = { rate = [400] }
accept = { min = 1.9, max = 2.1 }
cause = "The link is full."
"#;

/// The results of the row in `text`.
fn results(text: &str, extent: Extent) -> Vec<ClaimResult> {
    let experiments = [Experiment::parse("paper/row", "row.toml", text).unwrap()];
    let traces = TraceStore::at(None);
    let planned = Reproduction::plan(&experiments, extent, &traces).unwrap();
    planned.run(1, &traces, &NoStore, &|| {}).unwrap().claims
}

#[test]
fn claims_are_judged_by_runs() {
    let results = results(SMALL, Extent { runs: Some(2), ..Extent::default() });
    let verdicts: Vec<Verdict> = results.iter().map(|result| result.verdict).collect();
    assert_eq!(verdicts, [Verdict::Passed, Verdict::Passed, Verdict::Missed]);
    assert_eq!(results[1].id, "paper/row/double");
    assert!((results[1].measured.unwrap().mean.unwrap() - 2.0).abs() < 0.05);
    assert!((results[2].measured.unwrap().mean.unwrap() - 1.25).abs() < 0.05);
    assert_eq!(results[1].cause, None);
    assert_eq!(results[2].cause.as_deref(), Some("The link is full."));
    let full = markdown(&[], &results);
    assert!(full.contains("`row/full` (not reproduced): The link is full."), "{full}");
}

#[test]
fn runs_shared_by_rows_are_made_once() {
    let parse = |name: &str| Experiment::parse(name, "row.toml", SMALL).unwrap();
    let runs = |experiments: &[Experiment], full, runs| {
        Reproduction::plan(experiments, Extent { full, runs, ..Extent::default() }, &TraceStore::at(None))
            .unwrap()
            .runs()
    };
    // Two variants at two places, with five seeds.
    assert_eq!(runs(&[parse("a/a")], false, None), 20);
    assert_eq!(runs(&[parse("a/a"), parse("a/b")], false, None), 20);
    // The trend needs four places, of which two need another variant as well; there are ten seeds.
    assert_eq!(runs(&[parse("a/a")], true, None), 60);
    assert_eq!(runs(&[parse("a/a")], true, Some(1)), 6);
}

/// Line, message and advice of the error in `SMALL` with `wrong` in place of `right`.
fn refused(right: &str, wrong: &str) -> (usize, String, String) {
    assert!(SMALL.contains(right), "{right}");
    let text = SMALL.replacen(right, wrong, 1);
    let experiment = Experiment::parse("paper/row", "row.toml", &text);
    let planned = experiment.and_then(|experiment| {
        let experiments = [experiment];
        Reproduction::plan(&experiments, Extent::default(), &TraceStore::at(None))
            .map(|planned| planned.runs())
    });
    let error = planned.expect_err(wrong);
    let line = error.position().map_or(0, |(line, _)| line);
    (line, error.message().to_owned(), error.advice().unwrap_or_default().to_owned())
}

#[test]
fn an_error_has_its_line_and_a_remedy() {
    let line = |of: &str| SMALL.lines().position(|line| line.contains(of)).unwrap() + 1;
    let (at, message, help) =
        refused("of = \"plain:links.bottleneck.util", "of = \"plian:links.bottleneck.util");
    assert_eq!((at, help.as_str()), (line("of = \"plain"), "did you mean `plain`?"), "{message}");
    let (at, message, help) = refused(
        "of = \"plain:links.bottleneck.utilisation.bits",
        "of = \"plain:links.bottleneck.utilisation.bit",
    );
    assert_eq!((at, help.as_str()), (line("of = \"plain"), "did you mean `bits`?"), "{message}");
    let (at, message, help) = refused("of = \"plain:links.bottleneck", "of = \"plain:links.botleneck");
    assert_eq!((at, help.as_str()), (line("of = \"plain"), "did you mean `bottleneck`?"), "{message}");
    let (at, _, help) = refused("along = \"rate\"", "along = \"rates\"");
    assert_eq!((at, help.as_str()), (line("along"), "did you mean `rate`?"));
    let (at, _, help) = refused("class = \"NUM\"", "class = \"NMU\"");
    assert_eq!((at, help.as_str()), (line("class = \"NUM\""), "did you mean `NUM`?"));
    let (at, _, help) = refused("where = { rate = [100] }", "where = { rate = [150] }");
    assert_eq!(at, line("where = { rate = [100]"));
    assert!(help.starts_with("choose one of `quick`"));
    let (_, message, _) = refused("trend = { along = \"rate\", goes = \"up\" }", "");
    assert_eq!(message, "nothing judges this claim");
    let (_, message, _) = refused("trend = {", "order = \"above\"\ntrend = {");
    assert_eq!(message, "`order` and `trend` judge the same claim");
    let (_, message, _) = refused("id = \"rises\"", "id = \"rises\"\ntests = []\nmechanism = 1");
    assert!(message.contains("mechanism"), "{message}");
}

#[test]
fn valid_syntax_without_meaning_is_refused() {
    let line = |of: &str| SMALL.lines().position(|line| line.contains(of)).unwrap() + 1;
    let accept = SMALL.lines().find(|line| line.starts_with("accept")).unwrap();
    let at_accept = line(accept);
    let (at, message, _) = refused(accept, "accept = {}");
    assert_eq!((at, message.as_str()), (at_accept, "everything is in this range"));
    let (at, message, _) = refused(accept, "accept = { min = 2, max = 1 }");
    assert_eq!((at, message.as_str()), (at_accept, "nothing is in this range"));
    let (at, message, _) = refused(accept, &format!("share = 0\n{accept}"));
    assert_eq!(at, at_accept, "{message}");
    let (at, message, _) = refused(accept, &format!("better = {{ side = \"above\", at = [] }}\n{accept}"));
    assert_eq!((at, message.as_str()), (at_accept, "neither delay nor loss is compared"));
    let both = "at = [{ of = \"1\", than = 1 }, { of = \"1\", than = 1 }]";
    let (at, message, _) =
        refused(accept, &format!("better = {{ side = \"above\", {both} }}\naccept = {{ min = 1 }}"));
    assert_eq!((at, message.as_str()), (at_accept, "nothing lies beyond that side of the range"));
    let (_, message, _) = refused(
        accept,
        &format!("over_places = \"mean\"\nbetter = {{ side = \"above\", {both} }}\n{accept}"),
    );
    assert_eq!(message, "`better` is judged place by place");
    let (at, message, _) = refused("quick = [100, 400]", "quick = [100, 400, 100]");
    assert_eq!((at, message.as_str()), (line("quick"), "100 is there twice"));
    for one in ["[100]", "{ max = 150 }"] {
        let (_, message, _) =
            refused("goes = \"up\" }", &format!("goes = \"up\" }}\nwhere = {{ rate = {one} }}"));
        assert_eq!(message, "one value of `rate` is no way to go");
    }
    let (_, message, _) = refused("full = [100, 200, 300, 400]", "full = [400]");
    assert_eq!(message, "one value of `rate` is no way to go");
    let (_, message, _) = refused("id = \"double\"", "id = \"rises\"");
    assert_eq!(message, "another claim is called `rises`");
    let trend = "trend = { along = \"rate\", goes = \"up\" }";
    let (_, message, _) = refused(trend, &format!("{trend}\nover_seeds = \"variation\""));
    assert_eq!(message, "`over_seeds` belongs to `accept`");
    let (_, message, help) = refused(trend, "order = \"above\"\nmargin = 1");
    assert_eq!(message, "`margin` belongs to an order that equal values meet");
    assert!(help.contains("`order = \"not-below\"`"), "{help}");
    let (_, message, help) = refused(trend, "order = \"not-below\"\nmargin = -1");
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("this is no margin", "write a number from 0 on, in `unit`")
    );
}

#[test]
fn a_closed_form_is_computed_and_not_tested() {
    let claim = "class = \"EXACT\"\nclaim = \"more is offered, more is carried\"";
    let own =
        SMALL.lines().skip_while(|line| !line.starts_with("id = \"rises\"")).take(5).collect::<Vec<_>>();
    let theory = "id = \"rises\"\nclass = \"THEORY\"\nclaim = \"a proof\"\ntests = [\"a::b\"]";
    assert!(own.join("\n").contains(claim));
    let (_, message, _) = refused(&own.join("\n"), theory);
    assert_eq!(message, "a test shows a mechanism, not a result");
}

#[test]
fn a_test_of_which_nothing_is_known_shows_nothing() {
    let test =
        ROWS.iter().flat_map(|row| shipped(row).row.claims).flat_map(|claim| claim.tests).next().unwrap();
    let verdict = |test: &str| {
        let claim = format!(
            "[[claims]]\nid = \"shown\"\nclass = \"STRUCT\"\nclaim = \"it is there\"\ntests = [\"{test}\"]\n"
        );
        results(&format!("{SMALL}\n{claim}"), Extent { runs: Some(1), ..Extent::default() })[3].verdict
    };
    assert_eq!(verdict(&test), Verdict::Tested);
    assert_eq!(verdict("weir_cc::no::such_test"), Verdict::Open);
    assert_eq!(verdict("EXACT"), Verdict::Open, "a word that rows have elsewhere");
}

#[test]
fn remarks_are_not_counted_and_derived_claims_are_counted_apart() {
    let text = SMALL.replacen("id = \"double\"", "id = \"double\"\nderived = true", 1).replacen(
        "id = \"full\"",
        "id = \"full\"\nbeside = true",
        1,
    );
    let results = results(&text, Extent { runs: Some(2), ..Extent::default() });
    let counts: Vec<_> = counts(&results)
        .iter()
        .map(|count| (count.class, count.basis, count.met(), count.claims()))
        .collect();
    assert_eq!(counts, [(Class::Num, Basis::Derived, 1, 1), (Class::Exact, Basis::Validation, 1, 1)]);
    let text = markdown(&[], &results);
    assert!(
        text.contains("| reproduced *(derived)* |") && text.contains("| not reproduced *(beside)* |"),
        "{text}"
    );
    assert_eq!(results[0].accepted_in_words(), "> 0");
}

#[test]
fn an_order_that_equal_values_meet_is_shown_by_its_margin() {
    let trend =
        "of = \"plain:links.bottleneck.utilisation.bits\"\ntrend = { along = \"rate\", goes = \"up\" }";
    assert!(SMALL.contains(trend));
    let of = "of = \"plain:links.bottleneck.utilisation.bits - plain:links.bottleneck.utilisation.bits\"";
    let judged = |order: &str| {
        let text = SMALL.replacen(trend, &format!("{of}\n{order}"), 1);
        let result = results(&text, Extent { runs: Some(2), ..Extent::default() }).swap_remove(0);
        (result.verdict, result.accepted_in_words())
    };
    assert_eq!(judged("order = \"above\""), (Verdict::Open, "> 0".to_owned()));
    assert_eq!(judged("order = \"not-below\""), (Verdict::Passed, "≥ 0".to_owned()));
    assert_eq!(judged("order = \"not-above\"\nmargin = 0.5"), (Verdict::Passed, "≤ 0.5".to_owned()));
    assert_eq!(judged("order = \"not-below\"\nmargin = 0.5"), (Verdict::Passed, "≥ -0.5".to_owned()));
}

#[test]
fn a_name_within_a_grid_is_looked_up_before_anything_runs() {
    let text = SMALL
        .replacen(
            "quick = [100, 400]\nfull = [100, 200, 300, 400]",
            "quick = { from = 100, to = 400, points = 5 }",
            1,
        )
        .replacen("where = { rate = [100] }", "where = { rate = { min = 150, max = 300 } }", 1)
        .replacen("where = { rate = [400] }", "", 1);
    let plan = |text: &str| {
        let experiments = [Experiment::parse("paper/row", "row.toml", text).unwrap()];
        Reproduction::plan(&experiments, Extent::default(), &TraceStore::at(None)).map(|plan| plan.runs())
    };
    plan(&text).unwrap();
    // The flow exists only from the third place on.
    let third = text.replacen("flows.flow.rate=<$rate>kbps", "flows.flow.count=<$rate / 100>", 1).replacen(
        "of = \"double:links.bottleneck.utilisation.bits /",
        "of = \"plain:flows.flow-2.rate_bps /",
        1,
    );
    plan(&third).unwrap();
    let wrong = text.replacen("double:links.bottleneck", "double:links.botleneck", 1);
    assert_eq!(plan(&wrong).unwrap_err().advice(), Some("did you mean `bottleneck`?"));
}

#[test]
fn an_error_in_a_rows_scenario_has_the_line_of_the_row() {
    let line = |of: &str| SMALL.lines().position(|line| line.contains(of)).unwrap() + 1;
    let (at, _, help) = refused("rate = \"1Mbps\"", "rate = \"1Mbit\"");
    assert_eq!(at, line("rate = \"1Mbps\""), "{help}");
    let (at, message, _) = refused("kind = \"constant\"", "kind = \"konstant\"");
    assert_eq!(at, line("kind = \"constant\""), "{message}");
}

#[test]
fn a_name_that_is_not_there_brings_up_the_nearest() {
    let help = |names: &[&str], paper| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        select(&names, paper).err().and_then(|error| error.advice().map(str::to_owned))
    };
    assert_eq!(
        help(&["coupled-rtp-2014/fg8"], None).as_deref(),
        Some("did you mean `coupled-rtp-2014/fig8`?")
    );
    assert_eq!(help(&[], Some("coupling-2017")).as_deref(), Some("did you mean `coupling-2018`?"));
    assert_eq!(select(&[], None).unwrap().len(), ROWS.len());
    assert_eq!(select(&[], Some("coupling-2018")).unwrap().len(), 19);
    assert_eq!(select(&["coupling-2018/fig1".to_owned()], None).unwrap().len(), 1);
}

/// Cells of the claims in the tables of `text` below the heading of `paper`.
fn claim_cells<'t>(text: &'t str, paper: &str) -> Vec<Vec<&'t str>> {
    let behind = text.split(&format!("\n## {paper}\n")).nth(1).unwrap_or_default();
    let section = behind.split("\n## ").next().unwrap_or_default();
    let cells = section.lines().map(|line| line.split(" | ").collect::<Vec<_>>());
    cells.filter(|cells| cells.len() == 8 && cells[0].contains('/')).collect()
}

/// Claims in the tables of `text` below the heading of `paper`: row and claim, and class.
fn tabled(text: &str, paper: &str) -> Vec<(String, String)> {
    let claim = |cells: &Vec<&str>| (cells[0].trim_start_matches("| ").to_owned(), cells[1].to_owned());
    claim_cells(text, paper).iter().map(claim).collect()
}

#[test]
fn the_document_names_every_row_once() {
    let document = include_str!("../../../../docs/reproduction.md");
    let table = document.split("| paper | rows met whole |").nth(1).expect("the table of rows");
    for paper in PAPERS.iter().map(|(paper, ..)| *paper).chain(["weir"]) {
        let line = table.lines().find(|line| line.starts_with(&format!("| {paper} |"))).unwrap_or_default();
        let mut named: Vec<&str> = line.split(" | ").skip(1).flat_map(|cell| cell.split(", ")).collect();
        for name in &mut named {
            *name = name.trim_end_matches(" |");
        }
        named.retain(|name| *name != "–");
        named.sort_unstable();
        let prefix = format!("{paper}/");
        let mut rows: Vec<&str> = ROWS.iter().filter_map(|row| row.name.strip_prefix(&prefix)).collect();
        rows.sort_unstable();
        assert_eq!(named, rows, "print the table anew: make docs-reproduction");
    }
}

#[test]
fn the_markdown_has_a_line_for_each_claim() {
    let printed =
        format!("\n{}", markdown(&[], &results(SMALL, Extent { runs: Some(1), ..Extent::default() })));
    let claims = ["rises", "double", "full"].map(|claim| format!("row/{claim}"));
    assert_eq!(tabled(&printed, "paper").into_iter().map(|(claim, _)| claim).collect::<Vec<_>>(), claims);
}
