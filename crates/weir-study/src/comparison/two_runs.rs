//! Comparison of two saved runs: their tables with the differences of the second to the first, and their curves in
//! the same plots.

use weir_measure::results::Value;
use weir_measure::results::ranking::LEAST_SEEDS;

use super::changes::{ComparisonGap, ControllerChange, ControllerChanges, changes};
use super::saved::Saved;
use super::scatter::of_two;
use crate::paired::{RunRow, RunTable, known, less};
use weir_report::page::{ControllerPanel, PageInput, Row, RowKind, SummaryTable};

/// A saved run with all data that a page shows.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Name of the run on the page.
    pub name: String,
    /// The saved contents of its report.
    pub saved: Saved,
    /// The text of its scenario; empty if there is none.
    pub scenario: String,
    /// The scenario without the compared controllers; runs are paired only where this text is the same.
    pub world: String,
    /// Curves of its controllers.
    pub controllers: Vec<ControllerPanel>,
}

/// A comparison of two saved runs.
#[derive(Clone, Debug, Default)]
pub struct TwoRunComparison {
    /// The page on both runs.
    pub page: PageInput,
    /// Differences of the second run to the first, seed by seed.
    pub differences: SummaryTable,
    /// Number of seeds that both have; 0 where runs are not paired.
    pub seeds: usize,
    /// Reason for which runs are not paired, or `None` if they are.
    pub unpaired: Option<String>,
    /// The change of each controller that both runs have.
    pub changes: Vec<ControllerChange>,
    /// Controllers of the first run that cannot be compared in the second run, or not in every criterion.
    pub gaps: Vec<ComparisonGap>,
}

impl Loaded {
    /// Names of its controllers.
    pub fn controller_names(&self) -> impl Iterator<Item = &str> {
        self.saved.table.rows.iter().map(|row| row.name.as_str())
    }

    /// Gives the controller `from` the name `to`.
    fn rename(&mut self, from: &str, to: &str) {
        let rows = self.saved.table.rows.iter_mut().map(|row| &mut row.name);
        let panels = self.controllers.iter_mut().map(|panel| &mut panel.name);
        rows.chain(panels).filter(|name| *name == from).for_each(|name| to.clone_into(name));
        if let Some(ranking) = &mut self.saved.ranking {
            ranking.rename(from, to);
        }
    }
}

/// Lets the controller `a` of the first run be compared with `b` of the second, as one that is called `a → b`.
pub fn pair(first: &mut Loaded, second: &mut Loaded, a: &str, b: &str) {
    let both = format!("{a} → {b}");
    first.rename(a, &both);
    second.rename(b, &both);
}

/// The comparison of both runs.
pub fn compare(first: Loaded, second: Loaded) -> TwoRunComparison {
    let unpaired = unpaired(&first, &second);
    // Runs of different scenarios or networks have no pairs, even where their seeds are the same.
    let pairs = if unpaired.is_none() { common_seeds(&first.saved, &second.saved) } else { Vec::new() };
    let differences = differences(&first.saved.table, &second.saved.table, &pairs);
    let names = [first.name.clone(), second.name.clone()];
    let ControllerChanges { of_each: changes, gaps, different } =
        changes(&first.saved.table, &second.saved.table, &pairs, &names);
    let mut note = match &unpaired {
        Some(why) => format!("Nothing is said of differences: {why}."),
        None => format!(
            "Differences are those of {} run by run, over {} seeds that both have, with the 95 % interval of their mean; \
             coloured where it excludes zero.",
            names.join(" and "),
            pairs.len()
        ),
    };
    for sentence in different.iter().filter(|_| unpaired.is_none()) {
        note.extend([" ", sentence]);
    }
    let mut notes = vec![note];
    for (name, saved) in names.iter().zip([&first.saved, &second.saved]) {
        notes.push(format!("{name}: {}. {}", saved.source, saved.verdict));
        notes.extend(saved.notes.iter().map(|note| format!("{name}: {note}")));
    }
    let scenario = match (first.scenario == second.scenario, unpaired.is_some()) {
        (true, _) | (false, false) => first.scenario.clone(),
        (false, true) => {
            format!("# {}\n{}\n# {}\n{}", names[0], first.scenario, names[1], second.scenario)
        }
    };
    let page = PageInput {
        title: "Two runs side by side".to_owned(),
        source: first.saved.source.clone(),
        verdict: verdict(&first.saved.title, &names, (&changes, &gaps), pairs.len()),
        scenario,
        summary: merged_rows(
            &first.saved.table.with_intervals(),
            &second.saved.table.with_intervals(),
            &differences,
            &names,
        ),
        scatter: of_two(
            [&first.saved, &second.saved].map(|saved| (&saved.table, saved.ranking.as_ref())),
            &names,
        ),
        differences: Vec::new(),
        seed: first.saved.seeds.first().copied(),
        controllers: overlaid(first.controllers, second.controllers, &names[1]),
        notes,
        strips: Vec::new(),
        runs: Some(names),
    };
    TwoRunComparison { page, differences, seeds: pairs.len(), unpaired, changes, gaps }
}

/// The changes of all controllers from the first run to the second, in words.
fn verdict(
    title: &str,
    [first, second]: &[String; 2],
    (changes, gaps): (&[ControllerChange], &[ComparisonGap]),
    seeds: usize,
) -> String {
    let what = format!("{title}: {first} → {second}");
    if changes.is_empty() && gaps.is_empty() {
        return format!("{what}.");
    }
    if seeds < LEAST_SEEDS {
        return format!(
            "{what}. {seeds} common seeds cannot tell whether anything changed: that takes {LEAST_SEEDS}."
        );
    }
    let changes = changes.iter().map(ControllerChange::in_words).collect::<Vec<_>>().join("; ");
    let gaps = gaps.iter().map(ComparisonGap::in_words);
    let sentences = [what, changes].into_iter().filter(|sentence| !sentence.is_empty()).chain(gaps);
    sentences.map(|sentence| format!("{sentence}.")).collect::<Vec<_>>().join(" ")
}

/// Reason for which runs are not paired, or `None` if they are.
fn unpaired(first: &Loaded, second: &Loaded) -> Option<String> {
    let (a, b) = (&first.saved, &second.saved);
    if a.scenario != b.scenario {
        return Some(format!("the scenarios are {} and {}", a.scenario, b.scenario));
    }
    if a.seeds.is_empty() || b.seeds.is_empty() {
        return Some("a table.json with the values of every run is missing".to_owned());
    }
    if first.world != second.world {
        return Some(format!("{} was not the same in both, see their files", a.scenario));
    }
    let none = common_seeds(a, b).is_empty();
    none.then(|| "no seed is in both".to_owned())
}

/// The indices of the seeds that both runs have.
fn common_seeds(a: &Saved, b: &Saved) -> Vec<(usize, usize)> {
    let place = |seed: &u64| b.seeds.iter().position(|other| other == seed);
    a.seeds.iter().enumerate().filter_map(|(at, seed)| Some((at, place(seed)?))).collect()
}

/// Differences of the second run to the first; a cell is marked where the interval excludes zero.
fn differences(a: &RunTable, b: &RunTable, pairs: &[(usize, usize)]) -> SummaryTable {
    let place = |at: usize| {
        let column = &a.columns[at];
        b.columns.iter().position(|other| other.label == column.label && other.unit == column.unit)
    };
    let picked = |row: &RunRow, at: Option<usize>, runs: &mut dyn Iterator<Item = usize>| -> Vec<Value> {
        at.map_or_else(Vec::new, |at| runs.map(|run| row.values[at].get(run).copied().flatten()).collect())
    };
    let mut rows = Vec::new();
    for row in &a.rows {
        let Some(other) = b.rows.iter().find(|other| other.name == row.name) else { continue };
        let row_with = |values: &dyn Fn(usize) -> Vec<Value>| RunRow {
            name: row.name.clone(),
            law: row.law.clone(),
            values: (0..a.columns.len()).map(values).collect(),
        };
        let before = row_with(&|at| picked(row, Some(at), &mut pairs.iter().map(|pair| pair.0)));
        let after = row_with(&|at| picked(other, place(at), &mut pairs.iter().map(|pair| pair.1)));
        rows.push(less(&a.columns, &after, &before));
    }
    known(SummaryTable { columns: a.columns.clone(), rows })
}

/// The rows of each controller together: those of the first run, of the second, and their difference. The columns of
/// the first run are followed by those that only the second has.
fn merged_rows(
    a: &SummaryTable,
    b: &SummaryTable,
    differences: &SummaryTable,
    names: &[String; 2],
) -> SummaryTable {
    let mut columns = a.columns.clone();
    let known = |label: &str| a.columns.iter().any(|column| column.label == label);
    columns.extend(b.columns.iter().filter(|column| !known(&column.label)).cloned());
    let placed = |table: &SummaryTable, row: &Row, kind: RowKind| {
        let place = |label: &str| table.columns.iter().position(|column| column.label == label);
        let cell =
            |column: &weir_report::page::SummaryColumn| place(&column.label).and_then(|at| row.cells[at]);
        Row { cells: columns.iter().map(cell).collect(), kind, ..row.clone() }
    };
    let own = |table: &SummaryTable, name: &str, kind: RowKind| {
        table.rows.iter().find(|row| row.name == name).map(|row| placed(table, row, kind))
    };
    let only_second = b.rows.iter().filter(|row| !a.rows.iter().any(|own| own.name == row.name));
    let mut rows = Vec::new();
    for row in a.rows.iter().chain(only_second) {
        rows.extend(own(a, &row.name, RowKind::Of(names[0].clone())));
        rows.extend(own(b, &row.name, RowKind::Of(names[1].clone())));
        rows.extend(own(differences, &row.name, RowKind::Difference));
    }
    SummaryTable { columns, rows }
}

/// The panels of the first run, each with that of the second, and the panels that only the second has.
fn overlaid(
    first: Vec<ControllerPanel>,
    mut second: Vec<ControllerPanel>,
    name: &str,
) -> Vec<ControllerPanel> {
    let mut panels = first;
    for panel in &mut panels {
        if let Some(at) = second.iter().position(|other| other.name == panel.name) {
            panel.other = Some(Box::new(second.remove(at)));
        }
    }
    panels.extend(
        second.into_iter().map(|panel| ControllerPanel { description: format!("only in {name}"), ..panel }),
    );
    panels
}

#[cfg(test)]
mod tests {
    use super::super::tables::USEFUL_RATE;
    use super::*;
    use weir_report::page::{Best, SummaryColumn};

    /// A loaded run with one column and these values of each controller per seed.
    fn loaded(name: &str, seeds: &[u64], rows: &[(&str, &[f64])]) -> Loaded {
        let column = |label: &str, best| SummaryColumn {
            label: label.to_owned(),
            unit: "kbit/s".to_owned(),
            definition: String::new(),
            decimals: 0,
            best,
        };
        let row = |(controller, values): &(&str, &[f64])| {
            let values: Vec<Value> = values.iter().copied().map(Some).collect();
            RunRow {
                name: (*controller).to_owned(),
                law: (*controller).to_owned(),
                values: vec![values.clone(), values],
            }
        };
        let columns = vec![column("rate", Best::Highest), column("delay", Best::Lowest)];
        let table = RunTable { columns, rows: rows.iter().map(row).collect() };
        let saved = Saved { scenario: "call".to_owned(), seeds: seeds.to_vec(), table, ..Saved::default() };
        let panel = |(controller, _): &(&str, &[f64])| ControllerPanel {
            name: (*controller).to_owned(),
            ..Default::default()
        };
        let controllers = rows.iter().map(panel).collect();
        Loaded { name: name.to_owned(), saved, controllers, ..Loaded::default() }
    }

    #[test]
    fn differences_are_those_of_the_seeds_that_both_have() {
        // In seeds 2 and 3 the second run has 10 and 10.2 more: 10.1 ± 1.3. The difference of nada is not significant.
        let first =
            loaded("main", &[1, 2, 3], &[("gcc", &[900.0, 100.0, 200.0]), ("nada", &[1.0, 2.0, 3.0])]);
        let second =
            loaded("branch", &[2, 3, 4], &[("gcc", &[110.0, 210.2, 7.0]), ("nada", &[9.0, 2.0, 3.0])]);
        let TwoRunComparison { page, differences, .. } = compare(first, second);
        let [gcc, nada] = differences.rows.as_slice() else { panic!("two controllers: {differences:?}") };
        let rate = gcc.cells[0].unwrap();
        assert!((rate.mean - 10.1).abs() < 1e-9 && rate.best && !rate.worse);
        let delay = gcc.cells[1].unwrap();
        assert!(!delay.best && delay.worse, "more delay is worse");
        assert!(nada.cells.iter().flatten().all(|cell| !cell.best && !cell.worse));
        let kinds: Vec<&RowKind> = page.summary.rows.iter().map(|row| &row.kind).collect();
        let of = |name: &str| RowKind::Of(name.to_owned());
        let group = [of("main"), of("branch"), RowKind::Difference];
        assert_eq!(kinds, group.iter().chain(&group).collect::<Vec<_>>());
        assert!(page.notes[0].contains("over 2 seeds"), "{:?}", page.notes);
    }

    #[test]
    fn controllers_of_one_run_alone_are_shown_without_a_difference() {
        let first = loaded("main", &[1, 2], &[("gcc", &[1.0, 2.0])]);
        let second = loaded("branch", &[1, 2], &[("nada", &[1.0, 2.0]), ("gcc", &[2.0, 3.0])]);
        let TwoRunComparison { page, differences, .. } = compare(first, second);
        assert_eq!(differences.rows.len(), 1);
        let names: Vec<&str> = page.summary.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["gcc", "gcc", "gcc", "nada"]);
        let panels: Vec<_> = page
            .controllers
            .iter()
            .map(|controller| (controller.name.as_str(), controller.other.is_some()))
            .collect();
        assert_eq!(panels, [("gcc", true), ("nada", false)], "in the order of the rows");
        assert_eq!(page.controllers[1].description, "only in branch");
    }

    #[test]
    fn missing_pairs_are_named() {
        let one = || loaded("a", &[1, 2], &[("gcc", &[1.0, 2.0])]);
        let why = |second: Loaded| {
            let TwoRunComparison { page, differences, .. } = compare(one(), second);
            assert!(differences.rows.is_empty() && page.summary.rows.len() == 2);
            page.notes[0].clone()
        };
        assert!(why(loaded("b", &[7, 8], &[("gcc", &[1.0, 2.0])])).contains("no seed is in both"));
        let mut other = one();
        other.world = "rate".to_owned();
        assert!(why(other).contains("call was not the same in both"));
        let mut other = one();
        other.saved.scenario = "street".to_owned();
        assert!(why(other).contains("the scenarios are call and street"));
        assert!(why(loaded("b", &[], &[("gcc", &[1.0])])).contains("table.json"));
    }

    #[test]
    fn the_verdict_says_what_became_of_each_controller_and_what_is_missing() {
        let run = |name: &str, controllers: &[&str], useful: f64| {
            let rows: Vec<(&str, &[f64])> =
                controllers.iter().map(|controller| (*controller, &[0.0; 6][..])).collect();
            let mut own = loaded(name, &[1, 2, 3, 4, 5, 6], &rows);
            own.saved.table.columns[0].label = USEFUL_RATE.to_owned();
            for row in &mut own.saved.table.rows {
                row.values[0] = (0..6).map(|seed| Some(useful + f64::from(seed))).collect();
            }
            own
        };
        let both = compare(run("main", &["gcc", "nada"], 500.0), run("branch", &["gcc"], 520.0));
        assert_eq!(
            both.page.verdict,
            ": main → branch. gcc: useful rate better (502 → 522 kbit/s). nada is not in branch."
        );
        let mut few = run("branch", &["gcc"], 100.0);
        few.saved.seeds = vec![1, 2, 3, 4, 15, 16];
        let both = compare(run("main", &["gcc"], 500.0), few);
        assert!(
            both.page.verdict.ends_with("4 common seeds cannot tell whether anything changed: that takes 5.")
        );
    }
}
