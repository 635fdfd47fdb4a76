//! The statistical model of RFC 8593 §5: a damped response, a burst at abrupt changes, Laplace noise.

use rand_pcg::Pcg64Mcg;
use weir_units::{DataRate, DataSize, TimeDelta};

use super::noise::laplace;
use super::{EncoderConfig, Picture};

/// The statistical model. The encoder's reaction latency `tau_v` is [`EncoderConfig::reaction`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Statistical {
    /// Handling of requests within the reaction latency of the last reaction.
    pub late_requests: LateRequests,
    /// The transient state, if the model has one.
    pub burst: Option<FrameBurst>,
    /// `SCALE_t`: scale of the Laplace noise of an interval, as a share of `t0 = 1/FPS`.
    pub interval_scale: f64,
    /// `SCALE_B`: scale of the Laplace noise of a frame's size, as a share of `B0 = R_v/8/FPS`.
    pub size_scale: f64,
}

/// Handling of requests that come within the reaction latency `tau_v` of the last reaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LateRequests {
    /// The latest is applied when the latency is over.
    #[default]
    Kept,
    /// They are ignored (RFC 8593 §5.1): the encoder waits for the next request.
    Dropped,
}

/// The transient state (RFC 8593 §5.2): the response to an abrupt change of the target, or an intra frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FrameBurst {
    /// `K_d`: its length in frames, at least 2.
    pub frames: u32,
    /// `K_B`: size of its first frame.
    pub first: DataSize,
    /// Relative change of the target from which on it is abrupt.
    pub abrupt: f64,
}

/// Lower bound of the frames after the first of a burst, as a share of `B0`.
const SMALLEST_SHARE: f64 = 0.2;
/// Lower bound of the time between frames, in seconds.
const SHORTEST_INTERVAL: f64 = 1e-3;

impl Statistical {
    /// The example values of RFC 8593 table 1; abrupt changes are those of more than 10 % (§7).
    pub const fn rfc8593() -> Self {
        let burst = FrameBurst { frames: 8, first: DataSize::from_bytes(13_500), abrupt: 0.1 };
        Self { late_requests: LateRequests::Kept, burst: Some(burst), interval_scale: 0.15, size_scale: 0.15 }
    }
}

#[derive(Debug)]
pub(super) struct StatisticalState {
    model: Statistical,
    /// Capture time of the next frame in seconds; rounded only in [`Self::next`], so that fractions of a nanosecond do
    /// not add up.
    next: f64,
    /// The rate that the encoder follows, or `None` before the first frame and after a pause.
    rate: Option<DataRate>,
    /// The last target; a target is a request where it differs from the one before.
    requested: DataRate,
    /// Time of the last reaction, which set this rate.
    since: TimeDelta,
    /// Frames of a burst still to come.
    burst_left: u32,
    key_due: bool,
}

impl StatisticalState {
    pub(super) fn new(model: Statistical) -> Self {
        Self {
            model,
            next: 0.0,
            rate: None,
            requested: DataRate::ZERO,
            since: TimeDelta::ZERO,
            burst_left: 0,
            key_due: true,
        }
    }

    pub(super) fn next(&self) -> TimeDelta {
        TimeDelta::from_secs_f64(self.next)
    }

    /// The next frame; `steady` computes its size from the nominal one outside of bursts.
    pub(super) fn capture(
        &mut self,
        config: &EncoderConfig,
        target: DataRate,
        rng: &mut Pcg64Mcg,
        steady: impl FnOnce(f64) -> f64,
    ) -> Picture {
        let rate = self.accept(config, target);
        let mut picture = self.capture_at(config, rate, rng, steady);
        picture.bytes *= 1.0 + laplace(rng, self.model.size_scale); // §5.3
        picture
    }

    /// Reacts to the target, unless the last reaction is too recent, and returns the rate in force (§5.1).
    pub(super) fn accept(&mut self, config: &EncoderConfig, target: DataRate) -> DataRate {
        let target = config.clamp(target);
        let before = std::mem::replace(&mut self.requested, target);
        let Some(rate) = self.rate else {
            self.rate = Some(target);
            self.since = self.next();
            return target;
        };
        let nothing_new = match self.model.late_requests {
            LateRequests::Kept => target == rate,
            LateRequests::Dropped => target == before,
        };
        if nothing_new || self.next() - self.since < config.reaction {
            return rate;
        }
        let change = (target.bps_f64() - rate.bps_f64()).abs() / rate.bps_f64();
        if let Some(burst) = self.model.burst.filter(|burst| change > burst.abrupt) {
            self.burst_left = burst.frames;
        }
        self.rate = Some(target);
        self.since = self.next();
        target
    }

    /// The next frame at `rate`, with noise in its interval and none in its size.
    pub(super) fn capture_at(
        &mut self,
        config: &EncoderConfig,
        rate: DataRate,
        rng: &mut Pcg64Mcg,
        steady: impl FnOnce(f64) -> f64,
    ) -> Picture {
        let key = std::mem::take(&mut self.key_due) && self.model.burst.is_some();
        if let Some(burst) = self.model.burst.filter(|_| key) {
            self.burst_left = burst.frames;
        }
        let nominal = config.nominal(rate);
        let bytes = match self.model.burst.filter(|_| self.burst_left > 0) {
            Some(burst) => {
                let first = self.burst_left == burst.frames;
                self.burst_left -= 1;
                if first { burst.first.bytes_f64() } else { burst.small(nominal) }
            }
            None => steady(nominal),
        };
        self.skip(config, rng);
        Picture { bytes, key }
    }

    /// Advances by the interval of one frame.
    pub(super) fn skip(&mut self, config: &EncoderConfig, rng: &mut Pcg64Mcg) {
        let interval = 1.0 / config.frame_rate * (1.0 + laplace(rng, self.model.interval_scale)); // §5.3
        self.next += interval.max(SHORTEST_INTERVAL);
    }

    /// Moves the next frame to `at`, and keeps the state.
    pub(super) fn go_on(&mut self, at: TimeDelta) {
        self.next = at.secs_f64();
    }

    /// Begins anew at `at`, after a pause.
    pub(super) fn resume(&mut self, at: TimeDelta) {
        *self = Self { next: at.secs_f64(), ..Self::new(self.model) };
    }

    /// Makes the next frame a key frame. No effect in a model without bursts.
    pub(super) fn request_key_frame(&mut self) {
        self.key_due = true;
    }
}

impl FrameBurst {
    /// Size of a frame after the first one, in bytes, where `B0` is `nominal`.
    fn small(self, nominal: f64) -> f64 {
        let frames = f64::from(self.frames.max(2));
        ((frames * nominal - self.first.bytes_f64()) / (frames - 1.0)).max(SMALLEST_SHARE * nominal)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, EncoderModel};
    use super::*;

    /// RFC 8593's example without noise.
    fn quiet() -> EncoderConfig {
        let model = Statistical { interval_scale: 0.0, size_scale: 0.0, ..Statistical::rfc8593() };
        EncoderConfig { model: EncoderModel::Statistical(model), ..EncoderConfig::rfc8593_statistical() }
    }

    fn encoder(config: EncoderConfig) -> Encoder {
        Encoder::new(config, DataRate::from_kbps(300), 1)
    }

    fn sizes(encoder: &mut Encoder, frames: usize, kbps: u64) -> Vec<u64> {
        (0..frames).map(|_| encoder.capture(DataRate::from_kbps(kbps)).size.bytes()).collect()
    }

    #[test]
    fn a_burst_has_the_mean_rate_of_the_target() {
        let mut e = encoder(quiet());
        // (8 · 4166.7 − 13500) / 7 = 2833.3; the eight frames have 8 · 4166.7 = 33 333 bytes.
        let mut expected = vec![13_500];
        expected.extend([2833; 7]);
        expected.extend([4167; 4]);
        assert_eq!(sizes(&mut e, 12, 1000), expected);
    }

    #[test]
    fn a_burst_at_a_low_rate_overshoots_by_its_floor() {
        let mut e = encoder(quiet());
        // (8 · 1250 − 13500) / 7 < 0: a fifth of 1250. 15 250 bytes instead of 10 000.
        let first = sizes(&mut e, 9, 300);
        assert_eq!(first, [13_500, 250, 250, 250, 250, 250, 250, 250, 1250]);
        assert_eq!(first[..8].iter().sum::<u64>(), 15_250);
    }

    #[test]
    fn an_abrupt_change_bursts_and_a_small_one_does_not() {
        let mut e = encoder(quiet());
        sizes(&mut e, 20, 1000);
        // 9 %: B0 = 1 090 000 / 240 = 4541.7.
        assert_eq!(sizes(&mut e, 1, 1090), [4542]);
        sizes(&mut e, 20, 1090);
        // To 1300 kbit/s are 19 %: the first frame of a burst, and then (8 · 5416.7 − 13500) / 7 = 4261.9.
        assert_eq!(sizes(&mut e, 2, 1300), [13_500, 4262]);
    }

    #[test]
    fn requests_within_the_latency_are_answered_when_it_is_over() {
        let mut e = encoder(quiet());
        sizes(&mut e, 30, 1000);
        // Frame 30, at 1 s, follows at once; 200 ms are six frames.
        assert_eq!(sizes(&mut e, 1, 1050), [4375]);
        assert_eq!(sizes(&mut e, 5, 1000), [4375; 5]);
        assert_eq!(sizes(&mut e, 1, 1000), [4167]);
    }

    #[test]
    fn requests_within_the_latency_are_dropped_if_wanted() {
        let EncoderModel::Statistical(model) = quiet().model else { panic!("statistical") };
        let model = EncoderModel::Statistical(Statistical { late_requests: LateRequests::Dropped, ..model });
        let mut e = encoder(EncoderConfig { model, ..quiet() });
        sizes(&mut e, 30, 1000);
        // As above, but the request for 1000 kbit/s, which came within 200 ms, is dropped …
        assert_eq!(sizes(&mut e, 1, 1050), [4375]);
        assert_eq!(sizes(&mut e, 12, 1000), [4375; 12]);
        // … and the next one is followed: 1 020 000 / 240.
        assert_eq!(sizes(&mut e, 2, 1020), [4250, 4250]);
    }

    #[test]
    fn a_skipped_frame_takes_its_time_and_nothing_of_the_burst() {
        let mut e = encoder(quiet());
        assert!(e.skip());
        assert_eq!(e.next_capture(), TimeDelta::from_nanos(33_333_333));
        assert_eq!(sizes(&mut e, 2, 1000), [13_500, 2833]);
        assert!(e.skip() && e.skip());
        assert_eq!(sizes(&mut e, 7, 1000), [2833, 2833, 2833, 2833, 2833, 2833, 4167]);
        // Twelve frames later, three of which were skipped.
        assert_eq!(e.next_capture(), TimeDelta::from_millis(400));
    }

    #[test]
    fn noise_keeps_mean_size_and_interval() {
        let mut e = encoder(EncoderConfig::rfc8593_statistical());
        let n = 30_000;
        let frames: Vec<f64> = sizes(&mut e, n, 1000).iter().map(|&size| size as f64).collect();
        let mean = frames.iter().sum::<f64>() / n as f64;
        // Standard deviation 0.212 · 4167 = 884 bytes; of the mean 5.1.
        assert!((mean - 4166.7).abs() < 20.0, "{mean}");
        // 33.3 ms each, with a standard deviation of 7.07 ms: 1000 s ± 1.22.
        assert!((e.next_capture().secs_f64() - 1000.0).abs() < 5.0, "{}", e.next_capture());
    }

    #[test]
    fn rates_out_of_range_are_brought_into_it() {
        let mut e = encoder(quiet());
        sizes(&mut e, 10, 9000);
        // 1.5 Mbit/s: 6250 bytes. Then 150 kbit/s: a burst, and 625 bytes after it.
        assert_eq!(sizes(&mut e, 1, 9000), [6250]);
        sizes(&mut e, 10, 1);
        assert_eq!(sizes(&mut e, 1, 1), [625]);
    }

    #[test]
    fn a_request_and_the_end_of_a_pause_bring_an_intra_frame() {
        let mut e = encoder(quiet());
        sizes(&mut e, 20, 1000);
        e.request_key_frame();
        let frame = e.capture(DataRate::from_kbps(1000));
        assert!(frame.key && frame.size.bytes() == 13_500);
        sizes(&mut e, 20, 1000);
        e.resume(TimeDelta::from_secs(60));
        assert_eq!(e.next_capture(), TimeDelta::from_secs(60));
        let frame = e.capture(DataRate::from_kbps(500));
        assert!(frame.key && frame.size.bytes() == 13_500);
    }
}
