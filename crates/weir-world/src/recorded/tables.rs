//! The tables of a recorded call.

use super::table::{OptionalInteger, table};

table! {
    /// Packets of media.
    Packets,
    /// A packet of media.
    PacketRow {
        /// Transport-wide number, unwrapped; unknown where the packet has none.
        number: OptionalInteger,
        /// Place of its stream in [`RecordedCall::streams`](super::RecordedCall::streams), from 0.
        stream: u16,
        /// RTP sequence number, unwrapped within the stream.
        sequence: i64,
        /// RTP timestamp.
        timestamp: u32,
        /// Departure by the sender's clock. In a recording of the receiver it is known of packets with absolute send time,
        /// and moved so that the least delay is 0.
        sent_us: OptionalInteger,
        /// Arrival; unknown for a lost packet, and for one without a report.
        arrived_us: OptionalInteger,
        /// Time at which a feedback report with the packet's fate came to the sender: the first with its arrival, else the first with its
        /// loss.
        reported_us: OptionalInteger,
        /// Bytes of media.
        payload_bytes: u32,
        /// Bytes of the RTP header with its extensions.
        header_bytes: u16,
        /// Bytes of RTP padding.
        padding_bytes: u16,
        /// 1 for a packet with the RTP marker, which ends a frame of video; else 0.
        marker: u8,
        /// ECN field on arrival: 0 not ECN-capable or unknown, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
        ecn: u8,
        /// Its probe cluster, if it belongs to one.
        probe: OptionalInteger,
    }
}

impl PacketRow {
    /// Bytes of the RTP packet: header, payload, padding.
    pub const fn rtp_bytes(&self) -> u32 {
        self.payload_bytes + self.header_bytes as u32 + self.padding_bytes as u32
    }

    /// Whether a report said that the packet had not arrived, and no report that it had.
    pub const fn is_lost(&self) -> bool {
        self.reported_us.is_known() && !self.arrived_us.is_known()
    }

    /// The time by which packets are in order: departure, else arrival.
    pub const fn order_us(&self) -> i64 {
        match (self.sent_us.get(), self.arrived_us.get()) {
            (Some(time), _) | (None, Some(time)) => time,
            (None, None) => 0,
        }
    }
}

table! {
    /// Feedback reports: per-packet reports, and reports in a controller's own form.
    FeedbackReports,
    /// A feedback report.
    FeedbackReport {
        /// Its arrival at the sender.
        time_us: i64,
        /// Packets that it covers; 0 for a report in a controller's own form.
        packets: u32,
        /// Packets that it reports as not received.
        lost: u32,
        /// Reports before it that did not come, by its own number; 0 where the format has none.
        missed: u32,
    }
}

table! {
    /// Receiver reports (RFC 3550 §6.4.2), a row per report block.
    ReceiverReportRows,
    /// A report block of a receiver report.
    ReceiverReportRow {
        /// Arrival at the sender.
        time_us: i64,
        /// Place of the stream.
        stream: u16,
        /// Loss since the report before, in 1/256.
        fraction_lost: u8,
        /// Packets lost since the beginning.
        cumulative_lost: i32,
        /// Highest sequence number received, extended by the count of wraps in the upper 16 bits.
        highest_sequence: u32,
        /// Interarrival jitter, in ticks of the stream's clock.
        jitter: u32,
    }
}

table! {
    /// Round-trip times.
    RoundTrips,
    /// A round-trip time.
    RoundTrip {
        /// Time of the measurement.
        time_us: i64,
        /// Round-trip time.
        rtt_us: i64,
    }
}

table! {
    /// Rates, each from its time on.
    Rates,
    /// A rate from a time on.
    RateRow {
        /// Time of the change.
        time_us: i64,
        /// Rate in bit/s.
        bps: u64,
    }
}

table! {
    /// Outputs of a delay-based estimator.
    DelayEstimates,
    /// An output of a delay-based estimator.
    DelayEstimate {
        /// Time.
        time_us: i64,
        /// Rate in bit/s.
        bps: u64,
        /// State of the overuse detector: 0 normal, 1 underuse, 2 overuse.
        state: u8,
    }
}

impl DelayEstimate {
    /// State of the overuse detector by its name in libwebrtc.
    pub const fn state_name(&self) -> &'static str {
        match self.state {
            0 => "normal",
            1 => "underuse",
            2 => "overuse",
            _ => "unknown",
        }
    }
}

table! {
    /// Outputs of a loss-based estimator.
    LossEstimates,
    /// An output of a loss-based estimator.
    LossEstimate {
        /// Time.
        time_us: i64,
        /// Rate in bit/s.
        bps: u64,
        /// Loss in 1/256.
        fraction_lost: u8,
        /// Packets over which the loss was counted.
        packets: u32,
    }
}

table! {
    /// Probe clusters.
    ProbeClusters,
    /// A probe cluster: short bursts above the target.
    ProbeCluster {
        /// Time of its creation.
        time_us: i64,
        /// Its number.
        id: u32,
        /// Rate in bit/s.
        bps: u64,
        /// Least packets.
        min_packets: u32,
        /// Least bytes.
        min_bytes: u32,
    }
}

table! {
    /// Outcomes of probe clusters.
    ProbeOutcomes,
    /// The outcome of a probe cluster.
    ProbeOutcome {
        /// Time.
        time_us: i64,
        /// The cluster.
        id: u32,
        /// Measured rate in bit/s; unknown for a failure.
        bps: OptionalInteger,
        /// 0 success; failures: 1 invalid interval between the packets, 2 invalid ratio of the rates, 3 timeout.
        failure: u8,
    }
}

table! {
    /// Begins and ends of spans in which the source limits the rate.
    ApplicationLimits,
    /// A begin or an end of a span in which the source limits the rate.
    ApplicationLimit {
        /// Time.
        time_us: i64,
        /// 1 begin, 0 end.
        limited: u8,
    }
}

table! {
    /// Changes of the network route.
    RouteChanges,
    /// A change of the network route.
    RouteChange {
        /// Time.
        time_us: i64,
        /// 1 for a route that carries packets, else 0.
        connected: u8,
        /// Bytes of headers around RTP on that route.
        overhead_bytes: u32,
    }
}

table! {
    /// Frames of an encoder.
    RecordedFrames,
    /// A frame of an encoder.
    RecordedFrame {
        /// Capture or encoding time.
        time_us: i64,
        /// Bytes; 0 for a frame that was skipped.
        bytes: u32,
        /// 1 for a key frame, else 0.
        key: u8,
        /// Width in pixels; 0 where unknown.
        width: u16,
        /// Height in pixels; 0 where unknown.
        height: u16,
    }
}

table! {
    /// Frames that a receiver decoded.
    DecodedFrames,
    /// A frame that a receiver decoded.
    DecodedFrame {
        /// Render time.
        time_us: i64,
        /// Width in pixels; 0 where unknown.
        width: u16,
        /// Height in pixels; 0 where unknown.
        height: u16,
        /// Quantiser of the encoder; unknown where not recorded.
        quantiser: OptionalInteger,
    }
}

table! {
    /// Requests for a key frame: picture loss indications (RFC 4585 §6.3.1) and full intra requests (RFC 5104 §4.3.1).
    KeyFrameRequests,
    /// A request for a key frame.
    KeyFrameRequest {
        /// Arrival at the sender.
        time_us: i64,
        /// Place of the stream.
        stream: u16,
    }
}

table! {
    /// Requests for retransmission (generic NACK, RFC 4585 §6.2.1).
    Nacks,
    /// A request for retransmission.
    Nack {
        /// Arrival at the sender.
        time_us: i64,
        /// Place of the stream.
        stream: u16,
        /// Packets that it requests.
        packets: u32,
    }
}
