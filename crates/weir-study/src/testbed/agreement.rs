//! Real runs beside simulated ones of the same seed.

use schemars::JsonSchema;
use serde::Serialize;
use weir_measure::results::spread::SpreadWidth;
use weir_measure::results::{FlowKind, FlowMeasures, RunMetrics, Value};

/// The result for a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Agreement {
    /// The real value is within the widened range of the simulated ones.
    Agrees,
    /// The real value is outside of that range.
    Differs,
    /// The simulated values themselves are wide: one run concludes nothing.
    Spread,
}

impl Agreement {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Spread => "spread",
        }
    }
}

/// A quantity of a flow that is compared.
#[derive(Clone, Copy, Debug)]
struct ComparedQuantity {
    name: &'static str,
    of: fn(&FlowMeasures<Value>) -> Value,
    /// Widening of the range for media alone, for media beside TCP, and for TCP: a share of the bound, and an amount.
    widening: [(f64, f64); 3],
    /// Width of the simulated range from which on it is a spread.
    spread: SpreadWidth,
}

const RATE: ComparedQuantity = ComparedQuantity {
    name: "rate (kbit/s)",
    of: |flow| flow.rate_bps.map(|bps| bps / 1e3),
    widening: [(0.03, 0.0), (0.05, 0.0), (0.005, 0.0)],
    spread: SpreadWidth::RATE,
};
const MEDIAN_WAIT: ComparedQuantity = ComparedQuantity {
    name: "wait p50 (ms)",
    of: |flow| flow.queue_wait_ms.p50,
    widening: [(0.1, 1.5), (0.1, 1.5), (0.1, 1.5)],
    spread: SpreadWidth::WAIT,
};
const HIGH_WAIT: ComparedQuantity = ComparedQuantity {
    name: "wait p95 (ms)",
    of: |flow| flow.queue_wait_ms.p95,
    widening: [(0.15, 1.5), (0.15, 1.5), (0.15, 1.5)],
    spread: SpreadWidth::WAIT,
};
const MEAN_WAIT: ComparedQuantity = ComparedQuantity {
    name: "mean wait (ms)",
    of: |flow| flow.queue_wait_ms.mean,
    widening: [(0.1, 1.5), (0.1, 1.5), (0.03, 0.0)],
    spread: SpreadWidth::WAIT,
};
const LOSS: ComparedQuantity = ComparedQuantity {
    name: "loss (%)",
    of: |flow| flow.packet_loss_ratio.map(|ratio| 100.0 * ratio),
    widening: [(0.0, 0.3), (0.0, 0.3), (0.0, 0.05)],
    spread: SpreadWidth::LOSS,
};

/// A quantity of a flow, real and simulated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// Name of the flow.
    pub flow: String,
    /// The quantity, with its unit.
    pub quantity: &'static str,
    /// The real value.
    pub real: f64,
    /// The least, the median and the largest simulated value.
    pub simulated: [f64; 3],
    /// All simulated values, in ascending order.
    pub values: Vec<f64>,
    /// The range within which the real value agrees.
    pub allowed: [f64; 2],
    /// The result.
    pub agreement: Agreement,
}

/// Compares the flows of a real run with those of simulated runs of the same seed.
pub fn compare(real: &RunMetrics, simulated: &[RunMetrics]) -> Vec<Compared> {
    let beside_tcp = real.flows.iter().any(|flow| matches!(flow.kind, FlowKind::Tcp | FlowKind::Downloads));
    let mut compared = Vec::new();
    for (index, flow) in real.flows.iter().enumerate() {
        let (class, quantities): (usize, &[ComparedQuantity]) = match flow.kind {
            FlowKind::Tcp => (2, &[RATE, MEAN_WAIT, LOSS]),
            FlowKind::Media if beside_tcp => (1, &[RATE, MEDIAN_WAIT, HIGH_WAIT, LOSS]),
            FlowKind::Media => (0, &[RATE, MEDIAN_WAIT, HIGH_WAIT, LOSS]),
            _ => continue,
        };
        for quantity in quantities {
            let values = simulated.iter().filter_map(|run| (quantity.of)(run.flows.get(index)?));
            let mut values: Vec<f64> = values.collect();
            values.sort_by(f64::total_cmp);
            let (Some(real), false) = ((quantity.of)(flow), values.is_empty()) else { continue };
            compared.push(judge(flow.name.clone(), quantity, class, real, &values));
        }
    }
    compared
}

/// Judges a real value against the sorted values of simulated runs.
fn judge(flow: String, quantity: &ComparedQuantity, class: usize, real: f64, sorted: &[f64]) -> Compared {
    let [least, median, most] = [0, sorted.len() / 2, sorted.len() - 1].map(|place| sorted[place]);
    let (share, amount) = quantity.widening[class];
    let allowed = [least - (share * least).max(amount), most + (share * most).max(amount)];
    let agreement = if quantity.spread.ends(sorted).is_some() {
        Agreement::Spread
    } else if (allowed[0]..=allowed[1]).contains(&real) {
        Agreement::Agrees
    } else {
        Agreement::Differs
    };
    let (quantity, simulated, values) = (quantity.name, [least, median, most], sorted.to_vec());
    Compared { flow, quantity, real, simulated, values, allowed, agreement }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(quantity: &ComparedQuantity, class: usize, real: f64, simulated: &[f64]) -> Agreement {
        judge("video".to_owned(), quantity, class, real, simulated).agreement
    }

    #[test]
    fn a_rate_agrees_up_to_three_per_cent_outside_of_the_range() {
        let simulated = [900.0, 950.0, 1000.0];
        assert_eq!(verdict(&RATE, 0, 1029.0, &simulated), Agreement::Agrees);
        assert_eq!(verdict(&RATE, 0, 1031.0, &simulated), Agreement::Differs);
        assert_eq!(verdict(&RATE, 0, 874.0, &simulated), Agreement::Agrees);
        assert_eq!(verdict(&RATE, 0, 872.0, &simulated), Agreement::Differs);
        // Beside TCP 5 %.
        assert_eq!(verdict(&RATE, 1, 1049.0, &simulated), Agreement::Agrees);
    }

    #[test]
    fn a_wide_range_concludes_nothing() {
        let two_states = [641.0, 667.0, 1962.0, 2155.0];
        assert_eq!(verdict(&RATE, 1, 1200.0, &two_states), Agreement::Spread);
        assert_eq!(verdict(&RATE, 1, 9000.0, &two_states), Agreement::Spread);
        assert_eq!(verdict(&HIGH_WAIT, 0, 250.0, &[240.0, 250.0, 261.0]), Agreement::Spread);
        assert_eq!(verdict(&LOSS, 0, 0.1, &[0.0, 0.1, 0.2]), Agreement::Agrees);
    }

    #[test]
    fn a_short_wait_has_a_margin_in_milliseconds() {
        assert_eq!(verdict(&MEDIAN_WAIT, 0, 3.4, &[2.0, 2.0, 2.0]), Agreement::Agrees);
        assert_eq!(verdict(&MEDIAN_WAIT, 0, 3.6, &[2.0, 2.0, 2.0]), Agreement::Differs);
    }
}
