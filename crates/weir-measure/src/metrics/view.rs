//! The media that reach the viewer of a flow: of frames captured from a time on, the payload that arrives, the
//! useful part, and its delay.

use weir_units::TimeDelta;

use super::histogram::Histogram;

/// A frame complete this long after its capture is still useful in a conversation (ITU-T G.114's mouth-to-ear
/// limit).
pub(super) const USEFUL_WITHIN: TimeDelta = TimeDelta::from_millis(150);

/// Arrived payload of a flow's frames, of those captured from
/// [`MeasurePlan::viewed_from`](super::MeasurePlan::viewed_from) on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Payload bytes that arrived.
    pub payload_bytes: u64,
    /// Payload bytes of the frames that were complete within 150 ms of their capture.
    pub useful_bytes: u64,
    /// From capture to the arrival of the last packet, of the frames that were complete by the end of the run.
    pub frame_delay: Histogram,
    /// Packets of frames that arrived, whenever they were captured.
    pub packets: u64,
    /// Packets of frames that were lost, whenever they were captured.
    pub lost_packets: u64,
}

impl View {
    /// A frame of so many payload bytes is complete, so long after its capture.
    pub(super) fn completed(&mut self, bytes: u32, delay: TimeDelta) {
        self.frame_delay.record(delay);
        if delay <= USEFUL_WITHIN {
            self.useful_bytes += u64::from(bytes);
        }
    }
}
