//! The demo: a call from a moving car, alone and beside an upload, under each controller.

use weir_cc::LimitingFactor;

use super::Comparison;
use super::scatter::reference_senders_in_words;
use super::tables::{
    ColumnMetric, call_metrics, factor_metric, freeze_metrics, loss_metric, media_sum, share_beside_tcp,
};
use super::verdict::in_words;
use crate::paired::{RunRow, RunTable};
use weir_measure::results::RunMetrics;
use weir_measure::results::ranking::Ranking;
use weir_measure::results::stats::Estimate;
use weir_report::page::Best;
use weir_scenario::registry;

/// The scenario of the call alone.
pub const ALONE: &str = "cellular/lte-drive";
/// The reference sender whose freezes come from the drives, not from a controller.
pub const BESIDE_CUBIC: &str = "cellular/lte-drive-beside-cubic";
/// The reference sender whose freezes come from the drives themselves, not from a controller.
pub const FREEZE_REFERENCE: &str = "fixed";

/// Limiting factors that the table shows. The maximum does not hold the rate down.
const SHOWN_FACTORS: [LimitingFactor; 5] = [
    LimitingFactor::Delay,
    LimitingFactor::Loss,
    LimitingFactor::RampUp,
    LimitingFactor::Silence,
    LimitingFactor::Minimum,
];

/// The candidates of the demo: `controllers`, followed by the reference senders.
pub fn candidates(controllers: &[String]) -> Vec<String> {
    let references = registry::references().map(|info| info.name.to_string());
    let further = references.filter(|name| !controllers.contains(name));
    controllers.iter().cloned().chain(further).collect()
}

/// Source of a column's values.
#[derive(Clone, Copy)]
pub(super) enum ColumnSource {
    /// The call alone.
    Alone,
    /// The call beside CUBIC.
    BesideCubic,
    /// The call alone, less the value of [`FREEZE_REFERENCE`] in the runs of the same seeds.
    BeyondReference,
}

/// The table of the demo: useful rate, p95 frame delay, freezes beyond those of [`FREEZE_REFERENCE`], share beside CUBIC, loss, time
/// per limiting factor. Both comparisons must be of the same controllers.
pub fn table(alone: &Comparison, beside: &Comparison) -> RunTable {
    let columns = columns();
    let reference_runs = reference_runs(alone);
    let rows = alone.controllers.iter().zip(&beside.controllers).map(|(own, with_tcp)| {
        let cell = |(from, metric): &(ColumnSource, ColumnMetric<'_>)| match from {
            ColumnSource::Alone => metric.values(&own.runs),
            ColumnSource::BesideCubic => metric.values(&with_tcp.runs),
            ColumnSource::BeyondReference => metric.values_beyond(&own.runs, reference_runs),
        };
        RunRow {
            name: own.name.clone(),
            law: own.controller.clone(),
            values: columns.iter().map(cell).collect(),
        }
    });
    let rows = rows.collect();
    RunTable { columns: columns.into_iter().map(|(_, metric)| metric.column).collect(), rows }
}

/// Columns of the table, and the source of each.
pub(super) fn columns() -> Vec<(ColumnSource, ColumnMetric<'static>)> {
    let mut columns: Vec<(ColumnSource, ColumnMetric<'static>)> =
        call_metrics().into_iter().map(|metric| (ColumnSource::Alone, metric)).collect();
    columns.extend(freeze_metrics().map(|metric| (ColumnSource::BeyondReference, beyond_reference(metric))));
    let share = ColumnMetric::new(
        "share beside CUBIC",
        "%",
        0,
        Best::Neither,
        "the call's part of what the call and one CUBIC upload got together; 50 would be fair",
        share_beside_tcp,
    );
    columns.push((ColumnSource::BesideCubic, share));
    columns.push((ColumnSource::Alone, loss_metric()));
    columns.extend(SHOWN_FACTORS.map(|factor| (ColumnSource::Alone, factor_metric(factor))));
    columns
}

/// The same metric, labelled with the reference that is subtracted from it.
fn beyond_reference(mut metric: ColumnMetric<'_>) -> ColumnMetric<'_> {
    metric.column.label = format!("{} beyond {FREEZE_REFERENCE}", metric.column.label);
    metric.column.definition =
        format!("{}; less those of `{FREEZE_REFERENCE}` over the same stretch", metric.column.definition);
    metric
}

/// The runs of [`FREEZE_REFERENCE`], or an empty slice if it did not run.
fn reference_runs(alone: &Comparison) -> &[RunMetrics] {
    let reference_runs = alone.controllers.iter().find(|controller| controller.name == FREEZE_REFERENCE);
    reference_runs.map_or(&[], |reference_runs| reference_runs.runs.as_slice())
}

/// Notes on the table of the demo: the freezes of [`FREEZE_REFERENCE`], and the meaning of the reference senders.
pub fn notes(alone: &Comparison, table: &RunTable) -> Vec<String> {
    reference_in_words(alone).into_iter().chain(reference_senders_in_words(table)).collect()
}

/// The rate and the freezes of [`FREEZE_REFERENCE`], in a sentence, or `None` if it did not run.
fn reference_in_words(alone: &Comparison) -> Option<String> {
    let runs = reference_runs(alone);
    let [freezes, frozen] = freeze_metrics().map(|metric| metric.estimate(runs));
    let rates: Vec<f64> = runs.iter().filter_map(|run| media_sum(run, |flow| flow.target_rate_bps)).collect();
    Some(format!(
        "Freezes and frozen time are those beyond `{FREEZE_REFERENCE}`, which sends {:.0} kbit/s whatever happens: its {} freezes and \
         {} s are the drives' own.",
        Estimate::of(&rates)?.mean / 1e3,
        in_words(&freezes?, 1),
        in_words(&frozen?, 1)
    ))
}

/// The ranking of the controllers by the call alone and by the rate that they leave to the upload beside it. Both comparisons
/// must be of the same controllers.
pub fn ranking(alone: &Comparison, beside: &Comparison) -> Option<Ranking> {
    alone.ranking_beside(beside)
}

/// The sentences to repeat: which controllers lead, and which of them are recommended.
pub fn verdict(alone: &Comparison, ranking: Option<&Ranking>) -> String {
    let over = match alone.summary.runs {
        1 => "in one drive".to_owned(),
        runs => format!("over {runs} drives"),
    };
    alone.verdict_by(ranking, &over)
}
