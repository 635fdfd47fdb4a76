//! What is news to the parts that go by the target.

use weir_units::{DataRate, TimeDelta};

use super::target::TargetRate;
use crate::gcc::blocks::loss_based_v2::LossState;
use crate::gcc::blocks::push_back::PushBack;

/// What was told last: the same again is no news (libwebrtc's `MaybeTriggerOnNetworkChanged`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Announced {
    target: DataRate,
    allowed: DataRate,
    loss_ratio: f64,
    loss_state: LossState,
    rtt: TimeDelta,
}

impl Announced {
    pub(super) fn new(target: &TargetRate, push_back: &PushBack) -> Self {
        let rate = target.rate();
        Self {
            target: DataRate::from_bps_f64(rate),
            allowed: DataRate::from_bps_f64(push_back.allowed(rate, 0.0)),
            loss_ratio: target.v1().loss_ratio(),
            loss_state: target.loss_state(),
            rtt: target.rtt(),
        }
    }
}
