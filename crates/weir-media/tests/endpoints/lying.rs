//! Receivers that report, by chance, numbers that no packet had (optimistic acknowledgement).

use weir_cc::{ArrivalTime, Record, Report, SendTime};
use weir_media::feedback::FeedbackWriter;
use weir_media::{Alarm, MediaConfig, MediaSender, SenderSeeds};

use crate::rig::{RECEIVER, RTCP_ROOM, SENDER, config, gcc, limits};

/// Time step in ms.
const STEP: i64 = 10;
/// Delay of packets in one direction, and of reports in the other, in ms.
const WAY: i64 = 30;

/// Uniform in [0, 1).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The second at which a dishonest receiver is detected. The receiver reports all sent packets as arrived, and in
/// addition the `share` of the skipped numbers, by chance.
fn found_out(share: f64, seed: u64) -> Option<i64> {
    let with = MediaConfig { leave_out: Some(500), ..config() };
    let mut sender = MediaSender::new(gcc().0, with, SENDER, SenderSeeds { encoder: 1, rtcp: seed });
    sender.believe_only(&[RECEIVER]);
    sender.start(SendTime::ZERO);
    let mut chance = Chance(seed);
    let mut writer = FeedbackWriter::transport_wide(RECEIVER, SENDER);
    // Departure times and numbers of the packets in flight.
    let mut left: Vec<(i64, u16)> = vec![];
    let (mut next, mut number, mut room) = (None, 0, [0; RTCP_ROOM]);
    for ms in (0..300_000).step_by(STEP as usize) {
        let now = SendTime::from_millis(ms);
        sender.on_timeout(now);
        while sender.poll_frame(now).is_some() {}
        while let Some(packet) = sender.poll_packet(now) {
            left.push((ms, packet.header.transport_sequence));
        }
        if ms % 50 == 0 {
            let reported = left.partition_point(|(at, _)| at + 2 * WAY <= ms);
            let mut records = vec![];
            for (at, sequence) in left.drain(..reported) {
                let arrival = Some(ArrivalTime::from_millis(7_200_000 + at + WAY));
                let first = next.unwrap_or(sequence);
                records.extend((0..sequence.wrapping_sub(first)).map(|gap| {
                    let claims = chance.next() < share;
                    Record::new(first.wrapping_add(gap), arrival.filter(|_| claims))
                }));
                records.push(Record::new(sequence, arrival));
                next = Some(sequence.wrapping_add(1));
            }
            number = u8::wrapping_add(number, 1);
            let length = writer.write(&Report::packets(&records, number), &mut room);
            if let Some(length) = length.filter(|_| !records.is_empty()) {
                sender.on_rtcp(now, &room[..length]);
            }
        }
        if core::iter::from_fn(|| sender.take_alarm()).any(|alarm| alarm == Alarm::ReceiverLies) {
            assert_eq!(sender.target().media_rate, limits().min());
            return Some(ms / 1000);
        }
    }
    None
}

#[test]
fn a_forger_that_guesses_skipped_numbers_is_detected() {
    for (share, within) in [(1.0, 30), (0.5, 90), (0.25, 180)] {
        let mut times: Vec<i64> = (0..20).map(|seed| found_out(share, seed).unwrap_or(i64::MAX)).collect();
        times.sort_unstable();
        assert!(times[18] <= within, "{share}: {times:?}");
    }
    // A receiver that reports no skipped number counts as honest.
    assert_eq!(found_out(0.0, 1), None);
}
