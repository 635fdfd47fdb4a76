//! Time series of the allocations of couplers.

use core::mem;

use weir_cc::coupled::{Aggregate, CouplerAction, CouplingMessage};

use super::columns::{CouplingSeries, FlowSeries, Share};
use crate::metrics::plan::CouplingPlan;

/// A value that holds until it changes. The entry of a bin is the last value within or before it.
#[derive(Debug)]
struct HeldValue {
    values: Vec<f64>,
    /// Number of bins that have their entry; the present value holds from there on.
    settled: usize,
    present: f64,
}

impl HeldValue {
    fn new(bins: usize) -> Self {
        Self { values: vec![f64::NAN; bins], settled: 0, present: f64::NAN }
    }

    fn set(&mut self, bin: usize, value: f64) {
        self.settle(bin);
        self.present = value;
    }

    /// Sets the entries of the bins before `bin` to the present value.
    fn settle(&mut self, bin: usize) {
        let to = bin.min(self.values.len());
        if self.settled < to {
            self.values[self.settled..to].fill(self.present);
            self.settled = to;
        }
    }

    /// The entries of all bins. The next block has `bins` bins.
    fn take(&mut self, bins: usize) -> Vec<f64> {
        self.settle(self.values.len());
        self.settled = 0;
        mem::replace(&mut self.values, vec![f64::NAN; bins])
    }
}

/// Allocations to a flow by its coupler.
#[derive(Debug)]
pub(super) struct ShareColumns {
    rate: HeldValue,
    window: HeldValue,
    allocates_windows: bool,
    group: HeldValue,
    sum: HeldValue,
    /// Bin of the run in which the last sum was reported.
    sum_bin: HeldValue,
}

impl ShareColumns {
    pub(super) fn new(bins: usize) -> Self {
        let held = || HeldValue::new(bins);
        Self {
            rate: held(),
            window: held(),
            allocates_windows: false,
            group: held(),
            sum: held(),
            sum_bin: held(),
        }
    }

    /// Records an allocation in `bin` of the block, which is bin `bin_of_run` of the run.
    pub(super) fn on_allocation(
        &mut self,
        bin: usize,
        bin_of_run: usize,
        order: &CouplerAction,
        aggregate: Option<Aggregate>,
    ) {
        match order {
            CouplerAction::Rate { rate, .. } => self.rate.set(bin, rate.bps_f64()),
            CouplerAction::Window(window) => {
                self.allocates_windows = true;
                self.window.set(bin, window.cwnd);
            }
            CouplerAction::Uncoupled => return self.clear(bin),
            CouplerAction::Segment | CouplerAction::Reduce => {}
        }
        if let Some(Aggregate { group, sum }) = aggregate {
            self.group.set(bin, f64::from(group));
            self.sum.set(bin, sum);
            self.sum_bin.set(bin, bin_of_run as f64);
        }
    }

    /// Ends the share of a flow that pauses, continues alone or leaves, from the next bin on.
    pub(super) fn on_message(&mut self, bin: usize, message: &CouplingMessage) {
        if matches!(message, CouplingMessage::Pause | CouplingMessage::Withdraw | CouplingMessage::Leave) {
            self.clear(bin);
        }
    }

    fn clear(&mut self, bin: usize) {
        for held in [&mut self.rate, &mut self.window, &mut self.group, &mut self.sum, &mut self.sum_bin] {
            held.set(bin, f64::NAN);
        }
    }

    /// The columns of all bins. The next block has `bins` bins.
    pub(super) fn take(&mut self, bins: usize) -> (Share, Aggregates) {
        let [rate, window, group, sum, sum_bin] =
            [&mut self.rate, &mut self.window, &mut self.group, &mut self.sum, &mut self.sum_bin]
                .map(|held| held.take(bins));
        let share = if self.allocates_windows { Share::Window(window) } else { Share::Rate(rate) };
        (share, Aggregates { group, sum, sum_bin })
    }
}

/// The aggregates of a flow's group, as reported to the flow.
pub(super) struct Aggregates {
    group: Vec<f64>,
    sum: Vec<f64>,
    sum_bin: Vec<f64>,
}

/// The series of all flows of a coupling. `aggregates` are those reported to its flows, in its order.
pub(super) fn together(
    plan: &CouplingPlan,
    flows: &[FlowSeries],
    aggregates: &[&Aggregates],
    bins: usize,
) -> CouplingSeries {
    let add = |column: fn(&FlowSeries) -> &[f64]| {
        let rates = |bin: usize| plan.flows.iter().map(move |&flow| column(&flows[flow])[bin]);
        (0..bins).map(|bin| rates(bin).sum()).collect()
    };
    CouplingSeries {
        name: plan.name.clone(),
        flows: plan.flows.clone(),
        send_rate_bps: add(|flow| &flow.send_rate_bps),
        receive_rate_bps: add(|flow| &flow.receive_rate_bps),
        aggregate: (0..bins).map(|bin| sum_of_groups(&groups(aggregates, bin))).collect(),
        windows: plan.windows,
        groups: (0..bins).map(|bin| number(&groups(aggregates, bin))).collect(),
    }
}

/// The aggregate of each group in this bin, from the member with the latest report.
fn groups(aggregates: &[&Aggregates], bin: usize) -> Vec<f64> {
    let known = aggregates.iter().filter(|aggregate| aggregate.sum[bin].is_finite());
    let mut groups: Vec<(f64, f64, f64)> =
        known.map(|known| (known.group[bin], known.sum_bin[bin], known.sum[bin])).collect();
    groups.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    groups.dedup_by(|other, first| other.0 == first.0);
    groups.into_iter().map(|(_, _, sum)| sum).collect()
}

/// The sum of all groups' aggregates; NaN without a group.
fn sum_of_groups(groups: &[f64]) -> f64 {
    if groups.is_empty() { f64::NAN } else { groups.iter().sum() }
}

/// Number of groups; NaN without a group.
fn number(groups: &[f64]) -> f64 {
    if groups.is_empty() { f64::NAN } else { groups.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_the_next_one() {
        let mut held = HeldValue::new(6);
        held.set(1, 5.0);
        held.set(3, 6.0);
        held.set(3, 7.0);
        held.set(9, 8.0);
        let values = held.take(2);
        assert!(values[0].is_nan());
        assert_eq!(values[1..], [5.0, 5.0, 7.0, 7.0, 7.0]);
        assert_eq!(held.take(0), [8.0, 8.0], "and in the next block");
    }

    #[test]
    fn the_newest_sum_of_each_group_counts() {
        let aggregates_of = |group: f64, sum: f64, sum_bin: f64| Aggregates {
            group: vec![group],
            sum: vec![sum],
            sum_bin: vec![sum_bin],
        };
        let all = [
            aggregates_of(1.0, 10.0, 3.0),
            aggregates_of(2.0, 5.0, 1.0),
            aggregates_of(1.0, 12.0, 4.0),
            aggregates_of(3.0, f64::NAN, 9.0),
        ];
        let all: Vec<&Aggregates> = all.iter().collect();
        assert_eq!(sum_of_groups(&groups(&all, 0)).to_bits(), 17.0_f64.to_bits());
        assert!(sum_of_groups(&groups(&all[3..], 0)).is_nan());
    }
}
