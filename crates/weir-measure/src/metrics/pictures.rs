//! Picture quality of a media flow: frame rates, a playout with a fixed delay, and decodable frames.

use weir_net::Time;
use weir_units::TimeDelta;

use super::bins::{BinCounts, BinGrid};
use super::span::Stretches;
use crate::results::stats;
use crate::results::{Pictures, Value};

/// Time from the capture of a frame to its display.
const PLAYOUT_DELAY: TimeDelta = TimeDelta::from_millis(150);
/// Time from the capture after which a frame is not displayed.
const PLAYOUT_LIMIT: TimeDelta = TimeDelta::from_secs(1);
/// Number of frames below which a second counts as slow.
const SLOW_BELOW: u64 = 20;

/// Recorder of the picture quality of a flow.
#[derive(Debug)]
pub(super) struct PictureRecorder {
    window: Stretches,
    /// Complete frames per bin.
    per_bin: BinCounts,
    /// Intervals between complete frames: the sum in seconds, and the sum of squares.
    intervals: (f64, f64),
    last: Option<Time>,
    playout: Playout,
    chain: DecodingChain,
}

/// A playout with a fixed delay.
#[derive(Debug, Default)]
struct Playout {
    /// Number of the frame displayed last, and the time.
    shown: Option<(u32, Time)>,
    on_time: u64,
    late: u64,
    discarded: u64,
}

/// The frames that can be decoded: a complete key frame, and a complete frame that follows a decodable one.
#[derive(Debug, Default)]
struct DecodingChain {
    /// Number of the next frame to evaluate.
    next: u32,
    /// Whether the previous frame can be decoded.
    intact: bool,
    any_key: bool,
    decodable: u64,
}

/// Fate of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameFate {
    pub(super) key: bool,
    pub(super) complete: bool,
    /// Whether it was captured in the window.
    pub(super) counts: bool,
}

impl PictureRecorder {
    pub(super) fn new(window: Stretches, grid: &BinGrid) -> Self {
        Self {
            window,
            per_bin: BinCounts::new(grid.len()),
            intervals: (0.0, 0.0),
            last: None,
            playout: Playout::default(),
            chain: DecodingChain::default(),
        }
    }

    /// Takes a complete frame; `after_pause` marks the first one captured after a pause.
    pub(super) fn completed(&mut self, now: Time, bin: usize, frame: (u32, Time), after_pause: bool) {
        self.per_bin.add(bin, 1);
        let last = self.last.replace(now).filter(|_| !after_pause);
        if let Some(last) = last.filter(|_| self.window.contains(now)) {
            let interval = (now - last).secs_f64();
            self.intervals.0 += interval;
            self.intervals.1 += interval * interval;
        }
        let (number, captured) = frame;
        self.playout.completed(now, number, captured, self.window.contains(captured));
    }

    /// Evaluates frame `number`; `fate` returns the fate of any frame.
    pub(super) fn resolved(
        &mut self,
        number: u32,
        frame_fate: FrameFate,
        fate: impl Fn(u32) -> Option<FrameFate>,
    ) {
        let chain = &mut self.chain;
        chain.any_key |= frame_fate.key;
        if frame_fate.key && frame_fate.complete && number > chain.next {
            chain.next = number; // whatever is still open before it is not needed any more
        }
        while let Some(fate) = fate(chain.next) {
            chain.intact = fate.complete && (fate.key || chain.intact);
            chain.decodable += u64::from(chain.intact && fate.counts);
            chain.next = chain.next.saturating_add(1);
        }
    }

    /// The metrics. `active` is the time in which the flow is active, `sent` the number of frames captured in the
    /// window.
    pub(super) fn measures(&self, grid: &BinGrid, active: &Stretches, sent: u64) -> Pictures<Value> {
        let seconds = grid.seconds().filter(|(_, second)| active.covers(*second));
        let counts: Vec<u64> = seconds.map(|(bins, _)| self.per_bin.sum(bins)).collect();
        let rates: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let slow = counts.iter().filter(|&&count| count < SLOW_BELOW).count();
        let share_of = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let Playout { on_time, late, discarded, .. } = self.playout;
        let (sum, squares) = self.intervals;
        Pictures {
            frame_rate: stats::mean(&rates),
            harmonic_frame_rate: (squares > 0.0).then(|| sum / squares),
            slow_seconds: share_of(slow as u64, counts.len() as u64),
            shown_on_time: share_of(on_time, sent),
            shown_late: share_of(late, sent),
            discarded: share_of(discarded, sent),
            decodable: share_of(self.chain.decodable, sent).filter(|_| self.chain.any_key),
        }
    }
}

impl Playout {
    /// Displays a frame at the latest of its capture plus the delay, its completion, and the time of the last frame.
    /// A frame older than the displayed one is not displayed.
    fn completed(&mut self, now: Time, number: u32, captured: Time, counts: bool) {
        let overtaken = self.shown.is_some_and(|(shown, _)| number < shown);
        if overtaken || now - captured > PLAYOUT_LIMIT {
            self.discarded += u64::from(counts);
            return;
        }
        let due = captured + PLAYOUT_DELAY;
        let at = due.max(now).max(self.shown.map_or(Time::ZERO, |(_, at)| at));
        self.shown = Some((number, at));
        let tally = if at > due { &mut self.late } else { &mut self.on_time };
        *tally += u64::from(counts);
    }
}
