//! Statistics have the names of W3C webrtc-stats where it has the quantity.

use weir_cc::DataRate;
use weir_media::EndpointConfig;

use super::rig::{Call, gcc, limits};

/// Members of `RTCOutboundRtpStreamStats`, `RTCSentRtpStreamStats`, `RTCRemoteInboundRtpStreamStats` and
/// `RTCIceCandidatePairStats` (W3C Identifiers for WebRTC's Statistics API, Candidate Recommendation of 2025) that are
/// numbers.
const WEBRTC_STATS: [&str; 45] = [
    "packetsSent",
    "bytesSent",
    "headerBytesSent",
    "retransmittedPacketsSent",
    "retransmittedBytesSent",
    "targetBitrate",
    "totalEncodedBytesTarget",
    "frameWidth",
    "frameHeight",
    "framesPerSecond",
    "framesSent",
    "hugeFramesSent",
    "framesEncoded",
    "keyFramesEncoded",
    "qpSum",
    "psnrMeasurements",
    "totalEncodeTime",
    "totalPacketSendDelay",
    "qualityLimitationResolutionChanges",
    "nackCount",
    "firCount",
    "pliCount",
    "encodingIndex",
    "packetsSentWithEct1",
    "roundTripTime",
    "totalRoundTripTime",
    "fractionLost",
    "roundTripTimeMeasurements",
    "packetsWithBleachedEct1Marking",
    "packetsReportedAsLost",
    "packetsReportedAsLostButRecovered",
    "packetsReceived",
    "packetsLost",
    "jitter",
    "bytesReceived",
    "lastPacketSentTimestamp",
    "lastPacketReceivedTimestamp",
    "currentRoundTripTime",
    "availableOutgoingBitrate",
    "availableIncomingBitrate",
    "requestsReceived",
    "requestsSent",
    "responsesReceived",
    "responsesSent",
    "consentRequestsSent",
];
/// Quantities that webrtc-stats has not.
const OWN: [&str; 8] = [
    "paddingPacketsSent",
    "paddingBytesSent",
    "packetsExpired",
    "packetsReportedLost",
    "queuedBytes",
    "bytesInFlight",
    "reportsRefused",
    "eventsDropped",
];

#[test]
fn the_names_are_those_of_webrtc_stats_or_documented_as_own() {
    let mut call = Call::new(gcc(), DataRate::from_mbps(2), EndpointConfig::new(limits()));
    call.run(3);
    let stats = call.endpoint.stats();
    let names = stats.fields().map(|(name, _)| name).into_iter();
    for name in names.chain(stats.streams[0].fields().map(|(name, _)| name)) {
        assert!(WEBRTC_STATS.contains(&name) != OWN.contains(&name), "{name}");
    }
    let stream = &stats.streams[0];
    let bytes: usize = call.departures.iter().map(|(_, length)| length).sum();
    assert_eq!(stream.packets_sent as usize, call.departures.len());
    assert_eq!((stream.bytes_sent + stream.header_bytes_sent) as usize, bytes);
    assert!((0.05..0.5).contains(&stats.current_round_trip_time), "{}", stats.current_round_trip_time);
    assert!(stats.fraction_lost.is_nan(), "no receiver reports come here");
}

#[test]
fn prometheus_gets_a_line_for_each_known_value() {
    let mut call = Call::new(gcc(), DataRate::from_mbps(2), EndpointConfig::new(limits()));
    call.run(1);
    let text = call.endpoint.stats().prometheus();
    let ssrc = call.endpoint.stats().streams[0].ssrc;
    assert!(
        text.contains("# TYPE weir_available_outgoing_bitrate gauge\nweir_available_outgoing_bitrate "),
        "{text}"
    );
    assert!(text.contains(&format!("weir_packets_sent{{ssrc=\"{ssrc}\"}} ")), "{text}");
    assert!(!text.contains("NaN") && !text.contains("fraction_lost"), "{text}");
    for line in text.lines() {
        let value = line.rsplit(' ').next().unwrap();
        assert!(line.starts_with("# TYPE ") || value.parse::<f64>().is_ok(), "{line}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn events_and_statistics_are_serialised_by_their_names() {
    use weir_media::{EndpointEvent, StreamConfig};

    let mut endpoint = weir_media::Endpoint::<Vec<u8>>::new(gcc(), EndpointConfig::new(limits()), 7);
    let stream = endpoint.add_stream(StreamConfig::video(1, 96)).unwrap();
    let event = EndpointEvent::Lost { stream, sequence: 7, payload: Some(vec![1, 2]) };
    let json = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<EndpointEvent<Vec<u8>>>(&json).unwrap(), event);
    let stats = serde_json::to_value(endpoint.stats()).unwrap();
    assert_eq!(stats["targetBitrate"], 1e6);
    assert_eq!(stats["qualityLimitationReason"], "bandwidth");
    assert_eq!(stats["streams"][0]["packetsSent"], 0);
    for (name, _) in endpoint.stats().streams[0].fields() {
        assert!(stats["streams"][0].get(name).is_some(), "{name}");
    }
}
