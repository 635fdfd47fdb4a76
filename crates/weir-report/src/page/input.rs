//! The contents of a report, as plain values.

use core::cmp::Ordering;

use serde::{Deserialize, Serialize};
use weir_cc::LimitingFactor;
use weir_measure::results::spread::{SpreadWidth, spread_in_words};
use weir_measure::results::stats::{Estimate, Kind, kinds_in_words};
use weir_units::DataRate;

/// A comparison of controllers in one scenario. Columns over time have one entry per bin, NaN where there is no
/// value; a column that is shorter than the time column ends early.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageInput {
    /// Title of the comparison, a few words.
    pub title: String,
    /// Source of the numbers: scenario, runs, seeds.
    pub source: String,
    /// Result of the comparison, in a sentence.
    pub verdict: String,
    /// The scenario file.
    pub scenario: String,
    /// The scatter plot of the controllers, or `None` where there are not several to compare.
    pub scatter: Option<Scatter>,
    /// The table of the controllers.
    pub summary: SummaryTable,
    /// Differences between the variants of one controller; empty where there are none.
    pub differences: Vec<Differences>,
    /// Quantities of real runs beside simulated ones; empty without real runs.
    pub strips: Vec<ValueStrip>,
    /// The panels of the controllers over time, in the order of the summary's rows.
    pub controllers: Vec<ControllerPanel>,
    /// Further notes for the reader, a paragraph each.
    pub notes: Vec<String>,
    /// The seed of the run that curves show, or `None` where there is one run or none.
    pub seed: Option<u64>,
    /// The names of the two runs, where two are side by side.
    pub runs: Option<[String; 2]>,
}

/// A quantity of real runs beside simulated ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueStrip {
    /// Names of the run, the flow and the quantity.
    pub names: [String; 3],
    /// The real values.
    pub real: Vec<f64>,
    /// The simulated values.
    pub simulated: Vec<f64>,
    /// The range within which a real value agrees, if there is one.
    pub allowed: Option<[f64; 2]>,
    /// The result, in a word or two.
    pub result: String,
}

/// A row per controller, a column per metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryTable {
    /// The metrics.
    pub columns: Vec<SummaryColumn>,
    /// The controllers.
    pub rows: Vec<Row>,
}

impl SummaryTable {
    /// [`notes_below`] of its rows.
    pub fn notes(&self) -> Vec<TableNote> {
        notes_below(&self.columns, self.rows.iter().map(|row| (row.name.clone(), row)))
    }
}

/// Kinds and ends of spreads whose distance is below this share of the greatest mean of their column are not listed.
const LEAST_GAP: f64 = 0.05;

/// A note below a table on cells whose mean hides their runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNote {
    /// Subject of the note, without a full stop.
    pub heading: &'static str,
    /// Name of a row, and its cells with their values.
    pub rows: Vec<(String, String)>,
}

/// Notes on cells that a mean hides: those whose runs are of [two kinds](weir_measure::results::stats::two_kinds), and those whose
/// runs are a [spread](SpreadWidth). Each row comes with its name in these notes. There is none where there is no such cell.
pub fn notes_below<'r>(
    columns: &[SummaryColumn],
    rows: impl Iterator<Item = (String, &'r Row)>,
) -> Vec<TableNote> {
    let rows: Vec<(String, &Row)> = rows.collect();
    let greatest = |at: usize| {
        let cells = rows.iter().filter_map(|(_, row)| row.cells.get(at).copied().flatten());
        cells.map(|cell| cell.mean.abs()).fold(0.0, f64::max)
    };
    let is_wide = |at: usize, [low, high]: [f64; 2]| high - low > LEAST_GAP * greatest(at);
    let (mut kinds, mut spreads) = (Vec::new(), Vec::new());
    for (name, row) in &rows {
        let (mut row_kinds, mut row_spreads) = (Vec::new(), Vec::new());
        for (at, (column, cell)) in columns.iter().zip(&row.cells).enumerate() {
            let Some(cell) = *cell else { continue };
            let own = cell.kinds.filter(|kinds| is_wide(at, kinds.map(|kind| kind.mean)));
            let words = kinds_in_words(own, column.decimals);
            row_kinds.extend(words.map(|words| format!("{} {words}", column.label)));
            let own = cell.spread.filter(|&ends| is_wide(at, ends));
            let words = spread_in_words(own, column.decimals);
            row_spreads.extend(words.map(|words| format!("{} {words}", column.label)));
        }
        for (rows, cells) in [(&mut kinds, row_kinds), (&mut spreads, row_spreads)] {
            if !cells.is_empty() {
                rows.push((name.clone(), cells.join("; ")));
            }
        }
    }
    let all = [
        ("Runs of two kinds, so that no run is like the mean, and how many of each kind", kinds),
        ("Spread over the runs, from the least value to the largest", spreads),
    ];
    let note = |(heading, rows): (_, Vec<_>)| (!rows.is_empty()).then_some(TableNote { heading, rows });
    all.into_iter().filter_map(note).collect()
}

/// Differences of the variants of a controller to the first of them, run by run. Two runs of one seed have the same network and
/// the same video.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// Name of the first variant.
    pub first: String,
    /// A row for each of the other variants; a cell is marked where the 95 % interval excludes zero.
    pub table: SummaryTable,
}

impl Differences {
    /// Heading of the column of variants' names.
    pub fn title(&self) -> String {
        format!("less {}, run by run", self.first)
    }
}

/// A table whose rows have a place before their names, such as a place of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacedTable {
    /// Headings of the columns of places and, behind them, of the names.
    pub heads: Vec<String>,
    /// The metrics.
    pub columns: Vec<SummaryColumn>,
    /// The place of each row, as text, and the row.
    pub rows: Vec<(Vec<String>, Row)>,
}

impl PlacedTable {
    /// The tables of several places as one, `first` heading the names. A column that only some of them have is kept for all.
    pub fn of(places: &[String], first: &str, tables: Vec<(Vec<String>, SummaryTable)>) -> Self {
        let mut columns: Vec<SummaryColumn> = Vec::new();
        for column in tables.iter().flat_map(|(_, table)| &table.columns) {
            if !columns.iter().any(|other| other.label == column.label) {
                columns.push(column.clone());
            }
        }
        let mut rows = Vec::new();
        for (at, SummaryTable { columns: own, rows: of_place }) in tables {
            let position = |column: &SummaryColumn| own.iter().position(|other| other.label == column.label);
            let positions: Vec<Option<usize>> = columns.iter().map(position).collect();
            for row in of_place {
                let cell = |position: &Option<usize>| row.cells.get((*position)?).copied().flatten();
                let cells = positions.iter().map(cell).collect();
                rows.push((at.clone(), Row { cells, ..row }));
            }
        }
        let heads = places.iter().cloned().chain([first.to_owned()]).collect();
        Self { heads, columns, rows }
    }
}

impl PlacedTable {
    /// [`notes_below`] of its rows, each named with its place.
    pub fn notes(&self) -> Vec<TableNote> {
        let named = |(at, row): &'_ (Vec<String>, Row)| {
            at.iter().chain([&row.name]).cloned().collect::<Vec<_>>().join(" ")
        };
        notes_below(&self.columns, self.rows.iter().map(|placed| (named(placed), &placed.1)))
    }
}

impl From<&Differences> for PlacedTable {
    fn from(differences: &Differences) -> Self {
        Self::of(&[], &differences.title(), vec![(Vec::new(), differences.table.clone())])
    }
}

/// Useful rate against frame delay, a point for each controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// The controllers and the reference senders.
    pub points: Vec<ScatterPoint>,
    /// A note on the leading set for the reader; may be empty.
    pub note: String,
}

/// A controller in the scatter.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// Its name.
    pub name: String,
    /// Whether it belongs to the second of two runs.
    pub is_second: bool,
    /// Useful rate in kbit/s.
    pub rate: SummaryCell,
    /// 95th percentile of the frame delay in milliseconds.
    pub delay: SummaryCell,
    /// Rank of the controller among the others.
    pub standing: ControllerRank,
}

/// Rank of a controller among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControllerRank {
    /// A reference sender, which is not ranked.
    ReferenceSender,
    /// At least one other controller beats it.
    Behind,
    /// In the leading set.
    Leading,
    /// In the leading set, and recommended.
    Recommended,
}

/// A metric of the summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryColumn {
    /// Its short name.
    pub label: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// Definition of the metric, for the list of definitions.
    pub definition: String,
    /// Decimals shown.
    pub decimals: usize,
    /// The kind of value that is the best.
    pub best: Best,
}

impl SummaryColumn {
    /// Width from which on the values of runs are a spread; `None` for what is neither a rate nor a wait nor a loss.
    pub fn spread_width(&self) -> Option<SpreadWidth> {
        match (self.unit.as_str(), self.label.as_str()) {
            ("kbit/s", _) | ("%", "utilisation" | "alone" | "share beside CUBIC") => Some(SpreadWidth::RATE),
            ("ms", _) => Some(SpreadWidth::WAIT),
            ("%", "loss") => Some(SpreadWidth::LOSS),
            _ => None,
        }
    }
}

/// The kind of value of a column that is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Best {
    /// The highest.
    Highest,
    /// The lowest.
    Lowest,
    /// No value is better than another.
    Neither,
}

/// A controller in the summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The controller's name.
    pub name: String,
    /// A value per column, or `None` where the metric is not defined.
    pub cells: Vec<Option<SummaryCell>>,
    /// Whether it is a reference sender, whose values are never the best.
    pub is_reference: bool,
    /// The runs that its values come from.
    pub kind: RowKind,
}

/// The runs that the values of a row come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// The only run.
    #[default]
    Alone,
    /// The run of this name, one of two.
    Of(String),
    /// Differences of the second of two runs to the first.
    Difference,
}

impl Row {
    /// The row of a candidate.
    pub fn of(name: &str, cells: Vec<Option<SummaryCell>>) -> Self {
        Self { name: name.to_owned(), cells, is_reference: false, kind: RowKind::Alone }
    }
}

/// A value of the summary, in the column's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryCell {
    /// The mean over runs.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval, or `None` for a single run.
    pub ci95: Option<f64>,
    /// The two kinds of the runs, or `None` where they are of one kind.
    pub kinds: Option<[Kind; 2]>,
    /// The least and the largest value of the runs, if they are a spread.
    pub spread: Option<[f64; 2]>,
    /// Whether the cell is marked: no other controller beats it in its column. A difference is marked if it is significant and an
    /// improvement.
    pub best: bool,
    /// For a difference: whether it is significant and a degradation.
    pub worse: bool,
}

impl SummaryCell {
    /// The value without anything about its runs.
    pub const fn new(mean: f64) -> Self {
        Self { mean, ci95: None, kinds: None, spread: None, best: false, worse: false }
    }
}

impl From<Estimate> for SummaryCell {
    fn from(Estimate { mean, half_width, kinds }: Estimate) -> Self {
        Self { mean, ci95: half_width, kinds, spread: None, best: false, worse: false }
    }
}

/// A controller over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerPanel {
    /// Its name.
    pub name: String,
    /// Its variant or parameters, in a few words; may be empty.
    pub description: String,
    /// Begin of each bin, in seconds; increasing.
    pub time_s: Vec<f64>,
    /// The capacity of the bottleneck.
    pub capacity_bps: Vec<f64>,
    /// The highest rate that the media could use, or `None` if it has no limit.
    pub max_rate_bps: Option<f64>,
    /// The flows.
    pub flows: Vec<FlowCurves>,
    /// The name of the first media flow; the fields that follow are about it.
    pub subject: String,
    /// The factor that limited its rate.
    pub limiting_factor: Vec<Option<LimitingFactor>>,
    /// Its controller's decisions, in the order of time.
    pub decisions: Vec<DecisionTick>,
    /// Delay from capture to completion of its frames, in milliseconds, the longest in the bin.
    pub frame_delay_ms: Vec<f64>,
    /// Its packets lost over those lost and received.
    pub loss_ratio: Vec<f64>,
    /// Cumulative distribution of its packets' queuing delay, by increasing delay.
    pub queuing_delay: Vec<CdfStep>,
    /// The signals of its controller.
    pub signals: Vec<SignalBand>,
    /// Flows that are coupled, or measured as if they were.
    pub couplings: Vec<CouplingCurves>,
    /// The panel of the same controller in the second of two runs.
    pub other: Option<Box<ControllerPanel>>,
}

/// Coupled flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouplingCurves {
    /// The coupling's name.
    pub name: String,
    /// The flows.
    pub flows: Vec<CoupledCurves>,
    /// Rate of the data that they received together.
    pub receive_rate_bps: Vec<f64>,
    /// The coupler's `S_CR`; empty if it has none in bit/s.
    pub aggregate_bps: Vec<f64>,
}

/// A coupled flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoupledCurves {
    /// Its name.
    pub name: String,
    /// Rate of the data received.
    pub receive_rate_bps: Vec<f64>,
    /// The last allocated rate; empty if the coupler allocates windows.
    pub share_bps: Vec<f64>,
    /// The last allocated window, in segments; empty if the coupler allocates rates.
    pub window: Vec<f64>,
    /// Its share of the data that all flows sent in the last second.
    pub part_sent: Vec<f64>,
    /// The share that its weight asks for.
    pub part_wanted: Vec<f64>,
    /// The factor that limited its rate.
    pub limiting_factor: Vec<Option<LimitingFactor>>,
    /// Its controller's decisions, in the order of time.
    pub decisions: Vec<DecisionTick>,
}

/// A recorded decision of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionTick {
    /// Time of the decision, in seconds.
    pub time_s: f64,
    /// Direction in which the rate changed.
    pub change: Move,
    /// The decision and its reason, as text.
    pub text: String,
}

/// Direction of a change of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The rate decreases.
    Down,
    /// The rate stays, and another factor limits it.
    None,
    /// The rate increases.
    Up,
}

impl Move {
    /// The direction from one rate to another.
    pub fn of(from: DataRate, to: DataRate) -> Self {
        match to.cmp(&from) {
            Ordering::Less => Self::Down,
            Ordering::Equal => Self::None,
            Ordering::Greater => Self::Up,
        }
    }
}

/// The rates of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowCurves {
    /// Its name.
    pub name: String,
    /// The role of the flow in the comparison.
    pub role: FlowRole,
    /// Rate of the data sent.
    pub send_rate_bps: Vec<f64>,
    /// Rate of the data received.
    pub receive_rate_bps: Vec<f64>,
    /// The controller's target rate; empty if there is none.
    pub target_rate_bps: Vec<f64>,
}

/// The role of a flow in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowRole {
    /// Media under the controller.
    Media,
    /// Other traffic.
    Competitor,
}

/// A step of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdfStep {
    /// A delay in milliseconds.
    pub delay_ms: f64,
    /// The share of delays at or below it, in (0, 1].
    pub share: f64,
}

/// A signal of a controller: the range of a quantity of its internal state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignalBand {
    /// Its name in the controller's paper.
    pub name: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// Meaning of the signal; may be empty.
    pub meaning: String,
    /// The least value in the bin.
    pub min: Vec<f64>,
    /// The greatest value in the bin.
    pub max: Vec<f64>,
}
