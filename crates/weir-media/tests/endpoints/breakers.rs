//! What receiver reports say of the media makes circuit breakers stop it.

use weir_cc::SendTime;
use weir_media::{Alarm, AudioConfig, Breaker, MediaConfig};
use weir_wire::rtcp::{ReceiverReport, ReportBlock};

use crate::rig::{RECEIVER, SENDER, config, media_sender};
use crate::sender::{Fixed, departures, target};

/// The source of audio beside the video of [`SENDER`].
const AUDIO: u32 = SENDER | 1 << 31;

/// When media is stopped, in seconds, where a report in each second tells of so many packets of video and audio.
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
fn video_stops_after_five_reports_that_tell_of_nothing_newer() {
    let alarm = Alarm::Stopped(Breaker::MediaTimeout { reports: 5 });
    // What the first tells is news.
    assert_eq!(stopped(|_| 10, |second| 40 * second), Some((6, alarm)));
}

#[test]
fn what_is_told_of_audio_stops_nothing() {
    assert_eq!(stopped(|second| 40 * second, |_| 10), None);
}
