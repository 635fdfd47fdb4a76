//! Stream information to a controller, and the sender's response to the parts of a target besides rates.

use std::sync::{Arc, Mutex};

use weir_cc::{
    AllocatedRate, Burst, Controller, Decision, Feedback, Pacing, PathEvent, SendState, SendTime,
    StreamsConfig, Target,
};
use weir_media::{AudioConfig, EncoderConfig, MediaConfig, MediaSender, RateSteps};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::{ReceiverReport, ReportBlock};

use crate::rig::{RECEIVER, SENDER, config, media_sender};
use crate::sender::{departures, target};

/// A controller with a constant target that records the streams reported to it.
#[derive(Debug)]
struct StreamsRecorder {
    target: Target,
    streams_log: Arc<Mutex<Vec<(SendTime, StreamsConfig)>>>,
}

impl Controller for StreamsRecorder {
    fn on_feedback(&mut self, _: SendTime, _: &Feedback<'_>, _: &SendState) -> Option<Decision> {
        None
    }

    fn on_event(&mut self, _: SendTime, _: PathEvent) -> Option<Decision> {
        None
    }

    fn on_streams(&mut self, now: SendTime, streams: StreamsConfig) {
        self.streams_log.lock().unwrap().push((now, streams));
    }

    fn target(&self) -> Target {
        self.target
    }

    fn apply_allocation(&mut self, _: SendTime, share: AllocatedRate) -> DataRate {
        share.rate
    }
}

type StreamsLog = Arc<Mutex<Vec<(SendTime, StreamsConfig)>>>;

/// A sender with a [`StreamsRecorder`], and its record.
fn streams_recorder(target: Target, config: &MediaConfig) -> (MediaSender, StreamsLog) {
    let streams_log = StreamsLog::default();
    let mut sender =
        media_sender(Box::new(StreamsRecorder { target, streams_log: Arc::clone(&streams_log) }), config);
    sender.start(SendTime::ZERO);
    (sender, streams_log)
}

/// A source of 150 kbit/s, and from 1 s on of 2.5 Mbit/s; audio of 32 kbit/s beside it.
fn stepping(skip_above: Option<TimeDelta>) -> MediaConfig {
    let kbps = DataRate::from_kbps;
    let steps = [(TimeDelta::ZERO, kbps(150)), (TimeDelta::from_secs(1), kbps(2500))];
    let max_rates = RateSteps::new(&steps).unwrap();
    let audio = Some(AudioConfig { rate: kbps(32), interval: TimeDelta::from_millis(20) });
    MediaConfig {
        encoder: EncoderConfig { max_rates, skip_above, ..EncoderConfig::papers() },
        audio,
        ..config()
    }
}

#[test]
fn a_controller_gets_the_streams_before_the_first_packet_and_after_each_change() {
    // The second target sends hardly any of the frames: the sender skips all the time when the step comes.
    let slow = Target { pacing: Pacing::Exact(DataRate::from_kbps(1)), ..target(300) };
    for (target, skip_above) in [(target(300), None), (slow, Some(TimeDelta::from_millis(100)))] {
        let (mut sender, streams_log) = streams_recorder(target, &stepping(skip_above));
        assert_eq!(streams_log.lock().unwrap().len(), 1, "before anything leaves");
        departures(&mut sender, SendTime::from_millis(3000));
        let streams_log: Vec<_> = streams_log
            .lock()
            .unwrap()
            .iter()
            .map(|(at, streams)| (at.nanos() / 1_000_000, streams.usable.bps() / 1000, streams.screen))
            .collect();
        assert_eq!(streams_log, [(0, 182, false), (1000, 2532, false)]);
    }
}

#[test]
fn a_frame_leaves_at_once_as_far_as_the_target_lets_it_and_each_one_anew() {
    // 300 kbit/s at 30 frames/s are 1250 bytes in two packets; at 450 kbit/s a packet of 625 bytes takes 11.1 ms.
    let burst = Burst { time: TimeDelta::from_millis(40), size: DataSize::from_bytes(63_000) };
    let gaps = |burst| {
        let (mut sender, _) =
            streams_recorder(Target { pacing: Pacing::Factor(1.5), burst, ..target(300) }, &config());
        let left = departures(&mut sender, SendTime::from_millis(990));
        left.chunks_exact(2).map(|pair| (pair[1].0 - pair[0].0).micros()).collect::<Vec<_>>()
    };
    assert_eq!(gaps(burst), [0; 30]);
    assert_eq!(gaps(Burst::NONE), [11_111; 30]);
}

#[test]
fn the_share_of_frames_that_a_target_asks_for_is_left_out() {
    let frames = |frame_drop| {
        let (mut sender, _) = streams_recorder(Target { frame_drop, ..target(300) }, &config());
        let left = departures(&mut sender, SendTime::from_millis(1990));
        left.iter().filter(|(_, packet)| packet.header.marker).count()
    };
    // 60 frames come due: all, three of four, every second one at the least.
    assert_eq!([0.0, 0.25, 0.9].map(frames), [60, 45, 30]);
}

#[test]
fn a_receiver_report_that_cannot_be_is_refused_and_counted() {
    let (mut sender, _) = streams_recorder(target(300), &config());
    // 30 frames of two packets.
    departures(&mut sender, SendTime::from_millis(990));
    let now = SendTime::from_millis(1000);
    let mut refused_after = |highest_sequence, cumulative_lost, last_sender_report| {
        let block = ReportBlock {
            ssrc: SENDER,
            highest_sequence,
            cumulative_lost,
            last_sender_report,
            ..ReportBlock::default()
        };
        let mut bytes = [0; 64];
        let length = ReceiverReport::write(RECEIVER, &[block], &mut bytes).unwrap();
        let rtt = sender.on_rtcp(now, &bytes[..length]).rtt;
        (sender.refused_reports().total(), rtt, sender.last_feedback().is_some())
    };
    assert_eq!(refused_after(60, 0, 0), (1, None, false), "one packet more than have left");
    assert_eq!(refused_after(49, 51, 0), (2, None, false), "more lost than expected");
    assert_eq!(refused_after(49, 5, 0), (2, None, true));
    assert_eq!(refused_after(59, 5, 1), (3, None, true), "a sender report that never left");
}
