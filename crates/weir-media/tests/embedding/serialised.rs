//! Values of an embedder are read as they were written.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use weir_cc::{ArrivalTime, DataRate, DataSize, Ecn, Probe, ProbeId, Reception, SendTime, TimeDelta};
use weir_media::allocation::{
    EncoderStream, ForwardedTrack, LayerChoice, LayerCoding, LayerForwarding, LayerSwitching, NextStep,
    RateSharing, SwitchMargin, VideoContent, VideoLayer,
};
use weir_media::receiving::{
    ArrivedPacket, FeedbackInterval, InboundStreamStats, IncomingStream, PacketContent, PacketDeparture,
    ReceivedExtensions, ReceivedPacket, ReceivingConfig, ReceivingStats, UnknownStreams,
};
use weir_media::{
    Alarm, CountedBytes, Departure, EncoderDescription, Endpoint, EndpointConfig, EndpointEvent,
    EndpointStats, JoinedResult, LayerAllocation, PacketBatch, PacketKind, PacketMeta, PacketNumbering,
    PayloadHandle, QualityLimitation, RefusedReports, RetransmissionStream, SentReport, StreamConfig,
    StreamId, StreamKind,
};
use weir_wire::{AbsSendTime, ExtensionIds, FrameMarking, StampExtension};

use super::rig::{Call, gcc, limits};

/// The JSON of `value`, from which the same value is read.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> serde_json::Value {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn streams() -> [StreamId; 2] {
    let mut endpoint = Endpoint::<PayloadHandle>::new(gcc(), EndpointConfig::new(limits()), 7);
    [StreamConfig::video(1, 96), StreamConfig::audio(2, 111)]
        .map(|config| endpoint.add_stream(config).unwrap())
}

fn probe() -> Probe {
    let id = ProbeId::new(3).unwrap();
    Probe { id, rate: DataRate::from_mbps(2), packets: 5, size: DataSize::from_bytes(3750) }
}

#[test]
fn configurations_of_the_sending_end() {
    let config = EndpointConfig {
        extension_ids: ExtensionIds::new(1, 2, 3, 4).unwrap(),
        ecn: Ecn::Ect1,
        counted: CountedBytes::WithHeaders(28),
        numbering: PacketNumbering::Given,
        queue_limit: None,
        ..EndpointConfig::new(limits())
    };
    let json = round_trip(&config);
    assert_eq!(json["numbering"], "given");
    assert_eq!(json["extension_ids"]["stamp"], 3);
    let mut twice = json.clone();
    twice["extension_ids"]["stamp"] = 1.into();
    let error = serde_json::from_value::<EndpointConfig>(twice).unwrap_err();
    assert!(error.to_string().contains("must be distinct and within 1 to 14"), "{error}");
    let mut misspelt = json;
    misspelt["queue_limits"] = 1.into();
    assert!(serde_json::from_value::<EndpointConfig>(misspelt).is_err());
    round_trip(&StreamConfig::audio(3, 111));
    let json = round_trip(&StreamConfig::video(1, 96).with_retransmissions(2, 97));
    assert_eq!((&json["kind"], &json["retransmission"]["ssrc"]), (&"video".into(), &2.into()));
    for kind in [StreamKind::Audio, StreamKind::Video, StreamKind::Data] {
        round_trip(&kind);
    }
    round_trip(&RetransmissionStream { ssrc: 9, payload_type: 97 });
    let kbps = DataRate::from_kbps;
    let layer = VideoLayer::new(kbps(50), kbps(150), kbps(200));
    round_trip(&EncoderDescription {
        coding: LayerCoding::Svc,
        ..EncoderDescription::simulcast(vec![layer; 2])
    });
    round_trip(&EncoderStream { allocated: Some(kbps(70)), ..EncoderStream::new(kbps(50), kbps(900)) });
}

#[test]
fn values_of_the_allocation() {
    round_trip(&VideoContent::Screen);
    round_trip(&LayerSwitching::svc(VideoContent::Camera));
    round_trip(&RateSharing::default());
    round_trip(&SwitchMargin::default());
    round_trip(&LayerForwarding::default());
    let layer = LayerChoice { spatial: 2, temporal: 1 };
    let kbps = DataRate::from_kbps;
    let rates = [[kbps(100), kbps(150), kbps(170), kbps(200)]; 5];
    round_trip(&ForwardedTrack { priority: 2, coding: LayerCoding::Simulcast, rates, present: Some(layer) });
    round_trip(&NextStep { track: 1, layer, added: kbps(50), at: kbps(900) });
}

#[test]
fn packets_and_results_of_the_sending_end() {
    let [video, audio] = streams();
    round_trip(&PacketMeta::new(3000, true));
    let packet = SentReport {
        stream: video,
        sequence: 7,
        timestamp: 9000,
        number: 65_535,
        header: 24,
        payload: 1200,
        kind: PacketKind::Retransmission { padding: true },
        probe: ProbeId::new(3),
    };
    round_trip(&packet);
    let departure = SendTime::from_millis(-5);
    for reception in [Reception::At(ArrivalTime::from_millis(70)), Reception::Missing] {
        round_trip(&JoinedResult { packet, departure, reception, ecn: Ecn::Ce });
    }
    round_trip(&Departure {
        stream: audio,
        kind: PacketKind::Media,
        length: 1224,
        header: 24,
        payload: Some(PayloadHandle { place: u64::MAX, size: 1200 }),
        sequence: 1,
        transport_sequence: 2,
        probe: Some(probe()),
    });
    round_trip(&PacketBatch { segment: 1200, length: 2500, packets: 3 });
    round_trip(&RefusedReports { kinds: 2, ..RefusedReports::default() });
}

#[test]
fn events_pacer_rates_and_statistics_of_a_call() {
    let mut call = Call::new(gcc(), DataRate::from_mbps(2), EndpointConfig::new(limits()));
    let unknown = call.endpoint.stats();
    let json = serde_json::to_value(&unknown).unwrap();
    assert!(json["fractionLost"].is_null() && json["currentRoundTripTime"].is_null(), "{json}");
    let read: EndpointStats = serde_json::from_value(json).unwrap();
    assert!(read.fraction_lost.is_nan() && read.current_round_trip_time.is_nan(), "{read:?}");
    let known = EndpointStats { fraction_lost: 0.25, current_round_trip_time: 0.05, ..unknown };
    round_trip(&known);
    round_trip(&known.streams[0]);
    round_trip(&QualityLimitation::None);
    call.run(3);
    round_trip(&call.endpoint.pacer_rates());
    assert!(call.events.len() > 10);
    for event in &call.events {
        round_trip(event);
    }
    let [video, _] = streams();
    round_trip(&EndpointEvent::Expired { stream: video, payload: vec![1_u8, 2] });
    round_trip(&EndpointEvent::<u8>::Alarm(Alarm::ReportsRefused));
    let encoder = call.endpoint.add_encoder(
        SendTime::from_millis(3000),
        EncoderDescription::single(EncoderStream::new(DataRate::from_kbps(50), DataRate::from_mbps(1))),
    );
    let (encoder, rate) = (encoder.unwrap(), DataRate::from_kbps(300));
    round_trip(&LayerAllocation { encoder, rate, layers: None });
}

#[test]
fn values_of_the_receiving_end() {
    let retransmission = Some(RetransmissionStream { ssrc: 2, payload_type: 97 });
    let key_frames = Some(TimeDelta::from_millis(300));
    let stream = IncomingStream { retransmission, nack: true, key_frames, ..IncomingStream::new(1, 90_000) };
    round_trip(&stream);
    let config = ReceivingConfig {
        extensions: ReceivedExtensions { stamp: None, ..ReceivedExtensions::from(ExtensionIds::default()) },
        feedback: FeedbackInterval::Adaptive,
        unknown: UnknownStreams::Learned { clock_hz: 90_000, nack: true, most: 8 },
        ..ReceivingConfig::new(3)
    };
    let json = round_trip(&config);
    assert_eq!(json["feedback"], "adaptive");
    round_trip(&ReceivingConfig::new(3));
    let last = Some(ArrivalTime::from_millis(5));
    let stats = InboundStreamStats {
        ssrc: 1,
        packets_received_with_ect1: 4,
        packets_lost: -3,
        jitter: TimeDelta::from_micros(70),
        last_packet_received_timestamp: last,
        ..InboundStreamStats::default()
    };
    let json = round_trip(&stats);
    for (name, _) in stats.fields() {
        assert!(json.get(name).is_some(), "{name}");
    }
    round_trip(&ReceivingStats { withheld_reports: 5, ..ReceivingStats::default() });
    let wire = PacketDeparture::Wire(AbsSendTime::from_ticks(0x00AB_CDEF));
    for departure in [wire, PacketDeparture::Clock(SendTime::from_millis(7))] {
        round_trip(&ArrivedPacket {
            departure: Some(departure),
            ecn: Ecn::Ce,
            frame_marking: Some(FrameMarking::new(true, false, true)),
            stamp: Some(StampExtension { rtt: 400, rate: 1_000_000 }),
            ..ArrivedPacket::of_stream(1, 2, 3)
        });
    }
    round_trip(&ArrivedPacket::of_transport(9));
    round_trip(&ReceivedPacket {
        ssrc: 1,
        sequence: 2,
        number: 1 << 32,
        timestamp: 3,
        marker: true,
        payload_type: 96,
        payload: 24..1224,
        content: PacketContent::Retransmission,
        reported: true,
    });
}
