//! The inferred path, and the options of its inference.

use serde::{Deserialize, Serialize};

/// Options of the inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InferOptions {
    /// Bytes on the wire beside those that the recording counts, per packet, such as the authentication tag of SRTP.
    /// `None`: 10 for event logs of libwebrtc (RFC 3711 with HMAC-SHA1-80), else 0.
    pub extra_bytes: Option<u32>,
    /// Open upper ends, as a multiple of the greater of lower bound and capacity nearby.
    pub open_end: f64,
}

impl Default for InferOptions {
    fn default() -> Self {
        Self { extra_bytes: None, open_end: 2.0 }
    }
}

/// Why no path can be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InferError {
    /// The recording has no arrivals.
    #[error("the recording has no arrivals of packets; the path follows only from times of single packets")]
    NoArrivals,
    /// The recording is too short.
    #[error("the recording has {0} packets that arrived; 50 are needed")]
    TooFew(usize),
    /// The recording lasts too long.
    #[error("the times of the packets span more than a day; one call is needed, with times from its begin")]
    TooLong,
}

/// The path behind a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InferredPath {
    /// Length of the call in microseconds.
    pub duration_us: i64,
    /// Capacity of each second of the call.
    pub seconds: Vec<CapacitySecond>,
    /// Propagation delay.
    pub delay: DelayEstimate,
    /// Limit of the queue.
    pub queue: QueueEstimate,
    /// Random loss.
    pub loss: LossEstimate,
    /// Random delay behind the queue.
    pub jitter: JitterEstimate,
    /// First recorded rate of the call's controller in bit/s.
    pub start_bps: Option<u64>,
    /// Highest rate for which the call's source may have been good, in bit/s.
    pub most_bps: u64,
    /// Whether departures are unknown: packets of one frame then count as sent together, and all figures as lower
    /// bounds.
    pub is_weak: bool,
}

/// Capacity in one second, by the clock of the sender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CapacitySecond {
    /// Begin of the second in microseconds.
    pub from_us: i64,
    /// Pairs of packets of which the second queued behind the first.
    pub pairs: u32,
    /// Mean capacity in bit/s on the wire; unknown where too few packets queued.
    pub bps: Option<f64>,
    /// Lower end of the band in bit/s.
    pub low_bps: f64,
    /// Upper end of the band in bit/s.
    pub high_bps: f64,
    /// Whether the upper end is open: no packet queued. [`Self::high_bps`] is then an assumption.
    pub is_open: bool,
    /// Whether other traffic took part of the capacity: [`Self::bps`] is the call's share, and the capacity at least
    /// that.
    pub is_shared: bool,
    /// Capacity within the second, where it changed or where only parts of it have a figure.
    pub pieces: Vec<RatePiece>,
}

/// Capacity in a part of a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatePiece {
    /// Begin in microseconds.
    pub from_us: i64,
    /// Capacity in bit/s.
    pub bps: f64,
}

/// Propagation delays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayEstimate {
    /// From sender to receiver, in microseconds.
    pub forward_us: i64,
    /// From receiver to sender, in microseconds.
    pub back_us: i64,
    /// Whether both ends have one clock. Without, each way has half of the least round trip.
    pub is_one_way: bool,
    /// Whether there was neither a common clock nor a round trip; the delays are then usual values.
    pub is_assumed: bool,
}

/// Limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueEstimate {
    /// The limit, or the most that was seen.
    pub limit: QueueLimit,
    /// The limit in the other quantity, where the losses allow both: bytes or time.
    pub other: Option<QueueLimit>,
    /// Whether packets were lost at a full queue. Otherwise [`Self::limit`] is a lower bound.
    pub was_full: bool,
}

/// A limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// Longest time from arrival to departure, in microseconds.
    Time(i64),
    /// Most bytes.
    Bytes(u64),
}

/// Random loss, of packets that met no full queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossEstimate {
    /// Share of the packets, from 0 to 1.
    pub share: f64,
    /// Packets over which it was counted.
    pub packets: u64,
    /// Mean length of a row of losses in packets.
    pub burst: f64,
    /// Losses at a full queue.
    pub at_full_queue: u64,
}

/// Random delay behind the queue, as the size of a normal variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JitterEstimate {
    /// Standard deviation of the normal variable in microseconds; 0 for no jitter.
    pub sd_us: i64,
    /// Largest value in microseconds.
    pub most_us: i64,
}

/// The end of the bands that a scenario takes where no figure is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathEnd {
    /// The lower end.
    Low,
    /// The nearest figures, within the band.
    #[default]
    Middle,
    /// The upper end.
    High,
}

impl LossEstimate {
    /// The share of loss of a scenario: the worse end of its 95 % interval at the lower end of the path, the better
    /// one at the upper end.
    pub fn at(&self, end: PathEnd) -> f64 {
        let half = 1.96 * (self.share * (1.0 - self.share) / self.packets.max(1) as f64).sqrt();
        match end {
            PathEnd::Low => (self.share + half).min(1.0),
            PathEnd::Middle => self.share,
            PathEnd::High => (self.share - half).max(0.0),
        }
    }
}

impl CapacitySecond {
    /// The capacity that a scenario takes for the second where no figure is known.
    pub fn at(&self, end: PathEnd, nearby: Option<f64>) -> f64 {
        match end {
            PathEnd::Low => self.low_bps,
            PathEnd::High => self.high_bps,
            PathEnd::Middle => {
                nearby.unwrap_or((self.low_bps * self.high_bps).sqrt()).clamp(self.low_bps, self.high_bps)
            }
        }
    }
}

/// Figures of the capacity over a call, in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacitySummary {
    /// Value that the figures of 5 % of the seconds do not exceed.
    pub p5_bps: f64,
    /// Median of the figures.
    pub median_bps: f64,
    /// Value that the figures of 95 % of the seconds do not exceed.
    pub p95_bps: f64,
    /// Median width of the bands, as a share of their figures.
    pub width: f64,
}

/// The value at a share of sorted values; `None` of no values.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied()
}

impl InferredPath {
    /// The figures of the seconds that have one; `None` without any.
    pub fn summary(&self) -> Option<CapacitySummary> {
        let known = || self.seconds.iter().filter_map(|second| Some((second, second.bps?)));
        let mut figures: Vec<f64> = known().map(|(_, bps)| bps).collect();
        let mut widths: Vec<f64> =
            known().map(|(second, bps)| (second.high_bps - second.low_bps) / bps).collect();
        figures.sort_by(f64::total_cmp);
        widths.sort_by(f64::total_cmp);
        Some(CapacitySummary {
            p5_bps: quantile(&figures, 0.05)?,
            median_bps: quantile(&figures, 0.5)?,
            p95_bps: quantile(&figures, 0.95)?,
            width: quantile(&widths, 0.5)?,
        })
    }

    /// Median and largest lower bound in bit/s of the seconds without a figure; `None` where each has one.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let unknown = self.seconds.iter().filter(|second| second.bps.is_none());
        let mut bounds: Vec<f64> = unknown.map(|second| second.low_bps).collect();
        bounds.sort_by(f64::total_cmp);
        Some((quantile(&bounds, 0.5)?, *bounds.last()?))
    }

    /// Share of the seconds with a figure, from 0 to 1.
    pub fn coverage(&self) -> f64 {
        let known = self.seconds.iter().filter(|second| second.bps.is_some()).count();
        known as f64 / self.seconds.len().max(1) as f64
    }

    /// Share of the seconds in which the figure is the call's share beside other traffic.
    pub fn shared(&self) -> f64 {
        let shared = self.seconds.iter().filter(|second| second.is_shared).count();
        shared as f64 / self.seconds.len().max(1) as f64
    }
}
