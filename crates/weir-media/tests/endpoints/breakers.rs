//! Circuit breakers that stop media because of receiver reports.

use weir_cc::SendTime;
use weir_media::{Alarm, AudioConfig, Breaker, MediaConfig};
use weir_wire::rtcp::{self, Message, ReceiverReport, ReportBlock};

use crate::rig::{RECEIVER, SENDER, config, media_sender};
use crate::sender::{Fixed, departures, target};

/// The source of audio beside the video of [`SENDER`].
const AUDIO: u32 = SENDER | 1 << 31;

/// The second at which media is stopped, with the alarm. The report of each second has the highest numbers that `video`
/// and `audio` give.
fn stopped(video: fn(u32) -> u32, audio: fn(u32) -> u32) -> Option<(u32, Alarm)> {
    let with = MediaConfig { breakers: true, audio: Some(AudioConfig::default()), ..config() };
    let mut sender = media_sender(Box::new(Fixed(target(300))), &with);
    sender.start(SendTime::ZERO);
    (1..13).find_map(|second| {
        let now = SendTime::from_millis(1000 * i64::from(second));
        departures(&mut sender, now);
        let block = |ssrc, highest_sequence| ReportBlock { ssrc, highest_sequence, ..ReportBlock::default() };
        let blocks = [block(AUDIO, audio(second)), block(SENDER, video(second))];
        let mut report = vec![0; ReceiverReport::wire_len(2)];
        ReceiverReport::write(RECEIVER, &blocks, &mut report).unwrap();
        sender.on_rtcp(now, &report);
        let mut alarms = std::iter::from_fn(|| sender.take_alarm());
        let stopped = alarms.find(|alarm| matches!(alarm, Alarm::Stopped(_)));
        stopped.map(|alarm| (second, alarm))
    })
}

#[test]
fn video_stops_after_five_reports_without_a_newer_packet() {
    let alarm = Alarm::Stopped(Breaker::MediaTimeout { reports: 5 });
    // The first report shows progress.
    assert_eq!(stopped(|_| 10, |second| 40 * second), Some((6, alarm)));
}

#[test]
fn reports_on_audio_stop_nothing() {
    assert_eq!(stopped(|second| 40 * second, |_| 10), None);
}

#[test]
fn an_honest_report_gives_its_round_trip_time_after_forged_ones_overtook_it() {
    let with = MediaConfig { breakers: true, ..config() };
    // 300 kbit/s with half of it lost are more than ten times TCP's rate at 700 ms of round trip, and less at 50 ms.
    let stopped = |honest: bool| {
        let mut sender = media_sender(Box::new(Fixed(target(300))), &with);
        sender.start(SendTime::ZERO);
        let (mut room, mut newest, mut sent) = ([0; 256], 0, None);
        (0..20_000).step_by(10).find_map(|ms| {
            let now = SendTime::from_millis(ms);
            sender.on_timeout(now);
            while sender.poll_frame(now).is_some() {}
            while let Some(packet) = sender.poll_packet(now) {
                newest = u32::from(packet.header.sequence);
            }
            while let Some(length) = sender.poll_rtcp(now, &mut room) {
                sent = rtcp::messages(&room[..length]).flatten().find_map(|message| match message {
                    Message::SenderReport(report) => Some((report.info.ntp.middle(), ms)),
                    _ => None,
                });
            }
            // A report on packets up to this one, with a round-trip time of `rtt_ms` if a sender report is old enough.
            let mut deliver_report = |highest_sequence, rtt_ms: i64| {
                let (last_sender_report, held) = match sent {
                    Some((report, at)) if ms - at >= rtt_ms => (report, (ms - at - rtt_ms) as u32),
                    _ => (0, 0),
                };
                let block = ReportBlock {
                    ssrc: SENDER,
                    fraction_lost: 128,
                    highest_sequence,
                    last_sender_report,
                    delay_since_last_sender_report: held * 65_536 / 1000,
                    ..ReportBlock::default()
                };
                let mut report = vec![0; ReceiverReport::wire_len(1)];
                ReceiverReport::write(RECEIVER, &[block], &mut report).unwrap();
                sender.on_rtcp(now, &report);
            };
            if honest && ms % 1000 == 500 {
                deliver_report(newest.saturating_sub(5), 50);
            }
            // Sent by an on-path attacker, who sees each packet leave.
            if ms > 2000 && ms % 20 == 0 {
                deliver_report(newest, 700);
            }
            core::iter::from_fn(|| sender.take_alarm()).find(|alarm| matches!(alarm, Alarm::Stopped(_)))
        })
    };
    assert_eq!(stopped(true), None);
    assert!(matches!(stopped(false), Some(Alarm::Stopped(Breaker::Congestion { .. }))));
}
