//! A recorded call: packets, feedback and decisions of one call, as columns of plain numbers.
//!
//! The form is the same for recordings of simulated and real runs, of browsers, and of captures. A source fills the
//! tables for which it has data; the others stay empty. No address, name or other text of a recording enters it, and
//! source identifiers become 1, 2, 3.
//!
//! Times are microseconds. `sent_us`, `reported_us` and all `time_us` are of the recording end's clock and count from its first event.
//! `arrived_us` may be of another clock, whose offset is unknown: see [`ArrivalClock`].

mod builder;
mod check;
mod monitor;
mod remarks;
mod rtcp;
mod rtcp_state;
mod skew;
mod table;
mod tables;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use builder::{CallBuilder, RtpDeparture};
pub use check::MalformedCall;
pub use monitor::CallMonitor;
pub use remarks::RemarkSentence;
pub use skew::skew;
pub use table::OptionalInteger;
pub use tables::{
    ApplicationLimit, ApplicationLimits, DecodedFrame, DecodedFrames, DelayEstimate, DelayEstimates,
    FeedbackReport, FeedbackReports, KeyFrameRequest, KeyFrameRequests, LossEstimate, LossEstimates, Nack,
    Nacks, PacketRow, Packets, ProbeCluster, ProbeClusters, ProbeOutcome, ProbeOutcomes, RateRow, Rates,
    ReceiverReportRow, ReceiverReportRows, RecordedFrame, RecordedFrames, RoundTrip, RoundTrips, RouteChange,
    RouteChanges,
};

/// Version of the form that this crate writes and reads.
pub const FORMAT_VERSION: u32 = 1;
/// Most packets that a call keeps; later packets are left out and a remark says so.
pub const MOST_PACKETS: usize = 2_000_000;
/// Most RTP streams that a call keeps; packets of further ones are left out and a remark says so.
pub const MOST_STREAMS: usize = 256;
/// Most rows of the tables other than packets; later ones are left out and a remark says so.
pub const MOST_EVENTS: usize = 750_000;
/// Longest round trip, and most time of an event before the first or after the last of the call, in µs: an hour.
pub const MOST_BEYOND_US: i64 = 3_600_000_000;

/// The kind of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecordingSource {
    /// A run of Weir, simulated or over real sockets.
    #[default]
    Weir,
    /// An RTC event log of libwebrtc, of the end that sends media.
    EventLogOfSender,
    /// An RTC event log of libwebrtc, of the end that receives media.
    EventLogOfReceiver,
    /// RTP and readable RTCP: Chromium's dump of decrypted packets, or a capture of unencrypted RTP.
    ReadableRtp,
    /// One capture of SRTP, whose RTCP is encrypted.
    EncryptedCapture,
    /// Two captures, one at each end.
    TwoCaptures,
    /// Counters about once a second: webrtc-internals, getStats.
    Counters,
    /// A table of values separated by commas.
    Table,
}

/// The clock of [`PacketRow::arrived_us`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalClock {
    /// The clock of all other times.
    #[default]
    Common,
    /// The receiver's clock, whose offset is unknown: only differences of arrivals mean anything.
    Receiver,
}

/// Content of an RTP stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StreamKind {
    /// Video.
    Video,
    /// Audio.
    Audio,
    /// Retransmissions (RFC 4588), and padding in their stream.
    Retransmission,
    /// Unknown content.
    #[default]
    Unknown,
}

/// An RTP stream of the call. Its source identifier is its place in [`RecordedCall::streams`], counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordedStream {
    /// Content.
    pub kind: StreamKind,
    /// Ticks of its RTP timestamps per second; 0 where unknown.
    pub clock_hz: u32,
}

/// A counter or gauge, about once a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CounterSeries {
    /// Type of the statistics object and member, by the names of W3C webrtc-stats: `outbound-rtp.bytesSent`.
    pub name: String,
    /// Number of the object among those of its type, from 0.
    pub object: u32,
    /// Times of the values.
    pub time_us: Vec<i64>,
    /// Values in the units of that document; times in seconds, rates in bit/s.
    pub values: Vec<Option<f64>>,
}

/// A statistic with a value out of few, such as `qualityLimitationReason`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LabelSeries {
    /// Type of the statistics object and member.
    pub name: String,
    /// Number of the object among those of its type, from 0.
    pub object: u32,
    /// Times of the values.
    pub time_us: Vec<i64>,
    /// Place of each value in [`Self::labels`].
    pub values: Vec<u16>,
    /// The different values.
    pub labels: Vec<String>,
}

/// One direction of one call: media from its sender to its receiver, and feedback the other way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordedCall {
    /// Version of the form: [`FORMAT_VERSION`].
    pub version: u32,
    /// Kind of the recording.
    pub source: RecordingSource,
    /// Sentences about gaps of the recording, for whoever reads a result of it.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Time from the first event to the last.
    pub duration_us: i64,
    /// Bytes of IP and UDP headers around each packet, 28 over IPv4 and 48 over IPv6; 0 where unknown.
    #[serde(default)]
    pub packet_overhead_bytes: u32,
    /// Clock of the arrivals.
    #[serde(default)]
    pub arrival_clock: ArrivalClock,
    /// RTP streams.
    #[serde(default)]
    pub streams: Vec<RecordedStream>,
    /// Packets of media in order of departure, or of arrival where departures are unknown.
    #[serde(default)]
    pub packets: Packets,
    /// Feedback reports that came to the sender.
    #[serde(default)]
    pub feedback: FeedbackReports,
    /// Receiver reports (RFC 3550 §6.4.2) that came to the sender.
    #[serde(default)]
    pub receiver_reports: ReceiverReportRows,
    /// Round-trip times that the sender measured.
    #[serde(default)]
    pub round_trips: RoundTrips,
    /// Rates of the sender's controller for all it sends.
    #[serde(default)]
    pub targets: Rates,
    /// Rates for the encoder.
    #[serde(default)]
    pub encoder_targets: Rates,
    /// Upper bounds by the receiver (REMB).
    #[serde(default)]
    pub ceilings: Rates,
    /// Outputs of libwebrtc's delay-based estimator.
    #[serde(default)]
    pub delay_estimates: DelayEstimates,
    /// Outputs of libwebrtc's loss-based estimator; the rate is the sender's estimate.
    #[serde(default)]
    pub loss_estimates: LossEstimates,
    /// Probe clusters that the sender created.
    #[serde(default)]
    pub probe_clusters: ProbeClusters,
    /// Outcomes of probe clusters.
    #[serde(default)]
    pub probe_outcomes: ProbeOutcomes,
    /// Begins and ends of spans in which the source limits the rate.
    #[serde(default)]
    pub application_limits: ApplicationLimits,
    /// Changes of the network route.
    #[serde(default)]
    pub route_changes: RouteChanges,
    /// Frames of the sender's encoder.
    #[serde(default)]
    pub frames: RecordedFrames,
    /// Frames that the receiver decoded.
    #[serde(default)]
    pub decoded_frames: DecodedFrames,
    /// Requests for a key frame that came to the sender.
    #[serde(default)]
    pub key_frame_requests: KeyFrameRequests,
    /// Requests for retransmission that came to the sender.
    #[serde(default)]
    pub nacks: Nacks,
    /// Counters once a second.
    #[serde(default)]
    pub counters: Vec<CounterSeries>,
    /// Statistics with few values, once a second.
    #[serde(default)]
    pub labels: Vec<LabelSeries>,
}

/// The JSON Schema of a [`RecordedCall`].
#[cfg(feature = "schema")]
pub fn call_schema() -> schemars::Schema {
    schemars::schema_for!(RecordedCall)
}

impl RecordedCall {
    /// The columns with times of all tables but that of packets, with the names of the tables.
    fn time_columns(&self) -> [(&'static str, &[i64]); 16] {
        [
            ("feedback", &self.feedback.time_us),
            ("receiver_reports", &self.receiver_reports.time_us),
            ("round_trips", &self.round_trips.time_us),
            ("targets", &self.targets.time_us),
            ("encoder_targets", &self.encoder_targets.time_us),
            ("ceilings", &self.ceilings.time_us),
            ("delay_estimates", &self.delay_estimates.time_us),
            ("loss_estimates", &self.loss_estimates.time_us),
            ("probe_clusters", &self.probe_clusters.time_us),
            ("probe_outcomes", &self.probe_outcomes.time_us),
            ("application_limits", &self.application_limits.time_us),
            ("route_changes", &self.route_changes.time_us),
            ("frames", &self.frames.time_us),
            ("decoded_frames", &self.decoded_frames.time_us),
            ("key_frame_requests", &self.key_frame_requests.time_us),
            ("nacks", &self.nacks.time_us),
        ]
    }

    /// Whether the departures of the packets are known.
    pub fn has_departures(&self) -> bool {
        self.packets.sent_us.iter().any(|sent| sent.is_known())
    }

    /// Whether the sender's per-packet feedback is known.
    pub fn has_feedback(&self) -> bool {
        self.packets.reported_us.iter().any(|reported| reported.is_known())
    }

    /// The reason why no controller can be run on the call's packets: it lacks departures or arrivals. `None` where it can.
    pub fn replay_obstacle(&self) -> Option<&'static str> {
        let has_both = |packet: PacketRow| packet.sent_us.is_known() && packet.arrived_us.is_known();
        if self.packets.is_empty() {
            return Some(
                "the recording has counters and no packets; a replay needs the times of packets: an RTC event log of \
                 the sender, or two captures",
            );
        }
        if !self.has_departures() {
            return Some(
                "the recording has no departures; a replay needs the sender's recording, or captures of both ends",
            );
        }
        if self.packets.rows().any(has_both) {
            return None;
        }
        let has_numbers = self.packets.number.iter().any(|number| number.is_known());
        Some(match (self.source, self.feedback.is_empty()) {
            (RecordingSource::EncryptedCapture, _) => {
                "RTCP of the capture is encrypted, and so there are no arrivals; add the capture of the other end, or \
                 take the sender's event log"
            }
            (_, true) => {
                "the recording has no feedback and no arrivals; add the capture of the other end, or take the sender's \
                 event log"
            }
            (_, false) if has_numbers => "no packet is in a feedback report as received",
            (_, false) => {
                "its feedback reports are about transport-wide numbers, and no packet has one; give --extension-id \
                 transport-cc=ID"
            }
        })
    }

    /// Sequence numbers that no packet has, between the first and the last of each stream: losses of the recording of a receiver.
    pub fn missing_numbers(&self) -> usize {
        let mut numbers = vec![Vec::new(); self.streams.len()];
        for (&stream, &sequence) in self.packets.stream.iter().zip(&self.packets.sequence) {
            if let Some(numbers) = numbers.get_mut(usize::from(stream)) {
                numbers.push(sequence);
            }
        }
        let missing = |mut numbers: Vec<i64>| {
            numbers.sort_unstable();
            numbers.dedup();
            let span = match (numbers.first(), numbers.last()) {
                (Some(first), Some(last)) => usize::try_from(last.abs_diff(*first)).unwrap_or(usize::MAX),
                _ => 0,
            };
            span.saturating_sub(numbers.len().saturating_sub(1))
        };
        numbers.into_iter().map(missing).fold(0, usize::saturating_add)
    }

    /// Bytes of a packet as congestion control counts them: payload, padding, RTP header, and IP and UDP headers where known.
    pub fn wire_bytes(&self, packet: &PacketRow) -> u32 {
        packet.rtp_bytes() + self.packet_overhead_bytes
    }
}
