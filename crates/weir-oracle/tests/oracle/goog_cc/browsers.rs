//! Calls that compare `gcc` with the controller of browsers, goog_cc, in the same loop.

use std::rc::Rc;

use weir_cc::{DataRate, DataSize, RateLimits, SendTime, TimeDelta};
use weir_import::traces::TraceStore;

use super::closed_loop::{Loop, Observed, Path};
use super::link::Cell;
use super::scenarios::{Build, Scenario, gcc_2025, goog_cc_2025, scenarios};
use crate::long;

/// Propagation delay in each direction.
const PROPAGATION: TimeDelta = TimeDelta::from_millis(25);
const RUNS: u64 = 10;
/// Frames up to this late are useful.
const IN_TIME: TimeDelta = TimeDelta::from_millis(150);

/// The call of the demo: a recorded LTE uplink, with a different starting point for each run.
fn lte(run: u64) -> (Path, RateLimits) {
    let trace = TraceStore::find(&[]).open("att-lte-driving-2016.up").expect("the recording is there");
    let opportunities: Rc<[TimeDelta]> =
        trace.opportunities().map(|at| TimeDelta::from_nanos(at.nanos() as i64)).collect();
    let period = trace.duration();
    let offset = period / RUNS as i64 * run as i64;
    let cell = Cell { opportunities, period, offset, queue: DataSize::from_bytes(240_000) };
    let path = Path { cell: Some(cell), ..fixed(2500, TimeDelta::from_secs(120)) };
    (path, limits(2500))
}

fn limits(most: u64) -> RateLimits {
    let kbps = DataRate::from_kbps;
    RateLimits::new(kbps(150), kbps(300), kbps(most)).expect("in order")
}

/// A rate of `kbps` behind a queue of two seconds.
fn fixed(kbps: u64, duration: TimeDelta) -> Path {
    Path {
        capacity: vec![(SendTime::ZERO, DataRate::from_kbps(kbps))],
        queue: TimeDelta::from_secs(2),
        cell: None,
        propagation: PROPAGATION,
        loss: 0.0,
        jitter: TimeDelta::ZERO,
        leaves_out: true,
        frame_rate: 30,
        duration,
    }
}

fn call(build: Build, (path, limits): &(Path, RateLimits), seed: u64) -> Observed {
    let (mut sender, receiver) = build(*limits);
    Loop::new(&mut *sender, receiver, path, seed).run()
}

fn quantile(mut values: Vec<TimeDelta>, q: f64) -> f64 {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * q) as usize].millis_f64()
}

/// Bytes in time per second, in kbit/s, and the 95th percentile of the frames' delays in ms.
fn seen_by_the_viewer(observed: &Observed, duration: TimeDelta) -> (f64, f64) {
    let whole = || observed.frames.iter().filter_map(|frame| Some((frame.bytes, frame.delay?)));
    let useful: u64 = whole().filter(|&(_, delay)| delay <= IN_TIME).map(|(bytes, _)| bytes).sum();
    let kbps = useful as f64 * 8.0 / duration.secs_f64() / 1e3;
    (kbps, quantile(whole().map(|(_, delay)| delay).collect(), 0.95))
}

/// Useful rate and delay on the LTE uplink, means over the runs.
fn on_lte(build: Build) -> (f64, f64) {
    let runs = (0..RUNS).map(|run| {
        let scenario = lte(run);
        let observed = call(build, &scenario, run + 1);
        let dropped = observed.frames.iter().filter(|frame| frame.bytes == 0).count();
        let (useful, delay) = seen_by_the_viewer(&observed, scenario.0.duration);
        println!("| {run} | {useful:.0} | {delay:.0} | {dropped} |");
        (useful, delay)
    });
    let (useful, delay) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    (useful / RUNS as f64, delay / RUNS as f64)
}

#[test]
fn on_the_lte_uplink_gcc_shows_the_viewer_what_goog_cc_does() {
    let (theirs, ours) = (on_lte(goog_cc_2025), on_lte(gcc_2025));
    println!("useful kbit/s and p95 of the frame delay in ms: goog_cc {theirs:.1?}, gcc {ours:.1?}");
    let near = |ours: f64, theirs: f64| (0.9..=1.1).contains(&(ours / theirs));
    assert!(near(ours.0, theirs.0), "useful: {} of {}", ours.0, theirs.0);
    assert!(near(ours.1, theirs.1), "delay: {} of {}", ours.1, theirs.1);
}

#[test]
fn no_queue_stands_on_a_fast_link_with_a_long_queue() {
    let scenario = (fixed(10_000, TimeDelta::from_secs(180)), limits(20_000));
    for seed in 1..=if long() { RUNS } else { 3 } {
        let [theirs, ours] =
            [goog_cc_2025 as Build, gcc_2025].map(|build| quantile(call(build, &scenario, seed).waits, 0.95));
        println!("| {seed} | {theirs:.0} | {ours:.0} |");
        assert!(ours <= 200.0, "{ours} ms with seed {seed}");
    }
}

/// Number of games, whose frames are large.
fn games() -> u64 {
    if long() { 4 } else { 2 }
}

/// Useful rate and lost share of the packets in a game of 30 s, means over the games.
fn in_a_game(build: Build, scenario: &(Path, RateLimits)) -> (f64, f64) {
    let runs = (1..=games()).map(|seed| {
        let observed = call(build, scenario, seed);
        let (useful, _) = seen_by_the_viewer(&observed, scenario.0.duration);
        (useful, observed.lost as f64 / observed.sent as f64)
    });
    let (useful, lost) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    (useful / games() as f64, 100.0 * lost / games() as f64)
}

#[test]
fn a_game_behind_a_short_queue_loses_of_bursts_what_it_does_under_goog_cc() {
    let kbps = DataRate::from_kbps;
    for (frame_rate, capacity) in [(60, 40_000), (120, 50_000)] {
        let (queue, propagation) = (TimeDelta::from_millis(50), TimeDelta::from_millis(10));
        let path = Path { queue, propagation, frame_rate, ..fixed(capacity, TimeDelta::from_secs(30)) };
        let limits = RateLimits::new(kbps(2000), kbps(10_000), kbps(capacity + 10_000)).expect("in order");
        let [theirs, ours] =
            [goog_cc_2025 as Build, gcc_2025].map(|build| in_a_game(build, &(path.clone(), limits)));
        println!("{frame_rate} frames/s: useful kbit/s and lost %: goog_cc {theirs:.1?}, gcc {ours:.1?}");
        assert!((0.9..=1.1).contains(&(ours.0 / theirs.0)), "{ours:?} for {theirs:?}");
        assert!((ours.1 - theirs.1).abs() < 0.5, "{ours:?} for {theirs:?}");
    }
}

/// Share of the time after 5 s with a wait above 50 ms, in %, for a call that began at four times the capacity.
fn long_waits(build: Build, scenario: &(Path, RateLimits)) -> f64 {
    let share = |seed| {
        let waits = call(build, scenario, seed).waits;
        let after = &waits[500..];
        after.iter().filter(|wait| wait.millis_f64() >= 50.0).count() as f64 / after.len() as f64
    };
    100.0 * (1..=RUNS).map(share).sum::<f64>() / RUNS as f64
}

#[test]
fn after_a_start_at_four_times_the_capacity_bursts_wait_as_long_as_under_goog_cc() {
    let Scenario { path, limits, .. } = scenarios().pop().expect("there are five");
    let scenario = (Path { leaves_out: true, ..path }, limits);
    let [theirs, ours] = [goog_cc_2025 as Build, gcc_2025].map(|build| long_waits(build, &scenario));
    println!("above 50 ms: goog_cc {theirs:.1} %, gcc {ours:.1} % of the time after 5 s");
    assert!((ours - theirs).abs() < 2.5, "{ours} for {theirs}");
}
