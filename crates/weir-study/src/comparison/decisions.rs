//! Recorded decisions in words, and as ticks in the plots of a report.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use weir_cc::Signal;
use weir_units::DataRate;
use weir_world::Side;
use weir_world::tcp::TCP_SIGNALS;

use weir_measure::metrics::{DecidingSignal, Decisions, FlowPlan, MeasurePlan, RecordedDecision};
use weir_report::page::{DecisionTick, Move};
use weir_scenario::registry::Registry;

/// Greatest number of ticks of a flow in a report. Of more decisions those that changed the rate most are shown.
const MAX_TICKS: usize = 2000;

/// The signals of the controllers of a run's flows.
#[derive(Clone, Debug)]
pub struct FlowSignals {
    /// For each flow of the plan, the signals of the sender half and of the receiver half.
    flows: Vec<[&'static [Signal]; 2]>,
}

impl FlowSignals {
    /// The signals of the flows of `plan`, whose controllers `registry` has.
    pub fn of(plan: &MeasurePlan, registry: &Registry) -> Self {
        let signals = |flow: &FlowPlan| {
            let name = &flow.controller;
            [registry.sender_signals(name), registry.receiver_signals(name)].map(Option::unwrap_or_default)
        };
        Self { flows: plan.flows.iter().map(signals).collect() }
    }

    /// The signal of this name, or `None` where the flow's controller has none.
    pub fn find(&self, flow: usize, side: Side, name: &str) -> Option<&'static Signal> {
        let [sender, receiver] = self.flows.get(flow)?;
        let signals = if side == Side::Sender { sender } else { receiver };
        signals.iter().find(|signal| signal.name == name)
    }

    /// The unit of a signal of a flow's controller, or of TCP in a flow without one.
    pub fn unit(&self, flow: usize, side: Side, name: &str) -> Option<&'static str> {
        let of_tcp = || TCP_SIGNALS.iter().find(|signal| signal.name == name);
        self.find(flow, side, name).or_else(of_tcp).map(|signal| signal.unit)
    }
}

/// The ticks of each flow of the plan, in the order of time.
///
/// # Errors
/// A part of a long run cannot be read.
pub(super) fn ticks(decisions: &Decisions, known: &FlowSignals) -> io::Result<Vec<Vec<DecisionTick>>> {
    let mut largest: Vec<BinaryHeap<Reverse<RankedDecision>>> = vec![BinaryHeap::new(); known.flows.len()];
    decisions.each(|decision| {
        if let Some(own) = largest.get_mut(decision.flow) {
            own.push(Reverse(RankedDecision(*decision)));
            if own.len() > MAX_TICKS {
                own.pop();
            }
        }
        io::Result::Ok(())
    })?;
    let of_flow = |own: BinaryHeap<Reverse<RankedDecision>>| {
        let mut own: Vec<RecordedDecision> =
            own.into_iter().map(|Reverse(RankedDecision(decision))| decision).collect();
        own.sort_by_key(|decision| decision.time);
        own.iter().map(|decision| tick(decisions, known, decision)).collect()
    };
    Ok(largest.into_iter().map(of_flow).collect())
}

fn tick(decisions: &Decisions, known: &FlowSignals, decision: &RecordedDecision) -> DecisionTick {
    let signals = signals(decisions, known, decision);
    let behind = if signals.is_empty() { String::new() } else { format!("; {}", signals.join(", ")) };
    let (change, reason) = (change(decision), decision.reason.name());
    DecisionTick {
        time_s: decision.time.secs_f64(),
        change: Move::of(decision.from, decision.to),
        text: format!("{:.2} s: {change}, {reason}{behind}", decision.time.secs_f64()),
    }
}

/// The rates before and after a decision, as text.
pub fn change(decision: &RecordedDecision) -> String {
    if decision.from == decision.to {
        return format!("at {}", rate(decision.to));
    }
    format!("{} → {}", rate(decision.from).trim_end_matches(" kbit/s"), rate(decision.to))
}

/// A rate in kbit/s.
pub fn rate(rate: DataRate) -> String {
    format!("{:.0} kbit/s", rate.bps_f64() / 1e3)
}

/// The signals that decided, each with its value and its threshold.
pub fn signals(decisions: &Decisions, known: &FlowSignals, decision: &RecordedDecision) -> Vec<String> {
    let reading = |deciding: DecidingSignal| {
        let name = decisions.signal(decision.flow, deciding.signal);
        let unit = known.find(decision.flow, Side::Sender, name).map_or("", |signal| signal.unit);
        in_words(name, unit, deciding)
    };
    decision.signals.into_iter().flatten().map(reading).collect()
}

fn in_words(name: &str, unit: &str, deciding: DecidingSignal) -> String {
    let value = quantity(deciding.value, unit);
    match deciding.threshold {
        None => format!("{name} {value}"),
        Some(threshold) => {
            let side = if deciding.value > threshold { "above" } else { "not above" };
            format!("{name} {value}, {side} {}", quantity(threshold, unit))
        }
    }
}

/// A value to three digits with its unit; rates in kbit/s and times in ms.
pub(super) fn quantity(value: f64, unit: &str) -> String {
    let (value, unit) = match unit {
        "bit/s" => (value / 1e3, "kbit/s"),
        "s" => (value * 1e3, "ms"),
        other => (value, other),
    };
    if value.abs() >= 100.0 {
        return format!("{value:.0} {unit}").trim_end().to_owned();
    }
    let value = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{value} {unit}").trim_end().to_owned()
}

/// A decision, ordered by the size of its rate change; of equal changes, the later one ranks lower.
#[derive(Clone, Copy, Debug)]
struct RankedDecision(RecordedDecision);

impl RankedDecision {
    fn key(&self) -> (f64, Reverse<weir_net::Time>) {
        (distance(&self.0), Reverse(self.0.time))
    }
}

/// Size of a decision's rate change: the greater rate over the smaller one.
pub(super) fn distance(decision: &RecordedDecision) -> f64 {
    let [from, to] = [decision.from, decision.to].map(|rate| rate.bps_f64().max(1.0));
    (to / from).max(from / to)
}

impl Ord for RankedDecision {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        let ((change, time), (others, others_time)) = (self.key(), other.key());
        change.total_cmp(&others).then(time.cmp(&others_time))
    }
}

impl PartialOrd for RankedDecision {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedDecision {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedDecision {}
