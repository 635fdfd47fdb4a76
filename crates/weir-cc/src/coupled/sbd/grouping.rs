//! Grouping of flows that pass the same bottleneck, by the statistics of one interval (RFC 8382 §3.3.1).

use alloc::vec::Vec;

use super::config::Config;
use crate::coupled::message::Statistics;

/// Grouping of flows by single linkage.
///
/// In the order of a statistic, neighbours that differ by less than a threshold stay together; a chain of them may
/// span more. Equal values are in the order of places, so that the result is deterministic.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    /// Flows by group, then in the order of the last statistic.
    flows: Vec<GroupedFlow>,
}

#[derive(Clone, Copy, Debug)]
struct GroupedFlow {
    group: u32,
    flow: usize,
    key: f64,
}

impl Grouping {
    /// A grouping without flows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Divides `flows` into groups, and sets the number of each flow's group, from 0 on. A flow that passes no
    /// bottleneck, or is without statistics, has no group.
    pub fn divide(&mut self, config: &Config, flows: &[Option<Statistics>], groups: &mut Vec<Option<u32>>) {
        self.take_bottlenecked(flows);
        let statistics_of = |flow: usize| flows[flow].as_ref();
        let within = |most: f64| move |hi: &GroupedFlow, lo: &GroupedFlow| hi.key - lo.key < most;
        let within_part =
            |most: f64| move |hi: &GroupedFlow, lo: &GroupedFlow| hi.key - lo.key < most * hi.key;
        // Steps 2 to 4 (RFC 8382 §3.3.1): frequency, variability and skew.
        self.split(|flow| statistics_of(flow).map(|of| of.frequency), within(config.frequency_difference));
        self.split(
            |flow| statistics_of(flow).map(|of| of.variability),
            within_part(config.variability_difference),
        );
        self.split(|flow| statistics_of(flow).map(|of| of.skew), within(config.skew_difference));
        // Step 5: loss divides only where it is high, and its difference is significant (resolution 4).
        let alike = within_part(config.loss_difference);
        let by_chance = |hi: &GroupedFlow, lo: &GroupedFlow| {
            let variance = |placed: &GroupedFlow| statistics_of(placed.flow).map_or(0.0, variance_of_loss);
            hi.key - lo.key < DEVIATIONS * libm::sqrt(variance(hi) + variance(lo))
        };
        self.split(
            |flow| statistics_of(flow).map(|of| of.loss),
            |hi, lo| hi.key <= config.loss_threshold || alike(hi, lo) || by_chance(hi, lo),
        );
        groups.clear();
        groups.resize(flows.len(), None);
        for placed in &self.flows {
            groups[placed.flow] = Some(placed.group);
        }
    }

    /// Step 1: puts all flows with a bottleneck into one group.
    fn take_bottlenecked(&mut self, flows: &[Option<Statistics>]) {
        self.flows.clear();
        let passing = |of: &Option<Statistics>| of.is_some_and(|of| of.bottleneck);
        let placed = |(flow, _)| GroupedFlow { group: 0, flow, key: 0.0 };
        self.flows.extend(flows.iter().enumerate().filter(|(_, of)| passing(of)).map(placed));
    }

    /// Sorts each group by `key`, highest first, and divides it between neighbours that are not `together`.
    fn split(
        &mut self,
        key: impl Fn(usize) -> Option<f64>,
        together: impl Fn(&GroupedFlow, &GroupedFlow) -> bool,
    ) {
        for placed in &mut self.flows {
            placed.key = key(placed.flow).unwrap_or(0.0);
        }
        self.flows.sort_unstable_by(|a, b| {
            a.group.cmp(&b.group).then(b.key.total_cmp(&a.key)).then(a.flow.cmp(&b.flow))
        });
        let (mut number, mut before) = (0, None::<GroupedFlow>);
        for placed in &mut self.flows {
            let stays = before.is_none_or(|hi| hi.group == placed.group && together(&hi, placed));
            before = Some(*placed);
            number += u32::from(!stays);
            placed.group = number;
        }
    }
}

/// Number of standard deviations of the difference of two losses below which they may be equal.
const DEVIATIONS: f64 = 2.0;

/// Variance of `pkt_loss` for independent losses; 0 if the number of packets is unknown.
pub(super) fn variance_of_loss(statistics: &Statistics) -> f64 {
    if statistics.packets == 0 {
        0.0
    } else {
        statistics.loss * (1.0 - statistics.loss) / f64::from(statistics.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statistics of an interval of a flow at a bottleneck.
    fn flow(frequency: f64, variability_ms: f64, skew: f64, loss: f64) -> Statistics {
        Statistics {
            interval: 0,
            skew,
            variability: variability_ms / 1000.0,
            frequency,
            loss,
            packets: 0,
            bottleneck: true,
            queuing: 0.0,
            samples: 10,
        }
    }

    fn groups(flows: &[Statistics]) -> Vec<Option<u32>> {
        let flows: Vec<_> = flows.iter().copied().map(Some).collect();
        groups_of(&flows)
    }

    /// The group of each flow, by the default configuration.
    fn groups_of(flows: &[Option<Statistics>]) -> Vec<Option<u32>> {
        let mut groups = Vec::new();
        Grouping::new().divide(&Config::default(), flows, &mut groups);
        groups
    }

    #[test]
    fn the_example_of_the_specification() {
        // By frequency {D}, {A, B, C}; by variability {C, B}, {A}; by skew {B}, {C}.
        let skewed = [
            flow(0.10, 8.0, -0.10, 0.0),
            flow(0.16, 9.5, -0.10, 0.0),
            flow(0.24, 10.0, -0.30, 0.0),
            flow(0.50, 9.5, -0.10, 0.0),
        ];
        assert_eq!(groups(&skewed), [Some(3), Some(1), Some(2), Some(0)]);
        // Without the skew B and C stay together, and a chain of frequencies spans more than the threshold.
        let chained = [skewed[0], skewed[1], flow(0.24, 10.0, -0.10, 0.0), skewed[3]];
        assert_eq!(groups(&chained), [Some(2), Some(1), Some(1), Some(0)]);
        let alike = [0.10, 0.16, 0.24].map(|frequency| flow(frequency, 9.5, -0.1, 0.0));
        assert_eq!(groups(&alike), [Some(0); 3]);
    }

    #[test]
    fn equality_divides() {
        assert_eq!(groups(&[flow(0.25, 8.0, 0.0, 0.0), flow(0.125, 8.0, 0.0, 0.0)]), [Some(0), Some(1)]);
        let just = f64::from_bits(0.15_f64.to_bits() - 1);
        assert_eq!(groups(&[flow(0.0, 8.0, 0.15, 0.0), flow(0.0, 8.0, 0.0, 0.0)]), [Some(0), Some(1)]);
        assert_eq!(groups(&[flow(0.0, 8.0, just, 0.0), flow(0.0, 8.0, 0.0, 0.0)]), [Some(0); 2]);
        assert_eq!(groups(&[flow(0.0, 0.0, 0.0, 0.0); 2]), [Some(0), Some(1)], "delays that do not vary");
    }

    #[test]
    fn differences_are_relative_to_the_higher_value() {
        // RFC 8382 §3.3.1: p_mad·var_est and p_d·pkt_loss of the higher one, 1 ms and 0.02; of the lower 0.905 ms and 0.01815.
        assert_eq!(groups(&[flow(0.0, 10.0, 0.0, 0.0), flow(0.0, 9.05, 0.0, 0.0)]), [Some(0); 2]);
        assert_eq!(groups(&[flow(0.0, 10.0, 0.0, 0.0), flow(0.0, 8.95, 0.0, 0.0)]), [Some(0), Some(1)]);
        assert_eq!(groups(&[flow(0.0, 8.0, 0.0, 0.2), flow(0.0, 8.0, 0.0, 0.1815)]), [Some(0); 2]);
        assert_eq!(groups(&[flow(0.0, 8.0, 0.0, 0.2), flow(0.0, 8.0, 0.0, 0.1795)]), [Some(0), Some(1)]);
    }

    #[test]
    fn loss_divides_only_where_there_is_enough_of_it() {
        assert_eq!(groups(&[flow(0.0, 8.0, 0.0, 0.1), flow(0.0, 8.0, 0.0, 0.0)]), [Some(0); 2]);
        assert_eq!(groups(&[flow(0.0, 8.0, 0.0, 0.2), flow(0.0, 8.0, 0.0, 0.17)]), [Some(0), Some(1)]);
        assert_eq!(groups(&[flow(0.0, 8.0, 0.0, 0.2), flow(0.0, 8.0, 0.0, 0.19)]), [Some(0); 2]);
        // Twice the standard deviation of the difference is 0.035 for a thousand packets each.
        let of = |loss: f64| Statistics { packets: 1000, ..flow(0.0, 8.0, 0.0, loss) };
        assert_eq!(groups(&[of(0.2), of(0.17)]), [Some(0); 2]);
        assert_eq!(groups(&[of(0.2), of(0.16)]), [Some(0), Some(1)]);
    }

    #[test]
    fn flows_without_bottleneck_or_statistics_are_in_no_group() {
        let passing = flow(0.0, 8.0, 0.0, 0.0);
        let free = Statistics { bottleneck: false, ..passing };
        assert_eq!(groups_of(&[Some(free), None, Some(passing)]), [None, None, Some(0)]);
        assert_eq!(groups(&[]), []);
    }
}
