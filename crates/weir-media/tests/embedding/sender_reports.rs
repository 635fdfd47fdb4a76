//! Sender reports on more streams than one packet holds.

use weir_media::{Endpoint, EndpointConfig, EndpointEvent, PacketMeta, PayloadHandle, StreamConfig};
use weir_wire::rtcp::{self, Message, ReceiverReport, ReportBlock};

use super::rig::{RECEIVER, at, gcc, limits};

const STREAMS: u32 = 200;
/// Bytes of a sender report without blocks.
const REPORT: usize = 28;

/// An endpoint with its present time in milliseconds.
struct ManyStreams {
    endpoint: Endpoint<PayloadHandle>,
    now: i64,
}

impl ManyStreams {
    /// Streams of audio, from the source 1 on, which have sent a packet each.
    fn having_sent() -> Self {
        let mut endpoint = Endpoint::new(gcc(), EndpointConfig::new(limits()), 7);
        for ssrc in 1..=STREAMS {
            let stream = endpoint.add_stream(StreamConfig::audio(ssrc, 111)).unwrap();
            let payload = PayloadHandle { place: 0, size: 80 };
            endpoint.queue(at(0), stream, payload, PacketMeta::new(960, false)).unwrap();
        }
        while endpoint.poll_packet(at(0), &mut [0; 1500]).unwrap().is_some() {}
        Self { endpoint, now: 0 }
    }

    /// The next sender report packets: the sources in each, and the middle of its NTP time.
    fn next_reports(&mut self, buffer: usize) -> Vec<(Vec<u32>, u32)> {
        let mut out = vec![0; buffer];
        let mut packets = Vec::new();
        while packets.is_empty() {
            self.now += 1;
            while let Some(length) = self.endpoint.poll_rtcp(at(self.now), &mut out).unwrap() {
                let (mut sources, mut middle) = (Vec::new(), 0);
                for message in rtcp::messages(&out[..length]) {
                    let Ok(Message::SenderReport(report)) = message else { panic!("sender reports alone") };
                    assert_eq!((report.info.packet_count, report.info.octet_count), (1, 80));
                    sources.push(report.ssrc);
                    middle = report.info.ntp.middle();
                }
                assert_eq!(length, REPORT * sources.len());
                packets.push((sources, middle));
            }
        }
        packets
    }
}

#[test]
fn the_reports_on_all_streams_leave_in_packets_that_fit() {
    let mut streams = ManyStreams::having_sent();
    // 52 reports have 1456 bytes. A large buffer makes no packet longer than `most_bytes`.
    for (buffer, most) in [(1472, 52), (300, 10), (65_536, 52)] {
        let before = streams.now;
        let packets = streams.next_reports(buffer);
        // A second ± 50 % lies between two reports.
        assert!((500..=1501).contains(&(streams.now - before)), "{before} to {} ms", streams.now);
        let counts: Vec<usize> = packets.iter().map(|(sources, _)| sources.len()).collect();
        let rest = STREAMS as usize % most;
        let mut expected = vec![most; STREAMS as usize / most];
        expected.extend((rest > 0).then_some(rest));
        assert_eq!(counts, expected, "{buffer} bytes");
        let sources: Vec<u32> = packets.into_iter().flat_map(|(sources, _)| sources).collect();
        assert_eq!(sources, (1..=STREAMS).collect::<Vec<u32>>(), "{buffer} bytes");
    }
}

#[test]
fn a_packet_per_wake_up_covers_all_streams_in_turn() {
    let mut streams = ManyStreams::having_sent();
    let (mut out, mut sources) = ([0; 1472], Vec::new());
    while sources.len() < STREAMS as usize {
        streams.now = streams.endpoint.next_timeout().unwrap().nanos() / 1_000_000 + 1;
        streams.endpoint.on_timeout(at(streams.now)).unwrap();
        while streams.endpoint.poll_packet(at(streams.now), &mut [0; 1500]).unwrap().is_some() {}
        let Some(length) = streams.endpoint.poll_rtcp(at(streams.now), &mut out).unwrap() else { continue };
        sources.extend(rtcp::messages(&out[..length]).map(|message| match message {
            Ok(Message::SenderReport(report)) => report.ssrc,
            other => panic!("{other:?}"),
        }));
    }
    assert_eq!(sources, (1..=STREAMS).collect::<Vec<u32>>());
}

#[test]
fn a_buffer_without_room_writes_nothing_and_ends() {
    let mut streams = ManyStreams::having_sent();
    for ms in 0..5000 {
        assert_eq!(streams.endpoint.poll_rtcp(at(ms), &mut [0; REPORT - 1]), Ok(None));
    }
    streams.now = 5000;
    assert_eq!(streams.next_reports(REPORT).len(), STREAMS as usize);
}

#[test]
fn the_answer_to_a_report_of_the_last_packet_measures_the_round_trip() {
    let mut streams = ManyStreams::having_sent();
    // Each of these rounds is four packets at one time; more than eight rounds are remembered.
    let middles: Vec<u32> = (0..20).map(|_| streams.next_reports(1472)[3].1).collect();
    while streams.endpoint.poll_event().is_some() {}
    for (back, last_sender_report) in middles.iter().rev().copied().enumerate() {
        let held = 65_536 * back as u32;
        let block = ReportBlock {
            ssrc: STREAMS - back as u32,
            last_sender_report,
            delay_since_last_sender_report: held,
            ..ReportBlock::default()
        };
        let mut out = [0; 100];
        let length = ReceiverReport::write(RECEIVER, &[block], &mut out).unwrap();
        streams.endpoint.on_rtcp(at(streams.now + 40), &out[..length]).unwrap();
    }
    let refused = streams.endpoint.stats().reports_refused;
    assert_eq!(refused, 0, "all twenty reports were sent");
    let events: Vec<_> = std::iter::from_fn(|| streams.endpoint.poll_event()).collect();
    assert!(events.iter().any(|event| matches!(event, EndpointEvent::RoundTrip(_))), "{events:?}");
}
