//! A receiving endpoint that gets bytes writes the same RTCP as a media receiver that gets headers.

use weir_cc::Ecn;
use weir_media::chromium::ChromiumConfig;
use weir_media::receiving::{FeedbackInterval, IncomingStream, ReceivingConfig, ReceivingEndpoint};
use weir_media::{
    AUDIO_CLOCK_HZ, AudioConfig, CountedBytes, MediaConfig, MediaPacket, PacketFormat, RetransmissionStream,
    VIDEO_CLOCK_HZ,
};
use weir_units::{DataRate, TimeDelta};
use weir_wire::ExtensionIds;
use weir_wire::media::RETRANSMISSION_PAYLOAD_TYPE;

use crate::rig::{
    Call, Event, Halves, RECEIVER, RTCP_ROOM, SENDER, config, dccc, gcc, gcc_2016, nada, scream_v2, tfrc,
};

const AUDIO: u32 = SENDER | 1 << 31;
const RTX: u32 = SENDER | 1 << 30;
/// Seed of the report intervals in `rig::media_receiver`.
const SEED: u64 = 3;

/// The configuration with the meaning of `media`.
fn receiving_config(media: &MediaConfig) -> ReceivingConfig {
    ReceivingConfig {
        packet_format: media.packet_format,
        additional_reports: media.additional_reports,
        remb: true,
        ecn: media.ecn != Ecn::NotEct,
        counted: media.counted,
        rtcp_interval: media.rtcp_interval,
        rtcp_spread: media.rtcp_spread,
        seed: SEED,
        ..ReceivingConfig::new(RECEIVER)
    }
}

/// Adds the streams of a flow with this configuration.
fn add_streams(endpoint: &mut ReceivingEndpoint, media: &MediaConfig) {
    let repeats = media.chromium.is_some_and(|chromium| chromium.retransmissions);
    let retransmission =
        repeats.then_some(RetransmissionStream { ssrc: RTX, payload_type: RETRANSMISSION_PAYLOAD_TYPE });
    let video = IncomingStream {
        retransmission,
        nack: repeats,
        key_frames: media.key_frame_requests,
        ..IncomingStream::new(SENDER, VIDEO_CLOCK_HZ as u32)
    };
    endpoint.add_stream(video).unwrap();
    if media.audio.is_some() {
        endpoint.add_stream(IncomingStream::new(AUDIO, AUDIO_CLOCK_HZ as u32)).unwrap();
    }
}

/// The packet as it is on the wire.
fn bytes_of(packet: &MediaPacket) -> Vec<u8> {
    let mut bytes = vec![0; packet.header.wire_len() + usize::from(packet.payload)];
    packet.header.write(&ExtensionIds::default(), &mut bytes).unwrap();
    bytes
}

/// Feeds `twin` with what came in a call of 20 s, and compares each RTCP packet. Returns their number.
fn same_rtcp(mut twin: ReceivingEndpoint, controller: fn() -> Halves, media: &MediaConfig) -> usize {
    let mut call = Call::new(controller(), media, DataRate::from_mbps(2));
    call.media_loss = 97;
    call.run(TimeDelta::from_secs(20));
    let mut out = [0; RTCP_ROOM];
    let (mut compared, mut arrived) = (0, 0);
    for (at, event) in &call.events {
        match event {
            Event::Media(packet) => {
                let read = twin.on_packet(*at, &bytes_of(packet), Ecn::NotEct).unwrap().expect("of a stream");
                assert_eq!(read.payload.len(), usize::from(packet.payload));
                assert_eq!(read.sequence, packet.header.original.unwrap_or(packet.header.sequence));
                arrived += 1;
            }
            Event::SenderRtcp(bytes) => twin.on_rtcp(*at, bytes).unwrap(),
            Event::ReceiverRtcp(bytes, _) => {
                assert!(twin.next_timeout().is_some_and(|due| due <= *at));
                let length = twin.poll_report(*at, &mut out).expect("it is due");
                assert_eq!(&out[..length], bytes, "RTCP packet {compared}");
                compared += 1;
            }
        }
    }
    let stats = twin.stats();
    assert_eq!((stats.packets_received, stats.rtcp_packets_sent), (arrived, compared as u64));
    assert!(compared > 30, "{compared} RTCP packets");
    compared
}

/// Compares an endpoint around the receiver half of `controller`.
fn same_by_receiver(controller: fn() -> Halves, media: &MediaConfig) {
    let mut twin = ReceivingEndpoint::with_receiver(receiving_config(media), controller().1).unwrap();
    add_streams(&mut twin, media);
    same_rtcp(twin, controller, media);
}

fn with_audio() -> MediaConfig {
    MediaConfig { audio: Some(AudioConfig::default()), ..config() }
}

fn by_rfc_8888(media: &MediaConfig) -> MediaConfig {
    MediaConfig { packet_format: PacketFormat::Rfc8888, ..*media }
}

#[test]
fn transport_wide_feedback_is_the_same() {
    let media = with_audio();
    let own = FeedbackInterval::Fixed(TimeDelta::from_millis(50));
    let mut twin =
        ReceivingEndpoint::new(ReceivingConfig { feedback: own, ..receiving_config(&media) }).unwrap();
    add_streams(&mut twin, &media);
    assert!(same_rtcp(twin, gcc, &media) > 400);
    same_by_receiver(gcc, &media);
}

#[test]
fn feedback_by_rfc_8888_is_the_same() {
    same_by_receiver(gcc, &by_rfc_8888(&config()));
    same_by_receiver(scream_v2, &by_rfc_8888(&config()));
    same_by_receiver(gcc, &by_rfc_8888(&with_audio()));
}

#[test]
fn reports_of_controllers_are_the_same() {
    for controller in [gcc_2016, nada, dccc, tfrc] {
        same_by_receiver(controller, &with_audio());
    }
    same_by_receiver(nada, &MediaConfig { additional_reports: Some(TimeDelta::from_millis(50)), ..config() });
}

#[test]
fn requests_for_lost_packets_and_key_frames_are_the_same() {
    let chromium = Some(ChromiumConfig::ALL);
    let counted = CountedBytes::WithHeaders(28);
    same_by_receiver(gcc, &MediaConfig { chromium, counted, ..with_audio() });
    same_by_receiver(gcc, &MediaConfig { key_frame_requests: Some(TimeDelta::from_millis(300)), ..config() });
}
