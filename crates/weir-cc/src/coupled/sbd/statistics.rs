//! The statistics of one flow's one-way delay and loss (RFC 8382 §3.2), by the fates of its packets.

use weir_units::TimeDelta;

use super::clock_skew::{ClockSkew, LeastDelay};
use super::config::Config;
use super::crossings::Crossings;
use super::losses::IntervalLosses;
use super::ring::Ring;
use super::weighted::Weighted;
use crate::config_error::ConfigError;
use crate::coupled::message::Statistics;
use crate::packet::{PacketFate, PacketResult};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

/// Computation of a flow's [`Statistics`] in each interval `T` of the sender's clock, from the fates of its packets.
///
/// An interval ends with the first report on a packet that was sent after it: call [`Self::poll`] after each report.
/// Without reports there are no statistics. Intervals without reports that end at the same time give one result.
#[derive(Clone, Debug)]
pub struct FlowStatistics {
    config: Config,
    open: Option<OpenInterval>,
    /// End of the present sampling slot; further packets sent before it are no samples.
    sampled_until: SendTime,
    /// Origin of times and delays.
    zero: Option<(SendTime, ApparentDelay)>,
    clock_skew: ClockSkew,
    /// Mean delays of the last `M` intervals with samples.
    means: Ring<f64>,
    /// Number of known means.
    known: usize,
    /// `mean_delay` without the open interval, in seconds.
    mean_delay: f64,
    /// `E_T(OWD)` of the previous interval.
    previous: f64,
    /// The least delay of the previous interval, with skew.
    least: Option<f64>,
    skew: WeightedMean,
    variability: WeightedMean,
    /// Variability over all intervals, whether the path had a bottleneck or not.
    spread: WeightedMean,
    crossings: Crossings,
    losses: IntervalLosses,
    /// `PB`.
    bottleneck: bool,
    /// Number of successive intervals without a sample.
    empty: u32,
    ended: u64,
    /// Statistics of the last complete interval, until they are polled.
    complete: Option<Statistics>,
}

/// The interval that collects samples.
#[derive(Clone, Copy, Debug)]
struct OpenInterval {
    number: i64,
    begins: SendTime,
    ends: SendTime,
    /// `num_T(OWD)`.
    samples: u32,
    /// `sum_T(OWD)`, without skew.
    delays: f64,
    /// `skew_base_T`.
    skew: i32,
    /// `var_base_T`.
    variability: f64,
    least: LeastDelay,
}

impl OpenInterval {
    fn new(number: i64, interval: TimeDelta) -> Self {
        let begins = SendTime::from_nanos(number.saturating_mul(interval.nanos()));
        let least = LeastDelay { time: 0.0, delay: f64::INFINITY };
        Self {
            number,
            begins,
            ends: begins + interval,
            samples: 0,
            delays: 0.0,
            skew: 0,
            variability: 0.0,
            least,
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.delays / f64::from(self.samples))
    }
}

/// Ratio of a weighted sum to the weighted number of samples.
#[derive(Clone, Debug)]
struct WeightedMean {
    sum: Weighted,
    samples: Weighted,
}

impl WeightedMean {
    fn new(config: &Config) -> Self {
        let weighted = Weighted::new(config.window, config.flat);
        Self { sum: weighted.clone(), samples: weighted }
    }

    fn push(&mut self, sum: f64, samples: u32) {
        self.sum.push(sum);
        self.samples.push(f64::from(samples));
    }

    /// The ratio, or `None` without samples.
    fn get(&self) -> Option<f64> {
        let samples = self.samples.sum();
        (samples > 0.0).then(|| self.sum.sum() / samples)
    }

    fn clear(&mut self) {
        self.sum.clear();
        self.samples.clear();
    }
}

impl FlowStatistics {
    /// Statistics of a flow without history.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            open: None,
            sampled_until: SendTime::from_nanos(i64::MIN),
            zero: None,
            clock_skew: ClockSkew::new(config.clock_skew),
            means: Ring::new(config.window as usize),
            known: 0,
            mean_delay: 0.0,
            previous: 0.0,
            least: None,
            skew: WeightedMean::new(&config),
            variability: WeightedMean::new(&config),
            spread: WeightedMean::new(&config),
            crossings: Crossings::new(config.long_window),
            losses: IntervalLosses::new(config.long_window),
            bottleneck: false,
            empty: 0,
            ended: 0,
            complete: None,
        })
    }

    /// Takes reported packets, in order of number, as in [`Feedback::Packets`](crate::Feedback::Packets).
    pub fn on_results(&mut self, results: &[PacketResult]) {
        for PacketResult { sent, fate } in results {
            match *fate {
                PacketFate::Arrived { at, .. } => self.on_fate(sent.at, at, 1),
                PacketFate::Missing => self.on_loss(sent.at),
                PacketFate::Recovered { at, .. } => self.on_recovered(sent.at, at),
            }
        }
    }

    /// Takes a packet sent at `sent` that arrived at `at`.
    pub fn on_arrival(&mut self, sent: SendTime, at: ArrivalTime) {
        self.on_arrivals(sent, at, 1);
    }

    /// Takes `packets` arrivals, one of them sent at `sent` and arrived at `at`.
    pub fn on_arrivals(&mut self, sent: SendTime, at: ArrivalTime, packets: u32) {
        self.on_fate(sent, Some(at), packets);
    }

    /// Takes `packets` arrivals; without an arrival time they are no sample.
    fn on_fate(&mut self, sent: SendTime, at: Option<ArrivalTime>, packets: u32) {
        let Some(age) = self.age(sent) else { return };
        self.losses.on_fate(age, 0, packets);
        if let Some(at) = at.filter(|_| age == 0) {
            self.sample(sent, at);
        }
    }

    /// Takes the loss of a packet sent at `sent`.
    pub fn on_loss(&mut self, sent: SendTime) {
        self.on_losses(sent, 1);
    }

    /// Takes the loss of `lost` packets sent at about `sent`.
    pub fn on_losses(&mut self, sent: SendTime, lost: u32) {
        if let Some(age) = self.age(sent) {
            self.losses.on_fate(age, lost, lost);
        }
    }

    /// Takes the arrival of a packet that was reported as lost.
    pub fn on_recovery(&mut self, sent: SendTime, at: ArrivalTime) {
        self.on_recovered(sent, Some(at));
    }

    fn on_recovered(&mut self, sent: SendTime, at: Option<ArrivalTime>) {
        let Some(age) = self.age(sent) else { return };
        self.losses.on_recovery(age);
        if let Some(at) = at.filter(|_| age == 0) {
            self.sample(sent, at);
        }
    }

    /// The statistics of the newest complete interval, returned once.
    pub fn poll(&mut self) -> Option<Statistics> {
        self.complete.take()
    }

    /// Number of complete intervals with samples since the last reset.
    pub fn intervals(&self) -> u64 {
        self.ended
    }

    /// Clears the history after a change of the path or of a clock.
    pub fn reset(&mut self) {
        self.open = None;
        self.clear_history();
    }

    /// Number of intervals from that of `sent` to the open one, which may end. Returns `None` if the packet is too
    /// old to count.
    fn age(&mut self, sent: SendTime) -> Option<usize> {
        if let Some(open) = &self.open
            && (open.begins..open.ends).contains(&sent)
        {
            return Some(0);
        }
        self.turn(sent.nanos().div_euclid(self.config.interval.nanos()))
    }

    /// Number of intervals from interval `number`, which is not the open one, to the open one.
    fn turn(&mut self, number: i64) -> Option<usize> {
        let last = self.open.map_or(number, |open| open.number);
        let leap = number.saturating_sub(last);
        let (forgets, oldest) = (i64::from(self.config.window), i64::from(self.config.long_window));
        if self.open.is_none() || leap > forgets || leap < -oldest {
            // After more than `M` empty intervals; or the sender's clock was set back.
            self.clear_history();
            self.open = Some(OpenInterval::new(number, self.config.interval));
            return Some(0);
        }
        if leap < 0 {
            return usize::try_from(-leap).ok().filter(|&age| (age as u64) < self.config.long_window.into());
        }
        for next in last..number {
            self.end();
            self.open = Some(OpenInterval::new(next + 1, self.config.interval));
        }
        Some(0)
    }

    /// Adds a sample to the open interval (RFC 8382 §3.2.2, §3.2.3).
    fn sample(&mut self, sent: SendTime, at: ArrivalTime) {
        let Some(open) = &mut self.open else { return };
        let delay = ApparentDelay::between(sent, at);
        let (origin, zero) = *self.zero.get_or_insert((sent, delay));
        let time = (sent - origin).secs_f64();
        let raw = (delay - zero).secs_f64();
        let delay = raw - self.clock_skew.offset(time);
        if raw < open.least.delay {
            open.least = LeastDelay { time, delay: raw };
        }
        if sent < self.sampled_until {
            return;
        }
        self.sampled_until = slot_end(sent, self.config.sampling);
        open.samples = open.samples.saturating_add(1);
        open.delays += delay;
        if self.known > 0 {
            let side = i32::from(delay < self.mean_delay) - i32::from(delay > self.mean_delay);
            open.skew = open.skew.saturating_add(side);
            open.variability += (delay - self.previous).abs();
        }
    }

    /// Ends the open interval, as in RFC 8382 §3.2 in the order of resolution 2.
    fn end(&mut self) {
        let Some(open) = self.open else { return };
        if self.clock_stepped(&open) {
            self.clear_history();
            return;
        }
        // Without a mean of earlier intervals there is no comparison.
        let compared = if self.known > 0 { open.samples } else { 0 };
        self.skew.push(f64::from(open.skew), compared);
        self.spread.push(open.variability, compared);
        let (loss, packets) = (self.losses.ratio(), self.losses.packets());
        let skew = self.skew.get();
        self.bottleneck = self.passes_bottleneck(skew, loss);
        // RFC 8382 §4.2 leaves out intervals without a bottleneck (divergence 5).
        if self.bottleneck || !self.config.gated_variability {
            self.variability.push(open.variability, compared);
        } else {
            self.variability.push(0.0, 0);
        }
        let queuing = self.take_mean(&open);
        let variability = self.variability.get();
        match (open.mean(), variability) {
            (Some(mean), Some(variability)) if self.bottleneck => {
                self.crossings.on_interval(mean - self.mean_delay, self.config.crossing * variability);
            }
            _ => self.crossings.on_silence(),
        }
        self.losses.turn();
        self.complete_interval(&open, IntervalResult { skew, variability, loss, packets, queuing });
    }

    /// Step 1 of the grouping (RFC 8382 §3.3.1), and a test that the delay varies at all. On an idle path it does not
    /// vary, and its skew is 0.
    fn passes_bottleneck(&self, skew: Option<f64>, loss: f64) -> bool {
        let Some(skew) = skew else { return false };
        let varies = self.spread.get().is_some_and(|spread| spread > self.config.resolution.secs_f64() / 4.0);
        let skewed =
            skew < self.config.skew_threshold || (self.bottleneck && skew < self.config.skew_hysteresis);
        (varies && skewed) || loss > self.config.loss_threshold
    }

    /// Adds `E_T(OWD)` to `mean_delay`. Returns the mean queuing delay of the interval, 0 for an empty one.
    fn take_mean(&mut self, open: &OpenInterval) -> f64 {
        let Some(mean) = open.mean() else {
            self.empty += 1;
            return 0.0;
        };
        self.empty = 0;
        self.ended += 1;
        self.means.push(mean);
        self.known = (self.known + 1).min(self.means.len());
        self.mean_delay = self.means.sum() / self.known as f64;
        self.previous = mean;
        self.least = Some(open.least.delay);
        self.clock_skew.on_interval(open.least, self.bottleneck);
        (mean - self.clock_skew.base(open.least.time)).max(0.0)
    }

    fn complete_interval(&mut self, open: &OpenInterval, ended: IntervalResult) {
        if self.ended.is_multiple_of(self.config.long_window.into()) {
            self.variability.sum.recompute();
            self.spread.sum.recompute();
        }
        let IntervalResult { skew, variability, loss, packets, queuing } = ended;
        let defined = skew.is_some() && variability.is_some();
        self.complete = Some(Statistics {
            interval: u64::try_from(open.number).unwrap_or(0),
            skew: skew.unwrap_or(0.0).clamp(-1.0, 1.0),
            variability: variability.unwrap_or(0.0).max(0.0),
            frequency: self.crossings.frequency(),
            loss,
            packets,
            bottleneck: self.bottleneck && defined,
            queuing,
            samples: open.samples,
        });
        if self.empty > self.config.window {
            self.clear_history();
        }
    }

    /// Whether the least delay has jumped by more than a queue can cause.
    fn clock_stepped(&self, open: &OpenInterval) -> bool {
        let Some(before) = self.least.filter(|_| open.samples > 0) else { return false };
        let leap = (open.least.delay - before).abs();
        let varied = self.variability.get().is_some_and(|variability| {
            leap > self.config.clock_step_variability * variability && leap > self.config.interval.secs_f64()
        });
        varied || leap > self.config.clock_step.secs_f64()
    }

    fn clear_history(&mut self) {
        self.sampled_until = SendTime::from_nanos(i64::MIN);
        self.zero = None;
        self.clock_skew.clear();
        self.means.clear();
        (self.known, self.mean_delay, self.previous, self.least) = (0, 0.0, 0.0, None);
        self.skew.clear();
        self.variability.clear();
        self.spread.clear();
        self.crossings.clear();
        self.losses.clear();
        (self.bottleneck, self.empty, self.ended) = (false, 0, 0);
    }
}

/// The end of the slot of `sent`.
fn slot_end(sent: SendTime, slot: TimeDelta) -> SendTime {
    if slot <= TimeDelta::ZERO {
        return sent;
    }
    let begun = sent.nanos().div_euclid(slot.nanos());
    SendTime::from_nanos(begun.saturating_add(1).saturating_mul(slot.nanos()))
}

/// Statistics of an interval, without its samples.
#[derive(Clone, Copy)]
struct IntervalResult {
    skew: Option<f64>,
    variability: Option<f64>,
    loss: f64,
    packets: u32,
    queuing: f64,
}

#[cfg(test)]
#[path = "statistics/tests.rs"]
mod tests;
