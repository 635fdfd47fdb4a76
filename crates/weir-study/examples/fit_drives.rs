//! Fits the constants of generated drives to the statistics of the recordings that they imitate. No controller runs.
//!
//! `tools/fit-drives.sh` calls it in the repository. For each model it prints the statistics of the recording and of the present
//! drives. Then follow the fitted constants, and the statistics of drives with these.

use std::ops::RangeInclusive;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use weir_import::traces::synthetic::{Constants, DriveModel, MODELS};
use weir_import::traces::{TraceStatistics, TraceStore};

/// The drives that a scenario has by default …
const DEFAULT: RangeInclusive<u64> = 1..=10;
/// … and others: constants are judged by both.
const OTHERS: RangeInclusive<u64> = 1001..=1030;
/// Number of trials, in which the constants are moved, …
const TRIALS: usize = 1500;
/// … by a factor of this power of e at first, and of this in the end.
const WIDEST: f64 = 0.35;
const NARROWEST: f64 = 0.02;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = TraceStore::find(&[]);
    for model in &MODELS {
        let wanted = TraceStatistics::of(&*store.load(model.like)?);
        let present = mean(&drives(model.name, &model.constants, DEFAULT));
        let fitted = fit(model, &wanted);
        let [own, others] = [DEFAULT, OTHERS].map(|which| mean(&drives(model.name, &fitted, which)));
        println!("{} like {}\n{fitted:#?}\n", model.name, model.like);
        println!("{:<28} {:>9} {:>9} {:>9} {:>9}", "", "recording", "as it is", "fitted", "others");
        let means = present.into_iter().zip(own).zip(others);
        for ((name, wanted), ((present, own), others)) in wanted.named().into_iter().zip(means) {
            println!("{name:<28} {wanted:>9.3} {present:>9.3} {own:>9.3} {others:>9.3}");
        }
        println!();
    }
    Ok(())
}

fn drives(name: &str, constants: &Constants, which: RangeInclusive<u64>) -> Vec<TraceStatistics> {
    which.map(|number| TraceStatistics::of(&constants.drive(name, number))).collect()
}

/// The mean of each statistic.
fn mean(of: &[TraceStatistics]) -> Vec<f64> {
    let values = |at: usize| {
        of.iter().map(|own| own.named()[at].1).filter(|value| value.is_finite()).collect::<Vec<f64>>()
    };
    let count = of.first().map_or(0, |own| own.named().len());
    (0..count).map(|at| values(at).iter().sum::<f64>() / values(at).len() as f64).collect()
}

/// Distance of the statistics of drives with these constants from the wanted ones. Errors over their tolerances are summed as
/// fourth powers, so that the greatest counts most.
fn distance(name: &str, constants: &Constants, wanted: &TraceStatistics) -> f64 {
    let distance_over = |which| {
        let means = mean(&drives(name, constants, which));
        let error = |((name, wanted), found): ((&str, f64), f64)| {
            let close =
                name.starts_with("mean") || name.starts_with("deviation (") || name.ends_with("0.1 s");
            let error = (found - wanted) / wanted / if close { 0.15 } else { 0.3 };
            error * error * error * error
        };
        wanted.named().into_iter().zip(means).map(error).sum::<f64>()
    };
    distance_over(DEFAULT) + distance_over(OTHERS)
}

/// Random search: all constants are moved at once, and a nearer result is kept. The steps are up to a third at first, and a few
/// per cent in the end.
fn fit(model: &DriveModel, wanted: &TraceStatistics) -> Constants {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let (mut best, mut least) = (model.constants, distance(model.name, &model.constants, wanted));
    for trial in 0..TRIALS {
        let width = WIDEST * libm::pow(NARROWEST / WIDEST, trial as f64 / TRIALS as f64);
        let other = moved(&best, || {
            let unit = |bits: u64| bits as f64 / u64::MAX as f64;
            // Some constants stay, so that a few can move alone.
            let moves = unit(random.next_u64()) < 0.4;
            let by = 2.0 * unit(random.next_u64()) - 1.0;
            if moves { libm::exp(width * by) } else { 1.0 }
        });
        let apart = distance(model.name, &other, wanted);
        if apart < least {
            (best, least) = (other, apart);
        }
    }
    eprintln!("left over: {least:.4}");
    best
}

/// The constants, each multiplied by a factor, within its range.
fn moved(constants: &Constants, mut factor: impl FnMut() -> f64) -> Constants {
    let mut factor = |value: f64| value * factor();
    Constants {
        median_mbps: factor(constants.median_mbps),
        // The recording's maximum is kept.
        highest_mbps: constants.highest_mbps,
        spread: factor(constants.spread),
        slow_part: factor(constants.slow_part).min(0.98),
        // A slower process makes drives of two minutes too different from each other.
        slow_seconds: factor(constants.slow_seconds).min(20.0),
        fast_seconds: factor(constants.fast_seconds),
        fades_per_second: factor(constants.fades_per_second),
        fade_seconds: factor(constants.fade_seconds),
        fade_depth: factor(constants.fade_depth).min(0.5),
        outages_per_second: factor(constants.outages_per_second),
        outage_seconds: factor(constants.outage_seconds),
        grant_packets: factor(constants.grant_packets).max(1.0),
    }
}
