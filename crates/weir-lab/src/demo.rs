//! The demo: a call from a moving car, alone and beside an upload, under each controller.

use weir_cc::Cause;

use crate::comparison::Comparison;
use crate::metrics::FlowKind;
use crate::report::{Best, Row, SummaryTable};
use crate::results::RunMetrics;
use crate::stats::paired_difference;
use crate::tables::{Metric, call_metrics, cause_metric, loss_metric, media_sum};

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

/// The call's part of what all flows got, in per cent.
fn share_beside_tcp(run: &RunMetrics) -> Option<f64> {
    let rate = |kind| {
        let own = run.flows.iter().filter(|flow| flow.kind == kind);
        own.filter_map(|flow| flow.rate_bps).sum::<f64>()
    };
    let (media, tcp) = (rate(FlowKind::Media), rate(FlowKind::Tcp));
    (media + tcp > 0.0).then(|| 100.0 * media / (media + tcp))
}

/// The sentence to repeat: which controller delivered most video in time, by how much, and how sure that is.
pub fn verdict(alone: &Comparison) -> String {
    let useful = |run: &RunMetrics| media_sum(run, |flow| flow.useful_rate_bps).map_or(0.0, |bps| bps / 1e3);
    let mut ranking: Vec<(&str, Vec<f64>)> =
        alone.controllers.iter().map(|c| (c.name.as_str(), c.runs.iter().map(useful).collect())).collect();
    let mean = |rates: &[f64]| crate::stats::mean(rates).unwrap_or(0.0);
    ranking.sort_by(|(_, a), (_, b)| mean(b).total_cmp(&mean(a)));
    let Some((best, rates)) = ranking.first() else { return "Nothing was compared.".to_owned() };
    let runs = alone.summary.runs;
    let over =
        if runs == 1 { "in one run".to_owned() } else { format!("over {runs} stretches of the drive") };
    let amount = format!("{:.0} kbit/s of video within 150 ms", mean(rates));
    let Some((second, others)) = ranking.get(1) else {
        return format!("{best} delivered {amount} {over}.");
    };
    match paired_difference(rates, others) {
        Some(difference) if difference.excludes_zero() => {
            let half_width = difference.half_width.unwrap_or(0.0);
            format!(
                "{best} would serve this call best: {amount} {over}, {:.0} ± {half_width:.0} kbit/s more than {second}.",
                difference.mean
            )
        }
        Some(difference) if difference.half_width.is_some() => format!(
            "{best} and {second} serve this call alike: {amount} by {best} {over}, and the difference of {:.0} ± {:.0} \
             kbit/s includes zero.",
            difference.mean,
            difference.half_width.unwrap_or(0.0)
        ),
        _ => format!(
            "{best} delivered {amount} {over}; one run says nothing about the difference to {second}."
        ),
    }
}
