//! Calls out of order, foreign feedback, full queues: an error or a count, never a panic.

use proptest::prelude::*;
use weir_cc::{DataRate, Ecn, PathEvent, Reception};
use weir_media::{
    Endpoint, EndpointConfig, EndpointError, JoinedResult, PacketKind, PacketMeta, PacketNumbering, Payload,
    PayloadHandle, SentReport, StreamConfig, StreamId,
};

use super::rig::{CONTROLLERS, PAYLOAD, VIDEO, at, gcc, limits};

fn endpoint(config: EndpointConfig) -> (Endpoint<PayloadHandle>, StreamId) {
    let mut endpoint = Endpoint::new(gcc(), config, 7);
    let stream = endpoint.add_stream(StreamConfig::video(VIDEO, 96).with_retransmissions(9, 97)).unwrap();
    (endpoint, stream)
}

const PACKET: PayloadHandle = PayloadHandle { place: 0, size: PAYLOAD };

#[test]
fn a_wrong_call_is_an_error_and_has_no_effect() {
    let (mut endpoint, stream) =
        endpoint(EndpointConfig { most_packets: 3, ..EndpointConfig::new(limits()) });
    let meta = PacketMeta::new(0, true);
    let taken = |endpoint: &mut Endpoint<PayloadHandle>, config| endpoint.add_stream(config).unwrap_err();
    assert_eq!(
        taken(&mut endpoint, StreamConfig::video(VIDEO, 98)),
        EndpointError::SourceTaken { ssrc: VIDEO }
    );
    assert_eq!(taken(&mut endpoint, StreamConfig::audio(9, 98)), EndpointError::SourceTaken { ssrc: 9 });
    for _ in 0..3 {
        endpoint.queue(at(10), stream, PACKET, meta).unwrap();
    }
    assert_eq!(endpoint.queue(at(10), stream, PACKET, meta), Err(EndpointError::QueueFull));
    let back = EndpointError::TimeWentBack { now: at(9), latest: at(10) };
    assert_eq!(endpoint.on_timeout(at(9)), Err(back));
    assert_eq!(endpoint.on_rtcp(at(9), &[]), Err(back));
    let long = PayloadHandle { place: 0, size: 60_000 };
    assert_eq!(
        endpoint.queue(at(10), stream, long, meta),
        Err(EndpointError::PayloadTooLong { bytes: 60_000, most: 1438 })
    );
    let small = endpoint.poll_packet(at(10), &mut [0; 100]).unwrap_err();
    assert_eq!(small, EndpointError::BufferTooSmall { needed: 1224, available: 100 });
    assert!(endpoint.poll_packet(at(10), &mut [0; 1500]).unwrap().is_some(), "the packet has stayed");
    assert_eq!(endpoint.poll_packet_as(at(10), 1, &mut [0; 1500]), Err(EndpointError::WrongNumbering));
    let foreign = {
        let mut other = Endpoint::<PayloadHandle>::new(gcc(), EndpointConfig::new(limits()), 1);
        other.add_stream(StreamConfig::video(1, 96)).unwrap();
        other.add_stream(StreamConfig::video(2, 96)).unwrap()
    };
    assert_eq!(endpoint.queue(at(10), foreign, PACKET, meta), Err(EndpointError::UnknownStream));
    endpoint.pause(at(20)).unwrap();
    assert_eq!(endpoint.queue(at(20), stream, PACKET, meta), Err(EndpointError::Paused));
    endpoint.resume(at(30)).unwrap();
    endpoint.queue(at(30), stream, PACKET, meta).unwrap();
    assert!(back.to_string().contains("9000000"), "{back}");
}

#[test]
fn feedback_on_foreign_streams_changes_nothing() {
    let (mut endpoint, stream) = endpoint(EndpointConfig::new(limits()));
    endpoint.queue(at(0), stream, PACKET, PacketMeta::new(0, true)).unwrap();
    let mut out = [0; 1500];
    endpoint.poll_packet(at(0), &mut out).unwrap().unwrap();
    while endpoint.poll_event().is_some() {}
    let before = endpoint.stats().prometheus();
    let request = weir_wire::rtcp::Pli { ssrc: 5, source: VIDEO + 100 };
    let length = request.write(&mut out).unwrap();
    endpoint.on_rtcp(at(50), &out[..length]).unwrap();
    endpoint.on_rtcp(at(50), b"no RTCP at all").unwrap();
    assert_eq!(endpoint.stats().prometheus(), before);
    assert_eq!(endpoint.poll_event(), None);
}

#[test]
fn results_out_of_the_order_of_departures_have_no_effect() {
    let config = EndpointConfig { numbering: PacketNumbering::Given, ..EndpointConfig::new(limits()) };
    let (mut endpoint, stream) = endpoint(config);
    let result = |number, departure| JoinedResult {
        packet: SentReport {
            stream,
            sequence: number,
            timestamp: 0,
            number,
            header: 24,
            payload: PAYLOAD,
            kind: PacketKind::Media,
            probe: None,
        },
        departure: at(departure),
        reception: Reception::Missing,
        ecn: Ecn::NotEct,
    };
    endpoint.on_results(at(50), &[result(7, 10)], None).unwrap();
    while endpoint.poll_event().is_some() {}
    let before = (endpoint.stats().streams, endpoint.next_number());
    let error = endpoint.on_results(at(60), &[result(7, 10), result(8, 20), result(9, 15)], None);
    assert_eq!(error, Err(EndpointError::TimeWentBack { now: at(15), latest: at(20) }));
    assert_eq!((endpoint.stats().streams, endpoint.next_number()), before);
    assert_eq!(endpoint.poll_event(), None);
    // Departures of packets that were reported before may be in any order.
    endpoint.on_results(at(60), &[result(8, 20), result(7, 10), result(9, 25)], None).unwrap();
    assert_eq!((endpoint.stats().streams[0].packets_sent, endpoint.next_number()), (3, 10));
}

/// An operation with arbitrary arguments.
#[derive(Clone, Debug)]
enum Operation {
    Queue(u16, bool),
    Poll(u16),
    Timeout,
    Rtcp(Vec<u8>),
    Sent(u16, u16),
    Event(u8),
    Allocate(u32),
    Statistics,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (any::<u16>(), any::<bool>()).prop_map(|(size, marker)| Operation::Queue(size, marker)),
        any::<u16>().prop_map(Operation::Poll),
        Just(Operation::Timeout),
        proptest::collection::vec(any::<u8>(), 0..64).prop_map(Operation::Rtcp),
        (any::<u16>(), any::<u16>()).prop_map(|(number, size)| Operation::Sent(number, size)),
        any::<u8>().prop_map(Operation::Event),
        any::<u32>().prop_map(Operation::Allocate),
        Just(Operation::Statistics),
    ]
}

/// Applies an operation at `ms`; errors are fine.
fn apply(endpoint: &mut Endpoint<PayloadHandle>, stream: StreamId, ms: i64, operation: &Operation) {
    let now = at(ms);
    match operation {
        Operation::Queue(size, marker) => {
            let payload = PayloadHandle { place: 1, size: *size };
            _ = endpoint.queue(now, stream, payload, PacketMeta::new(u32::from(*size), *marker));
        }
        Operation::Poll(number) => {
            let mut out = vec![0; 20_000];
            _ = endpoint.poll_packet(now, &mut out);
            _ = endpoint.poll_packet_as(now, *number, &mut out[..1300]);
            _ = endpoint.poll_rtcp(now, &mut out);
            while endpoint.poll_event().is_some() {}
        }
        Operation::Timeout => _ = endpoint.on_timeout(now),
        Operation::Rtcp(bytes) => _ = endpoint.on_rtcp(now, bytes),
        Operation::Sent(number, size) => {
            let packet = SentReport {
                stream,
                sequence: *number,
                timestamp: 0,
                number: *number,
                header: 24,
                payload: *size,
                kind: if size % 3 == 0 { PacketKind::Padding } else { PacketKind::Media },
                probe: None,
            };
            _ = endpoint.on_sent(now, &packet);
        }
        Operation::Event(which) => {
            _ = match which % 4 {
                0 => endpoint.pause(now),
                1 => endpoint.resume(now),
                2 => endpoint.on_event(now, PathEvent::RouteChanged),
                _ => endpoint.on_event(now, PathEvent::Limits(limits())),
            };
        }
        Operation::Allocate(bps) => {
            _ = endpoint.set_highest_rate(now, stream, DataRate::from_bps(u64::from(*bps)));
        }
        Operation::Statistics => _ = (endpoint.stats().prometheus(), endpoint.pacer_rates(), PACKET.bytes()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_calls_panics(
        operations in proptest::collection::vec((operation(), 0_i64..300, 0_u8..16), 0..200),
        which in 0_usize..3,
        given in any::<bool>(),
    ) {
        let numbering = if given { PacketNumbering::Given } else { PacketNumbering::Own };
        let config = EndpointConfig { numbering, most_packets: 50, ..EndpointConfig::new(limits()) };
        let mut endpoint = Endpoint::new(CONTROLLERS[which].1(), config, 7);
        let streams = [
            endpoint.add_stream(StreamConfig::video(1, 96).with_retransmissions(2, 97)).unwrap(),
            endpoint.add_stream(StreamConfig::audio(3, 111)).unwrap(),
        ];
        let mut ms = 0;
        for (operation, step, stream) in &operations {
            // One of sixteen calls has a time before the last.
            ms = if *stream == 15 { ms - step } else { ms + step };
            apply(&mut endpoint, streams[usize::from(*stream) % 2], ms, operation);
        }
    }
}
