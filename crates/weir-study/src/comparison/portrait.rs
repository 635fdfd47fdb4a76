//! Table of several controllers in a few scenarios, for the choice among them.

use super::Comparison;
use super::demo;
use super::tables::{ColumnMetric, call_metrics, loss_metric, share_beside_tcp};
use crate::paired::{RunRow, RunTable};
use weir_measure::results::ranking::Ranking;
use weir_report::page::Best;

/// The scenarios of the table, in the order of [`table`].
pub const SCENARIOS: [&str; 5] =
    [demo::ALONE, "quality/single-flow", "quality/steady", "quality/three-flows", "quality/beside-cubic"];

/// A row for each controller. The comparisons are those of [`SCENARIOS`], all with the same controllers.
pub fn table(comparisons: &[Comparison; SCENARIOS.len()]) -> RunTable {
    let [call, alone, steady, three, beside] = comparisons;
    let mut columns: Vec<(&Comparison, ColumnMetric<'_>)> =
        call_metrics().into_iter().map(|metric| (call, metric)).collect();
    columns.push((call, loss_metric()));
    columns.push((alone, used()));
    columns.push((steady, start_up()));
    columns.push((three, fairness()));
    columns.push((beside, share()));
    let rows = call.controllers.iter().enumerate().map(|(index, first)| {
        let cell = |(comparison, metric): &(&Comparison, ColumnMetric<'_>)| {
            comparison.controllers.get(index).map_or_else(Vec::new, |own| metric.values(&own.runs))
        };
        RunRow {
            name: first.name.clone(),
            law: first.controller.clone(),
            values: columns.iter().map(cell).collect(),
        }
    });
    let rows = rows.collect();
    RunTable { columns: columns.into_iter().map(|(_, metric)| metric.column).collect(), rows }
}

/// The ranking of the controllers by the call, and by the rate that they leave to the flow beside them.
pub fn ranking([call, .., beside]: &[Comparison; SCENARIOS.len()]) -> Option<Ranking> {
    call.ranking_beside(beside)
}

/// The leading and the recommended controllers in a few sentences, or `None` where there is no ranking.
pub fn verdict([call, ..]: &[Comparison; SCENARIOS.len()], ranking: Option<&Ranking>) -> Option<String> {
    let ranking = Some(ranking?);
    Some(format!("{}: {}", SCENARIOS[0], call.verdict_by(ranking, &call.runs_in_words())))
}

/// Columns of the table, in order.
pub(super) fn metrics() -> Vec<ColumnMetric<'static>> {
    let mut metrics = call_metrics();
    metrics.extend([loss_metric(), used(), start_up(), fairness(), share()]);
    metrics
}

fn used<'a>() -> ColumnMetric<'a> {
    let definition = "rate over capacity, alone on 1 Mbit/s, in the last third of 90 s";
    ColumnMetric::new("alone", "%", 0, Best::Highest, definition, |run| {
        let bottleneck = run.links.iter().find(|link| link.bottleneck)?;
        bottleneck.utilisation.time_mean.map(|share| 100.0 * share)
    })
}

fn start_up<'a>() -> ColumnMetric<'a> {
    let definition = "from a start at 300 kbit/s until 90 % of 3 Mbit/s were received for 3 s; 30 if never";
    ColumnMetric::new("start-up", "s", 1, Best::Lowest, definition, |run| {
        run.flows.first()?.convergence.first()?.seconds
    })
}

fn fairness<'a>() -> ColumnMetric<'a> {
    let definition = "Jain's index of the mean rates of three flows under the same controller";
    ColumnMetric::new("Jain of three", "", 2, Best::Highest, definition, |run| run.jain.of_means)
}

fn share<'a>() -> ColumnMetric<'a> {
    let definition =
        "the call's part of what it and one CUBIC flow got together on 3 Mbit/s; 50 would be fair";
    ColumnMetric::new("share beside CUBIC", "%", 0, Best::Neither, definition, share_beside_tcp)
}
