//! `weir compare`.

use serde_json::Value;

use crate::support::Place;

fn rows(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap()
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().filter_map(|row| row["controller"].as_str()).collect()
}

const SHORT: &str = "compare --runs 2 --quiet";

#[test]
fn a_row_per_controller_says_the_same_in_every_form() {
    let place = Place::new();
    let some = format!("{SHORT} --controller gcc,nada,tfrc");
    let rows = rows(&place.weir(&format!("{some} --format json")).stdout);
    assert_eq!(names(&rows), ["gcc", "nada", "tfrc"]);
    let markdown = place.weir(&format!("{some} --format markdown")).stdout;
    let table = place.weir(&some).stdout;
    for row in &rows {
        let name = row["controller"].as_str().unwrap();
        let rate = format!("{:.0}", row["useful rate"]["mean"].as_f64().unwrap());
        let line = markdown.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        assert!(line.contains(&format!("| {rate} ")), "{line}");
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        assert!(line.split_whitespace().any(|word| word == rate), "{line}");
    }
    assert!(rows[0].get("cost per packet").is_none());
}

#[test]
fn differences_of_variants_are_printed_run_by_run() {
    let place = Place::new();
    let some = format!("{SHORT} --controller gcc,nada,gcc{{trendline.window=40}}");
    let rows = rows(&place.weir(&format!("{some} --format json")).stdout);
    let mean = |row: &Value| row["useful rate"]["mean"].as_f64().unwrap();
    let less = &rows[2]["less"]["gcc"];
    assert!((mean(less) - (mean(&rows[2]) - mean(&rows[0]))).abs() < 1e-6 && !less["loss"]["ci95"].is_null());
    assert!(rows[..2].iter().all(|row| row.get("less").is_none()), "{rows:?}");
    let table = place.weir(&some).stdout;
    let below: Vec<&str> = table.lines().skip_while(|line| !line.contains("less gcc, run by run")).collect();
    let named = |name: &str| below.iter().filter(|line| line.starts_with(name)).count();
    assert_eq!((named("gcc{trendline.window=40}"), named("nada")), (1, 0), "{table}");
    let markdown = place.weir(&format!("{some} --format markdown")).stdout;
    assert!(markdown.contains("\n\n| less gcc, run by run | useful rate, kbit/s |"), "{markdown}");
    let alone = place.weir(&format!("{SHORT} --controller gcc,nada")).stdout;
    assert!(!alone.contains("run by run"), "{alone}");
}

#[test]
fn every_controller_has_a_row_unless_some_are_named() {
    let place = Place::new();
    let listed = place.weir("list controllers --json");
    let rows = rows(&place.weir("compare --runs 1 --quiet --format json").stdout);
    let known: Value = serde_json::from_str(&listed.stdout).unwrap();
    let known = known.as_array().unwrap().iter().filter_map(|controller| controller["name"].as_str());
    assert_eq!(names(&rows), known.collect::<Vec<_>>());
}

#[test]
fn cost_is_measured_where_it_is_asked_for() {
    let outcome = Place::new().weir(&format!("{SHORT} --controller gcc-2016,gcc-2016 --cost --format json"));
    let rows: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "who is named twice has one row: {rows}");
    assert!(rows[0]["cost per packet"]["mean"].as_f64().is_some_and(|nanos| nanos > 1.0), "{rows}");
    let outcome = Place::new().weir(&format!("{SHORT} --controller omniscient --cost --format markdown"));
    let row = outcome.stdout.lines().find(|line| line.starts_with("| `omniscient` ")).unwrap();
    assert!(row.ends_with("| – |"), "a reference sender costs nothing that is known: {row}");
}
