//! The trace-driven model of RFC 8593 §6: frame sizes of sequences encoded at several rates, interpolated.

use weir_units::{DataRate, TimeDelta};

use super::{EncoderConfig, FrameTraces, LARGEST_FRAME, Picture, Ticks};

/// `fs_min` of RFC 8593 §6.2: minimum frame size in bytes.
const SMALLEST_FRAME: f64 = 10.0;

/// Frame sizes from traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceDriven {
    /// The traces, all of the same sequence.
    pub traces: &'static FrameTraces,
    /// `SkipFrames`: number of first frames, including the intra frame, that are left out when the sequence repeats; 0
    /// for a periodic intra frame.
    pub skip_frames: u32,
}

impl TraceDriven {
    /// The model with the RFC's typical 20 frames to skip.
    pub const fn new(traces: &'static FrameTraces) -> Self {
        Self { traces, skip_frames: 20 }
    }
}

#[derive(Debug)]
pub(super) struct TracedState {
    model: TraceDriven,
    ticks: Ticks,
    /// `t_current`: index of the next frame in the sequence.
    index: usize,
}

impl TracedState {
    pub(super) fn new(model: TraceDriven) -> Self {
        Self { model, ticks: Ticks::default(), index: 0 }
    }

    pub(super) fn next(&self, config: &EncoderConfig) -> TimeDelta {
        self.ticks.next(config.frame_rate)
    }

    pub(super) fn capture(&mut self, _config: &EncoderConfig, rate: DataRate) -> Picture {
        let (traces, index) = (self.model.traces, self.index);
        self.ticks.advance();
        self.index = self.following();
        Picture { bytes: traced_size(traces, index, rate), key: index == 0 }
    }

    /// Skips a frame, and its content unless it is the intra frame.
    pub(super) fn skip(&mut self) {
        self.ticks.advance();
        if self.index > 0 {
            self.index = self.following();
        }
    }

    /// The index after the present one (RFC 8593 §6.2).
    fn following(&self) -> usize {
        let frames = self.model.traces.frames();
        let skipped = (self.model.skip_frames as usize).min(frames - 1);
        if self.index < skipped {
            self.index + 1
        } else {
            (self.index + 1 - skipped) % (frames - skipped) + skipped
        }
    }

    pub(super) fn go_on(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
    }

    pub(super) fn resume(&mut self, at: TimeDelta) {
        self.ticks.resume(at);
        self.index = 0;
    }

    pub(super) fn request_key_frame(&mut self) {
        self.index = 0;
    }
}

/// The size of frame `index` at `rate`, in bytes: between two traces linearly interpolated, beyond them in proportion to
/// the outermost (RFC 8593 §6.2).
fn traced_size(traces: &FrameTraces, index: usize, rate: DataRate) -> f64 {
    let bps = rate.bps_f64();
    let (lower, upper) = traces.around(rate);
    let (low, high) = (traces.rate(lower).bps_f64(), traces.rate(upper).bps_f64());
    let (at_low, at_high) = (traces.size(lower, index), traces.size(upper, index));
    if bps < low {
        (bps / low * at_low).max(SMALLEST_FRAME)
    } else if lower == upper {
        (bps / high * at_high).min(LARGEST_FRAME)
    } else {
        let w = (bps - low) / (high - low);
        (1.0 - w) * at_low + w * at_high
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, EncoderModel, Statistical};
    use super::*;

    /// 100 frames: frame t has 10·(t + 100) bytes at 400 kbit/s, 20·(t + 100) at 600 and 30·(t + 100) at 1000.
    fn traces() -> &'static FrameTraces {
        let scaled_sizes = |factor: u32| (0..100).map(|t| factor * (t + 100)).collect();
        let kbps = DataRate::from_kbps;
        let traces = FrameTraces::new(vec![
            (kbps(400), scaled_sizes(10)),
            (kbps(600), scaled_sizes(20)),
            (kbps(1000), scaled_sizes(30)),
        ]);
        Box::leak(Box::new(traces.unwrap()))
    }

    fn encoder(config: EncoderConfig) -> Encoder {
        Encoder::new(config, DataRate::from_kbps(300), 1)
    }

    #[test]
    fn sizes_are_interpolated_between_rates_and_scaled_beyond_them() {
        let size = |kbps, index| traced_size(traces(), index, DataRate::from_kbps(kbps));
        // Index 50: 1500, 3000 and 4500 bytes. w = 0.25: 1500 · 0.75 + 3000 · 0.25 = 1875.
        assert_eq!(size(400, 50), 1500.0);
        assert_eq!(size(450, 50), 1875.0);
        assert_eq!(size(600, 50), 3000.0);
        // w = 300 / 400: 3000 · 0.25 + 4500 · 0.75 = 4125.
        assert_eq!(size(900, 50), 4125.0);
        assert_eq!(size(1000, 50), 4500.0);
        // Beyond: 200 / 400 and 2000 / 1000; never below 10 bytes.
        assert_eq!((size(200, 50), size(2000, 50)), (750.0, 9000.0));
        assert_eq!(size(1, 50), 10.0);
        assert_eq!(size(10_000_000, 50), 1e6);
    }

    #[test]
    fn the_sequence_goes_on_behind_the_skipped_frames() {
        let config = EncoderConfig::rfc8593_traces(traces());
        assert_eq!((config.min_rate, config.max_rate), (DataRate::from_kbps(400), DataRate::from_kbps(1000)));
        let mut e = encoder(config);
        let frames: Vec<_> = (0..182).map(|_| e.capture(DataRate::from_kbps(400))).collect();
        let indices: Vec<u64> = frames.iter().map(|frame| frame.size.bytes() / 10 - 100).collect();
        assert_eq!(indices[..3], [0, 1, 2]);
        assert_eq!(indices[98..102], [98, 99, 20, 21]);
        assert_eq!(indices[178..182], [98, 99, 20, 21]);
        assert_eq!(frames.iter().filter(|frame| frame.key).count(), 1);
        e.request_key_frame();
        assert_eq!(e.capture(DataRate::from_kbps(400)).size.bytes(), 1000);
    }

    #[test]
    fn the_content_of_a_skipped_frame_is_gone_but_not_the_intra_frame() {
        let mut e = encoder(EncoderConfig::rfc8593_traces(traces()));
        assert!(e.skip());
        let index = |e: &mut Encoder| e.capture(DataRate::from_kbps(400)).size.bytes() / 10 - 100;
        assert_eq!((index(&mut e), index(&mut e)), (0, 1));
        assert!(e.skip());
        assert_eq!(index(&mut e), 3);
        assert_eq!(e.next_capture(), TimeDelta::from_nanos(166_666_667), "five frames");
    }

    #[test]
    fn without_skipping_the_intra_frame_comes_periodically() {
        let model = EncoderModel::Traces(TraceDriven { skip_frames: 0, ..TraceDriven::new(traces()) });
        let mut e = encoder(EncoderConfig { model, ..EncoderConfig::rfc8593_traces(traces()) });
        let keys = (0..300).filter(|_| e.capture(DataRate::from_kbps(500)).key).count();
        assert_eq!(keys, 3);
    }

    #[test]
    fn a_request_brings_the_hybrid_a_burst_or_without_bursts_the_intra_frame() {
        let quiet = Statistical { interval_scale: 0.0, ..Statistical::rfc8593() };
        for (burst, first) in [(quiet.burst, 13_500), (None, 2000)] {
            let model = EncoderModel::Hybrid(Statistical { burst, ..quiet }, TraceDriven::new(traces()));
            let config = EncoderConfig { model, ..EncoderConfig::rfc8593_hybrid(traces()) };
            assert!(config.has_key_frames());
            let mut e = encoder(config);
            (0..30).for_each(|_| _ = e.capture(DataRate::from_kbps(600)));
            e.request_key_frame();
            let frame = e.capture(DataRate::from_kbps(600));
            assert_eq!((frame.key, frame.size.bytes()), (true, first));
        }
    }

    #[test]
    fn the_hybrid_bursts_at_abrupt_changes_and_follows_the_trace_in_between() {
        let quiet = Statistical { interval_scale: 0.0, ..Statistical::rfc8593() };
        let model = EncoderModel::Hybrid(quiet, TraceDriven::new(traces()));
        let mut e = encoder(EncoderConfig { model, ..EncoderConfig::rfc8593_hybrid(traces()) });
        let sizes: Vec<u64> = (0..9).map(|_| e.capture(DataRate::from_kbps(600)).size.bytes()).collect();
        // (8 · 2500 − 13500) / 7 = 928.6; the trace has gone on: frame 8 has 20 · 108 bytes.
        assert_eq!(sizes, [13_500, 929, 929, 929, 929, 929, 929, 929, 2160]);
        // 5 % more is steady: w = 30 / 400 of 30 · 109, the rest of 20 · 109.
        assert_eq!(e.capture(DataRate::from_kbps(630)).size.bytes(), 2262);
        for _ in 0..10 {
            e.capture(DataRate::from_kbps(630));
        }
        assert_eq!(e.capture(DataRate::from_kbps(900)).size.bytes(), 13_500);
    }

    #[test]
    fn after_a_pause_the_sequence_begins_anew_with_the_intra_frame() {
        let mut e = encoder(EncoderConfig::rfc8593_traces(traces()));
        let index = |e: &mut Encoder| e.capture(DataRate::from_kbps(400)).size.bytes() / 10 - 100;
        assert_eq!([index(&mut e), index(&mut e), index(&mut e)], [0, 1, 2]);
        e.resume(TimeDelta::from_secs(10));
        assert_eq!(e.next_capture(), TimeDelta::from_secs(10));
        assert_eq!([index(&mut e), index(&mut e)], [0, 1]);
    }
}
