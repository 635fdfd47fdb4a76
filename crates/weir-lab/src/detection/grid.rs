//! The grid, and how often pairs are found together.

use std::fmt::Write as _;

use weir_cc::coupled::sbd::{Config, Detector};
use weir_cc::coupled::{Member, Statistics};
use weir_units::TimeDelta;

use super::course::{Case, Course, Kind};

/// Laws of the grid.
pub type Law = &'static str;
const LAWS: [Law; 3] = ["gcc", "nada", "cubic"];
const LAGS_MS: [i64; 3] = [0, 50, 100];
const LOADS: [f64; 3] = [0.7, 0.9, 1.1];
/// Intervals of 350 ms before 35 s.
const BEGINS: u64 = 100;

/// Every case of the grid with `seeds` seeds each.
pub fn cases(seeds: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for law in LAWS {
        for kind in [Kind::Shared, Kind::Separate] {
            for lag in LAGS_MS.map(TimeDelta::from_millis) {
                for load in LOADS {
                    cases.extend((1..=seeds).map(|seed| Case { law, kind, lag, load, seed }));
                }
            }
        }
    }
    cases
}

/// How often a pair was together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Intervals that count.
    pub intervals: u32,
    /// In how many of them the pair was in one group, behind the stability filter.
    pub together: u32,
    /// In how many of them it was by that interval's statistics alone.
    pub grouped: u32,
    /// What said otherwise in the rest, by the first test that did.
    pub apart: [u32; APART.len()],
}

/// What tells two flows apart: neither passes a bottleneck, one does not, or they differ in a statistic.
pub const APART: [&str; 6] = ["neither", "one", "freq", "var", "skew", "loss"];

impl Judged {
    fn add(self, other: Self) -> Self {
        Self {
            intervals: self.intervals + other.intervals,
            together: self.together + other.together,
            grouped: self.grouped + other.grouped,
            apart: core::array::from_fn(|test| self.apart[test] + other.apart[test]),
        }
    }

    /// Part of the intervals behind the filter, in [0, 1].
    pub fn ratio(&self) -> f64 {
        f64::from(self.together) / f64::from(self.intervals.max(1))
    }

    /// The same by the statistics of single intervals.
    pub fn grouped_ratio(&self) -> f64 {
        f64::from(self.grouped) / f64::from(self.intervals.max(1))
    }
}

/// How often the pair of a course was together.
pub fn judge(course: &Course) -> Judged {
    judge_pair([&course.told[0], &course.told[1]])
}

/// The same for the first flow of one course and the second of another: what chance finds.
pub fn chance(a: &Course, b: &Course) -> Judged {
    judge_pair([&a.told[0], &b.told[1]])
}

fn judge_pair(told: [&[(Statistics, f64)]; 2]) -> Judged {
    let mut detector = Detector::new(Config::default()).expect("the defaults are valid");
    let members = [Member(0), Member(1)];
    for member in members {
        detector.join(member, None);
    }
    let mut judged = Judged::default();
    let (mut at, mut queued) = ([0; 2], [0.0; 2]);
    let mut newest: [Option<Statistics>; 2] = [None; 2];
    let last = told.iter().filter_map(|told| told.last()).map(|(told, _)| told.interval).max().unwrap_or(0);
    for interval in 0..=last {
        let mut heard = 0;
        for flow in 0..2 {
            let next = told[flow].get(at[flow]).filter(|(told, _)| told.interval == interval);
            if let Some((statistics, part)) = next {
                at[flow] += 1;
                queued[flow] = *part;
                newest[flow] = Some(*statistics);
                heard += 1;
                detector.on_statistics(members[flow], statistics);
            }
        }
        while detector.poll().is_some() {}
        if interval >= BEGINS && heard == 2 && queued.iter().all(|&part| part >= 0.5) {
            judged.intervals += 1;
            let together = detector.group(members[0]) == detector.group(members[1]);
            judged.together += u32::from(together);
            match told_apart(&newest) {
                Some(test) => judged.apart[test] += 1,
                None => judged.grouped += 1,
            }
        }
    }
    judged
}

/// The first test that tells two flows apart.
fn told_apart(newest: &[Option<Statistics>; 2]) -> Option<usize> {
    let [Some(a), Some(b)] = newest else { return Some(0) };
    let config = Config::default();
    let differ = |a: f64, b: f64, most: f64| (a - b).abs() >= most;
    let in_part = |a: f64, b: f64, most: f64| differ(a, b, most * a.max(b));
    let tests = [
        !a.bottleneck && !b.bottleneck,
        a.bottleneck != b.bottleneck,
        differ(a.frequency, b.frequency, config.frequency_difference),
        in_part(a.variability, b.variability, config.variability_difference),
        differ(a.skew, b.skew, config.skew_difference),
        a.loss.max(b.loss) > config.loss_threshold && in_part(a.loss, b.loss, config.loss_difference),
    ];
    tests.iter().position(|&apart| apart)
}

/// What came out of `courses`: by law and load the pairs that share a bottleneck, those that do not, and chance.
pub fn table(courses: &[Course]) -> String {
    let mut text = String::from(
        "law    load  shared: together (by interval)  n    separate               n    chance\n",
    );
    let mut line = |law: &str, load: &str, of: &dyn Fn(&Case) -> bool| {
        let sum = |kind: Kind| {
            let of = courses.iter().filter(|course| course.case.kind == kind && of(&course.case));
            of.map(judge).fold(Judged::default(), Judged::add)
        };
        let (shared, separate) = (sum(Kind::Shared), sum(Kind::Separate));
        let shuffled = shuffled(courses, of);
        let percent = |ratio: f64| 100.0 * ratio;
        let _ = writeln!(
            text,
            "{law:6} {load:4}  {:5.1} % ({:5.1} %)  {:6}    {:5.1} % ({:5.1} %)  {:6}    {:5.1} % ({:5.1} %)",
            percent(shared.ratio()),
            percent(shared.grouped_ratio()),
            shared.intervals,
            percent(separate.ratio()),
            percent(separate.grouped_ratio()),
            separate.intervals,
            percent(shuffled.ratio()),
            percent(shuffled.grouped_ratio()),
        );
    };
    for law in LAWS {
        for load in LOADS {
            line(law, &load.to_string(), &|case| case.law == law && case.load == load);
        }
    }
    for lag in LAGS_MS {
        line("all", &format!("{lag} ms"), &|case| case.lag == TimeDelta::from_millis(lag));
    }
    line("all", "all", &|_| true);
    for law in LAWS {
        let of = courses.iter().filter(|course| course.case.kind == Kind::Shared && course.case.law == law);
        let sum = of.map(judge).fold(Judged::default(), Judged::add);
        let _ = write!(text, "{law:6} shared, told apart by");
        for (test, count) in APART.iter().zip(sum.apart) {
            let _ =
                write!(text, " {test} {:.1} %", 100.0 * f64::from(count) / f64::from(sum.intervals.max(1)));
        }
        text.push('\n');
    }
    text
}

/// Of the cases that share a bottleneck each first flow with the second of the next case.
fn shuffled(courses: &[Course], of: &dyn Fn(&Case) -> bool) -> Judged {
    let shared: Vec<&Course> =
        courses.iter().filter(|course| course.case.kind == Kind::Shared && of(&course.case)).collect();
    let others = shared.iter().cycle().skip(1);
    let pairs = shared.iter().zip(others).filter(|(a, b)| a.case != b.case && a.case.seed != b.case.seed);
    pairs.map(|(a, b)| chance(a, b)).fold(Judged::default(), Judged::add)
}
