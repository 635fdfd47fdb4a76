//! Messages to the page, as JSON.

use serde_json::{Value, json};
use weir_call::controller::ControllerChoice;
use weir_call::path::PathSettings;
use weir_call::session::DecisionRow;
use weir_call::status::CallStatus;

use crate::refusals::RefusalCounts;

fn kbps(rate: weir_units::DataRate) -> f64 {
    rate.bps_f64() / 1e3
}

/// The first message to a page.
pub(crate) fn hello(
    choices: &[ControllerChoice],
    present: &ControllerChoice,
    path: &PathSettings,
    on_loopback: bool,
) -> Value {
    let controllers: Vec<Value> = choices
        .iter()
        .map(|choice| json!({ "name": choice.name, "summary": choice.summary, "remark": choice.remark() }))
        .collect();
    json!({ "hello": {
        "controllers": controllers,
        "controller": present.name,
        "path": settings(path),
        "loopback": on_loopback,
    } })
}

/// The settings of the path.
pub(crate) fn settings(path: &PathSettings) -> Value {
    json!({
        "capacity_kbps": kbps(path.capacity),
        "delay_ms": path.delay.millis_f64(),
        "queue_ms": path.queue.millis_f64(),
        "loss_percent": path.loss * 100.0,
        "cross_kbps": kbps(path.cross),
    })
}

/// The answer to an offer.
pub(crate) fn answer(sdp: &str) -> Value {
    json!({ "answer": sdp })
}

/// A sentence about something refused.
pub(crate) fn error(sentence: &str) -> Value {
    json!({ "error": sentence })
}

/// Whether video flows.
pub(crate) fn connection(flows: bool) -> Value {
    json!({ "connected": flows })
}

/// A decision with its reason.
pub(crate) fn decision(row: &DecisionRow) -> Value {
    json!({ "decision": {
        "number": row.number,
        "t": (row.at - weir_cc::SendTime::ZERO).secs_f64(),
        "from_kbps": kbps(row.from),
        "to_kbps": kbps(row.to),
        "why": row.why.name(),
        "evidence": row.evidence.iter().map(|evidence| json!({
            "name": evidence.name,
            "unit": evidence.unit,
            "value": evidence.value,
            "threshold": evidence.threshold,
        })).collect::<Vec<_>>(),
    } })
}

/// The figures of the call, and the settings of the path.
pub(crate) fn status(status: &CallStatus, path: &PathSettings, refusals: &RefusalCounts) -> Value {
    json!({ "status": {
        "t": status.at.secs_f64(),
        "target_kbps": status.target.map(|(rate, _)| kbps(rate)),
        "limit": status.target.map(|(_, limit)| limit.name()),
        "limit_meaning": status.target.map(|(_, limit)| limit.meaning()),
        "sent_kbps": kbps(status.sent),
        "arrived_kbps": kbps(status.arrived),
        "frame_delay_ms": status.frame_delay.map(weir_units::TimeDelta::millis_f64),
        "queue_ms": status.queue.millis_f64(),
        "dropped": status.counts.dropped,
        "lost": status.counts.lost,
        "retransmissions": status.retransmissions,
        "key_frame_requests": status.key_frame_requests,
        "refused": refusals.total(),
        "path": settings(path),
    } })
}

/// The sentence to a page that is not admitted.
pub(crate) fn refused(sentence: &str) -> Value {
    json!({ "refused": sentence })
}
