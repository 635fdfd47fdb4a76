//! Statistics that may enter a call: types, members and labels of W3C webrtc-stats, and nothing else of a file.

/// A type of statistics objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::calls) enum StatisticsKind {
    Outbound,
    Inbound,
    RemoteInbound,
    RemoteOutbound,
    CandidatePair,
    Transport,
    MediaSource,
}

impl StatisticsKind {
    const ALL: [(Self, &'static str, u64); 7] = [
        (Self::Inbound, "inbound-rtp", 1),
        (Self::Outbound, "outbound-rtp", 2),
        (Self::RemoteInbound, "remote-inbound-rtp", 3),
        (Self::RemoteOutbound, "remote-outbound-rtp", 4),
        (Self::Transport, "transport", 5),
        (Self::CandidatePair, "candidate-pair", 6),
        (Self::MediaSource, "media-source", 12),
    ];

    /// The type of this name.
    pub(in crate::calls) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(kind, own, _)| (own == name).then_some(kind))
    }

    /// The type of this number in lines of an `RTCStatsDump`.
    pub(in crate::calls) fn of_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(kind, _, own)| (own == number).then_some(kind))
    }

    /// The type of an object by the begin of its identifier, as Chromium forms them.
    pub(in crate::calls) fn of_identifier(identifier: &str) -> Option<Self> {
        let prefixes = [
            ("RTCOutboundRTP", Self::Outbound),
            ("RTCInboundRTP", Self::Inbound),
            ("RTCRemoteInboundRtp", Self::RemoteInbound),
            ("RTCRemoteOutboundRTP", Self::RemoteOutbound),
            ("RTCIceCandidatePair", Self::CandidatePair),
            ("RTCTransport", Self::Transport),
            ("RTCVideoSource", Self::MediaSource),
        ];
        prefixes.into_iter().find_map(|(prefix, kind)| identifier.starts_with(prefix).then_some(kind))
    }

    pub(in crate::calls) fn name(self) -> &'static str {
        let own = Self::ALL.into_iter().find(|(kind, ..)| *kind == self);
        own.map_or("", |(_, name, _)| name)
    }

    /// Whether the object is about an RTP stream.
    pub(in crate::calls) const fn is_rtp(self) -> bool {
        matches!(self, Self::Outbound | Self::Inbound | Self::RemoteInbound | Self::RemoteOutbound)
    }
}

/// Members with numbers, and their numbers in lines of an `RTCStatsDump`; 0 for those without.
const NUMBERS: [(&str, u64); 93] = [
    ("packetsReceived", 14),
    ("packetsLost", 15),
    ("jitter", 16),
    ("framesDecoded", 20),
    ("keyFramesDecoded", 21),
    ("framesDropped", 22),
    ("frameWidth", 23),
    ("frameHeight", 24),
    ("framesPerSecond", 25),
    ("qpSum", 26),
    ("totalDecodeTime", 27),
    ("totalInterFrameDelay", 28),
    ("totalSquaredInterFrameDelay", 29),
    ("pauseCount", 30),
    ("totalPausesDuration", 31),
    ("freezeCount", 32),
    ("totalFreezesDuration", 33),
    ("headerBytesReceived", 35),
    ("packetsDiscarded", 36),
    ("fecPacketsReceived", 37),
    ("fecPacketsDiscarded", 38),
    ("fecBytesReceived", 39),
    ("bytesReceived", 41),
    ("nackCount", 42),
    ("firCount", 43),
    ("pliCount", 44),
    ("totalProcessingDelay", 45),
    ("jitterBufferDelay", 47),
    ("jitterBufferTargetDelay", 48),
    ("jitterBufferEmittedCount", 49),
    ("jitterBufferMinimumDelay", 50),
    ("totalSamplesReceived", 51),
    ("concealedSamples", 52),
    ("silentConcealedSamples", 53),
    ("concealmentEvents", 54),
    ("insertedSamplesForDeceleration", 55),
    ("removedSamplesForAcceleration", 56),
    ("totalSamplesDuration", 59),
    ("framesReceived", 60),
    ("powerEfficientDecoder", 63),
    ("framesAssembledFromMultiplePackets", 64),
    ("totalAssemblyTime", 65),
    ("retransmittedPacketsReceived", 68),
    ("retransmittedBytesReceived", 69),
    ("totalCorruptionProbability", 71),
    ("corruptionMeasurements", 73),
    ("roundTripTime", 75),
    ("totalRoundTripTime", 76),
    ("fractionLost", 77),
    ("roundTripTimeMeasurements", 78),
    ("packetsSent", 79),
    ("bytesSent", 80),
    ("headerBytesSent", 84),
    ("retransmittedPacketsSent", 85),
    ("retransmittedBytesSent", 86),
    ("targetBitrate", 87),
    ("totalEncodedBytesTarget", 88),
    ("framesSent", 89),
    ("hugeFramesSent", 90),
    ("framesEncoded", 91),
    ("keyFramesEncoded", 92),
    ("totalEncodeTime", 93),
    ("totalPacketSendDelay", 94),
    ("qualityLimitationResolutionChanges", 97),
    ("powerEfficientEncoder", 99),
    ("active", 100),
    ("encodingIndex", 83),
    ("reportsSent", 103),
    ("width", 106),
    ("height", 107),
    ("frames", 108),
    ("selectedCandidatePairChanges", 132),
    ("nominated", 150),
    ("currentRoundTripTime", 152),
    ("availableOutgoingBitrate", 153),
    ("availableIncomingBitrate", 154),
    ("requestsReceived", 155),
    ("requestsSent", 156),
    ("responsesReceived", 157),
    ("responsesSent", 158),
    ("consentRequestsSent", 159),
    ("packetsDiscardedOnSend", 160),
    ("bytesDiscardedOnSend", 161),
    ("psnrMeasurements", 167),
    ("packetsReceivedWithEct1", 169),
    ("packetsReceivedWithCe", 170),
    ("packetsReportedAsLost", 171),
    ("packetsReportedAsLostButRecovered", 172),
    ("packetsWithBleachedEct1Marking", 173),
    ("packetsSentWithEct1", 174),
    ("ccfbMessagesSent", 175),
    ("ccfbMessagesReceived", 176),
    ("framesRendered", 0),
];

/// Codec implementations whose names enter a call; any other is "other".
const IMPLEMENTATIONS: [&str; 12] = [
    "libvpx",
    "libaom",
    "libgav1",
    "dav1d",
    "OpenH264",
    "FFmpeg",
    "ExternalEncoder",
    "ExternalDecoder",
    "VideoToolbox",
    "MediaFoundationVideoEncodeAccelerator",
    "VaapiVideoEncodeAccelerator",
    "unknown",
];

/// Members with a label, their numbers in lines of an `RTCStatsDump`, and their labels; any other label is "other".
const LABELS: [(&str, u64, &[&str]); 5] = [
    ("kind", 11, &["audio", "video"]),
    ("qualityLimitationReason", 95, &["none", "cpu", "bandwidth"]),
    ("state", 118, &["frozen", "waiting", "in-progress", "failed", "succeeded"]),
    ("encoderImplementation", 98, &IMPLEMENTATIONS),
    ("decoderImplementation", 61, &IMPLEMENTATIONS),
];

/// Members of `qualityLimitationDurations`, as members of their object.
pub(in crate::calls) const DURATIONS: [(&str, &str); 4] = [
    ("none", "qualityLimitationDurations.none"),
    ("cpu", "qualityLimitationDurations.cpu"),
    ("bandwidth", "qualityLimitationDurations.bandwidth"),
    ("other", "qualityLimitationDurations.other"),
];

/// A member that may enter a call, or that the reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::calls) enum StatisticsMember {
    /// A counter or gauge.
    Number(&'static str),
    /// A value out of few.
    Label(&'static str, &'static [&'static str]),
    /// Seconds for each quality limitation.
    Durations,
    /// Source identifier: it chooses a connection and does not enter the call.
    Source,
}

impl StatisticsMember {
    /// The member of this name.
    pub(in crate::calls) fn of_name(name: &str) -> Option<Self> {
        match name {
            "qualityLimitationDurations" => return Some(Self::Durations),
            "ssrc" => return Some(Self::Source),
            _ => {}
        }
        let number = NUMBERS.iter().find(|(own, _)| *own == name).map(|(own, _)| Self::Number(own));
        number.or_else(|| {
            let label = LABELS.iter().find(|(own, ..)| *own == name);
            label.map(|(own, _, labels)| Self::Label(own, labels))
        })
    }

    /// The member that a series of a call with this name has the values of.
    pub(in crate::calls) fn of_series(name: &str) -> Option<Self> {
        let (kind, member) = name.split_once('.')?;
        StatisticsKind::of_name(kind)?;
        let duration = DURATIONS.iter().find(|(_, own)| *own == member).map(|(_, own)| Self::Number(own));
        duration.or_else(|| Self::of_name(member))
    }

    /// The member of this number in lines of an `RTCStatsDump`.
    pub(in crate::calls) fn of_number(number: u64) -> Option<Self> {
        match number {
            0 => return None,
            10 => return Some(Self::Source),
            96 => return Some(Self::Durations),
            _ => {}
        }
        let name = NUMBERS.iter().find(|(_, own)| *own == number).map(|(name, _)| Self::Number(name));
        name.or_else(|| {
            let label = LABELS.iter().find(|(_, own, _)| *own == number);
            label.map(|(name, _, labels)| Self::Label(name, labels))
        })
    }
}

/// The label `value` of a member with these labels, "other" for a value that is not among them.
pub(in crate::calls) fn label(labels: &'static [&'static str], value: &str) -> &'static str {
    labels.iter().find(|label| **label == value).copied().unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_to_one_member_each() {
        for (name, number) in NUMBERS {
            assert_eq!(StatisticsMember::of_name(name), Some(StatisticsMember::Number(name)));
            if number > 0 {
                assert_eq!(StatisticsMember::of_number(number), Some(StatisticsMember::Number(name)));
            }
        }
        // A port, an address and a candidate's name are not members.
        for (name, number) in [("port", 135), ("address", 134), ("url", 138), ("trackIdentifier", 17)] {
            assert_eq!((StatisticsMember::of_name(name), StatisticsMember::of_number(number)), (None, None));
        }
        assert_eq!(label(&IMPLEMENTATIONS, "SECRET device"), "other");
    }
}
