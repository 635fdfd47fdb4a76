//! Chooses the decisions that are worth a row.

use core::mem;

use weir_cc::{Controller, LimitingFactor, Why};
use weir_net::Time;
use weir_units::DataRate;

use super::{DecidingSignal, Decisions, FlowNames, LEAST_MOVE, MOST_SIGNALS, Reason, RecordedDecision};
use crate::metrics::plan::{FlowPlan, MeasurePlan};
use crate::metrics::series::spool::Spool;

/// Rows that are held in memory.
const ROWS: usize = 64 * 1024;

/// How many rows a run may have: a day's table stays below 100 MB.
#[derive(Debug)]
struct Budget {
    /// A decision that moves the rate by less has no row.
    least_move: f64,
    /// Rows so far.
    rows: u64,
    /// With so many rows it is seen next whether they are too many, …
    check_at: u64,
    /// … since this time, if they were before.
    over_since: Option<Time>,
}

impl Budget {
    /// What every run may have …
    const BASE: u64 = 100_000;
    /// … and so many rows for each second of it.
    const PER_SECOND: f64 = 8.0;
    /// Where there are too many, it is seen after so many more whether these come slowly enough.
    const PAUSE: u64 = 10_000;

    const fn new() -> Self {
        Self { least_move: LEAST_MOVE, rows: 0, check_at: Self::BASE, over_since: None }
    }

    /// A row more.
    fn spend(&mut self, now: Time) {
        self.rows += 1;
        if self.rows < self.check_at {
            return;
        }
        let allowed = Self::BASE + (now.secs_f64() * Self::PER_SECOND) as u64;
        if self.rows <= allowed {
            self.check_at = allowed + 1;
            self.over_since = None;
            return;
        }
        let since = self.over_since.replace(now);
        let slow =
            since.is_some_and(|since| (now - since).secs_f64() * Self::PER_SECOND >= Self::PAUSE as f64);
        if !slow {
            self.least_move *= 2.0;
        }
        self.check_at = self.rows + Self::PAUSE;
    }
}

/// Records the decisions of a run.
#[derive(Debug)]
pub(in crate::metrics::series) struct DecisionRecorder {
    flows: Vec<Recorded>,
    budget: Budget,
    rows: Vec<RecordedDecision>,
    spool: Spool,
    /// Room for the signals of a controller.
    values: Vec<f64>,
}

/// What was recorded last of a flow.
#[derive(Debug)]
struct Recorded {
    /// The rate then; `None` before the first decision.
    rate: Option<DataRate>,
    factor: LimitingFactor,
}

impl DecisionRecorder {
    pub(in crate::metrics::series) fn new(flows: usize) -> Self {
        let none = |_| Recorded { rate: None, factor: LimitingFactor::RampUp };
        Self {
            flows: (0..flows).map(none).collect(),
            budget: Budget::new(),
            rows: Vec::new(),
            spool: Spool::default(),
            values: Vec::new(),
        }
    }

    /// The rate of a flow, which was `base` before, is `rate`, for this reason.
    pub(in crate::metrics::series) fn record(
        &mut self,
        now: Time,
        flow: usize,
        (base, rate): (DataRate, DataRate),
        reason: Reason,
        controller: &dyn Controller,
    ) {
        let Some(recorded) = self.flows.get_mut(flow) else { return };
        let from = recorded.rate.unwrap_or(base);
        let limiting_factor = controller.target().limiting_factor;
        let is_first = recorded.rate.is_none();
        let moved = rate.bps().abs_diff(from.bps()) as f64 >= self.budget.least_move * from.bps_f64();
        if !moved && !is_first && limiting_factor == recorded.factor {
            return;
        }
        *recorded = Recorded { rate: Some(rate), factor: limiting_factor };
        let signals = match reason {
            Reason::Decision(why) if why.is_measured() => self.evidence(why, controller),
            Reason::Decision(_) | Reason::Coupling => [None; MOST_SIGNALS],
        };
        self.budget.spend(now);
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

    fn evidence(&mut self, why: Why, controller: &dyn Controller) -> [Option<DecidingSignal>; MOST_SIGNALS] {
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

/// To the millisecond: what is recorded is what a table can hold.
fn rounded_time(time: Time) -> Time {
    Time::from_millis(time.nanos().saturating_add(500_000) / 1_000_000)
}

/// To four digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// What the flows and their signals are called.
pub(super) fn names(flows: &[FlowPlan]) -> Vec<FlowNames> {
    let names = |flow: &FlowPlan| FlowNames { name: flow.name.clone(), signals: flow.sender_signals.clone() };
    flows.iter().map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_many_decisions_stays_within_its_budget_and_an_hour_has_all() {
        // 25 decisions a second, of which a fifth move the rate by 2, 4, 8, 16 and 32 per cent.
        let rows_after = |hours: u64| {
            let mut budget = Budget::new();
            for decision in 0..hours * 3600 * 25 {
                let moved = [0.02, 0.04, 0.08, 0.16, 0.32][decision as usize % 5];
                if moved >= budget.least_move {
                    budget.spend(Time::from_millis(40 * decision));
                }
            }
            budget.rows
        };
        assert_eq!(rows_after(1), 90_000);
        let day = rows_after(24);
        assert!((400_000..900_000).contains(&day), "{day} rows");
    }
}
