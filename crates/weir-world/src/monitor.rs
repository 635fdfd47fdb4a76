//! Observation of a run. The world that runs it calls a [`Monitor`] at each event; metrics are the caller's.

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage, Refusal};
use weir_cc::{Controller, Decision, Ecn, Target};
use weir_media::{Breaker, MediaPacket};
use weir_net::{DropReason, Time};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::media::MediaHeader;

use crate::flow::Side;
use crate::wire::WirePacket;

/// Metadata of a packet for measurements, which the packet itself does not carry on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Departure from its sender (true time).
    pub sent_at: Time,
    /// Waiting time in bottleneck queues so far, without its own serialisation.
    pub wait: TimeDelta,
    /// Bytes on the wire, headers of all layers included.
    pub wire_size: u32,
    /// Bytes of media or application data.
    pub payload: u32,
    /// For media: the frame it belongs to, counted from 0 per flow; [`PacketMeta::NO_FRAME`] otherwise.
    pub frame: u32,
    /// Whether it is feedback (RTCP, acknowledgements, handshake) and not data.
    pub control: bool,
}

impl PacketMeta {
    /// The frame number of packets that carry no frame.
    pub const NO_FRAME: u32 = u32::MAX;
}

/// A frame as the encoder passed it to the packetiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMeta {
    /// Its number in the flow, from 0.
    pub number: u32,
    /// Packets it was split into; 0 for a frame that was skipped, whose number is that of the next.
    pub packets: u16,
    /// Payload bytes.
    pub bytes: u32,
    /// Whether it is a key frame.
    pub key: bool,
}

/// A transfer that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferMeta {
    /// Time at which its connection was opened, or the request for it was sent.
    pub started: Time,
    /// Its bytes.
    pub size: DataSize,
}

/// Cause of a packet loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Dropped by the queue: full, or to signal congestion.
    Queue(DropReason),
    /// Random loss of the link, after the queue.
    Random,
}

/// Observer of a run. Flows and links are given by their index in the spec. All methods do nothing unless implemented.
pub trait Monitor {
    /// Whether [`Self::signals`] should be called at all; reading signals costs time.
    fn wants_signals(&self) -> bool {
        false
    }

    /// Whether [`Self::packet`] should be called at all; putting a packet together costs time.
    fn wants_packets(&self) -> bool {
        false
    }

    /// Whether [`Self::rtp_sent`], [`Self::rtp_arrived`] and [`Self::rtcp_arrived`] should be called at all.
    fn wants_rtp(&self) -> bool {
        false
    }

    /// Whether [`Self::link_enter`] should be called at all; asking a queue for its length costs time.
    fn wants_queues(&self) -> bool {
        false
    }

    /// A packet came to a bottleneck that is in no cell, and was taken or, with a full queue, refused. `_found` is the
    /// number of other packets there whose last bit had not left, the one in service included.
    fn link_enter(&mut self, _now: Time, _link: usize, _found: u32, _taken: bool) {}

    /// A packet came out at the far end of a link, in full: with its present marks, that link's included.
    fn packet(&mut self, _now: Time, _link: usize, _packet: &WirePacket<'_>) {}

    /// A packet left its host.
    fn sent(&mut self, _now: Time, _flow: usize, _packet: &PacketMeta) {}

    /// A packet of a media flow left its host.
    fn rtp_sent(&mut self, _now: Time, _flow: usize, _packet: &MediaPacket) {}

    /// A packet of a media flow reached its host with this ECN field.
    fn rtp_arrived(&mut self, _now: Time, _flow: usize, _header: &MediaHeader, _ecn: Ecn) {}

    /// RTCP of a media flow reached the host at its end `_at`.
    fn rtcp_arrived(&mut self, _now: Time, _flow: usize, _at: Side, _bytes: &[u8]) {}

    /// A packet reached the host at the other end.
    fn delivered(&mut self, _now: Time, _flow: usize, _packet: &PacketMeta) {}

    /// A packet was lost on a link.
    fn dropped(&mut self, _now: Time, _flow: usize, _link: usize, _packet: &PacketMeta, _loss: Loss) {}

    /// A packet came out at the far end of a link after `_wait` in its queue.
    fn link_exit(&mut self, _now: Time, _link: usize, _wire_size: u32, _wait: TimeDelta) {}

    /// The encoder made or skipped a frame; its capture time is `now`.
    fn frame(&mut self, _now: Time, _flow: usize, _frame: &FrameMeta) {}

    /// The sender measured a round-trip time.
    fn rtt(&mut self, _now: Time, _flow: usize, _rtt: TimeDelta) {}

    /// The controller's target after a change; also once at the flow's start.
    fn target(&mut self, _now: Time, _flow: usize, _target: &Target) {}

    /// A flow's controller has made a decision; the controller is in the state after it.
    fn decided(&mut self, _now: Time, _flow: usize, _decision: &Decision, _controller: &dyn Controller) {}

    /// A flow's controller has taken the rate that coupling allocated to it; the controller is in the state after that.
    fn allocated(&mut self, _now: Time, _flow: usize, _rate: DataRate, _controller: &dyn Controller) {}

    /// A circuit breaker has stopped the flow's media.
    fn stopped(&mut self, _now: Time, _flow: usize, _by: &Breaker) {}

    /// The signals of a controller or of a TCP sender, in the order of its `signals()`, after each input that may
    /// change them.
    fn signals(&mut self, _now: Time, _flow: usize, _side: Side, _values: &[f64]) {}

    /// A flow's host sent a message to its coupler, which took it, or refused it for a reason.
    fn coupling_message(
        &mut self,
        _now: Time,
        _flow: usize,
        _message: &CouplingMessage,
        _refused: Option<Refusal>,
    ) {
    }

    /// An action of the coupler has reached a flow's host, with the aggregate of its group at the time of the action.
    fn coupler_action(
        &mut self,
        _now: Time,
        _flow: usize,
        _action: &CouplerAction,
        _aggregate: Option<Aggregate>,
    ) {
    }

    /// A finite transfer is complete: all of it is acknowledged.
    fn completed(&mut self, _now: Time, _flow: usize) {}

    /// A transfer of the flow, also its only one, is complete: all of it is acknowledged.
    fn transferred(&mut self, _now: Time, _flow: usize, _transfer: &TransferMeta) {}
}

/// Monitor that observes no event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Monitor for Unwatched {}
