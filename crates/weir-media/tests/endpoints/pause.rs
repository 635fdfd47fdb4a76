//! Pause and resume of a flow, and audio beside its video.

use std::sync::{Arc, Mutex};

use weir_cc::{AllocatedRate, Controller, Decision, Feedback, PathEvent, SendState, SendTime, Target};
use weir_media::{AudioConfig, EncoderConfig, KeyFrames, MediaConfig, MediaSender};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::rig::{config, media_sender};
use crate::sender::{departures, target};

/// A controller with a constant target that records its events.
#[derive(Debug)]
struct Noting {
    target: Target,
    events: Arc<Mutex<Vec<(SendTime, PathEvent)>>>,
}

impl Controller for Noting {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, now: SendTime, event: PathEvent) -> Option<Decision> {
        self.events.lock().unwrap().push((now, event));
        None
    }

    fn target(&self) -> Target {
        self.target
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        share.rate
    }
}

type Events = Arc<Mutex<Vec<(SendTime, PathEvent)>>>;

/// A sender with a controller that records its events.
fn started(target: Target, config: &MediaConfig) -> (MediaSender, Events) {
    let events = Events::default();
    let mut sender = media_sender(Box::new(Noting { target, events: Arc::clone(&events) }), config);
    sender.start(SendTime::ZERO);
    (sender, events)
}

/// Sender time of `ms` milliseconds.
fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

#[test]
fn a_paused_flow_sends_nothing_and_comes_back_with_a_key_frame() {
    let key_frames = Some(KeyFrames { every: 3000, size: 4.0 });
    let encoder = EncoderConfig { key_frames, ..EncoderConfig::papers() };
    // Padding would fill every gap if it were allowed to.
    let target = Target { padding: DataRate::from_kbps(1200), ..target(1200) };
    let (mut sender, events) = started(target, &MediaConfig { encoder, ..config() });
    let before = departures(&mut sender, ms(1010));
    sender.pause(ms(1010));
    sender.pause(ms(1011));
    assert_eq!(sender.next_timeout(), None, "nothing to do, reports included");
    assert_eq!(sender.poll_packet(ms(5000)), None);
    assert_eq!(sender.poll_frame(ms(5000)), None);
    assert_eq!(sender.poll_rtcp(ms(5000), &mut [0; 256]), None);
    sender.resume(ms(21_010));
    sender.resume(ms(21_011));
    let frame = sender.poll_frame(ms(21_010)).expect("at once");
    assert!(frame.key && frame.size == DataSize::from_bytes(20_000), "{frame:?}");
    let first = sender.poll_packet(ms(21_010)).expect("at once");
    let last = before.last().expect("packets").1;
    assert_eq!(first.header.sequence, last.header.sequence + 1, "no number is left out");
    assert_eq!(first.header.timestamp, 21_010 * 90, "media time has gone on");
    assert_eq!(*events.lock().unwrap(), [(ms(1010), PathEvent::Paused), (ms(21_010), PathEvent::Resumed)]);
}

#[test]
fn packets_in_the_pacer_are_not_sent_after_the_pause() {
    let target = Target { pacing: weir_cc::Pacing::Exact(DataRate::from_kbps(100)), ..target(1200) };
    let (mut sender, _) = started(target, &config());
    let before = departures(&mut sender, ms(1000));
    sender.pause(ms(1000));
    sender.resume(ms(2000));
    let frame = sender.poll_frame(ms(2000)).expect("at once");
    assert!(u64::from(frame.number) > u64::from(before.last().unwrap().1.frame.unwrap()) + 10);
    let packet = std::iter::from_fn(|| sender.poll_packet(ms(2080))).next().expect("paid for by now");
    assert_eq!(packet.frame, Some(frame.number));
}

#[test]
fn pausing_before_the_start_or_resuming_without_a_pause_does_nothing() {
    let (mut sender, events) = started(target(300), &config());
    sender.resume(ms(10));
    assert!(events.lock().unwrap().is_empty());
    sender.stop();
    sender.pause(ms(20));
    assert!(events.lock().unwrap().is_empty());
}

#[test]
fn audio_leaves_on_time_past_a_full_pacer_and_its_rate_is_taken_off_the_video() {
    // The pacer lets out half of what the encoder makes.
    let target = Target { pacing: weir_cc::Pacing::Factor(0.5), ..target(1220) };
    let (mut sender, _) = started(target, &MediaConfig { audio: Some(AudioConfig::default()), ..config() });
    let left = departures(&mut sender, ms(1999));
    let audio: Vec<_> = left.iter().filter(|left| left.1.audio).collect();
    assert_eq!(audio.len(), 100);
    for (n, (at, packet)) in audio.iter().enumerate() {
        assert_eq!((*at, packet.payload), (ms(20 * n as i64), 50));
        assert_eq!((packet.header.payload_type, packet.header.marker, packet.frame), (111, false, None));
    }
    // Two streams of numbers on one transport, and 20 ms are 960 ticks of 48 kHz.
    for of_audio in [true, false] {
        let own: Vec<_> =
            left.iter().filter(|left| left.1.audio == of_audio).map(|left| left.1.header).collect();
        assert!(own.iter().enumerate().all(|(n, header)| usize::from(header.sequence) == n));
        assert!(own.iter().all(|header| header.ssrc == if of_audio { 1 | 1 << 31 } else { 1 }));
        assert!(!of_audio || own.iter().enumerate().all(|(n, header)| header.timestamp == 960 * n as u32));
    }
    let numbers: Vec<u16> = left.iter().map(|(_, packet)| packet.header.transport_sequence).collect();
    assert_eq!(numbers, (0..left.len() as u16).collect::<Vec<_>>());
    // 1220 − 20 = 1200 kbit/s: frames of 5000 bytes in packets of 1000.
    assert!(left.iter().filter(|left| !left.1.audio).all(|(_, packet)| packet.payload == 1000));
    // 610 kbit/s of video: 8000 bits each 13.115 ms; audio has not paid the pacer anything.
    assert_eq!(left.len() - audio.len(), 153);
}

#[test]
fn audio_pauses_with_its_video() {
    let (mut sender, _) =
        started(target(300), &MediaConfig { audio: Some(AudioConfig::default()), ..config() });
    departures(&mut sender, ms(995));
    sender.pause(ms(995));
    assert_eq!(sender.next_timeout(), None);
    sender.resume(ms(3000));
    let (_, packet) = departures(&mut sender, ms(3000))[0];
    assert!(packet.audio);
    assert_eq!(sender.next_timeout().map(|due| due - ms(3000)), Some(TimeDelta::from_millis(20)));
}

#[test]
fn sender_reports_go_on_after_a_pause_as_after_the_start() {
    // An interval of 1 s, spread from half of it to one and a half.
    for paused in [100, 20_000] {
        let (mut sender, _) = started(target(300), &config());
        departures(&mut sender, ms(1010));
        sender.pause(ms(1010));
        let resumed = 1010 + paused;
        sender.resume(ms(resumed));
        let mut out = [0; 256];
        assert_eq!(sender.poll_rtcp(ms(resumed + 499), &mut out), None, "not before half an interval");
        assert!(sender.poll_rtcp(ms(resumed + 1500), &mut out).is_some(), "and then");
    }
}
