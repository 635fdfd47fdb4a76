//! Frames at the viewers of a run, compared with those of the omniscient sender.

use serde::{Deserialize, Serialize};
use weir_measure::metrics::{MeasurePlan, Measured, View};
use weir_measure::results::Value;

/// Part of a flow's payload that the omniscient sender has to deliver in time. Below it the check does not apply, as so
/// little is due to chance.
const LEAST_USEFUL_SHARE: f64 = 0.25;

/// Result of a flow at its viewer, over the frames captured in the counted time of the case; zero for a flow without
/// frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::suite) struct Served {
    /// Payload bytes.
    pub(super) payload_bytes: u64,
    /// Payload bytes of frames that were complete within 150 ms.
    pub(super) useful_bytes: u64,
    /// 95th percentile from capture to the arrival of the last packet, in ms.
    pub(super) frame_delay_ms: Value,
}

/// Result of each flow of a run at its viewer; zero for a flow that is not judged.
pub(in crate::suite) fn served(plan: &MeasurePlan, measured: &Measured) -> Vec<Served> {
    let flows = plan.flows.iter().zip(&measured.views);
    flows.map(|(flow, view)| if flow.is_judged() { Served::of(view) } else { Served::default() }).collect()
}

impl Served {
    pub(super) fn of(view: &View) -> Self {
        let View { payload_bytes, useful_bytes, ref frame_delay, .. } = *view;
        Self { payload_bytes, useful_bytes, frame_delay_ms: frame_delay.quantile_ms(0.95) }
    }

    /// Whether there were any frames.
    pub(in crate::suite) fn has_frames(&self) -> bool {
        self.payload_bytes > 0
    }

    /// Whether checks apply that compare with this flow of the omniscient sender.
    fn is_applicable(&self) -> bool {
        self.useful_bytes > 0 && self.useful_bytes as f64 >= LEAST_USEFUL_SHARE * self.payload_bytes as f64
    }
}

/// Useful payload bytes of all flows.
pub(in crate::suite) fn useful_bytes(served: &[Served]) -> u64 {
    served.iter().map(|served_flow| served_flow.useful_bytes).sum()
}

/// 95th percentile from capture to the arrival of the last packet, in ms, of the worst flow.
pub(in crate::suite) fn worst_frame_delay(served: &[Served]) -> Value {
    served.iter().filter_map(|served_flow| served_flow.frame_delay_ms).reduce(f64::max)
}

/// Whether the comparison with the omniscient sender applies to any flow.
pub(in crate::suite) fn is_applicable(omniscient: &[Served]) -> bool {
    omniscient.iter().any(Served::is_applicable)
}
