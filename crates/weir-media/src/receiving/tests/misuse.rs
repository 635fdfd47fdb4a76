//! Values out of range, times that run back, and bytes of anyone.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_cc::gcc::remb::{self, GccReceiver};
use weir_cc::nada::{self, NadaObserver};
use weir_cc::{ArrivalTime, AtReceiver, Ecn, PacketFormat, RateLimits, Receiver, SendTime};
use weir_units::{DataRate, TimeDelta};

use crate::RetransmissionStream;

use super::super::{
    ArrivedPacket, ConfigRefusal, FeedbackInterval, IncomingStream, PacketDeparture, ReceivedExtensions,
    ReceivingConfig, ReceivingEndpoint, ReceivingError, UnknownStreams,
};
use super::far_end::{
    AUDIO, IDS, MadePacket, VIDEO, VIDEO_RTX, at, config, endpoint, rtcp_at, video, with_streams,
};

#[test]
fn values_out_of_range_are_refused() {
    let refusal = |config: ReceivingConfig| ReceivingEndpoint::new(config).unwrap_err();
    let ids = |transport_sequence, abs_send_time| {
        let extensions = ReceivedExtensions { transport_sequence, abs_send_time, ..IDS };
        refusal(ReceivingConfig { extensions, ..config() })
    };
    assert_eq!(ids(Some(0), None), ConfigRefusal::ExtensionId(0));
    assert_eq!(ids(Some(4), Some(4)), ConfigRefusal::ExtensionId(4));
    let interval = TimeDelta::ZERO;
    assert_eq!(
        refusal(ReceivingConfig { rtcp_interval: interval, ..config() }),
        ConfigRefusal::RtcpInterval(interval)
    );
    for rtcp_spread in [-0.1, 1.0, f64::NAN] {
        assert_eq!(refusal(ReceivingConfig { rtcp_spread, ..config() }), ConfigRefusal::RtcpSpread);
    }
    let unknown = UnknownStreams::Learned { clock_hz: 0, nack: false, most: 9 };
    assert_eq!(refusal(ReceivingConfig { unknown, ..config() }), ConfigRefusal::ClockRate);
}

#[test]
fn streams_that_cannot_be_are_refused_and_change_nothing() {
    let extensions = ReceivedExtensions { frame_marking: None, ..IDS };
    let mut endpoint = endpoint(ReceivingConfig { extensions, ..config() });
    let mut refusal = |stream| endpoint.add_stream(stream).unwrap_err();
    let rtx = |ssrc, payload_type| Some(RetransmissionStream { ssrc, payload_type });
    let stream = IncomingStream::new(50, 8000);
    assert_eq!(refusal(IncomingStream { clock_hz: 0, ..stream }), ConfigRefusal::ClockRate);
    for ssrc in [VIDEO, VIDEO_RTX, AUDIO] {
        assert_eq!(refusal(IncomingStream { ssrc, ..stream }), ConfigRefusal::SourceTaken(ssrc));
        assert_eq!(
            refusal(IncomingStream { retransmission: rtx(ssrc, 1), ..stream }),
            ConfigRefusal::SourceTaken(ssrc)
        );
    }
    assert_eq!(
        refusal(IncomingStream { retransmission: rtx(50, 1), ..stream }),
        ConfigRefusal::SourceTaken(50)
    );
    assert_eq!(
        refusal(IncomingStream { retransmission: rtx(51, 128), ..stream }),
        ConfigRefusal::PayloadType(128)
    );
    let key_frames = Some(TimeDelta::from_millis(300));
    assert_eq!(refusal(IncomingStream { key_frames, ..stream }), ConfigRefusal::FrameMarking);
    assert_eq!(endpoint.streams().count(), 2);
}

#[test]
fn times_that_run_back_are_refused_and_counted() {
    let mut endpoint = endpoint(config());
    let packet = MadePacket { number: Some(1), ..MadePacket::new(VIDEO, 1) };
    packet.comes(&mut endpoint, 100);
    let before = endpoint.stream(VIDEO);
    let error = ReceivingError::TimeWentBack { now: at(99), latest: at(100) };
    assert_eq!(endpoint.on_packet(at(99), &packet.bytes(), Ecn::NotEct), Err(error));
    assert_eq!(endpoint.on_arrival(at(99), &ArrivedPacket::of_stream(VIDEO, 2, 0)), Err(error));
    assert_eq!(endpoint.on_rtcp(at(99), &[]), Err(error));
    assert_eq!(endpoint.request_key_frame(at(99), VIDEO), Err(error));
    assert!(rtcp_at(&mut endpoint, 99).is_empty());
    assert_eq!((endpoint.stats().refused_times, endpoint.stream(VIDEO)), (5, before));
    assert_eq!(
        error.to_string(),
        "the time 99000000 ns is before 100000000 ns of an earlier call, times must not run back"
    );
    let never = endpoint.on_packet(ArrivalTime::MAX, &packet.bytes(), Ecn::NotEct);
    assert_eq!(never, Err(ReceivingError::NoTime));
    // Equal times are in order.
    packet.comes(&mut endpoint, 100);
}

#[test]
fn stray_packets_are_ignored_until_the_next_number_follows() {
    let mut endpoint = endpoint(config());
    let mut comes = |ssrc, sequence, number| {
        let packet = MadePacket { number, ..MadePacket::new(ssrc, sequence) };
        endpoint.on_packet(at(0), &packet.bytes(), Ecn::NotEct).unwrap().is_some()
    };
    assert!(comes(VIDEO, 1, Some(1)));
    assert!(!comes(VIDEO, 2, Some(20_000)) && comes(VIDEO, 3, Some(20_001)));
    // Streams without that number go by their own.
    assert!(comes(AUDIO, 1, None));
    assert!(!comes(AUDIO, 20_000, None) && comes(AUDIO, 20_001, None));
    assert_eq!(endpoint.stats().stray_packets, 2);
}

/// An endpoint of one of all kinds.
fn of_kind(kind: u8) -> ReceivingEndpoint {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
    let unknown = UnknownStreams::Learned { clock_hz: u32::MAX, nack: true, most: 40 };
    let config = ReceivingConfig { unknown, remb: true, ..config() };
    let around =
        |config, receiver: Box<dyn Receiver>| ReceivingEndpoint::with_receiver(config, receiver).unwrap();
    with_streams(match kind % 4 {
        0 => ReceivingEndpoint::new(ReceivingConfig { feedback: FeedbackInterval::Adaptive, ..config })
            .unwrap(),
        1 => {
            let extensions = ReceivedExtensions::default();
            let packet_format = PacketFormat::Rfc8888;
            ReceivingEndpoint::new(ReceivingConfig { extensions, packet_format, ..config }).unwrap()
        }
        2 => {
            let receiver = GccReceiver::new(remb::Config::default(), limits).unwrap();
            around(
                ReceivingConfig { additional_reports: Some(TimeDelta::ZERO), ..config },
                Box::new(receiver),
            )
        }
        _ => {
            let observer = NadaObserver::new(nada::Config::default()).unwrap();
            let config = ReceivingConfig { packet_format: PacketFormat::Rfc8888, ..config };
            around(config, Box::new(AtReceiver::new(observer)))
        }
    })
}

/// An operation on an endpoint.
#[derive(Clone, Debug)]
enum RandomCall {
    /// Time passes, in ns.
    Passes(i64),
    Bytes(Vec<u8>, u8),
    Packet {
        ssrc: u32,
        sequence: u16,
        number: Option<u16>,
        sent: Option<i64>,
        payload_type: u8,
        length: usize,
    },
    Arrival(ArrivedPacket),
    Rtcp(Vec<u8>),
    Poll(usize),
    KeyFrame(u32),
    Add(IncomingStream),
    Remove(u32),
    Route,
}

fn ssrc() -> impl Strategy<Value = u32> {
    prop_oneof![Just(VIDEO), Just(VIDEO_RTX), Just(AUDIO), 1..60_u32, any::<u32>()]
}

fn ecn(of: u8) -> Ecn {
    [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(of % 4)]
}

fn calls() -> impl Strategy<Value = RandomCall> {
    let arrival = (ssrc(), any::<(u16, u32, u16, i64, u16, u16, u8)>(), any::<(bool, bool, bool)>())
        .prop_map(
            |(
                ssrc,
                (sequence, timestamp, number, sent, header, payload, ecn_bits),
                (known, numbered, repeats),
            )| {
                RandomCall::Arrival(ArrivedPacket {
                    ssrc: known.then_some(ssrc),
                    number: numbered.then_some(number),
                    departure: Some(PacketDeparture::Clock(SendTime::from_nanos(sent))),
                    header,
                    payload,
                    padding: payload,
                    ecn: ecn(ecn_bits),
                    original: repeats.then_some(number),
                    ..ArrivedPacket::of_stream(ssrc, sequence, timestamp)
                })
            },
        );
    let packet = (
        ssrc(),
        any::<u16>(),
        proptest::option::of(any::<u16>()),
        proptest::option::of(0..1_000_000_i64),
        prop_oneof![Just(96_u8), Just(99), 0..128_u8],
        0..50_usize,
    );
    let packet = packet.prop_map(|(ssrc, sequence, number, sent, payload_type, length)| RandomCall::Packet {
        ssrc,
        // Often near each other.
        sequence: if length % 4 == 0 { sequence } else { sequence % 64 },
        number: number.map(|number| if length % 4 == 1 { number } else { number % 64 }),
        sent,
        payload_type,
        length,
    });
    let stream =
        (ssrc(), ssrc(), any::<(u32, u8, bool)>()).prop_map(|(ssrc, rtx, (rate, payload_type, nack))| {
            RandomCall::Add(IncomingStream {
                retransmission: nack.then_some(RetransmissionStream { ssrc: rtx, payload_type }),
                nack,
                key_frames: nack.then_some(TimeDelta::from_nanos(i64::from(rate))),
                ..IncomingStream::new(ssrc, rate)
            })
        });
    prop_oneof![
        4 => (-1000..100_000_000_i64).prop_map(RandomCall::Passes),
        1 => any::<i64>().prop_map(RandomCall::Passes),
        2 => (vec(any::<u8>(), 0..80), any::<u8>()).prop_map(|(bytes, ecn)| RandomCall::Bytes(bytes, ecn)),
        8 => packet,
        4 => arrival,
        2 => vec(any::<u8>(), 0..80).prop_map(RandomCall::Rtcp),
        4 => (0..1300_usize).prop_map(RandomCall::Poll),
        1 => ssrc().prop_map(RandomCall::KeyFrame),
        1 => stream,
        1 => ssrc().prop_map(RandomCall::Remove),
        1 => Just(RandomCall::Route),
    ]
}

/// Makes the call at `now`.
fn make(endpoint: &mut ReceivingEndpoint, now: ArrivalTime, call: &RandomCall, out: &mut [u8]) {
    match call {
        RandomCall::Passes(_) => _ = endpoint.next_timeout(),
        RandomCall::Bytes(bytes, bits) => _ = endpoint.on_packet(now, bytes, ecn(*bits)),
        &RandomCall::Packet { ssrc, sequence, number, sent, payload_type, length } => {
            let payload = &[3; 50][..length];
            let packet =
                MadePacket { payload_type, number, sent, payload, ..MadePacket::new(ssrc, sequence) };
            let bytes = packet.bytes();
            if let Ok(Some(read)) = endpoint.on_packet(now, &bytes, Ecn::Ce) {
                assert!(bytes.get(read.payload).is_some(), "the payload is in the bytes");
            }
        }
        RandomCall::Arrival(packet) => _ = endpoint.on_arrival(now, packet),
        RandomCall::Rtcp(bytes) => _ = endpoint.on_rtcp(now, bytes),
        RandomCall::Poll(room) => {
            let mut polls = 0;
            while endpoint.poll_report(now, &mut out[..*room]).is_some() {
                polls += 1;
                assert!(polls < 10_000, "polls end");
            }
        }
        RandomCall::KeyFrame(ssrc) => _ = endpoint.request_key_frame(now, *ssrc),
        RandomCall::Add(stream) => _ = endpoint.add_stream(*stream),
        RandomCall::Remove(ssrc) => _ = endpoint.remove_stream(*ssrc),
        RandomCall::Route => endpoint.on_route_changed(),
    }
}

proptest! {
    /// 256 times up to 800 operations.
    #[test]
    fn random_operations_never_panic(kind: u8, calls in vec(calls(), 400..800)) {
        let (mut endpoint, mut now, mut out) = (of_kind(kind), ArrivalTime::ZERO, [0; 1300]);
        for call in &calls {
            if let RandomCall::Passes(span) = call {
                now += TimeDelta::from_nanos(*span);
            }
            make(&mut endpoint, now, call, &mut out);
        }
        let counted: u64 = endpoint.streams().map(|stats| stats.packets_received).sum();
        prop_assert!(counted <= endpoint.stats().packets_received, "removed streams are counted there alone");
    }

    /// 256 times 400 byte strings, of which each second begins as an RTP packet of a known stream.
    #[test]
    fn random_bytes_never_panic(kind: u8, strings in vec(vec(any::<u8>(), 0..80), 400)) {
        let mut endpoint = of_kind(kind);
        let mut refused = 0;
        for (n, mut bytes) in strings.into_iter().enumerate() {
            if n % 2 == 0 && bytes.len() >= 12 {
                bytes[0] = 0x80 | bytes[0] & 0x3F;
                bytes[8..12].copy_from_slice(&VIDEO_RTX.to_be_bytes());
            }
            refused += u64::from(endpoint.on_packet(at(n as i64), &bytes, ecn(n as u8)).is_err());
            prop_assert!(endpoint.on_rtcp(at(n as i64), &bytes).is_ok() || endpoint.stats().malformed_rtcp > 0);
            rtcp_at(&mut endpoint, n as i64);
        }
        prop_assert_eq!(endpoint.stats().malformed_packets, refused);
    }
}

#[test]
fn a_stream_is_added_with_all_its_requests() {
    let mut endpoint = endpoint(config());
    let stream = IncomingStream {
        ssrc: 8,
        retransmission: None,
        key_frames: Some(TimeDelta::from_millis(300)),
        ..video()
    };
    endpoint.add_stream(stream).unwrap();
    // Without a key frame at the beginning one is requested, by the frame markings.
    MadePacket { number: Some(1), ..MadePacket::new(8, 1) }.comes(&mut endpoint, 7);
    assert_eq!(endpoint.next_timeout(), Some(at(7)));
    rtcp_at(&mut endpoint, 7);
    assert_eq!(endpoint.stream(8).map(|stats| stats.pli_count), Some(1));
}
