//! The demo: the run without a scenario.

use serde_json::Value;
use weir_scenario::registry::{Registry, with_references};

use crate::support::{Outcome, Place};

const SHORT: &str = "run --duration 10s --runs 3";

/// The lines of the table: from the rule on, to the first empty line.
fn rows(stdout: &str) -> Vec<Vec<&str>> {
    let lines = stdout.lines().skip_while(|line| !line.starts_with('─')).skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn it_ends_with_the_table_the_report_and_the_sentence() {
    let place = Place::new();
    let outcome = place.weir(SHORT);
    let names: Vec<&str> = rows(&outcome.stdout).iter().filter_map(|row| row.first().copied()).collect();
    let listed = place.weir("list controllers");
    let mut expected = crate::listings::names(&listed);
    expected.extend(weir_scenario::registry::references().map(|reference| &*reference.name));
    assert_eq!(names, expected, "{}", outcome.stdout);
    let last: Vec<&str> = outcome.stdout.lines().rev().take(2).collect();
    assert_eq!(last[1], "Report: weir-out/demo/report.html");
    assert!(
        place.read("weir-out/demo/report.html").starts_with("<!"),
        "the report is where it is said to be"
    );
    assert!(
        last[0].starts_with("These runs cannot tell which controller leads"),
        "three are too few: {}",
        last[0]
    );
    assert!(last[0].contains("over 3 drives") && last[0].ends_with('.'), "{}", last[0]);
}

/// The headers, each read downwards, by the columns in which `row` has its numbers.
fn headers(stdout: &str) -> Vec<String> {
    let header: Vec<Vec<char>> = stdout
        .lines()
        .skip_while(|line| !line.is_empty())
        .take_while(|line| !line.starts_with('─'))
        .map(|line| line.chars().collect())
        .collect();
    let width = header.iter().map(Vec::len).max().unwrap_or(0);
    let at = |line: &Vec<char>, column: usize| line.get(column).copied().unwrap_or(' ');
    let blank = |column: usize| header.iter().all(|line| at(line, column) == ' ');
    // Columns are three spaces apart, words of a header one.
    let starts = (0..width).filter(|&c| !blank(c) && (c == 0 || (c >= 2 && blank(c - 1) && blank(c - 2))));
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().skip(1).copied().chain([width]);
    let words = |(&start, end): (&usize, usize)| {
        let lines = header.iter().map(|line| (start..end).map(|c| at(line, c)).collect::<String>());
        lines.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    starts.iter().zip(ends).map(words).collect()
}

#[test]
fn its_columns_stand_in_their_order() {
    let outcome = Place::new().weir(SHORT);
    let expected = [
        "controller",
        "useful rate kbit/s",
        "frame delay p95 ms",
        "freezes beyond fixed",
        "frozen beyond fixed s",
        "share beside CUBIC %",
        "loss %",
        "time held by delay %",
        "time held by loss %",
        "time held by ramp-up %",
        "time held by silence %",
        "time at minimum %",
    ];
    assert_eq!(headers(&outcome.stdout), expected, "{}", outcome.stdout);
    for row in rows(&outcome.stdout) {
        // A name, then mean, ± and interval of each metric.
        assert_eq!(row.len(), 1 + 3 * 11, "{row:?}");
    }
}

#[test]
fn the_sentence_is_computed_from_the_runs() {
    let place = Place::new();
    let outcome = place.weir("run --duration 10s --runs 5");
    let table: Value = serde_json::from_str(&place.read("weir-out/demo/table.json")).unwrap();
    let names = |of: &str| -> Vec<String> {
        let names = table["ranking"][of].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let results: Value = serde_json::from_str(&place.read("weir-out/demo/results.json")).unwrap();
    let useful = |controller: &&Value| controller["flows"][0]["useful_rate_bps"]["mean"].as_f64().unwrap();
    let controllers = results["controllers"].as_array().unwrap().iter();
    let controllers = controllers
        .filter(|controller| !weir_scenario::registry::is_reference(controller["name"].as_str().unwrap()));
    let best = controllers.max_by(|a, b| useful(a).total_cmp(&useful(b))).unwrap();
    assert_eq!(names("leading")[0], best["name"].as_str().unwrap(), "the highest mean leads");
    assert!(names("recommended").iter().all(|name| names("leading").contains(name)));
    let sentence = outcome.last_line();
    assert!(sentence.starts_with(&names("leading")[0]) && sentence.contains(" lead"), "{sentence}");
    assert!(sentence.contains("over 5 drives"), "{sentence}");
    assert!(place.read("weir-out/demo/report.html").contains(sentence), "the report says the same");
}

#[test]
fn it_needs_no_recording_and_is_the_same_with_and_without_any() {
    // An empty folder is enough for an installed command.
    let (place, empty) = (Place::new(), Place::new());
    let with = place.weir("run --duration 5s --runs 2");
    let mut command = empty.command(&["run", "--duration", "5s", "--runs", "2"]);
    let without = Outcome::of(command.env_remove("WEIR_DATA"));
    assert_eq!((without.code, &without.stdout), (Some(0), &with.stdout), "{}", without.stderr);
    for file in ["results.json", "results-beside-cubic.json", "table.json", "scenario.toml", "report.html"] {
        let file = format!("weir-out/demo/{file}");
        assert!(empty.read(&file) == place.read(&file), "{file}");
    }
    assert!(!with.stdout.contains("stood in"), "{}", with.stdout);
}

#[test]
fn without_recorded_traces_a_generated_one_stands_in_and_that_is_said() {
    const TITLE: &str = "A call from a moving car, LTE uplink (on the stand-in `synthetic-lte`)";
    const RUN: &str = "run cellular/att-lte-uplink-2016 --controller gcc,nada --duration 5s --runs 2";
    // An empty folder is enough for an installed command.
    let (place, empty) = (Place::new(), Place::new());
    place.write("empty/README", "no traces");
    let arguments: Vec<&str> = RUN.split(' ').collect();
    let note = "The trace `att-lte-driving-2016.up` was not found; `synthetic-lte` stood in for it.";
    let mut from_environment = place.command(&arguments);
    let mut without_any = empty.command(&arguments);
    from_environment.env("WEIR_DATA", place.path().join("empty"));
    without_any.env_remove("WEIR_DATA");
    for (place, command) in [(&place, &mut from_environment), (&empty, &mut without_any)] {
        let outcome = Outcome::of(command);
        assert_eq!(outcome.code, Some(0), "{outcome:#?}");
        assert_eq!(outcome.stdout.matches(note).count(), 1, "{}", outcome.stdout);
        assert!(outcome.stdout.lines().any(|line| line == TITLE), "{}", outcome.stdout);
        let sentence = outcome.last_line();
        let begin = "On the stand-in `synthetic-lte`, not on the recorded link: ";
        assert!(sentence.starts_with(begin), "the sentence is still the last line: {sentence}");
        let report = place.read("weir-out/cellular-att-lte-uplink-2016/report.html");
        assert!(report.contains("was not found") && report.contains(TITLE), "the report says it too");
        assert!(report.contains(sentence), "and has the same sentence");
    }
    let json = Outcome::of(place.command(&[&arguments[..], &["--json"]].concat()).env("WEIR_DATA", "empty"));
    assert!(serde_json::from_str::<Value>(&json.stdout).is_ok());
    assert_eq!(json.stderr.matches(note).count(), 1, "{}", json.stderr);
    let recorded = place.weir(RUN);
    assert!(!recorded.stdout.contains("stood in"), "with the recorded trace there is nothing to say");
}

#[test]
fn both_comparisons_are_there_as_files_and_run_again_to_the_same_results() {
    let place = Place::new();
    place.weir(SHORT);
    for suffix in ["", "-beside-cubic"] {
        place.weir(&format!("run weir-out/demo/scenario{suffix}.toml --out again{suffix}"));
        let again = place.read(&format!("again{suffix}/results.json"));
        assert_eq!(again, place.read(&format!("weir-out/demo/results{suffix}.json")));
    }
}

#[test]
fn as_json_it_is_both_comparisons() {
    let json: Value = serde_json::from_str(&Place::new().weir(&format!("{SHORT} --json")).stdout).unwrap();
    let names: Vec<&str> = json.as_array().unwrap().iter().filter_map(|s| s["scenario"].as_str()).collect();
    assert_eq!(names, ["cellular/lte-drive", "cellular/lte-drive-beside-cubic"]);
    for summary in json.as_array().unwrap() {
        assert_eq!(
            summary["controllers"].as_array().map(Vec::len),
            Some(with_references(Registry::standard()).known_names().count())
        );
        assert_eq!(summary["seeds"], serde_json::json!([1, 2, 3]));
    }
}

#[test]
fn it_compares_the_controllers_that_are_named() {
    let outcome = Place::new().weir(&format!("{SHORT} --controller nada"));
    let shown: Vec<&str> = rows(&outcome.stdout).iter().map(|row| row[0]).collect();
    assert_eq!(shown, ["nada", "fixed", "omniscient"], "{}", outcome.stdout);
    assert!(outcome.last_line().starts_with("nada carried "), "{}", outcome.last_line());
}

#[test]
fn freezes_are_those_beyond_a_sender_that_nothing_moves() {
    let outcome = Place::new().weir(&format!("{SHORT} --controller nada"));
    let rows = rows(&outcome.stdout);
    // Behind the name, useful rate and frame delay: mean, ±, interval of freezes and of frozen time.
    assert_eq!(&rows[1][7..13], ["0.0", "±", "0.0", "0.0", "±", "0.0"], "fixed is not beyond itself");
    let sentence =
        "Freezes and frozen time are those beyond `fixed`, which sends 300 kbit/s whatever happens: its ";
    assert!(outcome.stdout.contains(sentence), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("skip_above 100ms"), "{}", outcome.stdout);
}
