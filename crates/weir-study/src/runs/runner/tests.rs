//! The runner of tasks on several threads (`runs::runner`).

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::*;
use crate::runs::store::Store;
use crate::runs::{Capture, CaptureFile, NoStore, ResultLog, Watched, kept_or_made};
use weir_measure::results::RunMetrics;
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;

const QUIET: &(dyn Fn() + Sync) = &|| {};

fn runner(jobs: usize) -> Runner<'static> {
    Runner { jobs, done: QUIET }
}

fn failure(index: usize) -> RunError {
    RunError::NoLink { link: index.to_string(), known: String::new() }
}

/// The results of all keys, stored or made.
fn each<T: Send>(
    runner: Runner<'_>,
    store: &impl Store<T>,
    make: impl Fn(usize) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    runner.each(KEYS.len(), |index| kept_or_made(Some(KEYS[index].to_owned()), store, || make(index)))
}

/// Ten keys, `0` to `9`.
const KEYS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

#[test]
fn results_have_the_order_of_the_tasks_whatever_the_threads() {
    // The later ones are done sooner.
    let make = |index: usize| {
        std::thread::sleep(std::time::Duration::from_millis(2 * (KEYS.len() - index) as u64));
        Ok(index * index)
    };
    let expected: Vec<usize> = (0..KEYS.len()).map(|index| index * index).collect();
    for jobs in [1, 4] {
        assert_eq!(each(runner(jobs), &NoStore, make).unwrap(), expected);
    }
}

#[test]
fn the_error_is_that_of_the_first_failed_task_whatever_the_threads() {
    let make = |index: usize| if index % 4 == 3 { Err(failure(index)) } else { Ok(index) };
    for jobs in [1, 2, 4] {
        let error = each(runner(jobs), &NoStore, make).unwrap_err();
        assert!(matches!(&error, RunError::NoLink { link, .. } if link == "3"), "{error}");
    }
}

#[test]
fn an_interrupted_grid_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.log");
    let open = || ResultLog::open(&path, &[]).unwrap();
    let broken = |index: usize| if index == 6 { Err(failure(index)) } else { Ok(index as f64 / 3.0) };
    each(runner(2), &open(), broken).unwrap_err();
    // The process was killed while it wrote the last result.
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &written[..written.len() - 3]).unwrap();
    let kept: BTreeSet<usize> =
        (0..KEYS.len()).filter(|&i| Store::<f64>::get(&open(), KEYS[i]).is_some()).collect();
    assert!(kept.len() >= 5 && !kept.contains(&6), "{kept:?}");

    let made = Mutex::new(BTreeSet::new());
    let make = |index: usize| {
        made.lock().unwrap().insert(index);
        Ok(index as f64 / 3.0)
    };
    let log = open();
    let whole = each(runner(2), &log, make).unwrap();
    log.in_order().unwrap();
    assert_eq!(made.into_inner().unwrap(), (0..KEYS.len()).filter(|index| !kept.contains(index)).collect());
    assert_eq!(whole, each(runner(1), &NoStore, |index| Ok(index as f64 / 3.0)).unwrap());

    // An uninterrupted log ends in the same bytes.
    let other = directory.path().join("other.log");
    let log = ResultLog::open(&other, &[]).unwrap();
    each(runner(1), &log, |index| Ok(index as f64 / 3.0)).unwrap();
    log.in_order().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&other).unwrap());
}

#[test]
fn every_task_is_announced_once_also_where_it_was_kept() {
    let announced = AtomicUsize::new(0);
    let done = || {
        announced.fetch_add(1, Ordering::Relaxed);
    };
    let directory = tempfile::tempdir().unwrap();
    let store = ResultLog::open(&directory.path().join("runs.log"), &[]).unwrap();
    store.put("4", &4).unwrap();
    each(Runner { jobs: 2, done: &done }, &store, Ok).unwrap();
    assert_eq!(announced.into_inner(), KEYS.len());
}

#[test]
fn runs_are_the_same_by_one_thread_by_four_and_out_of_a_store() {
    let scenario = Scenario::open("gcc-2016/variable-capacity", &["duration=2s".to_owned()]).unwrap();
    let options = |seed| RunOptions { seed, ..RunOptions::default() };
    let tasks: Vec<Task<'_>> =
        (1..=6).map(|seed| Task::new(format!("{seed}"), &scenario, options(seed))).collect();
    let traces = TraceStore::at(None);
    let directory = tempfile::tempdir().unwrap();
    let log = ResultLog::open(&directory.path().join("runs.log"), &[]).unwrap();
    let run = |jobs, store: &dyn Fn(usize) -> Result<Vec<RunMetrics>, RunError>| store(jobs).unwrap();
    let forget = |jobs| runner(jobs).run(&tasks, &traces, &NoStore, |_, ran| ran.measured.metrics);
    let kept = |jobs| runner(jobs).run(&tasks, &traces, &log, |_, ran| ran.measured.metrics);
    let one = run(1, &forget);
    assert_eq!(run(4, &forget), one);
    assert_eq!(run(4, &kept), one);
    let never = |_, _: Ran| -> RunMetrics { unreachable!("all of them were kept") };
    assert_eq!(runner(1).run(&tasks, &traces, &log, never).unwrap(), one);
}

#[test]
fn a_kept_result_is_of_no_use_to_another_run_of_the_same_name() {
    let scenario = |duration: &str| {
        Scenario::open("gcc-2016/variable-capacity", &[format!("duration={duration}")]).unwrap()
    };
    let (short, long) = (scenario("1s"), scenario("2s"));
    let task =
        |scenario| Task::new("call".to_owned(), scenario, RunOptions { seed: 1, ..RunOptions::default() });
    let traces = TraceStore::at(None);
    let directory = tempfile::tempdir().unwrap();
    let store = ResultLog::open(&directory.path().join("runs.log"), &[]).unwrap();
    let sent = |task: Task<'_>| {
        let fold = |_, ran: Ran| ran.measured.metrics.flows[0].sent.packets;
        runner(1).run(&[task], &traces, &store, fold).unwrap()
    };
    let (first, second) = (sent(task(&short)), sent(task(&long)));
    assert_ne!(first, second);
    assert_eq!(sent(task(&short)), first);
    let key = |task: Task<'_>| task.key(&task.planned(&traces).unwrap()).unwrap();
    let options = |seed, series| RunOptions { seed, series, ..RunOptions::default() };
    let changed = [
        task(&long),
        Task { name: "other".to_owned(), ..task(&short) },
        Task { folding: "first".to_owned(), ..task(&short) },
        Task { options: options(2, false), ..task(&short) },
        Task { options: options(1, true), ..task(&short) },
        Task {
            watched: Some(Watched { plan: |plan, from| plan.window.0 = from, from: Time::MAX }),
            ..task(&short)
        },
    ];
    let mut keys: BTreeSet<String> = changed.into_iter().map(key).collect();
    assert!(keys.insert(key(task(&short))));
    assert_eq!(keys.len(), 7);
    assert_eq!(key(task(&short)), key(task(&short.clone())));
}

#[test]
fn a_run_that_captures_packets_is_always_made() {
    let scenario = Scenario::open("gcc-2016/variable-capacity", &["duration=1s".to_owned()]).unwrap();
    let file = CaptureFile { file: tempfile::tempfile().unwrap(), path: "packets.pcapng".into() };
    let capture = Some(Capture { links: &[], file: &file });
    let task = Task { capture, ..Task::new("call".to_owned(), &scenario, RunOptions::default()) };
    assert_eq!(task.key(&task.planned(&TraceStore::at(None)).unwrap()), None);
}
