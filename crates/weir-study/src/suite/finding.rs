//! Measurements of a single run, on which its verdict rests.

use serde::{Deserialize, Serialize};

use super::cases::Case;
use super::check::{
    AgainstTcp, Alone, Check, Judged, Quantity, Served, excess_delay, least_useful, served, useful_bytes,
    worst_frame_delay,
};
use super::course::by_second;
use super::results::Viewed;
use crate::runs::Ran;
use weir_measure::metrics::FlowPlan;
use weir_measure::results::{FlowMeasures, Value};
use weir_net::Time;

/// Measurements of a run of a suite. They depend on this run alone, so that runs can be made in any order and on
/// several machines. Verdicts need the measurements of all runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Value of each check of the case.
    alone: Vec<Alone>,
    /// Comparison with TCP, if a check needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    against_tcp: Option<AgainstTcp>,
    /// Result of each flow at its viewer.
    served: Vec<Served>,
    viewed: Viewed,
    /// Bytes that each flow received per second of the run, if the run is drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    course: Vec<Vec<u64>>,
    /// Bytes that each flow received per bin, if the run is a benchmark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    receipts: Vec<Vec<u32>>,
}

impl Finding {
    /// Measurements of a run of `case`, whatever the limits of its checks; `is_drawn` if the run is drawn.
    pub(super) fn of(case: &Case, is_drawn: bool, ran: &Ran) -> Self {
        let (checks, from) = (&case.checks, case.counts_from());
        let judged = Judged::new(&ran.plan, &ran.measured, from);
        let against_tcp = checks.iter().any(|check| check.quantity == Quantity::RateAgainstTcp);
        let served = served(&ran.plan, &ran.measured);
        Self {
            alone: checks.iter().map(|check| judged.alone(check.quantity)).collect(),
            against_tcp: against_tcp.then(|| judged.against_tcp()),
            viewed: viewed(ran, &served, judged.overhead(), from),
            served,
            course: if is_drawn { by_second(&ran.measured.receipts) } else { Vec::new() },
            receipts: Vec::new(),
        }
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
        omniscient: &[Served],
    ) -> Vec<(Value, bool)> {
        let known = |value: Value| (value, value.is_some());
        let judged = |(check, alone): (&Check, &Alone)| match check.quantity {
            Quantity::RateAgainstTcp => {
                let both = self.against_tcp.as_ref().zip(benchmark);
                known(both.and_then(|(own, benchmark)| own.value(&benchmark.receipts)))
            }
            Quantity::Useful => {
                (least_useful(&self.served, omniscient), omniscient.iter().any(Served::has_frames))
            }
            Quantity::ExcessFrameDelay => known(excess_delay(&self.served, omniscient)),
            _ => alone.beside(check.limit),
        };
        checks.iter().zip(&self.alone).map(judged).collect()
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
