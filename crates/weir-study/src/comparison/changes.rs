//! Changes of the controllers from one run to another, by paired runs of the same seeds.

use serde::Serialize;
use weir_measure::results::Value;
use weir_measure::results::ranking::{Criterion, LEAST_SEEDS, MARGIN, beats};
use weir_measure::results::stats::mean;

use super::tables::{FRAME_DELAY_P95, FREEZES, USEFUL_RATE};
use crate::paired::{RunRow, RunTable};
use weir_scenario::registry;

/// The change of a controller from the first run to the second.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerChange {
    /// The controller.
    pub name: String,
    /// Values of each compared criterion in both runs.
    values: Vec<(Criterion, PairedValues)>,
}

/// The direction in which a quantity changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeDirection {
    /// The second run beats the first.
    Better,
    /// The first run beats the second.
    Worse,
    /// Neither beats the other.
    NoDifference,
    /// Fewer than five seeds have a value in both, or the runs have different quantities.
    Unknown,
}

/// A controller of the first run that cannot be compared in the second run, or not in every criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparisonGap {
    /// The controller.
    pub controller: String,
    /// The missing values, and the run that lacks them.
    pub problem: String,
}

impl ComparisonGap {
    /// The gap in a sentence, without a full stop.
    pub fn in_words(&self) -> String {
        format!("{} {}", self.controller, self.problem)
    }
}

/// The changes of all controllers of the first run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ControllerChanges {
    /// A change for each controller that both runs have.
    pub(super) of_each: Vec<ControllerChange>,
    /// Missing controllers and missing values.
    pub(super) gaps: Vec<ComparisonGap>,
    /// A sentence for each criterion that the runs measure by different quantities.
    pub(super) different: Vec<String>,
}

impl ControllerChange {
    /// Mean of the first and of the second run, over the seeds that have a value in both, or `None` where no seed has.
    pub fn means(&self, criterion: Criterion) -> Option<[f64; 2]> {
        let PairedValues { before, after, .. } = self.values(criterion)?;
        Some([mean(before)?, mean(after)?])
    }

    fn values(&self, criterion: Criterion) -> Option<&PairedValues> {
        self.values.iter().find(|(own, _)| *own == criterion).map(|(_, values)| values)
    }

    /// The direction in which a quantity changed ([`beats`]).
    pub fn direction(&self, criterion: Criterion) -> ChangeDirection {
        let known = self.values(criterion).filter(|values| values.before.len() >= LEAST_SEEDS);
        let Some(PairedValues { before, after, .. }) = known else { return ChangeDirection::Unknown };
        let is_better = beats(after, before, criterion.better(), MARGIN);
        match (is_better, self.is_worse_by(criterion, MARGIN)) {
            (true, _) => ChangeDirection::Better,
            (false, true) => ChangeDirection::Worse,
            (false, false) => ChangeDirection::NoDifference,
        }
    }

    /// Whether the first run beats the second by more than this share of its mean.
    pub fn is_worse_by(&self, criterion: Criterion, share: f64) -> bool {
        self.values(criterion)
            .is_some_and(|values| beats(&values.before, &values.after, criterion.better(), share))
    }

    /// Both means, as `502 → 522 kbit/s`, or `None` where no seed has a value in both.
    pub fn means_in_words(&self, criterion: Criterion) -> Option<String> {
        let [before, after] = self.means(criterion)?;
        let decimals = usize::from(criterion == Criterion::Freezes);
        let numbers = format!("{before:.decimals$} → {after:.decimals$} {}", criterion.unit());
        Some(numbers.trim_end().to_owned())
    }

    /// The changes of the controller, in a sentence.
    pub fn in_words(&self) -> String {
        let changed = |criterion: &Criterion| {
            let verdict = match self.direction(*criterion) {
                ChangeDirection::Better => "better",
                ChangeDirection::Worse => "worse",
                ChangeDirection::NoDifference | ChangeDirection::Unknown => return None,
            };
            Some(format!("{} {verdict} ({})", criterion.name(), self.means_in_words(*criterion)?))
        };
        let changed: Vec<String> = Criterion::DOMINATING.iter().filter_map(changed).collect();
        let changed = if changed.is_empty() { "no difference".to_owned() } else { changed.join(", ") };
        format!("{}: {changed}", self.name)
    }
}

/// The changes from the controllers of `a` to those of `b`, over these pairs of runs; empty where there is no pair. The runs are
/// called `names`.
pub(super) fn changes(
    a: &RunTable,
    b: &RunTable,
    pairs: &[(usize, usize)],
    names: &[String; 2],
) -> ControllerChanges {
    let mut all = ControllerChanges::default();
    let mut compared = Vec::new();
    for criterion in Criterion::DOMINATING {
        match CriterionColumns::of(a, b, criterion) {
            CriterionColumns::None => {}
            CriterionColumns::Alike(columns) => compared.push((criterion, columns)),
            CriterionColumns::Different([first, second]) => all.different.push(format!(
                "Not compared: {first} of {} and {second} of {} are different quantities.",
                names[0], names[1]
            )),
        }
    }
    if pairs.is_empty() || compared.is_empty() {
        return all;
    }
    for row in &a.rows {
        let Some(other) = b.rows.iter().find(|other| other.name == row.name) else {
            // Reference senders are no controllers: their absence is no gap.
            if !registry::is_reference(&row.law) {
                all.gaps.push(ComparisonGap {
                    controller: row.name.clone(),
                    problem: format!("is not in {}", names[1]),
                });
            }
            continue;
        };
        let mut values = Vec::new();
        for &(criterion, columns) in &compared {
            let own = PairedValues::of([row, other], columns, pairs);
            let problem = own.problem(criterion, names).filter(|_| pairs.len() >= LEAST_SEEDS);
            all.gaps.extend(problem.map(|problem| ComparisonGap { controller: row.name.clone(), problem }));
            values.push((criterion, own));
        }
        all.of_each.push(ControllerChange { name: row.name.clone(), values });
    }
    all
}

/// The columns of a criterion in two tables.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CriterionColumns {
    /// Neither table has it.
    None,
    /// Both tables have the same quantity, or one table lacks it.
    Alike([Option<usize>; 2]),
    /// The tables have different quantities, with these labels.
    Different([String; 2]),
}

impl CriterionColumns {
    fn of(a: &RunTable, b: &RunTable, criterion: Criterion) -> Self {
        let place =
            |table: &RunTable| table.columns.iter().position(|column| measures(&column.label, criterion));
        let [first, second] = [place(a), place(b)];
        match (first.map(|at| &a.columns[at]), second.map(|at| &b.columns[at])) {
            (None, None) => Self::None,
            (Some(one), Some(other)) if (&one.label, &one.unit) != (&other.label, &other.unit) => {
                Self::Different([one.label.clone(), other.label.clone()])
            }
            _ => Self::Alike([first, second]),
        }
    }
}

/// Whether the column of this label has the criterion's values, or its differences to a reference sender.
fn measures(label: &str, criterion: Criterion) -> bool {
    let quantity = match criterion {
        Criterion::UsefulRate => USEFUL_RATE,
        Criterion::FrameDelay => FRAME_DELAY_P95,
        Criterion::Freezes => FREEZES,
        Criterion::NeighbourRate => return false,
    };
    label.strip_prefix(quantity).is_some_and(|rest| rest.is_empty() || rest.starts_with(" beyond "))
}

/// The values of a controller in two runs.
#[derive(Clone, Debug, Default, PartialEq)]
struct PairedValues {
    /// Values of the seeds that have a value in both runs.
    before: Vec<f64>,
    after: Vec<f64>,
    /// Number of seeds without a value in one run, for each run.
    missing: [usize; 2],
    /// Number of seeds.
    seeds: usize,
}

impl PairedValues {
    fn of(rows: [&RunRow; 2], columns: [Option<usize>; 2], pairs: &[(usize, usize)]) -> Self {
        let value = |which: usize, run: usize| -> Value {
            let values = rows[which].values.get(columns[which]?)?;
            values.get(run).copied().flatten().filter(|value| value.is_finite())
        };
        let mut all = Self { seeds: pairs.len(), ..Self::default() };
        for &(first, second) in pairs {
            match (value(0, first), value(1, second)) {
                (Some(before), Some(after)) => {
                    all.before.push(before);
                    all.after.push(after);
                }
                (None, Some(_)) => all.missing[0] += 1,
                (Some(_), None) => all.missing[1] += 1,
                // A criterion that is undefined in both runs is no difference.
                (None, None) => {}
            }
        }
        all
    }

    /// Description of the missing values, or `None` where both runs have all.
    fn problem(&self, criterion: Criterion, names: &[String; 2]) -> Option<String> {
        let lacking = [1, 0].into_iter().find(|&which| self.missing[which] > 0);
        let (what, known) = (criterion.name(), self.before.len());
        match lacking {
            Some(which) => Some(format!(
                "has no value of {what} in {} for {} of {} common seeds",
                names[which], self.missing[which], self.seeds
            )),
            None if known < LEAST_SEEDS => Some(format!(
                "has a value of {what} for {known} of {} common seeds, and {LEAST_SEEDS} are needed",
                self.seeds
            )),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_report::page::{Best, SummaryColumn};

    const NAMES: [&str; 2] = ["main", "branch"];

    /// A table with these columns and rows; each row's values are those of ten runs, in each column.
    fn table(labels: &[&str], rows: &[(&str, [f64; 3])]) -> RunTable {
        let column = |label: &&str| SummaryColumn {
            label: (*label).to_owned(),
            unit: String::new(),
            definition: String::new(),
            decimals: 0,
            best: Best::Highest,
        };
        let row = |(name, means): &(&str, [f64; 3])| RunRow {
            name: (*name).to_owned(),
            law: (*name).to_owned(),
            values: means
                .iter()
                .take(labels.len())
                .map(|mean| (0..10).map(|run| Some(mean + f64::from(run))).collect())
                .collect(),
        };
        RunTable { columns: labels.iter().map(column).collect(), rows: rows.iter().map(row).collect() }
    }

    const ALL: [&str; 3] = [USEFUL_RATE, FRAME_DELAY_P95, FREEZES];

    fn of(a: &RunTable, b: &RunTable) -> ControllerChanges {
        let pairs: Vec<(usize, usize)> = (0..10).map(|run| (run, run)).collect();
        changes(a, b, &pairs, &NAMES.map(str::to_owned))
    }

    fn problems(changes: &ControllerChanges) -> Vec<String> {
        changes.gaps.iter().map(ComparisonGap::in_words).collect()
    }

    #[test]
    fn changes_of_a_controller_are_found_by_paired_runs() {
        let before = table(&ALL, &[("gcc", [500.0, 900.0, 3.0])]);
        let found = of(&before, &table(&ALL, &[("gcc", [520.0, 950.0, 3.0])]));
        let change = &found.of_each[0];
        let courses = Criterion::DOMINATING.map(|criterion| change.direction(criterion));
        assert_eq!(courses, [ChangeDirection::Better, ChangeDirection::Worse, ChangeDirection::NoDifference]);
        assert!(change.is_worse_by(Criterion::FrameDelay, 0.05), "by 50 of 904.5 ms");
        assert!(!change.is_worse_by(Criterion::FrameDelay, 0.06));
        assert_eq!(
            change.in_words(),
            "gcc: useful rate better (504 → 524 kbit/s), frame delay p95 worse (904 → 954 ms)"
        );
        assert_eq!(of(&before, &before).of_each[0].in_words(), "gcc: no difference");
        let few = changes(&before, &before, &[(0, 0), (1, 1)], &NAMES.map(str::to_owned));
        assert_eq!(few.of_each[0].direction(Criterion::UsefulRate), ChangeDirection::Unknown);
        assert!(few.gaps.is_empty());
    }

    #[test]
    fn freezes_beyond_a_reference_sender_are_not_compared_with_freezes() {
        let beyond = [USEFUL_RATE, FRAME_DELAY_P95, "freezes beyond fixed"];
        let before = table(&beyond, &[("gcc", [500.0, 900.0, 0.6])]);
        let after = table(&ALL, &[("gcc", [500.0, 900.0, 25.9])]);
        let found = of(&before, &after);
        let change = &found.of_each[0];
        let courses = Criterion::DOMINATING.map(|criterion| change.direction(criterion));
        assert_eq!(
            courses,
            [ChangeDirection::NoDifference, ChangeDirection::NoDifference, ChangeDirection::Unknown]
        );
        assert!(!change.is_worse_by(Criterion::Freezes, 0.0) && change.means(Criterion::Freezes).is_none());
        assert_eq!(
            found.different,
            ["Not compared: freezes beyond fixed of main and freezes of branch are different quantities."]
        );
        assert!(found.gaps.is_empty(), "the runs lack nothing: {:?}", found.gaps);
        let both = of(&before, &table(&beyond, &[("gcc", [500.0, 900.0, 25.9])]));
        assert_eq!(both.of_each[0].direction(Criterion::Freezes), ChangeDirection::Worse);
        // A unit is part of a quantity.
        let mut seconds = after.clone();
        seconds.columns[1].unit = "s".to_owned();
        assert_eq!(
            of(&after, &seconds).of_each[0].direction(Criterion::FrameDelay),
            ChangeDirection::Unknown
        );
    }

    #[test]
    fn a_controller_that_the_second_run_lacks_is_named_and_a_reference_sender_is_not() {
        let rows = [("gcc", [500.0, 900.0, 3.0]), ("nada", [500.0, 900.0, 3.0]), ("fixed", [1.0; 3])];
        let found = of(&table(&ALL, &rows), &table(&ALL, &rows[..1]));
        assert_eq!(problems(&found), ["nada is not in branch"]);
        assert!(of(&table(&ALL, &rows[..1]), &table(&ALL, &rows)).gaps.is_empty(), "a new one is no gap");
        assert_eq!(
            problems(&of(&table(&ALL, &rows[..1]), &table(&ALL, &rows[1..]))),
            ["gcc is not in branch"]
        );
    }

    #[test]
    fn a_missing_value_is_named_unless_both_runs_lack_it() {
        let whole = table(&ALL, &[("gcc", [500.0, 900.0, 3.0])]);
        let without = |runs: core::ops::Range<usize>| {
            let mut torn = whole.clone();
            torn.rows[0].values[1][runs].fill(None);
            torn
        };
        assert_eq!(
            problems(&of(&whole, &without(0..2))),
            ["gcc has no value of frame delay p95 in branch for 2 of 10 common seeds"]
        );
        assert_eq!(
            problems(&of(&without(3..4), &whole)),
            ["gcc has no value of frame delay p95 in main for 1 of 10 common seeds"]
        );
        let alike = of(&without(0..5), &without(0..5));
        assert_eq!(alike.of_each[0].direction(Criterion::FrameDelay), ChangeDirection::NoDifference);
        assert!(alike.gaps.is_empty(), "five seeds have a value in both");
        let few = of(&without(0..6), &without(0..6));
        assert_eq!(few.of_each[0].direction(Criterion::FrameDelay), ChangeDirection::Unknown);
        assert_eq!(
            problems(&few),
            ["gcc has a value of frame delay p95 for 4 of 10 common seeds, and 5 are needed"]
        );
        // A column that is in one table alone lacks all values in the other.
        let columnless = table(&ALL[..2], &[("gcc", [500.0, 900.0, 3.0])]);
        assert_eq!(
            problems(&of(&whole, &columnless)),
            ["gcc has no value of freezes in branch for 10 of 10 common seeds"]
        );
        assert!(of(&columnless, &columnless).gaps.is_empty(), "neither has the quantity");
    }
}
