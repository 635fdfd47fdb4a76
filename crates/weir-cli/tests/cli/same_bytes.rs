//! Same seed, same bytes: whatever the number of threads, in any process, from the scenario as it was run.

use std::fs;

use crate::support::{Outcome, Place};

/// A recorded trace with random offsets, for as much randomness as possible.
const ARGUMENTS: &str = "run cellular/att-lte-uplink-2016 --controller gcc-2016,nada --runs 3 --seed 7 --duration 10s \
                         --set links.uplink.delay=40ms --set links.uplink.loss=0.01 --out out";

#[test]
fn threads_and_processes_do_not_change_a_byte() {
    let run = |jobs: &str| {
        let place = Place::new();
        let outcome = place.weir(&format!("{ARGUMENTS}{jobs}"));
        (outcome.stdout, outcome.stderr, place.tree("out"))
    };
    let one = run(" --jobs 1");
    assert!(one == run(" --jobs 2"), "one thread and two differ");
    assert!(one == run(" --jobs 2"), "two processes differ");
    assert!(one == run(""), "as many threads as cores differ");
    let names: Vec<_> = one.2.keys().map(|name| name.display().to_string()).collect();
    let expected = [
        "decisions-gcc-2016.csv",
        "decisions-nada.csv",
        "queuing-delay-gcc-2016.csv",
        "queuing-delay-nada.csv",
        "report.html",
        "results.json",
        "scenario.toml",
        "series-gcc-2016.csv",
        "series-nada.csv",
        "table.json",
    ];
    assert_eq!(names, expected);
    assert!(one.2.values().all(|content| content.as_ref().is_some_and(|bytes| !bytes.is_empty())));
}

#[test]
fn another_seed_is_another_result() {
    let place = Place::new();
    place.weir(ARGUMENTS);
    place.weir(&ARGUMENTS.replace("--seed 7", "--seed 8").replace("--out out", "--out other"));
    assert_ne!(place.read("out/results.json"), place.read("other/results.json"));
}

#[test]
fn the_scenario_as_it_was_run_gives_the_same_bytes_again() {
    let place = Place::new();
    let first = place.weir(ARGUMENTS);
    let again = place.weir("run out/scenario.toml --out again");
    assert!(place.tree("out") == place.tree("again"), "a file differs");
    assert_eq!(first.stdout.replace("out/", "again/"), again.stdout);
    let scenario = place.read("out/scenario.toml");
    for part in
        ["name = \"cellular/att-lte-uplink-2016\"", "seed = 7", "runs = 3", "duration = \"10s\"", "40ms"]
    {
        assert!(scenario.contains(part), "{part} is not in\n{scenario}");
    }
}

#[test]
fn a_scenario_file_of_ones_own_is_run_like_those_that_ship() {
    let place = Place::new();
    let shipped = place.weir(ARGUMENTS);
    fs::copy(place.path().join("out/scenario.toml"), place.path().join("mine.toml")).unwrap();
    let quiet = place.weir("run mine.toml --quiet");
    assert!(place.tree("out") == place.tree("weir-out/cellular-att-lte-uplink-2016"), "a file differs");
    assert_eq!(shipped.last_line(), quiet.last_line());
}

#[test]
fn results_on_standard_output_are_those_of_the_file() {
    let place = Place::new();
    let json = place.weir(&format!("{ARGUMENTS} --json"));
    assert_eq!(json.stdout, place.read("out/results.json"));
    let alone = place.weir(&format!("{} --json", ARGUMENTS.replace(" --out out", "")));
    assert_eq!(json.stdout, alone.stdout);
}

#[test]
fn without_out_json_writes_no_file() {
    let place = Place::new();
    let outcome = place.weir("run bench/cbr --duration 1s --json");
    assert!(outcome.stdout.starts_with('{'));
    assert!(place.tree("").is_empty());
}

#[test]
fn results_take_the_place_of_earlier_ones() {
    let place = Place::new();
    place.weir("run bench/cbr --duration 1s --out out");
    let once = place.tree("out");
    place.weir("run bench/cbr --duration 2s --out out");
    assert!(once.keys().eq(place.tree("out").keys()), "nothing is left beside the files");
    place.weir("run bench/cbr --duration 1s --out out");
    assert!(once == place.tree("out"));
}

#[test]
fn a_file_that_cannot_be_written_in_the_end_leaves_all_as_it_was() {
    let place = Place::new();
    place.write("out/results.json", "old");
    // A directory is in the place of the report.
    place.write("out/report.html/file", "kept");
    let outcome: Outcome = place.call(&["run", "bench/cbr", "--duration", "1s", "--out", "out"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert!(
        outcome.stderr.starts_with("error: out/report.html: cannot be written: is a directory"),
        "{}",
        outcome.stderr
    );
    let left: Vec<_> = place.tree("out").into_keys().map(|name| name.display().to_string()).collect();
    assert_eq!(left, ["report.html", "report.html/file", "results.json"]);
    assert_eq!(place.read("out/results.json"), "old");
}
