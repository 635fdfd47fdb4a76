//! The demo: a call from a moving car, alone and beside an upload, under each controller.

use weir_cc::Cause;

use super::Comparison;
use super::tables::{Metric, call_metrics, cause_metric, loss_metric, share_beside_tcp};
use super::verdict::Wording;
use crate::page::{Best, Row, SummaryTable};

/// The scenario of the call alone.
pub const ALONE: &str = "cellular/att-lte-uplink-2016";
/// The same beside one CUBIC flow.
pub const BESIDE_CUBIC: &str = "cellular/att-lte-uplink-2016-beside-cubic";

/// Causes that cost rate; at the maximum nothing is lost.
const COSTS: [Cause; 5] = [Cause::Delay, Cause::Loss, Cause::RampUp, Cause::Receiver, Cause::Minimum];

/// The table of the demo: useful rate, p95 frame delay, freezes, share beside CUBIC, loss, time lost per cause.
/// Both comparisons must be of the same controllers.
pub fn table(alone: &Comparison, beside: &Comparison) -> SummaryTable {
    let mut metrics = call_metrics();
    let share = metrics.len();
    metrics.push(Metric::new(
        "share beside CUBIC",
        "%",
        0,
        Best::Neither,
        "the call's part of what the call and one CUBIC upload got together; 50 would be fair",
        share_beside_tcp,
    ));
    metrics.push(loss_metric());
    metrics.extend(COSTS.map(cause_metric));
    let rows = alone.controllers.iter().zip(&beside.controllers).map(|(own, with_tcp)| {
        let cell = |(i, metric): (usize, &Metric<'_>)| {
            metric.cell(if i == share { &with_tcp.runs } else { &own.runs })
        };
        Row { name: own.name.clone(), cells: metrics.iter().enumerate().map(cell).collect() }
    });
    let rows = rows.collect();
    SummaryTable { columns: metrics.into_iter().map(|metric| metric.column).collect(), rows }
}

/// The sentence to repeat: which controller delivered most video in time, by how much, and how sure that is.
pub fn verdict(alone: &Comparison) -> String {
    let over = match alone.summary.runs {
        1 => "in one stretch of the drive".to_owned(),
        runs => format!("over {runs} stretches of the drive"),
    };
    alone.verdict_as(&Wording { best: "would serve this call best", alike: "serve this call alike", over })
}
