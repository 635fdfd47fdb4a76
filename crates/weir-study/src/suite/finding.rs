//! Measurements of a single run, on which its verdict rests.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::cases::Case;
use super::check::{
    AgainstTcp, Check, JudgedRun, JudgedValue, ReturnTime, Served, served, useful_bytes, worst_frame_delay,
};
use super::course::by_second;
use super::quantity::Quantity;
use super::results::Viewed;
use crate::judge::Harvest;
use crate::judge::formula::{KnownValues, Leaf, evaluate};
use crate::judge::paths::printed;
use crate::runs::Ran;
use weir_measure::metrics::FlowPlan;
use weir_measure::results::{FlowMeasures, RunMetrics, Value};
use weir_net::Time;

/// Name in formulas of the run under the controller.
pub(super) const RUN: &str = "run";
/// Name in formulas of the omniscient sender's run of the same seed, at its best operating point.
pub(super) const OMNISCIENT: &str = "omniscient";

/// Measurements of a run of a suite. They depend on this run alone, so that runs can be made in any order and on
/// several machines. Verdicts need the measurements of all runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Time until the media flows are back at their shares, by the second from which on a check counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    returns: BTreeMap<u32, ReturnTime>,
    /// Comparison with TCP, if a check needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    against_tcp: Option<AgainstTcp>,
    /// Result of each flow at its viewer.
    served: Vec<Served>,
    viewed: Viewed,
    /// Values for the formulas of the checks.
    #[serde(default, skip_serializing_if = "Harvest::is_empty")]
    harvest: Harvest,
    /// Bytes that each flow received per second of the run, if the run is drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    course: Vec<Vec<u64>>,
    /// Bytes that each flow received per bin, if the run is a benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    receipts: Vec<Vec<u32>>,
    /// All metrics, if a table of the runs is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<Box<RunMetrics>>,
}

/// Parts of a run that its measurements have besides those of the checks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FurtherParts {
    /// Bytes per second, for a plot.
    pub(super) course: bool,
    /// All metrics, for a table.
    pub(super) metrics: bool,
}

impl Finding {
    /// Measurements of a run of `case`, whatever the limits of its checks, with these further parts.
    ///
    /// # Errors
    /// The recorded time series cannot be read.
    pub(super) fn of(case: &Case, further: FurtherParts, mut ran: Ran) -> io::Result<Self> {
        let (checks, from) = (&case.checks, case.counts_from());
        let series = ran.measured.series.take();
        let judged = JudgedRun::new(&ran.plan, &ran.measured, from);
        let mut results = printed(&ran.measured.metrics);
        let paths = case.paths();
        judged.add_measures(&mut results, &paths)?;
        let harvest = Harvest::of_run(&paths, &results, series)?;
        let returns = checks.iter().filter_map(Check::counts_from);
        let against_tcp = checks.iter().any(|check| check.is_of(Quantity::RateAgainstTcp));
        let served = served(&ran.plan, &ran.measured);
        Ok(Self {
            returns: returns.map(|at| (at, judged.return_time(at))).collect(),
            against_tcp: against_tcp.then(|| judged.against_tcp()),
            viewed: viewed(&ran, &served, judged.overhead(), from),
            served,
            harvest,
            course: if further.course { by_second(&ran.measured.receipts) } else { Vec::new() },
            receipts: Vec::new(),
            metrics: further.metrics.then(|| Box::new(ran.measured.metrics)),
        })
    }

    /// Measurements of a benchmark run.
    pub(super) fn of_benchmark(ran: Ran) -> Self {
        Self { receipts: ran.measured.receipts, ..Self::default() }
    }

    /// Value of each of `checks`, and whether there is anything to measure. The value is compared with the same run
    /// with TCP in place of the media flows, if made, and with the omniscient sender.
    pub(super) fn judged(
        &self,
        checks: &[Check],
        benchmark: Option<&Self>,
        omniscient: Option<&Self>,
    ) -> Vec<(Value, bool)> {
        let served = omniscient.map_or(&[][..], Self::served);
        let measured = |leaf: &Leaf| {
            let run = if leaf.variant == OMNISCIENT { omniscient? } else { self };
            run.harvest.get(&leaf.path).cloned()
        };
        let known = |value: Value| (value, value.is_some());
        let values = KnownValues { axes: &|_| None, measured: &measured };
        let judged = |check: &Check| {
            let value = check.evaluated().and_then(|formula| evaluate(formula, &values));
            match check.subject {
                JudgedValue::Quantity(Quantity::RateAgainstTcp, _) => {
                    let both = self.against_tcp.as_ref().zip(benchmark);
                    known(both.and_then(|(own, benchmark)| own.value(&benchmark.receipts)))
                }
                JudgedValue::Quantity(Quantity::Reconvergence, at) => {
                    self.returns.get(&at).copied().unwrap_or_default().beside(check.limit)
                }
                JudgedValue::Quantity(Quantity::Useful, _) => (value, served.iter().any(Served::has_frames)),
                _ => known(value),
            }
        };
        checks.iter().map(judged).collect()
    }

    /// All metrics, if they were kept; later calls have none.
    pub(super) fn take_metrics(&mut self) -> Option<Box<RunMetrics>> {
        self.metrics.take()
    }

    /// Result of each flow at its viewer.
    pub(super) fn served(&self) -> &[Served] {
        &self.served
    }

    /// Results of all flows at their viewers.
    pub(super) const fn viewed(&self) -> Viewed {
        self.viewed
    }

    /// Bytes that each flow received per second of the run, if the run is drawn.
    pub(super) fn course(&self) -> &[Vec<u64>] {
        &self.course
    }
}

/// Results of a run at its viewers, and the rate of the other flows.
fn viewed(ran: &Ran, served: &[Served], overhead: Value, from: Time) -> Viewed {
    let seconds = (ran.plan.end.max(from) - from).secs_f64();
    let flows = ran.plan.flows.iter().zip(&ran.measured.metrics.flows);
    let (media, others): (Vec<_>, Vec<_>) = flows.partition(|(plan, _)| plan.is_judged());
    let flows =
        |flows: Vec<(_, _)>| flows.into_iter().map(|(_, flow): (&FlowPlan, &FlowMeasures<Value>)| flow);
    let (media, others) = (flows(media), flows(others));
    Viewed {
        overhead_percent: overhead,
        useful_bps: (seconds > 0.0).then(|| useful_bytes(served) as f64 * 8.0 / seconds),
        frame_delay_ms: worst_frame_delay(served),
        freezes: media.filter_map(|flow| flow.freezes).reduce(|a, b| a + b),
        neighbour_bps: others.map(|flow| flow.rate_bps.unwrap_or(0.0)).reduce(|a, b| a + b),
    }
}
