//! Headers and reports have the same effect as values and as bytes.

use weir_media::MediaConfig;
use weir_units::{DataRate, TimeDelta};
use weir_wire::media::LONGEST_LEN;
use weir_wire::rtcp::{self, Message};
use weir_wire::{ExtensionIds, MediaHeader};

use crate::rig::{
    Call, Event, Halves, PROPAGATION, RTCP_ROOM, config, dccc, gcc_2016, media_receiver, nada, tfrc,
};

/// Long enough for the departure times, which wrap every 64 s, to wrap twice.
const TWO_WRAPS: TimeDelta = TimeDelta::from_secs(130);

/// Small packets: their numbers wrap too.
fn small_packets() -> MediaConfig {
    MediaConfig { payload_limit: 300, ..config() }
}

/// The header, written and read again.
fn through_bytes(header: &MediaHeader) -> MediaHeader {
    let ids = ExtensionIds::default();
    let mut bytes = [0; LONGEST_LEN];
    let length = header.write(&ids, &mut bytes).unwrap();
    MediaHeader::parse(&bytes[..length], &ids).unwrap()
}

/// Number of wraps of a counter.
fn wraps(counter: impl Iterator<Item = u32>) -> usize {
    let values: Vec<u32> = counter.collect();
    values.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

/// The headers of the packets that arrived.
fn headers(call: &Call) -> impl Iterator<Item = &MediaHeader> {
    call.events.iter().filter_map(|(_, event)| match event {
        Event::Media(packet) => Some(&packet.header),
        _ => None,
    })
}

/// Runs a call whose receiver takes headers as values; a second receiver that takes them as bytes must have the same
/// results.
fn header_and_bytes_are_the_same_thing(controller: fn() -> Halves) {
    let mut call = Call::new(controller(), &small_packets(), DataRate::from_mbps(3));
    call.media_loss = 1009;
    call.run(TWO_WRAPS);
    assert_eq!(wraps(headers(&call).map(|header| header.abs_send_time.ticks())), 2);
    assert!(wraps(headers(&call).map(|header| u32::from(header.sequence))) >= 1);
    assert!(wraps(headers(&call).map(|header| u32::from(header.transport_sequence))) >= 1);

    let mut twin = media_receiver(controller().1, &small_packets());
    let mut rtcp_packets = 0;
    let mut out = [0; RTCP_ROOM];
    for (at, event) in &call.events {
        match event {
            Event::Media(packet) => {
                let header = through_bytes(&packet.header);
                assert_eq!(header, packet.header);
                twin.on_packet(*at, &header, packet.payload, small_packets().ecn);
            }
            Event::SenderRtcp(bytes) => twin.on_rtcp(*at, bytes),
            Event::ReceiverRtcp(bytes, _) => {
                let length = twin.poll_rtcp(*at, &mut out).expect("the other one had something to say");
                assert_eq!(&out[..length], bytes);
                rtcp_packets += 1;
            }
        }
    }
    assert!(rtcp_packets > 200, "{rtcp_packets} RTCP packets");
}

#[test]
fn header_and_bytes_are_the_same_thing_for_gcc_2016() {
    header_and_bytes_are_the_same_thing(gcc_2016);
}

#[test]
fn header_and_bytes_are_the_same_thing_for_nada() {
    header_and_bytes_are_the_same_thing(nada);
}

#[test]
fn header_and_bytes_are_the_same_thing_for_dccc() {
    header_and_bytes_are_the_same_thing(dccc);
}

#[test]
fn header_and_bytes_are_the_same_thing_for_tfrc() {
    header_and_bytes_are_the_same_thing(tfrc);
}

/// A call of 20 s over a path without a queue. For each RTCP packet of the receiver: its bytes, the signals of its
/// controller's half, and the results at the sender.
fn sent_and_received(controller: fn() -> Halves) -> Vec<(Vec<u8>, Vec<f64>, crate::rig::RtcpOutcome)> {
    let mut call = Call::new(controller(), &config(), DataRate::from_mbps(100));
    call.media_loss = 20;
    call.run(TimeDelta::from_secs(20));
    let sent = call.events.into_iter().filter_map(|(_, event)| match event {
        Event::ReceiverRtcp(bytes, signals) => Some((bytes, signals)),
        _ => None,
    });
    sent.zip(call.outcomes).map(|((bytes, sent), received)| (bytes, sent, received)).collect()
}

#[test]
fn the_sender_gets_the_ceiling_and_the_loss_of_the_receiver() {
    let (mut ceilings, mut reports) = (0, 0);
    for (bytes, sent, received) in sent_and_received(gcc_2016) {
        match rtcp::messages(&bytes).next().unwrap().unwrap() {
            Message::Remb(_) => {
                let (sent, received) = (sent[6], received.signals[1]);
                // 18 significant bits, rounded down.
                assert!(
                    received <= sent && sent - received < sent / f64::from(1 << 17),
                    "{sent}, {received} bit/s"
                );
                ceilings += 1;
            }
            Message::ReceiverReport(report) => {
                let block = report.blocks().next().unwrap();
                assert_eq!(received.signals[2], f64::from(block.fraction_lost) / 256.0);
                assert!(received.rtt.is_none() == (block.last_sender_report == 0));
                if let Some(rtt) = received.rtt {
                    assert_near(rtt, PROPAGATION * 2);
                }
                reports += usize::from(block.fraction_lost > 0);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(ceilings >= 18 && reports >= 10, "{ceilings} REMBs, {reports} reports of loss");
}

#[test]
fn the_sender_gets_the_congestion_of_the_receiver() {
    let mut reports = 0;
    for (bytes, sent, received) in sent_and_received(nada) {
        if let Message::Nada(_) = rtcp::messages(&bytes).next().unwrap().unwrap() {
            let (sent, received_x) = (sent[4], received.signals[0]);
            // The wire carries units of 0.1 ms.
            assert!((sent - received_x).abs() <= 0.0501, "{sent}, {received_x} ms");
            assert_near(received.rtt.expect("an echo"), PROPAGATION * 2);
            reports += usize::from(sent > 0.0);
        }
    }
    assert!(reports > 100, "{reports} reports of congestion");
}

/// Within a millisecond: packets also take the time of their transmission.
fn assert_near(measured: TimeDelta, expected: TimeDelta) {
    assert!((measured - expected).abs() < TimeDelta::from_millis(1), "{measured:?}, not {expected:?}");
}
