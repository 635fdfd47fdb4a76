//! Comparisons as tables: a row per controller, a column per metric, for the terminal and for the page.

use weir_cc::LimitingFactor;

use super::Comparison;
use crate::paired::{RunRow, RunTable, estimate, known, less};
use weir_measure::results::stats::Estimate;
use weir_measure::results::{FlowKind, FlowMeasures, RunMetrics, Value};
use weir_report::page::{Best, Differences, Row, SummaryColumn, SummaryTable};

/// The labels of the columns that controllers are ranked by.
pub(super) const USEFUL_RATE: &str = "useful rate";
pub(super) const FRAME_DELAY_P95: &str = "frame delay p95";
pub(super) const FREEZES: &str = "freezes";
const FRAME_DELAY: &str = "from capture to the arrival of a frame's last packet, 95th percentile over frames";
const QUEUING_OF_A_FLOW: &str = "one-way delay of the flow's packets less propagation";

/// Computes the value of a cell from one run.
type FromRun<'a> = Box<dyn Fn(&RunMetrics) -> Value + 'a>;

/// A column and its value from one run.
pub(crate) struct ColumnMetric<'a> {
    pub(crate) column: SummaryColumn,
    value: FromRun<'a>,
}

impl<'a> ColumnMetric<'a> {
    pub(crate) fn new(
        label: &str,
        unit: &str,
        decimals: usize,
        best: Best,
        definition: &str,
        value: impl Fn(&RunMetrics) -> Option<f64> + 'a,
    ) -> Self {
        let column = SummaryColumn {
            label: label.to_owned(),
            unit: unit.to_owned(),
            definition: definition.to_owned(),
            decimals,
            best,
        };
        Self { column, value: Box::new(value) }
    }

    /// The value of each run.
    pub(crate) fn values(&self, runs: &[RunMetrics]) -> Vec<Value> {
        runs.iter().map(|run| (self.value)(run)).collect()
    }

    /// Mean and interval over runs, or `None` if no run has a value.
    pub(crate) fn estimate(&self, runs: &[RunMetrics]) -> Option<Estimate> {
        estimate(&self.values(runs))
    }

    /// The differences to `others`, run by run.
    pub(crate) fn values_beyond(&self, runs: &[RunMetrics], others: &[RunMetrics]) -> Vec<Value> {
        let difference = |(run, other)| Some((self.value)(run)? - (self.value)(other)?);
        runs.iter().zip(others).map(difference).collect()
    }
}

/// The table of any comparison: sums over its media flows, and the bottleneck.
pub fn summary_table(comparison: &Comparison) -> RunTable {
    table_of_runs(comparison.controllers.iter().map(|c| ([&c.name, &c.controller], c.runs.as_slice())))
}

impl Comparison {
    /// Whether there are several runs that are all alike ([`RunTable::runs_are_alike`]).
    pub fn runs_are_alike(&self) -> bool {
        summary_table(self).runs_are_alike()
    }
}

/// Differences between the variants of one controller, run by run.
pub fn differences(comparison: &Comparison) -> Vec<Differences> {
    summary_table(comparison).differences()
}

/// The differences of each controller to itself in `before`, run by run. The result is `None` where `before` has other seeds, or
/// none of the controllers.
pub fn change_table(before: &Comparison, now: &Comparison) -> Option<SummaryTable> {
    let values = |of: &Comparison| {
        table_of_all(of.controllers.iter().map(|c| ([&c.name, &c.controller], &c.runs[..])))
    };
    let (earlier, RunTable { columns, rows }) = (values(before).rows, values(now));
    let change =
        |row: &RunRow| Some(less(&columns, row, earlier.iter().find(|other| other.name == row.name)?));
    let rows: Vec<Row> = rows.iter().filter_map(change).collect();
    let alike = before.summary.seeds == now.summary.seeds && !rows.is_empty();
    alike.then(|| known(SummaryTable { columns, rows }))
}

/// The same table for the runs of each controller, given with its name and the controller that it is a variant of.
pub(crate) fn table_of_runs<'a>(
    controllers: impl Iterator<Item = ([&'a String; 2], &'a [RunMetrics])>,
) -> RunTable {
    table_of_all(controllers).without_empty_columns()
}

fn table_of_all<'a>(controllers: impl Iterator<Item = ([&'a String; 2], &'a [RunMetrics])>) -> RunTable {
    let mut metrics = media_metrics();
    metrics.extend(network_metrics());
    metrics.extend(breaker_metrics());
    let values = |runs: &[RunMetrics]| metrics.iter().map(|m| m.values(runs)).collect();
    let row = |([name, controller], runs): ([&String; 2], &[RunMetrics])| RunRow {
        name: name.clone(),
        law: controller.clone(),
        values: values(runs),
    };
    let rows = controllers.map(row).collect();
    RunTable { columns: metrics.iter().map(|m| m.column.clone()).collect(), rows }
}

/// The rows of a table of flows: name, kind and received data, over the runs of one controller. Flows that are copies of one
/// (`name-1`, `name-2`, …) share a row with the mean of their values.
pub fn flow_table(runs: &[RunMetrics]) -> SummaryTable {
    let names = runs.first().map(|run| groups(&run.flows)).unwrap_or_default();
    let columns: Vec<ColumnMetric<'_>> = flow_metrics("");
    let rows = names
        .into_iter()
        .map(|(group, count)| {
            let name = if count == 1 { group.clone() } else { format!("{group} × {count}") };
            let values = flow_metrics(&group).iter().map(|m| m.values(runs)).collect();
            RunRow { name, values, ..RunRow::default() }
        })
        .collect();
    let columns = columns.into_iter().map(|m| m.column).collect();
    RunTable { columns, rows }.without_empty_columns().summary()
}

/// Sum of a metric over the media flows of a run.
pub(crate) fn media_sum(run: &RunMetrics, value: impl Fn(&FlowMeasures<Value>) -> Value) -> Option<f64> {
    let values: Vec<f64> = media(run).filter_map(value).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

fn media(run: &RunMetrics) -> impl Iterator<Item = &FlowMeasures<Value>> {
    run.flows.iter().filter(|flow| flow.kind == FlowKind::Media)
}

/// The metrics that a call is judged by.
pub(crate) fn call_metrics<'a>() -> Vec<ColumnMetric<'a>> {
    vec![
        ColumnMetric::new(
            USEFUL_RATE,
            "kbit/s",
            0,
            Best::Highest,
            "payload of the frames that were whole within 150 ms of their capture",
            |run| media_sum(run, |flow| flow.useful_rate_bps).map(|bps| bps / 1e3),
        ),
        ColumnMetric::new(FRAME_DELAY_P95, "ms", 0, Best::Lowest, FRAME_DELAY, |run| {
            run.media.frame_delay_ms.p95
        }),
    ]
}

/// Number and duration of freezes.
pub(crate) fn freeze_metrics<'a>() -> [ColumnMetric<'a>; 2] {
    let definition = "intervals between frames of at least three times the mean, or 150 ms more than it";
    [
        ColumnMetric::new(FREEZES, "", 1, Best::Lowest, definition, |run| {
            media_sum(run, |flow| flow.freezes)
        }),
        ColumnMetric::new("frozen", "s", 1, Best::Lowest, "duration of all freezes", |run| {
            media_sum(run, |flow| flow.freeze_seconds)
        }),
    ]
}

/// Loss of media packets.
pub(crate) fn loss_metric<'a>() -> ColumnMetric<'a> {
    ColumnMetric::new("loss", "%", 2, Best::Lowest, "bytes of media lost over bytes sent", |run| {
        run.media.loss_ratio.map(|ratio| 100.0 * ratio)
    })
}

/// Share of the time in which `factor` limited the media flows' target rate, in per cent. The limiting factor alone costs no
/// rate.
pub(crate) fn factor_metric<'a>(factor: LimitingFactor) -> ColumnMetric<'a> {
    let definition = format!("share of the time in which this limited the target rate: {}", factor.meaning());
    let word =
        if matches!(factor, LimitingFactor::Minimum | LimitingFactor::Maximum) { "at" } else { "held by" };
    let label = format!("time {word} {}", factor.name());
    ColumnMetric::new(&label, "%", 0, Best::Neither, &definition, move |run| {
        let seconds = |factor| {
            media(run).filter_map(move |flow| *flow.time_per_limiting_factor.get(factor)).sum::<f64>()
        };
        let all: f64 = LimitingFactor::ALL.into_iter().map(seconds).sum();
        (all > 0.0).then(|| 100.0 * seconds(factor) / all)
    })
}

/// The media flows' share of the rate that all flows received, in per cent.
pub(crate) fn share_beside_tcp(run: &RunMetrics) -> Option<f64> {
    let rate = |kind| {
        let own = run.flows.iter().filter(|flow| flow.kind == kind);
        own.filter_map(|flow| flow.rate_bps).sum::<f64>()
    };
    let (media, tcp) = (rate(FlowKind::Media), rate(FlowKind::Tcp));
    (media + tcp > 0.0).then(|| 100.0 * media / (media + tcp))
}

pub(super) fn media_metrics<'a>() -> Vec<ColumnMetric<'a>> {
    let mut metrics = vec![ColumnMetric::new(
        "rate",
        "kbit/s",
        0,
        Best::Highest,
        "bytes of media received on the wire, all media flows together",
        |run| run.media.rate_bps.map(|bps| bps / 1e3),
    )];
    metrics.extend(call_metrics());
    metrics.extend(freeze_metrics());
    metrics.push(loss_metric());
    for (label, quantile, which) in [("queuing p50", 0, "median"), ("queuing p95", 1, "95th percentile")] {
        let definition = &format!("one-way delay of media packets less propagation, {which} over packets");
        metrics.push(ColumnMetric::new(label, "ms", 0, Best::Lowest, definition, move |run| {
            let delays = &run.media.owd_excess_ms;
            if quantile == 0 { delays.p50 } else { delays.p95 }
        }));
    }
    metrics
}

/// The flow that a circuit breaker stopped first in each run; no columns where circuit breakers are off.
pub(super) fn breaker_metrics<'a>() -> impl Iterator<Item = ColumnMetric<'a>> {
    type Pick = fn(&FlowMeasures<Value>) -> Value;
    let breakers: [(&str, &str, Pick); 3] = [
        ("RTCP timeout", "no RTCP on it arrived", |flow| flow.stopped.rtcp_timeout),
        ("media timeout", "reports named no newer packet", |flow| flow.stopped.media_timeout),
        ("breaker", "far more was sent than losses allow", |flow| flow.stopped.congestion),
    ];
    breakers.into_iter().map(|(name, why, pick)| {
        let definition = format!("when media was first stopped because {why} (RFC 8083)");
        ColumnMetric::new(&format!("stopped by {name}"), "s", 1, Best::Neither, &definition, move |run| {
            media(run).filter_map(pick).reduce(f64::min)
        })
    })
}

pub(super) fn network_metrics<'a>() -> Vec<ColumnMetric<'a>> {
    vec![
        ColumnMetric::new(
            "utilisation",
            "%",
            1,
            Best::Highest,
            "rate over capacity of the bottleneck, mean over seconds",
            |run| {
                let bottleneck = run.links.iter().find(|link| link.bottleneck)?;
                bottleneck.utilisation.time_mean.map(|share| 100.0 * share)
            },
        ),
        ColumnMetric::new(
            "Jain",
            "",
            3,
            Best::Highest,
            "Jain's fairness index of the mean rates of the flows that share the bottleneck",
            |run| (run.flows.len() > 1).then_some(run.jain.of_means).flatten(),
        ),
    ]
}

pub(super) fn flow_metrics(group: &str) -> Vec<ColumnMetric<'_>> {
    type Pick = fn(&FlowMeasures<Value>) -> Value;
    let columns: [(&str, &str, &str, usize, Pick, f64); 6] = [
        ("rate", "kbit/s", "bytes received on the wire per second of activity", 0, |f| f.rate_bps, 1e-3),
        ("loss", "%", "bytes lost over bytes sent", 2, |f| f.loss_ratio, 100.0),
        ("queuing p50", "ms", QUEUING_OF_A_FLOW, 1, |f| f.owd_excess_ms.p50, 1.0),
        ("queuing p95", "ms", QUEUING_OF_A_FLOW, 1, |f| f.owd_excess_ms.p95, 1.0),
        (
            "RTT excess p95",
            "ms",
            "round-trip time less the least of the run",
            1,
            |f| f.rtt_excess_ms.p95,
            1.0,
        ),
        (FRAME_DELAY_P95, "ms", FRAME_DELAY, 0, |f| f.frame_delay_ms.p95, 1.0),
    ];
    let metric = |(label, unit, definition, decimals, pick, scale): (&str, &str, &str, usize, Pick, f64)| {
        ColumnMetric::new(label, unit, decimals, Best::Neither, definition, move |run| {
            let own = run.flows.iter().filter(|flow| group_of(&flow.name, &run.flows) == group);
            let values: Vec<f64> = own.filter_map(pick).collect();
            (!values.is_empty()).then(|| scale * values.iter().sum::<f64>() / values.len() as f64)
        })
    };
    columns.into_iter().map(metric).collect()
}

/// The name without the number of a copy, if there are other copies; else the name.
fn group_of<'a>(name: &'a str, flows: &[FlowMeasures<Value>]) -> &'a str {
    let Some(stem) = stem(name) else { return name };
    let copies = flows.iter().filter(|other| self::stem(&other.name) == Some(stem)).count();
    if copies > 1 { stem } else { name }
}

fn stem(name: &str) -> Option<&str> {
    let (stem, number) = name.rsplit_once('-')?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(stem)
}

/// Groups in the order of their first flow, with the number of flows in each.
fn groups(flows: &[FlowMeasures<Value>]) -> Vec<(String, usize)> {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for flow in flows {
        let group = group_of(&flow.name, flows);
        match groups.iter_mut().find(|(name, _)| name == group) {
            Some((_, count)) => *count += 1,
            None => groups.push((group.to_owned(), 1)),
        }
    }
    groups
}
