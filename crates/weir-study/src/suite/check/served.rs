//! Frames at the viewers of a run, compared with those of the omniscient sender.

use serde::{Deserialize, Serialize};
use weir_measure::metrics::{MeasurePlan, Measured, View};
use weir_measure::results::Value;

/// Part of a flow's payload that the omniscient sender has to deliver in time. Below it the check does not apply, as so
/// little is due to chance.
const ASKED_FROM: f64 = 0.25;

/// Result of a flow at its viewer, over the frames captured in the counted time of the case; zero for a flow without
/// frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::suite) struct Served {
    /// Payload bytes.
    payload: u64,
    /// Payload bytes of frames that were complete within 150 ms.
    useful: u64,
    /// 95th percentile from capture to the arrival of the last packet, in ms.
    frame_delay: Value,
}

/// Result of each flow of a run at its viewer; zero for a flow that is not judged.
pub(in crate::suite) fn served(plan: &MeasurePlan, measured: &Measured) -> Vec<Served> {
    let flows = plan.flows.iter().zip(&measured.views);
    flows.map(|(flow, view)| if flow.is_judged() { Served::of(view) } else { Served::default() }).collect()
}

impl Served {
    fn of(view: &View) -> Self {
        let View { payload_bytes: payload, useful_bytes: useful, ref frame_delay, .. } = *view;
        Self { payload, useful, frame_delay: frame_delay.quantile_ms(0.95) }
    }

    /// Whether there were any frames.
    pub(in crate::suite) fn has_frames(&self) -> bool {
        self.payload > 0
    }

    /// Whether checks apply that compare with this flow of the omniscient sender.
    fn is_applicable(&self) -> bool {
        self.useful > 0 && self.useful as f64 >= ASKED_FROM * self.payload as f64
    }
}

/// Useful payload bytes of all flows.
pub(in crate::suite) fn useful_bytes(served: &[Served]) -> u64 {
    served.iter().map(|served_flow| served_flow.useful).sum()
}

/// 95th percentile from capture to the arrival of the last packet, in ms, of the worst flow.
pub(in crate::suite) fn worst_frame_delay(served: &[Served]) -> Value {
    served.iter().filter_map(|served_flow| served_flow.frame_delay).reduce(f64::max)
}

/// Whether the comparison with the omniscient sender applies to any flow.
pub(in crate::suite) fn is_applicable(omniscient: &[Served]) -> bool {
    omniscient.iter().any(Served::is_applicable)
}

/// Least ratio, in per cent, of useful bytes to the omniscient sender's, over the flows to which the check applies.
pub(in crate::suite) fn least_useful(judged: &[Served], omniscient: &[Served]) -> Value {
    let applicable = judged.iter().zip(omniscient).filter(|(_, omniscient)| omniscient.is_applicable());
    applicable
        .map(|(judged, omniscient)| 100.0 * judged.useful as f64 / omniscient.useful as f64)
        .reduce(f64::min)
}

/// Largest excess of the frame delay over the omniscient sender's, in ms, or `None` if a flow lacks a frame delay to
/// compare.
pub(in crate::suite) fn excess_delay(judged: &[Served], omniscient: &[Served]) -> Value {
    let compared = judged.iter().zip(omniscient).filter(|(_, omniscient)| omniscient.frame_delay.is_some());
    let excesses = compared.map(|(judged, omniscient)| Some(judged.frame_delay? - omniscient.frame_delay?));
    excesses.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(payload: u64, useful: u64, frame_delay: f64) -> Served {
        Served { payload, useful, frame_delay: Some(frame_delay) }
    }

    /// Result of a flow without frames.
    const NOTHING: Served = Served { payload: 0, useful: 0, frame_delay: None };

    #[test]
    fn the_flow_that_has_least_of_what_could_have_been_counts() {
        let omniscient = [served(1000, 900, 50.0), NOTHING, served(1000, 400, 300.0)];
        let judged = [served(900, 720, 70.0), NOTHING, served(2000, 240, 480.0)];
        // 720 of 900, and 240 of 400; 20 ms more, and 180.
        assert_eq!(least_useful(&judged, &omniscient), Some(60.0));
        assert_eq!(excess_delay(&judged, &omniscient), Some(180.0));
        assert_eq!(least_useful(&omniscient, &omniscient), Some(100.0));
    }

    #[test]
    fn a_flow_that_no_controller_can_serve_in_time_is_not_judged() {
        let hardly = served(1000, 249, 400.0);
        assert!(!is_applicable(&[hardly, NOTHING]) && is_applicable(&[hardly, served(1000, 250, 400.0)]));
        assert_eq!(least_useful(&[served(1000, 0, 0.0)], &[hardly]), None);
        let one = [served(1000, 10, 410.0), served(1000, 500, 100.0)];
        assert_eq!(least_useful(&one, &[hardly, served(1000, 1000, 100.0)]), Some(50.0));
        assert_eq!(
            excess_delay(&one, &[hardly, served(1000, 1000, 100.0)]),
            Some(10.0),
            "it is asked of all"
        );
    }

    #[test]
    fn a_flow_without_a_complete_frame_has_no_frame_delay() {
        assert_eq!(excess_delay(&[NOTHING], &[served(1000, 900, 50.0)]), None);
        assert_eq!(least_useful(&[NOTHING], &[served(1000, 900, 50.0)]), Some(0.0));
    }
}
