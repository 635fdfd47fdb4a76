//! The replayed rate beside the recorded one.

use schemars::JsonSchema;
use serde::Serialize;
use weir_world::RecordedCall;

use super::{ReplayDecision, ReplayPoint};

/// Begin of a call that no statistic covers: a log carries neither probes of single packets nor times below a millisecond, and both
/// decide the first seconds.
pub const SETTLED_US: i64 = 10_000_000;
/// Step of the comparison.
const STEP_US: i64 = 100_000;
/// Difference up to which two rates agree.
const ALIKE: f64 = 0.1;
/// Difference at which a controller with a window has diverged.
const DIVERGED: f64 = 0.2;
/// Shortest span that counts as a parting.
const SHORTEST_PARTING_US: i64 = 1_000_000;
/// Most partings of a result.
const MOST_PARTINGS: usize = 5;

/// Agreement of a replayed rate with the recorded estimate, from ten seconds on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RateAgreement {
    /// Share of the time within 10 % of the recorded estimate, 0 to 1.
    pub within_10_percent: f64,
    /// Median of the replayed rate over the recorded estimate.
    pub median_ratio: f64,
}

/// A span in which the replayed rate differs from the recorded estimate by more than 10 %.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Parting {
    /// Begin, in µs from the begin of the call.
    pub from_us: i64,
    /// End.
    pub to_us: i64,
    /// The replayed rate at its begin, in bit/s.
    pub replayed_bps: u64,
    /// The recorded estimate there.
    pub recorded_bps: u64,
    /// The last decision of the replayed controller before it, and the signals that it rests on.
    pub replayed_decision: Option<ReplayDecision>,
    /// State of the recorded sender there: detector, loss, probes.
    pub recorded_state: String,
}

/// The recorded rate: the estimate of an event log, or the target of a run of Weir.
pub(crate) fn recorded_rate(call: &RecordedCall) -> Vec<ReplayPoint> {
    let estimates = call.loss_estimates.rows().map(|row| ReplayPoint { time_us: row.time_us, bps: row.bps });
    let targets = call.targets.rows().map(|row| ReplayPoint { time_us: row.time_us, bps: row.bps });
    if call.loss_estimates.is_empty() { targets.collect() } else { estimates.collect() }
}

/// The rate of `points` at `time`, if it has begun.
pub(crate) fn rate_at(points: &[ReplayPoint], time_us: i64) -> Option<u64> {
    let next = points.partition_point(|point| point.time_us <= time_us);
    Some(points.get(next.checked_sub(1)?)?.bps)
}

/// Both rates each 100 ms, where both are known and positive: time, recorded, replayed.
fn pairs<'a>(
    recorded: &'a [ReplayPoint],
    replayed: &'a [ReplayPoint],
    from_us: i64,
    to_us: i64,
) -> impl Iterator<Item = (i64, u64, u64)> + use<'a> {
    let times = (0..).map(move |step| from_us + step * STEP_US).take_while(move |&time| time <= to_us);
    times.filter_map(|time| {
        let both = (rate_at(recorded, time)?, rate_at(replayed, time)?);
        (both.0 > 0 && both.1 > 0).then_some((time, both.0, both.1))
    })
}

fn ratio(recorded: u64, replayed: u64) -> f64 {
    replayed as f64 / recorded as f64
}

pub(super) fn agreement(
    recorded: &[ReplayPoint],
    replayed: &[ReplayPoint],
    end_us: i64,
) -> Option<RateAgreement> {
    let mut ratios: Vec<f64> =
        pairs(recorded, replayed, SETTLED_US, end_us).map(|(_, one, two)| ratio(one, two)).collect();
    if ratios.is_empty() {
        return None;
    }
    let alike = ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= ALIKE).count();
    let within_10_percent = alike as f64 / ratios.len() as f64;
    ratios.sort_by(f64::total_cmp);
    Some(RateAgreement { within_10_percent, median_ratio: ratios[ratios.len() / 2] })
}

/// The first time at which the two differ by 20 %.
pub(super) fn first_divergence(
    recorded: &[ReplayPoint],
    replayed: &[ReplayPoint],
    end_us: i64,
) -> Option<i64> {
    let mut all = pairs(recorded, replayed, 0, end_us);
    all.find(|&(_, one, two)| (ratio(one, two) - 1.0).abs() > DIVERGED).map(|(time, ..)| time)
}

pub(super) fn partings(
    call: &RecordedCall,
    recorded: &[ReplayPoint],
    replayed: &[ReplayPoint],
    decisions: &[ReplayDecision],
) -> Vec<Parting> {
    let all: Vec<(i64, u64, u64)> = pairs(recorded, replayed, SETTLED_US, call.duration_us).collect();
    let differs = |&(_, one, two): &(i64, u64, u64)| (ratio(one, two) - 1.0).abs() > ALIKE;
    let length = |span: &&[(i64, u64, u64)]| span[span.len() - 1].0 - span[0].0;
    let mut spans: Vec<&[(i64, u64, u64)]> = all
        .chunk_by(|one, next| differs(one) == differs(next))
        .filter(|span| differs(&span[0]) && length(span) >= SHORTEST_PARTING_US)
        .collect();
    spans.sort_by_key(|span| core::cmp::Reverse(length(span)));
    spans.truncate(MOST_PARTINGS);
    spans
        .into_iter()
        .map(|span| {
            let (from_us, recorded_bps, replayed_bps) = span[0];
            let next = decisions.partition_point(|decision| decision.time_us <= from_us);
            let replayed_decision = next.checked_sub(1).map(|last| decisions[last].clone());
            let to_us = span[span.len() - 1].0;
            let recorded_state = recorded_state(call, from_us);
            Parting { from_us, to_us, replayed_bps, recorded_bps, replayed_decision, recorded_state }
        })
        .collect()
}

/// The recorded sender's own state at `time`: what its log holds of the second before.
fn recorded_state(call: &RecordedCall, time_us: i64) -> String {
    let mut parts = Vec::new();
    let second = |at: i64| (time_us - 1_000_000..=time_us).contains(&at);
    if let Some(row) = call.delay_estimates.rows().rev().find(|row| row.time_us <= time_us) {
        let state = row.state_name();
        let overuse = call.delay_estimates.rows().filter(|row| second(row.time_us) && row.state == 2).count();
        let before = if overuse > 0 && row.state != 2 { ", overuse within the second before" } else { "" };
        parts.push(format!("detector {state}{before}"));
    }
    if let Some(row) = call.loss_estimates.rows().rev().find(|row| row.time_us <= time_us)
        && row.fraction_lost > 0
    {
        parts.push(format!("loss {:.1} %", f64::from(row.fraction_lost) * 100.0 / 256.0));
    }
    if let Some(row) = call.probe_outcomes.rows().rev().find(|row| second(row.time_us)) {
        let outcome = row
            .bps
            .get()
            .map_or("a failed probe".to_owned(), |bps| format!("a probe of {} kbit/s", bps / 1000));
        parts.push(outcome);
    }
    let limited = call.application_limits.rows().rev().find(|row| row.time_us <= time_us);
    if limited.is_some_and(|row| row.limited != 0) {
        parts.push("application-limited".to_owned());
    }
    parts.join(", ")
}
