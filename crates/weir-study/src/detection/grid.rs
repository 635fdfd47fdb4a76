//! The grid of cases of shared bottleneck detection, and the shares of intervals in which pairs are grouped.

use rayon::prelude::*;
use serde::Serialize;
use weir_cc::coupled::FlowId;
use weir_cc::coupled::sbd::{Config, Detector, StabilityConfig};
use weir_units::TimeDelta;

use super::course::{Case, CaseSeries, IntervalStatistics, Kind, Management, run};
use weir_scenario::registry::{Registry, RegistryError};

/// Controllers and TCP algorithms of the grid by default.
pub const CONTROLLERS: [&str; 3] = ["gcc", "nada", "cubic"];
const LAGS_MS: [i64; 3] = [0, 50, 100];
const LOADS: [f64; 3] = [0.7, 0.9, 1.1];
const QUEUES: [Management; 2] = [Management::DropTail, Management::Codel];
/// Time from which on intervals count.
const COUNT_FROM: TimeDelta = TimeDelta::from_secs(35);
/// First seed. Resolutions 10 and 11 of [`weir_cc::coupled::sbd`] were chosen with seeds 1 to 5, so that the grid uses
/// others.
const FIRST_SEED: u64 = 101;

/// Cases of the grid of `controllers` with `seeds` seeds each.
fn cases<'l>(controllers: &'l [&'l str], seeds: u64) -> Vec<Case<'l>> {
    let mut cases = Vec::new();
    for (queue, controller, load) in cells(controllers) {
        for kind in [Kind::Shared, Kind::Separate] {
            for lag in LAGS_MS.map(TimeDelta::from_millis) {
                let seeds = FIRST_SEED..FIRST_SEED + seeds;
                cases.extend(seeds.map(|seed| Case { controller, kind, lag, load, queue, seed }));
            }
        }
    }
    cases
}

/// Rows of the table.
fn cells<'l>(controllers: &'l [&'l str]) -> impl Iterator<Item = (Management, &'l str, f64)> {
    let of_controller = move |queue| {
        controllers.iter().flat_map(move |&controller| LOADS.map(move |load| (queue, controller, load)))
    };
    QUEUES.into_iter().flat_map(of_controller)
}

/// Counts of intervals in which a pair was in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IntervalCounts {
    /// Number of intervals that count.
    pub intervals: u32,
    /// Packets of both flows that arrived in these intervals.
    pub packets: u64,
    /// Intervals in which the pair was in one group, after the stability filter.
    pub together: u32,
    /// Intervals in which the pair was in one group with the guard as well, though there is no coupling whose harm the
    /// guard could find.
    pub guarded: u32,
    /// Intervals in which the pair was in one group by the statistics of that interval alone.
    pub grouped: u32,
    /// Intervals in which neither flow passed a bottleneck.
    pub neither: u32,
}

impl IntervalCounts {
    /// Sum of both counts.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            intervals: self.intervals + other.intervals,
            packets: self.packets + other.packets,
            together: self.together + other.together,
            guarded: self.guarded + other.guarded,
            grouped: self.grouped + other.grouped,
            neither: self.neither + other.neither,
        }
    }

    /// Mean number of packets of a flow that arrive in an interval.
    pub fn packets_per_interval(&self) -> f64 {
        self.packets as f64 / 2.0 / f64::from(self.intervals.max(1))
    }

    /// Share of the intervals in one group after the filter, in [0, 1], or `None` if no interval counts.
    pub fn ratio(&self) -> Option<f64> {
        self.part(self.together)
    }

    /// Share of the intervals in one group after filter and guard, in [0, 1].
    pub fn guarded_ratio(&self) -> Option<f64> {
        self.part(self.guarded)
    }

    /// Share of the intervals in which neither flow passes a bottleneck by step 1, in [0, 1].
    pub fn neither_ratio(&self) -> Option<f64> {
        self.part(self.neither)
    }

    /// Share of the intervals in one group by their own statistics, in [0, 1].
    pub fn grouped_ratio(&self) -> Option<f64> {
        self.part(self.grouped)
    }

    fn part(&self, intervals: u32) -> Option<f64> {
        (self.intervals > 0).then(|| f64::from(intervals) / f64::from(self.intervals))
    }
}

/// Counts for the pair of a run.
fn grouping_counts(config: &Config, course: &CaseSeries<'_>) -> IntervalCounts {
    pair_counts(config, [&course.intervals[0], &course.intervals[1]])
}

/// Counts for the first flow of one run and the second of another, as a measure of chance.
fn chance_counts(config: &Config, a: &CaseSeries<'_>, b: &CaseSeries<'_>) -> IntervalCounts {
    pair_counts(config, [&a.intervals[0], &b.intervals[1]])
}

fn pair_counts(config: &Config, intervals: [&[IntervalStatistics]; 2]) -> IntervalCounts {
    let begins = COUNT_FROM.nanos().div_euclid(config.interval.nanos()) as u64;
    let interval_seconds = config.interval.secs_f64();
    // These limits are never exceeded, so that the guard has no effect.
    let unguarded =
        StabilityConfig { guard_delay: TimeDelta::from_secs(3600), guard_loss: 1.0, ..config.stability };
    let members = [FlowId(0), FlowId(1)];
    let [mut detector, mut guarded] = [unguarded, config.stability].map(|stability| {
        let mut detector =
            Detector::new(Config { stability, ..*config }).expect("the configuration is valid");
        for member in members {
            detector.join(member, None);
        }
        detector
    });
    let mut judged = IntervalCounts::default();
    let (mut rest, mut told_last) = (intervals, [None::<u64>; 2]);
    let last = intervals
        .iter()
        .filter_map(|intervals| intervals.last())
        .map(|intervals| intervals.statistics.interval)
        .max();
    for interval in 0..=last.unwrap_or(0) {
        let next = [0, 1].map(|flow: usize| {
            let next = rest[flow].first().filter(|intervals| intervals.statistics.interval == interval)?;
            rest[flow] = &rest[flow][1..];
            // Statistics can skip intervals; the sent bytes then cover several of them.
            let passed = next.statistics.interval
                - told_last[flow].replace(interval).unwrap_or(interval.saturating_sub(1));
            let seconds = interval_seconds * passed.max(1) as f64;
            for detector in [&mut detector, &mut guarded] {
                detector.on_rate(members[flow], 8.0 * next.sent as f64 / seconds);
                detector.on_statistics(members[flow], &next.statistics);
                while detector.poll().is_some() {}
            }
            Some(*next)
        });
        let [Some(a), Some(b)] = next else { continue };
        // Only intervals count in which both flows met a queue with at least half of their packets.
        if interval < begins
            || ![a, b].iter().all(|intervals| 2 * intervals.queued >= intervals.packets.max(1))
        {
            continue;
        }
        let together = |detector: &Detector| detector.group(members[0]) == detector.group(members[1]);
        judged.intervals += 1;
        judged.packets += u64::from(a.packets + b.packets);
        judged.together += u32::from(together(&detector));
        judged.guarded += u32::from(together(&guarded));
        judged.grouped += u32::from(detector.grouped_now(members[0], members[1]));
        judged.neither += u32::from(!a.statistics.bottleneck && !b.statistics.bottleneck);
    }
    judged
}

/// Row of the table: pairs of an algorithm at a load and with a queue, over all lags.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the controller or TCP algorithm.
    pub controller: String,
    /// Mean offered load.
    pub load: f64,
    /// Queue management.
    pub queue: Management,
    /// Counts for pairs that share a bottleneck.
    pub shared: IntervalCounts,
    /// Counts for pairs that do not share a bottleneck.
    pub separate: IntervalCounts,
    /// Counts for flows of different runs, as a measure of chance.
    pub chance: IntervalCounts,
}

/// Request for the grid, with its seeds.
#[derive(Clone, Copy, Debug)]
pub struct DetectionRequest<'a> {
    /// Registry of the controllers.
    pub registry: &'a Registry,
    /// Algorithms of the grid, controllers or TCP algorithms, such as [`CONTROLLERS`].
    pub controllers: &'a [&'a str],
    /// Seeds of each case, from 101 on.
    pub seeds: u64,
    /// Number of threads.
    pub jobs: usize,
    /// Configuration of the detector.
    pub config: Config,
}

impl DetectionRequest<'_> {
    /// Number of runs.
    pub fn runs(&self) -> usize {
        cases(self.controllers, self.seeds).len()
    }

    /// Runs all cases; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// An unknown algorithm, or threads that could not be started.
    pub fn run(&self, done: &(dyn Fn() + Sync)) -> Result<Vec<Row>, DetectionError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let cases = cases(self.controllers, self.seeds);
        let courses: Result<Vec<CaseSeries<'_>>, RegistryError> = pool.install(|| {
            let series_of = |case| {
                let course = run(self.registry, &self.config, case);
                done();
                course
            };
            cases.par_iter().map(series_of).collect()
        });
        Ok(self.rows(&courses?))
    }

    /// Rows of the table from `courses`.
    fn rows(&self, courses: &[CaseSeries<'_>]) -> Vec<Row> {
        let config = &self.config;
        let row = |(queue, controller, load): (Management, &str, f64)| {
            let of_row = |case: &Case<'_>| {
                case.queue == queue && case.controller == controller && case.load.total_cmp(&load).is_eq()
            };
            let sum = |kind: Kind| {
                let of = |course: &&CaseSeries<'_>| course.case.kind == kind && of_row(&course.case);
                let judged = courses.iter().filter(of).map(|course| grouping_counts(config, course));
                judged.fold(IntervalCounts::default(), IntervalCounts::with)
            };
            let (shared, separate) = (sum(Kind::Shared), sum(Kind::Separate));
            let chance = shuffled(config, courses, &of_row);
            Row { controller: controller.to_owned(), load, queue, shared, separate, chance }
        };
        cells(self.controllers).map(row).collect()
    }
}

/// Reason why the grid does not run.
#[derive(Debug, thiserror::Error)]
pub enum DetectionError {
    /// An unknown controller or TCP algorithm.
    #[error(transparent)]
    Controller(#[from] RegistryError),
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Counts for the first flow of each case that shares a bottleneck, with the second flow of the next case.
fn shuffled(config: &Config, courses: &[CaseSeries<'_>], of: &dyn Fn(&Case<'_>) -> bool) -> IntervalCounts {
    let shared: Vec<&CaseSeries<'_>> =
        courses.iter().filter(|course| course.case.kind == Kind::Shared && of(&course.case)).collect();
    let others = shared.iter().cycle().skip(1);
    let pairs = shared.iter().zip(others).filter(|(a, b)| a.case != b.case && a.case.seed != b.case.seed);
    pairs.map(|(a, b)| chance_counts(config, a, b)).fold(IntervalCounts::default(), IntervalCounts::with)
}

#[cfg(test)]
mod tests {
    use weir_cc::coupled::Statistics;

    use super::*;

    /// Statistics of a flow over `intervals` at the bottleneck of this number; every packet meets a queue.
    fn intervals(intervals: core::ops::Range<u64>, bottleneck: u32) -> Vec<IntervalStatistics> {
        let one = |interval| IntervalStatistics {
            statistics: Statistics {
                interval,
                skew: 0.0,
                variability: 0.01 * f64::from(1 + bottleneck),
                frequency: 0.2,
                loss: 0.0,
                packets: 0,
                bottleneck: true,
                queuing: 0.02,
                samples: 7,
            },
            packets: 10,
            queued: 10,
            sent: 10_000,
        };
        intervals.map(one).collect()
    }

    #[test]
    fn pairs_are_asked_for_from_35_s_on_where_both_found_others_in_the_queue() {
        let (a, mut b) = (intervals(0..200, 0), intervals(0..200, 0));
        for intervals in &mut b[150..160] {
            intervals.queued = 4;
        }
        b.drain(160..170);
        let judged = pair_counts(&Config::DEFAULT, [&a, &b]);
        assert_eq!((judged.intervals, judged.packets), (80, 1600));
        assert_eq!((judged.together, judged.guarded, judged.grouped, judged.neither), (80, 80, 80, 0));
        assert_eq!(judged.packets_per_interval(), 10.0);
    }

    #[test]
    fn flows_of_two_bottlenecks_and_nothing_to_judge() {
        let judged = pair_counts(&Config::DEFAULT, [&intervals(0..200, 0), &intervals(0..200, 3)]);
        assert_eq!((judged.intervals, judged.together, judged.grouped), (100, 0, 0));
        assert_eq!(judged.ratio(), Some(0.0));
        assert_eq!(pair_counts(&Config::DEFAULT, [&intervals(0..100, 0), &[]]).ratio(), None);
    }
}
