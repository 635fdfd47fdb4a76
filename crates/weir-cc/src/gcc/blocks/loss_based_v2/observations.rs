//! Observations of sent and lost packets, each over a quarter of a second.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::config::{LossV2Config, MAX_OBSERVATIONS};
use crate::packet::{PacketFate, PacketResult};
use crate::time::SendTime;
use weir_units::{DataSize, TimeDelta};

/// Greatest number of lost packets remembered within an observation, so that a later arrival corrects the loss.
const MAX_LOST: usize = 4096;
/// Initial capacity for these numbers.
const INITIAL_LOST: usize = 16;
/// Greatest size of a packet.
const MAX_PACKET_SIZE: DataSize = DataSize::from_bytes(65_535);
/// Time before the last observation from which on a sending time means that the clock was set.
const MAX_STEP_BACK: TimeDelta = TimeDelta::from_secs(2);

/// An observation: amounts are kilobytes or packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Observation {
    pub(super) lost: f64,
    pub(super) received: f64,
    /// Sending rate in bit/s, and its logarithm.
    pub(super) rate: f64,
    pub(super) ln_rate: f64,
}

impl Observation {
    pub(super) fn sent(&self) -> f64 {
        self.lost + self.received
    }

    fn loss_ratio(&self) -> f64 {
        if self.sent() > 0.0 { self.lost / self.sent() } else { 0.0 }
    }
}

/// Packets since the last observation.
#[derive(Clone, Debug, Default)]
struct Partial {
    packets: u64,
    bytes: u64,
    lost_bytes: u64,
    lost_packets: u64,
    /// Numbers of lost packets, in order.
    lost: Vec<u64>,
}

impl Partial {
    fn add(&mut self, result: &PacketResult) {
        let bytes = result.sent.payload.min(MAX_PACKET_SIZE).bytes();
        self.packets += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        match result.fate {
            PacketFate::Missing => {
                self.lost_packets += 1;
                self.lost_bytes = self.lost_bytes.saturating_add(bytes);
                self.remember(result.sent.id);
            }
            PacketFate::Recovered { .. } => {
                if let Ok(place) = self.lost.binary_search(&result.sent.id) {
                    self.lost.remove(place);
                    self.lost_packets -= 1;
                    self.lost_bytes = self.lost_bytes.saturating_sub(bytes);
                }
            }
            PacketFate::Arrived { .. } => {}
        }
    }

    fn remember(&mut self, id: u64) {
        if self.lost.len() < MAX_LOST
            && let Err(place) = self.lost.binary_search(&id)
        {
            self.lost.insert(place, id);
        }
    }

    fn clear(&mut self) {
        self.lost.clear();
        *self = Self { lost: core::mem::take(&mut self.lost), ..Self::default() };
    }
}

/// The last observations, and their weights.
#[derive(Clone, Debug)]
pub(super) struct Observations {
    /// Ring in which observation n is at `n % window`.
    ring: Box<[Observation]>,
    window: usize,
    count: usize,
    partial: Partial,
    /// The latest departure of the last observation; before the first one, the earliest departure.
    last: Option<SendTime>,
    /// Weights by age, of the model and of the average loss.
    weights: Box<[f64]>,
    loss_weights: Box<[f64]>,
}

impl Observations {
    pub(super) fn new(config: &LossV2Config) -> Self {
        let window = config.window as usize;
        let by_age = |factor: f64| {
            core::iter::successors(Some(1.0), |weight| Some(weight * factor)).take(window).collect()
        };
        Self {
            ring: vec![Observation::default(); window].into_boxed_slice(),
            window,
            count: 0,
            partial: Partial { lost: Vec::with_capacity(INITIAL_LOST), ..Partial::default() },
            last: None,
            weights: by_age(config.weight),
            loss_weights: by_age(config.loss_weight),
        }
    }

    /// Number of observations so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The latest departure of the last observation.
    pub(super) fn last(&self) -> Option<SendTime> {
        self.last
    }

    /// Takes the fates of packets. Returns whether they complete an observation.
    pub(super) fn add(&mut self, config: &LossV2Config, results: &[PacketResult]) -> bool {
        let departures = results.iter().map(|result| result.sent.at);
        let (Some(first), Some(latest)) = (departures.clone().min(), departures.max()) else { return false };
        let (first, latest) = (first.whole_millis(), latest.whole_millis());
        for result in results {
            self.partial.add(result);
        }
        let last = *self.last.get_or_insert(first);
        let duration = latest - last;
        if duration < -MAX_STEP_BACK {
            self.partial.clear();
            self.last = Some(latest);
        }
        if duration <= TimeDelta::ZERO || duration < config.observation {
            return false;
        }
        self.last = Some(latest);
        self.complete(config, duration);
        true
    }

    fn complete(&mut self, config: &LossV2Config, duration: TimeDelta) {
        let Partial { packets, bytes, lost_bytes, lost_packets, .. } = self.partial;
        let (sent, lost) = if config.by_bytes {
            (bytes as f64 / 1e3, lost_bytes as f64 / 1e3)
        } else {
            (packets as f64, lost_packets as f64)
        };
        let rate = bytes as f64 * 8.0 / duration.secs_f64();
        self.ring[self.count % self.window] =
            Observation { lost, received: (sent - lost).max(0.0), rate, ln_rate: libm::log(rate.max(1.0)) };
        self.count += 1;
        self.partial.clear();
    }

    /// The observations and their weights in the model.
    pub(super) fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        self.with(&self.weights)
    }

    fn with<'a>(&'a self, weights: &'a [f64]) -> impl Iterator<Item = (f64, &'a Observation)> {
        let kept = self.count.min(self.window);
        let newest = self.count.wrapping_sub(1) % self.window;
        self.ring[..kept].iter().enumerate().map(move |(slot, observation)| {
            (weights[(newest + self.window - slot) % self.window], observation)
        })
    }

    /// `ℓ`, the weighted loss ratio. By bytes, the highest and the lowest value are left out as outliers if more than
    /// three are known.
    pub(super) fn average_loss(&self, config: &LossV2Config) -> f64 {
        let (mut sent, mut lost) = (0.0, 0.0);
        let mut highest = (0.0, 0.0, 0.0, 0.0);
        let mut lowest = (1.0, 0.0, 0.0);
        for (weight, observation) in self.with(&self.loss_weights) {
            let (all, missing) = (weight * observation.sent(), weight * observation.lost);
            sent += all;
            lost += missing;
            let ratio = observation.loss_ratio();
            if ratio > highest.0 {
                highest = (ratio, all, missing, observation.rate);
            }
            if ratio < lowest.0 {
                lowest = (ratio, all, missing);
            }
        }
        // A highest loss at an unusual rate is no spike.
        let spikes =
            config.by_bytes && self.count > 3 && self.median_rate() * config.median_factor > highest.3;
        let rest = sent - highest.1 - lowest.1;
        // A window of two would be empty without its spikes.
        if spikes && rest > f64::EPSILON * sent {
            sent = rest;
            lost -= highest.2 + lowest.2;
        }
        if sent > 0.0 { (lost / sent).clamp(0.0, 1.0) } else { 0.0 }
    }

    fn median_rate(&self) -> f64 {
        let mut rates = [0.0; MAX_OBSERVATIONS];
        let mut known = 0;
        for observation in self.ring[..self.count.min(self.window)].iter().filter(|o| o.rate > 0.0) {
            rates[known] = observation.rate;
            known += 1;
        }
        let rates = &mut rates[..known];
        rates.sort_unstable_by(f64::total_cmp);
        match known {
            0 => 0.0,
            _ if known % 2 == 0 => f64::midpoint(rates[known / 2 - 1], rates[known / 2]),
            _ => rates[known / 2],
        }
    }
}
