//! Feedback, REMB and receiver reports, as a sender reads them.

use weir_cc::gcc::remb::{self, GccReceiver};
use weir_cc::nada::{self, NadaObserver};
use weir_cc::{AtReceiver, Ecn, PacketFormat, RateLimits, Receiver};
use weir_units::{DataRate, TimeDelta};
use weir_wire::ntp::NtpTime;
use weir_wire::rtcp::{self, Message, SenderInfo, SenderReport};

use super::super::{
    ArrivedPacket, ConfigRefusal, IncomingStream, ReceivedExtensions, ReceivingConfig, ReceivingEndpoint,
};
use super::far_end::{
    AUDIO, FarEnd, MadePacket, RECEIVER, VIDEO, at, audio, config, endpoint, rtcp_at, with_streams,
};

/// `endpoint` with two streams, of which no lost packet is requested.
fn quiet(endpoint: Result<ReceivingEndpoint, ConfigRefusal>) -> ReceivingEndpoint {
    let mut endpoint = endpoint.unwrap();
    endpoint.add_stream(IncomingStream::new(VIDEO, 90_000)).unwrap();
    endpoint.add_stream(audio()).unwrap();
    endpoint
}

/// Packets of two streams whose sequence numbers and numbers of the transport wrap: one lost, one twice, some out of
/// order, and one after the report that covers its number.
fn sent_and_reported(config: ReceivingConfig, numbered: bool) -> (FarEnd, ReceivingEndpoint, Vec<u16>) {
    let (mut far_end, mut endpoint) = (FarEnd::new(), quiet(ReceivingEndpoint::new(config)));
    (0..65_530).for_each(|n| _ = far_end.send(7, n as u16));
    // Video and audio in turn, from 65 534 and from 3 on.
    let packets: Vec<_> = (0..10_u16)
        .map(|n| {
            let (ssrc, sequence) =
                if n % 2 == 0 { (VIDEO, 65_534_u16.wrapping_add(n / 2)) } else { (AUDIO, 3 + n / 2) };
            let number = far_end.send(ssrc, sequence);
            (number, MadePacket { number: numbered.then_some(number), ..MadePacket::new(ssrc, sequence) })
        })
        .collect();
    // The packet 4 is lost; 8 and 6 are late, the former behind the report.
    for (n, ms) in [(0, 1), (1, 2), (1, 3), (3, 4), (2, 5), (5, 6), (7, 7), (6, 8), (9, 9)] {
        assert!(packets[n].1.comes(&mut endpoint, ms).reported);
    }
    assert_eq!(endpoint.next_timeout(), Some(at(51)));
    assert!(rtcp_at(&mut endpoint, 50).is_empty());
    far_end.on_rtcp(&rtcp_at(&mut endpoint, 51));
    packets[8].1.comes(&mut endpoint, 60);
    far_end.on_rtcp(&rtcp_at(&mut endpoint, 101));
    (far_end, endpoint, packets.iter().map(|(number, _)| *number).collect())
}

fn is_as_it_was(far_end: &FarEnd, numbers: &[u16], slack: i64) {
    let arrivals = [1, 2, 5, 4, -1, 6, 8, 7, 60, 9];
    for (&number, arrived) in numbers.iter().zip(arrivals) {
        let reported = far_end.reported[&number];
        match reported {
            None => assert_eq!(arrived, -1, "{number}"),
            Some(ms) => {
                assert!((arrived..=arrived + slack).contains(&ms), "{number}: {ms}, not {arrived} ms");
            }
        }
    }
    assert_eq!(far_end.reported.len(), numbers.len());
}

#[test]
fn transport_wide_feedback_is_read() {
    let (far_end, endpoint, numbers) = sent_and_reported(config(), true);
    is_as_it_was(&far_end, &numbers, 0);
    // 16 of the last ten numbers are beyond the wrap: 65 530 to 65 535, and 0 to 3.
    assert_eq!((numbers[0], numbers[9]), (65_530, 3));
    let stats = endpoint.stats();
    assert_eq!((stats.packets_received, stats.rtcp_packets_sent, stats.unreported_packets), (10, 2, 0));
}

#[test]
fn feedback_by_rfc_8888_is_read_without_numbers_of_the_transport() {
    let extensions = ReceivedExtensions::default();
    let config = ReceivingConfig { packet_format: PacketFormat::Rfc8888, extensions, ..config() };
    let (far_end, endpoint, numbers) = sent_and_reported(config, false);
    is_as_it_was(&far_end, &numbers, 1);
    assert!(far_end.marks.values().all(|&ecn| ecn == Ecn::Ect1));
    // A message for both streams each time.
    assert_eq!(endpoint.stats().rtcp_packets_sent, 2);
}

#[test]
fn long_feedback_by_rfc_8888_continues_in_further_messages() {
    let config = ReceivingConfig { packet_format: PacketFormat::Rfc8888, ..config() };
    let (mut far_end, mut endpoint) = (FarEnd::new(), endpoint(config));
    let mut numbers = Vec::new();
    for n in 0..500 {
        for ssrc in [VIDEO, AUDIO] {
            numbers.push(far_end.send(ssrc, n));
            MadePacket::new(ssrc, n).comes(&mut endpoint, 10);
        }
    }
    let rtcp = rtcp_at(&mut endpoint, 60);
    // 1200 bytes have space for 1200 − 8 − 8 − 4 = 1180 bytes of metrics in one block, 590 packets.
    assert_eq!(rtcp.len(), 2);
    assert!(rtcp.iter().all(|packet| packet.len() <= 1200));
    far_end.on_rtcp(&rtcp);
    assert!(numbers.iter().all(|number| far_end.reported[number].is_some()));
}

#[test]
fn packets_without_a_transport_wide_number_reach_the_application_alone() {
    let mut endpoint = endpoint(config());
    assert!(!MadePacket::new(AUDIO, 1).comes(&mut endpoint, 0).reported);
    assert!(MadePacket { number: Some(9), ..MadePacket::new(VIDEO, 1) }.comes(&mut endpoint, 0).reported);
    assert_eq!(endpoint.stats().unreported_packets, 1);
    assert_eq!(endpoint.stream(AUDIO).map(|stats| stats.packets_received), Some(1));
}

#[test]
fn a_stack_may_give_numbers_alone() {
    let (mut far_end, mut endpoint) = (FarEnd::new(), ReceivingEndpoint::new(config()).unwrap());
    let numbers: Vec<u16> = (0..5).map(|n| far_end.send(VIDEO, n)).collect();
    for &number in numbers.iter().filter(|&&number| number != 2) {
        let packet = ArrivedPacket { payload: 1200, ..ArrivedPacket::of_transport(number) };
        assert_eq!(endpoint.on_arrival(at(5), &packet), Ok(true));
    }
    far_end.on_rtcp(&rtcp_at(&mut endpoint, 55));
    assert_eq!(
        far_end.reported.into_values().collect::<Vec<_>>(),
        [Some(5), Some(5), None, Some(5), Some(5)]
    );
}

/// The receiver half of GCC that makes REMBs.
fn remb_receiver() -> Box<dyn Receiver> {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
    Box::new(GccReceiver::new(remb::Config::default(), limits).unwrap())
}

/// Messages in answer to two seconds of packets with departures, but without numbers of the transport.
fn answers(config: ReceivingConfig, receiver: Box<dyn Receiver>) -> (Vec<Vec<u8>>, ReceivingEndpoint) {
    let extensions = ReceivedExtensions { transport_sequence: None, ..config.extensions };
    let config = ReceivingConfig { extensions, ..config };
    let mut endpoint = quiet(ReceivingEndpoint::with_receiver(config, receiver));
    let mut rtcp = Vec::new();
    for n in 0..200 {
        let ssrc = if n % 4 == 0 { AUDIO } else { VIDEO };
        let ms = 10 * i64::from(n);
        MadePacket { sent: Some(ms), ..MadePacket::new(ssrc, n) }.comes(&mut endpoint, ms + 40);
        rtcp.extend(rtcp_at(&mut endpoint, ms + 40));
    }
    (rtcp, endpoint)
}

#[test]
fn a_remb_names_all_streams_and_is_sent_only_if_agreed_on() {
    let (rtcp, allowed) = answers(ReceivingConfig { remb: true, ..config() }, remb_receiver());
    let mut rembs = 0;
    for message in rtcp.iter().flat_map(|bytes| rtcp::messages(bytes)) {
        if let Message::Remb(remb) = message.unwrap() {
            assert_eq!(remb.sender_ssrc, RECEIVER);
            assert!(remb.ssrcs().eq([VIDEO, AUDIO]));
            // 100 packets of 100 bytes a second are 80 kbit/s.
            assert!((50_000..2_500_000).contains(&remb.bitrate), "{} bit/s", remb.bitrate);
            rembs += 1;
        }
    }
    assert!(rembs > 0 && allowed.stats().withheld_reports == 0);
    let (rtcp, refused) = answers(config(), remb_receiver());
    let mut messages = rtcp.iter().flat_map(|bytes| rtcp::messages(bytes));
    assert!(!messages.any(|message| matches!(message, Ok(Message::Remb(_)))));
    assert!(refused.stats().withheld_reports > 0);
}

#[test]
fn a_report_that_names_a_packet_is_withheld_without_numbers() {
    let observer = NadaObserver::new(nada::Config::default()).unwrap();
    let (rtcp, endpoint) = answers(config(), Box::new(AtReceiver::new(observer)));
    let mut messages = rtcp.iter().flat_map(|bytes| rtcp::messages(bytes));
    assert!(messages.all(|message| matches!(message, Ok(Message::ReceiverReport(_)))));
    assert!(endpoint.stats().withheld_reports > 10);
}

#[test]
fn a_receiver_half_gets_only_packets_with_a_departure() {
    let receiver = remb_receiver();
    let mut endpoint = with_streams(ReceivingEndpoint::with_receiver(config(), receiver).unwrap());
    let packet = MadePacket { number: Some(1), ..MadePacket::new(VIDEO, 1) };
    assert!(!packet.comes(&mut endpoint, 0).reported);
    assert!(MadePacket { number: Some(2), sent: Some(3), ..packet }.comes(&mut endpoint, 10).reported);
}

/// Receiver reports in `rtcp`: source, fraction lost, last sender report and delay since.
fn blocks(rtcp: &[Vec<u8>]) -> Vec<(u32, u8, u32, u32)> {
    let mut blocks = Vec::new();
    for message in rtcp.iter().flat_map(|bytes| rtcp::messages(bytes)) {
        if let Message::ReceiverReport(report) = message.unwrap() {
            assert_eq!(report.ssrc, RECEIVER);
            blocks.extend(report.blocks().map(|block| {
                (
                    block.ssrc,
                    block.fraction_lost,
                    block.last_sender_report,
                    block.delay_since_last_sender_report,
                )
            }));
        }
    }
    blocks
}

#[test]
fn receiver_reports_cover_each_stream_and_echo_its_sender_report() {
    let mut endpoint = quiet(ReceivingEndpoint::new(ReceivingConfig { rtcp_spread: 0.0, ..config() }));
    for n in [0, 1, 2, 4] {
        MadePacket::new(VIDEO, n).comes(&mut endpoint, 10);
        MadePacket::new(AUDIO, n).comes(&mut endpoint, 10);
    }
    let info = SenderInfo { ntp: NtpTime(0x1234_5678_9ABC_DEF0), ..SenderInfo::default() };
    let mut bytes = [0; 64];
    let length = SenderReport::write(AUDIO, &info, &[], &mut bytes).unwrap();
    endpoint.on_rtcp(at(510), &bytes[..length]).unwrap();
    assert!(blocks(&rtcp_at(&mut endpoint, 1009)).is_empty());
    // One of five is lost: 51/256. The sender report is half a second old.
    let expected = [(VIDEO, 51, 0, 0), (AUDIO, 51, 0x5678_9ABC, 1 << 15)];
    assert_eq!(blocks(&rtcp_at(&mut endpoint, 1010)), expected);
    assert_eq!(endpoint.next_timeout(), Some(at(2010)));
    assert!(blocks(&rtcp_at(&mut endpoint, 2010)).is_empty(), "no packet has come since");
}

#[test]
fn many_streams_have_several_receiver_reports() {
    let mut endpoint = ReceivingEndpoint::new(ReceivingConfig { rtcp_spread: 0.0, ..config() }).unwrap();
    for ssrc in 0..40 {
        endpoint.add_stream(IncomingStream { ssrc, ..audio() }).unwrap();
        MadePacket::new(ssrc, 1).comes(&mut endpoint, 0);
    }
    let rtcp = rtcp_at(&mut endpoint, 1000);
    assert_eq!(rtcp.len(), 2);
    assert!(blocks(&rtcp).iter().map(|block| block.0).eq(0..40));
}

#[test]
fn intervals_of_receiver_reports_are_drawn_anew() {
    let mut endpoint = endpoint(config());
    let (mut times, mut n) = (vec![0], 0);
    while times.len() < 200 {
        n += 1;
        let ms = 10 * i64::from(n);
        MadePacket::new(AUDIO, n).comes(&mut endpoint, ms);
        if !rtcp_at(&mut endpoint, ms).is_empty() {
            times.push(ms);
        }
    }
    let spans: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(spans.iter().all(|span| (500..=1510).contains(span)), "{spans:?}");
    let mean = spans.iter().sum::<i64>() / 199;
    assert!((950..1060).contains(&mean), "{mean} ms");
    assert!(
        TimeDelta::from_millis(spans.iter().max().unwrap() - spans.iter().min().unwrap())
            > TimeDelta::from_millis(800)
    );
}
