//! Uses of a recorded call, by its source.

use weir_world::RecordedCall;
use weir_world::recorded::RecordingSource;

/// A use of a recorded call, and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallUse {
    /// Whether the call can be used so.
    pub possible: bool,
    /// The extent, or the reason why not.
    pub extent: &'static str,
}

/// The uses of a recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallUses {
    /// Controllers run on its feedback.
    pub replay: CallUse,
    /// The path behind it.
    pub infer: CallUse,
    /// Its rate, delay and freezes, with their causes.
    pub explain: CallUse,
}

/// Why counters give neither feedback nor a path.
const UNTIMED: &str = "counters have no times of packets";

const fn yes(extent: &'static str) -> CallUse {
    CallUse { possible: true, extent }
}

const fn no(extent: &'static str) -> CallUse {
    CallUse { possible: false, extent }
}

impl CallUses {
    /// The uses of `call`.
    pub fn of(call: &RecordedCall) -> Self {
        let by_feedback = |extent| {
            if call.has_departures() && call.has_feedback() {
                yes(extent)
            } else if call.source == RecordingSource::ReadableRtp {
                no(
                    "no packet is in a feedback report; where it is transport-wide, give --extension-id transport-cc=ID",
                )
            } else {
                no("the recording has no per-packet feedback")
            }
        };
        let by_arrivals = |extent| {
            let arrived = call.packets.arrived_us.iter().any(|arrived| arrived.is_known());
            if arrived && call.has_departures() {
                yes(extent)
            } else {
                no("the recording has no departures with arrivals")
            }
        };
        let (replay, infer, explain) = match call.source {
            RecordingSource::EventLogOfReceiver => (
                yes("every controller, with feedback made of the arrivals"),
                yes("from arrivals of the packets of a frame, which is weak"),
                yes("rate, loss, freezes"),
            ),
            RecordingSource::ReadableRtp => (
                by_feedback("every controller"),
                by_arrivals("from departures and arrivals"),
                yes("all but the decisions of the browser"),
            ),
            RecordingSource::EncryptedCapture => (
                no("RTCP of the capture is encrypted, and so there is no feedback"),
                no("the capture is of one end, and has departures or arrivals"),
                yes("rate, loss by gaps, stalls"),
            ),
            RecordingSource::TwoCaptures => (
                by_feedback("every controller, with feedback made of the arrivals"),
                by_arrivals("from departures and arrivals"),
                yes("all but RTCP"),
            ),
            RecordingSource::Counters => (no(UNTIMED), no(UNTIMED), yes("coarse, once a second")),
            RecordingSource::Table => (
                by_feedback("every controller, as far as the columns go"),
                by_arrivals("as far as the columns go"),
                yes("as far as the columns go"),
            ),
            // An event log of the sender, and a run of Weir.
            _ => (by_feedback("every controller"), by_arrivals("from departures and arrivals"), yes("full")),
        };
        Self { replay, infer, explain }
    }
}
