//! Configuration of the mechanism of a sender.

use weir_cc::{Burst, Ecn, Pacing, PacketFormat, RateLimits, Target};
use weir_units::{DataSize, TimeDelta};

use crate::config::{CountedBytes, MediaConfig};
use crate::detection::BottleneckDetection;
use crate::rtcp_interval::RtcpInterval;

/// Configuration of the mechanism; [`MediaConfig`] describes the fields.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, as in the public configurations")]
pub(crate) struct PathConfig {
    pub(crate) limits: RateLimits,
    pub(crate) rtcp_interval: RtcpInterval,
    pub(crate) ecn: Ecn,
    pub(crate) packet_format: PacketFormat,
    pub(crate) remb: bool,
    /// Whether per-packet reports are read although the controller does not use them.
    pub(crate) additional_reports: bool,
    pub(crate) detection: Option<BottleneckDetection>,
    pub(crate) leave_out: Option<u32>,
    pub(crate) counted: CountedBytes,
    pub(crate) pacer_lateness: TimeDelta,
    /// Whether video packets carry a frame marking.
    pub(crate) marks_frames: bool,
    /// Longest time in which the pacer empties its queue, whatever its rate (`None`: no limit).
    pub(crate) queue_limit: Option<TimeDelta>,
    /// Whether padding helps the source to its next layer.
    pub(crate) climbs: bool,
    /// Whether packets always wait, so that they leave at the target rate and in no burst.
    pub(crate) always_waits: bool,
    /// Whether probes are sent by a pacer of the embedder.
    pub(crate) foreign_pacer: bool,
    /// Time between two frames.
    pub(crate) frame_interval: TimeDelta,
    /// Whether media stops where RFC 8083 requires it.
    pub(crate) stops_media: bool,
}

impl PathConfig {
    /// The part of `config` that concerns the mechanism.
    pub(crate) fn of(config: &MediaConfig) -> Self {
        Self {
            limits: config.limits,
            rtcp_interval: RtcpInterval::of(config),
            ecn: config.ecn,
            packet_format: config.packet_format,
            remb: config.remb,
            additional_reports: config.additional_reports.is_some(),
            detection: config.detection,
            leave_out: config.leave_out,
            counted: config.counted,
            pacer_lateness: config.pacer_lateness,
            marks_frames: config.key_frame_requests.is_some(),
            queue_limit: config.chromium.and_then(|chromium| chromium.queue_limit),
            climbs: config.climb && config.encoder.has_layers(),
            always_waits: false,
            foreign_pacer: false,
            frame_interval: TimeDelta::from_secs_f64(1.0 / config.encoder.frame_rate),
            stops_media: config.breakers,
        }
    }

    /// Whether reports name packets by stream and sequence number.
    pub(crate) fn names_packets_by_stream(&self) -> bool {
        self.packet_format == PacketFormat::Rfc8888
    }

    /// `target` with the pace that holds while `queued` waits: one that empties the queue within its limit, and the
    /// target rate where packets always wait.
    pub(crate) fn paced(&self, target: &Target, queued: DataSize) -> Target {
        let Pacing::Factor(factor) = target.pacing else { return *target };
        if self.always_waits {
            return Target { pacing: Pacing::Factor(factor.min(1.0)), burst: Burst::NONE, ..*target };
        }
        let Some(limit) = self.queue_limit else { return *target };
        let needed = queued / limit;
        let faster = needed > target.sending_rate.scale(factor);
        Target { pacing: if faster { Pacing::Exact(needed) } else { target.pacing }, ..*target }
    }
}
