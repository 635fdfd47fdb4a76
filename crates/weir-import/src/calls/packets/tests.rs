//! Import of packets (`calls::packets`): Chromium's log, rtpdump and captures.

use weir_world::recorded::{PacketRow, StreamKind};

use super::*;
use crate::calls::{EndSelection, ExtensionOverrides};

const LOG: &[u8] = include_bytes!("../../../../../data/calls/rtp-dump.log");
const DUMP: &[u8] = include_bytes!("../../../../../data/calls/rtp-sent.rtpdump");
const CLEAR: &[u8] = include_bytes!("../../../../../data/calls/clear.pcap");
const SENDER: &[u8] = include_bytes!("../../../../../data/calls/srtp-sender.pcap");
const RECEIVER: &[u8] = include_bytes!("../../../../../data/calls/srtp-receiver.pcap");

fn with_extension() -> CallOptions {
    let extensions = ExtensionOverrides { transport_sequence: Some(3), abs_send_time: None };
    CallOptions { extensions, ..CallOptions::default() }
}

fn call(bytes: &[u8], options: &CallOptions) -> RecordedCall {
    assert!(sniff(&bytes[..bytes.len().min(4096)]));
    let call = read(bytes, options).unwrap();
    call.check().unwrap();
    call
}

fn refusal(bytes: &[u8], options: &CallOptions) -> String {
    read(bytes, options).unwrap_err().to_string()
}

fn rows(call: &RecordedCall) -> Vec<PacketRow> {
    call.packets.rows().collect()
}

#[test]
fn a_log_of_chromium_has_sends_and_feedback() {
    let call = call(LOG, &with_extension());
    assert_eq!(call.source, RecordingSource::ReadableRtp);
    let kinds: Vec<_> = call.streams.iter().map(|stream| (stream.kind, stream.clock_hz)).collect();
    let repeated = (StreamKind::Retransmission, 90_000);
    assert_eq!(kinds, [(StreamKind::Video, 90_000), repeated, (StreamKind::Audio, 48_000)]);
    let rows = rows(&call);
    assert_eq!(rows.len(), PACKETS);
    assert_eq!((rows[0].header_bytes, rows[0].payload_bytes), (20, 60));
    // The log begins 1.5 s before midnight.
    assert_eq!(rows.last().unwrap().sent_us.get(), Some(2_960_000));
    let lost: Vec<usize> = (0..PACKETS).filter(|&row| rows[row].is_lost()).collect();
    assert_eq!(lost.len(), LOST);
    assert!(rows.iter().all(|row| row.reported_us.is_known()));
    // 25 ms on the way and 20 ms for 108 bytes at 40 kbit/s, in units of 250 µs.
    let waits: Vec<i64> =
        rows.iter().filter_map(|row| Some(row.arrived_us.get()? - row.sent_us.get()?)).collect();
    assert!((waits.iter().min().unwrap() - waits[0]).abs() < 12_000, "{waits:?}");
    assert_eq!(call.feedback.len(), 60);
    let trips: Vec<i64> = call.round_trips.rows().map(|trip| trip.rtt_us).collect();
    assert_eq!(trips.len(), 3);
    // Reports echo each sender report after 200 ms, of which 120 ms passed at the receiver.
    assert!(trips.iter().all(|rtt| (79_000..81_100).contains(rtt)), "{trips:?}");
}

/// Packets of RTP in the log, and those that its feedback has as lost.
const PACKETS: usize = 103;
const LOST: usize = 3;

#[test]
fn without_the_extension_there_are_no_transport_wide_numbers() {
    let call = call(LOG, &CallOptions::default());
    assert!(rows(&call).iter().all(|row| !row.number.is_known()));
    assert!(!call.has_feedback());
    assert_eq!((call.receiver_reports.len(), call.round_trips.len()), (3, 3));
}

#[test]
fn an_extension_that_no_packet_has_is_refused() {
    let asked = |transport_sequence, abs_send_time| {
        let extensions = ExtensionOverrides { transport_sequence, abs_send_time };
        refusal(CLEAR, &CallOptions { extensions, ..CallOptions::default() })
    };
    assert_eq!(
        asked(Some(5), None),
        "no packet of the media has a header extension 5 as --extension-id transport-cc=5 says"
    );
    assert_eq!(
        asked(None, Some(6)),
        "no packet of the media has a header extension 6 as --extension-id abs-send-time=6 says"
    );
}

#[test]
fn a_capture_of_clear_rtp_says_the_same_as_the_log() {
    let log = call(LOG, &with_extension());
    let capture = call(CLEAR, &with_extension());
    assert_eq!((capture.packet_overhead_bytes, log.packet_overhead_bytes), (28, 0));
    assert!(capture.remarks.is_empty(), "{:?}", capture.remarks);
    for (one, other) in rows(&log).into_iter().zip(rows(&capture)) {
        assert_eq!(
            (one.number, one.sequence, one.payload_bytes),
            (other.number, other.sequence, other.payload_bytes)
        );
        assert_eq!(one.arrived_us, other.arrived_us);
        assert!((one.sent_us.get().unwrap() - other.sent_us.get().unwrap()).abs() <= 1000);
    }
}

#[test]
fn a_dump_of_rtptools_has_one_direction() {
    let sent = call(DUMP, &CallOptions::default());
    assert_eq!((sent.packets.len(), sent.has_departures()), (PACKETS, true));
    assert_eq!(
        sent.remarks,
        [
            "The file does not show at which end it was recorded. Its times are taken as departures; --direction \
             received takes them as arrivals."
        ]
    );
    let options = CallOptions { direction: EndSelection::Received, ..CallOptions::default() };
    let received = call(DUMP, &options);
    assert!(!received.has_departures() && rows(&received)[0].arrived_us.is_known());
}

#[test]
fn one_capture_of_srtp_has_sizes_and_no_feedback() {
    let sent = call(SENDER, &with_extension());
    assert_eq!((sent.source, sent.has_departures()), (RecordingSource::EncryptedCapture, true));
    assert!(!sent.has_feedback() && sent.receiver_reports.is_empty());
    assert_eq!(
        sent.remarks,
        [
            "RTCP is encrypted: the capture has departures, sizes and sequence numbers, and no feedback. Sizes \
             include the tag of SRTP, 10 or 16 bytes."
        ]
    );
    // 900 bytes and the tag.
    assert_eq!(rows(&sent)[0].payload_bytes, 910);
    // The TTL of the packets shows that the other capture is the receiver's.
    let received = call(RECEIVER, &with_extension());
    assert!(!received.has_departures());
    // Of the frames whose repetitions came, several were lost altogether.
    let kinds =
        [&sent, &received].map(|call| call.streams.iter().map(|stream| stream.kind).collect::<Vec<_>>());
    let expected = vec![StreamKind::Video, StreamKind::Retransmission, StreamKind::Audio];
    assert_eq!(kinds, [expected.clone(), expected]);
    let gaps: i64 = {
        let video: Vec<i64> =
            rows(&received).iter().filter(|row| row.stream == 0).map(|row| row.sequence).collect();
        video.windows(2).map(|pair| pair[1] - pair[0] - 1).sum()
    };
    assert_eq!(gaps, rows(&sent).len() as i64 - rows(&received).len() as i64);
    assert!(gaps > 10, "{gaps}");
}

#[test]
fn two_captures_are_joined_and_their_clocks_compared() {
    let options = CallOptions { feedback_interval: Some(TimeDelta::from_millis(100)), ..with_extension() };
    let call = read_two(SENDER, RECEIVER, &options).unwrap();
    call.check().unwrap();
    assert_eq!((call.source, call.arrival_clock), (RecordingSource::TwoCaptures, ArrivalClock::Receiver));
    let received = read(RECEIVER, &options).unwrap();
    let rows = rows(&call);
    assert_eq!(rows.iter().filter(|row| row.arrived_us.is_known()).count(), received.packets.len());
    let waits: Vec<i64> =
        rows.iter().filter_map(|row| Some(row.arrived_us.get()? - row.sent_us.get()?)).collect();
    assert_eq!(waits.iter().filter(|wait| **wait < 0).count(), 0);
    assert!(*waits.iter().min().unwrap() <= 1);
    // Each packet of the second half of the capture would wait 0.5 ms or more without the correction of 30 ppm.
    let late = waits[waits.len() / 2..].iter().min().unwrap();
    assert!(*late < 100, "{late}");
    // 1.5 s, 25 ms, and 30.3 ms for 948 bytes at 250 kbit/s.
    assert_eq!(
        call.remarks,
        [
            "The receiver's clock minus the sender's is 1555.3 ms, with the least delay of the path; arrivals count \
             from the packet that waited least.",
            "The receiver's clock gains 30.0 ppm on the sender's by the line below all delays; arrivals are corrected by it.",
            "The feedback is made, a report every 100 ms, as RTCP with a fate for each packet cannot be read; the \
             way back takes no time in it."
        ]
    );
    for row in &rows {
        let (Some(arrived), Some(reported)) = (row.arrived_us.get(), row.reported_us.get()) else { continue };
        assert!((1..=100_000).contains(&(reported - arrived)), "{row:?}");
        assert_eq!(reported % 100_000, 0);
    }
    let lost: u32 = call.feedback.lost.iter().sum();
    assert_eq!(lost as usize, rows.iter().filter(|row| row.is_lost()).count());
    assert_eq!(rows.iter().filter(|row| !row.reported_us.is_known()).count(), 0);
}

/// The packets of a capture whose number and content `is_kept` takes.
fn filtered(capture: &[u8], mut is_kept: impl FnMut(usize, &[u8]) -> bool) -> Vec<u8> {
    let (header, mut rest) = capture.split_at(24);
    let mut kept = header.to_vec();
    for number in 0.. {
        let Some(length) = rest.get(8..12) else { break };
        let length = 16 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let (record, others) = rest.split_at(length);
        if is_kept(number, &record[16..]) {
            kept.extend_from_slice(record);
        }
        rest = others;
    }
    kept
}

#[test]
fn swapped_captures_are_refused_or_doubted() {
    let swapped = read_two(RECEIVER, SENDER, &CallOptions::default()).unwrap_err();
    assert!(!swapped.of_receiver);
    assert_eq!(
        swapped.to_string(),
        "the media came to the end that recorded this file, by the hops that packets have left (TTL); name the \
         sender's file first, or choose a stream that it sends by --ssrc"
    );
    // Without RTCP no packet goes back, and so the first capture alone shows nothing.
    let rtp = filtered(RECEIVER, |_, ip| !(200..=206).contains(&ip[29]));
    let call = read_two(&rtp[..], SENDER, &CallOptions::default()).unwrap();
    let lacking = filtered(SENDER, |_, ip| !(200..=206).contains(&ip[29])).len() - rtp.len();
    let doubts = [
        "The packets have 64 hops left (TTL) in the second capture and 55 in the first: the two are swapped, or a \
         relay between them sets the number anew."
            .to_owned(),
        // The first capture has 48 bytes and a header of each packet.
        format!(
            "{} packets of the second capture are not in the first, which is that of the sender: it has gaps, or the \
             two are swapped.",
            lacking / 64
        ),
    ];
    assert_eq!(call.remarks.iter().filter(|remark| doubts.contains(remark)).count(), 2, "{:?}", call.remarks);
    let mut left_out = 0;
    let gaps = filtered(SENDER, |number, ip| {
        let is_left_out = (100..300).contains(&number) && ip.len() == 48 && number % 10 == 0;
        left_out += usize::from(is_left_out);
        !is_left_out
    });
    let call = read_two(&gaps[..], SENDER, &CallOptions::default()).unwrap();
    let doubt = format!("{left_out} packets of the second capture are not in the first");
    assert!(call.remarks.iter().any(|remark| remark.starts_with(&doubt)), "{doubt}: {:?}", call.remarks);
}

#[test]
fn each_copy_of_a_packet_takes_an_arrival_of_its_own() {
    let begin = DUMP.iter().position(|byte| *byte == b'\n').unwrap() + 17;
    let (header, records) = DUMP.split_at(begin);
    let record = &records[..usize::from(u16::from_be_bytes([records[0], records[1]]))];
    let copies = |count: usize| [header, &record.repeat(count)].concat();
    let call = read_two(&copies(30_000)[..], &copies(29_000)[..], &CallOptions::default()).unwrap();
    assert_eq!(call.packets.len(), 30_000);
    let arrived = call.packets.arrived_us.iter().map(|arrived| arrived.is_known());
    assert!(arrived.eq((0..30_000).map(|row| row < 29_000)));
}

#[test]
fn clear_rtcp_of_the_sender_is_kept_beside_arrivals_of_the_receiver() {
    let call = read_two(CLEAR, CLEAR, &with_extension()).unwrap();
    // The packets that the feedback has as lost did pass at the capture.
    assert_eq!(rows(&call).iter().filter(|row| row.arrived_us.is_known()).count(), PACKETS);
    assert_eq!(call.feedback.len(), 60);
    assert!(call.remarks.iter().all(|remark| !remark.contains("feedback is made")), "{:?}", call.remarks);
}

#[test]
fn no_text_address_or_identifier_of_a_file_enters_the_call() {
    let mark = *b"SECR";
    let forms = ["SECR", "83.69.67.82", "1397048146", "53454352", "5345:4352", "21317"];
    let mut capture = CLEAR.to_vec();
    for place in 24..capture.len() - 8 {
        // Addresses of zeros and ports 1 and 2, and the identifier 101.
        if capture[place..].starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0])
            && capture[place + 9..].starts_with(&[1, 0, 2])
        {
            capture[place..place + 4].copy_from_slice(&mark);
            capture[place + 8..place + 10].copy_from_slice(&mark[..2]);
        }
        if capture[place..].starts_with(&[0, 0, 0, 101]) {
            capture[place..place + 4].copy_from_slice(&mark);
        }
    }
    let log = String::from_utf8(LOG.to_vec()).unwrap();
    // A description of sources with a name (RFC 3550 §6.5).
    let name =
        "I 00:00:01.600 000000 81 ca 00 04 00 00 00 09 01 06 53 45 43 52 45 54 00 00 00 00 # RTP_DUMP\n";
    let log = format!("[1:1:VERBOSE1] SECRET url\n{}{name}", log.replace("00 00 00 65", "53 45 43 52"));
    for file in [capture, log.into_bytes()] {
        assert!(
            file.windows(4).any(|window| window == b"SECR") || file.windows(11).any(|w| w == b"53 45 43 52")
        );
        let call = read(file.as_slice(), &with_extension()).unwrap();
        assert_eq!(call.packets.len(), PACKETS, "{:?}", call.remarks);
        let written = serde_json::to_string(&call).unwrap();
        for form in forms {
            assert!(!written.contains(form), "{form}");
        }
    }
}

#[test]
fn cut_files_give_what_came_before() {
    let cut =
        |bytes: &[u8], less: usize| read(&bytes[..bytes.len() - less], &CallOptions::default()).unwrap();
    let says = |call: RecordedCall, sentence: &str| {
        call.check().unwrap();
        assert!(call.remarks.contains(&sentence.to_owned()), "{:?}", call.remarks);
    };
    let capture = "The file ends within packet 169; the call is read up to the packet before.";
    says(cut(CLEAR, 7), capture);
    says(cut(LOG, 20), "The file ends within line 170; the call is read up to the line before.");
    says(cut(DUMP, 3), "The file ends within record 106; the call is read up to the record before.");
}

#[test]
fn empty_and_foreign_files_are_refused_with_a_sentence() {
    let error = |bytes: &[u8]| refusal(bytes, &CallOptions::default());
    assert_eq!(error(b""), "the file is empty");
    assert_eq!(
        error(b"[1:2:VERBOSE1:x] nothing\n"),
        "the file has no line with the mark RTP_DUMP; Chromium writes them with --enable-logging --v=1 \
         --force-fieldtrials=WebRTC-Debugging-RtpDump/Enabled/"
    );
    assert_eq!(
        error(b"O 12:00:00.000 000000 80 xx # RTP_DUMP\n"),
        "line 1: a line with the mark RTP_DUMP has I or O, the time of day as 12:34:56.789, zeros, and bytes in \
        hexadecimal"
    );
    assert_eq!(
        error(b"#!rtpplay1.0 0.0.0.0/0"),
        "line 1: the first line of rtpdump is #!rtpplay1.0 with an address and a port"
    );
    assert_eq!(error(&DUMP[..30]), "line 2: 16 bytes of a header follow the first line");
    let mut short = DUMP.to_vec();
    short[39..41].copy_from_slice(&[0, 3]);
    assert_eq!(error(&short), "record 1: its length is 3; a record has 8 bytes or more");
    assert_eq!(error(&CLEAR[..24]), "the file has no RTP stream of three or more packets");
    assert_eq!(
        error(&CLEAR[..3]),
        "the file has no line with the mark RTP_DUMP; Chromium writes them with \
        --enable-logging --v=1 --force-fieldtrials=WebRTC-Debugging-RtpDump/Enabled/"
    );
    assert_eq!(
        error(&CLEAR[..10]),
        "the header of the capture is cut off or damaged; capture, or copy the file, again"
    );
    let mut damaged = CLEAR.to_vec();
    damaged[24 + 8..24 + 12].copy_from_slice(&[0xFF; 4]);
    // A packet longer than the file is one within which the file ends.
    assert_eq!(error(&damaged), "the file has no RTP stream of three or more packets");
    assert_eq!(
        read_two(SENDER, CLEAR, &CallOptions::default()).unwrap_err().to_string(),
        "the two files share 2 RTP packets by source identifier, sequence number and timestamp; they are not of one \
         call, or something between them changes these"
    );
    for foreign in [&b"RTCStatsDump\n"[..], b"{\"PeerConnections\"", b"seconds,rate\n", b"\x0a\x10", b""] {
        assert!(!sniff(foreign));
    }
}

#[test]
fn of_two_calls_one_is_chosen() {
    let mut two = CLEAR.to_vec();
    // The same packets from other ports.
    let mut other = CLEAR[24..].to_vec();
    for place in 0..other.len() - 12 {
        if other[place..].starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0])
            && other[place + 9..].starts_with(&[1, 0, 2])
        {
            other[place + 9] = 3;
        }
        if other[place..].starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0])
            && other[place + 9..].starts_with(&[2, 0, 1])
        {
            other[place + 11] = 3;
        }
        if other[place..].starts_with(&[0, 0, 0, 101]) {
            other[place + 3] = 201;
        }
    }
    two.extend(other);
    assert_eq!(
        refusal(&two, &CallOptions::default()),
        "the file has several calls; choose one by --ssrc: 1: 0.0 MB in 3 s, --ssrc 101; 2: 0.0 MB in 3 s, --ssrc 201"
    );
    let options = CallOptions { ssrc: Some(201), ..with_extension() };
    let call = read(two.as_slice(), &options).unwrap();
    assert_eq!((call.packets.len(), call.feedback.len()), (PACKETS, 60));
    let options = CallOptions { ssrc: Some(5), ..CallOptions::default() };
    assert_eq!(
        refusal(&two, &options),
        "no stream has the source identifier 5 of --ssrc; the file has 1: 0.0 MB in 3 s, --ssrc 101; 2: 0.0 MB in 3 \
        s, --ssrc 201"
    );
}

#[test]
fn a_receiver_s_capture_has_departures_by_absolute_send_time_and_its_reports() {
    // The first two bytes of each packet's extension are its number; with one byte more they are taken as its send
    // time.
    let mut log = String::new();
    for line in core::str::from_utf8(LOG).unwrap().lines() {
        let swapped = if let Some(rest) = line.strip_prefix("O ") {
            format!("I {rest}")
        } else {
            line.strip_prefix("I ").map_or(line.to_owned(), |rest| format!("O {rest}"))
        };
        log += &swapped.replace("be de 00 01 31", "be de 00 01 32");
        log += "\n";
    }
    let extensions = ExtensionOverrides { transport_sequence: None, abs_send_time: Some(3) };
    let call = call(log.as_bytes(), &CallOptions { extensions, ..CallOptions::default() });
    assert_eq!(
        call.remarks,
        [
            "The file is of the receiver's end: it has arrivals, and no time at which feedback came to the sender."
        ]
    );
    let rows = rows(&call);
    assert!(rows.iter().all(|row| row.sent_us.is_known() && row.arrived_us.is_known()));
    // The numbers count up by 1, and as send times by 2⁻¹⁰ s.
    let steps: Vec<i64> =
        rows.windows(2).map(|pair| pair[1].sent_us.get().unwrap() - pair[0].sent_us.get().unwrap()).collect();
    assert!(steps.iter().all(|step| (976..=977).contains(step)), "{steps:?}");
    assert!(!call.has_feedback());
    assert_eq!(call.receiver_reports.len(), 3);
}
