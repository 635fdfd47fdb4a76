//! Recorder of a link: bytes, losses and queuing.

use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::Loss;

use super::bins::{BinCounts, BinGrid, GridPosition};
use super::histogram::Histogram;
use super::plan::LinkPlan;
use super::queue::QueueRecorder;
use super::span::{ActiveSpan, Stretches};
use crate::results::stats;
use crate::results::{LinkMeasures, QueuePackets, Utilisation, Value};

/// Recorder of a link in one window.
#[derive(Debug)]
pub(super) struct LinkRecorder {
    bytes: u64,
    packets: u64,
    /// Packets refused by the queue.
    refused: u64,
    /// Packets lost at random after the link has carried them.
    lost: u64,
    waits: Histogram,
    /// Bytes that left the link, per bin.
    pub(super) exits: BinCounts,
    /// The length of the queue at each arrival, if recorded.
    pub(super) queue: Option<QueueRecorder>,
}

impl LinkRecorder {
    /// The recorder of a link. `queue_apart` is the least time between overflows, if the queue is recorded.
    pub(super) fn new(grid: &BinGrid, queue_apart: Option<TimeDelta>) -> Self {
        Self {
            bytes: 0,
            packets: 0,
            refused: 0,
            lost: 0,
            waits: Histogram::new(),
            exits: BinCounts::new(grid.len()),
            queue: queue_apart.map(QueueRecorder::new),
        }
    }

    #[inline]
    pub(super) fn exit(&mut self, at: GridPosition, wire_size: u32, wait: TimeDelta) {
        self.exits.add(at.bin, wire_size);
        if at.in_window {
            self.bytes += u64::from(wire_size);
            self.packets += 1;
            self.waits.record(wait);
        }
    }

    /// Counts a lost packet. A randomly lost one has been counted as an exit as well, because it used the link.
    pub(super) fn dropped(&mut self, in_window: bool, loss: Loss) {
        let count = match loss {
            Loss::Queue(_) => &mut self.refused,
            Loss::Random => &mut self.lost,
        };
        *count += u64::from(in_window);
    }

    /// The metrics of the link. `fair_share` is the mean over its flows.
    pub(super) fn evaluate(
        &self,
        plan: &LinkPlan,
        grid: &BinGrid,
        window: &Stretches,
        fair_share: Value,
    ) -> LinkMeasures<Value> {
        let seconds = self.utilisation_per_second(plan, grid);
        let possible = window.spans().iter().map(|&span| capacity(plan, span)).sum();
        let offered = self.packets + self.refused;
        LinkMeasures {
            name: plan.name.clone(),
            bottleneck: plan.bottleneck,
            utilisation: Utilisation {
                time_mean: stats::mean(&seconds),
                time_sd: stats::sample_sd(&seconds),
                bits: ratio(self.bytes as f64, possible),
                fair_share,
            },
            loss_ratio: ratio((self.refused + self.lost) as f64, offered as f64),
            queue_ms: (&self.waits).into(),
            queue_packets: QueuePackets {
                mean: self.mean_queue(window),
                max: self.queue.as_ref().and_then(QueueRecorder::max),
            },
            overflows: self.queue.as_ref().map(|queue| queue.overflows as f64),
            failed_drains: self.queue.as_ref().map(|queue| queue.failed_drains as f64),
        }
    }

    /// Mean number of waiting packets: the sum of all waiting times over the time (Little's law).
    fn mean_queue(&self, window: &Stretches) -> Value {
        let waited_ms = self.waits.mean_ms().map_or(0.0, |mean| mean * self.packets as f64);
        window.seconds().map(|seconds| waited_ms / 1e3 / seconds)
    }

    /// Ratio of carried to possible bytes, for each whole second of the window with a capacity above zero.
    fn utilisation_per_second(&self, plan: &LinkPlan, grid: &BinGrid) -> Vec<f64> {
        grid.seconds()
            .filter_map(|(bins, span)| ratio(self.exits.sum(bins) as f64, capacity(plan, span)))
            .collect()
    }
}

/// Number of bytes that can leave the link in `span`. It is the capacity of one propagation delay earlier.
pub(super) fn capacity(plan: &LinkPlan, span: ActiveSpan) -> f64 {
    let served = |out: Time| Time::from_nanos(out.nanos().saturating_sub(plan.delay.nanos().max(0) as u64));
    let (from, to) = (served(span.from), served(span.to));
    if from < to { plan.service.capacity(from, to).bytes_f64() } else { 0.0 }
}

/// `part / whole`, or `None` for a `whole` of zero.
pub(super) fn ratio(part: f64, whole: f64) -> Value {
    (whole > 0.0).then(|| part / whole)
}
