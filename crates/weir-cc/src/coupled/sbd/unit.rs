//! Units of shared bottleneck detection: a flow, or the flows of one five-tuple.

use super::grouping::variance_of_loss;
use super::ring::Ring;
use super::stability::DelayAndLoss;
use crate::coupled::message::{FlowId, Statistics};

/// Number of intervals for which the detector waits for a flow.
pub(super) const MAX_LATE: u64 = 2;

/// A flow, with its statistics of the intervals that are not judged yet.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) member: FlowId,
    pub(super) unit: usize,
    /// Sending rate in bit/s.
    pub(super) rate: f64,
    /// Statistics by interval modulo their number.
    statistics: [Option<Statistics>; MAX_LATE as usize + 1],
    pub(super) newest: Option<u64>,
}

impl Flow {
    pub(super) fn new(member: FlowId, unit: usize) -> Self {
        Self { member, unit, rate: 0.0, statistics: [None; MAX_LATE as usize + 1], newest: None }
    }

    pub(super) fn take_statistics(&mut self, statistics: &Statistics) {
        let known = &mut self.statistics[slot(statistics.interval)];
        if known.is_none_or(|waits| waits.interval <= statistics.interval) {
            *known = Some(*statistics);
        }
        self.newest = self.newest.max(Some(statistics.interval));
    }

    pub(super) fn statistics(&self, interval: u64) -> Option<&Statistics> {
        self.statistics[slot(interval)].as_ref().filter(|statistics| statistics.interval == interval)
    }
}

const fn slot(interval: u64) -> usize {
    (interval % (MAX_LATE + 1)) as usize
}

/// One or more flows that are known to share their path.
#[derive(Clone, Debug)]
pub(super) struct PathUnit {
    /// Key of its five-tuple, or `None` for a flow that shares none.
    pub(super) bundle: Option<u64>,
    /// Number of its flows.
    pub(super) flows: usize,
    pub(super) group: u32,
    /// The interval in which it last changed its group.
    pub(super) changed: Option<u64>,
    /// Number of intervals with samples since it began or its history was cleared.
    pub(super) grown: u32,
    silent: u32,
    /// Queuing delays of the guard's span.
    queuing: Ring<f64>,
    /// Sum of the sending rates of its flows in the same intervals, in bit/s; 0 if not reported.
    rates: Ring<f64>,
    /// Means of the delays over the guard's span, in the intervals by which pairs are judged.
    means: Ring<f64>,
    /// `pkt_loss` in the intervals by which pairs are judged.
    loss: Ring<f64>,
    /// Variance of the newest `pkt_loss`.
    loss_variance: f64,
}

impl PathUnit {
    /// A unit without history. `guard` is the guard's span, `window` the number of intervals by which pairs are
    /// judged.
    pub(super) fn new(bundle: Option<u64>, group: u32, guard: u64, window: u32) -> Self {
        let queuing = Ring::new(usize::try_from(guard).unwrap_or(1));
        let rates = queuing.clone();
        let judged = Ring::new(window as usize);
        let (means, loss) = (judged.clone(), judged);
        Self {
            bundle,
            flows: 1,
            group,
            changed: None,
            grown: 0,
            silent: 0,
            queuing,
            rates,
            means,
            loss,
            loss_variance: 0.0,
        }
    }

    /// Takes an interval in which its flows sent at `rate`. After more than `most_silent` intervals without samples
    /// its history is cleared.
    pub(super) fn on_interval(&mut self, statistics: Option<&Statistics>, rate: f64, most_silent: u32) {
        let Some(statistics) = statistics.filter(|statistics| statistics.samples > 0) else {
            self.silent = self.silent.saturating_add(1);
            if self.silent > most_silent {
                self.grown = 0;
            }
            return;
        };
        self.silent = 0;
        self.grown = self.grown.saturating_add(1);
        self.queuing.push(statistics.queuing);
        self.rates.push(rate);
        self.means.push(self.mean(&self.queuing));
        self.loss.push(statistics.loss);
        self.loss_variance = variance_of_loss(statistics);
    }

    /// Its queuing delay and loss during the guard's span.
    pub(super) fn harm(&self) -> DelayAndLoss {
        let (known, queuing) = (self.known(), self.means.get(0));
        let square = |delay: f64| (delay - queuing) * (delay - queuing);
        let variance = self.queuing.iter().take(known).map(square).sum::<f64>() / known as f64;
        let most = |of: &Ring<f64>| of.iter().fold(0.0, f64::max);
        let independent = (known as f64 / CORRELATED_INTERVALS).max(1.0);
        DelayAndLoss {
            queuing,
            most_queuing: most(&self.means),
            variance: variance / independent,
            loss: self.loss.get(0),
            loss_variance: self.loss_variance,
            most_loss: most(&self.loss),
            rate: self.mean(&self.rates),
        }
    }

    /// Mean over the known part of the guard's span.
    fn mean(&self, of: &Ring<f64>) -> f64 {
        of.iter().take(self.known()).sum::<f64>() / self.known() as f64
    }

    /// Known intervals of the guard's span, at least 1.
    fn known(&self) -> usize {
        self.queuing.len().min(self.grown as usize).max(1)
    }
}

/// Number of intervals whose delays count as one independent value, because a burst lasts for several intervals.
const CORRELATED_INTERVALS: f64 = 4.0;

/// Statistics of a unit from those of its flows: means weighted by samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pool {
    /// Samples of all flows.
    weight: f64,
    /// The statistics so far, as weighted means.
    sum: Option<Statistics>,
    /// Samples of the flows that pass a bottleneck.
    passing: f64,
}

impl Pool {
    pub(super) fn put(&mut self, statistics: &Statistics) {
        let weight = f64::from(statistics.samples.max(1));
        self.weight += weight;
        self.passing += if statistics.bottleneck { weight } else { 0.0 };
        let Some(sum) = &mut self.sum else {
            self.sum = Some(*statistics);
            return;
        };
        let share = weight / self.weight;
        let mix = |mean: &mut f64, value: f64| *mean += share * (value - *mean);
        mix(&mut sum.skew, statistics.skew);
        mix(&mut sum.variability, statistics.variability);
        mix(&mut sum.frequency, statistics.frequency);
        mix(&mut sum.loss, statistics.loss);
        mix(&mut sum.queuing, statistics.queuing);
        sum.packets = sum.packets.saturating_add(statistics.packets);
        sum.samples = sum.samples.saturating_add(statistics.samples);
        sum.bottleneck = 2.0 * self.passing > self.weight;
    }

    pub(super) fn statistics(&self) -> Option<Statistics> {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_INTERVAL: Statistics = Statistics {
        interval: 0,
        skew: 0.0,
        variability: 0.0,
        frequency: 0.0,
        loss: 0.0,
        packets: 100,
        bottleneck: true,
        queuing: 0.0,
        samples: 20,
    };

    /// Statistics of an interval with a queuing delay of `queuing` seconds.
    fn with_queuing(queuing: f64) -> Statistics {
        Statistics { queuing, ..IN_INTERVAL }
    }

    /// Checks that `value` is `expected` within 1e-12.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} instead of {expected}");
    }

    #[test]
    fn a_unit_starts_anew_after_more_silent_intervals_than_allowed() {
        let mut unit = PathUnit::new(None, 0, 10, 10);
        unit.on_interval(Some(&with_queuing(0.01)), 1e6, 2);
        for _ in 0..2 {
            unit.on_interval(None, 0.0, 2);
        }
        assert_eq!(unit.grown, 1);
        // An interval without samples is a silent one, however long that lasts.
        for _ in 0..3 {
            unit.on_interval(Some(&Statistics { samples: 0, ..with_queuing(0.5) }), 1e6, 2);
            assert_eq!(unit.grown, 0);
        }
        unit.on_interval(Some(&with_queuing(0.01)), 1e6, 2);
        unit.on_interval(None, 0.0, 2);
        assert_eq!(unit.grown, 1, "silence is counted anew");
    }

    #[test]
    fn delay_and_loss_are_those_of_the_known_part_of_the_guards_span() {
        let mut unit = PathUnit::new(None, 0, 4, 10);
        for (queuing, rate) in [(0.010, 1e6), (0.030, 3e6)] {
            unit.on_interval(Some(&with_queuing(queuing)), rate, 2);
        }
        let harm = unit.harm();
        // Means of 10 ms, then of 20 ms; both delays are 10 ms away from the latter.
        near(harm.queuing, 0.020);
        near(harm.most_queuing, 0.020);
        near(harm.variance, 0.0001);
        near(harm.rate, 2e6);
        // Of six intervals the last four count: 30, 10, 10 and 10 ms; four of them count as one value.
        for _ in 0..3 {
            unit.on_interval(Some(&with_queuing(0.010)), 1e6, 2);
        }
        let harm = unit.harm();
        near(harm.queuing, 0.015);
        // The greatest mean was that of 10 and 30 ms.
        near(harm.most_queuing, 0.020);
        near(harm.variance, (3.0 * 0.005 * 0.005 + 0.015 * 0.015) / 4.0);
        near(harm.rate, 1.5e6);
    }
}
