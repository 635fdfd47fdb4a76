//! Statistics of Chromium's old callback-based `getStats` ("goog" statistics) as those of W3C webrtc-stats.

use super::names::{StatisticsKind, StatisticsMember};

/// A W3C member for an old statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LegacyMember {
    pub(super) kind: StatisticsKind,
    /// Distinguishes the objects of W3C that one old object stands for.
    pub(super) suffix: &'static str,
    pub(super) meaning: LegacyMeaning,
}

/// The meaning of an old statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LegacyMeaning {
    /// The member, times a factor.
    Scaled(StatisticsMember, f64),
    /// Quality limitation of this name where the value is true.
    Limitation(&'static str),
}

const MILLI: f64 = 1e-3;

/// The member for the statistic `member` of an old object, if it has one.
pub(super) fn legacy(identifier: &str, kind: Option<&str>, member: &str) -> Option<LegacyMember> {
    let is = |name: &str, prefix: &str| kind.map_or(identifier.starts_with(prefix), |kind| kind == name);
    if is("ssrc", "ssrc_") {
        return stream(identifier.ends_with("_send"), member);
    }
    if is("VideoBwe", "bweforvideo") {
        return bandwidth(member);
    }
    if is("googCandidatePair", "Conn-") {
        let (name, factor) = match member {
            "googRtt" => ("currentRoundTripTime", MILLI),
            "googActiveConnection" => ("nominated", 1.0),
            "bytesSent" | "bytesReceived" | "packetsSent" => (member, 1.0),
            _ => return None,
        };
        return scaled(StatisticsKind::CandidatePair, "", name, factor);
    }
    None
}

fn scaled(kind: StatisticsKind, suffix: &'static str, name: &str, factor: f64) -> Option<LegacyMember> {
    let meaning = LegacyMeaning::Scaled(StatisticsMember::of_name(name)?, factor);
    Some(LegacyMember { kind, suffix, meaning })
}

fn stream(sent: bool, member: &str) -> Option<LegacyMember> {
    let (own, remote) = (if sent { StatisticsKind::Outbound } else { StatisticsKind::Inbound }, "#remote");
    let limitation = |reason| {
        let meaning = LegacyMeaning::Limitation(reason);
        Some(LegacyMember { kind: StatisticsKind::Outbound, suffix: "", meaning })
    };
    let (name, factor) = match member {
        "googCpuLimitedResolution" => return limitation("cpu"),
        "googBandwidthLimitedResolution" => return limitation("bandwidth"),
        "googRtt" if sent => return scaled(StatisticsKind::RemoteInbound, remote, "roundTripTime", MILLI),
        "packetsLost" if sent => return scaled(StatisticsKind::RemoteInbound, remote, member, 1.0),
        "googJitterReceived" if sent => {
            return scaled(StatisticsKind::RemoteInbound, remote, "jitter", MILLI);
        }
        "googJitterReceived" => ("jitter", MILLI),
        "mediaType" => ("kind", 1.0),
        "googFrameRateSent" | "googFrameRateReceived" => ("framesPerSecond", 1.0),
        "googFrameWidthSent" | "googFrameWidthReceived" => ("frameWidth", 1.0),
        "googFrameHeightSent" | "googFrameHeightReceived" => ("frameHeight", 1.0),
        "googNacksReceived" | "googNacksSent" => ("nackCount", 1.0),
        "googPlisReceived" | "googPlisSent" => ("pliCount", 1.0),
        "googFirsReceived" | "googFirsSent" => ("firCount", 1.0),
        "bytesSent" | "bytesReceived" | "packetsSent" | "packetsReceived" | "packetsLost"
        | "framesEncoded" | "framesDecoded" | "hugeFramesSent" | "qpSum" | "ssrc" => (member, 1.0),
        _ => return None,
    };
    scaled(own, "", name, factor)
}

fn bandwidth(member: &str) -> Option<LegacyMember> {
    match member {
        "googAvailableSendBandwidth" => {
            scaled(StatisticsKind::CandidatePair, "#estimate", "availableOutgoingBitrate", 1.0)
        }
        "googAvailableReceiveBandwidth" => {
            scaled(StatisticsKind::CandidatePair, "#estimate", "availableIncomingBitrate", 1.0)
        }
        "googTargetEncBitrate" => scaled(StatisticsKind::Outbound, "#encoder", "targetBitrate", 1.0),
        _ => None,
    }
}
