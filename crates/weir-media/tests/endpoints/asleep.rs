//! Endpoints whose process was suspended: missed frames and packets are skipped, not made up for.

use proptest::prelude::*;
use weir_cc::{ArrivalTime, Ecn, SendTime};
use weir_media::{AudioConfig, EncoderConfig, FrameTraces, MediaConfig, MediaPacket, MediaSender};
use weir_units::TimeDelta;

use crate::rig::{Halves, RTCP_ROOM, dccc, gcc_2016, limits, media_receiver, media_sender, nada, tfrc};

const HOUR: TimeDelta = TimeDelta::from_secs(3600);
/// Maximum number of frames, by the encoder with the most frames of an instant, three.
const MOST_FRAMES: usize = 9;
/// Bound of the rounds in which the timers of an endpoint expire.
const MOST_ROUNDS: usize = 5;

/// Encoders of each model.
fn encoders() -> [EncoderConfig; 8] {
    let traces = FrameTraces::talking_head();
    [
        EncoderConfig::papers(),
        EncoderConfig::rfc8593_statistical(),
        EncoderConfig::rfc8593_traces(traces),
        EncoderConfig::rfc8593_hybrid(traces),
        EncoderConfig::content_sharing(),
        EncoderConfig::perfect(),
        EncoderConfig::greedy(),
        EncoderConfig::simulcast(),
    ]
}

fn controllers() -> [fn() -> Halves; 4] {
    [gcc_2016, nada, dccc, tfrc]
}

/// A flow of video and audio that has run since zero.
struct Endpoint {
    sender: MediaSender,
    now: SendTime,
}

/// Output at one time.
#[derive(Debug, Default)]
struct Came {
    frames: Vec<u32>,
    video: Vec<MediaPacket>,
    audio: Vec<MediaPacket>,
    rtcp: usize,
    rounds: usize,
}

impl Endpoint {
    fn new(encoder: EncoderConfig, controller: fn() -> Halves) -> Self {
        let config =
            MediaConfig { audio: Some(AudioConfig::default()), ..MediaConfig::new(limits(), encoder) };
        let mut sender = media_sender(controller().0, &config);
        sender.start(SendTime::ZERO);
        Self { sender, now: SendTime::ZERO }
    }

    /// Serves all that is due at `now`.
    fn wake(&mut self, now: SendTime) -> Came {
        self.now = now;
        let mut came = Came::default();
        while self.sender.next_timeout().is_some_and(|due| due <= now) {
            came.rounds += 1;
            assert!(came.rounds < 1000, "it is behind for ever");
            while let Some(frame) = self.sender.poll_frame(now) {
                came.frames.push(frame.number);
            }
            self.sender.on_timeout(now);
            while let Some(packet) = self.sender.poll_packet(now) {
                if packet.audio { &mut came.audio } else { &mut came.video }.push(packet);
            }
            while self.sender.poll_rtcp(now, &mut [0; RTCP_ROOM]).is_some() {
                came.rtcp += 1;
            }
        }
        came
    }

    /// Serves each timer in time.
    fn run(&mut self, span: TimeDelta) -> Vec<Came> {
        let end = self.now + span;
        let mut came = Vec::new();
        while let Some(due) = self.sender.next_timeout().filter(|&due| due <= end) {
            came.push(self.wake(due.max(self.now)));
        }
        self.now = end;
        came
    }
}

/// Checks that a long sleep is followed by few packets.
fn assert_little(came: &Came) {
    assert!(came.frames.len() <= MOST_FRAMES, "{} frames", came.frames.len());
    assert!(came.audio.len() <= 3, "{} packets of audio", came.audio.len());
    assert!(came.rtcp <= 1 && came.rounds <= MOST_ROUNDS, "{} reports, {} rounds", came.rtcp, came.rounds);
}

#[test]
fn after_a_sleep_of_an_hour_the_present_frame_comes_next() {
    for encoder in encoders() {
        for controller in controllers() {
            let mut endpoint = Endpoint::new(encoder, controller);
            let before = endpoint.run(TimeDelta::from_secs(2));
            let last = before.iter().flat_map(|came| &came.audio).last().unwrap().header;
            let number = before.iter().flat_map(|came| &came.frames).last().copied().unwrap();
            let came = endpoint.wake(endpoint.now + HOUR);
            assert_little(&came);
            assert_eq!(came.frames[0], number + 1, "numbers count what was captured");
            let first = came.audio[0].header;
            assert_eq!(first.sequence, last.sequence.wrapping_add(1));
            // 48 kHz; the last packet before left within the last two intervals of 20 ms.
            let passed = f64::from(first.timestamp.wrapping_sub(last.timestamp)) / 48e3;
            assert!((passed - 3600.0).abs() < 0.06, "{passed} s");
            // After that the flow goes on as before.
            let after = endpoint.run(TimeDelta::from_secs(2));
            let frames = |all: &[Came]| all.iter().map(|came| came.frames.len()).sum::<usize>();
            let audio = |all: &[Came]| all.iter().map(|came| came.audio.len()).sum::<usize>();
            assert!((99..=101).contains(&audio(&after)), "{}", audio(&after));
            assert!(frames(&after) > 0 && frames(&after) <= 2 * frames(&before) + 3, "{encoder:?}");
        }
    }
}

#[test]
fn a_receiver_that_slept_an_hour_reports_once() {
    for controller in controllers() {
        let config = MediaConfig::new(limits(), EncoderConfig::papers());
        let mut endpoint = Endpoint::new(EncoderConfig::papers(), controller);
        let mut receiver = media_receiver(controller().1, &config);
        let at = |now: SendTime| ArrivalTime::ZERO + (now - SendTime::ZERO);
        for came in endpoint.run(TimeDelta::from_secs(2)) {
            for packet in came.video {
                let stamp = i64::from(packet.header.transport_sequence);
                receiver.on_packet(
                    ArrivalTime::from_millis(stamp),
                    &packet.header,
                    packet.payload,
                    Ecn::NotEct,
                );
            }
        }
        let now = at(endpoint.now + HOUR);
        let mut reports = 0;
        for _ in 0..MOST_ROUNDS {
            while receiver.poll_rtcp(now, &mut [0; RTCP_ROOM]).is_some() {
                reports += 1;
            }
        }
        assert!(reports <= 2, "{reports} reports");
        assert!(receiver.next_timeout().is_none_or(|due| due > now));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// However late an endpoint is called, it sends little at once, and then waits.
    #[test]
    fn no_call_brings_more_than_a_few_frames(
        encoder in prop::sample::select(encoders().to_vec()),
        controller in 0..4_usize,
        jumps in prop::collection::vec(
            prop_oneof![0..50_000_000_i64, 0..2_000_000_000_i64, 0..100_000_000_000_000_i64],
            1..60,
        ),
    ) {
        let mut endpoint = Endpoint::new(encoder, controllers()[controller]);
        let mut frames = 0;
        for jump in jumps {
            let came = endpoint.wake(endpoint.now + TimeDelta::from_nanos(jump));
            assert_little(&came);
            // No number is left out or repeated.
            for number in came.frames {
                prop_assert!(number == frames || number + 1 == frames, "{number} after {frames}");
                frames = number + 1;
            }
        }
    }
}
