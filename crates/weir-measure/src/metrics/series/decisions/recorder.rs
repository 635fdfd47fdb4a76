//! Recorder of decisions, which chooses those that the table contains.

use core::mem;

use weir_cc::{ChangeReason, Controller, LimitingFactor, ascii_name};
use weir_net::Time;
use weir_units::DataRate;

use super::{
    DecidingSignal, DecisionReason, Decisions, FlowNames, MAX_SIGNALS, MIN_CHANGE, RecordedDecision,
};
use crate::metrics::plan::{FlowPlan, MeasurePlan};
use crate::metrics::series::spool::{NewBlockStorage, Spool};

/// Number of rows that are held in memory.
const ROWS: usize = 64 * 1024;

/// Number of rows that all flows of a run may have at its start.
const ROWS_AT_ONCE: f64 = 100_000.0;
/// Number of further rows for each second of the run, so that the table of a day stays below 100 MB.
const ROWS_PER_SECOND: f64 = 5.0;
/// Share of the budget below which a flow records no change of the limiting factor alone.
const FACTOR_RESERVE: f64 = 0.25;

/// Budget of rows of a flow. Unused rows remain available.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Greatest number of rows in the budget.
    most: f64,
    per_second: f64,
    /// Number of rows in the budget at the time `at`.
    left: f64,
    at: Time,
}

impl Budget {
    /// The budget of one of `flows` flows.
    fn per_flow(flows: usize) -> Self {
        let most = ROWS_AT_ONCE / flows.max(1) as f64;
        Self { most, per_second: ROWS_PER_SECOND / flows.max(1) as f64, left: most, at: Time::ZERO }
    }

    /// Whether a decision gets a row. `share` is its change of the rate as a part of the rate.
    fn allows(&mut self, now: Time, share: f64, changes_factor: bool) -> bool {
        self.left = self.most.min(self.left + self.per_second * (now - self.at).secs_f64().max(0.0));
        self.at = now;
        let left = self.left / self.most;
        let worth_it = share >= min_change(left) || (changes_factor && left >= FACTOR_RESERVE);
        worth_it && self.left >= 1.0
    }
}

/// Least change of the rate that gets a row: 2 % while half of the budget is left, and twice as much with each
/// further halving.
fn min_change(left: f64) -> f64 {
    let halves = core::iter::successors(Some(0.5), |level| Some(level / 2.0));
    halves.take(5).take_while(|&level| left < level).fold(MIN_CHANGE, |least, _| 2.0 * least)
}

/// Records the decisions of a run.
#[derive(Debug)]
pub(in crate::metrics::series) struct DecisionRecorder {
    flows: Vec<LastRecorded>,
    rows: Vec<RecordedDecision>,
    spool: Spool,
    /// Buffer for the signals of a controller.
    values: Vec<f64>,
}

/// The last recorded values of a flow.
#[derive(Clone, Copy, Debug)]
struct LastRecorded {
    /// The rate, or `None` before the first decision.
    rate: Option<DataRate>,
    factor: LimitingFactor,
    budget: Budget,
}

impl DecisionRecorder {
    pub(in crate::metrics::series) fn new(flows: usize, new_storage: NewBlockStorage) -> Self {
        let none =
            LastRecorded { rate: None, factor: LimitingFactor::RampUp, budget: Budget::per_flow(flows) };
        Self {
            flows: (0..flows).map(|_| none).collect(),
            rows: Vec::new(),
            spool: Spool::new(new_storage),
            values: Vec::new(),
        }
    }

    /// Records a change of a flow's rate from `base` to `rate`, for this reason.
    pub(in crate::metrics::series) fn record(
        &mut self,
        now: Time,
        flow: usize,
        (base, rate): (DataRate, DataRate),
        reason: DecisionReason,
        controller: &dyn Controller,
    ) {
        let Some(recorded) = self.flows.get_mut(flow) else { return };
        let from = recorded.rate.unwrap_or(base);
        let limiting_factor = controller.target().limiting_factor;
        // From a rate of zero every other rate is a move.
        let moved = if rate == from { 0.0 } else { rate.bps().abs_diff(from.bps()) as f64 / from.bps_f64() };
        let is_first = recorded.rate.is_none();
        if !recorded.budget.allows(now, moved, is_first || limiting_factor != recorded.factor) {
            return;
        }
        recorded.budget.left -= 1.0;
        (recorded.rate, recorded.factor) = (Some(rate), limiting_factor);
        let signals = match reason {
            DecisionReason::Decision(why) if why.is_measured() => self.evidence(why, controller),
            DecisionReason::Decision(_) | DecisionReason::Coupling => [None; MAX_SIGNALS],
        };
        self.rows.push(RecordedDecision {
            time: rounded_time(now),
            flow,
            from,
            to: rate,
            reason,
            limiting_factor,
            signals,
        });
        if self.rows.len() >= ROWS {
            self.spool.push(mem::take(&mut self.rows));
        }
    }

    fn evidence(
        &mut self,
        why: ChangeReason,
        controller: &dyn Controller,
    ) -> [Option<DecidingSignal>; MAX_SIGNALS] {
        let signals = controller.signals();
        self.values.clear();
        self.values.resize(signals.len(), f64::NAN);
        controller.read_signals(&mut self.values);
        controller.evidence(why).map(|evidence| {
            let evidence = evidence?;
            let signal = signals.iter().position(|signal| signal.name == evidence.signal)?;
            let value = rounded(self.values[signal]);
            let threshold = Some(rounded(evidence.threshold)).filter(|threshold| threshold.is_finite());
            value.is_finite().then_some(DecidingSignal { signal, value, threshold })
        })
    }

    pub(in crate::metrics::series) fn finish(self, plan: &MeasurePlan) -> Decisions {
        Decisions { flows: names(&plan.flows), rows: self.spool.finish(self.rows) }
    }
}

/// Rounds to the millisecond, the resolution of the table.
fn rounded_time(time: Time) -> Time {
    Time::from_millis(time.nanos().saturating_add(500_000) / 1_000_000)
}

/// Rounds to four digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Names of the flows and their signals.
pub(super) fn names(flows: &[FlowPlan]) -> Vec<FlowNames> {
    let names = |flow: &FlowPlan| FlowNames {
        name: flow.name.clone(),
        signals: flow.sender_signals.clone(),
        in_files: flow.sender_signals.iter().map(|name| ascii_name(name).into_owned()).collect(),
    };
    flows.iter().map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_move_doubles_with_each_half_of_the_budget() {
        let moves = [1.0, 0.5, 0.49, 0.25, 0.24, 0.1, 0.05, 0.01, 0.0].map(min_change);
        assert_eq!(moves, [0.02, 0.02, 0.04, 0.04, 0.08, 0.16, 0.32, 0.64, 0.64]);
    }

    #[test]
    fn unneeded_share_comes_back() {
        let mut budget = Budget::per_flow(2);
        assert_eq!((budget.most, budget.per_second), (50_000.0, 2.5));
        budget.left = 10.0;
        assert!(!budget.allows(Time::from_millis(1), 0.3, true), "a share of 0.0002");
        // An hour brings 9000 rows, 10 000 s 25 000.
        assert!(budget.allows(Time::from_millis(3_600_000), 0.08, false));
        assert!(!budget.allows(Time::from_millis(3_600_000), 0.04, true));
        assert!(budget.allows(Time::from_millis(10_000_000), 0.02, false));
        budget.left = 0.5;
        assert!(!budget.allows(Time::from_millis(10_000_000), 1.0, true), "there is none left");
    }
}
