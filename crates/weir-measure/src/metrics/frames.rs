//! Tracker of the video frames of a flow: the arrival of each frame's last packet, and freezes of the picture.

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::{FrameMeta, PacketMeta};

use super::bins::BinGrid;
use super::histogram::Histogram;
use super::pictures::{FrameFate, PictureRecorder};
use super::span::Stretches;
use super::view::{USEFUL_WITHIN, View};

/// Initial length of the ring of frames; a power of two. A packet of a lost frame is assigned to it while fewer
/// frames have been captured since.
const INITIAL_FRAMES: usize = 64;
/// Greatest length of the ring. Beyond it the oldest frames are given up.
const MAX_FRAMES: usize = 1 << 16;

/// Tracker of the frames of a flow.
#[derive(Debug)]
pub(super) struct FrameTracker {
    window: Stretches,
    /// Frames in transit, at their number modulo the length of the ring.
    ring: Vec<OpenFrame>,
    /// Frames captured in the window.
    pub(super) sent: u64,
    /// Key frames among these.
    pub(super) keys: u64,
    /// Frames skipped in the window.
    pub(super) skipped: u64,
    /// Frames captured in the window and complete by the end of the run.
    pub(super) complete: u64,
    /// Frames captured in the window of which a packet was lost.
    pub(super) lost: u64,
    /// Payload bytes of frames that completed in the window, within [`USEFUL_WITHIN`] of their capture.
    pub(super) useful_bytes: u64,
    /// Delays from capture to completion, of frames that completed in the window.
    pub(super) delays: Histogram,
    freezes: Freezes,
    /// Time of capture of the last complete frame.
    shown: Time,
    pauses: Vec<(Time, Time)>,
    pub(super) pictures: PictureRecorder,
    /// The media of the frames captured from `viewed_from` on.
    pub(super) view: View,
    viewed_from: Time,
}

/// The effect of a packet's arrival on its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameProgress {
    /// Time of the frame's capture.
    pub(super) captured: Time,
    /// Delay from the frame's capture, if this packet completes it.
    pub(super) delay: Option<TimeDelta>,
}

#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    captured: Time,
    number: u32,
    bytes: u32,
    /// Number of packets that have not arrived; 0 once the frame is complete or lost.
    missing: u16,
    key: bool,
    lost: bool,
}

impl OpenFrame {
    const NONE: Self = Self {
        captured: Time::ZERO,
        number: PacketMeta::NO_FRAME,
        bytes: 0,
        missing: 0,
        key: false,
        lost: false,
    };
}

impl FrameTracker {
    pub(super) fn new(
        window: Stretches,
        grid: &BinGrid,
        mut pauses: Vec<(Time, Time)>,
        viewed_from: Time,
    ) -> Self {
        pauses.sort_unstable();
        Self {
            pictures: PictureRecorder::new(window.clone(), grid),
            window,
            ring: vec![OpenFrame::NONE; INITIAL_FRAMES],
            sent: 0,
            keys: 0,
            skipped: 0,
            complete: 0,
            lost: 0,
            useful_bytes: 0,
            delays: Histogram::new(),
            freezes: Freezes::default(),
            shown: Time::ZERO,
            pauses,
            view: View::default(),
            viewed_from,
        }
    }

    pub(super) fn captured(&mut self, now: Time, frame: &FrameMeta) {
        let counts = u64::from(self.window.contains(now));
        if frame.packets == 0 {
            self.skipped += counts;
            return;
        }
        self.sent += counts;
        self.keys += u64::from(frame.key) * counts;
        while self.slot(frame.number).missing > 0 && self.ring.len() < MAX_FRAMES {
            self.grow();
        }
        let FrameMeta { number, packets, bytes, key } = *frame;
        *self.slot(number) = OpenFrame { captured: now, number, bytes, missing: packets, key, lost: false };
    }

    /// Takes a packet that arrives in `bin`. Returns `None` if it belongs to no frame, or to a frame given up long
    /// ago.
    #[inline(never)]
    pub(super) fn arrived(&mut self, now: Time, bin: usize, packet: &PacketMeta) -> Option<FrameProgress> {
        let viewed_from = self.viewed_from;
        self.view.packets += u64::from(packet.frame != PacketMeta::NO_FRAME);
        let slot = self.slot(packet.frame);
        if slot.number != packet.frame || packet.frame == PacketMeta::NO_FRAME {
            return None;
        }
        let captured = slot.captured;
        let last = slot.missing == 1;
        slot.missing = slot.missing.saturating_sub(1);
        let frame = *slot;
        if captured >= viewed_from {
            self.view.payload_bytes += u64::from(packet.payload);
        }
        Some(FrameProgress { captured, delay: last.then(|| self.completed(now, bin, frame)) })
    }

    /// Records the loss of a packet of frame `number`, and so of the frame.
    pub(super) fn dropped(&mut self, number: u32) {
        self.view.lost_packets += u64::from(number != PacketMeta::NO_FRAME);
        let slot = self.slot(number);
        if slot.number == number && slot.missing > 0 {
            slot.missing = 0;
            slot.lost = true;
            let captured = slot.captured;
            self.lost += u64::from(self.window.contains(captured));
            self.resolve(number);
        }
    }

    /// The freezes, including the gap up to `end` or to a pause that lasts until then.
    pub(super) fn freezes(&self, end: Time) -> Freezes {
        let mut freezes = self.freezes.clone();
        let end = self.pause_after(self.shown).map_or(end, |(from, _)| end.min(from));
        if freezes.last.is_some_and(|last| last < end) {
            freezes.frame(end, true);
        }
        freezes
    }

    fn completed(&mut self, now: Time, bin: usize, frame: OpenFrame) -> TimeDelta {
        let delay = now - frame.captured;
        self.complete += u64::from(self.window.contains(frame.captured));
        if self.window.contains(now) {
            self.delays.record(delay);
            if delay <= USEFUL_WITHIN {
                self.useful_bytes += u64::from(frame.bytes);
            }
        }
        if frame.captured >= self.viewed_from {
            self.view.completed(frame.bytes, delay);
        }
        let after_pause = self.pause_after(self.shown).is_some_and(|(_, to)| to <= frame.captured);
        self.pictures.completed(now, bin, (frame.number, frame.captured), after_pause);
        self.resolve(frame.number);
        if now < self.window.end() {
            if after_pause {
                self.freezes.interrupt();
            }
            self.shown = self.shown.max(frame.captured);
            self.freezes.frame(now, self.window.contains(now));
        }
        delay
    }

    /// Evaluates frame `number` of the ring, which is complete or lost.
    fn resolve(&mut self, number: u32) {
        let (ring, window) = (&self.ring, &self.window);
        let fate = |number: u32| {
            let frame = &ring[number as usize & (ring.len() - 1)];
            (frame.number == number && frame.missing == 0).then(|| FrameFate {
                key: frame.key,
                complete: !frame.lost,
                counts: window.contains(frame.captured),
            })
        };
        if let Some(own) = fate(number) {
            self.pictures.resolved(number, own, fate);
        }
    }

    /// The first pause that ends after `time`.
    fn pause_after(&self, time: Time) -> Option<(Time, Time)> {
        self.pauses.get(self.pauses.partition_point(|&(_, to)| to <= time)).copied()
    }

    #[inline]
    fn slot(&mut self, number: u32) -> &mut OpenFrame {
        let mask = self.ring.len() - 1;
        &mut self.ring[number as usize & mask]
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![OpenFrame::NONE; self.ring.len() * 2];
        let frames = core::mem::replace(&mut self.ring, larger);
        for frame in frames.into_iter().filter(|frame| frame.number != PacketMeta::NO_FRAME) {
            *self.slot(frame.number) = frame;
        }
    }
}

/// Number of intervals in the mean, the present one included.
const WINDOW_FRAMES: usize = 30;
/// Number of intervals that must be known before one can be a freeze.
const MIN_FRAMES: usize = 5;
/// A freeze is at least this multiple of the mean interval.
const FREEZE_FACTOR: u32 = 3;
/// A freeze exceeds the mean interval by at least this, in ms.
const FREEZE_EXCESS_MS: u32 = 150;

/// Freezes by the rule of W3C webrtc-stats (`freezeCount`): an interval between frames of at least
/// max(3·mean, mean + 150 ms), in whole milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Freezes {
    last: Option<Time>,
    intervals_ms: [u32; WINDOW_FRAMES],
    seen: usize,
    sum_ms: u32,
    pub(super) count: u64,
    pub(super) total: TimeDelta,
    pub(super) longest: TimeDelta,
}

impl Freezes {
    /// Records an intended stop of the picture: the interval up to the next frame does not count.
    fn interrupt(&mut self) {
        self.last = None;
    }

    fn frame(&mut self, now: Time, counts: bool) {
        let Some(last) = self.last.replace(now) else { return };
        let interval = now - last;
        // A day at most, so that the sum cannot overflow.
        let ms = (interval.micros() / 1000).clamp(0, 86_400_000) as u32;
        let oldest = &mut self.intervals_ms[self.seen % WINDOW_FRAMES];
        self.sum_ms = self.sum_ms - *oldest + ms;
        *oldest = ms;
        self.seen += 1;
        if counts && self.is_freeze(ms) {
            self.count += 1;
            self.total += interval;
            self.longest = self.longest.max(interval);
        }
    }

    fn is_freeze(&self, ms: u32) -> bool {
        let known = self.seen.min(WINDOW_FRAMES);
        let mean = self.sum_ms / known.max(1) as u32;
        known >= MIN_FRAMES && ms >= (FREEZE_FACTOR * mean).max(mean + FREEZE_EXCESS_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::span::ActiveSpan;

    /// Frames 33 ms apart, then one after a gap of `gap` ms.
    fn freezes_after(regular: u64, gap: u64) -> Freezes {
        let mut freezes = Freezes::default();
        for k in 0..=regular {
            freezes.frame(Time::from_millis(33 * k), true);
        }
        freezes.frame(Time::from_millis(33 * regular + gap), true);
        freezes
    }

    #[test]
    fn a_gap_of_200_ms_freezes_a_picture_of_30_frames_per_second() {
        // Mean of 29 · 33 + 200 = 1157 over 30: 38 ms; threshold max(114, 188) = 188 ≤ 200.
        let freezes = freezes_after(40, 200);
        assert_eq!((freezes.count, freezes.total), (1, TimeDelta::from_millis(200)));
    }

    #[test]
    fn a_gap_of_185_ms_does_not() {
        // Mean of 29 · 33 + 185 = 1142 over 30: 38 ms; threshold 188 > 185. At 188 ms it would.
        assert_eq!(freezes_after(40, 185).count, 0);
        assert_eq!(freezes_after(40, 187).count, 0);
        assert_eq!(freezes_after(40, 188).count, 1);
    }

    #[test]
    fn five_intervals_are_needed_to_judge() {
        // Four of 33 ms and one of 1000: mean 1132 / 5 = 226, threshold max(678, 376) = 678 ≤ 1000.
        assert_eq!(freezes_after(4, 1000).count, 1);
        assert_eq!(freezes_after(3, 1000).count, 0);
    }

    #[test]
    fn the_mean_forgets_after_thirty_intervals() {
        // A slow start of 10 frames/s, then 30 intervals of 33 ms: only those are in the mean.
        let mut freezes = Freezes::default();
        for k in 0..50 {
            freezes.frame(Time::from_millis(100 * k), true);
        }
        for k in 1..=30 {
            freezes.frame(Time::from_millis(4900 + 33 * k), true);
        }
        assert_eq!(freezes.sum_ms, 990);
    }

    /// A packet of `frame` with 1000 bytes of payload.
    fn packet(frame: u32) -> PacketMeta {
        PacketMeta {
            sent_at: Time::ZERO,
            wait: TimeDelta::ZERO,
            wire_size: 1052,
            payload: 1000,
            frame,
            control: false,
        }
    }

    #[test]
    fn a_frame_that_lost_a_packet_is_of_no_use_though_the_rest_of_it_arrives() {
        let end = Time::from_millis(1000);
        let window = Stretches::of([ActiveSpan::new(Time::ZERO, end)]);
        let grid = BinGrid::new(end, Time::ZERO, window.clone());
        let mut frames = FrameTracker::new(window, &grid, Vec::new(), Time::ZERO);
        frames.captured(Time::ZERO, &FrameMeta { number: 0, packets: 3, bytes: 3000, key: false });
        let arrived = |delay| Some(FrameProgress { captured: Time::ZERO, delay });
        assert_eq!(frames.arrived(Time::from_millis(10), 0, &packet(0)), arrived(None));
        frames.dropped(0);
        assert_eq!(frames.arrived(Time::from_millis(20), 0, &packet(0)), arrived(None));
        let View { payload_bytes, useful_bytes, frame_delay, packets, lost_packets } = &frames.view;
        assert_eq!((*payload_bytes, *useful_bytes, frame_delay.count()), (2000, 0, 0));
        assert_eq!((*packets, *lost_packets), (2, 1));
        // Also when other frames have been captured, but not for good.
        for number in 1..64 {
            frames.captured(Time::ZERO, &FrameMeta { number, packets: 1, bytes: 1000, key: false });
            assert_eq!(frames.arrived(Time::from_millis(25), 0, &packet(0)), arrived(None));
        }
        frames.captured(Time::ZERO, &FrameMeta { number: 64, packets: 1, bytes: 1000, key: false });
        assert_eq!(frames.arrived(Time::from_millis(28), 0, &packet(0)), None);
        let nobodys = packet(PacketMeta::NO_FRAME);
        assert_eq!(frames.arrived(Time::from_millis(30), 0, &nobodys), None);
        frames.dropped(PacketMeta::NO_FRAME);
        assert_eq!((frames.view.packets, frames.view.lost_packets), (66, 1), "padding is of no frame");
    }

    #[test]
    fn the_ring_grows_while_frames_stay_open() {
        let end = Time::from_millis(100_000);
        let window = Stretches::of([ActiveSpan::new(Time::ZERO, end)]);
        let grid = BinGrid::new(end, Time::ZERO, window.clone());
        let mut frames = FrameTracker::new(window, &grid, Vec::new(), Time::from_millis(500));
        for number in 0..200 {
            let meta = FrameMeta { number, packets: 1, bytes: 1000, key: false };
            frames.captured(Time::from_millis(10 * u64::from(number)), &meta);
        }
        assert_eq!(frames.ring.len(), 256);
        for number in 0..200 {
            let arrived = frames.arrived(Time::from_millis(3000), 30, &packet(number)).unwrap();
            assert_eq!(arrived.delay, Some(TimeDelta::from_millis(3000 - 10 * i64::from(number))));
        }
        assert_eq!((frames.sent, frames.complete), (200, 200));
        // Captured from 500 ms on: 150, the last at 1990 ms, so that none is there in time.
        let View { payload_bytes, useful_bytes, frame_delay, .. } = &frames.view;
        assert_eq!((*payload_bytes, *useful_bytes, frame_delay.count()), (150_000, 0, 150));
    }
}
