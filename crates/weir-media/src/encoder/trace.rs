//! Frame sizes of one video sequence encoded at several rates, and a synthetic sequence.

use core::fmt;
use core::fmt::Write as _;
use std::sync::LazyLock;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_units::DataRate;

use super::noise::{clipped_normal, unit};

/// Frame sizes of one sequence, encoded at several rates: the `Traces` of RFC 8593 §6.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameTraces {
    /// Rising rates of the sequences.
    rates: Vec<DataRate>,
    /// For each rate the sizes in bytes, all of the same length; the first frame is intra.
    sizes: Vec<Vec<u32>>,
}

/// Reasons for which frame sizes are no valid traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// There is no rate, or no frame.
    Empty,
    /// The rates do not rise, or the lowest is zero.
    Rates,
    /// The sequences differ in length, or a line in the number of its sizes.
    Uneven {
        /// The line, from 1; 0 if the traces were not read from text.
        line: usize,
    },
    /// A line of a sequence that does not describe a frame.
    Frame {
        /// The line, from 1.
        line: usize,
    },
    /// A field that is no number.
    Number {
        /// The line, from 1.
        line: usize,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no rate or no frame"),
            Self::Rates => f.write_str("the rates must be above zero and rise"),
            Self::Uneven { line: 0 } => f.write_str("the sequences differ in length"),
            Self::Uneven { line } => write!(f, "line {line} has not one size for each rate"),
            Self::Frame { line } => write!(
                f,
                "line {line} is no frame: a number, a type (I, P, B or U), two values and the size in bytes are expected"
            ),
            Self::Number { line } => write!(f, "line {line}: whole numbers are expected"),
        }
    }
}

impl core::error::Error for TraceError {}

impl FrameTraces {
    /// Traces of the given rates, each with its frame sizes in bytes.
    ///
    /// # Errors
    /// Rates that do not rise, sequences of different length, or none at all.
    pub fn new(traces: Vec<(DataRate, Vec<u32>)>) -> Result<Self, TraceError> {
        let (rates, sizes): (Vec<DataRate>, Vec<Vec<u32>>) = traces.into_iter().unzip();
        let frames = sizes.first().map_or(0, Vec::len);
        if frames == 0 {
            return Err(TraceError::Empty);
        }
        if rates[0].is_zero() || rates.windows(2).any(|pair| pair[1] <= pair[0]) {
            return Err(TraceError::Rates);
        }
        if sizes.iter().any(|size| size.len() != frames) {
            return Err(TraceError::Uneven { line: 0 });
        }
        Ok(Self { rates, sizes })
    }

    /// Reads traces from text: comments begin with `%` or `#`; the first line gives the rates in kbit/s, each further one
    /// the sizes of a frame in bytes at these rates.
    ///
    /// # Errors
    /// As for [`Self::new`], and fields that are no numbers.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let lines = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(['%', '#']));
        let numbers = |(line, text): (usize, &str)| {
            let words = text.split_ascii_whitespace().map(str::parse::<u32>);
            words.collect::<Result<Vec<u32>, _>>().map_err(|_| TraceError::Number { line })
        };
        let rates = numbers(lines.next().ok_or(TraceError::Empty)?)?;
        let mut traces: Vec<(DataRate, Vec<u32>)> =
            rates.iter().map(|&kbps| (DataRate::from_kbps(u64::from(kbps)), Vec::new())).collect();
        for line in lines {
            let sizes = numbers(line)?;
            if sizes.len() != traces.len() {
                return Err(TraceError::Uneven { line: line.0 });
            }
            traces.iter_mut().zip(sizes).for_each(|((_, own), size)| own.push(size));
        }
        Self::new(traces)
    }

    /// Reads the frame sizes of one sequence, in bytes, in the form of syncodecs: comments begin with `%` or `#`; each
    /// line has a frame's number, its type (`I`, `P`, `B` or `U`), its quantiser, a PSNR or a time, and its size.
    ///
    /// # Errors
    /// A line that has something else, or no line at all.
    pub fn parse_sequence(text: &str) -> Result<Vec<u32>, TraceError> {
        let lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        let sizes = lines.filter_map(|(line, text)| {
            let words: Vec<&str> = text.split(['%', '#']).next()?.split_ascii_whitespace().collect();
            let size = || match words.as_slice() {
                [number, "I" | "P" | "B" | "U", first, second, size]
                    if number.parse::<u32>().is_ok()
                        && [first, second].iter().all(|value| value.parse::<f64>().is_ok()) =>
                {
                    size.parse().ok()
                }
                _ => None,
            };
            (!words.is_empty()).then(|| size().ok_or(TraceError::Frame { line }))
        });
        let sizes: Vec<u32> = sizes.collect::<Result<_, _>>()?;
        if sizes.is_empty() { Err(TraceError::Empty) } else { Ok(sizes) }
    }

    /// The traces as text that [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |words: &mut dyn Iterator<Item = u64>| {
            for (n, word) in words.enumerate() {
                let gap = if n == 0 { "" } else { " " };
                let _ = write!(text, "{gap}{word}");
            }
            text.push('\n');
        };
        line(&mut self.rates.iter().map(|rate| rate.bps() / 1000));
        for frame in 0..self.frames() {
            line(&mut self.sizes.iter().map(|size| u64::from(size[frame])));
        }
        text
    }

    /// Number of frames of the sequence, at least one.
    pub fn frames(&self) -> usize {
        self.sizes[0].len()
    }

    /// The lowest rate.
    pub fn lowest(&self) -> DataRate {
        self.rates[0]
    }

    /// The highest rate.
    pub fn highest(&self) -> DataRate {
        self.rates[self.rates.len() - 1]
    }

    /// The traces to interpolate between: the highest at or below `rate` and the next one; twice the same at the ends.
    pub(super) fn around(&self, rate: DataRate) -> (usize, usize) {
        let above = self.rates.partition_point(|&own| own <= rate);
        let last = self.rates.len() - 1;
        (above.saturating_sub(1), above.min(last))
    }

    pub(super) fn rate(&self, trace: usize) -> DataRate {
        self.rates[trace]
    }

    /// Size of a frame in bytes.
    pub(super) fn size(&self, trace: usize, frame: usize) -> f64 {
        f64::from(self.sizes[trace][frame])
    }

    /// A synthetic talking head, 120 s of 30 frames/s at ten rates from 150 to 2650 kbit/s; see [`TalkingHead`].
    pub fn talking_head() -> &'static Self {
        static TRACES: LazyLock<FrameTraces> = LazyLock::new(|| TalkingHead::default().traces());
        &TRACES
    }
}

/// A synthetic talking head. The activity is the same at all rates. Its parts are the speaker's liveliness (a process
/// with a memory of seconds), gestures (some larger frames), and noise of each frame. The lower the rate, the more an
/// encoder's rate control evens the activity out. In each sequence the mean of the frames after the intra frame has the
/// sequence's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TalkingHead {
    /// Seed of the speaker's randomness.
    pub seed: u64,
    /// Frames, at least two.
    pub frames: u32,
    /// Frames per second.
    pub frame_rate: f64,
}

/// Rates in kbit/s, in steps that widen as RFC 8593 §6.1 suggests.
const RATES_KBPS: [u32; 10] = [150, 350, 550, 750, 950, 1250, 1550, 1850, 2250, 2650];
/// Time constant of liveliness in seconds, and standard deviation of its logarithm.
const LIVELINESS: (f64, f64) = (4.0, 0.35);
/// Gestures per second, their mean length in frames, and their addition to the logarithm of a frame's size.
const GESTURES: (f64, f64, f64) = (0.15, 12.0, 0.6);
/// Standard deviation of the logarithm of each frame's own noise.
const FRAME_NOISE: f64 = 0.15;
/// Size of the intra frame at 1 Mbit/s, in bytes (RFC 8593 table 1), and the power of the rate with which it grows.
const INTRA: (f64, f64) = (13_500.0, 0.5);
/// Share of the variation that is left at 150 kbit/s; from 2 Mbit/s on all of it is.
const MIN_VARIATION: f64 = 0.5;

impl Default for TalkingHead {
    fn default() -> Self {
        Self { seed: 1, frames: 3600, frame_rate: 30.0 }
    }
}

impl TalkingHead {
    /// The frame sizes at the ten rates.
    pub fn traces(&self) -> FrameTraces {
        let activity = self.activity();
        let sizes =
            |kbps: u32| (DataRate::from_kbps(u64::from(kbps)), self.sizes(f64::from(kbps), &activity));
        let traces = RATES_KBPS.into_iter().map(sizes).collect();
        // The rates rise and the sequences have one length, so the traces are valid.
        FrameTraces::new(traces).unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Logarithm of the activity in each frame after the first.
    fn activity(&self) -> Vec<f64> {
        let mut rng = Pcg64Mcg::seed_from_u64(self.seed);
        let memory = libm::exp(-1.0 / (LIVELINESS.0 * self.frame_rate));
        let innovation = LIVELINESS.1 * libm::sqrt(1.0 - memory * memory);
        let (mut lively, mut gesture) = (clipped_normal(&mut rng, LIVELINESS.1), false);
        let (begins, ends) = (GESTURES.0 / self.frame_rate, 1.0 / GESTURES.1);
        let frame = |_| {
            lively = memory * lively + clipped_normal(&mut rng, innovation);
            gesture = if gesture { unit(&mut rng) >= ends } else { unit(&mut rng) < begins };
            lively + if gesture { GESTURES.2 } else { 0.0 } + clipped_normal(&mut rng, FRAME_NOISE)
        };
        (1..self.frames.max(2)).map(frame).collect()
    }

    fn sizes(&self, kbps: f64, activity: &[f64]) -> Vec<u32> {
        let (low, high) = (libm::log(150.0), libm::log(2000.0));
        let place = ((libm::log(kbps) - low) / (high - low)).clamp(0.0, 1.0);
        let variation = MIN_VARIATION + (1.0 - MIN_VARIATION) * place;
        let weights: Vec<f64> = activity.iter().map(|x| libm::exp(variation * x)).collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let nominal = kbps * 1000.0 / 8.0 / self.frame_rate;
        let intra = INTRA.0 * libm::pow(kbps / 1000.0, INTRA.1);
        let inter = weights.iter().map(|weight| nominal * weight / mean);
        core::iter::once(intra).chain(inter).map(|bytes| bytes.round() as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_and_written_alike() {
        let text = "% a sequence\n400 600\n\n5000 7000\n1500 2300\n";
        let traces = FrameTraces::parse(text).unwrap();
        assert_eq!(traces.to_text(), "400 600\n5000 7000\n1500 2300\n");
        assert_eq!((traces.frames(), traces.lowest().bps(), traces.highest().bps()), (2, 400_000, 600_000));
        let kbps = DataRate::from_kbps;
        let places = [399, 400, 599, 600, 601].map(|rate| traces.around(kbps(rate)));
        assert_eq!(places, [(0, 0), (0, 1), (0, 1), (1, 1), (1, 1)]);
    }

    #[test]
    fn a_sequence_of_syncodecs_is_read() {
        let text =
            "% frame type unused psnr size\n0 I 0 41.2 9000 # intra\n\n1 P 28 39.95 1200\n2 U 0 0.0667 800\n";
        assert_eq!(FrameTraces::parse_sequence(text), Ok(vec![9000, 1200, 800]));
        let error = |text: &str| FrameTraces::parse_sequence(text).unwrap_err();
        assert_eq!(error("% nothing\n"), TraceError::Empty);
        let wrong =
            ["1 P 0 39 1200 7", "1 P 0 39", "1 X 0 39 1200", "1 P q 39 1200", "1 P 0 39 -5", "one P 0 39 5"];
        for wrong in wrong {
            assert_eq!(error(&format!("0 I 0 40 9000\n{wrong}\n")), TraceError::Frame { line: 2 }, "{wrong}");
        }
        assert!(TraceError::Frame { line: 2 }.to_string().contains("line 2 is no frame"));
    }

    #[test]
    fn the_error_of_a_malformed_trace_has_its_line() {
        let error = |text| FrameTraces::parse(text).unwrap_err();
        assert_eq!(error("% nothing"), TraceError::Empty);
        assert_eq!(error("400"), TraceError::Empty);
        assert_eq!(error("400 400\n1 2"), TraceError::Rates);
        assert_eq!(error("400 600\n1 2\n\n3"), TraceError::Uneven { line: 4 });
        assert_eq!(error("400 600\n1 b"), TraceError::Number { line: 2 });
    }

    #[test]
    fn the_talking_head_has_its_rates_and_bursts_and_one_intra_frame() {
        let traces = FrameTraces::talking_head();
        assert_eq!((traces.frames(), traces.rates.len()), (3600, 10));
        for (rate, sizes) in traces.rates.iter().zip(&traces.sizes) {
            let inter: Vec<f64> = sizes[1..].iter().map(|&size| f64::from(size)).collect();
            let mean = inter.iter().sum::<f64>() / inter.len() as f64;
            // Rounding moves the mean by less than half a byte.
            assert!((mean - rate.bps_f64() / 240.0).abs() < 0.5, "{rate}: {mean}");
            let sd = (inter.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / inter.len() as f64).sqrt();
            assert!((0.15..0.8).contains(&(sd / mean)), "{rate}: {}", sd / mean);
            assert!(
                f64::from(sizes[0]) > 2.0 * mean || *rate > DataRate::from_mbps(2),
                "{rate}: {}",
                sizes[0]
            );
            // Neighbours are alike, frames 20 s apart are not.
            let correlation = |lag: usize| {
                let pairs = inter.iter().zip(&inter[lag..]).map(|(a, b)| (a - mean) * (b - mean));
                pairs.sum::<f64>() / (inter.len() - lag) as f64 / (sd * sd)
            };
            assert!(correlation(1) > 0.6 && correlation(600).abs() < 0.3, "{rate}: {}", correlation(1));
        }
        let share = |trace: usize| f64::from(traces.sizes[trace][1]) / traces.rates[trace].bps_f64();
        assert!(share(0) != share(9), "a low rate evens out");
        let other = TalkingHead { seed: 2, ..TalkingHead::default() }.traces();
        assert!(other != *traces && other == TalkingHead { seed: 2, ..TalkingHead::default() }.traces());
    }

    #[test]
    fn the_talking_head_varies_by_half_as_much_at_the_lowest_rate() {
        let head = TalkingHead::default();
        let activity = head.activity();
        let spread = |kbps: f64| {
            let sizes = head.sizes(kbps, &activity);
            let logs: Vec<f64> = sizes[1..].iter().map(|&size| libm::log(f64::from(size))).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            (logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / logs.len() as f64).sqrt()
        };
        // In between by the logarithm of the rate: √(150 · 2000) = 547.7.
        for (kbps, part) in [(100.0, 0.5), (150.0, 0.5), (547.7, 0.75), (2000.0, 1.0), (2650.0, 1.0)] {
            let is = spread(kbps) / spread(2000.0);
            assert!((is - part).abs() < 0.01, "{kbps}: {is}");
        }
    }

    #[test]
    fn the_talking_head_is_mostly_still() {
        // A gesture begins each 200 frames and lasts for 12: 5.7 % of the time, with 0.6 more. The liveliness of 20 minutes has
        // a mean of 0 ± 0.03.
        let activity = TalkingHead { frames: 36_000, ..TalkingHead::default() }.activity();
        let mean = activity.iter().sum::<f64>() / activity.len() as f64;
        assert!((mean - 0.034).abs() < 0.1, "{mean}");
    }
}
