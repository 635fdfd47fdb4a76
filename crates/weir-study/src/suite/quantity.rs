//! Named quantities of checks. The *share* of a flow is its fair part of the capacity that the path has for it.
//!
//! A quantity is a named formula, computed as the formulas of files are. Two quantities are no formulas. `rate against
//! TCP` reads a third run, over a time that the TCP flows of this run determine. `re-convergence` counts from a time of
//! the check, and a lower bound of it is a value only beside the limit.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use weir_measure::results::spread::SpreadWidth;

use crate::judge::formula::{Formula, FormulaContext, Scope, parse_as};

/// Quantity of a check, by its name in tables. "Media" are the flows under the candidate. Their rate is the payload of
/// frames: padding and headers are load and of no use to a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Quantity {
    /// Rate over share from 20 s on, in %, of the media flow with the least ratio.
    #[serde(rename = "rate")]
    Rate,
    /// Rate over share for each stretch between changes of the capacity, in %; the least counts.
    #[serde(rename = "rate after each step")]
    RateAfterEachStep,
    /// Rate over the share of the capacity that short transfers left, in %.
    #[serde(rename = "rate beside transfers")]
    RateBesideTransfers,
    /// Rate over share, in %, from 20 s on until the time `from` of the case.
    #[serde(rename = "rate before")]
    RateBefore,
    /// Rate of the calls over that of TCP in their place, in %.
    // All TCP flows are active then; the rate of each one in place of a call is capped at the call's highest rate.
    #[serde(rename = "rate against TCP")]
    RateAgainstTcp,
    /// 95th percentile of the packets' waits, in ms.
    // At the sender and at bottlenecks, outside 5 s after each event, of all media flows.
    #[serde(rename = "queue wait p95")]
    QueueWait,
    /// Packets lost over packets sent, in %, of the media flow with the greatest loss.
    #[serde(rename = "loss")]
    Loss,
    /// Jain's index of rate over share.
    // Of the media flows, over the last 30 s in which all of them are active.
    #[serde(rename = "Jain")]
    Jain,
    /// Rate over share, in %, of the flow with the least ratio, TCP included.
    #[serde(rename = "coexistence")]
    Coexistence,
    /// Seconds from the time `at` of the check until each media flow is back at its share.
    #[serde(rename = "re-convergence")]
    Reconvergence,
    /// Deviation of a flow's part of all rates from the part that its priority gives it, in %.
    // The largest deviation, over the last 30 s in which all media flows are active.
    #[serde(rename = "off priority")]
    OffPriority,
    /// 99th percentile over frames from capture to the last packet's arrival, in ms.
    #[serde(rename = "frame delay p99")]
    FrameDelay,
    /// Payload of frames in time over that of the omniscient sender, in %.
    // Frames captured from 20 s on that are complete within 150 ms. The flow with the lowest ratio counts. Flows of which
    // even the omniscient sender delivers too little in time are left out.
    #[serde(rename = "useful")]
    Useful,
    /// Excess of the frame delay over the omniscient sender's, in ms.
    // 95th percentiles, over the frames captured from 20 s on, of the media flow with the largest excess.
    #[serde(rename = "excess frame delay")]
    ExcessFrameDelay,
    /// Rate over share, in %, of the TCP flow with the least ratio.
    #[serde(rename = "neighbour")]
    Neighbour,
}

/// Formulas of the quantities. `run` is the run under the controller, `omniscient` the omniscient sender's of the same
/// seed. Sections below `judged` are measured for these formulas alone.
const FORMULAS: [(Quantity, &str); 13] = [
    (Quantity::Rate, "100 * least(run:judged.counted.*.bits / run:judged.counted.*.share_bits)"),
    (
        Quantity::RateAfterEachStep,
        "100 * least(run:judged.stretches.*.bits / run:judged.stretches.*.share_bits)",
    ),
    (
        Quantity::RateBesideTransfers,
        "100 * least(run:judged.beside_transfers.*.bits / run:judged.beside_transfers.*.share_bits)",
    ),
    (Quantity::RateBefore, "100 * least(run:judged.before.*.bits / run:judged.before.*.share_bits)"),
    (Quantity::QueueWait, "run:judged.settled.wait_p95_ms"),
    (Quantity::Loss, "greatest(100 * run:judged.flows.*.lost_packets / run:judged.flows.*.packets)"),
    (Quantity::Jain, "jain(run:judged.last.*.bits / run:judged.last.*.share_bits)"),
    (Quantity::Coexistence, "100 * least(run:judged.adaptive.*.bits / run:judged.adaptive.*.share_bits)"),
    // The deviation is relative to the part of the priority, so that small and large priorities are judged alike.
    (
        Quantity::OffPriority,
        "100 * greatest(size(run:judged.flows.*.last_bits / sum(run:judged.flows.*.last_bits) / \
         (run:judged.flows.*.weight / sum(run:judged.flows.*.weight)) - 1))",
    ),
    (Quantity::FrameDelay, "greatest(run:judged.flows.*.frame_delay_p99_ms)"),
    // Flows of which the omniscient sender delivers less than a quarter in time are left out.
    (
        Quantity::Useful,
        "least(during(100 * run:judged.frames.*.useful_bytes / omniscient:judged.frames.*.useful_bytes, \
         omniscient:judged.frames.*.useful_bytes / omniscient:judged.frames.*.payload_bytes, 0.25, 1))",
    ),
    // A flow without a complete frame has no end of its delay, so that there is no value.
    (
        Quantity::ExcessFrameDelay,
        "greatest(filled(run:judged.frames.*.frame_delay_ms, 1 / 0) - omniscient:judged.frames.*.frame_delay_ms)",
    ),
    (Quantity::Neighbour, "100 * least(run:judged.neighbours.*.bits / run:judged.neighbours.*.share_bits)"),
];

/// [`FORMULAS`], parsed.
static PARSED: LazyLock<Vec<(Quantity, Formula)>> = LazyLock::new(|| {
    let reading = FormulaContext { scope: Scope::Place, named: &BTreeMap::new() };
    let parsed = |(quantity, text)| (quantity, parse_as(text, reading).expect("a formula that ships"));
    FORMULAS.into_iter().map(parsed).collect()
});

/// Quantities of checks: the name of each, its unit, empty for a ratio, and its definition.
pub fn quantities() -> Vec<[String; 3]> {
    let schema = schema_for!(Quantity).to_value();
    let quantity = |entry: &serde_json::Value| {
        let own = Quantity::deserialize(&entry["const"]).ok()?;
        Some([own.name(), own.unit(), entry["description"].as_str()?].map(str::to_owned))
    };
    schema["oneOf"].as_array().into_iter().flatten().filter_map(quantity).collect()
}

impl Quantity {
    /// Name, unit, which is empty for a ratio, and whether higher values are better.
    const fn meaning(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Rate => ("rate", "%", true),
            Self::RateAfterEachStep => ("rate after each step", "%", true),
            Self::RateBesideTransfers => ("rate beside transfers", "%", true),
            Self::RateBefore => ("rate before", "%", true),
            Self::RateAgainstTcp => ("rate against TCP", "%", true),
            Self::QueueWait => ("queue wait p95", "ms", false),
            Self::Loss => ("loss", "%", false),
            Self::Jain => ("Jain", "", true),
            Self::Coexistence => ("coexistence", "%", true),
            Self::Reconvergence => ("re-convergence", "s", false),
            Self::OffPriority => ("off priority", "%", false),
            Self::FrameDelay => ("frame delay p99", "ms", false),
            Self::Useful => ("useful", "%", true),
            Self::ExcessFrameDelay => ("excess frame delay", "ms", false),
            Self::Neighbour => ("neighbour", "%", true),
        }
    }

    /// Name in tables and files.
    pub const fn name(self) -> &'static str {
        self.meaning().0
    }

    /// Unit of its values; empty for a ratio.
    pub const fn unit(self) -> &'static str {
        self.meaning().1
    }

    /// Whether higher values are better.
    pub const fn higher_is_better(self) -> bool {
        self.meaning().2
    }

    /// Formula of its values, or `None` if it is no formula.
    pub(super) fn formula(self) -> Option<&'static Formula> {
        PARSED.iter().find(|(own, _)| *own == self).map(|(_, formula)| formula)
    }

    /// Smallest width of its values over runs that is reported as a spread; `None` if none is.
    pub(super) const fn spread_width(self) -> Option<SpreadWidth> {
        match self {
            Self::Rate
            | Self::RateAfterEachStep
            | Self::RateBesideTransfers
            | Self::RateBefore
            | Self::RateAgainstTcp
            | Self::Coexistence
            | Self::Useful
            | Self::Neighbour => Some(SpreadWidth::RATE),
            Self::QueueWait | Self::FrameDelay | Self::ExcessFrameDelay => Some(SpreadWidth::WAIT),
            Self::Loss => Some(SpreadWidth::LOSS),
            Self::Jain | Self::Reconvergence | Self::OffPriority => None,
        }
    }

    /// Whether it is a rate of the calls, shown and not judged in a case with the check `useful`.
    pub(super) const fn is_rate(self) -> bool {
        matches!(
            self,
            Self::Rate | Self::RateAfterEachStep | Self::RateBesideTransfers | Self::RateAgainstTcp
        )
    }

    /// Whether it requires a rate, a short wait or little loss, which the path may not allow to any sender.
    pub(super) const fn is_bound_by_physics(self) -> bool {
        self.is_rate() || matches!(self, Self::QueueWait | Self::Loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_but_two_is_a_formula() {
        let of_name = |[name, ..]: [String; 3]| serde_json::from_value(name.into()).unwrap();
        let all: Vec<Quantity> = quantities().into_iter().map(of_name).collect();
        let others: Vec<&Quantity> = all.iter().filter(|own| own.formula().is_none()).collect();
        assert_eq!(others, [&Quantity::RateAgainstTcp, &Quantity::Reconvergence]);
        assert_eq!(all.len(), FORMULAS.len() + others.len());
    }
}
