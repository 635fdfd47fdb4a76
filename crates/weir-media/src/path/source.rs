//! The packets of a sender as its mechanism sees them.

use weir_cc::{Feedback, Probe, SendTime, StreamsConfig, Target};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::Nack;

use crate::climb::NextLayer;
use crate::timer::SenderTimer;

/// A source of packets, with its queue.
pub(crate) trait PacketSource {
    /// The sender starts.
    fn start(&mut self, now: SendTime);

    /// The sender pauses; [`Self::clear`] follows.
    fn pause(&mut self);

    /// The sender, which started at `started`, goes on after a pause.
    fn resume(&mut self, now: SendTime, started: SendTime);

    /// Waiting packets are dropped.
    fn clear(&mut self);

    /// Drops waiting packets whose time has passed. Returns whether there were any.
    fn expire(&mut self, _now: SendTime) -> bool {
        false
    }

    /// Two timers of the source; [`SendTime::MAX`] where there is none.
    fn timers(&self) -> [(SendTime, SenderTimer); 2];

    /// Payload of the paced packet that leaves next.
    fn next_payload(&self) -> Option<u16>;

    /// Payload of a packet of padding, if there can be any.
    fn padding_payload(&self) -> Option<u16>;

    /// Payload bytes that wait in front of the pacer.
    fn queued(&self) -> DataSize;

    /// Whether the source sends less than `target`.
    fn is_application_limited(&self, target: &Target) -> bool;

    /// The layer that the source switches on next, if one is off.
    fn next_layer(&self, _target: &Target) -> Option<NextLayer> {
        None
    }

    /// The streams as the controller gets them.
    fn streams(&self) -> StreamsConfig;

    /// A new target holds, or the old one was confirmed. At most `held` may be used of it while the next layer stays off.
    fn on_target(&mut self, now: SendTime, target: &Target, held: Option<DataRate>);

    /// The controller requests a probe, which the embedder's own pacer sends.
    fn on_probe(&mut self, _probe: Probe) {}

    /// Feedback on packets, before the controller gets it.
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}

    /// A round-trip time was measured.
    fn on_round_trip(&mut self, rtt: TimeDelta);

    /// The receiver requests a key frame of the stream at `stream`.
    fn on_key_frame_request(&mut self, stream: usize);

    /// The receiver lacks packets of the stream at `stream`.
    fn on_packet_request(&mut self, now: SendTime, stream: usize, request: &Nack<'_>, target: &Target);
}
