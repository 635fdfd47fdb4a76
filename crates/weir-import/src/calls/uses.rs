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

const fn yes(extent: &'static str) -> CallUse {
    CallUse { possible: true, extent }
}

const fn no(extent: &'static str) -> CallUse {
    CallUse { possible: false, extent }
}

impl CallUses {
    /// The uses of `call`.
    pub fn of(call: &RecordedCall) -> Self {
        let made = call.source == RecordingSource::TwoCaptures || !call.has_feedback();
        let replay = match call.replay_obstacle() {
            Some(obstacle) => no(obstacle),
            None if made => yes("every controller, with feedback made of the arrivals"),
            None => yes("every controller"),
        };
        let has_arrivals = call.packets.arrived_us.iter().any(|arrived| arrived.is_known());
        let infer = if call.source == RecordingSource::Counters {
            yes("bounds, about")
        } else if call.packets.is_empty() {
            no("the recording has no packets, whose times the path follows from")
        } else if call.source == RecordingSource::EncryptedCapture {
            no("the capture is of one end, and has departures or arrivals")
        } else if !has_arrivals {
            no("the recording has no arrivals of packets")
        } else if call.has_departures() {
            yes("from departures and arrivals")
        } else {
            yes("from arrivals of the packets of a frame, which is weak")
        };
        let explain = yes(match call.source {
            RecordingSource::EventLogOfReceiver => "rate, loss, freezes",
            RecordingSource::ReadableRtp => "all but the decisions of the browser",
            RecordingSource::EncryptedCapture if has_arrivals => "rate, loss by gaps, stalls",
            RecordingSource::EncryptedCapture => "the rate alone, without loss and stalls",
            RecordingSource::TwoCaptures => "all but RTCP",
            RecordingSource::Counters => "coarse, once a second",
            RecordingSource::Table if call.packets.is_empty() => "coarse, once a second",
            RecordingSource::Table => "as far as the columns go",
            // An event log of the sender, and a run of Weir.
            _ => "full",
        });
        Self { replay, infer, explain }
    }
}

#[cfg(test)]
mod tests {
    use weir_world::recorded::{FeedbackReport, OptionalInteger, PacketRow};

    use super::*;

    /// The replay of a call with a packet of these times.
    fn replay_of(source: RecordingSource, change: impl Fn(&mut PacketRow), reports: u32) -> CallUse {
        let mut call = RecordedCall { source, ..RecordedCall::default() };
        let mut packet = PacketRow::default();
        change(&mut packet);
        call.packets.push(packet);
        for _ in 0..reports {
            call.feedback.push(FeedbackReport::default());
        }
        CallUses::of(&call).replay
    }

    #[test]
    fn a_replay_needs_a_departure_and_an_arrival_and_makes_feedback() {
        let known = OptionalInteger::new(0);
        let made = yes("every controller, with feedback made of the arrivals");
        let both = |packet: &mut PacketRow| (packet.sent_us, packet.arrived_us) = (known, known);
        // A run of Weir under a controller with reports of its own form.
        assert_eq!(replay_of(RecordingSource::Weir, both, 7), made);
        assert_eq!(replay_of(RecordingSource::EventLogOfReceiver, both, 0), made);
        let reported = |packet: &mut PacketRow| {
            both(packet);
            packet.reported_us = known;
        };
        assert_eq!(replay_of(RecordingSource::EventLogOfSender, reported, 1), yes("every controller"));
        let arrived = |packet: &mut PacketRow| packet.arrived_us = known;
        let lacking =
            |used: CallUse, part: &str| assert!(!used.possible && used.extent.contains(part), "{used:?}");
        lacking(replay_of(RecordingSource::EventLogOfReceiver, arrived, 0), "has no departures");
        let sent = |packet: &mut PacketRow| packet.sent_us = known;
        lacking(replay_of(RecordingSource::ReadableRtp, sent, 60), "give --extension-id transport-cc=ID");
        let numbered = |packet: &mut PacketRow| (packet.sent_us, packet.number) = (known, known);
        lacking(replay_of(RecordingSource::ReadableRtp, numbered, 60), "no packet is in a feedback report");
        lacking(replay_of(RecordingSource::ReadableRtp, sent, 0), "no feedback and no arrivals");
        lacking(replay_of(RecordingSource::EncryptedCapture, sent, 0), "encrypted");
        lacking(CallUses::of(&RecordedCall::default()).replay, "counters and no packets");
    }

    #[test]
    fn a_capture_of_the_sender_shows_its_rate_alone() {
        let explain = |row: PacketRow| {
            let mut call =
                RecordedCall { source: RecordingSource::EncryptedCapture, ..RecordedCall::default() };
            call.packets.push(row);
            CallUses::of(&call).explain.extent
        };
        let known = OptionalInteger::new(0);
        let sent = PacketRow { sent_us: known, ..PacketRow::default() };
        assert_eq!(explain(sent), "the rate alone, without loss and stalls");
        let arrived = PacketRow { arrived_us: known, ..PacketRow::default() };
        assert_eq!(explain(arrived), "rate, loss by gaps, stalls");
    }
}
