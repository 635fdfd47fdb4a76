//! Detector of lasting groups of flows that share a bottleneck.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::config::Config;
use super::grouping::Grouping;
use super::identifiers::{Identifiers, PlacedUnit};
use super::stability::{CouplingTrial, DelayAndLoss, FilterSpans, PairVerdict, UnitPair};
use super::unit::{Flow, MAX_LATE, PathUnit, Pool};
use crate::config_error::ConfigError;
use crate::coupled::message::{FlowId, Statistics};

/// Detects flows of one sender that share a bottleneck.
///
/// Each flow is in a group from its join on, alone unless it is of a five-tuple that is known. Statistics go in,
/// changes of groups come out of [`Self::poll`]. Intervals are those of one clock: that of the sender.
///
/// A pair joins if it was together in half of the last 60 intervals with a verdict on it, and parts below a quarter of
/// them. Intervals in which neither flow passes a bottleneck give no verdict, and the pair stays together for 30 s. A
/// flow changes its group at most once in 10 s. The guard looks 10 and 17.5 s after a pair was coupled. If queuing
/// delay or loss has risen clearly, and one of the flows sends clearly more than before, it drops the coupling for two
/// minutes (RFC 8699 §5.1).
#[derive(Clone, Debug)]
pub struct Detector {
    config: Config,
    spans: FilterSpans,
    /// Flows, by member.
    flows: Vec<Flow>,
    /// Units; a unit without flows is a free place.
    units: Vec<PathUnit>,
    /// Pairs of units `i < j`, at `j (j − 1) / 2 + i`.
    pairs: Vec<UnitPair>,
    /// The next interval to be judged.
    next: Option<u64>,
    newest: u64,
    grouping: Grouping,
    identifiers: Identifiers,
    pools: Vec<Pool>,
    /// Statistics of the units in the present interval.
    statistics: Vec<Option<Statistics>>,
    groups: Vec<Option<u32>>,
    /// For each unit a unit of the same group. The root of a group refers to itself.
    roots: Vec<usize>,
    changes: VecDeque<(FlowId, u32)>,
}

impl Detector {
    /// A detector without flows.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config,
            spans: FilterSpans::new(&config),
            flows: Vec::new(),
            units: Vec::new(),
            pairs: Vec::new(),
            next: None,
            newest: 0,
            grouping: Grouping::new(),
            identifiers: Identifiers::new(),
            pools: Vec::new(),
            statistics: Vec::new(),
            groups: Vec::new(),
            roots: Vec::new(),
            changes: VecDeque::new(),
        })
    }

    /// Adds a flow. Flows of the same `bundle` share a five-tuple, DSCP and ECN field (RFC 8699 §4), so that they are
    /// always in one group. Returns the group. A known flow stays in its group.
    pub fn join(&mut self, member: FlowId, bundle: Option<u64>) -> u32 {
        let place = match self.flows.binary_search_by_key(&member, |flow| flow.member) {
            Ok(known) => return self.units[self.flows[known].unit].group,
            Err(place) => place,
        };
        let unit = self.unit_for(bundle);
        self.flows.insert(place, Flow::new(member, unit));
        self.changes.reserve(self.flows.len());
        self.units[unit].group
    }

    /// Removes a flow.
    pub fn leave(&mut self, member: FlowId) {
        let Ok(place) = self.flows.binary_search_by_key(&member, |flow| flow.member) else { return };
        let flow = self.flows.remove(place);
        self.changes.retain(|&(of, _)| of != member);
        let unit = &mut self.units[flow.unit];
        unit.flows -= 1;
        if unit.flows == 0 {
            unit.bundle = None;
            for other in (0..self.units.len()).filter(|&other| other != flow.unit) {
                self.pairs[pair(flow.unit, other)] = UnitPair::default();
            }
        }
    }

    /// Sets the sending rate of a flow, in bit/s. Among equally similar groups, the one with the higher rate keeps
    /// its number. The guard ignores flows that send hardly more than before.
    pub fn on_rate(&mut self, member: FlowId, rate: f64) {
        if let Some(flow) = self.flow_mut(member) {
            flow.rate = if rate.is_finite() { rate } else { 0.0 };
        }
    }

    /// Takes statistics of a flow. Impossible or old statistics, and those of an unknown flow, are ignored. Returns
    /// whether they were used.
    pub fn on_statistics(&mut self, member: FlowId, statistics: &Statistics) -> bool {
        let interval = statistics.interval;
        // Later spans are added to the interval and must not overflow.
        if !statistics.is_possible() || interval > u64::MAX / 2 {
            return false;
        }
        let is_old = self.next.is_some_and(|next| interval < next);
        let Some(flow) = self.flow_mut(member) else { return false };
        // From now on the detector also waits for a flow that is late.
        flow.take_statistics(statistics);
        if is_old {
            return false;
        }
        self.newest = self.newest.max(interval);
        self.next.get_or_insert(interval);
        while let Some(ready) = self.ready() {
            self.judge(ready);
            self.next = Some(ready + 1);
        }
        true
    }

    /// The next change of a group; call until `None`. All changes of one interval are returned together.
    pub fn poll(&mut self) -> Option<(FlowId, u32)> {
        self.changes.pop_front()
    }

    /// The group of a flow.
    pub fn group(&self, member: FlowId) -> Option<u32> {
        let place = self.flows.binary_search_by_key(&member, |flow| flow.member).ok()?;
        Some(self.units[self.flows[place].unit].group)
    }

    /// Whether two flows were in one group by the statistics of the newest judged interval alone.
    pub fn grouped_now(&self, a: FlowId, b: FlowId) -> bool {
        let group = |member| {
            let place = self.flows.binary_search_by_key(&member, |flow: &Flow| flow.member).ok()?;
            self.groups.get(self.flows[place].unit).copied().flatten()
        };
        group(a).is_some() && group(a) == group(b)
    }

    fn flow_mut(&mut self, member: FlowId) -> Option<&mut Flow> {
        let place = self.flows.binary_search_by_key(&member, |flow| flow.member).ok()?;
        self.flows.get_mut(place)
    }

    /// The unit of `bundle`, or a new one.
    fn unit_for(&mut self, bundle: Option<u64>) -> usize {
        let known = |unit: &PathUnit| unit.flows > 0 && bundle.is_some() && unit.bundle == bundle;
        if let Some(place) = self.units.iter().position(known) {
            self.units[place].flows += 1;
            return place;
        }
        let unit = PathUnit::new(
            bundle,
            self.identifiers.next_number(),
            self.spans.guard,
            self.config.stability.window,
        );
        if let Some(free) = self.units.iter().position(|unit| unit.flows == 0) {
            self.units[free] = unit;
            return free;
        }
        self.pairs.resize(self.pairs.len() + self.units.len(), UnitPair::default());
        self.units.push(unit);
        self.units.len() - 1
    }

    /// The next interval with statistics of all sending flows, or one that is too old to wait for more.
    fn ready(&self) -> Option<u64> {
        let next = self.next?.max(self.newest.saturating_sub(MAX_LATE));
        let heard_of = |flow: &&Flow| {
            let silent = u64::from(self.config.window);
            flow.newest.is_some_and(|newest| newest.saturating_add(silent) >= next)
        };
        let is_complete = |flow: &Flow| flow.newest.is_some_and(|newest| newest >= next);
        let all_complete = || self.flows.iter().filter(heard_of).all(is_complete);
        (next <= self.newest && (next + MAX_LATE <= self.newest || all_complete())).then_some(next)
    }

    fn judge(&mut self, interval: u64) {
        self.pool(interval);
        self.grouping.divide(&self.config, &self.statistics, &mut self.groups);
        for (at, (unit, statistics)) in self.units.iter_mut().zip(&self.statistics).enumerate() {
            let rate = self.flows.iter().filter(|flow| flow.unit == at).map(|flow| flow.rate).sum();
            unit.on_interval(statistics.as_ref(), rate, self.config.window);
        }
        self.join_pairs(interval);
        self.number_groups();
        self.change_groups(interval);
        self.guard(interval);
    }

    fn pool(&mut self, interval: u64) {
        self.pools.clear();
        self.pools.resize(self.units.len(), Pool::default());
        for flow in &self.flows {
            if let Some(statistics) = flow.statistics(interval) {
                self.pools[flow.unit].put(statistics);
            }
        }
        self.statistics.clear();
        self.statistics.extend(self.pools.iter().map(Pool::statistics));
    }

    /// Builds groups from the connected pairs that joined.
    fn join_pairs(&mut self, interval: u64) {
        self.roots.clear();
        self.roots.extend(0..self.units.len());
        let start_up = self.config.stability.start_up;
        for j in 1..self.units.len() {
            for i in 0..j {
                let grown = self.units[i].grown.min(self.units[j].grown) >= start_up;
                let verdict = self.verdict(i, j);
                let pair = &mut self.pairs[pair(i, j)];
                if pair.observe(interval, verdict, grown, &self.spans, &self.config.stability) {
                    let (i, j) = (root(&self.roots, i), root(&self.roots, j));
                    self.roots[i.max(j)] = i.min(j);
                }
            }
        }
    }

    fn verdict(&self, i: usize, j: usize) -> PairVerdict {
        let (Some(a), Some(b)) = (&self.statistics[i], &self.statistics[j]) else {
            return PairVerdict::Unknown;
        };
        match (self.groups[i], self.groups[j]) {
            (None, None) => PairVerdict::Unknown,
            (group, other) if group == other => PairVerdict::Together,
            (Some(_), Some(_)) => PairVerdict::Apart,
            // Resolution 7: the threshold lies between two flows that are alike.
            _ if (a.skew - b.skew).abs() < self.config.skew_difference => PairVerdict::Unknown,
            _ => PairVerdict::Apart,
        }
    }

    fn number_groups(&mut self) {
        let (roots, flows) = (&self.roots, &self.flows);
        let rate = |unit: usize| flows.iter().filter(|flow| flow.unit == unit).map(|flow| flow.rate).sum();
        let units = self.units.iter().enumerate().filter(|(_, unit)| unit.flows > 0);
        let placed = |(at, unit): (usize, &PathUnit)| PlacedUnit {
            root: root(roots, at),
            number: unit.group,
            rate: rate(at),
        };
        self.identifiers.match_groups(self.units.len(), units.map(placed));
    }

    fn change_groups(&mut self, interval: u64) {
        for at in 0..self.units.len() {
            let root = root(&self.roots, at);
            let unit = &mut self.units[at];
            let too_soon = |changed: u64| interval - changed < self.spans.between_changes;
            if unit.flows == 0
                || self.identifiers.known(root) == Some(unit.group)
                || unit.changed.is_some_and(too_soon)
            {
                continue;
            }
            unit.group = self.identifiers.number(root);
            unit.changed = Some(interval);
            let group = unit.group;
            let members = self.flows.iter().filter(|flow| flow.unit == at);
            self.changes.extend(members.map(|flow| (flow.member, group)));
        }
    }

    /// Begins a trial of newly coupled pairs. If harm is found, all pairs on trial in the group part.
    fn guard(&mut self, interval: u64) {
        for j in 1..self.units.len() {
            for i in 0..j {
                self.begin_or_end_trial(interval, i, j);
                if self.does_harm(interval, i, j) {
                    self.part_pairs_on_trial(self.units[i].group, interval);
                }
            }
        }
    }

    fn begin_or_end_trial(&mut self, interval: u64, i: usize, j: usize) {
        let (coupled, at) = (self.are_coupled(i, j), pair(i, j));
        if coupled && !self.pairs[at].coupled {
            let before = [i, j].map(|unit| self.units[unit].harm());
            self.pairs[at].trial = Some(CouplingTrial { since: interval, before, half_done: false });
        } else if !coupled {
            self.pairs[at].trial = None;
        }
        self.pairs[at].coupled = coupled;
    }

    fn does_harm(&mut self, interval: u64, i: usize, j: usize) -> bool {
        let at = pair(i, j);
        let Some(trial) = self.pairs[at].trial else { return false };
        let passed = interval - trial.since;
        // Loss is a mean over `N` intervals, and is judged once these have passed.
        let judges_loss = passed >= self.spans.guard.max(self.config.long_window.into());
        if passed < self.spans.guard || (trial.half_done && !judges_loss) {
            return false;
        }
        let now = [i, j].map(|unit| self.units[unit].harm());
        let risen = DelayAndLoss::has_risen(&now, &trial.before, judges_loss, &self.config.stability);
        let pair = &mut self.pairs[at];
        pair.trial = (!judges_loss).then_some(CouplingTrial { half_done: true, ..trial });
        if risen {
            pair.block(interval + self.spans.block);
        }
        risen
    }

    fn part_pairs_on_trial(&mut self, group: u32, interval: u64) {
        for j in 1..self.units.len() {
            for i in 0..j {
                let of_group = self.units[i].group == group && self.units[j].group == group;
                let pair = &mut self.pairs[pair(i, j)];
                if of_group && pair.trial.is_some() {
                    pair.block(interval + self.spans.block);
                }
            }
        }
    }

    fn are_coupled(&self, i: usize, j: usize) -> bool {
        let (i, j) = (&self.units[i], &self.units[j]);
        i.flows > 0 && j.flows > 0 && i.group == j.group
    }
}

/// The place of the pair of two different units.
fn pair(i: usize, j: usize) -> usize {
    let (low, high) = (i.min(j), i.max(j));
    high * (high - 1) / 2 + low
}

fn root(roots: &[usize], unit: usize) -> usize {
    let mut at = unit;
    while roots[at] != at {
        at = roots[at];
    }
    at
}

#[cfg(test)]
#[path = "detector/tests.rs"]
mod tests;
