//! The media that reached the viewer of a flow, for frames captured from a given time on: their payload, the useful
//! part of it, and its delay.

use weir_units::TimeDelta;

use super::histogram::Histogram;

/// Delay from the capture up to which a frame is useful in a conversation (ITU-T G.114's mouth-to-ear limit).
pub(super) const USEFUL_WITHIN: TimeDelta = TimeDelta::from_millis(150);

/// Received payload of a flow's frames, of those captured from
/// [`MeasurePlan::viewed_from`](super::MeasurePlan::viewed_from) on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Payload bytes that arrived.
    pub payload_bytes: u64,
    /// Payload bytes of the frames that were complete within 150 ms of their capture.
    pub useful_bytes: u64,
    /// Delay from capture to the arrival of the last packet, of the frames that were complete by the end of the run.
    pub frame_delay: Histogram,
    /// Number of packets of frames that arrived, whatever the time of capture.
    pub packets: u64,
    /// Number of packets of frames that were lost, whatever the time of capture.
    pub lost_packets: u64,
}

impl View {
    /// Counts a complete frame of `bytes` bytes of payload and with `delay` from its capture.
    pub(super) fn completed(&mut self, bytes: u32, delay: TimeDelta) {
        self.frame_delay.record(delay);
        if delay <= USEFUL_WITHIN {
            self.useful_bytes += u64::from(bytes);
        }
    }
}
