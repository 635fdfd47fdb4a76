//! A forwarder of three publishers with simulcast and one subscriber, whose link has 0.5, then 2, then 0.5 Mbit/s.

use std::collections::VecDeque;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::history::SendHistory;
use weir_cc::pacer::Pacer;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::prober::Prober;
use weir_cc::{
    Arrival, ArrivalTime, Controller, RateLimits, Receiver, Record, Report, SendState, SendTime,
    StreamsConfig, Target,
};
use weir_media::allocation::{ForwardedTrack, LayerCoding, LayerForwarding, NextStep, TrackSelection};
use weir_media::{Encoder, EncoderConfig, EncoderModel, KeyFrames, Ladder};
use weir_net::{LinkConfig, Path, QueueConfig, Sent, Service};
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::rig::{PROPAGATION, true_time};

const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;
/// Rates of each publisher's streams.
const RATES: [u64; 3] = [100, 350, 900];
const HEADER: DataSize = DataSize::from_bytes(24);
const PADDING: DataSize = DataSize::from_bytes(255);
/// Interval at which layers are chosen.
const INTERVAL: i64 = 100;
/// Time over which rates of layers are measured.
const WINDOW: TimeDelta = TimeDelta::from_secs(2);

/// A frame of a stream of a publisher.
#[derive(Clone, Copy, Debug)]
struct StreamFrame {
    track: usize,
    layer: usize,
    size: DataSize,
    key: bool,
}

/// A publisher, whose streams all reach the forwarder, and their measured rates.
struct Publisher {
    encoder: Encoder,
    received: [VecDeque<(SendTime, DataSize)>; 3],
}

impl Publisher {
    fn new(seed: u64) -> Self {
        let rates = [KBPS(RATES[0]), KBPS(RATES[1]), KBPS(RATES[2]), DataRate::ZERO];
        let config = EncoderConfig {
            max_rate: KBPS(2000),
            key_frames: Some(KeyFrames { every: 1_000_000, size: 4.0 }),
            model: EncoderModel::Ladder(Ladder { rates, hysteresis: 0.1 }),
            ..EncoderConfig::simulcast()
        };
        Self { encoder: Encoder::new(config, KBPS(2000), seed), received: Default::default() }
    }

    /// The frames that are due.
    fn capture(&mut self, now: SendTime, track: usize) -> Vec<StreamFrame> {
        let due = self.encoder.next_capture();
        if SendTime::ZERO + due > now {
            return Vec::new();
        }
        let mut frames = Vec::new();
        while self.encoder.next_capture() == due {
            let frame = self.encoder.capture(KBPS(2000));
            let layer = frames.len();
            self.received[layer].push_back((now, frame.size));
            frames.push(StreamFrame { track, layer, size: frame.size, key: frame.key });
        }
        frames
    }

    fn rates(&mut self, now: SendTime) -> [DataRate; 3] {
        let span = WINDOW.min(now - SendTime::ZERO);
        self.received.each_mut().map(|received| {
            while received.front().is_some_and(|&(at, _)| at <= now - WINDOW) {
                received.pop_front();
            }
            received.iter().map(|&(_, size)| size).sum::<DataSize>() / span
        })
    }
}

/// A packet to the subscriber.
#[derive(Clone, Copy, Debug)]
struct ForwardedPacket {
    number: u64,
    sent: SendTime,
    size: DataSize,
}

/// Results of a run, with times in milliseconds.
#[derive(Default)]
struct RunRecord {
    /// Layers of all tracks, at each change of any.
    layers: Vec<(i64, [Option<usize>; 3])>,
    /// Requests for key frames, by track.
    requests: Vec<(i64, usize)>,
    /// Frames for the subscriber.
    forwarded: Vec<StreamFrame>,
    /// Waits in the link's queue.
    waits: Vec<(i64, TimeDelta)>,
    /// Most bytes that waited in the forwarder.
    queued: DataSize,
}

struct Forwarder {
    publishers: [Publisher; 3],
    tracks: [ForwardedTrack; 3],
    selections: Vec<TrackSelection>,
    next: Option<NextStep>,
    controller: GoogCc,
    history: SendHistory,
    pacer: Pacer,
    prober: Prober,
    queue: VecDeque<DataSize>,
    record: RunRecord,
}

impl Forwarder {
    fn new(priorities: [u32; 3]) -> Self {
        let limits = RateLimits::new(KBPS(50), KBPS(300), KBPS(5000)).unwrap();
        let config = Config { report_patience: TimeDelta::ZERO, ..Config::default() };
        let mut controller = GoogCc::new(config, limits).unwrap();
        controller.on_streams(SendTime::ZERO, StreamsConfig::camera(KBPS(2700)));
        Self {
            publishers: [1, 2, 3].map(Publisher::new),
            tracks: priorities.map(|priority| ForwardedTrack::new(priority, LayerCoding::Simulcast, &[])),
            selections: Vec::new(),
            next: None,
            controller,
            history: SendHistory::new(TimeDelta::from_secs(5)),
            pacer: Pacer::new(TimeDelta::from_millis(1)),
            prober: Prober::new(),
            queue: VecDeque::new(),
            record: RunRecord::default(),
        }
    }

    fn queued(&self) -> DataSize {
        self.queue.iter().copied().sum()
    }

    fn state(&self) -> SendState {
        SendState { in_flight: self.history.in_flight(), queued: self.queued(), application_limited: false }
    }

    /// Takes the frames of publishers, and queues those of selected layers.
    fn take_frames(&mut self, now: SendTime) {
        for (track, publisher) in self.publishers.iter_mut().enumerate() {
            for frame in publisher.capture(now, track) {
                let selected = self.tracks[track].present.is_some_and(|layer| layer.spatial == frame.layer);
                if !selected {
                    continue;
                }
                if self.queue.is_empty() {
                    self.pacer.on_queued(now);
                }
                let packets = frame.size.bytes().div_ceil(1200);
                self.prober.on_queued(frame.size);
                let size = DataSize::from_bytes(frame.size.bytes() / packets);
                self.queue.extend((0..packets).map(|_| size));
                self.record.forwarded.push(frame);
            }
        }
        self.record.queued = self.record.queued.max(self.queued());
    }

    /// Chooses layers by the controller's target and the measured rates.
    fn choose(&mut self, now: SendTime, ms: i64) {
        for (track, publisher) in self.tracks.iter_mut().zip(&mut self.publishers) {
            for (layer, rate) in track.rates.iter_mut().zip(publisher.rates(now)) {
                layer[0] = rate;
            }
        }
        let layers =
            |tracks: &[ForwardedTrack; 3]| tracks.map(|track| track.present.map(|layer| layer.spatial));
        let before = layers(&self.tracks);
        let target = self.controller.target().media_rate;
        self.next = LayerForwarding::default().select(target, &self.tracks, &mut self.selections);
        for selection in &self.selections {
            self.tracks[selection.track].present = selection.layer;
            if selection.needs_key_frame {
                self.publishers[selection.track].encoder.request_key_frame();
                self.record.requests.push((ms, selection.track));
            }
        }
        let after = layers(&self.tracks);
        assert!((0..3).filter(|&track| after[track] > before[track]).count() <= 1, "one step up at a time");
        if after != before {
            self.record.layers.push((ms, after));
        }
    }

    /// The target, with padding up to the rate that the next step up needs.
    fn target(&self) -> Target {
        let target = self.controller.target();
        let padding = self.next.map_or(DataRate::ZERO, |next| next.at.min(target.sending_rate));
        Target { padding, ..target }
    }

    /// The next packet that may leave now.
    fn poll_packet(&mut self, now: SendTime) -> Option<ForwardedPacket> {
        let probing = self.prober.next_departure().is_some_and(|due| due <= now);
        let media = if probing || self.pacer.next_departure() <= now { self.queue.pop_front() } else { None };
        let pads = self.queue.is_empty() && self.pacer.next_padding(PADDING).is_some_and(|due| due <= now);
        let size = media.or((probing || pads).then_some(PADDING))?;
        let probe = self.prober.current().filter(|_| probing).map(|probe| probe.id);
        let sent = self.history.on_sent(now, HEADER, size, media.is_none(), probe);
        self.pacer.on_sent(now, size);
        self.prober.on_sent(now, size);
        let state = self.state();
        self.controller.on_sent(&sent, &state);
        Some(ForwardedPacket { number: sent.id, sent: now, size })
    }

    fn run(mut self, seconds: i64, capacity: impl Fn(i64) -> DataRate) -> RunRecord {
        let queue = QueueConfig { limit_time: Some(TimeDelta::from_millis(300)), ..QueueConfig::default() };
        let link = LinkConfig { queue, ..LinkConfig::new(Service::Constant(capacity(0)), PROPAGATION) };
        let mut path: Path<ForwardedPacket, (Vec<Record>, u8)> = Path::new(&link, 1, PROPAGATION).unwrap();
        let mut far_end = PacketFeedback::new(TimeDelta::from_millis(50));
        for ms in 1..=seconds * 1000 {
            let now = SendTime::from_millis(ms);
            let there = ArrivalTime::from_millis(ms);
            if ms % 1000 == 0 {
                path.set_rate(true_time(now), capacity(ms / 1000));
            }
            self.take_frames(now);
            if ms >= 1000 && ms % INTERVAL == 0 {
                self.choose(now, ms);
            }
            while let Some(probe) = self.controller.poll_probe() {
                self.prober.push(now, probe);
            }
            self.pacer.apply(now, &self.target());
            self.prober.expire(now);
            while let Some(packet) = self.poll_packet(now) {
                // A full queue drops it.
                let _ = path.send(true_time(now), Sent::new(packet, packet.size + HEADER));
            }
            while let Some(arrived) = path.arrival(true_time(now)) {
                let ForwardedPacket { number, sent, size } = arrived.packet;
                let at = ArrivalTime::from_nanos(arrived.at.nanos() as i64);
                far_end.on_arrival(&Arrival::new(number, sent, at, size));
                self.record
                    .waits
                    .push((ms, (at - ArrivalTime::ZERO) - (sent - SendTime::ZERO) - PROPAGATION));
            }
            while let Some(Report::Packets { records, number, .. }) = far_end.poll_report(there) {
                path.answer(true_time(now), (records.to_vec(), number));
            }
            while let Some((records, number)) = path.answered(true_time(now)) {
                let state = self.state();
                let report = Report::Packets { records: &records, number, at: None };
                if let Some(feedback) = self.history.join(now, &report) {
                    self.controller.on_feedback(now, &feedback, &state);
                }
            }
            if self.controller.next_timeout().is_some_and(|due| due <= now) {
                let state = self.state();
                self.controller.on_timeout(now, &state);
            }
        }
        self.record
    }
}

/// Layers at a time.
fn layers_at(record: &RunRecord, ms: i64) -> [Option<usize>; 3] {
    record.layers.iter().take_while(|&&(at, _)| at <= ms).last().map_or([None; 3], |&(_, layers)| layers)
}

/// Changes of layers from `from` to `to`, both in milliseconds.
fn changes(record: &RunRecord, from: i64, to: i64) -> Vec<(i64, [Option<usize>; 3])> {
    record.layers.iter().copied().filter(|(at, _)| (from..to).contains(at)).collect()
}

/// The longest wait in seconds `from` to `to`, and the 95th percentile, in milliseconds.
fn waits(record: &RunRecord, from: i64, to: i64) -> (i64, i64) {
    let waits = record.waits.iter().filter(|(at, _)| (from * 1000..to * 1000).contains(at));
    let mut waits: Vec<i64> = waits.map(|(_, wait)| wait.micros() / 1000).collect();
    waits.sort_unstable();
    (waits[waits.len() - 1], waits[waits.len() * 95 / 100])
}

/// Half a megabit for 20 s, two for 40 s, half for 20 s.
fn run(priorities: [u32; 3]) -> RunRecord {
    Forwarder::new(priorities).run(80, |second| KBPS(if (20..60).contains(&second) { 2000 } else { 500 }))
}

#[test]
fn layers_follow_the_rate_in_order_of_priority() {
    let record = run([3, 2, 1]);
    let lowest = [Some(0); 3];
    // One publisher resumes in a call. All 300 kbit/s fit, and the next step needs 200 + 350 + 35.
    assert_eq!(layers_at(&record, 1500), lowest);
    assert_eq!(changes(&record, 1500, 20_000), []);
    // 900 + 350 + 350 of 2000; the next step needs 900 + 900 + 90 + 100. The first publisher comes to its highest layer
    // first, and keeps it.
    assert_eq!(layers_at(&record, 60_000), [Some(2), Some(1), Some(1)]);
    let highest = record.layers.iter().find(|(_, layers)| layers.contains(&Some(2))).unwrap();
    assert_eq!(highest.1, [Some(2), Some(0), Some(0)], "the others go down for it");
    assert!((20_000..40_000).contains(&highest.0), "at {} ms", highest.0);
    assert!(changes(&record, highest.0, 60_000).iter().all(|(_, layers)| layers[0] == Some(2)));
    // Back within two seconds, for the rest of the call.
    assert_eq!(layers_at(&record, 62_000), lowest);
    assert_eq!(changes(&record, 62_000, 80_000), []);
    assert!(
        changes(&record, 1500, 80_000).iter().all(|(_, layers)| layers.iter().all(Option::is_some)),
        "none pauses"
    );
}

#[test]
fn equal_publishers_go_up_in_turn() {
    let record = run([1; 3]);
    let (at, _) = *record.layers.iter().find(|(_, layers)| layers.contains(&Some(2))).unwrap();
    assert!((20_000..60_000).contains(&at));
    assert_eq!(
        layers_at(&record, at - 1),
        [Some(1); 3],
        "all have the second layer before one has the third"
    );
    assert_eq!((layers_at(&record, 20_000), layers_at(&record, 62_000)), ([Some(0); 3], [Some(0); 3]));
}

#[test]
fn the_queue_of_the_subscriber_is_bounded() {
    let record = run([3, 2, 1]);
    // A packet takes 20 ms at the lower rate. The controller passes the higher rate once, as it looks for more.
    for (from, to) in [(1, 20), (20, 60), (63, 80)] {
        let (longest, p95) = waits(&record, from, to);
        assert!(longest <= 100 && p95 <= 40, "{longest} ms, {p95} ms in seconds {from} to {to}");
    }
    // The fall by 1500 kbit/s fills the queue of 300 ms, and it is short again after three seconds.
    assert!(waits(&record, 60, 63).0 <= 325);
    // Most in the forwarder are key frames of the two highest streams, four times 3750 and 1458 bytes.
    assert!(record.queued <= DataSize::from_bytes(25_000), "{:?}", record.queued);
}

#[test]
fn key_frames_are_requested_exactly_at_switches() {
    for priorities in [[3, 2, 1], [1; 3]] {
        let record = run(priorities);
        let mut layers = [None; 3];
        let mut switches = Vec::new();
        for &(at, after) in &record.layers {
            switches.extend((0..3).filter(|&track| after[track] != layers[track]).map(|track| (at, track)));
            layers = after;
        }
        assert_eq!(record.requests, switches);
        // Each track's first frame of another stream is a key frame, and no other frame is.
        let mut last = [None; 3];
        for frame in &record.forwarded {
            let before = last[frame.track].replace(frame.layer);
            assert_eq!(frame.key, before != Some(frame.layer), "{frame:?} after layer {before:?}");
        }
        assert!(switches.len() > 10 && last.iter().all(Option::is_some));
    }
}
