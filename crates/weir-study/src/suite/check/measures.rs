//! Measurements of a run that the formulas of named quantities read: `run:judged.counted.*.bits`.
//!
//! Each section below `judged` is a list with an item for each media flow under the candidate, unless stated otherwise.
//!
//! | section | items |
//! |---|---|
//! | `counted` | bits over the counted time of the case, and those that the flow's share allows |
//! | `before` | the same from 20 s on until the counted time |
//! | `stretches` | the same, for each flow and each stretch of the counted time without a change of capacity |
//! | `last` | the same over the last 30 s in which all of them are active |
//! | `beside_transfers` | the same over the counted time, with a part of what other traffic left as the share |
//! | `adaptive` | the same over the counted time, of all media and TCP flows |
//! | `neighbours` | the same over the counted time, of the other media and TCP flows |
//! | `flows` | packets, frame delay and priority of each flow |
//! | `frames` | frames at the viewer of each flow, captured in the counted time |
//! | `settled` | waits of the packets of all of them in the time in which the queue counts; a single item |

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use weir_measure::results::Value;

/// Key of the sections among the results of a run.
const JUDGED: &str = "judged";

/// Bits that a flow received, and bits that its share allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct RateOfShare {
    /// Bits received while it was active: for media the payload of frames, for others all bits.
    pub(super) bits: f64,
    /// Bits that its share allows; absent if that is nothing or has no bound.
    pub(super) share_bits: Value,
}

/// Packets, frame delay and priority of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct FlowMeasure {
    /// Packets of frames sent whose fate is known.
    pub(super) packets: u64,
    /// Packets of them that were lost.
    pub(super) lost_packets: u64,
    /// 99th percentile over frames from capture to the last packet's arrival, in ms.
    pub(super) frame_delay_p99_ms: Value,
    /// Payload bits received in the last 30 s in which all of the flows are active.
    pub(super) last_bits: f64,
    /// Priority.
    pub(super) weight: f64,
}

/// Waits of the packets of all flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct SettledWaits {
    /// 95th percentile, in ms.
    pub(super) wait_p95_ms: Value,
}

/// Adds to `results` the sections that `paths` name, each by `section`.
pub(super) fn add_sections(
    results: &mut Json,
    paths: &BTreeSet<String>,
    section: impl Fn(&str) -> serde_json::Result<Json>,
) -> serde_json::Result<()> {
    let below =
        |path: &'_ String| Some(path.strip_prefix(JUDGED)?.strip_prefix('.')?.split('.').next()?.to_owned());
    let names: BTreeSet<String> = paths.iter().filter_map(below).collect();
    if names.is_empty() {
        return Ok(());
    }
    let sections = names.into_iter().map(|name| Ok((name.clone(), section(&name)?)));
    results[JUDGED] = Json::Object(sections.collect::<serde_json::Result<Map<String, Json>>>()?);
    Ok(())
}
