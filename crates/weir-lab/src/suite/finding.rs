//! What is found in a run: all that it is judged by, whatever others get in its place.

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

/// What is found in a run of a suite. It depends on this run alone, so that runs can be made in any order and on several machines;
/// verdicts come of all of them together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Of each check of the case.
    alone: Vec<Alone>,
    /// Where a check asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    against_tcp: Option<AgainstTcp>,
    /// What the viewer of each flow got.
    served: Vec<Served>,
    viewed: Viewed,
    /// What each flow received, in bytes per second of the run, where it is drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    course: Vec<Vec<u64>>,
    /// What each flow received, in bytes per bin, where others are measured against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    receipts: Vec<Vec<u32>>,
}

impl Finding {
    /// In a run of `case`, whatever the limits of its checks, drawn or not.
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

    /// In a run that others are measured against.
    pub(super) fn of_benchmark(ran: Ran) -> Self {
        Self { receipts: ran.measured.receipts, ..Self::default() }
    }

    /// Of each of `checks` the value, and whether there is anything to measure, beside what was found in the same run with TCP in
    /// place of the media flows, where that was made, and what the omniscient sender got.
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

    /// What the viewer of each flow got.
    pub(super) fn served(&self) -> &[Served] {
        &self.served
    }

    /// What the viewers of all flows got.
    pub(super) const fn viewed(&self) -> Viewed {
        self.viewed
    }

    /// What each flow received, in bytes per second of the run, where it is drawn.
    pub(super) fn course(&self) -> &[Vec<u64>] {
        &self.course
    }
}

/// What the viewers of a run got, and what was left to others.
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
